/** Whoever adds a table or a column says what becomes of it when a project moves. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { getTableColumns, getTableName, is } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/bun-sqlite';
import { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { FREE_TEXTS, IDS, JSON_TEXTS } from '../../../src/operation/transfers/column-rules.ts';
import { APART, GOING, NAMES, NUMBERED, STAYING } from '../../../src/operation/transfers/inventory-tables.ts';
import { listGoing } from '../../../src/operation/transfers/rows-store.ts';
import { makeDataDir } from '../../support/temp.ts';

const sqlite = new Database(join(makeDataDir(), 'satchel.db'), { readonly: true });
const tables = sqlite
  .query("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
  .values()
  .map(([name]) => String(name));
const columns = (table: string): { name: string; type: string; pk: number }[] =>
  sqlite
    .query<{ name: string; type: string; pk: number }, [string]>(
      'SELECT name, type, pk FROM pragma_table_info(?)',
    )
    .all(table);
const going = listGoing(drizzle({ client: sqlite }));

test('each table goes, goes in a way of its own, or stays: add it to inventory-tables.ts', () => {
  const told = [...GOING, ...Object.keys(APART), ...Object.values(STAYING).flat()];
  expect(told.sort()).toEqual(tables);
});

const references = (table: string): { from: string; table: string }[] =>
  sqlite
    .query<{ from: string; table: string }, [string]>(
      'SELECT "from", "table" FROM pragma_foreign_key_list(?)',
    )
    .all(table);

test('all columns of what goes do, but for numbers that no row names', () => {
  const left = going.flatMap(({ table, columns: of }) => {
    const names = of.map(({ name }) => name);
    return columns(table)
      .filter(({ name }) => !names.includes(name))
      .map(({ name, pk }) => `${table}.${name} ${pk}`);
  });
  expect([...new Set(left.map((one) => one.replace(/^\w+/, '')))]).toEqual(['.id 1']);
  const named = new Set(going.flatMap(({ table }) => references(table).map((one) => one.table)));
  expect(left.filter((one) => named.has(one.replace(/\..*/, '')))).toEqual([]);
});

test('a column that refers to another table is named as all that refer to it, in inventory-tables.ts', () => {
  const parents = going.flatMap(({ table }) => references(table));
  expect(parents.length).toBeGreaterThan(30);
  for (const { from, table } of parents) expect(NAMES, from).toHaveProperty(from, table);
  for (const { table } of parents.filter((one) =>
    columns(one.table).some(({ name, type }) => name === 'id' && type === 'INTEGER'),
  ))
    expect([...NUMBERED, 'projects']).toContain(table);
});

test('what is referred to comes before what refers, so that a row never waits for another', () => {
  for (const table of GOING) {
    for (const parent of references(table).filter((one) => GOING.includes(one.table)))
      expect(GOING.indexOf(parent.table), `${table} after ${parent.table}`).toBeLessThan(
        GOING.indexOf(table),
      );
  }
});

test('no rows are sorted to be read, however many they are, and none are looked for in all of a table', () => {
  for (const { table, select } of going) {
    const plan = sqlite
      .query<{ detail: string }, [number]>(`EXPLAIN QUERY PLAN ${select}`)
      .all(1)
      .map(({ detail }) => detail);
    expect({ table, plan: plan.filter((step) => /TEMP B-TREE FOR ORDER BY|SCAN/.test(step)) }).toEqual({
      table,
      plan: [],
    });
  }
});

test('a column that holds JSON is told so, in column-rules.ts, and a name means one kind of text', async () => {
  const gone = new Set([...GOING, 'projects', 'access_tokens']);
  const found: string[] = [];
  const known = JSON_TEXTS.flatMap(({ names }) => names);
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
  expect([...new Set(found)].filter((name) => !known.includes(name))).toEqual([]);
  const kinds = [...IDS, ...known, ...FREE_TEXTS];
  expect(kinds.length).toBe(new Set(kinds).size);
  const texts = new Set([...gone].flatMap((table) => columns(table).map(({ name }) => name)));
  expect(kinds.filter((name) => !texts.has(name))).toEqual([]);
});
