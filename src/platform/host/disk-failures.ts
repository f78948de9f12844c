/** What keeps something from being written: a full disk heals by itself, a closed folder does not. */
import { SQLiteError } from 'bun:sqlite';

const FAILURES: readonly [RegExp, string][] = [
  [/^(ENOSPC|EDQUOT|SQLITE_FULL)/, "the server's disk is full"],
  [/^EIO/, "the server's disk is failing (an input or output error)"],
  [/^EROFS/, "the server's disk is mounted read-only"],
  [/^(EACCES|EPERM)/, 'the server has no permission to write to its data directory'],
  // SQLite does not tell which.
  [/^SQLITE_IOERR/, "the server's disk is full or failing"],
  [
    /^SQLITE_(READONLY|CANTOPEN|PERM)/,
    'the server can not write to its data directory: it has no permission, or the disk is mounted read-only',
  ],
];

/** The reason in words, as the end of a sentence; null for an error code that is not about the disk. */
export function describeDiskFailure(code: unknown): string | null {
  if (typeof code !== 'string') return null;
  return FAILURES.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}

/** SQLite's own error, also where drizzle wrapped it; null for any other. */
export function sqliteErrorOf(error: unknown): SQLiteError | null {
  if (error instanceof SQLiteError) return error;
  return error instanceof Error && error.cause !== undefined ? sqliteErrorOf(error.cause) : null;
}

/** As `describeDiskFailure`, of what SQLite threw. */
export function diskFailureOf(error: unknown): string | null {
  return describeDiskFailure(sqliteErrorOf(error)?.code);
}
