/** How a command wakes the server: it touches a file that the kernel watches for it. Nobody polls. */
import { closeSync, type FSWatcher, futimesSync, watch } from 'node:fs';
import { join } from 'node:path';
import { openOwn } from '../host/ownership.ts';

const WAKE_FILE = 'wake';

/** Touches the file, making it where it is missing. */
export function touchWakeFile(data_dir: string, now_ms: number): void {
  const file = openOwn(join(data_dir, WAKE_FILE));
  try {
    const now_s = now_ms / 1000;
    futimesSync(file, now_s, now_s);
  } finally {
    closeSync(file);
  }
}

/** Calls `onWake` after each touch by any process, until closed. */
export function watchWakeFile(data_dir: string, now_ms: number, onWake: () => void): FSWatcher {
  touchWakeFile(data_dir, now_ms);
  const watcher = watch(join(data_dir, WAKE_FILE), { persistent: false }, () => onWake());
  // Without the watch the engine still looks by itself within a minute.
  watcher.on('error', () => watcher.close());
  return watcher;
}
