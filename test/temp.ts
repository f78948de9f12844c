/** Temporary directories and databases for tests; everything is removed after the tests. */
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { type Database, openDatabase } from '../src/platform/database/database.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { RUN_DIR } from './cleanup.ts';

/** A fresh directory, removed after the tests. Call it at the top level or in a test. */
export function makeTempDir(): string {
  return mkdtempSync(join(RUN_DIR, 'dir-'));
}

/** A migrated database in a directory of its own. */
export function makeDatabase(dir = makeTempDir()): { database: Database; path: string } {
  const path = join(dir, 'satchel.db');
  migrate(path, { create: true, now_ms: 1 });
  return { database: openDatabase(path, { create: false }), path };
}

/** A clock that stands still until it is moved. */
export class TestClock {
  at_ms: number;

  constructor(at = '2030-01-15T12:00:00Z') {
    this.at_ms = Date.parse(at);
  }

  now(): number {
    return this.at_ms;
  }

  advance(ms: number): void {
    this.at_ms += ms;
  }
}
