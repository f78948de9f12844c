/** The SQL of API keys. */
import { and, desc, eq, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/store.ts';
import { apiKeys, type KeyRow } from './tables.ts';

/** The key with this hash; made for every request of the data plane, so it is one seek in a unique index. */
export const findKeyByHash = rawGet<KeyRow, [hash: string]>(
  'SELECT * FROM api_keys WHERE key_hash = ?',
  apiKeys,
);

export const noteUse = rawRun<[id: number, last_used_at: number]>(
  'UPDATE api_keys SET last_used_at = ?2 WHERE id = ?1',
);

export const findKey = rawGet<KeyRow, [id: number]>('SELECT * FROM api_keys WHERE id = ?', apiKeys);

/** Asked for with every email that is accepted. */
export const findEmailLimit = rawGet<Pick<KeyRow, 'email_daily_limit'>, [id: number]>(
  'SELECT email_daily_limit FROM api_keys WHERE id = ?',
);

/** Keys whose shown prefix begins so. Made for the shell only: it looks at every key. */
export const findKeysByPrefix = rawAll<KeyRow, [prefix: string]>(
  'SELECT * FROM api_keys WHERE substr(key_prefix, 1, length(?1)) = ?1 ORDER BY id',
  apiKeys,
);

export const findKeysByName = rawAll<KeyRow, [project_id: number, name: string]>(
  'SELECT * FROM api_keys WHERE project_id = +? AND name = +? ORDER BY id',
  apiKeys,
);

type AbbreviatedRow = Pick<KeyRow, 'id' | 'name' | 'key_prefix' | 'restricted' | 'is_active'>;

/** A project's keys as its own record shows them, newest first. Runs for every project that is read. */
export const listAbbreviated = rawAll<AbbreviatedRow, [project_id: number]>(
  `SELECT id, name, key_prefix, restricted, is_active FROM api_keys WHERE project_id = +? ORDER BY id DESC`,
  apiKeys,
);

/** Keys of a project, newest first; all of them for a limit of -1. */
export const listKeys = rawAll<KeyRow, [{ project_id: number; limit: number; offset: number }]>(
  'SELECT * FROM api_keys WHERE project_id = +:project_id ORDER BY id DESC LIMIT +:limit OFFSET +:offset',
  apiKeys,
);

/** Keys of a project whose name or number begins so, newest first. For the shell: it may look at all. */
export function listKeysFrom(
  read: Tx,
  { beginning, project_id }: { beginning: string; project_id: number | null },
  limit: number,
): KeyRow[] {
  const { id, name } = apiKeys;
  const fits =
    project_id === null
      ? sql`instr(CAST(${id} AS TEXT), ${beginning}) = 1`
      : and(eq(apiKeys.project_id, project_id), sql`instr(${name}, ${beginning}) = 1`);
  return read.select().from(apiKeys).where(fits).orderBy(desc(id)).limit(limit).all();
}

export function countKeys(read: Tx, project_id: number): number {
  return readRowCount(read, { list: 'api_keys', project_id });
}

/** Active restricted keys of every project; asked for by hand, so it looks at every key. */
export const countRestrictedKeys = rawCount(
  'SELECT count(*) FROM api_keys WHERE restricted = 1 AND is_active = 1',
);

export type NewKey = typeof apiKeys.$inferInsert;

export function insertKey(tx: Tx, key: NewKey): KeyRow {
  return tx.insert(apiKeys).values(key).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updateKey(tx: Tx, id: number, changes: Partial<NewKey>): KeyRow | null {
  return tx.update(apiKeys).set(changes).where(eq(apiKeys.id, id)).returning().get() ?? null;
}

/** Deletes a key and, by foreign keys, its origins. */
export const deleteKey = rawRun<[Pick<KeyRow, 'id' | 'project_id'>]>(
  'DELETE FROM api_keys WHERE id = :id AND project_id = :project_id',
);
