/** The SQL of trusts. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { type TrustRow, tokenTrusts } from './tables.ts';

export const findTrust = rawGet<TrustRow, [id: number]>(
  'SELECT * FROM token_trusts WHERE id = ?',
  tokenTrusts,
);

export const findTrustNamed = rawGet<TrustRow, [name: string]>(
  'SELECT * FROM token_trusts WHERE name = ?',
  tokenTrusts,
);

/** Newest first. */
export const listTrusts = rawAll<TrustRow, [page: { limit: number; offset: number }]>(
  'SELECT * FROM token_trusts ORDER BY id DESC LIMIT +:limit OFFSET +:offset',
  tokenTrusts,
);

export const countTrusts = rawCount('SELECT count(*) FROM token_trusts');

/** Oldest first. */
export const listTrustsIn = rawAll<TrustRow, [issuer: string]>(
  'SELECT * FROM token_trusts WHERE issuer = ? ORDER BY id',
  tokenTrusts,
);

export const listTrustsOf = rawAll<TrustRow, [person_id: number]>(
  'SELECT * FROM token_trusts WHERE person_id = ?',
  tokenTrusts,
);

export function insertTrust(tx: Tx, trust: typeof tokenTrusts.$inferInsert): TrustRow {
  return tx.insert(tokenTrusts).values(trust).returning().get();
}

export const deleteTrust = rawRun<[id: number]>('DELETE FROM token_trusts WHERE id = ?');

export const noteUse = rawRun<[{ id: number; now_ms: number }]>(
  'UPDATE token_trusts SET last_used_at = :now_ms WHERE id = :id',
);

export const noteRefusal = rawRun<[{ id: number; now_ms: number; reason: string; subject: string | null }]>(
  `UPDATE token_trusts SET last_refused_at = :now_ms, last_refused_reason = :reason, last_refused_subject = :subject
   WHERE id = :id`,
);

/** Has the tokens to come of a person's trusts change something or nothing, as that person does. */
export const followPerson = rawRun<[{ person_id: number; read_only: boolean }]>(
  'UPDATE token_trusts SET is_persons_read_only = :read_only WHERE person_id = :person_id',
);
