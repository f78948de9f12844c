/** SQL of enrollments, of what steps sent, and of the numbers of a sequence. */
import { and, desc, eq, inArray, type SQL, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { endedStore } from '../campaign-store.ts';
import {
  ENROLLMENT_STATES,
  type EnrollmentRow,
  type EnrollmentState,
  enrollments,
  type SequenceMailRow,
  sequenceCounts,
  sequenceMails,
  sequences,
} from './tables.ts';

/* --- Due ------------------------------------------------------------------------------------------------------------ */

/** Where an enrollment stands among those that are due. */
export interface DuePlace {
  next_at: number;
  id: number;
}

/** Before them all. */
export const FIRST_DUE: DuePlace = { next_at: 0, id: 0 };

const dueAfter = rawAll<EnrollmentRow, [number, number, number, number, number]>(
  `SELECT * FROM enrollments WHERE sequence_id = +? AND state = 'active' AND next_at <= +?
   AND (next_at, id) > (+?, +?) ORDER BY next_at, id LIMIT +?`,
  enrollments,
);

/** Enrollments that are due behind a place, longest first. */
export function listDue(
  read: Tx,
  sequence_id: number,
  { now_ms, limit, after }: { now_ms: number; limit: number; after: DuePlace },
): EnrollmentRow[] {
  return dueAfter(read, sequence_id, now_ms, after.next_at, after.id, limit);
}

// The index has those first that wait for a mail, and have none.
const nextOf = rawGet<DuePlace, [number]>(
  `SELECT next_at FROM enrollments WHERE sequence_id = +? AND state = 'active' AND next_at >= 0
   ORDER BY next_at LIMIT 1`,
);

/** When the next enrollment of a sequence is due; null when none waits. One seek, however many wait. */
export function nextDue(read: Tx, sequence_id: number): number | null {
  return nextOf(read, sequence_id)?.next_at ?? null;
}

const waitingAfter = rawAll<DuePlace & { step: string }, [number, number, number, number]>(
  `SELECT id, next_at, step FROM enrollments WHERE sequence_id = +? AND state = 'active'
   AND (next_at, id) > (+?, +?) ORDER BY next_at, id LIMIT +?`,
);

/** Enrollments that wait behind a place, those that are due first ahead. */
export function listWaitingAfter(
  read: Tx,
  sequence_id: number,
  { after, limit }: { after: DuePlace; limit: number },
) {
  return waitingAfter(read, sequence_id, after.next_at, after.id, limit);
}

const mend = rawRun<[now_ms: number, delay_ms: number, id: number, next_at: number]>(
  `UPDATE enrollments SET counts_from = min(counts_from, ?1), enrolled_at = min(enrolled_at, ?1),
     next_at = min(counts_from, ?1) + ?2
   WHERE id = ?3 AND state = 'active' AND next_at = ?4`,
);

/** Has an enrollment wait anew from now, unless it moved since it was read. */
export function mendTime(
  tx: Tx,
  { id, next_at }: DuePlace,
  { now_ms, delay_ms }: { now_ms: number; delay_ms: number },
): void {
  mend(tx, now_ms, delay_ms, id, next_at);
}

/* --- Enrollments ---------------------------------------------------------------------------------------------------- */

const insertRows = rawRun<[number, number, string, string, number, number, number, string]>(`
  INSERT INTO enrollments (public_id, contact_id, sequence_id, is_test, state, track, step, counts_from, next_at,
    enrolled_at)
  SELECT value ->> 0, value ->> 1, ?, ?, 'active', ?, ?, ?, ?, ? FROM json_each(?) WHERE true ON CONFLICT DO NOTHING`);

/** Enrolls contacts in one statement, but for those who ever were. */
export function insertEnrollments(
  tx: Tx,
  of: Pick<EnrollmentRow, 'sequence_id' | 'is_test' | 'track' | 'step' | 'enrolled_at'> & { next_at: number },
  contacts: readonly [public_id: string, contact_id: number][],
): void {
  const { sequence_id, is_test, track, step, enrolled_at, next_at } = of;
  const rows = JSON.stringify(contacts);
  insertRows(tx, sequence_id, Number(is_test), track, step, enrolled_at, next_at, enrolled_at, rows);
}

const enrolled = rawGet<{ id: number }, [number, number, number]>(
  'SELECT id FROM enrollments WHERE sequence_id = ? AND contact_id = ? AND is_test = ?',
);

/** True where a contact is, or ever was, in a sequence; as a test, or in earnest. */
export function isEnrolled(
  read: Tx,
  of: Pick<EnrollmentRow, 'sequence_id' | 'is_test'>,
  contact_id: number,
): boolean {
  return enrolled(read, of.sequence_id, contact_id, Number(of.is_test)) !== null;
}

export function updateEnrollment(tx: Tx, id: number, changes: Partial<Omit<EnrollmentRow, 'id'>>): void {
  tx.update(enrollments).set(changes).where(eq(enrollments.id, id)).run();
}

const moveRow = rawRun<[string, string, number, number | null, string | null, string | null, number]>(
  `UPDATE enrollments SET track = ?, step = ?, counts_from = ?, next_at = ?, waits_for = ?, last_email_id = ?
   WHERE id = ?`,
);

/** Has an enrollment wait for a step: until its time, or for the end of a mail. */
export function moveEnrollment(
  tx: Tx,
  id: number,
  to: Pick<EnrollmentRow, 'track' | 'step' | 'counts_from' | 'next_at' | 'waits_for' | 'last_email_id'>,
): void {
  moveRow(tx, to.track, to.step, to.counts_from, to.next_at, to.waits_for, to.last_email_id, id);
}

/** Has an enrollment whose mail has ended wait for its step. */
export const goOn = rawRun<[counts_from: number, next_at: number, id: number]>(
  'UPDATE enrollments SET waits_for = NULL, counts_from = ?, next_at = ? WHERE id = ?',
);

/** Ends an enrollment behind its last step. */
export const completeEnrollment = rawRun<[ended_at: number, id: number]>(
  "UPDATE enrollments SET state = 'completed', next_at = NULL, waits_for = NULL, ended_at = ? WHERE id = ?",
);

const waitingFor = rawGet<Pick<EnrollmentRow, 'id' | 'sequence_id' | 'step'>, [number, string]>(
  `SELECT id, sequence_id, step FROM enrollments WHERE id = ? AND waits_for = ? AND state = 'active'`,
);

/** The enrollment that waits for the end of a mail, if it does. */
export function findWaitingFor(read: Tx, mail: Pick<SequenceMailRow, 'enrollment_id' | 'email_id'>) {
  return waitingFor(read, mail.enrollment_id, mail.email_id);
}

/** Enrollments that wait for a mail which no longer waits itself: there are none, unless something went wrong. */
export const listStranded = rawAll<
  { id: number; mail_step: string | null; ended_at: number | null },
  [sequence_id: number]
>(
  `SELECT e.id, m.step AS mail_step, m.ended_at FROM enrollments e
   LEFT JOIN sequence_mails m ON m.email_id = e.waits_for
   WHERE e.sequence_id = +? AND e.state = 'active' AND e.next_at IS NULL AND m.is_waiting IS NOT 1`,
);

export const findEnrollment = rawGet<EnrollmentRow, [id: number]>(
  'SELECT * FROM enrollments WHERE id = ?',
  enrollments,
);

const ofContact = (read: Tx, contact_id: number, also?: SQL) =>
  read
    .select({ enrollment: enrollments, sequence: sequences })
    .from(enrollments)
    .innerJoin(sequences, eq(sequences.id, enrollments.sequence_id))
    .where(and(eq(enrollments.contact_id, contact_id), also));

/** Active enrollments of a contact, with their sequences. */
export function listActiveOf(read: Tx, contact_id: number) {
  return ofContact(read, contact_id, eq(enrollments.state, 'active')).all();
}

/** Every enrollment of a contact, with its sequence, newest first. */
export function listOfContact(read: Tx, contact_id: number) {
  return ofContact(read, contact_id).orderBy(desc(enrollments.id)).all();
}

interface EnrollmentFilter {
  sequence_id: number;
  state?: EnrollmentState | undefined;
  track?: string | undefined;
}

/** Newest first, by the index of each filter. */
export function listEnrollments(
  read: Tx,
  filter: EnrollmentFilter,
  page: { limit: number; offset: number },
): EnrollmentRow[] {
  return read
    .select()
    .from(enrollments)
    .where(
      and(
        eq(enrollments.sequence_id, filter.sequence_id),
        filter.state === undefined ? undefined : eq(enrollments.state, filter.state),
        filter.track === undefined ? undefined : eq(enrollments.track, filter.track),
      ),
    )
    .orderBy(desc(enrollments.id))
    .limit(page.limit)
    .offset(page.offset)
    .all();
}

/** Active enrollments behind an id, in the order of ids: a piece of all of them. */
export const listActiveAfter = rawAll<EnrollmentRow, [sequence_id: number, after_id: number, limit: number]>(
  "SELECT * FROM enrollments WHERE sequence_id = +? AND state = 'active' AND id > +? ORDER BY id LIMIT +?",
  enrollments,
);

/* --- Numbers -------------------------------------------------------------------------------------------------------- */

const countsOf = rawAll<typeof sequenceCounts.$inferSelect, [string]>(
  'SELECT * FROM sequence_counts WHERE sequence_id IN (SELECT value FROM json_each(?))',
);

/** Every counter of these sequences: kept by triggers, so they cost the same for a million. */
export function listCounts(read: Tx, sequence_ids: readonly number[]) {
  return countsOf(read, JSON.stringify(sequence_ids));
}

/** How many enrollments a list of them has, those of test keys among them. */
export function countEnrollments(read: Tx, filter: EnrollmentFilter): number {
  const { state } = filter;
  return sumEnrollments(read, filter, state === undefined ? undefined : [state, `test_${state}`]);
}

/** How many contacts were ever enrolled in a sequence, as tests or in earnest. */
export function countEnrolled(read: Tx, of: Pick<EnrollmentRow, 'sequence_id' | 'is_test'>): number {
  const what = ENROLLMENT_STATES.map((state) => (of.is_test ? `test_${state}` : state));
  return sumEnrollments(read, { sequence_id: of.sequence_id }, what);
}

function sumEnrollments(read: Tx, filter: EnrollmentFilter, what: string[] | undefined): number {
  const of: (SQL | undefined)[] = [
    eq(sequenceCounts.sequence_id, filter.sequence_id),
    eq(sequenceCounts.step, ''),
    what === undefined ? undefined : inArray(sequenceCounts.what, what),
    filter.track === undefined ? undefined : eq(sequenceCounts.track, filter.track),
  ];
  const counted = read
    .select({ n: sql<number>`coalesce(sum(${sequenceCounts.n}), 0)` })
    .from(sequenceCounts)
    .where(and(...of))
    .get();
  return counted?.n ?? 0;
}

/* --- Mails ---------------------------------------------------------------------------------------------------------- */

const insertMailRow = rawRun<[string, number, number, string, number, number]>(
  'INSERT INTO sequence_mails (email_id, sequence_id, enrollment_id, step, is_test, is_untracked) VALUES (?, ?, ?, ?, ?, ?)',
);

export function insertMail(
  tx: Tx,
  mail: Pick<
    SequenceMailRow,
    'email_id' | 'sequence_id' | 'enrollment_id' | 'step' | 'is_test' | 'is_untracked'
  >,
): void {
  const { email_id, sequence_id, enrollment_id, step, is_test, is_untracked } = mail;
  insertMailRow(tx, email_id, sequence_id, enrollment_id, step, Number(is_test), Number(is_untracked));
}

export const findMail = rawGet<SequenceMailRow, [email_id: string]>(
  'SELECT * FROM sequence_mails WHERE email_id = ?',
  sequenceMails,
);

export function updateMail(tx: Tx, email_id: string, changes: Partial<SequenceMailRow>): void {
  tx.update(sequenceMails).set(changes).where(eq(sequenceMails.email_id, email_id)).run();
}

/** What an enrollment was sent, oldest first. */
export const listMailsOf = rawAll<SequenceMailRow, [enrollment_id: number]>(
  'SELECT * FROM sequence_mails WHERE enrollment_id = +? ORDER BY email_id',
  sequenceMails,
);

const waitingMails = rawAll<{ email_id: string }, [number]>(
  'SELECT email_id FROM sequence_mails WHERE sequence_id = +? AND is_waiting = 1',
);

/** Mails of a sequence that wait for their relay: MAILS_AHEAD at most. */
export function listWaitingMails(read: Tx, sequence_id: number): string[] {
  return waitingMails(read, sequence_id).map(({ email_id }) => email_id);
}

const waitingCount = rawGet<{ n: number }, [number]>(
  'SELECT count(*) AS n FROM sequence_mails WHERE sequence_id = +? AND is_waiting = 1',
);

export function countWaitingMails(read: Tx, sequence_id: number): number {
  return waitingCount(read, sequence_id)?.n ?? 0;
}

const waitingTo = rawAll<{ email_id: string }, [number]>(
  `SELECT m.email_id FROM enrollments e JOIN sequence_mails m ON m.enrollment_id = e.id
   WHERE e.contact_id = +? AND m.is_waiting = 1`,
);

/** Mails to a contact that wait for their relay. */
export function listWaitingOf(read: Tx, contact_id: number): string[] {
  return waitingTo(read, contact_id).map(({ email_id }) => email_id);
}

/** How the last mails of a sequence ended, tests apart. */
export const ended = endedStore(sequenceMails, (id) =>
  and(eq(sequenceMails.sequence_id, id), eq(sequenceMails.is_test, false)),
);
