/** SQL of product events. */
import { and, asc, eq } from 'drizzle-orm';
import type { Tx } from '../platform/database/database.ts';
import { rawSql } from '../platform/database/raw-sql.ts';
import { contactEvents } from './tables.ts';

export type EventRow = typeof contactEvents.$inferSelect;

export function findEvent(read: Tx, contact_id: number, event: string): EventRow | undefined {
  return read
    .select()
    .from(contactEvents)
    .where(and(eq(contactEvents.contact_id, contact_id), eq(contactEvents.event, event)))
    .get();
}

export function insertEvent(tx: Tx, row: EventRow): void {
  tx.insert(contactEvents).values(row).run();
}

/** Of an event that happens again the last time counts. */
export function saveEvent(tx: Tx, row: EventRow): void {
  const { occurred_at } = row;
  const target = [contactEvents.contact_id, contactEvents.event];
  tx.insert(contactEvents).values(row).onConflictDoUpdate({ target, set: { occurred_at } }).run();
}

const namesSince = rawSql<{ event: string }, [number, number]>(
  'SELECT event FROM contact_events WHERE contact_id = ? AND occurred_at >= ?',
);

/** Names of those that happened at or after a moment: each mail of a sequence asks for them. */
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
