/** SQL of health checks that look at a whole database, whatever noun its rows belong to. */
import type { Database as Sqlite } from 'bun:sqlite';
import { readCount } from '../../platform/database/plain-connection.ts';

/** The latest moment in any of the busy tables. Ids sort by time, so this looks at the end of each index. */
export function newestMoment(sqlite: Sqlite): number {
  return readCount(
    sqlite,
    `SELECT max(
       coalesce((SELECT max(applied_at) FROM schema_migrations), 0),
       coalesce((SELECT at FROM audit_events ORDER BY id DESC LIMIT 1), 0),
       coalesce((SELECT created_at FROM emails ORDER BY id DESC LIMIT 1), 0),
       coalesce((SELECT queued_at FROM jobs ORDER BY id DESC LIMIT 1), 0),
       coalesce((SELECT created_at FROM objects ORDER BY id DESC LIMIT 1), 0))`,
  );
}

/** The size of the database's file, and how much of it is free: SQLite uses that, and gives none back. */
export function sizeOf(sqlite: Sqlite): { bytes: number; free_bytes: number } {
  const pragma = (name: string): number => Number(sqlite.query(`PRAGMA ${name}`).values()[0]?.[0]);
  const page_bytes = pragma('page_size');
  return { bytes: pragma('page_count') * page_bytes, free_bytes: pragma('freelist_count') * page_bytes };
}

/** Every column that holds sealed values: by convention its name says so. What a vault has held mends nothing any more. */
export function listSealedColumns(sqlite: Sqlite): { table: string; column: string }[] {
  return sqlite
    .query(
      `SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND tables.name <> 'vault_versions' AND (columns.name = 'sealed' OR columns.name GLOB '*sealed_*')`,
    )
    .values()
    .flatMap(([table, column]) =>
      typeof table === 'string' && typeof column === 'string' ? [{ table, column }] : [],
    );
}

export function* listSealedValues(sqlite: Sqlite, of: { table: string; column: string }): Generator<string> {
  const rows = sqlite.query<{ sealed: string }, []>(
    `SELECT "${of.column}" AS sealed FROM "${of.table}" WHERE "${of.column}" IS NOT NULL`,
  );
  for (const { sealed } of rows.iterate()) yield sealed;
}
