/** Where Satchel is on this machine: this executable, and what install.sh installs, a service or a folder, with its data and settings. */
import { type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Environment } from '../../config.ts';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { parseEnvFile, readEnvFile, variablesOf } from './env-file.ts';

interface ServicePaths {
  data_dir: string;
  /** A file of settings, as systemd reads it. */
  settings: string;
  /** Whether it is a folder of `install.sh --prefix`. */
  has_own_folder: boolean;
}

/** As install.sh and scripts/satchel.service have them. */
export const SERVICE_PATHS: ServicePaths = {
  data_dir: '/var/lib/satchel',
  settings: '/etc/satchel/satchel.env',
  has_own_folder: false,
};

/** Who runs this process. */
interface ProcessUser {
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

/** An installation, for a user who may use it. */
export interface InstalledService {
  data_dir: string;
  has_own_folder: boolean;
  /** The file of its settings. */
  settings: string;
  /**
   * The environment of its server, data directory included. Throws AppError `invalid` where this user may not
   * read its settings, and for a line of a folder's own that is none of settings.
   */
  readSettings(): Environment;
}

/** The installation of an executable: a folder of `install.sh --prefix`, else the machine's service. */
export function servicePathsOf(executable: string): ServicePaths {
  const prefix = dirname(dirname(executable));
  const settings = join(prefix, 'etc/satchel.env');
  return statOf(settings)?.isFile()
    ? { data_dir: join(prefix, 'data'), settings, has_own_folder: true }
    : SERVICE_PATHS;
}

/** The installed service, for root, its user and its group; null for others and where none is installed. */
export function findInstalledService(paths: ServicePaths, user: ProcessUser): InstalledService | null {
  const { data_dir, has_own_folder } = paths;
  // The data of a folder of its own may be lost, and about to be restored.
  const owner = statOf(data_dir) ?? (has_own_folder ? statOf(dirname(data_dir)) : null);
  if (!owner?.isDirectory()) return null;
  if (user.uid !== 0 && user.uid !== owner.uid && !user.gids.includes(owner.gid)) return null;
  return {
    data_dir,
    has_own_folder,
    settings: paths.settings,
    readSettings: () => ({ ...readSettings(paths), SATCHEL_DATA_DIR: data_dir }),
  };
}

/** systemd ignores what it can't read in its service's file; the server of a folder of its own stops there, and so does this. */
function readSettings({ settings, has_own_folder }: ServicePaths): Environment {
  const text = readText(settings);
  if (has_own_folder) return variablesOf(text, settings);
  return Object.fromEntries(parseEnvFile(text).assignments.map(({ name, value }) => [name, value]));
}

function readText(path: string): string {
  try {
    return readEnvFile(path);
  } catch (error) {
    const { cause } = error instanceof AppError ? error : {};
    if (errorCodeOf(cause) === 'ENOENT') return '';
    throw new AppError(
      'invalid',
      `The settings of the installed service can't be read: ${messageOf(cause ?? error)}. Run this with sudo, or name a data directory with --data-dir.`,
      { cause },
    );
  }
}

/** Whether two paths lead to one folder. */
export function isSameFolder(one: string, other: string): boolean {
  const [a, b] = [statOf(one), statOf(other)];
  return a !== null && b !== null && a.dev === b.dev && a.ino === b.ino;
}

function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** The command that runs it with a verb: the compiled executable, or the runtime with the sources. */
export function ownCommand(verb: string): string[] {
  return [process.execPath, ...ownArguments(), verb];
}

/** Runs it in place of itself, as the same process, in this environment. Does not return. */
export function beginAnew(argv: readonly string[], env: Environment): void {
  const set = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  process.execve?.(process.execPath, [process.execPath, ...ownArguments(), ...argv], Object.fromEntries(set));
}

/** What makes the runtime Satchel: nothing, where it is compiled, and its files are said to be where only such have theirs. */
function ownArguments(): string[] {
  return import.meta.dir.startsWith('/$bunfs/') ? [] : [join(import.meta.dir, '../../main.ts')];
}
