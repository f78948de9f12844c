/** Folders that stay: what was acknowledged in one must not be lost with its name. */
import { closeSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder, its owner's alone, and those above it that are missing. When it returns, the names of all that it made
 * survive a power cut; that of one which was there too, as whoever made it may have ended before it was durable.
 */
export function makeFolder(path: string): void {
  const folder = resolve(path);
  const topmost = mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (topmost === undefined) {
    try {
      syncFolder(dirname(folder));
    } catch {
      // It is another's, such as a mount point in a folder that this user may not read.
    }
    return;
  }
  for (let made = folder; made !== dirname(topmost); made = dirname(made)) syncFolder(dirname(made));
}

/** Has the names in a folder survive a power cut. */
export function syncFolder(path: string): void {
  const fd = openSync(path, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
