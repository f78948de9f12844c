/**
 * What moves or ends an enrollment besides the engine: its mail ends, a delay is changed, a wrong clock is corrected, its contact
 * leaves.
 */
import { ENROLL_PIECE, TEMPLATE_WAIT_MS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS, HOUR_MS } from '../../platform/host/clock.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { CampaignDeps } from '../campaigns.ts';
import { type Bar, type ContactEvent, type ContactRow, isPaused } from '../contacts/service.ts';
import * as rows from './enrollment-store.ts';
import { type Decision, type Step, stepAfter, stepsOf, type Tracks } from './model.ts';
import { presentEnrollment } from './records.ts';
import type { EnrollmentRecord } from './schemas.ts';
import * as store from './store.ts';
import type { EnrollmentRow, ExitReason, SequenceRow } from './tables.ts';

/** Enrollments that are looked at in one go for times which a wrong clock has left: some milliseconds. */
const TIMES_PIECE = 2_000;

type GoingOnDeps = Pick<CampaignDeps, 'database' | 'clock' | 'contacts' | 'hasten'>;

/** An enrollment that was completed. `describe` returns null for a test. */
export interface Completed {
  project_id: number;
  describe(): EnrollmentRecord | null;
}
type CompletedListener = (tx: Tx, completed: Completed) => void;

export class GoingOn {
  readonly #listeners: CompletedListener[] = [];

  constructor(private readonly deps: GoingOnDeps) {}

  /** Adds a listener for each completed enrollment, called in the transaction that completes it. */
  listen(listener: CompletedListener): void {
    this.#listeners.push(listener);
  }

  /** Ends an enrollment behind its last step. */
  complete(tx: Tx, id: number, sequence: SequenceRow, ended_at: number): void {
    rows.completeEnrollment(tx, ended_at, id);
    const describe = (): EnrollmentRecord | null => {
      const row = rows.findEnrollment(tx, id);
      if (!row || row.is_test) return null;
      return presentEnrollment(row, sequence, this.deps.contacts.findById(row.contact_id, tx) ?? undefined);
    };
    for (const listener of this.#listeners) listener(tx, { project_id: sequence.project_id, describe });
  }

  /** Has the engine come when somebody is due. */
  hasten(tx: Tx, row: SequenceRow, next_at: number): void {
    if (row.status === 'active' && row.job_id !== null) this.deps.hasten(tx, row.job_id, next_at);
  }

  /** Has an enrollment whose mail has ended wait for its next step; completes it after the last step. */
  goOn(
    tx: Tx,
    enrollment: Pick<EnrollmentRow, 'id' | 'sequence_id' | 'step'>,
    ended: { step: string; at: number; is_dropped?: boolean },
  ): void {
    const row = store.rows.findById(tx, enrollment.sequence_id);
    if (!row || row.status === 'finished') return; // A finished sequence: all that is active in it exits.
    // After the last step it stays at that step.
    if (enrollment.step === ended.step) {
      // What counts as done was told before the restore, if it was.
      if (ended.is_dropped) rows.completeEnrollment(tx, ended.at, enrollment.id);
      else this.complete(tx, enrollment.id, row, ended.at);
      return;
    }
    const step = stepsOf(row).find(({ key }) => key === enrollment.step);
    const next_at = step ? dueAt(step, ended.at) : ended.at;
    rows.goOn(tx, ended.at, next_at, enrollment.id);
    this.hasten(tx, row, next_at);
  }

  /** Moves on enrollments that still wait for a mail though it has ended. */
  async sweep(): Promise<void> {
    const { database } = this.deps;
    for (const { id } of store.rows.listOpen(database.read))
      if (rows.listStranded(database.read, id).length > 0)
        await database.writePiece((tx) => this.#free(tx, id));
  }

  #free(tx: Tx, sequence_id: number): void {
    const now = this.deps.clock.now();
    for (const { id, mail_step, ended_at } of rows.listStranded(tx, sequence_id)) {
      const enrollment = rows.findEnrollment(tx, id);
      if (enrollment && mail_step !== null)
        this.goOn(tx, enrollment, { step: mail_step, at: ended_at ?? now });
      else fail(tx, id, 'The mail that it waited for is gone.', now);
    }
  }

  /**
   * Enrollments that wait for longer than their step says, because the clock ran ahead for a while, wait anew
   * from now, and the engine is told.
   */
  async mendTimes(): Promise<void> {
    const { database, clock } = this.deps;
    for (const row of store.rows.listOpen(database.read)) {
      await this.#mendEnrollments(row);
      await database.write((tx) => {
        const current = store.rows.findById(tx, row.id);
        if (current) this.hasten(tx, current, rows.nextDue(tx, row.id) ?? clock.now() + DAY_MS);
      });
    }
  }

  async #mendEnrollments(row: SequenceRow): Promise<void> {
    const { database, clock } = this.deps;
    const now_ms = clock.now();
    const delays = new Map(stepsOf(row).map(({ key, delay_hours }) => [key, delay_hours * HOUR_MS]));
    // A template that is not fit puts a step off as well.
    const latestOf = (step: string): number => now_ms + Math.max(delays.get(step) ?? 0, TEMPLATE_WAIT_MS);
    const first = Math.min(...[...delays.keys()].map(latestOf));
    for (let after: rows.DuePlace | undefined = { next_at: first, id: 0 }; after; ) {
      const piece = rows.listWaitingAfter(database.read, row.id, { after, limit: TIMES_PIECE });
      const late = piece.filter(({ step, next_at }) => next_at > latestOf(step));
      if (late.length > 0)
        await database.writePiece((tx) => {
          for (const { id, step, next_at } of late)
            if (!this.#isPaused(tx, id))
              rows.mendTime(tx, { id, next_at }, { now_ms, delay_ms: delays.get(step) ?? 0 });
        });
      after = piece.length === TIMES_PIECE ? piece.at(-1) : undefined;
      await letOthers();
    }
  }

  /** True while somebody waits for the end of their own pause. */
  #isPaused(read: Tx, enrollment_id: number): boolean {
    const contact_id = rows.findEnrollment(read, enrollment_id)?.contact_id;
    const contact = contact_id === undefined ? null : this.deps.contacts.findById(contact_id, read);
    return contact !== null && isPaused(contact, this.deps.clock.now());
  }

  /**
   * Gives every enrollment the time that its steps now say, in pieces. Leaves those alone that have it
   * already.
   */
  async retime(sequence_id: number): Promise<void> {
    const { database, hasten } = this.deps;
    for (let after_id: number | null = 0; after_id !== null; ) {
      const from: number = after_id;
      after_id = await database.writePiece((tx) => {
        const row = store.rows.findById(tx, sequence_id);
        const delays = new Map(row ? stepsOf(row).map(({ key, delay_hours }) => [key, delay_hours]) : []);
        const piece = rows.listActiveAfter(tx, sequence_id, from, ENROLL_PIECE);
        for (const { id, step, counts_from, next_at } of piece) {
          if (next_at === null) continue; // Its delay begins when its mail has ended.
          const due_at = counts_from + (delays.get(step) ?? 0) * HOUR_MS;
          if (due_at === next_at) continue;
          rows.updateEnrollment(tx, id, { next_at: due_at });
          if (row?.job_id) hasten(tx, row.job_id, due_at);
        }
        return piece.length === ENROLL_PIECE ? (piece.at(-1)?.id ?? null) : null;
      });
    }
  }
}

/** When a step is due whose delay counts from a moment. */
export function dueAt({ delay_hours }: Pick<Step, 'delay_hours'>, from_ms: number): number {
  return from_ms + delay_hours * HOUR_MS;
}

/** Writes where an enrollment goes after a step that sends nothing; null when it has ended. */
export function advance(
  tx: Tx,
  at: EnrollmentRow,
  by: {
    step: Step;
    decision: Exclude<Decision, { result: 'send' }>;
    tracks: Tracks;
    now_ms: number;
    complete(): void;
  },
): EnrollmentRow | null {
  const next = stepAfter(by.tracks, by.step, by.decision);
  if ('end' in next) {
    if (next.end === 'condition') exit(tx, at.id, 'condition', by.now_ms);
    else by.complete();
    return null;
  }
  const counts_from = next.counts_from === 'now' ? by.now_ms : at.counts_from;
  const { key: step, track, delay_hours } = next.step;
  const next_at = counts_from + delay_hours * HOUR_MS;
  const changes = { step, track, counts_from, next_at, waits_for: null };
  const moved = { ...at, ...changes };
  rows.moveEnrollment(tx, at.id, moved);
  return moved;
}

/** Routes that one enrollment takes at once: more go in a circle. */
const MAX_ROUTES_AT_ONCE = 20;

/** Fails an enrollment that has taken too many; returns whether it did. */
export function failsInCircle(
  tx: Tx,
  id: number,
  { routes, now_ms }: { routes: number; now_ms: number },
): boolean {
  if (routes <= MAX_ROUTES_AT_ONCE) return false;
  fail(tx, id, 'Its tracks route in a circle without sending.', now_ms);
  return true;
}

type Withholding = Pick<CampaignDeps['deliveries'], 'withhold'>;

/** Whoever left gets nothing more of any sequence. */
export function exitOf(
  tx: Tx,
  deliveries: Withholding,
  { kind, contact, at }: { kind: Departed; contact: ContactRow; at: number },
): void {
  for (const { enrollment } of rows.listActiveOf(tx, contact.id)) exit(tx, enrollment.id, kind, at);
  // Mail may wait hours for its relay, or have been queued again, so it is taken back here.
  for (const email_id of rows.listWaitingOf(tx, contact.id)) deliveries.withhold(tx, email_id);
}

/** Ends the enrollments whose sequence names this event as an exit event, unless they began after it. */
export function exitByEvent(
  tx: Tx,
  deliveries: Withholding,
  told: { contact_id: number; event: string; occurred_at: number; at: number },
): void {
  for (const { enrollment, sequence } of rows.listActiveOf(tx, told.contact_id))
    if (sequence.exit_events.includes(told.event) && told.occurred_at >= enrollment.enrolled_at) {
      exit(tx, enrollment.id, 'event', told.at);
      if (enrollment.last_email_id !== null) deliveries.withhold(tx, enrollment.last_email_id);
    }
}

/** Ends the enrollments of a finished sequence, in pieces. */
export async function exitAll(
  { database, clock }: Pick<CampaignDeps, 'database' | 'clock'>,
  sequence_id: number,
): Promise<void> {
  for (let count = ENROLL_PIECE; count === ENROLL_PIECE; )
    count = await database.writePiece((tx) => {
      const piece = rows.listActiveAfter(tx, sequence_id, 0, ENROLL_PIECE);
      for (const { id } of piece) exit(tx, id, 'sequence_finished', clock.now());
      return piece.length;
    });
}

/** How a contact may have left. */
type Departed = Exclude<ContactEvent['kind'], 'signed_up' | 'activated' | 'resubscribed' | 'deleted'>;

/** The reason for which somebody who may not be mailed leaves a sequence. */
export function exitReasonOf({ status }: Bar): ExitReason {
  if (status === 'bounced' || status === 'complained') return status;
  return status === null ? 'suppressed' : 'unsubscribed';
}

/** Ends an enrollment early, within the transaction that learns of the reason. */
export function exit(tx: Tx, id: number, exit_reason: ExitReason, now_ms: number): void {
  const over = { next_at: null, waits_for: null, ended_at: now_ms };
  rows.updateEnrollment(tx, id, { state: 'exited', exit_reason, ...over });
}

/** Ends an enrollment as failed. */
export function fail(tx: Tx, id: number, error: string, now_ms: number): void {
  const over = { next_at: null, waits_for: null, ended_at: now_ms };
  rows.updateEnrollment(tx, id, { state: 'failed', error, ...over });
}
