/**
 * Shortages of file descriptors or disk space: such failures say nothing of the work, and pass. Nothing
 * starts that would then end the process. A service (65,536 descriptors) never gets there. Started in a shell
 * (1,024), a server ended at a thousand open connections and one sign-in without this.
 */
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
