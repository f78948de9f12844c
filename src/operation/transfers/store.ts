/**
 * SQL of projects that move: reading all of one, noting what stopped, letting waiting mail go, and taking rows in or out in
 * pieces. It looks at tables of every noun.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import type { Tx } from '../../platform/database/database.ts';
import { readCount } from '../../platform/database/plain-connection.ts';
import { type RawSql, rawSql } from '../../platform/database/raw-sql.ts';
import { columnsOf, type Going, type Numbered } from './inventory-tables.ts';
import type { WithheldKind } from './tables.ts';

export type Value = string | number | null | Uint8Array;
export type Row = Record<string, Value>;

/** Numbers from one to another, and where the first of them is to be. */
export interface Range {
  from: number;
  to: number;
  starts_at: number;
}

/** How a sequence or a broadcast is to stand once all has arrived. Until then it is a draft, at which nothing works. */
export interface Standing {
  table: 'sequences' | 'broadcasts';
  id: number;
  status: string;
}

/* --- Reading what goes, of one committed state ------------------------------------------------------------------ */

/** The rows of a table, each as its values in the order of `columnsOf`. */
export function* readRows(sqlite: Sqlite, going: Going, project_id: number): Generator<unknown[]> {
  const columns = columnsOf(going).map((name) => `t.${name}`);
  const order = going.order === undefined ? '' : ` ORDER BY ${going.order}`;
  const rows = sqlite.query<Record<string, unknown>, [number]>(
    `SELECT ${columns.join(', ')} FROM ${going.from}${order}`,
  );
  for (const row of rows.iterate(project_id)) yield Object.values(row);
}

export interface ObjectBytesRow {
  public_id: string;
  size_bytes: number;
  sha256: string;
  store: 'local' | 's3';
}

/** What has bytes, in the order in which it is stored. */
export function listObjects(sqlite: Sqlite, project_id: number): IterableIterator<ObjectBytesRow> {
  return sqlite
    .query<ObjectBytesRow, [number]>(
      'SELECT public_id, size_bytes, sha256, store FROM objects WHERE project_id = ? ORDER BY id',
    )
    .iterate(project_id);
}

/** Objects that are gone, and whose bytes waiting mails keep. */
export function listPinned(sqlite: Sqlite, project_id: number): { public_id: string; is_stored: boolean }[] {
  return sqlite
    .query<{ public_id: string; is_stored: number }, [number]>(
      `SELECT DISTINCT p.object_public_id AS public_id,
         p.object_public_id IN (SELECT public_id FROM store_removals) AS is_stored
       FROM emails e CROSS JOIN attachment_pins p ON p.email_id = e.id
       WHERE e.project_id = ? AND p.object_public_id NOT IN (SELECT public_id FROM objects)`,
    )
    .all(project_id)
    .map((one) => ({ ...one, is_stored: one.is_stored === 1 }));
}

export function sumBytes(sqlite: Sqlite, project_id: number, with_store: boolean): number {
  return readCount(
    sqlite,
    "SELECT coalesce(sum(size_bytes), 0) FROM objects WHERE project_id = ? AND (store = 'local' OR ?)",
    project_id,
    with_store ? 1 : 0,
  );
}

export interface Column {
  name: string;
  /** As a STRICT table has it. */
  type: string;
  is_required: number;
}
const columnsOfTable = rawSql<Column, [string]>(
  'SELECT name, type, "notnull" AS is_required FROM pragma_table_info(?)',
);

/** The columns that a table has in this build. */
export function listColumns(read: Tx, table: string): Column[] {
  return columnsOfTable.all(read, table);
}

/** Whether a row has the columns that a table has in this build. */
export function fitsTable(read: Tx, table: string, row: Readonly<Record<string, unknown>>): boolean {
  const names = listColumns(read, table).map(({ name }) => name);
  return names.sort().join() === Object.keys(row).sort().join();
}

const stored = rawSql<{ id: number }, [number]>(
  "SELECT id FROM objects WHERE project_id = ? AND store = 's3' LIMIT 1",
);

/** Whether bytes of a project are in an object store. */
export function hasStored(read: Tx, project_id: number): boolean {
  return stored.get(read, project_id) !== null;
}

/* --- What stopped ----------------------------------------------------------------------------------------------- */

const underWay = rawSql<{ jobs: number; mails: number }, [number]>(
  `SELECT (SELECT count(*) FROM jobs WHERE project_id = ?1 AND status = 'processing') AS jobs,
     (SELECT count(*) FROM emails WHERE project_id = ?1 AND status = 'sending') AS mails`,
);

/** How many jobs and mails are being worked on. */
export function countUnderWay(read: Tx, project_id: number): { jobs: number; mails: number } {
  return underWay.get(read, project_id) ?? { jobs: 0, mails: 0 };
}

const withheldOf = rawSql<{ id: string }, [number, WithheldKind]>(
  'SELECT id FROM withheld WHERE project_id = ? AND kind = ?',
);
const addWithheld = rawSql<never, [number, WithheldKind, string]>(
  'INSERT INTO withheld VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
);
const dropWithheld = rawSql<never, [number, WithheldKind, string]>(
  'DELETE FROM withheld WHERE project_id = ? AND kind = ? AND id = ?',
);
const dropProject = rawSql<never, [number]>("DELETE FROM withheld WHERE project_id = ? AND kind = 'project'");
const dropRunning = rawSql<never, [number]>(
  `DELETE FROM withheld WHERE project_id = ? AND kind = 'schedule'
     AND NOT EXISTS (SELECT 1 FROM email_schedules s WHERE s.id = withheld.id AND s.is_active = 0)`,
);

export function listWithheld(read: Tx, project_id: number, kind: WithheldKind): string[] {
  return withheldOf.all(read, project_id, kind).map(({ id }) => id);
}

interface Withheld {
  kind: WithheldKind;
  id: string;
}

export function noteWithheld(tx: Tx, project_id: number, { kind, id }: Withheld): void {
  addWithheld.run(tx, project_id, kind, id);
}

export function forgetWithheld(tx: Tx, project_id: number, { kind, id }: Withheld): void {
  dropWithheld.run(tx, project_id, kind, id);
}

export function forgetThatItWasActive(tx: Tx, project_id: number): void {
  dropProject.run(tx, project_id);
}

/** Forgets schedules that somebody has resumed or deleted since. */
export function forgetRunningSchedules(tx: Tx, project_id: number): void {
  dropRunning.run(tx, project_id);
}

const releaseJobs = rawSql<never, [number, number, number]>(
  `UPDATE jobs SET run_at = coalesce(
       (SELECT CASE WHEN e.attempts = 0 THEN e.scheduled_at END FROM emails e WHERE e.id = jobs.payload ->> 'email_id'), 0)
   WHERE id IN (SELECT id FROM jobs WHERE project_id = ?1 AND status = 'pending' AND run_at > ?2 LIMIT ?3)`,
);
/** Past any date. */
const LAST_DATE_MS = 8.64e15;

/** Lets up to `limit` jobs go; a mail that is to go out later waits for its time. Returns how many there were. */
export function releaseSome(tx: Tx, project_id: number, limit: number): number {
  return releaseJobs.run(tx, project_id, LAST_DATE_MS, limit);
}

/* --- Arriving --------------------------------------------------------------------------------------------------- */

const known = rawSql<{ status: string; name: string }, [string]>(
  'SELECT status, name FROM projects WHERE public_id = ?',
);

/** A project of this id, be it on its way here. */
export function findKnown(read: Tx, public_id: string): { status: string; name: string } | null {
  return known.get(read, public_id);
}

const bySlug = rawSql<{ id: number }, [string]>('SELECT id FROM projects WHERE slug = ?');

export function isSlugTaken(read: Tx, slug: string): boolean {
  return bySlug.get(read, slug) !== null;
}

const arriving = rawSql<{ id: number; public_id: string; name: string }, []>(
  "SELECT id, public_id, name FROM projects WHERE status = 'arriving'",
);

/** Projects whose import is under way, or broke off. */
export function listArriving(read: Tx): { id: number; public_id: string; name: string }[] {
  return arriving.all(read);
}

/** Inserts a row whose columns are named by its members, and returns its number. */
export function insertRecord(tx: Tx, table: string, row: Row): number {
  const names = Object.keys(row);
  const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')}) RETURNING rowid AS id`;
  return rawSql<{ id: number }, Value[]>(sql).get(tx, ...Object.values(row))?.id ?? 0;
}

/** What takes rows of a table in. */
export function inserter(going: Going): (tx: Tx, row: Row) => void {
  const names = columnsOf(going);
  const keys = going.replaces?.split(' ');
  const rest = keys && names.filter((name) => !keys.includes(name));
  const conflict =
    keys && rest
      ? ` ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${rest.map((name) => `${name} = excluded.${name}`).join(', ')}`
      : '';
  const insert: RawSql<never, Value[]> = rawSql(
    `INSERT INTO ${going.table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})${conflict}`,
  );
  return (tx, row) => {
    insert.run(tx, ...names.map((name) => row[name] ?? null));
  };
}

const setSequence = rawSql<never, [number, string]>('UPDATE sqlite_sequence SET seq = ? WHERE name = ?');
const addSequence = rawSql<never, [string, number]>('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)');

/** Keeps as many numbers of a table free as this range has, and says where they begin. */
export function reserve(
  tx: Tx,
  { table, from, to }: { table: Numbered | 'access_tokens'; from: number; to: number },
): Range {
  const last = rawSql<{ last: number }, []>(
    `SELECT max(coalesce((SELECT max(id) FROM ${table}), 0),
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0)) AS last`,
  ).get(tx);
  const starts_at = (last?.last ?? 0) + 1;
  if (to < from) return { from, to, starts_at };
  const end = starts_at + to - from;
  if (setSequence.run(tx, end, table) === 0) addSequence.run(tx, table, end);
  return { from, to, starts_at };
}

const idOf = {
  mailbox: rawSql<{ id: number }, [string]>('SELECT id FROM mailboxes WHERE address = ?'),
  person: rawSql<{ id: number }, [string]>('SELECT id FROM people WHERE email = ?'),
  domain: rawSql<{ id: number }, [string]>('SELECT id FROM sending_domains WHERE name = ?'),
  token: rawSql<{ id: number }, [string]>('SELECT id FROM access_tokens WHERE token_hash = ?'),
};

/** The number of something that may be known here, by what it is known by everywhere. */
export function idHere(read: Tx, kind: keyof typeof idOf, name: string): number | null {
  return idOf[kind].get(read, name)?.id ?? null;
}

const link = {
  // Who has all projects has this one.
  token: rawSql<never, [number, number]>(
    `INSERT INTO access_token_projects SELECT id, ?2 FROM access_tokens WHERE id = ?1 AND all_projects = 0
     ON CONFLICT DO NOTHING`,
  ),
  person: rawSql<never, [number, number]>(
    'INSERT INTO person_projects SELECT id, ?2 FROM people WHERE id = ?1 AND all_projects = 0 ON CONFLICT DO NOTHING',
  ),
};

/** Ties something of this Satchel to the project. */
export function tie(tx: Tx, kind: keyof typeof link, id: number, project_id: number): void {
  link[kind].run(tx, id, project_id);
}

const auditTaken = rawSql<{ id: string }, [string]>('SELECT id FROM audit_events WHERE id = ?');

/** Whether an event of this id is on the trail, as when a project comes back to where it was. */
export function isOnTrail(read: Tx, id: string): boolean {
  return auditTaken.get(read, id) !== null;
}

const nameSource = rawSql<never, [number, number]>(
  'INSERT INTO merge_source_names (former_id, source_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
);

/** Notes what a source is called in links that were sent before. */
export function nameFormerly(tx: Tx, former_id: number, source_id: number): void {
  nameSource.run(tx, former_id, source_id);
}

const stand = {
  sequences: rawSql<never, [string, number]>('UPDATE sequences SET status = ? WHERE id = ?'),
  broadcasts: rawSql<never, [string, number]>('UPDATE broadcasts SET status = ? WHERE id = ?'),
};

export function setStanding(tx: Tx, { table, id, status }: Standing): void {
  stand[table].run(tx, status, id);
}

const arrive = rawSql<never, [string, string, number, number]>(
  "UPDATE projects SET status = ?, slug = ?, updated_at = ? WHERE id = ? AND status = 'arriving'",
);

/** Everybody sees it from now on. False where it is gone. */
export function showProject(
  tx: Tx,
  id: number,
  as: { status: string; slug: string; now_ms: number },
): boolean {
  return arrive.run(tx, as.status, as.slug, as.now_ms, id) === 1;
}

const objectOf = rawSql<Pick<ObjectBytesRow, 'sha256' | 'store'>, [string, number]>(
  'SELECT sha256, store FROM objects WHERE public_id = ? AND project_id = ?',
);

export function findArrivingObject(
  read: Tx,
  public_id: string,
  project_id: number,
): Pick<ObjectBytesRow, 'sha256' | 'store'> | null {
  return objectOf.get(read, public_id, project_id);
}

const pinned = rawSql<{ n: number }, [string, number]>(
  `SELECT 1 AS n FROM attachment_pins p JOIN emails e ON e.id = p.email_id
   WHERE p.object_public_id = ? AND e.project_id = ? LIMIT 1`,
);

/** Whether a mail of a project keeps the bytes of an object that is gone. */
export function isPinned(read: Tx, public_id: string, project_id: number): boolean {
  return pinned.get(read, public_id, project_id) !== null;
}

const ofAnother = {
  file: rawSql<{ n: number }, [string, number]>(
    `SELECT 1 AS n WHERE EXISTS (SELECT 1 FROM objects WHERE public_id = ?1 AND project_id <> ?2)
       OR EXISTS (SELECT 1 FROM uploads WHERE id = ?1 AND project_id <> ?2)
       OR EXISTS (SELECT 1 FROM attachment_pins p JOIN emails e ON e.id = p.email_id
         WHERE p.object_public_id = ?1 AND e.project_id <> ?2)`,
  ),
  mail: rawSql<{ n: number }, [string, number]>('SELECT 1 AS n FROM emails WHERE id = ? AND project_id <> ?'),
  schedule: rawSql<{ n: number }, [string, number]>(
    'SELECT 1 AS n FROM email_schedules WHERE id = ? AND project_id <> ?',
  ),
  import: rawSql<{ n: number }, [string, number]>(
    'SELECT 1 AS n FROM contact_imports WHERE id = ? AND project_id <> ?',
  ),
};

/** Whether a file (an object's, an upload's, or one that a mail keeps), a mail, a schedule or an import is another project's. */
export function isOfAnother(
  read: Tx,
  { kind, id }: { kind: keyof typeof ofAnother; id: string },
  project_id: number,
): boolean {
  return ofAnother[kind].get(read, id, project_id) !== null;
}

const dropObject = rawSql<never, [string, number]>(
  'DELETE FROM objects WHERE public_id = ? AND project_id = ?',
);

export function dropArrivingObject(tx: Tx, public_id: string, project_id: number): void {
  dropObject.run(tx, public_id, project_id);
}

/* --- Taking it out again ---------------------------------------------------------------------------------------- */

const localOf = rawSql<{ public_id: string }, [number]>(
  `SELECT public_id FROM objects WHERE project_id = ?1 AND store = 'local'
   UNION SELECT p.object_public_id FROM emails e CROSS JOIN attachment_pins p ON p.email_id = e.id WHERE e.project_id = ?1`,
);

/** Every file that the rows of a project name. */
export function listFiles(read: Tx, project_id: number): string[] {
  return localOf.all(read, project_id).map(({ public_id }) => public_id);
}

const keyOf = rawSql<{ name: string }, [string]>(
  'SELECT name FROM pragma_table_info(?) WHERE pk > 0 ORDER BY pk',
);

/** What deletes up to so many rows of a table that are of a project, and says how many there were. */
export function remover(read: Tx, going: Going): (tx: Tx, project_id: number, limit: number) => number {
  const names = keyOf.all(read, going.table).map(({ name }) => name);
  const wanted = names.map((name) => `t.${name}`).join(', ');
  const remove = rawSql<never, [number, number]>(
    `DELETE FROM ${going.table} WHERE (${names.join(', ')}) IN (SELECT ${wanted} FROM ${going.from} LIMIT ?2)`,
  );
  return (tx, project_id, limit) => remove.run(tx, project_id, limit);
}

const removeProject = rawSql<never, [number]>("DELETE FROM projects WHERE id = ? AND status = 'arriving'");

export function deleteArriving(tx: Tx, id: number): void {
  removeProject.run(tx, id);
}
