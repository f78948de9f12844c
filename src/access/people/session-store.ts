/** The SQL of sessions, of recovery codes, and of the networks that people have signed in from. */
import { eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawHas, rawRun, rawValue, rawValues } from '../../platform/database/raw-sql.ts';
import { type PersonRow, people, personRecoveryCodes, personSessions, type SessionRow } from './tables.ts';

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

export const hasSession = rawHas<[person_id: number, id: string]>(
  'SELECT 1 FROM person_sessions WHERE person_id = ? AND id = ?',
);

/** When it began; null where this person has none such. */
export const sessionBeganAt = rawValue<number, [person_id: number, id: string]>(
  'SELECT created_at FROM person_sessions WHERE person_id = ? AND id = ?',
);

/** A person's sessions, newest first. */
export const listSessions = rawAll<SessionRow, [{ person_id: number; limit: number; offset: number }]>(
  'SELECT * FROM person_sessions WHERE person_id = +:person_id ORDER BY id DESC LIMIT +:limit OFFSET +:offset',
);

export const countSessions = rawCount<[person_id: number]>(
  'SELECT count(*) FROM person_sessions WHERE person_id = ?',
);

export const touchSession = rawRun<[{ id: string; now_ms: number }]>(
  'UPDATE person_sessions SET last_seen_at = :now_ms WHERE id = :id',
);

/** Ends a session; 0 where this person has none such. */
export const deleteSession = rawRun<[person_id: number, id: string]>(
  'DELETE FROM person_sessions WHERE person_id = ? AND id = ?',
);

/** Ends every session of a person, but for the one that is kept; returns how many. */
export const deleteSessionsOf = rawRun<[person_id: number, kept_id: string | null]>(
  'DELETE FROM person_sessions WHERE person_id = ? AND id IS NOT ?',
);

export const deleteEndedSessions = rawRun<[{ seen_before_ms: number; made_before_ms: number }]>(
  'DELETE FROM person_sessions WHERE last_seen_at <= :seen_before_ms OR created_at <= :made_before_ms',
);

/* --- Recovery codes ------------------------------------------------------------------------------------------- */

export function replaceRecoveryCodes(tx: Tx, person_id: number, hashes: readonly string[]): void {
  tx.delete(personRecoveryCodes).where(eq(personRecoveryCodes.person_id, person_id)).run();
  for (const code_hash of hashes) tx.insert(personRecoveryCodes).values({ person_id, code_hash }).run();
}

/** Uses a code up; 0 where it is none of those that are left. */
export const takeRecoveryCode = rawRun<[person_id: number, code_hash: string]>(
  'DELETE FROM person_recovery_codes WHERE person_id = ? AND code_hash = ?',
);

export const countRecoveryCodes = rawCount<[person_id: number]>(
  'SELECT count(*) FROM person_recovery_codes WHERE person_id = ?',
);

/* --- Networks ------------------------------------------------------------------------------------------------- */

export const isKnownNetwork = rawHas<[person_id: number, network: string]>(
  'SELECT 1 FROM person_networks WHERE person_id = ? AND network = ?',
);

export const listNetworks = rawValues<string, [person_id: number]>(
  'SELECT network FROM person_networks WHERE person_id = ?',
);

const putNetwork = rawRun<[{ person_id: number; network: string; now_ms: number }]>(
  `INSERT INTO person_networks (person_id, network, last_sign_in_at) VALUES (:person_id, :network, :now_ms)
   ON CONFLICT DO UPDATE SET last_sign_in_at = excluded.last_sign_in_at`,
);
const dropOldNetworks = rawRun<[{ person_id: number; max: number }]>(
  `DELETE FROM person_networks WHERE person_id = :person_id AND network NOT IN (
     SELECT network FROM person_networks WHERE person_id = :person_id ORDER BY last_sign_in_at DESC, network LIMIT :max)`,
);

/** Remembers a network that a person signed in from; the newest `max` are kept. */
export function rememberNetwork(
  tx: Tx,
  seen: { person_id: number; network: string; now_ms: number; max: number },
): void {
  putNetwork(tx, seen);
  dropOldNetworks(tx, seen);
}
