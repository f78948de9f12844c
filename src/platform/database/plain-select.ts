/**
 * SELECTs for the paths that every request takes: prepared once, in plain SQL, and mapped by a table's definition only
 * where a column needs it. Building SQL with drizzle, and its mapping of rows, cost several times what SQLite does.
 */
import type { SQLQueryBindings } from 'bun:sqlite';
import { getTableColumns, getTableName } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { statement, type Tx } from './database.ts';

export interface PlainSelect<Row> {
  /** The first row, or null. */
  get(tx: Tx, ...params: SQLQueryBindings[]): Row | null;
  all(tx: Tx, ...params: SQLQueryBindings[]): Row[];
}

type Mapping = (value: unknown) => unknown;

/**
 * Selects `columns` of a table; `rest` is what follows its name in the statement, such as `WHERE id = ?`
 * (see `statement` for `+?`). Columns must be
 * named in the table's definition as they are in the database.
 */
export function plainSelect<
  T extends SQLiteTable,
  Name extends keyof T['$inferSelect'] & string = keyof T['$inferSelect'] & string,
>(table: T, rest: string, columns?: readonly Name[]): PlainSelect<Pick<T['$inferSelect'], Name>> {
  type Row = Pick<T['$inferSelect'], Name>;
  const defined = getTableColumns(table);
  const names = columns ?? (Object.keys(defined) as Name[]);
  const mapped: { name: Name; map: Mapping }[] = [];
  for (const name of names) {
    const map = mappingOf(defined[name]);
    if (map) mapped.push({ name, map });
  }
  const list = names.map((name) => `"${name}"`).join(', ');
  const prepared = statement((tx) =>
    tx.$client.query<Row, SQLQueryBindings[]>(`SELECT ${list} FROM "${getTableName(table)}" ${rest}`),
  );
  const finish = (row: Row): Row => {
    for (const { name, map } of mapped) {
      if (row[name] !== null) row[name] = map(row[name]) as Row[Name];
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
  };
}

/** How a column's stored values become those of its type; null where they already are. */
function mappingOf(column: { dataType: string; mapFromDriverValue: Mapping } | undefined): Mapping | null {
  if (column === undefined || column.dataType === 'number' || column.dataType === 'string') return null;
  return (value) => column.mapFromDriverValue(value);
}
