/** SQL of sequences and of product events. */
import { sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet } from '../../platform/database/raw-sql.ts';
import { campaignStore } from '../campaign-store.ts';
import { contactEvents, type SequenceRow, sequences } from './tables.ts';

/** Open are active ones, and paused ones, whose mail only waits: these enroll contacts. */
export const rows = campaignStore(sequences, sql`${sequences.status} IN ('active', 'paused')`);

/** Those of them that take in every new contact. */
export const listEnrollingSequences = rawAll<SequenceRow, [list_id: number]>(
  `SELECT * FROM sequences
   WHERE list_id = +? AND status IN ('active', 'paused') AND auto_enroll_new_contacts = 1`,
  sequences,
);

/** Finished sequences that still have active enrollments. */
export const listFinishedWithActive = rawAll<{ id: number }>(
  `SELECT id FROM sequences WHERE status = 'finished'
   AND EXISTS (SELECT 1 FROM enrollments WHERE sequence_id = sequences.id AND state = 'active')`,
);

/** The templates that steps of all projects name. */
export const listTemplates = rawAll<{ project_id: number; template: string }>(
  "SELECT DISTINCT project_id, value ->> 'template' template FROM sequences, json_each(steps)",
);

export type EventRow = typeof contactEvents.$inferSelect;

export const findEvent = rawGet<EventRow, [contact_id: number, event: string]>(
  'SELECT * FROM contact_events WHERE contact_id = ? AND event = ?',
  contactEvents,
);

/** A repeated event gets its last time; when it was first received stays. */
export function saveEvent(tx: Tx, row: EventRow): void {
  const { occurred_at, is_whole_second, meta } = row;
  const target = [contactEvents.contact_id, contactEvents.event];
  const set = { occurred_at, is_whole_second, meta };
  tx.insert(contactEvents).values(row).onConflictDoUpdate({ target, set }).run();
}

const namesSince = rawAll<{ event: string }, [number, number]>(
  'SELECT event FROM contact_events WHERE contact_id = ? AND occurred_at + 999 * is_whole_second >= ?',
);

/** Names of events at or after a moment; asked for each mail of a sequence. */
export function listEventNamesSince(read: Tx, contact_id: number, since_ms: number): string[] {
  return namesSince(read, contact_id, since_ms).map(({ event }) => event);
}

/** In the order of their names. */
export const listEventsOf = rawAll<EventRow, [contact_id: number]>(
  'SELECT * FROM contact_events WHERE contact_id = ? ORDER BY event',
  contactEvents,
);
