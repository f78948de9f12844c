/** Failures for want of file descriptors or of room on the disk: they say nothing of what was to be done, and pass. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { errorCodeOf } from '../../errors.ts';

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
