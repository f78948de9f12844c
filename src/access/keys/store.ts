/** The SQL of API keys. */
import { and, count, desc, eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawGet } from '../../platform/database/raw-sql.ts';
import { readRowCount } from '../../platform/database/row-counts.ts';
import { apiKeys, type KeyRow } from './tables.ts';

/** The key with this hash; made for every request of the data plane, so it is one seek in a unique index. */
export const findKeyByHash = rawGet<KeyRow, [hash: string]>(
  'SELECT * FROM api_keys WHERE key_hash = ?',
  apiKeys,
);

export function noteUse(tx: Tx, id: number, last_used_at: number): void {
  tx.update(apiKeys).set({ last_used_at }).where(eq(apiKeys.id, id)).run();
}

export function findKey(read: Tx, id: number): KeyRow | null {
  return read.select().from(apiKeys).where(eq(apiKeys.id, id)).get() ?? null;
}

/** Asked for with every email that is accepted. */
export const findEmailLimit = rawGet<Pick<KeyRow, 'email_daily_limit'>, [id: number]>(
  'SELECT email_daily_limit FROM api_keys WHERE id = ?',
);

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

type AbbreviatedRow = Pick<KeyRow, 'id' | 'name' | 'key_prefix' | 'restricted' | 'is_active'>;

const abbreviated = statement((tx) => {
  const { id, name, key_prefix, restricted, is_active, project_id } = apiKeys;
  return tx
    .select({ id, name, key_prefix, restricted, is_active })
    .from(apiKeys)
    .where(sql`${project_id} = +${sql.placeholder('project_id')}`)
    .orderBy(desc(id))
    .prepare();
});

/** A project's keys as its own record shows them, newest first. Runs for every project that is read. */
export function listAbbreviated(read: Tx, project_id: number): AbbreviatedRow[] {
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
export function countRestrictedKeys(read: Tx): number {
  const active = and(eq(apiKeys.restricted, true), eq(apiKeys.is_active, true));
  return read.select({ n: count() }).from(apiKeys).where(active).get()?.n ?? 0;
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
