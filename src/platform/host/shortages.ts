/**
 * Failures for want of file descriptors or of room on the disk, which say nothing of what was to be done, and pass; and not starting
 * what would end the process then. As a service nobody gets there (65,536 descriptors); started in a shell (1,024), a thousand open
 * connections and one sign-in ended the server without this.
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

/** Whether there is no file descriptor left. Bun says ECONNREFUSED of a socket that gets none, and ENOTFOUND of a name. */
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
 * Throws AppError `unavailable` unless there are file descriptors for one more thread. Call it before one is started, by
 * `fetch` too or by loading a native module: where there are none left, Bun ends the whole process instead of throwing.
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

/** Turns the failure of having no file descriptor left into AppError `unavailable`; any other error stays what it is. */
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
