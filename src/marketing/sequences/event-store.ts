/** SQL of product events. */
import { and, asc, eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { contactEvents } from './tables.ts';

export type EventRow = typeof contactEvents.$inferSelect;

export function findEvent(read: Tx, contact_id: number, event: string): EventRow | undefined {
  return read
    .select()
    .from(contactEvents)
    .where(and(eq(contactEvents.contact_id, contact_id), eq(contactEvents.event, event)))
    .get();
}

/** A repeated event gets its last time; when it was first received stays. */
export function saveEvent(tx: Tx, row: EventRow): void {
  const { occurred_at, is_whole_second, meta } = row;
  const target = [contactEvents.contact_id, contactEvents.event];
  const set = { occurred_at, is_whole_second, meta };
  tx.insert(contactEvents).values(row).onConflictDoUpdate({ target, set }).run();
}

const namesSince = rawSql<{ event: string }, [number, number]>(
  'SELECT event FROM contact_events WHERE contact_id = ? AND occurred_at + 999 * is_whole_second >= ?',
);

/** Names of events at or after a moment; asked for each mail of a sequence. */
export function listEventNamesSince(read: Tx, contact_id: number, since_ms: number): string[] {
  return namesSince.all(read, contact_id, since_ms).map(({ event }) => event);
}

/** In the order of their names. */
export function listEventsOf(read: Tx, contact_id: number): EventRow[] {
  return read
    .select()
    .from(contactEvents)
    .where(eq(contactEvents.contact_id, contact_id))
    .orderBy(asc(contactEvents.event))
    .all();
}
