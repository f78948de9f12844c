/**
 * The engine: moves enrollments that are due, a piece a transaction. A decision and the mail that it leads to
 * are one commit, so that however the engine is cut off, no step is skipped and none is sent twice. An active
 * sequence has one job, which sleeps until its next enrollment is due.
 */
import { SCANNER_WINDOW_MS, TEMPLATE_WAIT_MS } from '../../limits.ts';
import type { AcceptBulk } from '../../mail/emails/service.ts';
import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS, utcDay } from '../../platform/host/clock.ts';
import { PieceSize } from '../../platform/host/waiting.ts';
import {
  LOOK_AGAIN_MS,
  MAILS_AHEAD,
  MAILS_AHEAD_WAIT_MS,
  type NextTurn,
  waitForCapacity,
} from '../campaign-engine.ts';
import { templateProblems } from '../campaign-readiness.ts';
import type { CampaignDeps } from '../campaigns.ts';
import { barOf, type ContactRow, isPaused } from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import type { Clicks, Mailing, MailOwner } from '../mails/service.ts';
import { readUsage, type Settings, shutUntil, takeUsage } from '../settings/service.ts';
import type { SuppressionCheck } from '../suppressions/service.ts';
import type { TrackingChoices } from '../tracking/service.ts';
import * as store from './enrollment-store.ts';
import type { ContactEvents } from './events.ts';
import { advance, exit, exitReasonOf, fail, failsInCircle, type GoingOn } from './going-on.ts';
import { SEQUENCE_STEP } from './lifecycle.ts';
import {
  decide,
  type Facts,
  findStep,
  type Step,
  stepAfter,
  stepsOf,
  type Tracks,
  tracksOf,
} from './model.ts';
import { rows } from './store.ts';
import type { EnrollmentRow, SequenceRow } from './tables.ts';

/** Enrollments that one transaction moves: a first one, and any. */
const FIRST_PIECE = 20;
const MOST_IN_PIECE = 50;

interface EngineDeps extends CampaignDeps {
  contact_events: Pick<ContactEvents, 'since'>;
  clicks: Pick<Clicks, 'unsettled'>;
  tracking: Pick<TrackingChoices, 'isTracked'>;
  going_on: Pick<GoingOn, 'complete'>;
}

/** A time when no mail may go: enrollments that are to send wait, and the others move on. */
interface Shut {
  /**
   * Until when, by the relay, the window, the cap or a mailbox; for ever while the settings lack something.
   */
  waits_until: number;
  /** All that is due up to this place has been looked at. */
  after: store.DuePlace;
}

/** The outcome of a piece. */
interface Piece {
  /** Whether more may be due. */
  is_full: boolean;
  shut: Shut | null;
  /** How many enrollments it looked at. */
  count: number;
}

export class SequenceEngine {
  readonly what = 'sequence';
  readonly job_type = SEQUENCE_STEP;
  /**
   * By sequence: how far a turn has looked through what was due while no mail could go. The next turn begins
   * there.
   */
  readonly #asked = new Map<number, store.DuePlace>();

  readonly #size = new PieceSize(FIRST_PIECE, MOST_IN_PIECE);

  constructor(private readonly deps: EngineDeps) {}

  /** Moves what is due until nothing is, everything must wait, or `stopping`. */
  async turn(
    owner: MailOwner,
    { id: sequence_id, job_id }: { id: number; job_id: string },
    stopping: AbortSignal,
  ): Promise<NextTurn> {
    const { database, clock, emails } = this.deps;
    for (let shut: Shut | null = null; ; ) {
      const from: Shut | null = shut;
      const now_ms = clock.now();
      const piece: Piece | null = await database.writePiece((tx) =>
        this.#size.learn(
          () =>
            emails.acceptBulk(tx, (accept) =>
              this.#movePiece(tx, owner, { sequence_id, job_id, shut: from, now_ms, accept }),
            ),
          (moved) => moved?.count ?? 0,
        ),
      );
      shut = piece?.shut ?? null;
      if (shut) this.#asked.set(sequence_id, shut.after);
      else this.#asked.delete(sequence_id);
      if (piece === null) return null;
      if (piece.is_full && !stopping.aborted) continue;
      // No longer than a minute, as settings and mailboxes may change meanwhile.
      return shut
        ? Math.min(shut.waits_until, now_ms + LOOK_AGAIN_MS)
        : (tx) => this.#nextDue(tx, sequence_id);
    }
  }

  /**
   * When a sequence's next enrollment is due; in a day where none waits. A new enrollment hastens the job.
   */
  #nextDue(tx: Tx, sequence_id: number): number {
    return store.nextDue(tx, sequence_id) ?? this.deps.clock.now() + DAY_MS;
  }

  /** Null where the sequence no longer runs. */
  #movePiece(
    tx: Tx,
    owner: MailOwner,
    { sequence_id, job_id, now_ms, accept, ...from }: PieceOf,
  ): Piece | null {
    const { lists, marketing, suppressions } = this.deps;
    const sequence = rows.findById(tx, sequence_id);
    const list = sequence && lists.findById(sequence.list_id, tx);
    // After a pause and a resume another job moves it.
    if (sequence?.status !== 'active' || sequence.job_id !== job_id || !list) return null;
    let { shut } = from;
    const room = MAILS_AHEAD - store.countWaitingMails(tx, sequence_id);
    if (room <= 0)
      return {
        is_full: false,
        count: 0,
        shut: {
          waits_until: now_ms + MAILS_AHEAD_WAIT_MS,
          after: this.#asked.get(sequence_id) ?? store.FIRST_DUE,
        },
      };
    const limit = Math.min(this.#size.next, room);
    const due = store.listDue(tx, sequence_id, { now_ms, limit, after: shut?.after ?? store.FIRST_DUE });
    const settings = marketing.settings(owner.id, tx);
    const have_links_a_place = marketing.problemOfLinks(owner.id) === null;
    const tracks = tracksOf(stepsOf(sequence));
    const suppressed = suppressions.checker(tx, owner);
    const fit = new Map<string, boolean>();
    const isFit = (step: Step): boolean => {
      const known = fit.get(step.template);
      if (known !== undefined) return known;
      const is_fit =
        templateProblems(step.template, this.deps.templates.factsOf(owner.id, step.template)).length === 0;
      fit.set(step.template, is_fit);
      return is_fit;
    };
    for (const enrollment of due) {
      const shut_until = shut?.waits_until ?? null;
      const move = {
        owner,
        sequence,
        list,
        settings,
        tracks,
        suppressed,
        isFit,
        shut_until,
        now_ms,
        have_links_a_place,
        accept,
      };
      const waits_until = this.#move(tx, enrollment, move);
      const after = { next_at: enrollment.next_at ?? 0, id: enrollment.id };
      if (shut) shut = { ...shut, after };
      else if (waits_until !== null)
        return {
          is_full: true,
          count: due.indexOf(enrollment) + 1,
          shut: { waits_until, after: this.#asked.get(sequence_id) ?? after },
        };
    }
    return { is_full: due.length === limit, count: due.length, shut };
  }

  /**
   * Moves one enrollment as far as it goes now: through skipped and routed steps, up to a mail or its end.
   */
  #move(tx: Tx, enrollment: EnrollmentRow, move: Move): number | null {
    const { tracks, now_ms } = move;
    const contact = this.deps.contacts.findById(enrollment.contact_id, tx);
    if (!contact) return null;
    const bar = barOf(contact, move.suppressed);
    if (bar) {
      exit(tx, enrollment.id, exitReasonOf(bar), now_ms);
      return null;
    }
    let at = { ...enrollment };
    for (let routes = 0; ; ) {
      const step = findStep(tracks, at.step);
      if (!step) {
        fail(tx, at.id, 'Its step is gone.', now_ms);
        return null;
      }
      const has_clicked = this.#hasClicked(tx, at, contact);
      if (has_clicked === false && at.last_email_id !== null && asksForClicks(step)) {
        const click = this.deps.clicks.unsettled(tx, at.last_email_id);
        if (click !== null) {
          // A second later than it settles, if nothing goes wrong.
          const next_at = Math.max(click + SCANNER_WINDOW_MS, now_ms) + 1_000;
          store.updateEnrollment(tx, at.id, { next_at });
          return null;
        }
      }
      const facts: Facts = {
        has_clicked,
        events: this.deps.contact_events.since(tx, at.contact_id, at.enrolled_at),
      };
      const decision = decide(step, facts);
      if (decision.result === 'send') return this.#send(tx, at, { ...move, contact, step });
      const complete = (): void => this.deps.going_on.complete(tx, at.id, move.sequence, now_ms);
      const next = advance(tx, at, { step, decision, tracks, now_ms, complete });
      if (next === null || next.next_at === null || next.next_at > now_ms) return null;
      if (decision.result === 'route') routes += 1;
      if (failsInCircle(tx, at.id, { routes, now_ms })) return null;
      at = next;
    }
  }

  /** Whether a person clicked in the last mail; scanners don't count. Null where nothing tells, for want of consent. */
  #hasClicked(read: Tx, { last_email_id }: EnrollmentRow, contact: ContactRow): boolean | null {
    if (last_email_id === null) return false;
    const mail = store.findMail(read, last_email_id);
    if ((mail?.clicked_at ?? null) !== null) return true;
    return mail?.is_untracked || !this.deps.tracking.isTracked(read, contact) ? null : false;
  }

  /**
   * Accepts the mail of a step and moves the enrollment behind it; a time where everything must wait, and
   * nothing has changed.
   */
  #send(tx: Tx, at: EnrollmentRow, move: Move & { contact: ContactRow; step: Step }): number | null {
    const { settings, owner, now_ms, step, tracks } = move;
    if (isPaused(move.contact, now_ms)) {
      store.updateEnrollment(tx, at.id, { next_at: move.contact.paused_until });
      return null;
    }
    if (move.shut_until !== null) return move.shut_until;
    const day = utcDay(now_ms);
    const usedToday = (): number => readUsage(tx, owner.id, day);
    const shut_until = shutUntil(settings, { ...move, is_test: at.is_test, usedToday });
    if (shut_until !== null) return shut_until;
    const planned = move.isFit(step)
      ? this.deps.marketing_mail.plan(tx, mailOfStep({ ...move, is_test: at.is_test }), move.contact)
      : null;
    if (planned === null || (!planned.ok && planned.is_template)) {
      // The template was switched off or lost its footer: the enrollment waits, and looks at it again.
      store.updateEnrollment(tx, at.id, { next_at: now_ms + TEMPLATE_WAIT_MS });
      return null;
    }
    if (!planned.ok) {
      fail(tx, at.id, explainNoMail(step.key, planned.reason), now_ms);
      return null;
    }
    let email_id: string;
    try {
      email_id = move.accept(planned.email);
    } catch (error) {
      const retry_after_s = waitForCapacity(error);
      if (retry_after_s === null) throw error;
      return now_ms + retry_after_s * 1_000;
    }
    const { id: enrollment_id, sequence_id, is_test } = at;
    if (!is_test) takeUsage(tx, owner.id, day, 1);
    const { is_untracked } = planned;
    store.insertMail(tx, { email_id, sequence_id, enrollment_id, step: step.key, is_test, is_untracked });
    // The next delay begins when this mail has ended; after the last step the enrollment is complete then.
    const next = stepAfter(tracks, step, { result: 'send' });
    const { key, track } = 'step' in next ? next.step : step;
    const to = { step: key, track, counts_from: now_ms, next_at: null };
    store.moveEnrollment(tx, at.id, { ...to, waits_for: email_id, last_email_id: email_id });
    return null;
  }
}

/** Why an enrollment fails at a step. */
export function explainNoMail(step: string, reason: string): string {
  return `The step ${step} makes no mail: ${reason}`;
}

/** What a step's mail is made of. */
export function mailOfStep(of: {
  owner: MailOwner;
  sequence: SequenceRow;
  list: ListRow;
  settings: Settings;
  step: Step;
  is_test: boolean;
}): Mailing {
  const { owner, sequence, list, settings, step, is_test } = of;
  return {
    source: 'sequence',
    owner,
    list,
    template: step.template,
    variables: step.variables,
    preheader: step.preheader,
    settings,
    is_test,
    track_opens: sequence.track_opens,
    utm: sequence.utm,
    email_tag: sequence.public_id,
  };
}

/** Which piece: the sequence, its job, and where to go on while no mail may go. */
interface PieceOf {
  sequence_id: number;
  job_id: string;
  shut: Shut | null;
  now_ms: number;
  accept: AcceptBulk;
}

interface Move {
  accept: AcceptBulk;
  owner: MailOwner;
  sequence: SequenceRow;
  list: ListRow;
  settings: Settings;
  tracks: Tracks;
  suppressed: SuppressionCheck;
  /** Whether a step's template makes mail that may go out. */
  isFit(step: Step): boolean;
  /** Whether links in mails work for those who get them. */
  have_links_a_place: boolean;
  /** While no mail may go: until when. */
  shut_until: number | null;
  now_ms: number;
}

function asksForClicks({ condition }: Pick<Step, 'condition'>): boolean {
  if (condition.type === 'all') return condition.of.some((part) => asksForClicks({ condition: part }));
  if (condition.type === 'event' || condition.type === 'no_event') return condition.event === 'clicked';
  return condition.type === 'clicked' || condition.type === 'not_clicked';
}
