/**
 * Raw SQL, for what every request or job runs, and for what the query builder can't say. Drizzle's builder,
 * prepared (`statement`), takes 13 to 18 us to read a row by its id; this takes 4. Elsewhere use the builder.
 */
import type { SQLQueryBindings } from 'bun:sqlite';
import { getTableColumns } from 'drizzle-orm';
import type { SQLiteTable } from 'drizzle-orm/sqlite-core';
import { statement, type Tx } from './database.ts';

export type GetSql<Row, Params extends SQLQueryBindings[]> = (tx: Tx, ...params: Params) => Row | null;
export type AllSql<Row, Params extends SQLQueryBindings[]> = (tx: Tx, ...params: Params) => Row[];
export type RunSql<Params extends SQLQueryBindings[]> = (tx: Tx, ...params: Params) => number;

/**
 * A function that reads the first row, or null. Its text is prepared once for each connection; see `statement`
 * for `+?`. `Row` is what it selects. Where that has JSON or boolean columns, `table` defines them. In place of
 * values it may take an object, whose members the text names (`:id`).
 */
export function rawGet<Row extends object, Params extends SQLQueryBindings[] = []>(
  text: string,
  table?: SQLiteTable,
): GetSql<Row, Params> {
  const prepared = preparedOf<Row>(text);
  const finish = finishOf<Row>(table);
  return (tx, ...params) => {
    const row = prepared(tx).get(...params);
    return row && finish(row);
  };
}

/** A function that reads all rows; else as `rawGet`. */
export function rawAll<Row extends object, Params extends SQLQueryBindings[] = []>(
  text: string,
  table?: SQLiteTable,
): AllSql<Row, Params> {
  const prepared = preparedOf<Row>(text);
  const finish = finishOf<Row>(table);
  return (tx, ...params) =>
    prepared(tx)
      .all(...params)
      .map(finish);
}

/** A function that changes rows and returns how many; else as `rawGet`. */
export function rawRun<Params extends SQLQueryBindings[] = []>(text: string): RunSql<Params> {
  const prepared = preparedOf<never>(text);
  return (tx, ...params) => prepared(tx).run(...params).changes;
}

/** A function that reads the only column of the first row, or null; else as `rawGet`. */
export function rawValue<Value, Params extends SQLQueryBindings[] = []>(
  text: string,
): (tx: Tx, ...params: Params) => Value | null {
  const prepared = preparedOf<Record<string, Value>>(text);
  return (tx, ...params) => Object.values(prepared(tx).get(...params) ?? {})[0] ?? null;
}

/** A function that reads the only column of all rows; else as `rawGet`. */
export function rawValues<Value, Params extends SQLQueryBindings[] = []>(
  text: string,
): (tx: Tx, ...params: Params) => Value[] {
  const prepared = preparedOf<Record<string, Value>>(text);
  return (tx, ...params) =>
    prepared(tx)
      .all(...params)
      .flatMap((row) => Object.values(row));
}

/** A function that reads a number; else as `rawGet`. */
export function rawCount<Params extends SQLQueryBindings[] = []>(
  text: string,
): (tx: Tx, ...params: Params) => number {
  const value = rawValue<number, Params>(text);
  return (tx, ...params) => value(tx, ...params) ?? 0;
}

/** A function that says whether there is such a row; else as `rawGet`. */
export function rawHas<Params extends SQLQueryBindings[] = []>(
  text: string,
): (tx: Tx, ...params: Params) => boolean {
  const prepared = preparedOf<object>(text);
  return (tx, ...params) => prepared(tx).get(...params) !== null;
}

/** Inserts a row whose columns are known as it comes, by the names of its members, and returns its number. */
export function insertRecord(
  tx: Tx,
  table: string,
  row: Readonly<Record<string, string | number | null>>,
): number {
  const names = Object.keys(row);
  const sql = `INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')}) RETURNING rowid AS id`;
  return rawValue<number, (string | number | null)[]>(sql)(tx, ...Object.values(row)) ?? 0;
}

function preparedOf<Row extends object>(text: string) {
  return statement((tx) => tx.$client.query<Row, SQLQueryBindings[]>(text));
}

function finishOf<Row extends object>(table: SQLiteTable | undefined): (row: Row) => Row {
  const mapped = Object.entries(table ? getTableColumns(table) : {}).filter(
    ([, { dataType }]) => dataType === 'json' || dataType === 'boolean',
  );
  return (row) => {
    for (const [name, column] of mapped) {
      const value: unknown = Reflect.get(row, name);
      if (value !== null && value !== undefined) Reflect.set(row, name, column.mapFromDriverValue(value));
    }
    return row;
  };
}
