/** SQL of inboxes. */
import { and, asc, eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { type InboxRow, inboxes } from './tables.ts';

export function findInbox(tx: Tx, mailbox_id: number): InboxRow | undefined {
  return tx.select().from(inboxes).where(eq(inboxes.mailbox_id, mailbox_id)).get();
}

export function listInboxes(tx: Tx): InboxRow[] {
  return tx.select().from(inboxes).orderBy(asc(inboxes.mailbox_id)).all();
}

/** In place of the one before, of which nothing stays. */
export function replaceInbox(tx: Tx, inbox: InboxRow): void {
  deleteInbox(tx, inbox.mailbox_id);
  tx.insert(inboxes).values(inbox).run();
}

export function deleteInbox(tx: Tx, mailbox_id: number): void {
  tx.delete(inboxes).where(eq(inboxes.mailbox_id, mailbox_id)).run();
}

/** False where the inbox was set anew, or is gone. */
export function updateInbox(
  tx: Tx,
  inbox: Pick<InboxRow, 'mailbox_id' | 'version'>,
  changes: Partial<Omit<InboxRow, 'mailbox_id' | 'version'>>,
): boolean {
  const is_it = and(eq(inboxes.mailbox_id, inbox.mailbox_id), eq(inboxes.version, inbox.version));
  return (
    tx.update(inboxes).set(changes).where(is_it).returning({ id: inboxes.mailbox_id }).get() !== undefined
  );
}
