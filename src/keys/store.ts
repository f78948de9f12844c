/** The SQL of API keys. That of origins is in origin-store.ts. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../platform/database.ts';
import { readRowCount } from '../platform/row-counts.ts';
import { apiKeys, type KeyRow } from './tables.ts';

const byHash = statement((tx) =>
  tx
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.key_hash, sql.placeholder('hash')))
    .prepare(),
);

/** The key with this hash; made for every request of the data plane, so it is one seek in a unique index. */
export function findKeyByHash(read: Tx, hash: string): KeyRow | null {
  return byHash(read).get({ hash }) ?? null;
}

export function findKey(read: Tx, id: number): KeyRow | null {
  return read.select().from(apiKeys).where(eq(apiKeys.id, id)).get() ?? null;
}

/** Keys of a project, newest first; all of them for a limit of -1. */
export function listKeys(read: Tx, project_id: number, page: { limit: number; offset: number }): KeyRow[] {
  return read
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.project_id, project_id))
    .orderBy(desc(apiKeys.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countKeys(read: Tx, project_id: number): number {
  return readRowCount(read, { list: 'api_keys', project_id });
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
