/** SQL of projects that move, besides their rows (rows-store.ts). It looks at tables of every noun. */
import type { Database as Sqlite } from 'bun:sqlite';
import type { Tx } from '../../platform/database/database.ts';
import { readCount } from '../../platform/database/plain-connection.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import type { NamedBytes } from '../../platform/files/archive-blobs.ts';
import type { StoreName } from '../../platform/files/store.ts';
import { HELD } from '../../platform/jobs/store.ts';

/* --- Of one committed state, as it is exported ------------------------------------------------------------------- */

export interface BytesRow extends NamedBytes {
  store: StoreName;
}

export interface ListedBytes {
  public_id: string;
  is_stored: number;
}

/** Objects, in the order in which they are stored, and those that are gone and whose bytes waiting mails keep. */
export function* listBytes(sqlite: Sqlite, project_id: number): Generator<ListedBytes> {
  const objects = sqlite.query<ListedBytes, [number]>(
    "SELECT public_id, store = 's3' AS is_stored FROM objects WHERE project_id = ? ORDER BY id",
  );
  yield* objects.iterate(project_id);
  const pinned = sqlite.query<ListedBytes, [number]>(
    `SELECT DISTINCT p.object_public_id AS public_id, 0 AS is_stored
     FROM attachment_pins p CROSS JOIN emails e ON e.id = p.email_id
     WHERE e.project_id = ? AND p.object_public_id NOT IN (SELECT public_id FROM objects)`,
  );
  yield* pinned.iterate(project_id);
}

/** Null where neither an object nor a waiting mail has these bytes any more. */
export function findBytes(sqlite: Sqlite, public_id: string): BytesRow | null {
  const found = sqlite.query<BytesRow, [string]>(
    `SELECT public_id, size_bytes, sha256, store FROM objects WHERE public_id = ?1
     UNION ALL SELECT object_public_id, NULL, NULL,
       CASE WHEN object_public_id IN (SELECT public_id FROM store_removals) THEN 's3' ELSE 'local' END
     FROM attachment_pins WHERE object_public_id = ?1 LIMIT 1`,
  );
  return found.get(public_id);
}

/** The bytes that the database has of an object, or of a gone one that waiting mails keep; else null. */
export function readContents(sqlite: Sqlite, public_id: string): Uint8Array | null {
  const contents = sqlite.query<{ bytes: Uint8Array }, [string]>(
    `SELECT bytes FROM object_contents WHERE object_id = (SELECT id FROM objects WHERE public_id = ?1)
     UNION ALL SELECT bytes FROM pinned_contents WHERE public_id = ?1`,
  );
  return contents.get(public_id)?.bytes ?? null;
}

export function sumBytes(sqlite: Sqlite, project_id: number, with_store: boolean): number {
  return readCount(
    sqlite,
    "SELECT coalesce(sum(size_bytes), 0) FROM objects WHERE project_id = ? AND (store <> 's3' OR ?)",
    project_id,
    with_store ? 1 : 0,
  );
}

/* --- What stops, and goes on -------------------------------------------------------------------------------------- */

/** A file of a project whose bytes are in an object store, or null. */
export const findStored = rawGet<{ id: number }, [project_id: number]>(
  "SELECT id FROM objects WHERE project_id = ? AND store = 's3' LIMIT 1",
);

const underWay = rawGet<{ jobs: number; mails: number }, [project_id: number]>(
  `SELECT (SELECT count(*) FROM jobs WHERE project_id = ?1 AND status = 'processing') AS jobs,
     (SELECT count(*) FROM emails WHERE project_id = ?1 AND status = 'sending') AS mails`,
);

/** How many jobs and mails are being worked on. */
export function countUnderWay(read: Tx, project_id: number): { jobs: number; mails: number } {
  return underWay(read, project_id) ?? { jobs: 0, mails: 0 };
}

/** Releases up to `limit` jobs; a mail for later waits for its time. Returns how many there were. */
export const releaseSome = rawRun<[project_id: number, limit: number]>(
  `UPDATE jobs SET run_at = coalesce(
       (SELECT CASE WHEN e.attempts = 0 THEN e.scheduled_at END FROM emails e WHERE e.id = jobs.payload ->> 'email_id'), 0)
   WHERE id IN (SELECT id FROM jobs WHERE project_id = ?1 AND status = 'pending' AND run_at = ${HELD} LIMIT ?2)`,
);

/* --- As it arrives ------------------------------------------------------------------------------------------------ */

const setSequence = rawRun<[seq: number, table: string]>('UPDATE sqlite_sequence SET seq = ? WHERE name = ?');
const addSequence = rawRun<[table: string, seq: number]>(
  'INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)',
);

/** Keeps so many numbers of a table free, and returns the first of them. */
export function reserve(tx: Tx, table: string, count: number): number {
  const findLast = rawGet<{ id: number }>(
    `SELECT max(coalesce((SELECT max(id) FROM ${table}), 0),
       coalesce((SELECT seq FROM sqlite_sequence WHERE name = '${table}'), 0)) AS id`,
  );
  const first = (findLast(tx)?.id ?? 0) + 1;
  const end = first + count - 1;
  if (count > 0 && setSequence(tx, end, table) === 0) addSequence(tx, table, end);
  return first;
}

const numberOf = (table: string, column: string) =>
  rawGet<{ id: number }, [name: string]>(`SELECT id FROM ${table} WHERE ${column} = ?`);
const here = {
  mailbox: numberOf('mailboxes', 'address'),
  person: numberOf('people', 'email'),
  domain: numberOf('sending_domains', 'name'),
  token: numberOf('access_tokens', 'token_hash'),
};

/** The number of something that may be known here, by what it is known by everywhere. */
export function numberHere(read: Tx, kind: keyof typeof here, name: string): number | null {
  return here[kind](read, name)?.id ?? null;
}

/** An event that is on the trail already, as when a project comes back to where it was. */
export const findOnTrail = rawGet<{ id: string }, [id: string]>('SELECT id FROM audit_events WHERE id = ?');

/** Notes what a source is called in links that were sent before. */
export const nameFormerly = rawRun<[former_id: number, source_id: number]>(
  'INSERT INTO merge_source_names (former_id, source_id) VALUES (?, ?) ON CONFLICT DO NOTHING',
);

/** A sequence or broadcast gets this status once everything has arrived. Until then it is a draft. */
export interface Standing {
  table: 'sequences' | 'broadcasts';
  id: number;
  status: string;
}
const stand = {
  sequences: rawRun<[status: string, id: number]>('UPDATE sequences SET status = ? WHERE id = ?'),
  broadcasts: rawRun<[status: string, id: number]>('UPDATE broadcasts SET status = ? WHERE id = ?'),
};

export function setStanding(tx: Tx, { table, id, status }: Standing): void {
  stand[table](tx, status, id);
}

/** An object whose bytes are to come. */
export interface ArrivingObject {
  sha256: string;
  store: StoreName;
  mime_type: string;
  is_utf8: number;
}

export const findArrivingObject = rawGet<ArrivingObject, [public_id: string, project_id: number]>(
  'SELECT sha256, store, mime_type, is_utf8 FROM objects WHERE public_id = ? AND project_id = ?',
);

/** Says what the bytes of an object told. */
export const setUtf8 = rawRun<[is_utf8: number, public_id: string]>(
  'UPDATE objects SET is_utf8 = ? WHERE public_id = ?',
);

/** A mail of a project that keeps the bytes of an object that is gone, or null. */
export const findPin = rawGet<{ n: number }, [public_id: string, project_id: number]>(
  `SELECT 1 AS n FROM attachment_pins p JOIN emails e ON e.id = p.email_id
   WHERE p.object_public_id = ? AND e.project_id = ? LIMIT 1`,
);

const isAnothers = (table: string) =>
  rawGet<{ n: number }, [id: string, project_id: number]>(
    `SELECT 1 AS n FROM ${table} WHERE id = ? AND project_id <> ?`,
  );
const anothers = {
  file: rawGet<{ n: number }, [id: string, project_id: number]>(
    `SELECT 1 AS n WHERE EXISTS (SELECT 1 FROM objects WHERE public_id = ?1 AND project_id <> ?2)
       OR EXISTS (SELECT 1 FROM uploads WHERE id = ?1 AND project_id <> ?2)
       OR EXISTS (SELECT 1 FROM attachment_pins p JOIN emails e ON e.id = p.email_id
         WHERE p.object_public_id = ?1 AND e.project_id <> ?2)`,
  ),
  mail: isAnothers('emails'),
  schedule: isAnothers('email_schedules'),
  import: isAnothers('contact_imports'),
  suppression: isAnothers('suppressions'),
};

/** A thing that a row refers to by a global id. A file is an object, an upload or a mail's attachment. */
export interface Named {
  kind: keyof typeof anothers;
  id: string;
}

export function isOfAnother(read: Tx, { kind, id }: Named, project_id: number): boolean {
  return anothers[kind](read, id, project_id) !== null;
}

export const dropArrivingObject = rawRun<[public_id: string, project_id: number]>(
  'DELETE FROM objects WHERE public_id = ? AND project_id = ?',
);

/** Every file that the rows of a project name. */
export const listFiles = rawAll<{ public_id: string }, [project_id: number]>(
  `SELECT public_id FROM objects WHERE project_id = ?1 AND store = 'local'
   UNION SELECT p.object_public_id FROM emails e CROSS JOIN attachment_pins p ON p.email_id = e.id WHERE e.project_id = ?1`,
);
