/** SQL of double opt-ins that wait for their click. */
import { and, eq, inArray, lte, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { jobs } from '../../platform/database/tables.ts';
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

/** The type of the jobs that are sign-ups. */
export const EMAIL_SUBSCRIBE = 'email.subscribe';

/** Sign-ups of an address that wait to be carried out. What is done keeps no address. */
export function listSignUps(read: Tx, project_id: number, email: string) {
  return read
    .select({ id: jobs.id, payload: jobs.payload, queued_at: jobs.queued_at })
    .from(jobs)
    .where(
      and(
        eq(jobs.project_id, project_id),
        eq(jobs.type, EMAIL_SUBSCRIBE),
        inArray(jobs.status, ['pending', 'processing']),
        sql`${jobs.payload} ->> 'email' = ${email}`,
      ),
    )
    .all();
}

const emptied = rawSql<never, [string]>("UPDATE jobs SET payload = '{}' WHERE id = ?");

/** Empties a sign-up: whoever signed up is nobody's business once it is carried out, or is to be forgotten. */
export function forgetSignUp(tx: Tx, job_id: string): boolean {
  return emptied.run(tx, job_id) > 0;
}
