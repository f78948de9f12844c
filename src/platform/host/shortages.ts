/**
 * Failures that say nothing of the work: of a disk that is full, failing or closed, and for want of file descriptors. Shortages
 * pass. Nothing starts that would then end the process. A service (65,536 descriptors) never gets there. Started in a shell
 * (1,024), a server ended at a thousand open connections and one sign-in without this.
 */
import { SQLiteError } from 'bun:sqlite';
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { AppError, errorCodeOf } from '../../errors.ts';

export function isShortageCode(code: string): boolean {
  return /^(EMFILE|ENFILE|ENOSPC|EDQUOT)$/.test(code);
}

/** Whether an error, or what caused it, is such a failure. */
export function isShortage(error: unknown): boolean {
  if (isShortageCode(errorCodeOf(error) ?? '')) return true;
  return error instanceof Error && error.cause !== undefined && isShortage(error.cause);
}

/** Whether no file descriptor is left. Bun then says ECONNREFUSED for sockets and ENOTFOUND for names. */
export function lacksDescriptors(): boolean {
  try {
    closeSync(openSync(devNull, 'r'));
    return false;
  } catch (error) {
    return isShortage(error);
  }
}

/** More than a thread needs: connections may come while it starts. */
const THREAD_DESCRIPTORS = 32;

/**
 * Throws AppError `unavailable` without file descriptors for one more thread. Call it before one starts, also
 * by `fetch` or a native module: without descriptors Bun ends the process.
 */
export function requireThreadDescriptors(): void {
  const taken: number[] = [];
  try {
    while (taken.length < THREAD_DESCRIPTORS) taken.push(openSync(devNull, 'r'));
  } catch (cause) {
    throw explainDescriptors(cause);
  } finally {
    for (const fd of taken) closeSync(fd);
  }
}

/** Makes AppError `unavailable` of a failure for want of file descriptors. Other errors stay. */
export function explainDescriptors(error: unknown): unknown {
  if (!isOfDescriptors(error)) return error;
  return new AppError(
    'unavailable',
    'The server has too few file descriptors left (LimitNOFILE, ulimit -n). Try again in a moment.',
    { retry_after_s: 1, cause: error },
  );
}

function isOfDescriptors(error: unknown): boolean {
  const code = errorCodeOf(error);
  if (code === 'EMFILE' || code === 'ENFILE') return true;
  return error instanceof Error && error.cause !== undefined && isOfDescriptors(error.cause);
}

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
