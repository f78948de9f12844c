/** `satchel migrate`: says what is pending, applies it, and does neither where it would do harm. */
import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { MIGRATIONS, migrate } from '../../../src/platform/database/migrate.ts';
import { lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import { run, runRecord } from '../../support/command.ts';
import { dumpRows } from '../../support/deployment.ts';
import { makeTempDir } from '../../support/temp.ts';

const last = MIGRATIONS.at(-1);

/** A directory whose database lacks the last migration: the only one there is, as if it had been cut off before that. */
function makeOutdated(): string {
  const data_dir = makeTempDir();
  const path = join(data_dir, 'satchel.db');
  const none = { version: 1, name: 'schema', sql: 'SELECT 1' };
  migrate(path, { now_ms: 1, migrations: [none] });
  const sqlite = new Sqlite(path);
  sqlite.run('DELETE FROM schema_migrations');
  sqlite.close();
  return data_dir;
}

const pending = [{ version: last?.version, name: last?.name }];

test('a dry run names what is pending and applies nothing, beside a server too', async () => {
  const data_dir = makeOutdated();
  const lock = lockDirectory(data_dir, process.pid);
  expect(await runRecord(data_dir, 'migrate', '--dry-run')).toEqual({ pending, applied: [] });
  lock.release();
  expect(dumpRows(data_dir).schema_migrations).toHaveLength(MIGRATIONS.length - 1);
});

test('without --dry-run it is applied, once', async () => {
  const data_dir = makeOutdated();
  expect(await runRecord(data_dir, 'migrate')).toEqual({ pending: [], applied: pending });
  expect(dumpRows(data_dir).schema_migrations).toHaveLength(MIGRATIONS.length);
  expect(await runRecord(data_dir, 'migrate')).toEqual({ pending: [], applied: [] });
});

test('a database that is served is not changed under its server', async () => {
  const data_dir = makeOutdated();
  const lock = lockDirectory(data_dir, process.pid);
  const { exit, stderr } = await run(data_dir, 'migrate');
  lock.release();
  expect([exit, stderr]).toEqual([1, expect.stringContaining('Stop it first')]);
  expect(dumpRows(data_dir).schema_migrations).toHaveLength(MIGRATIONS.length - 1);
});

test('where there is no database none is made', async () => {
  const data_dir = join(makeTempDir(), 'nothing');
  for (const args of [['migrate'], ['migrate', '--dry-run']])
    expect((await run(data_dir, ...args)).exit).toBe(1);
  expect(existsSync(data_dir)).toBe(false);
});
