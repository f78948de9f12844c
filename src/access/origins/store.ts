/** The SQL of the origins of keys and of global origins. */
import { and, count, desc, eq, sql } from 'drizzle-orm';
import { unionAll } from 'drizzle-orm/sqlite-core';
import { statement, type Tx } from '../../platform/database/database.ts';
import { type GlobalOriginRow, globalOrigins, keyOrigins, type OriginRow } from './tables.ts';

type StoredRule = Pick<OriginRow, 'id' | 'type' | 'value' | 'sha256_fingerprints' | 'sha1_fingerprints'>;

const rulesOfKey = statement((tx) =>
  unionAll(
    tx
      .select({
        is_global: sql<0 | 1>`0`.as('is_global'),
        id: keyOrigins.id,
        type: keyOrigins.type,
        value: keyOrigins.value,
        sha256_fingerprints: keyOrigins.sha256_fingerprints,
        sha1_fingerprints: keyOrigins.sha1_fingerprints,
      })
      .from(keyOrigins)
      .where(eq(keyOrigins.api_key_id, sql.placeholder('api_key_id'))),
    tx
      .select({
        is_global: sql<0 | 1>`1`.as('is_global'),
        id: globalOrigins.id,
        type: globalOrigins.type,
        value: globalOrigins.value,
        sha256_fingerprints: globalOrigins.sha256_fingerprints,
        sha1_fingerprints: globalOrigins.sha1_fingerprints,
      })
      .from(globalOrigins)
      .where(eq(globalOrigins.is_active, true)),
  ).prepare(),
);

/** The rules that a restricted key goes by, its own and the global ones, in one read. */
export function listRulesOfKey(read: Tx, api_key_id: number): { own: StoredRule[]; global: StoredRule[] } {
  const rules = rulesOfKey(read).all({ api_key_id });
  return {
    own: rules.filter((rule) => !rule.is_global),
    global: rules.filter((rule) => rule.is_global),
  };
}

export interface OriginValues {
  type: OriginRow['type'];
  value: string;
  sha256_fingerprints: string[];
  sha1_fingerprints: string[];
}

/* --- Origins of one key ---------------------------------------------------------------------------------------- */

const originsOfKey = statement((tx) =>
  tx
    .select()
    .from(keyOrigins)
    .where(eq(keyOrigins.api_key_id, sql.placeholder('api_key_id')))
    .orderBy(desc(keyOrigins.id))
    .prepare(),
);

export function listOrigins(read: Tx, api_key_id: number): OriginRow[] {
  return originsOfKey(read).all({ api_key_id });
}

const firstValues = statement((tx) =>
  tx
    .select({ value: keyOrigins.value })
    .from(keyOrigins)
    .where(eq(keyOrigins.api_key_id, sql.placeholder('api_key_id')))
    .orderBy(keyOrigins.id)
    .limit(sql.placeholder('limit'))
    .prepare(),
);

export function listFirstValues(read: Tx, api_key_id: number, limit: number): string[] {
  return firstValues(read)
    .all({ api_key_id, limit })
    .map(({ value }) => value);
}

const originCount = statement((tx) =>
  tx
    .select({ n: count() })
    .from(keyOrigins)
    .where(eq(keyOrigins.api_key_id, sql.placeholder('api_key_id')))
    .prepare(),
);

export function countOrigins(read: Tx, api_key_id: number): number {
  return originCount(read).get({ api_key_id })?.n ?? 0;
}

export function findOrigin(read: Tx, of: { api_key_id: number; id: number }): OriginRow | null {
  const { api_key_id, id } = of;
  return (
    read
      .select()
      .from(keyOrigins)
      .where(and(eq(keyOrigins.api_key_id, api_key_id), eq(keyOrigins.id, id)))
      .get() ?? null
  );
}

export function findOriginByValue(
  read: Tx,
  of: { api_key_id: number; type: OriginRow['type']; value: string },
): OriginRow | null {
  const { api_key_id, type, value } = of;
  return (
    read
      .select()
      .from(keyOrigins)
      .where(
        and(eq(keyOrigins.api_key_id, api_key_id), eq(keyOrigins.type, type), eq(keyOrigins.value, value)),
      )
      .get() ?? null
  );
}

export function insertOrigin(
  tx: Tx,
  origin: OriginValues & { api_key_id: number; created_at: number },
): OriginRow {
  return tx.insert(keyOrigins).values(origin).returning().get();
}

export function updateOrigin(
  tx: Tx,
  id: number,
  changes: Partial<Omit<OriginValues, 'type'>>,
): OriginRow | null {
  return tx.update(keyOrigins).set(changes).where(eq(keyOrigins.id, id)).returning().get() ?? null;
}

export function deleteOrigin(tx: Tx, id: number): OriginRow | null {
  return tx.delete(keyOrigins).where(eq(keyOrigins.id, id)).returning().get() ?? null;
}

/* --- Global origins -------------------------------------------------------------------------------------------- */

const activeGlobal = statement((tx) =>
  tx
    .select()
    .from(globalOrigins)
    .where(eq(globalOrigins.is_active, true))
    .orderBy(desc(globalOrigins.id))
    .prepare(),
);

/** The active ones, newest first. */
export function listGlobalOrigins(read: Tx): GlobalOriginRow[] {
  return activeGlobal(read).all();
}

export function findGlobalOriginByValue(
  read: Tx,
  type: OriginRow['type'],
  value: string,
): GlobalOriginRow | null {
  return (
    read
      .select()
      .from(globalOrigins)
      .where(and(eq(globalOrigins.type, type), eq(globalOrigins.value, value)))
      .get() ?? null
  );
}

export function insertGlobalOrigin(
  tx: Tx,
  origin: OriginValues & { note: string | null; created_at: number },
): GlobalOriginRow {
  return tx
    .insert(globalOrigins)
    .values({ ...origin, is_active: true })
    .returning()
    .get();
}

export function deleteGlobalOrigin(tx: Tx, id: number): GlobalOriginRow | null {
  return tx.delete(globalOrigins).where(eq(globalOrigins.id, id)).returning().get() ?? null;
}
