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

/** A directory whose database lacks the last migration. */
function makeOutdated(): string {
  const data_dir = makeTempDir();
  migrate(join(data_dir, 'satchel.db'), { now_ms: 1, migrations: MIGRATIONS.slice(0, -1) });
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

test('the audit trail and its counts come through being made anew, and stay append-only', () => {
  const path = join(makeTempDir(), 'satchel.db');
  const until = (version: number) => MIGRATIONS.filter((migration) => migration.version <= version);
  migrate(path, { now_ms: 1, migrations: until(18) });
  const before = new Sqlite(path);
  before.run(
    "INSERT INTO projects (public_id, name, slug, created_at, updated_at) VALUES ('P', 'p', 'p', 1, 1)",
  );
  before.run(
    "INSERT INTO audit_events (id, at, actor_kind, actor_name, event, project_id) VALUES ('A', 1, 'token', 't', 'x', 1)",
  );
  before.run(
    "INSERT INTO vault_reveals (id, project_id, at, actor_kind, actor_name, how) VALUES (7, 1, 1, 'shell', 's', 'env')",
  );
  before.close();
  migrate(path, { now_ms: 2 });
  const after = new Sqlite(path);
  const counted = () => after.query("SELECT n FROM row_counts WHERE list = 'audit'").values();
  expect(after.query('SELECT id, actor_kind, project_id FROM audit_events').values()).toEqual([
    ['A', 'token', 1],
  ]);
  expect(after.query('SELECT id, how FROM vault_reveals').values()).toEqual([[7, 'env']]);
  expect(counted()).toEqual([[1]]);
  after.run(
    "INSERT INTO audit_events (id, at, actor_kind, actor_name, event, project_id) VALUES ('B', 2, 'person', 'p', 'x', 1)",
  );
  expect(counted()).toEqual([[2]]);
  expect(() => after.run('DELETE FROM audit_events')).toThrow('append-only');
  expect(() => after.run("UPDATE audit_events SET event = 'y'")).toThrow('append-only');
  after.close();
});
