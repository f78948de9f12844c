/** The SQL of access tokens. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { accessTokens, type TokenRow } from './tables.ts';

/** The token with this hash: one seek in a unique index, for every request of the management plane. */
export const findTokenByHash = rawGet<TokenRow, [hash: string]>(
  'SELECT * FROM access_tokens WHERE token_hash = ?',
  accessTokens,
);

export const findToken = rawGet<TokenRow, [id: number]>(
  'SELECT * FROM access_tokens WHERE id = ?',
  accessTokens,
);

/** Tokens of a trust, or of none, newest first; all of them for a limit of -1. */
export const listTokens = rawAll<TokenRow, [{ trust: number | null; limit: number; offset: number }]>(
  'SELECT * FROM access_tokens WHERE trust_id IS :trust ORDER BY id DESC LIMIT +:limit OFFSET +:offset',
  accessTokens,
);

export const countTokens = rawCount<[trust: number | null]>(
  'SELECT count(*) FROM access_tokens WHERE trust_id IS ?',
);

export function insertToken(tx: Tx, token: typeof accessTokens.$inferInsert): TokenRow {
  return tx.insert(accessTokens).values(token).returning().get();
}

/** Revokes a token and returns its row; null where there is none, or it was revoked before. */
export const revokeToken = rawGet<TokenRow, [{ id: number; now_ms: number }]>(
  'UPDATE access_tokens SET revoked_at = :now_ms WHERE id = :id AND revoked_at IS NULL RETURNING *',
  accessTokens,
);

/** The tokens of a person that are good at `now_ms`, those that a token of theirs made included, without those of trusts. */
export const listGoodTokensOf = rawAll<TokenRow, [person_id: number, now_ms: number]>(
  `SELECT * FROM access_tokens
   WHERE person_id = ? AND trust_id IS NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?)`,
  accessTokens,
);

/** Ends the good tokens of a trust, and returns how many. */
export const endTokensOf = rawRun<[{ trust: number; now_ms: number }]>(
  `UPDATE access_tokens SET revoked_at = :now_ms
   WHERE trust_id = :trust AND revoked_at IS NULL AND expires_at > :now_ms`,
);

/** Deletes some tokens of trusts that ended before `before_ms`, and returns how many. */
export const deleteEndedOfTrusts = rawRun<[{ before_ms: number; limit: number }]>(
  `DELETE FROM access_tokens WHERE id IN (
     SELECT id FROM access_tokens
     WHERE trust_id IS NOT NULL AND min(expires_at, coalesce(revoked_at, expires_at)) <= :before_ms LIMIT :limit)`,
);

/** Has the tokens of a person change something or nothing, as that person does. */
export const followPerson = rawRun<[{ person_id: number; read_only: boolean }]>(
  'UPDATE access_tokens SET is_persons_read_only = :read_only WHERE person_id = :person_id',
);

/** Notes a use unless one was since `before_ms`. One after `now_ms` goes: the clock was set back. */
export const touchToken = rawRun<[{ id: number; ip: string | null; now_ms: number; before_ms: number }]>(
  `UPDATE access_tokens SET last_used_at = :now_ms, last_used_ip = :ip
   WHERE id = :id AND (last_used_at IS NULL OR last_used_at <= :before_ms OR last_used_at > :now_ms)`,
);
