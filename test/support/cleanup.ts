/**
 * What is undone after the tests: preloaded (bunfig.toml), because an `afterAll` in a module that test files import holds
 * only for the first of them. A worker of `bun test --parallel` does it after each file, and keeps the modules for the next one.
 */
import { afterAll, afterEach, beforeEach } from 'bun:test';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const RUN_DIR = mkdtempSync(join(tmpdir(), 'satchel-test-'));

/** Bun gives a hook 5 s; the hundreds of data directories of a full run may take a busy disk longer. */
const CLEANUP_TIMEOUT_MS = 600_000;

const always: (() => Promise<unknown>)[] = [];
let endings: (() => Promise<unknown>)[] = [];
/** Of the test that runs, or of its `beforeEach`; null between tests. */
let of_test: (() => Promise<unknown>)[] | null = null;

/** Has something ended after the last test of the file, before the directories are removed. */
export function atEnd(end: () => Promise<unknown>): void {
  endings.push(end);
}

/** As `atEnd`, after the last test of each file: for modules that end what they started for any of them. */
export function atEveryEnd(end: () => Promise<unknown>): void {
  always.push(end);
}

/** As `atEnd`, for what a test has started itself: after that test, as many of its kind at once would slow down all others. */
export function atTestEnd(end: () => Promise<unknown>): void {
  (of_test ?? endings).push(end);
}

/** Starts what later tests go on with, whichever test is the first to need it: what is ended `atTestEnd` lasts for the file. */
export async function keepForOthers<T>(start: () => Promise<T>): Promise<T> {
  const here = of_test;
  of_test = null;
  try {
    return await start();
  } finally {
    of_test = here;
  }
}

/** A fresh directory, removed after the tests. Call it at the top level or in a test. */
export function makeTempDir(): string {
  mkdirSync(RUN_DIR, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(RUN_DIR, 'dir-'));
}

beforeEach(() => {
  of_test = [];
});
afterEach(async () => {
  const now = of_test ?? [];
  of_test = null;
  await Promise.all(now.map((end) => end()));
}, CLEANUP_TIMEOUT_MS);

afterAll(async () => {
  const now = [...endings, ...always];
  endings = [];
  try {
    await Promise.all(now.map((end) => end()));
  } finally {
    await rm(RUN_DIR, { recursive: true, force: true });
  }
}, CLEANUP_TIMEOUT_MS);
