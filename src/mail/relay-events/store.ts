/** SQL of what relays tell by HTTP. */
import { eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { type EventsRow, relayEvents } from './tables.ts';

export const findEvents = rawGet<EventsRow, [mailbox_id: number]>(
  'SELECT * FROM relay_events WHERE mailbox_id = ?',
);

export const findByToken = rawGet<EventsRow, [token_hash: string]>(
  'SELECT * FROM relay_events WHERE token_hash = ?',
);

export const listEvents = rawAll<EventsRow>('SELECT * FROM relay_events ORDER BY mailbox_id');

/** In place of what the mailbox had. */
export function saveEvents(tx: Tx, row: EventsRow): void {
  tx.insert(relayEvents).values(row).onConflictDoUpdate({ target: relayEvents.mailbox_id, set: row }).run();
}

export const deleteEvents = rawRun<[mailbox_id: number]>('DELETE FROM relay_events WHERE mailbox_id = ?');

/** Nothing where its token is another one by now. */
export function updateEvents(
  tx: Tx,
  { token_hash }: Pick<EventsRow, 'token_hash'>,
  changes: Partial<EventsRow>,
): void {
  tx.update(relayEvents).set(changes).where(eq(relayEvents.token_hash, token_hash)).run();
}
