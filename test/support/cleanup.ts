/**
 * What is undone after the tests: preloaded (bunfig.toml), because an `afterAll` in a module that test files import holds
 * only for the first of them.
 */
import { afterAll } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every temporary directory of this run is in here. */
export const RUN_DIR = mkdtempSync(join(tmpdir(), 'satchel-test-'));

/** Bun gives a hook 5 s; the hundreds of data directories of a full run may take a busy disk longer. */
const CLEANUP_TIMEOUT_MS = 600_000;

const endings: (() => Promise<unknown>)[] = [];

/** Has something ended after the last test of the run, before the directories are removed. */
export function atEnd(end: () => Promise<unknown>): void {
  endings.push(end);
}

afterAll(async () => {
  try {
    await Promise.all(endings.map((end) => end()));
  } finally {
    const paths = readdirSync(RUN_DIR).map((name) => join(RUN_DIR, name));
    await Promise.all(paths.map((path) => rm(path, { recursive: true, force: true })));
    rmSync(RUN_DIR, { recursive: true });
  }
}, CLEANUP_TIMEOUT_MS);
