/** SQL of inboxes. */
import { and, eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { type InboxRow, inboxes } from './tables.ts';

export const findInbox = rawGet<InboxRow, [mailbox_id: number]>(
  'SELECT * FROM inboxes WHERE mailbox_id = ?',
  inboxes,
);

export const listInboxes = rawAll<InboxRow>('SELECT * FROM inboxes ORDER BY mailbox_id', inboxes);

/** In place of the one before, of which nothing stays. */
export function replaceInbox(tx: Tx, inbox: InboxRow): void {
  deleteInbox(tx, inbox.mailbox_id);
  tx.insert(inboxes).values(inbox).run();
}

export const deleteInbox = rawRun<[mailbox_id: number]>('DELETE FROM inboxes WHERE mailbox_id = ?');

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
