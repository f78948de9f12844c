/** File descriptors: a thread takes some, and where there are none left Bun ends the whole process instead of throwing. */
import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { AppError } from '../../errors.ts';

/** More than a thread takes, as connections may come while it starts. */
const THREAD_DESCRIPTORS = 32;

/** Throws AppError `unavailable` unless there are file descriptors for one more thread. Call it before one is started. */
export function requireThreadDescriptors(): void {
  const taken: number[] = [];
  try {
    while (taken.length < THREAD_DESCRIPTORS) taken.push(openSync(devNull, 'r'));
  } catch (cause) {
    throw new AppError(
      'unavailable',
      'The server has too few file descriptors left (LimitNOFILE, ulimit -n). Try again in a moment.',
      { retry_after_s: 1, cause },
    );
  } finally {
    for (const fd of taken) closeSync(fd);
  }
}
