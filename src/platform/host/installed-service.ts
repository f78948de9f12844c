/**
 * The systemd service that install.sh makes: where its data and settings are, so that a verb finds them without being told.
 */
import { readFileSync, type Stats, statSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Environment } from '../../config.ts';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';

export interface ServicePaths {
  data_dir: string;
  /** A file of settings, as systemd reads it. */
  settings: string;
}

/** As install.sh and scripts/satchel.service have them. */
export const SERVICE_PATHS: ServicePaths = {
  data_dir: '/var/lib/satchel',
  settings: '/etc/satchel/satchel.env',
};

/** Who runs this process. */
export interface ProcessUser {
  uid: number;
  gids: readonly number[];
}

export function processUser(): ProcessUser {
  return {
    uid: process.geteuid?.() ?? -1,
    gids: [process.getegid?.() ?? -1, ...(process.getgroups?.() ?? [])],
  };
}

/** Whether the service is installed here. */
export function isInstalled(paths: ServicePaths): boolean {
  return statOf(paths.data_dir)?.isDirectory() ?? false;
}

/**
 * Settings of the installed service with its data directory, for root, its user and its group; null for others and where
 * none is installed. Throws AppError `invalid` for a member of its group who may not read the settings.
 */
export function findInstalledService(paths: ServicePaths, user: ProcessUser): Environment | null {
  const owner = statOf(paths.data_dir);
  if (!owner?.isDirectory()) return null;
  if (user.uid !== 0 && user.uid !== owner.uid && !user.gids.includes(owner.gid)) return null;
  return { ...readSettings(paths.settings), SATCHEL_DATA_DIR: paths.data_dir };
}

function readSettings(path: string): Environment {
  try {
    return parseEnv(readFileSync(path, 'utf8'));
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return {};
    throw new AppError(
      'invalid',
      `The settings of the installed service can't be read: ${messageOf(error)}. Run this with sudo, or name a data directory with --data-dir.`,
      { cause: error },
    );
  }
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}
