/** Temporary directories and databases for tests; everything is removed after the tests. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { makeTempDir } from './cleanup.ts';

export { makeTempDir };

/** The bytes of a migrated database: making one is most of what a new data directory takes. */
let migrated: Uint8Array | null = null;

/** Puts a migrated database into a directory. */
export function placeDatabase(dir: string): string {
  migrated ??= migrateOnce();
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, 'satchel.db');
  writeFileSync(path, migrated, { mode: 0o600 });
  return path;
}

function migrateOnce(): Uint8Array {
  const path = join(makeTempDir(), 'satchel.db');
  migrate(path, { now_ms: 1 });
  return readFileSync(path);
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
