/** The definitions of tables are made from the schema, and a database of before it is told as such. */
import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { print, readTables } from '../../../scripts/tables.ts';
import { MIGRATIONS, migrate } from '../../../src/platform/database/migrate.ts';
import { run } from '../../support/command.ts';
import { makeTempDir } from '../../support/temp.ts';

const SCRIPT = join(import.meta.dir, '../../../scripts/tables.ts');

test('each tables.ts is what the schema makes of it', () => {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, SCRIPT, '--check']);
  expect([exitCode, stderr.toString()]).toEqual([0, '']);
});

test('booleans, sets of words and JSON have the types that the schema says, and keys are keys', () => {
  const [table] = readTables(`
-- --- mail: sample nouns ------
CREATE TABLE samples ( -- SampleRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  is_on INTEGER NOT NULL DEFAULT 0 CHECK (is_on IN (0, 1)),
  basis TEXT CHECK (basis IN ( -- SampleBasis; why
    'a', 'b')),
  words TEXT NOT NULL DEFAULT '[]', -- JSON Word[]; in any order
  note TEXT -- free
) STRICT;`);
  expect(table?.place).toBe('mail/sample-nouns');
  expect(
    print(table ? [table] : []),
  ).toBe(`/** Made from 0001_schema.sql by scripts/tables.ts: change it there. */
import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { Word } from './schemas.ts';

export const SAMPLE_BASES = ['a', 'b'] as const;
export type SampleBasis = (typeof SAMPLE_BASES)[number];

export const samples = sqliteTable('samples', {
id: integer().primaryKey({ autoIncrement: true }),
is_on: integer({ mode: 'boolean' }).notNull(),
basis: text().$type<SampleBasis>(),
words: text({ mode: 'json' }).$type<Word[]>().notNull(),
note: text(),
});
export type SampleRow = typeof samples.$inferSelect;
`);
});

test('a database from before the first release is refused in one sentence, and left as it is', async () => {
  const data_dir = makeTempDir();
  const path = join(data_dir, 'satchel.db');
  migrate(path, {
    now_ms: 1,
    migrations: [{ version: 1, name: 'platform', sql: 'CREATE TABLE meta (name, value)' }],
  });
  const { exit, stderr } = await run(data_dir, 'project', 'list');
  expect([exit, stderr]).toEqual([1, expect.stringContaining('made by an older build of Satchel')]);
  expect(() => migrate(path, { now_ms: 2 })).toThrow('older build');
  const sqlite = new Sqlite(path, { readonly: true });
  expect(sqlite.query('SELECT name FROM schema_migrations').values()).toEqual([['platform']]);
  sqlite.close();
});

test('migrations are numbered without gaps', () => {
  expect(MIGRATIONS.map((migration) => migration.version)).toEqual(MIGRATIONS.map((_, index) => index + 1));
});
