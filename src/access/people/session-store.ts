/** The SQL of sessions, of recovery codes, and of the networks that people have signed in from. */
import { and, count, desc, eq, lte, ne, notInArray, or, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import {
  type PersonRow,
  people,
  personNetworks,
  personRecoveryCodes,
  personSessions,
  type SessionRow,
} from './tables.ts';

const byHash = statement((tx) =>
  tx
    .select({ session: personSessions, person: people })
    .from(personSessions)
    .innerJoin(people, eq(people.id, personSessions.person_id))
    .where(sql`${personSessions.token_hash} = +${sql.placeholder('hash')}`)
    .prepare(),
);

/** A session and whose it is; asked by every request of a browser. */
export function findSession(read: Tx, token_hash: string): { session: SessionRow; person: PersonRow } | null {
  return byHash(read).get({ hash: token_hash }) ?? null;
}

export function insertSession(tx: Tx, session: SessionRow): void {
  tx.insert(personSessions).values(session).run();
}

export function hasSession(read: Tx, person_id: number, id: string): boolean {
  const mine = and(eq(personSessions.person_id, person_id), eq(personSessions.id, id));
  return read.select({ id: personSessions.id }).from(personSessions).where(mine).get() !== undefined;
}

/** A person's sessions, newest first. */
export function listSessions(
  read: Tx,
  person_id: number,
  page: { limit: number; offset: number },
): SessionRow[] {
  return read
    .select()
    .from(personSessions)
    .where(eq(personSessions.person_id, person_id))
    .orderBy(desc(personSessions.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

export function countSessions(read: Tx, person_id: number): number {
  return (
    read.select({ n: count() }).from(personSessions).where(eq(personSessions.person_id, person_id)).get()
      ?.n ?? 0
  );
}

export function touchSession(tx: Tx, id: string, now_ms: number): void {
  tx.update(personSessions).set({ last_seen_at: now_ms }).where(eq(personSessions.id, id)).run();
}

/** Whether there was such a session of this person. */
export function deleteSession(tx: Tx, person_id: number, id: string): boolean {
  const mine = and(eq(personSessions.person_id, person_id), eq(personSessions.id, id));
  return tx.delete(personSessions).where(mine).returning({ id: personSessions.id }).all().length > 0;
}

/** Ends every session of a person, but for the one that is kept; returns how many. */
export function deleteSessionsOf(tx: Tx, person_id: number, kept_id: string | null = null): number {
  const theirs = eq(personSessions.person_id, person_id);
  return tx
    .delete(personSessions)
    .where(kept_id === null ? theirs : and(theirs, ne(personSessions.id, kept_id)))
    .returning({ id: personSessions.id })
    .all().length;
}

export function deleteEndedSessions(tx: Tx, ended: { seen_before_ms: number; made_before_ms: number }): void {
  const { last_seen_at, created_at } = personSessions;
  tx.delete(personSessions)
    .where(or(lte(last_seen_at, ended.seen_before_ms), lte(created_at, ended.made_before_ms)))
    .run();
}

/* --- Recovery codes ------------------------------------------------------------------------------------------- */

export function replaceRecoveryCodes(tx: Tx, person_id: number, hashes: readonly string[]): void {
  tx.delete(personRecoveryCodes).where(eq(personRecoveryCodes.person_id, person_id)).run();
  for (const code_hash of hashes) tx.insert(personRecoveryCodes).values({ person_id, code_hash }).run();
}

/** Uses a code up; false where it is none of those that are left. */
export function takeRecoveryCode(tx: Tx, person_id: number, code_hash: string): boolean {
  const one = and(eq(personRecoveryCodes.person_id, person_id), eq(personRecoveryCodes.code_hash, code_hash));
  return tx.delete(personRecoveryCodes).where(one).returning().all().length > 0;
}

export function countRecoveryCodes(read: Tx, person_id: number): number {
  const theirs = eq(personRecoveryCodes.person_id, person_id);
  return read.select({ n: count() }).from(personRecoveryCodes).where(theirs).get()?.n ?? 0;
}

/* --- Networks ------------------------------------------------------------------------------------------------- */

export function isKnownNetwork(read: Tx, person_id: number, network: string): boolean {
  const one = and(eq(personNetworks.person_id, person_id), eq(personNetworks.network, network));
  return read.select().from(personNetworks).where(one).get() !== undefined;
}

export function listNetworks(read: Tx, person_id: number): string[] {
  const theirs = eq(personNetworks.person_id, person_id);
  return read
    .select()
    .from(personNetworks)
    .where(theirs)
    .all()
    .map(({ network }) => network);
}

/** Remembers a network that a person signed in from; the newest `max` are kept. */
export function rememberNetwork(
  tx: Tx,
  seen: { person_id: number; network: string; now_ms: number; max: number },
): void {
  const { person_id, network, now_ms, max } = seen;
  tx.insert(personNetworks)
    .values({ person_id, network, last_sign_in_at: now_ms })
    .onConflictDoUpdate({
      target: [personNetworks.person_id, personNetworks.network],
      set: { last_sign_in_at: now_ms },
    })
    .run();
  const theirs = eq(personNetworks.person_id, person_id);
  const newest = tx
    .select({ network: personNetworks.network })
    .from(personNetworks)
    .where(theirs)
    .orderBy(desc(personNetworks.last_sign_in_at), personNetworks.network)
    .limit(max);
  tx.delete(personNetworks)
    .where(and(theirs, notInArray(personNetworks.network, newest)))
    .run();
}
