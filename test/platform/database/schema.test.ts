/** The schema and the definitions of its tables are equal, column by column, and a database of before it is told as such. */
import { Database as Sqlite } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { is } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { MIGRATIONS, migrate } from '../../../src/platform/database/migrate.ts';
import { run } from '../../support/command.ts';
import { makeTempDir } from '../../support/temp.ts';

const SRC = join(import.meta.dir, '../../../src');

interface Column {
  name: string;
  type: string;
  notnull: number;
  pk: number;
}

function liveTables(): Map<string, string[]> {
  const path = join(makeTempDir(), 'satchel.db');
  migrate(path, { now_ms: 1 });
  const sqlite = new Sqlite(path, { readonly: true });
  const names = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'schema_migrations'",
    )
    .all();
  const tables = names.map(({ name }): [string, string[]] => {
    const columns = sqlite.query<Column, [string]>('SELECT * FROM pragma_table_info(?)').all(name);
    return [name, columns.map(({ name, type, notnull, pk }) => describe(name, type, notnull + pk > 0))];
  });
  sqlite.close();
  return new Map(tables.sort());
}

async function definedTables(): Promise<Map<string, string[]>> {
  const tables: [string, string[]][] = [];
  for (const file of new Bun.Glob('**/tables.ts').scanSync({ cwd: SRC })) {
    const exported: Record<string, unknown> = await import(join(SRC, file));
    for (const table of Object.values(exported)) {
      if (!is(table, SQLiteTable)) continue;
      const { name, columns, primaryKeys } = getTableConfig(table);
      const keys = new Set(primaryKeys.flatMap((key) => key.columns.map((column) => column.name)));
      const told = columns.map((column) =>
        describe(
          column.name,
          column.getSQLType().toUpperCase(),
          column.notNull || column.primary || keys.has(column.name),
        ),
      );
      tables.push([name, told]);
    }
  }
  return new Map(tables.sort());
}

function describe(name: string, type: string, is_required: boolean): string {
  return `${name} ${type}${is_required ? ' NOT NULL' : ''}`;
}

test('each table has its definition, and each definition its table, column by column', async () => {
  const live = liveTables();
  const defined = await definedTables();
  expect([...defined.keys()]).toEqual([...live.keys()]);
  for (const [name, columns] of live)
    expect([name, defined.get(name)?.sort()]).toEqual([name, columns.sort()]);
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
