/**
 * SQL over a whole database, whatever capability its rows belong to: what a backup must hold, and what a health check
 * counts. It works on a plain connection, because a snapshot, a restored copy and a damaged database are not opened
 * as the database of a server is.
 */
import { type SQLQueryBindings, Database as Sqlite } from 'bun:sqlite';
import { BUSY_TIMEOUT_MS } from '../limits.ts';

/** A file that rows name. `sha256` and `size_bytes` are null where no object stands for it any more. */
export interface NamedBlob {
  public_id: string;
  size_bytes: number | null;
  sha256: string | null;
}

/** Opens a database that exists. With `query_only` nothing in it can be changed. */
export function connect(path: string, options: { query_only: boolean }): Sqlite {
  const sqlite = new Sqlite(path, { readwrite: true, create: false, strict: true });
  sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
  sqlite.run('PRAGMA temp_store = MEMORY');
  if (options.query_only) sqlite.run('PRAGMA query_only = ON');
  return sqlite;
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
 * Every file that the rows name, each once: those of objects, and those that mails which wait to be sent keep though
 * their object is gone.
 */
export function* listNamedBlobs(sqlite: Sqlite): Generator<NamedBlob> {
  const objects = sqlite.query<NamedBlob, []>(
    'SELECT public_id, size_bytes, sha256 FROM objects ORDER BY id',
  );
  yield* objects.iterate();
  const pinned = sqlite.query<NamedBlob, []>(
    `SELECT DISTINCT object_public_id AS public_id, NULL AS size_bytes, NULL AS sha256 FROM attachment_pins
     WHERE object_public_id NOT IN (SELECT public_id FROM objects)`,
  );
  yield* pinned.iterate();
}

/** Which of these ids no row names. */
export function findUnnamed(sqlite: Sqlite, public_ids: readonly string[]): string[] {
  return readTexts(
    sqlite,
    `SELECT value FROM json_each(?) WHERE value NOT IN (SELECT public_id FROM objects)
     AND value NOT IN (SELECT object_public_id FROM attachment_pins)`,
    JSON.stringify(public_ids),
  );
}

/* --- A snapshot whose files are gone -------------------------------------------------------------------------- */

/**
 * Takes files that could not be copied out of a snapshot, so that it has no row without its bytes, and returns those that
 * the live database still names: they were damaged or lost before. What was deleted since the snapshot is deleted in it
 * too, and a mail that let go of its attachment since is brought to where it stands now, so that no mail is left waiting
 * for bytes that will never come.
 */
export function dropBlobs(snapshot_path: string, live_path: string, public_ids: readonly string[]): string[] {
  const sqlite = connect(snapshot_path, { query_only: false });
  try {
    // The snapshot is a scratch copy: if this is cut off, it goes with it.
    sqlite.run('PRAGMA journal_mode = MEMORY');
    sqlite.run('PRAGMA synchronous = OFF');
    sqlite.run('PRAGMA foreign_keys = ON');
    sqlite.query('ATTACH DATABASE ? AS live').run(live_path);
    sqlite.run('BEGIN');
    const lost = public_ids.filter((public_id) => dropBlob(sqlite, public_id));
    sqlite.run('COMMIT');
    return lost;
  } finally {
    sqlite.close();
  }
}

/** True when the live database still names it. */
function dropBlob(sqlite: Sqlite, public_id: string): boolean {
  let is_named = readCount(sqlite, 'SELECT count(*) FROM live.objects WHERE public_id = ?', public_id) > 0;
  sqlite.query('DELETE FROM main.objects WHERE public_id = ?').run(public_id);
  const pinning = 'SELECT email_id FROM main.attachment_pins WHERE object_public_id = ?';
  for (const email_id of readTexts(sqlite, pinning, public_id)) {
    const is_pinned = readCount(
      sqlite,
      'SELECT count(*) FROM live.attachment_pins WHERE object_public_id = ? AND email_id = ?',
      public_id,
      email_id,
    );
    if (is_pinned > 0) is_named = true;
    else catchUpEmail(sqlite, email_id);
  }
  sqlite.query('DELETE FROM main.attachment_pins WHERE object_public_id = ?').run(public_id);
  return is_named;
}

function catchUpEmail(sqlite: Sqlite, email_id: string): void {
  const jobs =
    'SELECT job_id FROM main.emails WHERE id = ?1 UNION SELECT job_id FROM live.emails WHERE id = ?1';
  for (const job_id of readTexts(sqlite, jobs, email_id)) catchUpRow(sqlite, 'jobs', job_id);
  catchUpRow(sqlite, 'emails', email_id);
}

/** Makes one row what it is in the live database, or deletes it where that has none. Triggers keep the counters right. */
function catchUpRow(sqlite: Sqlite, table: 'emails' | 'jobs', id: string): void {
  if (readCount(sqlite, `SELECT count(*) FROM live.${table} WHERE id = ?`, id) === 0) {
    sqlite.query(`DELETE FROM main.${table} WHERE id = ?`).run(id);
    return;
  }
  const names = readTexts(sqlite, "SELECT name FROM pragma_table_info(?, 'main') WHERE name <> 'id'", table);
  const columns = names.map((name) => `"${name}"`).join(', ');
  sqlite
    .query(
      `UPDATE main.${table} SET (${columns}) = (SELECT ${columns} FROM live.${table} WHERE id = ?1) WHERE id = ?1`,
    )
    .run(id);
}

/* --- Health --------------------------------------------------------------------------------------------------- */

/** What SQLite finds wrong with a database, at most a few lines; empty when it is sound. */
export function listDefects(sqlite: Sqlite, options: { thorough: boolean }): string[] {
  const check = options.thorough ? 'integrity_check' : 'quick_check';
  const defects = readTexts(sqlite, `PRAGMA ${check}(5)`).filter((line) => line !== 'ok');
  const orphans = sqlite.query('PRAGMA foreign_key_check').values().slice(0, 5);
  return [
    ...defects,
    ...orphans.map(
      ([table, row, parent]) =>
        `row ${String(row)} of ${String(table)} names a row of ${String(parent)} that is not there`,
    ),
  ];
}

/** The latest moment that any of the busy tables knows of. Ids sort by time, so each is one look at the end of an index. */
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

const FAILED_SINCE = "FROM emails WHERE status = 'failed' AND failed_at >= ? AND is_test = 0";

/** Mails that failed since a moment, but for those of test keys, for which nobody waits. */
export function countFailedEmails(sqlite: Sqlite, since_ms: number): number {
  return readCount(sqlite, `SELECT count(*) ${FAILED_SINCE}`, since_ms);
}

/** How many of them `satchel email retry --failed` leaves out: refused for good, or sent while their client waited. */
export function countLeftOutEmails(sqlite: Sqlite, since_ms: number): number {
  return readCount(
    sqlite,
    `SELECT count(*) ${FAILED_SINCE} AND (
       (SELECT max_attempts FROM jobs WHERE id = job_id) = 1
       OR (SELECT outcome = 'refused' AND smtp_code >= 500 FROM email_attempts
           WHERE email_id = emails.id ORDER BY id DESC LIMIT 1))`,
    since_ms,
  );
}

/** Mails that a server sends as soon as it starts. */
export function countWaitingEmails(sqlite: Sqlite): number {
  return readCount(
    sqlite,
    "SELECT coalesce(sum(n), 0) FROM row_counts WHERE list = 'emails' AND facet IN ('scheduled', 'queued', 'sending')",
  );
}

/** Every column that holds sealed values: by convention its name is `sealed`, or begins with it. */
export function listSealedColumns(sqlite: Sqlite): { table: string; column: string }[] {
  return sqlite
    .query(
      `SELECT tables.name, columns.name FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
       WHERE tables.type = 'table' AND (columns.name = 'sealed' OR columns.name GLOB 'sealed_*')`,
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
