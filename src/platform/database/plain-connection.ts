/** Plain connections to database files, such as snapshots and damaged ones, and a little SQL for them. */
import { type SQLQueryBindings, Database as Sqlite } from 'bun:sqlite';
import { dirname } from 'node:path';
import { BUSY_TIMEOUT_MS } from '../../limits.ts';
import { asOwner } from '../host/ownership.ts';

/** Opens a database that exists. With `query_only` nothing in it can be changed. */
export function connect(path: string, options: { query_only: boolean }): Sqlite {
  const sqlite = new Sqlite(path, { readwrite: true, create: false, strict: true });
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  sqlite.run('PRAGMA temp_store = MEMORY');
  if (options.query_only) sqlite.run('PRAGMA query_only = ON');
  return sqlite;
}

/**
 * As `connect`, as the owner of the directory that the database is in: for root, who acts elsewhere as itself.
 * The files beside it are opened with it, and stay open.
 */
export function connectAsOwner(path: string, options: { query_only: boolean }): Sqlite {
  return asOwner(dirname(path), () => {
    const sqlite = connect(path, options);
    readCount(sqlite, 'SELECT count(*) FROM sqlite_schema');
    return sqlite;
  });
}

/** First column of the first row, as a number. */
export function readCount(sqlite: Sqlite, sql: string, ...values: SQLQueryBindings[]): number {
  const value = sqlite.query(sql).values(...values)[0]?.[0];
  return typeof value === 'number' ? value : 0;
}

/** First column of every row, as texts. */
export function readTexts(sqlite: Sqlite, sql: string, ...values: SQLQueryBindings[]): string[] {
  return sqlite
    .query(sql)
    .values(...values)
    .flatMap(([value]) => (typeof value === 'string' ? [value] : []));
}

export function readMetaValue(sqlite: Sqlite, name: string): string | null {
  return readTexts(sqlite, 'SELECT value FROM meta WHERE name = ?', name)[0] ?? null;
}

/**
 * What SQLite finds wrong with a database, a few lines at most; empty when it is sound. It reads each page a
 * few times and counts the entries of indexes. integrity_check looks up each row in each index, and reads
 * many times as much.
 */
export function listDefects(sqlite: Sqlite): string[] {
  const defects = readTexts(sqlite, 'PRAGMA quick_check(5)').filter((line) => line !== 'ok');
  const orphans = sqlite.query('PRAGMA foreign_key_check').values().slice(0, 5);
  return [
    ...defects,
    ...orphans.map(
      ([table, row, parent]) =>
        `row ${String(row)} of ${String(table)} names a row of ${String(parent)} that is not there`,
    ),
  ];
}
