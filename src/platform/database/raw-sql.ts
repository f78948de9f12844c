/**
 * Raw SQL, for what every request or job runs, and for what the query builder can't say. Drizzle's builder,
 * prepared (`statement`), takes 13 to 18 us to read a row by its id; this takes 4. Elsewhere use the builder.
 */
import type { SQLQueryBindings } from 'bun:sqlite';
import { getTableColumns } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { statement, type Tx } from './database.ts';

export interface RawSql<Row, Params extends SQLQueryBindings[]> {
  /** The first row, or null. */
  get(tx: Tx, ...params: Params): Row | null;
  all(tx: Tx, ...params: Params): Row[];
  /** How many rows it changed. */
  run(tx: Tx, ...params: Params): number;
}

/**
 * Prepared once for each connection; see `statement` for `+?`. `Row` is what it selects. Where that has JSON
 * or boolean columns, `table` defines them.
 */
export function rawSql<Row extends object, Params extends SQLQueryBindings[]>(
  text: string,
  table?: SQLiteTable,
): RawSql<Row, Params> {
  const prepared = statement((tx) => tx.$client.query<Row, SQLQueryBindings[]>(text));
  const mapped = Object.entries(table ? getTableColumns(table) : {}).filter(
    ([, { dataType }]) => dataType === 'json' || dataType === 'boolean',
  );
  const finish = (row: Row): Row => {
    for (const [name, column] of mapped) {
      const value: unknown = Reflect.get(row, name);
      if (value !== null && value !== undefined) Reflect.set(row, name, column.mapFromDriverValue(value));
    }
    return row;
  };
  return {
    get(tx, ...params) {
      const row = prepared(tx).get(...params);
      return row && finish(row);
    },
    all: (tx, ...params) =>
      prepared(tx)
        .all(...params)
        .map(finish),
    run: (tx, ...params) => prepared(tx).run(...params).changes,
  };
}
