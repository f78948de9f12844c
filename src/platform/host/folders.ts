/** Makes folders that a power cut can't lose: with a folder's name all that is in it would be lost. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a private folder and missing ones above it. Their names then survive a power cut. So does the name of
 * a folder that was there, whose maker may have died before it was durable.
 */
export function makeFolder(path: string): void {
  const folder = resolve(path);
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) {
    try {
      syncFolder(dirname(folder));
    } catch {
      // It belongs to somebody else, such as a mount point in a folder that this user may not read.
    }
    return;
  }
  for (let made = folder; made !== dirname(topmost); made = dirname(made)) syncFolder(dirname(made));
}

/** Flushes a folder, so that the names in it survive a power cut. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
