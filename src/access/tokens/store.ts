/** The SQL of access tokens. */
import { and, count, desc, eq, gt, isNull, lte, or, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { accessTokens, type TokenRow } from './tables.ts';

const byHash = statement((tx) =>
  tx
    .select()
    .from(accessTokens)
    .where(eq(accessTokens.token_hash, sql.placeholder('hash')))
    .prepare(),
);

/** The token with this hash: one seek in a unique index, for every request of the management plane. */
export function findTokenByHash(read: Tx, hash: string): TokenRow | null {
  return byHash(read).get({ hash }) ?? null;
}

export function findToken(read: Tx, id: number): TokenRow | null {
  return read.select().from(accessTokens).where(eq(accessTokens.id, id)).get() ?? null;
}

/** Tokens, newest first; all of them for a limit of -1. */
export function listTokens(read: Tx, page: { limit: number; offset: number }): TokenRow[] {
  return read
    .select()
    .from(accessTokens)
    .orderBy(desc(accessTokens.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countTokens(read: Tx): number {
  return read.select({ n: count() }).from(accessTokens).get()?.n ?? 0;
}

export function insertToken(tx: Tx, token: typeof accessTokens.$inferInsert): TokenRow {
  return tx.insert(accessTokens).values(token).returning().get();
}

/** Revokes a token and returns its row; null where there is none, or it was revoked before. */
export function revokeToken(tx: Tx, id: number, now_ms: number): TokenRow | null {
  return (
    tx
      .update(accessTokens)
      .set({ revoked_at: now_ms })
      .where(and(eq(accessTokens.id, id), isNull(accessTokens.revoked_at)))
      .returning()
      .get() ?? null
  );
}

/** The tokens of a person that are good at `now_ms`, those that a token of theirs made included. */
export function listGoodTokensOf(read: Tx, person_id: number, now_ms: number): TokenRow[] {
  const { expires_at, revoked_at } = accessTokens;
  const is_good = and(isNull(revoked_at), or(isNull(expires_at), gt(expires_at, now_ms)));
  return read
    .select()
    .from(accessTokens)
    .where(and(eq(accessTokens.person_id, person_id), is_good))
    .all();
}

/** Has the tokens of a person change something or nothing, as that person does. */
export function followPerson(tx: Tx, person_id: number, is_persons_read_only: boolean): void {
  tx.update(accessTokens).set({ is_persons_read_only }).where(eq(accessTokens.person_id, person_id)).run();
}

/** Notes a use unless one was since `before_ms`. One after `now_ms` goes: the clock was set back. */
export function touchToken(
  tx: Tx,
  use: { id: number; ip: string | null; now_ms: number; before_ms: number },
): void {
  const { last_used_at } = accessTokens;
  tx.update(accessTokens)
    .set({ last_used_at: use.now_ms, last_used_ip: use.ip })
    .where(
      and(
        eq(accessTokens.id, use.id),
        or(isNull(last_used_at), lte(last_used_at, use.before_ms), gt(last_used_at, use.now_ms)),
      ),
    )
    .run();
}
