/** SQL of stored objects. */
import { and, desc, eq, gt, inArray, isNull, lt, lte, ne, or, type SQL, sql } from 'drizzle-orm';
import { OBJECT_SEARCH_ROWS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import {
  rawAll,
  rawCount,
  rawGet,
  rawHas,
  rawRun,
  rawValue,
  rawValues,
} from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/store.ts';
import type { StoreName } from '../../platform/files/store.ts';
import { soughtName } from '../../platform/words/phrases.ts';
import { type ObjectRow, objectLinkKeys, objects, storeRemovals } from './tables.ts';

export type NewObject = Omit<ObjectRow, 'id' | 'sought_name' | 'missing_since'>;

/** Visibilities that clients may give an object; the server's own objects are internal. */
const VISIBILITIES = ['public', 'private'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** Written out, as SQLite finds no partial index by what is bound. */
const IS_LISTED = sql`${objects.visibility} <> 'internal'`;

const insertRow = rawRun<[NewObject & Pick<ObjectRow, 'sought_name'>]>(
  `INSERT INTO objects (public_id, project_id, original_filename, sought_name, mime_type, size_bytes, sha256, visibility,
     store, is_utf8, expires_at, created_at)
   VALUES (:public_id, :project_id, :original_filename, :sought_name, :mime_type, :size_bytes, :sha256, :visibility,
     :store, :is_utf8, :expires_at, :created_at)`,
);

export function insertObject(tx: Tx, object: NewObject): void {
  insertRow(tx, { ...object, sought_name: soughtName(object.original_filename) });
}

/** Keeps the bytes of an object, whose row is there. */
export const saveContents = rawRun<[public_id: string, bytes: Uint8Array]>(
  'INSERT OR REPLACE INTO object_contents SELECT id, ?2 FROM objects WHERE public_id = ?1',
);

/** The bytes of an object, or of a gone one that waiting mails keep; null where the database has none. */
export const findContents = rawValue<Uint8Array, [public_id: string]>(
  `SELECT bytes FROM object_contents WHERE object_id = (SELECT id FROM objects WHERE public_id = ?1)
   UNION ALL SELECT bytes FROM pinned_contents WHERE public_id = ?1`,
);

/** True where the database keeps bytes of an object that is gone. */
export const hasPinnedContents = rawHas<[public_id: string]>(
  'SELECT 1 FROM pinned_contents WHERE public_id = ?',
);

/** Raw, as each download reads one. */
export const findObject = rawGet<ObjectRow, [public_id: string]>(
  'SELECT * FROM objects WHERE public_id = ?',
  objects,
);

const ofProject = rawAll<ObjectRow, [{ ids: string; project_id: number; now_ms: number }]>(
  `SELECT * FROM objects WHERE public_id IN (SELECT value FROM json_each(:ids)) AND +project_id = :project_id
     AND visibility <> 'internal' AND (expires_at IS NULL OR expires_at > :now_ms)`,
  objects,
);

/** Of the given objects, those that belong to the project and have not expired. */
export function findObjectsOfProject(
  tx: Tx,
  project_id: number,
  public_ids: readonly string[],
  now_ms: number,
): ObjectRow[] {
  return ofProject(tx, { ids: JSON.stringify(public_ids), project_id, now_ms });
}

// Raw, as the builder makes a statement for each number of ids: a sweep of 130,000 took half as long again.
const knownIds = rawValues<string, [string, StoreName]>(
  'SELECT public_id FROM objects WHERE public_id IN (SELECT value FROM json_each(?1)) AND store = ?2',
);

/** Which of the given ids have a row that says that their bytes are there. */
export function listKnownIds(tx: Tx, store: StoreName, public_ids: readonly string[]): string[] {
  return knownIds(tx, JSON.stringify(public_ids), store);
}

const thereIds = rawValues<string, [string]>(
  'SELECT public_id FROM objects WHERE public_id IN (SELECT value FROM json_each(?1))',
);

/** Which of the given ids have a row. */
export function listThere(read: Tx, public_ids: readonly string[]): string[] {
  return thereIds(read, JSON.stringify(public_ids));
}

function unexpired(now_ms: number): SQL | undefined {
  return or(isNull(objects.expires_at), gt(objects.expires_at, now_ms));
}

interface ObjectFilter {
  project_id: number;
  visibility?: Visibility | undefined;
}

const expiredOf = rawCount<[{ project_id: number; visibility: Visibility; now_ms: number }]>(
  `SELECT count(*) FROM objects
   WHERE project_id = :project_id AND visibility = :visibility AND expires_at <= :now_ms`,
);

/**
 * How many objects a list shows, and how many expired ones wait for the sweeper. Counters and a partial index
 * tell, at the same cost for any number of objects.
 */
export function countObjects(
  tx: Tx,
  filter: ObjectFilter,
  now_ms: number,
): { total: number; expired: number } {
  const visibilities = filter.visibility ? [filter.visibility] : VISIBILITIES;
  let stored = 0;
  let expired = 0;
  for (const visibility of visibilities) {
    stored += readRowCount(tx, { list: 'objects', project_id: filter.project_id, facet: visibility });
    expired += expiredOf(tx, { project_id: filter.project_id, visibility, now_ms });
  }
  return { total: stored - expired, expired };
}

/** Where a page of objects begins: `offset` behind the object with the id `behind`. */
interface ObjectPage {
  behind: number;
  offset: number;
  now_ms: number;
  has_expired: boolean;
}

function isListed(filter: ObjectFilter, page: ObjectPage): SQL | undefined {
  return and(
    eq(objects.project_id, filter.project_id),
    filter.visibility ? eq(objects.visibility, filter.visibility) : IS_LISTED,
    page.has_expired ? unexpired(page.now_ms) : undefined,
    lt(objects.id, page.behind),
  );
}

/** A page of unexpired objects, newest first. With `has_expired` false the index alone answers. */
export function listObjects(tx: Tx, filter: ObjectFilter, page: ObjectPage & { limit: number }): ObjectRow[] {
  return tx
    .select()
    .from(objects)
    .where(isListed(filter, page))
    .orderBy(desc(objects.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

/** The id of the object at which such a page begins; null where the list ends before. */
export function findObjectAt(tx: Tx, filter: ObjectFilter, page: ObjectPage): number | null {
  const found = tx
    .select({ id: objects.id })
    .from(objects)
    .where(isListed(filter, page))
    .orderBy(desc(objects.id))
    .limit(1)
    .offset(page.offset)
    .get();
  return found?.id ?? null;
}

// Raw, as the builder can't name an index.
const placeBehind = rawValue<number, [number, number, number]>(
  `SELECT id FROM objects INDEXED BY objects_searched WHERE project_id = ? AND visibility <> 'internal' AND id < ? ORDER BY id DESC
   LIMIT 1 OFFSET ?`,
);
/** LIKE, which goes on character by character, takes seconds where many names all but hold a long `q`. */
const matchesBetween = rawValues<number, [number, number, number, string, Visibility | null, number]>(
  `SELECT id FROM objects INDEXED BY objects_searched WHERE project_id = ? AND visibility <> 'internal' AND id < ? AND id >= ?
   AND instr(sought_name, ?4) AND (?5 IS NULL OR visibility = ?5)
   AND (expires_at IS NULL OR expires_at > ?6) ORDER BY id DESC`,
);

/** Ids of unexpired files with `q` in their name, newest first, in pieces. */
export function* matchesOf(
  current: () => Tx,
  { project_id, visibility, q }: ObjectFilter & { q: string },
  { now_ms, piece }: { now_ms: number; piece: number },
): Generator<number[]> {
  const sought = soughtName(q);
  let behind = Number.MAX_SAFE_INTEGER;
  for (let looked_at = 0; looked_at < OBJECT_SEARCH_ROWS && behind > 0; looked_at += piece) {
    const read = current();
    const last = placeBehind(read, project_id, behind, piece - 1) ?? 0;
    yield matchesBetween(read, project_id, behind, last, sought, visibility ?? null, now_ms);
    behind = last;
  }
}

/** These objects, newest first. */
export function listThese(read: Tx, ids: readonly number[]): ObjectRow[] {
  return read
    .select()
    .from(objects)
    .where(inArray(objects.id, [...ids]))
    .orderBy(desc(objects.id))
    .all();
}

/** Changes the row and returns it; undefined when it is gone. */
export function updateObject(
  tx: Tx,
  public_id: string,
  changes: Partial<Pick<NewObject, 'visibility' | 'original_filename' | 'expires_at'>>,
): ObjectRow | undefined {
  const { original_filename: name } = changes;
  const found_by = name === undefined ? {} : { sought_name: soughtName(name) };
  return tx
    .update(objects)
    .set({ ...changes, ...found_by })
    .where(eq(objects.public_id, public_id))
    .returning()
    .get();
}

export const deleteObject = rawGet<ObjectRow, [public_id: string]>(
  'DELETE FROM objects WHERE public_id = ? RETURNING *',
  objects,
);

/** Deletes up to `limit` expired rows and returns them. */
export const deleteExpiredObjects = rawAll<ObjectRow, [now_ms: number, limit: number]>(
  'DELETE FROM objects WHERE id IN (SELECT id FROM objects WHERE expires_at <= +? LIMIT +?) RETURNING *',
  objects,
);

/** Days are counted from 1970. */
export const deleteUploadDaysBefore = rawRun<[day: number]>('DELETE FROM upload_days WHERE day < ?');

/** Ids of all objects of a project. */
export const listProjectObjectIds = rawValues<string, [project_id: number]>(
  'SELECT public_id FROM objects WHERE project_id = ?',
);

/* --- The object store --------------------------------------------------------------------------------------------- */

/** Notes keys of the store whose bytes are to go. */
export function noteRemovals(tx: Tx, public_ids: readonly string[]): void {
  const rows = public_ids.map((public_id) => ({ public_id }));
  if (rows.length > 0) tx.insert(storeRemovals).values(rows).onConflictDoNothing().run();
}

/** True where the bytes under a key of the store are to go. */
export const isNoted = rawHas<[public_id: string]>('SELECT 1 FROM store_removals WHERE public_id = ?');

/** Keys whose bytes are to go, from one on. */
export const listRemovals = rawValues<string, [page: { after: string; limit: number }]>(
  'SELECT public_id FROM store_removals WHERE public_id > +:after ORDER BY public_id LIMIT +:limit',
);

export const countRemovals = rawCount('SELECT count(*) FROM store_removals');

export function deleteRemovals(tx: Tx, public_ids: readonly string[]): void {
  tx.delete(storeRemovals)
    .where(inArray(storeRemovals.public_id, [...public_ids]))
    .run();
}

/** Says since when the store has no bytes of an object; null where it has. */
export const setMissing = rawRun<[public_id: string, missing_since: number | null]>(
  'UPDATE objects SET missing_since = ?2 WHERE public_id = ?1',
);

/** Objects whose bytes the store was found not to have. */
export const listMissing = rawValues<string, [limit: number]>(
  'SELECT public_id FROM objects WHERE missing_since IS NOT NULL ORDER BY id LIMIT +?',
);

export const countInStore = rawCount("SELECT count(*) FROM objects WHERE store = 's3'");

/** Objects of the store, the newest first. */
export const listNewestStored = rawValues<string, [limit: number]>(
  "SELECT public_id FROM objects WHERE store = 's3' ORDER BY id DESC LIMIT +?",
);

/** Objects of the store whose ids come after one, up to another. */
export const listBetween = rawAll<Pick<ObjectRow, 'public_id' | 'size_bytes'>, [after: string, last: string]>(
  `SELECT public_id, size_bytes FROM objects WHERE store = 's3' AND public_id > +? AND public_id <= +?
   ORDER BY public_id`,
);

interface MoveFilter {
  to: StoreName;
  project_id: number | null;
  /** Larger ones stay where they are. */
  max_bytes: number;
}

const toMove = ({ to, project_id, max_bytes }: MoveFilter): SQL | undefined =>
  and(
    ne(objects.store, to),
    lte(objects.size_bytes, max_bytes),
    project_id === null ? undefined : eq(objects.project_id, project_id),
  );

/** Objects that are elsewhere and to be moved, from a row on. */
export function listToMove(read: Tx, filter: MoveFilter & { after: number; limit: number }): ObjectRow[] {
  const { after, limit } = filter;
  const those = and(gt(objects.id, after), toMove(filter));
  return read.select().from(objects).where(those).orderBy(objects.id).limit(limit).all();
}

/** `stored`: how many of them are in the object store. */
export function sumToMove(read: Tx, filter: MoveFilter): { bytes: number; stored: number } {
  const sums = {
    bytes: sql<number>`coalesce(sum(${objects.size_bytes}), 0)`,
    stored: sql<number>`count(*) FILTER (WHERE ${objects.store} = 's3')`,
  };
  return read.select(sums).from(objects).where(toMove(filter)).get() ?? { bytes: 0, stored: 0 };
}

const contentsDelete = rawRun<[string]>(
  'DELETE FROM object_contents WHERE object_id = (SELECT id FROM objects WHERE public_id = ?)',
);

/** Says that an object's bytes are elsewhere from now on; the database keeps those in `held`. */
export function setStore(
  tx: Tx,
  public_id: string,
  { store, held }: { store: StoreName; held: Uint8Array | null },
): void {
  tx.update(objects).set({ store, missing_since: null }).where(eq(objects.public_id, public_id)).run();
  if (held) saveContents(tx, public_id, held);
  else contentsDelete(tx, public_id);
}

/* --- What links are signed with --------------------------------------------------------------------------------- */

export const findLinkKey = rawValue<string, [project_id: number]>(
  'SELECT sealed_key FROM object_link_keys WHERE project_id = ?',
);

export function saveLinkKey(tx: Tx, key: typeof objectLinkKeys.$inferInsert): void {
  const { sealed_key, created_at } = key;
  tx.insert(objectLinkKeys)
    .values(key)
    .onConflictDoUpdate({ target: objectLinkKeys.project_id, set: { sealed_key, created_at } })
    .run();
}

export const deleteLinkKey = rawRun<[project_id: number]>(
  'DELETE FROM object_link_keys WHERE project_id = ?',
);
