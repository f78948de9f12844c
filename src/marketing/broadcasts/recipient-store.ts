/** SQL of who had their turn in a broadcast, and of what became of their mail. */
import { and, desc, eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { endedStore } from '../campaign-store.ts';
import {
  type BroadcastRow,
  broadcastRecipients,
  broadcasts,
  type LeftOutReason,
  type RecipientRow,
} from './tables.ts';

type Inserted = [number, number, number | null, string | null, string | null, number, number];
const insertRow = rawRun<Inserted>(
  'INSERT INTO broadcast_recipients (broadcast_id, contact_id, variant, email_id, reason, is_waiting, is_untracked) VALUES (?, ?, ?, ?, ?, ?, ?)',
);

/** What somebody's turn came to. */
export type Turn = { email_id: string; is_untracked: boolean } | { reason: LeftOutReason };

/** Notes that a contact had its turn: that it gets this mail, or why it gets none. */
export function insertRecipient(
  tx: Tx,
  of: Pick<RecipientRow, 'broadcast_id' | 'contact_id' | 'variant'>,
  turn: Turn,
): void {
  const { broadcast_id, contact_id, variant } = of;
  if ('email_id' in turn)
    insertRow(tx, broadcast_id, contact_id, variant, turn.email_id, null, 1, Number(turn.is_untracked));
  else insertRow(tx, broadcast_id, contact_id, variant, null, turn.reason, 0, 0);
}

const among = rawAll<{ contact_id: number }, [number, string]>(
  'SELECT contact_id FROM broadcast_recipients WHERE broadcast_id = ? AND contact_id IN (SELECT value FROM json_each(?))',
);

/** Which of these contacts had their turn. */
export function turnsAmong(read: Tx, broadcast_id: number, ids: readonly number[]): ReadonlySet<number> {
  if (ids.length === 0) return new Set();
  return new Set(among(read, broadcast_id, JSON.stringify(ids)).map(({ contact_id }) => contact_id));
}

export const findByEmail = rawGet<RecipientRow, [email_id: string]>(
  'SELECT * FROM broadcast_recipients WHERE email_id = +?',
  broadcastRecipients,
);

export function updateRecipient(
  tx: Tx,
  of: Pick<RecipientRow, 'broadcast_id' | 'contact_id'>,
  changes: Partial<RecipientRow>,
): void {
  const { broadcast_id, contact_id } = broadcastRecipients;
  const is_it = and(eq(broadcast_id, of.broadcast_id), eq(contact_id, of.contact_id));
  tx.update(broadcastRecipients).set(changes).where(is_it).run();
}

/** Recipients that had their turn, the last ones first. */
export const listRecipients = rawAll<RecipientRow, [broadcast_id: number, limit: number, offset: number]>(
  'SELECT * FROM broadcast_recipients WHERE broadcast_id = +? ORDER BY contact_id DESC LIMIT +? OFFSET +?',
  broadcastRecipients,
);

const waitingOf = rawAll<{ email_id: string }, [number]>(
  'SELECT email_id FROM broadcast_recipients INDEXED BY broadcast_recipients_waiting WHERE broadcast_id = +? AND is_waiting = 1',
);

/** Its mails that wait for their relay: MAILS_AHEAD at most, and those that were queued again. */
export function listWaiting(read: Tx, broadcast_id: number): string[] {
  return waitingOf(read, broadcast_id).map(({ email_id }) => email_id);
}

const withWaiting = rawAll<{ broadcast_id: number }>(
  'SELECT DISTINCT broadcast_id FROM broadcast_recipients INDEXED BY broadcast_recipients_waiting WHERE is_waiting = 1',
);

/** Broadcasts of which mail waits for its relay. */
export function listBroadcastsWaiting(read: Tx): number[] {
  return withWaiting(read).map(({ broadcast_id }) => broadcast_id);
}

const waitingTo = rawAll<{ email_id: string }, [number]>(
  'SELECT email_id FROM broadcast_recipients INDEXED BY broadcast_recipients_waiting_of WHERE contact_id = +? AND is_waiting = 1',
);

/** Mails to a contact, of whatever broadcast, that wait for their relay. */
export function listWaitingTo(read: Tx, contact_id: number): string[] {
  return waitingTo(read, contact_id).map(({ email_id }) => email_id);
}

/** What a contact of a list got of its broadcasts, or why not, newest first. */
export function listOfContact(
  read: Tx,
  { id, list_id }: { id: number; list_id: number },
  limit: number,
): { broadcast: BroadcastRow; recipient: RecipientRow }[] {
  return read
    .select({ broadcast: broadcasts, recipient: broadcastRecipients })
    .from(broadcasts)
    .innerJoin(
      broadcastRecipients,
      and(eq(broadcastRecipients.broadcast_id, broadcasts.id), eq(broadcastRecipients.contact_id, id)),
    )
    .where(eq(broadcasts.list_id, list_id))
    .orderBy(desc(broadcasts.id))
    .limit(limit)
    .all();
}

/** Deletes some of them, and returns how many. */
export const deleteRecipients = rawRun<[broadcast_id: number, limit: number]>(
  `DELETE FROM broadcast_recipients WHERE broadcast_id = ?1 AND contact_id IN
   (SELECT contact_id FROM broadcast_recipients WHERE broadcast_id = ?1 ORDER BY contact_id LIMIT ?2)`,
);

/** How its last mails ended; it is all a test's, or none of it. */
export const ended = endedStore(broadcastRecipients, (id) => eq(broadcastRecipients.broadcast_id, id));
