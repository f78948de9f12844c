/** SQL of replies. */
import { and, asc, count, desc, eq, inArray, lt } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawValues } from '../../platform/database/raw-sql.ts';
import { emailReplies, type ReplyRow } from './tables.ts';

/** Keeps a reply; false where it came before. */
export function insertReply(tx: Tx, reply: Omit<ReplyRow, 'id'>): boolean {
  const inserted = tx
    .insert(emailReplies)
    .values(reply)
    .onConflictDoNothing()
    .returning({ id: emailReplies.id });
  return inserted.get() !== undefined;
}

/** Of people, or of machines. */
export function countReplies(read: Tx, email_id: string, is_automatic: boolean): number {
  const of = and(eq(emailReplies.email_id, email_id), eq(emailReplies.is_automatic, is_automatic));
  return read.select({ n: count() }).from(emailReplies).where(of).get()?.n ?? 0;
}

/** Of people, newest first. */
export function listPersonal(read: Tx, email_id: string, limit: number, offset: number): ReplyRow[] {
  return read
    .select()
    .from(emailReplies)
    .where(and(eq(emailReplies.email_id, email_id), eq(emailReplies.is_automatic, false)))
    .orderBy(desc(emailReplies.id))
    .limit(limit)
    .offset(offset)
    .all();
}

type Noted = Pick<ReplyRow, 'is_automatic' | 'from_email' | 'subject' | 'received_at'>;

/** In the order in which they came, without their texts. */
export function listNoted(read: Tx, email_id: string): Noted[] {
  const { id, is_automatic, from_email, subject, received_at } = emailReplies;
  return read
    .select({ is_automatic, from_email, subject, received_at })
    .from(emailReplies)
    .where(eq(emailReplies.email_id, email_id))
    .orderBy(asc(id))
    .all();
}

/** Ids of the replies that an address wrote, behind one, in order; none once there are no more. */
export const listIdsFrom = rawValues<number, [{ project_id: number; email: string; behind: number }]>(
  `SELECT id FROM email_replies INDEXED BY email_replies_of_address
   WHERE project_id = +:project_id AND from_email = +:email AND id > +:behind ORDER BY id LIMIT 500`,
);

const idsOfOthers = rawValues<number, [string, string]>(
  `SELECT id FROM email_replies WHERE email_id IN (SELECT value FROM json_each(?1)) AND from_email <> +?2`,
);

/** Ids of the replies to these mails that others than an address wrote. */
export function listIdsOfOthers(read: Tx, of: { email_ids: readonly string[]; email: string }): number[] {
  return idsOfOthers(read, JSON.stringify(of.email_ids), of.email);
}

export function findReply(read: Tx, id: number): ReplyRow | undefined {
  return read.select().from(emailReplies).where(eq(emailReplies.id, id)).get();
}

export function deleteReply(tx: Tx, id: number): void {
  tx.delete(emailReplies).where(eq(emailReplies.id, id)).run();
}

/** Of people, newest first. */
export function listLastFrom(
  read: Tx,
  { project_id, email }: { project_id: number; email: string },
  limit: number,
): ReplyRow[] {
  const from = and(eq(emailReplies.project_id, project_id), eq(emailReplies.from_email, email));
  return read
    .select()
    .from(emailReplies)
    .where(and(from, eq(emailReplies.is_automatic, false)))
    .orderBy(desc(emailReplies.id))
    .limit(limit)
    .all();
}

/** Deletes up to `limit` that came before a moment; returns how many. */
export function deleteBefore(tx: Tx, before_ms: number, limit: number): number {
  const { id, received_at } = emailReplies;
  const old = tx.select({ id }).from(emailReplies).where(lt(received_at, before_ms)).limit(limit);
  return tx.delete(emailReplies).where(inArray(id, old)).returning({ id }).all().length;
}
