/** Scratch places: files and folders that must not outlive the command that made them. */
import { rmSync } from 'node:fs';
import { constants } from 'node:os';

/** Runs with these paths as scratch places, and removes them at its end: when it succeeds, fails, or is told to stop. */
export async function withScratch<T>(paths: readonly string[], run: () => Promise<T>): Promise<T> {
  const remove = (): void => {
    for (const path of paths) rmSync(path, { recursive: true, force: true });
  };
  const onSignal = (signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP'): void => {
    remove();
    // As a shell reports a process that a signal ended.
    process.exit(128 + constants.signals[signal]);
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, onSignal);
  try {
    return await run();
  } finally {
    for (const signal of signals) process.off(signal, onSignal);
    remove();
  }
}
