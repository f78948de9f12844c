/** The SQL of the origins of keys and of global origins. */
import { eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawValues } from '../../platform/database/raw-sql.ts';
import { type GlobalOriginRow, globalOrigins, keyOrigins, type OriginRow } from './tables.ts';

type StoredRule = Pick<OriginRow, 'id' | 'type' | 'value' | 'sha256_fingerprints' | 'sha1_fingerprints'>;

const RULE = 'id, type, value, sha256_fingerprints, sha1_fingerprints';
const rulesOfKey = rawAll<StoredRule & { is_global: 0 | 1 }, [number]>(
  `SELECT 0 AS is_global, ${RULE} FROM key_origins WHERE api_key_id = ?
   UNION ALL SELECT 1 AS is_global, ${RULE} FROM global_origins WHERE is_active = 1`,
  keyOrigins,
);

/** The rules that a restricted key goes by, its own and the global ones, in one read. */
export function listRulesOfKey(read: Tx, api_key_id: number): { own: StoredRule[]; global: StoredRule[] } {
  const rules = rulesOfKey(read, api_key_id);
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

export const listOrigins = rawAll<OriginRow, [api_key_id: number]>(
  'SELECT * FROM key_origins WHERE api_key_id = +? ORDER BY id DESC',
  keyOrigins,
);

export const listFirstValues = rawValues<string, [api_key_id: number, limit: number]>(
  'SELECT value FROM key_origins WHERE api_key_id = +? ORDER BY id LIMIT +?',
);

export const countOrigins = rawCount<[api_key_id: number]>(
  'SELECT count(*) FROM key_origins WHERE api_key_id = ?',
);

export const findOrigin = rawGet<OriginRow, [{ api_key_id: number; id: number }]>(
  'SELECT * FROM key_origins WHERE api_key_id = :api_key_id AND id = :id',
  keyOrigins,
);

export const findOriginByValue = rawGet<
  OriginRow,
  [{ api_key_id: number; type: OriginRow['type']; value: string }]
>('SELECT * FROM key_origins WHERE api_key_id = :api_key_id AND type = :type AND value = :value', keyOrigins);

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

/** The active ones, newest first. */
export const listGlobalOrigins = rawAll<GlobalOriginRow>(
  'SELECT * FROM global_origins WHERE is_active = 1 ORDER BY id DESC',
  globalOrigins,
);

export const findGlobalOriginByValue = rawGet<GlobalOriginRow, [type: OriginRow['type'], value: string]>(
  'SELECT * FROM global_origins WHERE type = ? AND value = ?',
  globalOrigins,
);

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
