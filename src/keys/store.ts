/** The SQL of API keys. That of origins is in origin-store.ts. */
import { and, desc, eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../platform/database.ts';
import { readRowCount } from '../platform/row-counts.ts';
import { apiKeys, type KeyRow } from './tables.ts';

type Flag =
  | 'can_read'
  | 'can_write'
  | 'can_send_emails'
  | 'can_manage_email_marketing'
  | 'restricted'
  | 'allow_no_origin'
  | 'is_test'
  | 'is_active';
type RawKey = Omit<KeyRow, Flag | 'permissions'> & Record<Flag, number> & { permissions: string };

// Raw SQL: every request of the data plane asks for this, and drizzle's mapping costs more than the seek.
const byHash = statement((tx) =>
  tx.$client.query<RawKey, [string]>('SELECT * FROM api_keys WHERE key_hash = ?'),
);

/** What a project's own record shows of its keys. */
export type AbbreviatedKey = Pick<KeyRow, 'id' | 'name' | 'key_prefix' | 'restricted' | 'is_active'>;

/** The key with this hash; made for every request of the data plane, so it is one seek in a unique index. */
export function findKeyByHash(read: Tx, hash: string): KeyRow | null {
  const row = byHash(read).get(hash);
  if (!row) return null;
  return {
    ...row,
    can_read: row.can_read === 1,
    can_write: row.can_write === 1,
    can_send_emails: row.can_send_emails === 1,
    can_manage_email_marketing: row.can_manage_email_marketing === 1,
    restricted: row.restricted === 1,
    allow_no_origin: row.allow_no_origin === 1,
    is_test: row.is_test === 1,
    is_active: row.is_active === 1,
    permissions: row.permissions === '{}' ? {} : JSON.parse(row.permissions),
  };
}

const byId = statement((tx) =>
  tx
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.id, sql.placeholder('id')))
    .prepare(),
);

export function findKey(read: Tx, id: number): KeyRow | null {
  return byId(read).get({ id }) ?? null;
}

const abbreviated = statement((tx) => {
  const { id, name, key_prefix, restricted, is_active } = apiKeys;
  return tx
    .select({ id, name, key_prefix, restricted, is_active })
    .from(apiKeys)
    .where(eq(apiKeys.project_id, sql.placeholder('project_id')))
    .orderBy(desc(apiKeys.id))
    .prepare();
});

/** Every key of a project as the project's own record shows it, newest first; asked for every project that is read. */
export function listAbbreviated(read: Tx, project_id: number): AbbreviatedKey[] {
  return abbreviated(read).all({ project_id });
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
