/** Temporary directories and databases for tests; everything is removed after the tests. */
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { RUN_DIR } from './cleanup.ts';

/** A fresh directory, removed after the tests. Call it at the top level or in a test. */
export function makeTempDir(): string {
  return mkdtempSync(join(RUN_DIR, 'dir-'));
}

const migrated = join(makeTempDir(), 'satchel.db');

/** Puts a migrated database into a directory: a copy, as making one from nothing is most of what a new directory takes. */
export function placeDatabase(dir: string): string {
  if (!existsSync(migrated)) {
    migrate(migrated, { now_ms: 1 });
    chmodSync(migrated, 0o600);
  }
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, 'satchel.db');
  copyFileSync(migrated, path);
  return path;
}

/** A data directory as `serve` leaves one that was started once: with a migrated database. */
export function makeDataDir(): string {
  const dir = makeTempDir();
  placeDatabase(dir);
  return dir;
}

/** A migrated database in a directory of its own. */
export function makeDatabase(dir = makeTempDir()): { database: Database; path: string } {
  const path = placeDatabase(dir);
  return { database: openDatabase(path), path };
}

/** A clock that stands still until it is moved: forward as time passes, back as if it were set. */
export class TestClock {
  at_ms: number;
  #passed_ms = 0;

  constructor(at = '2030-01-15T12:00:00Z') {
    this.at_ms = Date.parse(at);
  }

  now(): number {
    return this.at_ms;
  }

  steady(): number {
    return this.#passed_ms;
  }

  advance(ms: number): void {
    this.at_ms += ms;
    this.#passed_ms += Math.max(ms, 0);
  }
}
