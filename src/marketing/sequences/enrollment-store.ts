/** SQL of enrollments, of what steps sent, and of the numbers of a sequence. */
import { and, asc, count, desc, eq, gt, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { endedStore } from '../campaign-store.ts';
import {
  ENROLLMENT_STATES,
  type EnrollmentRow,
  type EnrollmentState,
  enrollments,
  type SequenceMailRow,
  type SequenceRow,
  sequenceCounts,
  sequenceMails,
  sequences,
} from './tables.ts';

/* --- Due ------------------------------------------------------------------------------------------------------------ */

const dueOf = statement((tx) =>
  tx
    .select()
    .from(enrollments)
    .where(
      and(
        eq(enrollments.sequence_id, sql.placeholder('sequence_id')),
        sql`${enrollments.state} = 'active'`,
        sql`${enrollments.next_at} <= ${sql.placeholder('now_ms')}`,
        sql`(${enrollments.next_at}, ${enrollments.id}) > (${sql.placeholder('after_at')}, ${sql.placeholder('after_id')})`,
      ),
    )
    .orderBy(asc(enrollments.next_at), asc(enrollments.id))
    .limit(sql.placeholder('limit'))
    .prepare(),
);
const nextOf = statement((tx) =>
  tx
    .select({ next_at: enrollments.next_at })
    .from(enrollments)
    .where(
      and(
        eq(enrollments.sequence_id, sql.placeholder('sequence_id')),
        sql`${enrollments.state} = 'active'`,
        // The index has those first that wait for a mail, and have none.
        sql`${enrollments.next_at} >= 0`,
      ),
    )
    .orderBy(asc(enrollments.next_at))
    .limit(1)
    .prepare(),
);

/** Where an enrollment stands among those that are due. */
export interface DuePlace {
  next_at: number;
  id: number;
}

/** Before them all. */
export const FIRST_DUE: DuePlace = { next_at: 0, id: 0 };

/** Enrollments that are due behind a place, longest first. */
export function listDue(
  read: Tx,
  sequence_id: number,
  { now_ms, limit, after }: { now_ms: number; limit: number; after: DuePlace },
): EnrollmentRow[] {
  return dueOf(read).all({ sequence_id, now_ms, limit, after_at: after.next_at, after_id: after.id });
}

/** When the next enrollment of a sequence is due; null when none waits. One seek, however many wait. */
export function nextDue(read: Tx, sequence_id: number): number | null {
  return nextOf(read).get({ sequence_id })?.next_at ?? null;
}

/** Enrollments that wait behind a place, those that are due first ahead. */
export function listWaitingAfter(
  read: Tx,
  sequence_id: number,
  { after, limit }: { after: DuePlace; limit: number },
): (DuePlace & { step: string })[] {
  const { id, next_at, step } = enrollments;
  return read
    .select({ id, next_at: sql<number>`${next_at}`, step })
    .from(enrollments)
    .where(
      and(
        eq(enrollments.sequence_id, sequence_id),
        sql`${enrollments.state} = 'active'`,
        sql`(${next_at}, ${id}) > (${after.next_at}, ${after.id})`,
      ),
    )
    .orderBy(asc(next_at), asc(id))
    .limit(limit)
    .all();
}

/** Has an enrollment wait anew from now, unless it moved since it was read. */
export function mendTime(
  tx: Tx,
  enrollment: DuePlace,
  { now_ms, delay_ms }: { now_ms: number; delay_ms: number },
): void {
  const { id, state, next_at, counts_from, enrolled_at } = enrollments;
  tx.update(enrollments)
    .set({
      counts_from: sql`min(${counts_from}, ${now_ms})`,
      enrolled_at: sql`min(${enrolled_at}, ${now_ms})`,
      next_at: sql`min(${counts_from}, ${now_ms}) + ${delay_ms}`,
    })
    .where(and(eq(id, enrollment.id), eq(state, 'active'), eq(next_at, enrollment.next_at)))
    .run();
}

/* --- Enrollments ---------------------------------------------------------------------------------------------------- */

// Written out here and below, where every contact and every mail of a sequence passes.
const insertRows = rawSql<never, [number, number, string, string, number, number, number, string]>(`
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
  insertRows.run(tx, sequence_id, Number(is_test), track, step, enrolled_at, next_at, enrolled_at, rows);
}

const enrolled = rawSql<{ id: number }, [number, number, number]>(
  'SELECT id FROM enrollments WHERE sequence_id = ? AND contact_id = ? AND is_test = ?',
);

/** Whether a contact is, or ever was, in a sequence; as a test, or in earnest. */
export function isEnrolled(
  read: Tx,
  of: Pick<EnrollmentRow, 'sequence_id' | 'is_test'>,
  contact_id: number,
): boolean {
  return enrolled.get(read, of.sequence_id, contact_id, Number(of.is_test)) !== null;
}

export function updateEnrollment(tx: Tx, id: number, changes: Partial<Omit<EnrollmentRow, 'id'>>): void {
  tx.update(enrollments).set(changes).where(eq(enrollments.id, id)).run();
}

const moveRow = rawSql<never, [string, string, number, number | null, string | null, string | null, number]>(
  `UPDATE enrollments SET track = ?, step = ?, counts_from = ?, next_at = ?, waits_for = ?, last_email_id = ?
   WHERE id = ?`,
);

/** Has an enrollment wait for a step: until its time, or for the end of a mail. */
export function moveEnrollment(
  tx: Tx,
  id: number,
  to: Pick<EnrollmentRow, 'track' | 'step' | 'counts_from' | 'next_at' | 'waits_for' | 'last_email_id'>,
): void {
  moveRow.run(tx, to.track, to.step, to.counts_from, to.next_at, to.waits_for, to.last_email_id, id);
}

const goOnRow = rawSql<never, [number, number, number]>(
  'UPDATE enrollments SET waits_for = NULL, counts_from = ?, next_at = ? WHERE id = ?',
);

/** Has an enrollment whose mail has ended wait for its step. */
export function goOn(tx: Tx, id: number, to: { counts_from: number; next_at: number }): void {
  goOnRow.run(tx, to.counts_from, to.next_at, id);
}

const completeRow = rawSql<never, [number, number]>(`
  UPDATE enrollments SET state = 'completed', next_at = NULL, waits_for = NULL, ended_at = ? WHERE id = ?`);

/** Ends an enrollment behind its last step. */
export function completeEnrollment(tx: Tx, id: number, ended_at: number): void {
  completeRow.run(tx, ended_at, id);
}

const waitingFor = rawSql<Pick<EnrollmentRow, 'id' | 'sequence_id' | 'step'>, [number, string]>(
  `SELECT id, sequence_id, step FROM enrollments WHERE id = ? AND waits_for = ? AND state = 'active'`,
);

/** The enrollment that waits for the end of a mail, if it does. */
export function findWaitingFor(
  read: Tx,
  mail: Pick<SequenceMailRow, 'enrollment_id' | 'email_id'>,
): Pick<EnrollmentRow, 'id' | 'sequence_id' | 'step'> | null {
  return waitingFor.get(read, mail.enrollment_id, mail.email_id);
}

/**
 * Enrollments that wait for a mail which no longer waits itself: there are none, unless something went wrong.
 */
export function listStranded(
  read: Tx,
  sequence_id: number,
): { id: number; mail_step: string | null; ended_at: number | null }[] {
  return read
    .select({ id: enrollments.id, mail_step: sequenceMails.step, ended_at: sequenceMails.ended_at })
    .from(enrollments)
    .leftJoin(sequenceMails, eq(sequenceMails.email_id, enrollments.waits_for))
    .where(
      and(
        eq(enrollments.sequence_id, sequence_id),
        sql`${enrollments.state} = 'active'`,
        isNull(enrollments.next_at),
        sql`${sequenceMails.is_waiting} IS NOT 1`,
      ),
    )
    .all();
}

export function findEnrollment(read: Tx, id: number): EnrollmentRow | undefined {
  return read.select().from(enrollments).where(eq(enrollments.id, id)).get();
}

/** Active enrollments of a contact, with their sequences. */
export function listActiveOf(
  read: Tx,
  contact_id: number,
): { enrollment: EnrollmentRow; sequence: SequenceRow }[] {
  return read
    .select({ enrollment: enrollments, sequence: sequences })
    .from(enrollments)
    .innerJoin(sequences, eq(sequences.id, enrollments.sequence_id))
    .where(and(eq(enrollments.contact_id, contact_id), eq(enrollments.state, 'active')))
    .all();
}

/** Every enrollment of a contact, with its sequence, newest first. */
export function listOfContact(
  read: Tx,
  contact_id: number,
): { enrollment: EnrollmentRow; sequence: SequenceRow }[] {
  return read
    .select({ enrollment: enrollments, sequence: sequences })
    .from(enrollments)
    .innerJoin(sequences, eq(sequences.id, enrollments.sequence_id))
    .where(eq(enrollments.contact_id, contact_id))
    .orderBy(desc(enrollments.id))
    .all();
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
export function listActiveAfter(
  read: Tx,
  of: { sequence_id: number },
  piece: { after_id: number; limit: number },
): EnrollmentRow[] {
  return read
    .select()
    .from(enrollments)
    .where(
      and(
        eq(enrollments.sequence_id, of.sequence_id),
        eq(enrollments.state, 'active'),
        gt(enrollments.id, piece.after_id),
      ),
    )
    .orderBy(asc(enrollments.id))
    .limit(piece.limit)
    .all();
}

/* --- Numbers -------------------------------------------------------------------------------------------------------- */

/** Every counter of these sequences: kept by triggers, so they cost the same for a million. */
export function listCounts(
  read: Tx,
  sequence_ids: readonly number[],
): (typeof sequenceCounts.$inferSelect)[] {
  if (sequence_ids.length === 0) return [];
  return read
    .select()
    .from(sequenceCounts)
    .where(inArray(sequenceCounts.sequence_id, [...sequence_ids]))
    .all();
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

const insertMailRow = rawSql<never, [string, number, number, string, number, number]>(
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
  insertMailRow.run(tx, email_id, sequence_id, enrollment_id, step, Number(is_test), Number(is_untracked));
}

const mailRow = rawSql<SequenceMailRow, [string]>(
  'SELECT * FROM sequence_mails WHERE email_id = ?',
  sequenceMails,
);

export function findMail(read: Tx, email_id: string): SequenceMailRow | undefined {
  return mailRow.get(read, email_id) ?? undefined;
}

export function updateMail(tx: Tx, email_id: string, changes: Partial<SequenceMailRow>): void {
  tx.update(sequenceMails).set(changes).where(eq(sequenceMails.email_id, email_id)).run();
}

/** What an enrollment was sent, oldest first. */
export function listMailsOf(read: Tx, enrollment_id: number): SequenceMailRow[] {
  return read
    .select()
    .from(sequenceMails)
    .where(eq(sequenceMails.enrollment_id, enrollment_id))
    .orderBy(asc(sequenceMails.email_id))
    .all();
}

/** Mails of a sequence that wait for their relay: MAILS_AHEAD at most. */
export function listWaitingMails(read: Tx, sequence_id: number): string[] {
  const { email_id } = sequenceMails;
  const rows = read.select({ email_id }).from(sequenceMails).where(isWaiting(sequence_id)).all();
  return rows.map((row) => row.email_id);
}

export function countWaitingMails(read: Tx, sequence_id: number): number {
  return read.select({ n: count() }).from(sequenceMails).where(isWaiting(sequence_id)).get()?.n ?? 0;
}

/** The flag is a literal, so that SQLite sees that the partial index holds every row asked for. */
function isWaiting(sequence_id: number): SQL | undefined {
  return and(eq(sequenceMails.sequence_id, sequence_id), sql`${sequenceMails.is_waiting} = 1`);
}

/** Mails to a contact that wait for their relay. */
export function listWaitingOf(read: Tx, contact_id: number): string[] {
  const rows = read
    .select({ email_id: sequenceMails.email_id })
    .from(enrollments)
    .innerJoin(sequenceMails, eq(sequenceMails.enrollment_id, enrollments.id))
    .where(and(eq(enrollments.contact_id, contact_id), sql`${sequenceMails.is_waiting} = 1`))
    .all();
  return rows.map((row) => row.email_id);
}

/** How the last mails of a sequence ended, tests apart. */
export const ended = endedStore(sequenceMails, (id) =>
  and(eq(sequenceMails.sequence_id, id), eq(sequenceMails.is_test, false)),
);
