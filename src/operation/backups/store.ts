/** SQL of backups: which files the rows name, and how a snapshot lets go of those that are gone. */
import type { Database as Sqlite } from 'bun:sqlite';
import { dirname } from 'node:path';
import { connect, readCount, readTexts } from '../../platform/database/plain-connection.ts';
import type { NamedBytes } from '../../platform/files/archive-blobs.ts';
import type { StoreName } from '../../platform/files/store.ts';
import { newHold, STORE_HOLD } from '../../platform/files/store-hold.ts';
import { asOwner } from '../../platform/host/ownership.ts';

/** An object whose bytes are in the object store. */
export interface StoredObject {
  public_id: string;
  size_bytes: number;
  sha256: string;
}

/**
 * Every file that the rows name, each once: those of objects, and those that waiting mails keep of objects
 * that are gone. Bytes in the database or in the object store are no files.
 */
export function* listNamedBlobs(sqlite: Sqlite): Generator<NamedBytes> {
  const objects = sqlite.query<NamedBytes, []>(
    "SELECT public_id, size_bytes, sha256 FROM objects WHERE store = 'local' ORDER BY id",
  );
  yield* objects.iterate();
  const pinned = sqlite.query<NamedBytes, []>(
    `SELECT DISTINCT object_public_id AS public_id, NULL AS size_bytes, NULL AS sha256 FROM attachment_pins
     WHERE object_public_id NOT IN (SELECT public_id FROM objects)
     AND object_public_id NOT IN (SELECT public_id FROM store_removals)
     AND object_public_id NOT IN (SELECT public_id FROM pinned_contents)`,
  );
  yield* pinned.iterate();
}

/** Every object whose bytes are in the database, with them: null where they are gone. */
export function* listContents(
  sqlite: Sqlite,
): Generator<{ public_id: string; sha256: string; bytes: Uint8Array | null }> {
  const contents = sqlite.query<{ public_id: string; sha256: string; bytes: Uint8Array | null }, []>(
    `SELECT public_id, sha256, bytes FROM objects LEFT JOIN object_contents ON object_id = id
     WHERE store = 'database' ORDER BY id`,
  );
  yield* contents.iterate();
}

/** As `listContents`, with how many bytes there should be, and are. */
export function* listContentSizes(
  sqlite: Sqlite,
): Generator<{ public_id: string; size_bytes: number; held_bytes: number | null }> {
  const sizes = sqlite.query<{ public_id: string; size_bytes: number; held_bytes: number | null }, []>(
    `SELECT public_id, size_bytes, length(bytes) AS held_bytes FROM objects
     LEFT JOIN object_contents ON object_id = id WHERE store = 'database' ORDER BY id`,
  );
  yield* sizes.iterate();
}

/** How many objects have their bytes in a place, and how many bytes those are by their rows. */
export function sumIn(sqlite: Sqlite, place: StoreName): { objects: number; bytes: number } {
  const sum = sqlite.query<{ objects: number; bytes: number }, []>(
    `SELECT count(*) AS objects, coalesce(sum(size_bytes), 0) AS bytes FROM objects WHERE store = '${place}'`,
  );
  return sum.get() ?? { objects: 0, bytes: 0 };
}

/** Every object whose bytes are in the object store. */
export function* listStoredObjects(sqlite: Sqlite): Generator<StoredObject> {
  const stored = sqlite.query<StoredObject, []>(
    "SELECT public_id, size_bytes, sha256 FROM objects WHERE store = 's3' ORDER BY id",
  );
  yield* stored.iterate();
}

export function isNamed(sqlite: Sqlite, public_id: string): boolean {
  return readCount(sqlite, 'SELECT count(*) FROM objects WHERE public_id = ?', public_id) > 0;
}

/** How large the largest file is of those that a backup holds. */
export function largestBlobBytes(sqlite: Sqlite): number {
  return readCount(sqlite, "SELECT coalesce(max(size_bytes), 0) FROM objects WHERE store <> 'database'");
}

/** Finds those of these ids that no row names. */
export function findUnnamed(sqlite: Sqlite, public_ids: readonly string[]): string[] {
  return readTexts(
    sqlite,
    `SELECT value FROM json_each(?) WHERE value NOT IN (SELECT public_id FROM objects)
     AND value NOT IN (SELECT object_public_id FROM attachment_pins)
     AND value NOT IN (SELECT id FROM uploads WHERE object_id IS NULL)`,
    JSON.stringify(public_ids),
  );
}

/** Mails that a server sends as soon as it starts. */
export function countWaitingEmails(sqlite: Sqlite): number {
  return readCount(
    sqlite,
    "SELECT coalesce(sum(n), 0) FROM row_counts WHERE list = 'emails' AND facet IN ('scheduled', 'queued', 'sending')",
  );
}

/* --- A snapshot whose files are gone -------------------------------------------------------------------------- */

/**
 * Takes files that could not be copied out of a snapshot, so that it has no row without its bytes. Returns
 * those that the live database still names: they were damaged or lost before. A row that was deleted since is
 * deleted in the snapshot, and a mail that let go of its attachment since is brought up to date: no mail is
 * left waiting for bytes that never come.
 */
export function dropBlobs(snapshot_path: string, live_path: string, public_ids: readonly string[]): string[] {
  const sqlite = connect(snapshot_path, { query_only: false });
  try {
    // The snapshot is a scratch copy: if this is cut off, it goes with it.
    sqlite.run('PRAGMA journal_mode = MEMORY');
    sqlite.run('PRAGMA synchronous = OFF');
    sqlite.run('PRAGMA foreign_keys = ON');
    return asOwner(dirname(live_path), () => {
      sqlite.query('ATTACH DATABASE ? AS live').run(live_path);
      sqlite.run('BEGIN');
      const lost = public_ids.filter((public_id) => dropBlob(sqlite, public_id));
      sqlite.run('COMMIT');
      return lost;
    });
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

/** Makes a row what it is in the live database, or deletes it without one. Triggers keep counters. */
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

/**
 * Tables that are left out. The files of other backups are not restored with this one. Sessions and links
 * would let people in who signed out or used them since. The bytes of unfinished uploads do not come along.
 */
const PASSING = ['person_sessions', 'person_links', 'uploads'];
/** The job that makes a backup. */
export const BACKUP_MAKE = 'backup.make';

/** Takes out of a snapshot what must not come back with it. */
export function dropPassing(snapshot_path: string): void {
  const sqlite = connect(snapshot_path, { query_only: false });
  try {
    sqlite.run('PRAGMA journal_mode = MEMORY');
    sqlite.run('PRAGMA synchronous = OFF');
    // A database that is not migrated yet may have none of these.
    const there = readTexts(sqlite, "SELECT name FROM sqlite_master WHERE type = 'table'");
    for (const table of PASSING.filter((name) => there.includes(name))) sqlite.run(`DELETE FROM ${table}`);
    sqlite.query('DELETE FROM jobs WHERE type = ?').run(BACKUP_MAKE);
  } finally {
    sqlite.close();
  }
}

/* --- A restored database ---------------------------------------------------------------------------------------- */

/** Says of objects that their bytes are in the data directory. */
export function takeAsLocal(path: string, public_ids: readonly string[]): void {
  const sqlite = connect(path, { query_only: false });
  try {
    const ids = JSON.stringify(public_ids);
    sqlite
      .query("UPDATE objects SET store = 'local' WHERE public_id IN (SELECT value FROM json_each(?))")
      .run(ids);
  } finally {
    sqlite.close();
  }
}

/** Bytes that were stored since the backup have no row any more. They stay in the store until somebody has looked. */
export function holdStore(path: string, now_ms: number): void {
  const sqlite = connect(path, { query_only: false });
  try {
    const hold = sqlite.query('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)');
    hold.run(STORE_HOLD, newHold(now_ms, 'restored').value);
  } finally {
    sqlite.close();
  }
}
