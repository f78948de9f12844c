/** SQL of double opt-ins that wait for their click, and of the sign-ups of those who had left. */
import type { Tx } from '../../platform/database/database.ts';
import { rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { contactConfirmations, type SignUpOfLeftRow, signUpsOfLeft } from './tables.ts';

type Confirmation = typeof contactConfirmations.$inferSelect;

export function insertConfirmation(tx: Tx, confirmation: Confirmation): void {
  tx.insert(contactConfirmations).values(confirmation).run();
}

export const findConfirmation = rawGet<Confirmation, [token_hash: string]>(
  'SELECT * FROM contact_confirmations WHERE token_hash = ?',
  contactConfirmations,
);

export const deleteExpiredConfirmations = rawRun<[now_ms: number]>(
  'DELETE FROM contact_confirmations WHERE expires_at <= ?',
);

/* --- Sign-ups of those who had left -------------------------------------------------------------------------------- */

/** In place of the one before. */
export function saveSignUpOfLeft(tx: Tx, row: SignUpOfLeftRow): void {
  const { project_id, hash } = signUpsOfLeft;
  tx.insert(signUpsOfLeft)
    .values(row)
    .onConflictDoUpdate({ target: [project_id, hash], set: row })
    .run();
}

/** Notes that one was confirmed, where it is still the last. */
export const confirmSignUpOfLeft = rawRun<[now_ms: number, project_id: number, hash: string, at: number]>(
  "UPDATE sign_ups_of_left SET outcome = 'confirmed', outcome_at = ? WHERE project_id = ? AND hash = ? AND at = ?",
);

export const findSignUpOfLeft = rawGet<SignUpOfLeftRow, [project_id: number, hash: string]>(
  'SELECT * FROM sign_ups_of_left WHERE project_id = ? AND hash = ?',
  signUpsOfLeft,
);

export const deleteSignUpOfLeft = rawRun<[project_id: number, hash: string]>(
  'DELETE FROM sign_ups_of_left WHERE project_id = ? AND hash = ?',
);
