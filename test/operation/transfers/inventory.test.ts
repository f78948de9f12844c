/** Whoever adds a table or a column says what becomes of it when a project moves. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { FREE_TEXTS, IDS, JSON_TEXTS } from '../../../src/operation/transfers/column-rules.ts';
import {
  APART,
  columnsOf,
  GOING,
  NUMBERED,
  STAYING,
} from '../../../src/operation/transfers/inventory-tables.ts';
import { makeDataDir } from '../../support/temp.ts';

const sqlite = new Database(join(makeDataDir(), 'satchel.db'), { readonly: true });
const tables = sqlite
  .query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
  .values()
  .map(([name]) => String(name));
const columns = (table: string): { name: string; pk: number }[] =>
  sqlite
    .query<{ name: string; pk: number }, [string]>('SELECT name, pk FROM pragma_table_info(?)')
    .all(table);

test('each table goes, goes in a way of its own, or stays: add it to inventory-tables.ts', () => {
  const told = [...GOING.map(({ table }) => table), ...Object.keys(APART), ...Object.keys(STAYING)];
  expect(told.sort()).toEqual(tables);
});

for (const going of GOING) {
  test(`each column of ${going.table} is told, in inventory-tables.ts`, () => {
    const own = going.has_own_number ? ['id'] : [];
    const names = columns(going.table).map(({ name }) => name);
    expect([...own, ...columnsOf(going)].sort()).toEqual(names.sort());
  });

  test(`a column of ${going.table} that refers to another table is renumbered, or names what has the same id everywhere`, () => {
    const references = sqlite
      .query<{ from: string; table: string }, [string]>(
        'SELECT "from", "table" FROM pragma_foreign_key_list(?)',
      )
      .all(going.table)
      .filter(({ table }) => columns(table).find(({ pk }) => pk === 1)?.name === 'id')
      .filter(({ table }) => NUMBERED.some((one) => one === table) || table === 'projects');
    for (const { from, table } of references) expect(going.numbers).toHaveProperty(from, table);
  });
}

test('what is referred to comes before what refers, so that a row never waits for another', () => {
  const order = GOING.map(({ table }) => table);
  for (const { table } of GOING) {
    const parents = sqlite
      .query<{ table: string }, [string]>('SELECT "table" FROM pragma_foreign_key_list(?)')
      .all(table);
    for (const parent of parents.filter((one) => order.includes(one.table)))
      expect(order.indexOf(parent.table), `${table} after ${parent.table}`).toBeLessThan(
        order.indexOf(table),
      );
  }
});

test('no rows are sorted to be read, however many they are', () => {
  for (const { table, from, order } of GOING) {
    const sql = `EXPLAIN QUERY PLAN SELECT t.* FROM ${from}${order === undefined ? '' : ` ORDER BY ${order}`}`;
    const plan = sqlite
      .query<{ detail: string }, [number]>(sql)
      .all(1)
      .map(({ detail }) => detail);
    expect({ table, plan: plan.filter((step) => /TEMP B-TREE FOR ORDER BY|SCAN/.test(step)) }).toEqual({
      table,
      plan: [],
    });
  }
});

test('a column that holds JSON is told so, in column-rules.ts, and a name means one kind of text', async () => {
  const gone = new Set([...GOING.map(({ table }) => table), 'projects', 'access_tokens']);
  const found: string[] = [];
  for await (const path of new Bun.Glob('src/**/tables.ts').scan({
    cwd: join(import.meta.dir, '../../..'),
  })) {
    const exported: Record<string, unknown> = await import(join('../../..', path));
    for (const table of Object.values(exported)) {
      if (!is(table, SQLiteTable) || !gone.has(getTableName(table))) continue;
      for (const column of Object.values(getTableColumns(table)))
        if (column.dataType === 'json') found.push(column.name);
    }
  }
  expect(found).toContain('custom');
  expect([...new Set(found)].filter((name) => !JSON_TEXTS.has(name))).toEqual([]);
  const kinds = [...IDS, ...JSON_TEXTS, ...FREE_TEXTS];
  expect(kinds.length).toBe(new Set(kinds).size);
  const texts = new Set([...gone].flatMap((table) => columns(table).map(({ name }) => name)));
  expect(kinds.filter((name) => !texts.has(name))).toEqual([]);
});
