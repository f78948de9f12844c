/** The SQL of API keys. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import { apiKeys, type KeyRow } from './tables.ts';

const byHash = rawSql<KeyRow, [string]>('SELECT * FROM api_keys WHERE key_hash = ?', apiKeys);

/** The key with this hash; made for every request of the data plane, so it is one seek in a unique index. */
export function findKeyByHash(read: Tx, hash: string): KeyRow | null {
  return byHash.get(read, hash);
}

export function findKey(read: Tx, id: number): KeyRow | null {
  return read.select().from(apiKeys).where(eq(apiKeys.id, id)).get() ?? null;
}

const emailLimit = rawSql<Pick<KeyRow, 'email_daily_limit'>, [number]>(
  'SELECT email_daily_limit FROM api_keys WHERE id = ?',
);

/** Asked for with every email that is accepted. */
export function findEmailLimit(read: Tx, id: number): Pick<KeyRow, 'email_daily_limit'> | null {
  return emailLimit.get(read, id);
}

/** Keys whose shown prefix begins so. Made for the shell only: it looks at every key. */
export function findKeysByPrefix(read: Tx, prefix: string): KeyRow[] {
  return read
    .select()
    .from(apiKeys)
    .where(sql`substr(${apiKeys.key_prefix}, 1, ${prefix.length}) = ${prefix}`)
    .orderBy(apiKeys.id)
    .all();
}

export function findKeysByName(read: Tx, project_id: number, name: string): KeyRow[] {
  return read
    .select()
    .from(apiKeys)
    .where(and(eq(apiKeys.project_id, project_id), eq(apiKeys.name, name)))
    .orderBy(apiKeys.id)
    .all();
}

export type AbbreviatedRow = Pick<KeyRow, 'id' | 'name' | 'key_prefix' | 'restricted' | 'is_active'>;

const abbreviated = rawSql<AbbreviatedRow, [number]>(
  'SELECT id, name, key_prefix, restricted, is_active FROM api_keys WHERE project_id = +? ORDER BY id DESC',
  apiKeys,
);

/** Every key of a project as the project's own record shows it, newest first; asked for every project that is read. */
export function listAbbreviated(read: Tx, project_id: number): AbbreviatedRow[] {
  return abbreviated.all(read, project_id);
}

const ofProject = statement((tx) =>
  tx
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.project_id, sql.placeholder('project_id')))
    .orderBy(desc(apiKeys.id))
    .limit(sql.placeholder('limit'))
    .offset(sql.placeholder('offset'))
    .prepare(),
);

/** Keys of a project, newest first; all of them for a limit of -1. */
export function listKeys(read: Tx, project_id: number, page: { limit: number; offset: number }): KeyRow[] {
  return ofProject(read).all({ project_id, ...page });
}

export function countKeys(read: Tx, project_id: number): number {
  return readRowCount(read, { list: 'api_keys', project_id });
}

const restricted = rawSql<{ n: number }, []>(
  'SELECT count(*) AS n FROM api_keys WHERE restricted = 1 AND is_active = 1',
);

/** Active restricted keys of every project; asked for by hand, so it looks at every key. */
export function countRestrictedKeys(read: Tx): number {
  return restricted.get(read)?.n ?? 0;
}

export type NewKey = typeof apiKeys.$inferInsert;

export function insertKey(tx: Tx, key: NewKey): KeyRow {
  return tx.insert(apiKeys).values(key).returning().get();
}

/** The changed row, or null when there is none any more. */
export function updateKey(tx: Tx, id: number, changes: Partial<NewKey>): KeyRow | null {
  return tx.update(apiKeys).set(changes).where(eq(apiKeys.id, id)).returning().get() ?? null;
}

/** Deletes a key and, by foreign keys, its origins. */
export function deleteKey(tx: Tx, key: Pick<KeyRow, 'id' | 'project_id'>): void {
  tx.delete(apiKeys)
    .where(and(eq(apiKeys.id, key.id), eq(apiKeys.project_id, key.project_id)))
    .run();
}
