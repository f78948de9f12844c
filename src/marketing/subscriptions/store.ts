/** SQL of double opt-ins that wait for their click. */
import { eq, lte } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { contactConfirmations } from './tables.ts';

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
