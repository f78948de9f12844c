/**
 * What is remembered of backups made here, by whatever verb, timer or page: when the last one was, and why one failed since. It
 * stands in a file of the data directory, as it is of this machine: no backup holds it.
 */
import { closeSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf } from '../../errors.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { hasDatabase } from '../../platform/host/database-file.ts';
import { asOwner, openOwn } from '../../platform/host/ownership.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import type { BackupResult } from './making.ts';

export interface BackupHistory {
  /** Null before the first. */
  made_ms: number | null;
  /** When the newest was made of those that were verified here, wherever that was. */
  verified_ms: number | null;
  /** Null where one was made since. */
  failure: { at_ms: number; message: string } | null;
}

/** One was made, verified, or failed. */
export type Ended =
  | { made_ms: number }
  | { verified_ms: number }
  | { failure: { at_ms: number; message: string } };

const FILE = 'last-backup.json';

/** A file that can't be read counts as none. */
export function readHistory(data_dir: string): BackupHistory {
  const nothing = { made_ms: null, verified_ms: null, failure: null };
  try {
    const told: unknown = JSON.parse(readFileSync(join(data_dir, FILE), 'utf8'));
    if (!isPlainObject(told)) return nothing;
    const { made_ms, verified_ms, failure } = told;
    return {
      made_ms: typeof made_ms === 'number' ? made_ms : null,
      verified_ms: typeof verified_ms === 'number' ? verified_ms : null,
      failure: isPlainObject(failure)
        ? { at_ms: Number(failure.at_ms), message: String(failure.message) }
        : null,
    };
  } catch {
    return nothing;
  }
}

/** Throws where the disk takes nothing. */
export function noteBackup(data_dir: string, ended: Ended): void {
  const before = readHistory(data_dir);
  const history: BackupHistory = { ...before, ...ended };
  if ('made_ms' in ended) history.failure = null;
  if ('verified_ms' in ended) history.verified_ms = Math.max(ended.verified_ms, before.verified_ms ?? 0);
  asOwner(data_dir, () => {
    const path = join(data_dir, FILE);
    const fresh = `${path}.${process.pid}.new`;
    rmSync(fresh, { force: true });
    const fd = openOwn(fresh);
    try {
      writeFileSync(fd, `${JSON.stringify(history)}\n`);
    } finally {
      closeSync(fd);
    }
    renameSync(fresh, path);
  });
}

/**
 * Makes one and notes that it was made, or why it failed; but not that it was asked for in a wrong way. Where
 * that can't be noted `onUnnoted` is told why: a backup is one all the same.
 */
export async function makeRemembered<T extends BackupResult>(
  data_dir: string,
  { clock, onUnnoted }: { clock: Clock; onUnnoted(why: string): void },
  make: () => Promise<T>,
): Promise<T> {
  const note = (ended: Ended): void => {
    try {
      noteBackup(data_dir, ended);
    } catch (error) {
      onUnnoted(messageOf(error));
    }
  };
  try {
    const result = await make();
    note({ made_ms: Date.parse(result.created_at) });
    return result;
  } catch (error) {
    if (error instanceof AppError && error.kind === 'unavailable')
      note({ failure: { at_ms: clock.now(), message: error.message } });
    throw error;
  }
}

/** Notes that one was sound, for a data directory that there is. Who may not write there is none whose backups these are. */
export function noteVerified(
  data_dir: string,
  { ok, created_at }: { ok: boolean; created_at: string | null },
): void {
  const verified_ms = Date.parse(created_at ?? '');
  try {
    if (ok && !Number.isNaN(verified_ms) && hasDatabase(data_dir)) noteBackup(data_dir, { verified_ms });
  } catch {}
}
