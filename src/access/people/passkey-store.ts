/** The SQL of passkeys, and of the challenges that were used. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawCount, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { type PasskeyRow, personPasskeys } from './tables.ts';

export const findPasskey = rawGet<PasskeyRow, [credential_id: string]>(
  'SELECT * FROM person_passkeys WHERE credential_id = ?',
  personPasskeys,
);

/** A person's passkeys, newest first; all of them for a limit of -1. */
export const listPasskeys = rawAll<PasskeyRow, [{ person_id: number; limit: number; offset: number }]>(
  'SELECT * FROM person_passkeys WHERE person_id = +:person_id ORDER BY id DESC LIMIT +:limit OFFSET +:offset',
  personPasskeys,
);

export const countPasskeys = rawCount<[person_id: number]>(
  'SELECT count(*) FROM person_passkeys WHERE person_id = ?',
);

export function insertPasskey(tx: Tx, passkey: PasskeyRow): void {
  tx.insert(personPasskeys).values(passkey).run();
}

export const notePasskeyUse = rawRun<[{ id: string; counter: number; backed_up: number; now_ms: number }]>(
  'UPDATE person_passkeys SET counter = :counter, backed_up = :backed_up, last_used_at = :now_ms WHERE id = :id',
);

export const suspectPasskey = rawRun<[{ id: string; now_ms: number }]>(
  'UPDATE person_passkeys SET suspected_at = :now_ms WHERE id = :id',
);

/** The name of the passkey that it deletes; null where this person has none such. */
export const deletePasskey = rawGet<Pick<PasskeyRow, 'name' | 'host'>, [person_id: number, id: string]>(
  'DELETE FROM person_passkeys WHERE person_id = ? AND id = ? RETURNING name, host',
);

/** Deletes all of a person's, and returns how many. */
export const deletePasskeysOf = rawRun<[person_id: number]>(
  'DELETE FROM person_passkeys WHERE person_id = ?',
);

export type ToldPasskey = Pick<PasskeyRow, 'id' | 'name' | 'host'> & { email: string };

/** Passkeys of another host than this one. */
export const listPasskeysElsewhere = rawAll<ToldPasskey, [host: string]>(
  `SELECT k.id, k.name, host, email FROM person_passkeys k JOIN people p ON p.id = person_id WHERE host <> ?
   ORDER BY email, k.id`,
);

/** Passkeys that there may be a copy of. */
export const listSuspectedPasskeys = rawAll<ToldPasskey>(
  `SELECT k.id, k.name, host, email FROM person_passkeys k JOIN people p ON p.id = person_id WHERE suspected_at IS NOT NULL
   ORDER BY email, k.id`,
);

/** Uses a challenge up; 0 where it was used before. */
export const useChallenge = rawRun<[challenge: string, ends_at: number]>(
  'INSERT OR IGNORE INTO used_challenges (challenge, ends_at) VALUES (?, ?)',
);

export const deleteEndedChallenges = rawRun<[now_ms: number]>(
  'DELETE FROM used_challenges WHERE ends_at <= ?',
);
