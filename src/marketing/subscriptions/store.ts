/** SQL of double opt-ins that wait for their click, and of the sign-ups of those who had left. */
import { and, eq, lte } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { contactConfirmations, type SignUpOfLeftRow, signUpsOfLeft } from './tables.ts';

type Confirmation = typeof contactConfirmations.$inferSelect;

export function insertConfirmation(tx: Tx, confirmation: Confirmation): void {
  tx.insert(contactConfirmations).values(confirmation).run();
}

export function findConfirmation(read: Tx, token_hash: string): Confirmation | undefined {
  return read
    .select()
    .from(contactConfirmations)
    .where(eq(contactConfirmations.token_hash, token_hash))
    .get();
}

export function deleteExpiredConfirmations(tx: Tx, now_ms: number): void {
  tx.delete(contactConfirmations).where(lte(contactConfirmations.expires_at, now_ms)).run();
}

/* --- Sign-ups of those who had left -------------------------------------------------------------------------------- */

const isOf = ({ project_id, hash }: Pick<SignUpOfLeftRow, 'project_id' | 'hash'>) =>
  and(eq(signUpsOfLeft.project_id, project_id), eq(signUpsOfLeft.hash, hash));

/** In place of the one before. */
export function saveSignUpOfLeft(tx: Tx, row: SignUpOfLeftRow): void {
  const { project_id, hash } = signUpsOfLeft;
  tx.insert(signUpsOfLeft)
    .values(row)
    .onConflictDoUpdate({ target: [project_id, hash], set: row })
    .run();
}

/** Notes that one was confirmed, where it is still the last. */
export function confirmSignUpOfLeft(
  tx: Tx,
  of: { project_id: number; hash: string; at: number; now_ms: number },
): void {
  tx.update(signUpsOfLeft)
    .set({ outcome: 'confirmed', outcome_at: of.now_ms })
    .where(and(isOf(of), eq(signUpsOfLeft.at, of.at)))
    .run();
}

export function findSignUpOfLeft(read: Tx, project_id: number, hash: string): SignUpOfLeftRow | undefined {
  return read.select().from(signUpsOfLeft).where(isOf({ project_id, hash })).get();
}

export function deleteSignUpOfLeft(tx: Tx, of: Pick<SignUpOfLeftRow, 'project_id' | 'hash'>): void {
  tx.delete(signUpsOfLeft).where(isOf(of)).run();
}
