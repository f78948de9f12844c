/** SQL that all tables of records have: rows of a project with a public id, such as lists, segments and schedules. */
import { desc, eq, getTableName, type SQL } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Tx } from './database.ts';
import { type AllSql, type GetSql, rawAll, rawGet } from './raw-sql.ts';

type RecordTable<Row> = SQLiteTable &
  Readonly<Record<'id' | 'project_id', SQLiteColumn>> & { $inferSelect: Row };

/** Where there is no `public_id`, `id` is it. */
export interface RecordRow {
  id: number | string;
  public_id?: string;
  project_id: number;
}

export interface RecordStore<Row extends RecordRow> {
  find: GetSql<Row, [project_id: number, public_id: string]>;
  /** Of whatever project. */
  findAny: GetSql<Row, [public_id: string]>;
  findById: GetSql<Row, [id: Row['id']]>;
  /** Those of a project that have this name, newest first. */
  listCalled: AllSql<Row, [project_id: number, name: string]>;
  /** Newest first. */
  list(read: Tx, where: SQL | undefined, page: { limit: number; offset: number }): Row[];
  insert(tx: Tx, row: Omit<Row, 'id'>): Row;
  update(tx: Tx, id: Row['id'], changes: Partial<Omit<Row, 'id'>>): Row;
  remove(tx: Tx, id: Row['id']): void;
}

/** Drizzle can't tell the rows of a table that it gets as a parameter: they are its columns. */
export function recordStore<Row extends RecordRow>(table: RecordTable<Row>): RecordStore<Row> {
  const from = `SELECT * FROM ${getTableName(table)} WHERE`;
  const public_id = 'public_id' in table ? 'public_id' : 'id';
  return {
    find: rawGet(`${from} project_id = ? AND ${public_id} = ?`, table),
    findAny: rawGet(`${from} ${public_id} = ?`, table),
    findById: rawGet(`${from} id = ?`, table),
    listCalled: rawAll(`${from} project_id = +? AND name = +? ORDER BY id DESC`, table),
    list: (read, where, { limit, offset }) =>
      read
        .select()
        .from<SQLiteTable>(table)
        .where(where)
        .orderBy(desc(table.id))
        .limit(limit)
        .offset(offset)
        .all() as Row[],
    insert: (tx, row) => tx.insert(table).values(row).returning().get() as Row,
    update: (tx, id, changes) =>
      tx.update(table).set(changes).where(eq(table.id, id)).returning().get() as Row,
    remove(tx, id) {
      tx.delete(table).where(eq(table.id, id)).run();
    },
  };
}
