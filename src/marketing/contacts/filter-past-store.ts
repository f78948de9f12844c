/**
 * SQL of what contacts did and got, as filters ask for it: each a condition on a row of contacts, answered by a seek of a primary
 * key, so that it is asked of some contacts at a time. A filter is one statement, so it names tables of other nouns.
 */
import { type SQL, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawGet } from '../../platform/database/raw-sql.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import { contacts } from './tables.ts';

/** An event, since a moment or ever. */
export interface EventCriterion {
  readonly name: string;
  readonly from_ms: number | undefined;
}

/** What people did and got; broadcasts and sequences by their public ids. */
export interface PastCriteria {
  readonly event: EventCriterion | undefined;
  readonly no_event: EventCriterion | undefined;
  readonly received: string | undefined;
  readonly clicked: string | undefined;
  readonly not_clicked: string | undefined;
  readonly sequence: string | undefined;
  readonly not_clicked_from_ms: number | undefined;
  readonly not_mailed_from_ms: number | undefined;
}

/** The conditions of one filter, all of which must hold. Of what is gone nothing is known: that is NULL, which fits nobody, not by `none` either. */
export function pastConditionsOf(list_id: number, criteria: PastCriteria): SQL[] {
  const { event, no_event, received, clicked, not_clicked, sequence } = criteria;
  const { not_clicked_from_ms, not_mailed_from_ms } = criteria;
  const got = (id: string, more: SQL): SQL => {
    const broadcast = sql`(SELECT id FROM broadcasts WHERE public_id = ${id} AND list_id = ${list_id} AND is_test = 0)`;
    return ofKnown(
      broadcast,
      sql`EXISTS (SELECT 1 FROM broadcast_recipients WHERE broadcast_id = ${broadcast} AND contact_id = ${contacts.id} AND ${more})`,
    );
  };
  return [
    ...(event === undefined ? [] : [sql`EXISTS (${eventsOf(event)})`]),
    ...(no_event === undefined ? [] : [sql`NOT EXISTS (${eventsOf(no_event)})`]),
    ...(received === undefined ? [] : [got(received, sql`sent_at IS NOT NULL`)]),
    ...(clicked === undefined ? [] : [got(clicked, sql`clicked_at IS NOT NULL`)]),
    ...(not_clicked === undefined
      ? []
      : [
          got(
            not_clicked,
            sql`sent_at IS NOT NULL AND clicked_at IS NULL AND is_untracked = 0 AND ${TRACKED}`,
          ),
        ]),
    ...(sequence === undefined ? [] : [isIn(list_id, sequence)]),
    ...(not_clicked_from_ms === undefined
      ? []
      : [
          sql`(${contacts.clicked_at} IS NULL OR ${contacts.clicked_at} < ${not_clicked_from_ms}) AND ${TRACKED}`,
        ]),
    ...(not_mailed_from_ms === undefined ? [] : [sql`NOT EXISTS (${mailsSince(not_mailed_from_ms)})`]),
  ];
}

/** As tracking/service.ts says it of one address: of nobody else it is known that they did not click. */
const TRACKED = sql`coalesce(
  (SELECT tracking = 'allowed' FROM tracking_choices
    WHERE tracking_choices.project_id = ${contacts.project_id} AND tracking_choices.email = ${contacts.email}),
  (SELECT tracking <> 'consented' FROM marketing_settings WHERE marketing_settings.project_id = ${contacts.project_id}),
  1)`;

function ofKnown(id: SQL, condition: SQL): SQL {
  return sql`iif(${id} IS NULL, NULL, ${condition})`;
}

function eventsOf({ name, from_ms }: EventCriterion): SQL {
  const since = from_ms === undefined ? sql`` : sql`AND occurred_at + 999 * is_whole_second >= ${from_ms}`;
  return sql`SELECT 1 FROM contact_events WHERE contact_id = ${contacts.id} AND event = ${name} ${since}`;
}

function isIn(list_id: number, public_id: string): SQL {
  const sequence = sql`(SELECT id FROM sequences WHERE public_id = ${public_id} AND list_id = ${list_id})`;
  return ofKnown(
    sequence,
    sql`EXISTS (SELECT 1 FROM enrollments WHERE sequence_id = ${sequence} AND contact_id = ${contacts.id} AND is_test = 0 AND state = 'active')`,
  );
}

/**
 * Marketing to the address, accepted since then: what waits is on its way to them, and what ended without being sent is none. The index
 * is named, so that a condition which does not fit it is an error and no walk of the whole log; ids run ahead where a clock was set back.
 */
function mailsSince(from_ms: number): SQL {
  return sql`SELECT 1 FROM emails INDEXED BY emails_by_recipient WHERE emails.project_id = ${contacts.project_id}
    AND emails.to_email = ${contacts.email} COLLATE NOCASE AND emails.id >= ${firstIdOf(from_ms)}
    AND emails.created_at >= ${from_ms}
    AND source IN ('sequence', 'broadcast') AND emails.is_test = 0
    AND emails.status NOT IN ('failed', 'suppressed', 'canceled')`;
}

/* --- What a filter may name ---------------------------------------------------------------------------------------- */

const broadcastOf = rawGet<{ name: string }, [string, number]>(
  'SELECT name FROM broadcasts WHERE public_id = ? AND list_id = ? AND is_test = 0',
);
const sequenceOf = rawGet<{ name: string }, [string, number]>(
  'SELECT name FROM sequences WHERE public_id = ? AND list_id = ?',
);

/** What a broadcast of a list, which is no test's, or a sequence of it is called; null where it has none such. */
export function nameOf(
  read: Tx,
  list_id: number,
  what: 'broadcast' | 'sequence',
  public_id: string,
): string | null {
  return (what === 'broadcast' ? broadcastOf : sequenceOf)(read, public_id, list_id)?.name ?? null;
}
