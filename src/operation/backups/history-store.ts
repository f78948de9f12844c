/** What is remembered of backups made here, by whatever verb, timer or page: when the last one was, and why one failed since. */
import type { Database as Sqlite } from 'bun:sqlite';
import { messageOf } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { readMeta, writeMeta } from '../../platform/database/meta.ts';
import { connectAsOwner, readMetaValue, writeMetaValue } from '../../platform/database/plain-connection.ts';
import { isPlainObject } from '../../platform/http/schema.ts';

export interface BackupHistory {
  /** Null before the first. */
  made_ms: number | null;
  /** Null where one was made since. */
  failure: { at_ms: number; message: string } | null;
}

/** The row of the table `meta`. */
const HISTORY = 'backup_history';

/** Of what the row holds; null where it is missing. */
function parseHistory(text: string | null): BackupHistory {
  const told: unknown = JSON.parse(text ?? 'null');
  if (!isPlainObject(told)) return { made_ms: null, failure: null };
  const { made_ms, failure } = told;
  return {
    made_ms: typeof made_ms === 'number' ? made_ms : null,
    failure: isPlainObject(failure)
      ? { at_ms: Number(failure.at_ms), message: String(failure.message) }
      : null,
  };
}

export function readHistory(read: Tx): BackupHistory {
  return parseHistory(readMeta(read, HISTORY));
}

export function readHistoryOf(sqlite: Sqlite): BackupHistory {
  return parseHistory(readMetaValue(sqlite, HISTORY));
}

/** That one was made, or why one failed. */
export type Ended = { made_ms: number } | { failure: { at_ms: number; message: string } };

function after(before: BackupHistory, ended: Ended): string {
  const history: BackupHistory = 'failure' in ended ? { ...before, ...ended } : { ...ended, failure: null };
  return JSON.stringify(history);
}

export function noteBackup(tx: Tx, ended: Ended): void {
  writeMeta(tx, HISTORY, after(readHistory(tx), ended));
}

/** As `noteBackup`, in a database file. */
export function noteBackupIn(sqlite: Sqlite, ended: Ended): void {
  writeMetaValue(sqlite, HISTORY, after(readHistoryOf(sqlite), ended));
}

/**
 * As `noteBackup`, for a verb beside whoever has the database open. Returns why it could not be noted: a
 * backup is one all the same.
 */
export function noteBackupBeside(path: string, ended: Ended): string | null {
  try {
    const sqlite = connectAsOwner(path, { query_only: false });
    try {
      noteBackupIn(sqlite, ended);
      return null;
    } finally {
      sqlite.close();
    }
  } catch (error) {
    return messageOf(error);
  }
}
