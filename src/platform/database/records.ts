/** Rows whose columns are known as they come, such as those of a project's file. */

import type { Tx } from './database.ts';
import { rawSql } from './raw-sql.ts';

/** Inserts a row whose columns are named by its members, and returns its number. */
export function insertRecord(
  tx: Tx,
  table: string,
  row: Readonly<Record<string, string | number | null>>,
): number {
  const names = Object.keys(row);
  const sql = `INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')}) RETURNING rowid AS id`;
  return rawSql<{ id: number }, (string | number | null)[]>(sql).get(tx, ...Object.values(row))?.id ?? 0;
}
