/** How a project's rows are found, read, written and removed, by table: from the schema and the inventory. */
import type { Tx } from '../../platform/database/database.ts';
import { type RunSql, rawAll, rawRun } from '../../platform/database/raw-sql.ts';
import {
  COUNTED,
  FOUND_BY_PARENT,
  GOING,
  NAMED_BEYOND,
  NAMES,
  NUMBERED,
  type Numbered,
  UNORDERED,
} from './inventory-tables.ts';

export type Value = string | number | null | Uint8Array;
export type Row = Record<string, Value>;

export interface Column {
  name: string;
  /** As a STRICT table has it. */
  type: string;
  is_required: number;
  /** Its place in the primary key, from 1; 0 outside. */
  pk: number;
}

/** A table whose rows go. */
export interface Going {
  table: string;
  /** Those that go, in the order in which they stand in the file. */
  columns: readonly Column[];
  /** Columns that hold a number of a row, and of which table. */
  numbers: readonly (readonly [column: string, table: Numbered | 'projects'])[];
  /** Reads all of the project ?1. It walks an index: nothing is sorted. */
  select: string;
  /** Takes the values of `columns`. */
  insert: RunSql<Value[]>;
  /** Takes up to ?2 of the project ?1 out. */
  remove: RunSql<[project_id: number, limit: number]>;
}

type Schema = ReadonlyMap<string, readonly Column[]>;

/** The columns that a table has in this build. */
export const listColumns = rawAll<Column, [table: string]>(
  'SELECT name, type, "notnull" AS is_required, pk FROM pragma_table_info(?)',
);

const schemaOf = (read: Tx): Schema => new Map(GOING.map((table) => [table, listColumns(read, table)]));

/** The tables that go, in the order of GOING. */
export function listGoing(read: Tx): Going[] {
  const schema = schemaOf(read);
  return [...schema].map(([table, all]) => {
    const columns = all.filter((column) => !isOwnNumber(table, column));
    const names = columns.map(({ name }) => name);
    const { from, order } = placeOf(table, schema);
    const key = all.filter(({ pk }) => pk > 0).map(({ name }) => name);
    const or = COUNTED.includes(table) ? ' OR REPLACE' : '';
    return {
      table,
      columns,
      numbers: names.flatMap((name) => {
        const of = name === 'id' ? table : NAMES[name];
        return of === 'projects' || isNumbered(of) ? [[name, of] as const] : [];
      }),
      select: `SELECT ${names.map((name) => `t.${name}`)} FROM ${from}${order}`,
      insert: rawRun(`INSERT${or} INTO ${table} (${names}) VALUES (${names.map(() => '?')})`),
      remove: rawRun(
        `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key.map((name) => `t.${name}`)} FROM ${from} LIMIT ?2)`,
      ),
    };
  });
}

export const isNumbered = (table: string | undefined): table is Numbered =>
  NUMBERED.some((one) => one === table);

/** A number that no row names: the row gets one as it is written. */
function isOwnNumber(table: string, { name, type }: Column): boolean {
  return name === 'id' && type === 'INTEGER' && !isNumbered(table);
}

/** The tables from the one that names the project down, each with the column that refers upwards. */
function pathTo(table: string, schema: Schema): { table: string; column: string }[] {
  const names = schema.get(table)?.map(({ name }) => name) ?? [];
  if (names.includes('project_id') && !FOUND_BY_PARENT.includes(table))
    return [{ table, column: 'project_id' }];
  const column = names.find((name) => (NAMES[name] ?? 'projects') !== 'projects') ?? '';
  const above = NAMES[column];
  if (above === undefined) throw new Error(`The rows of ${table} name nothing that is a project's.`);
  return [...pathTo(above, schema), { table, column }];
}

/** Where the rows of the project ?1 are, as `t`, and their order. */
function placeOf(table: string, schema: Schema): { from: string; order: string } {
  const path = pathTo(table, schema);
  const alias = (at: number): string => (at === path.length - 1 ? 't' : `p${at}`);
  const joins = path.map(
    (one, at) =>
      `${one.table} ${alias(at)}${at === 0 ? '' : ` ON ${alias(at)}.${one.column} = ${alias(at - 1)}.id`}`,
  );
  const is_ordered = schema.get(table)?.some(({ name }) => name === 'id') && !UNORDERED.includes(table);
  return {
    from: `${joins.join(' CROSS JOIN ')} WHERE ${alias(0)}.project_id = ?1`,
    order: is_ordered ? ` ORDER BY ${path.map((_, at) => `${alias(at)}.id`)}` : '',
  };
}

/** Reads the least and greatest numbers that rows of project ?1 have or refer to; null without any. */
export type Ranges = readonly { table: Numbered; select: string }[];

export function selectRanges(read: Tx): Ranges {
  const schema = schemaOf(read);
  return NUMBERED.map((table) => {
    const places = [[table, 'id'] as const, ...(NAMED_BEYOND[table] ?? [])];
    const parts = places.map(([where, column]) => {
      // 0 names nothing.
      const number = `nullif(t.${column}, 0)`;
      return `SELECT min(${number}) AS a, max(${number}) AS b FROM ${placeOf(where, schema).from}`;
    });
    return { table, select: `SELECT min(a) AS "from", max(b) AS "to" FROM (${parts.join(' UNION ALL ')})` };
  });
}
