/** Folders that a power cut can't lose, with all that is in them; and scratch places, which must not outlive the command that made them. */
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statfsSync,
} from 'node:fs';
import { constants } from 'node:os';
import { dirname, resolve } from 'node:path';
import { AppError, conflict, errorCodeOf } from '../../errors.ts';
import { asCallerAt } from './ownership.ts';

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

/**
 * Runs with these scratch paths, and removes them when it succeeds, fails, or is told to stop. The next start
 * removes what a server's ended thread leaves.
 */
export async function withScratch<T>(paths: readonly string[], run: () => Promise<T>): Promise<T> {
  const remove = (): void => {
    for (const path of paths) asCallerAt(path, () => rmSync(path, { recursive: true, force: true }));
  };
  const onSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    remove();
    // As a shell reports a process that a signal ended.
    process.exit(128 + constants.signals[signal]);
  };
  // Signals are for the process, which ends its threads.
  const signals = Bun.isMainThread ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const) : [];
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await run();
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    remove();
  }
}

/** Throws AppError `unavailable` where a disk has not this much room for what is to be done. */
export function requireRoom(folder: string, bytes: number, what = 'unpacking'): void {
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize >= bytes) return;
  const [needed, free] = [Math.ceil(bytes / 1024 ** 2), Math.floor((bavail * bsize) / 1024 ** 2)];
  throw new AppError(
    'unavailable',
    `There is no room in ${folder}: ${what} needs ${needed} MiB, and ${free} MiB are free.`,
  );
}

/** An empty folder, its owner's alone. Throws where somebody makes one of that name meanwhile, as in a folder that all may write to. */
export function makeScratch(path: string): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  mkdirSync(path, { mode: 0o700 });
}

/** Throws AppError `conflict` where a file that is to be made is there already. */
export function refuseExisting(file: string, what: string): void {
  if (asCallerAt(file, () => existsSync(file)))
    throw conflict(`${file} exists already, and ${what} overwrites nothing. Choose another name.`);
}

/** Names a finished file. A link, unlike a rename, never replaces a file that appeared meanwhile. */
export function publish(partial: string, file: string, what: string): void {
  asCallerAt(file, () => giveName(partial, file, what));
}

function giveName(partial: string, file: string, what: string): void {
  try {
    linkSync(partial, file);
  } catch (error) {
    refuseExisting(file, what);
    const code = errorCodeOf(error);
    // File systems without links, such as FAT.
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error;
    renameSync(partial, file);
  }
}
