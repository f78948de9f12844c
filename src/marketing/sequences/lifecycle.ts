/** A sequence's life: activating, pausing, resuming, finishing; enrolling; and what it is told from outside. */
import { AppError, conflict, invalid, notFound, refuseAll } from '../../errors.ts';
import { ENROLL_PIECE } from '../../limits.ts';
import type { EmailEvent, SendDecision } from '../../mail/deliveries/service.ts';
import { emailLife } from '../../mail/emails/service.ts';
import type { Answered } from '../../mail/replies/service.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { newId } from '../../platform/host/ids.ts';
import { letOthers } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import type { Release, Released } from '../../platform/jobs/restore-hold.ts';
import { AT_ONCE, isHeld } from '../../platform/jobs/store.ts';
import { CampaignLife, isHeldByRestore } from '../campaign-life.ts';
import { explainProblem } from '../campaign-readiness.ts';
import type { CampaignDeps } from '../campaigns.ts';
import {
  barOf,
  type ContactEvent,
  type ContactFilter,
  type ContactPause,
  type ContactRow,
  type ContactStanding,
} from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import type { Reading } from '../mails/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import * as rows from './enrollment-store.ts';
import { findEnrollment, findMail, updateMail } from './enrollment-store.ts';
import type { ContactEvents } from './events.ts';
import { dueAt, exitAll, exitOf, type GoingOn } from './going-on.ts';
import { firstStep, type Step, stepsOf, tracksOf } from './model.ts';
import type { Sequences } from './service.ts';
import { skipDue } from './skipping.ts';
import * as store from './store.ts';
import type { SequenceMailRow, SequenceRow, SequenceStatus } from './tables.ts';

/** The type of the jobs that move a sequence's enrollments. */
export const SEQUENCE_STEP = 'sequence.step';

/** The contacts that are to be enrolled. */
export type Selection =
  | { all: true }
  | { tags: readonly string[] }
  | { contact_ids: readonly string[] }
  | { filter: ContactFilter };

/** How many were enrolled, and how many were not and why. */
export interface Enrolled {
  enrolled: number;
  already: number;
  refused_suppressed: number;
  refused_status: number;
}

interface LifeDeps extends CampaignDeps {
  sequences: Sequences;
  contact_events: Pick<ContactEvents, 'note' | 'since'>;
  going_on: GoingOn;
}

export class SequenceLife extends CampaignLife<SequenceMailRow, LifeDeps> {
  protected readonly campaigns = this.deps.sequences;
  protected readonly running = ['active'] as const;
  protected readonly paused_by_move = ['active'] as const;
  protected readonly stopped = 'finished';
  protected readonly job_type = SEQUENCE_STEP;
  protected readonly listWaiting = rows.listWaitingMails;
  protected readonly findMail = rows.findMail;
  protected readonly ended = rows.ended;

  protected mark(tx: Tx, { email_id }: SequenceMailRow, mark: Partial<SequenceMailRow>): void {
    rows.updateMail(tx, email_id, mark);
  }

  protected rowOf(read: Tx, { sequence_id }: SequenceMailRow): SequenceRow | null {
    return store.rows.findById(read, sequence_id);
  }

  /* --- Transitions ------------------------------------------------------------------------------------------------ */

  /**
   * Has a draft run; it enrolls nobody. Throws AppError `conflict` for any other, and `invalid` (activation_refused) with
   * every problem; as all of these that send, `conflict` project_inactive.
   */
  async activate(actor: Actor, owner: KeyOwner, public_id: string): Promise<void> {
    const { sequences, marketing, projects } = this.deps;
    sequences.refuseFrom(sequences.require(owner.id, public_id), ['draft'], 'activated');
    projects.requireActive(owner.id);
    const mailboxes = await marketing.checkBeforeStart(owner.id);
    const unmade = await sequences.problemsOfMails(owner.id, public_id);
    await this.#run(actor, owner, public_id, ['draft'], () => {
      const problems = [...sequences.problemsOf(owner.id, public_id, mailboxes), ...unmade];
      if (problems.length > 0)
        throw new AppError(
          'invalid',
          `The sequence cannot be activated: ${problems.map(explainProblem).join(' ')}`,
          { code: 'activation_refused', details: { problems } },
        );
    });
  }

  /**
   * Goes on after a pause; what fell due meanwhile is sent now, and bounces and refusals are counted afresh. Throws AppError
   * `conflict` unless it is paused, and `public_url` where its links would lead nowhere.
   */
  resume(actor: Actor, owner: KeyOwner, public_id: string): Promise<void> {
    return this.#run(actor, owner, public_id, ['paused'], () => {
      const problem = this.deps.marketing.problemOfLinks(owner.id);
      if (problem !== null) throw conflict(problem, { code: 'public_url' });
    });
  }

  /**
   * Has those go on that a restore paused, as if they had waited. Where what was due until then counts as done,
   * the steps of so many enrollments are skipped as if they had been sent then.
   */
  async letGoHeld(release: Release): Promise<Released> {
    const { database } = this.deps;
    const released = { went_on: 0, dropped: 0 };
    for (const { id } of store.rows.listHeld(database.read, release.project_id)) {
      if (release.done_until !== null) released.dropped += await skipDue(this.deps, id, release.done_until);
      await database.write((tx) => {
        const row = store.rows.findById(tx, id);
        if (!row || !isHeldByRestore(row)) return;
        const job_id = this.enqueue(tx, row, AT_ONCE);
        store.rows.update(tx, id, { status: 'active', pause_reason: null, job_id });
        this.audit(tx, release.actor, row, 'sequence.resumed');
        released.went_on += 1;
      });
    }
    return released;
  }

  #run(
    actor: Actor,
    owner: KeyOwner,
    public_id: string,
    from: readonly SequenceStatus[],
    check: () => void = () => {},
  ): Promise<void> {
    return this.deps.database.write((tx) => {
      const row = this.campaigns.require(owner.id, public_id, tx);
      this.campaigns.refuseFrom(row, from, from[0] === 'draft' ? 'activated' : 'resumed');
      this.deps.projects.requireActive(owner.id, tx);
      this.deps.lists.requireOpen(tx, { id: row.list_id });
      check();
      const now = this.deps.clock.now();
      const job_id = this.enqueue(tx, row, AT_ONCE);
      const running = { status: 'active', pause_reason: null, bounces_since: now, job_id } as const;
      store.rows.update(tx, row.id, { ...running, updated_at: now });
      this.release(tx, row);
      this.audit(tx, actor, row, from[0] === 'draft' ? 'sequence.activated' : 'sequence.resumed');
    });
  }

  /** Ends a sequence for good: its enrollments exit, in pieces. Throws AppError `conflict` unless it runs or is paused. */
  async finish(actor: Actor, owner: KeyOwner, public_id: string): Promise<void> {
    const { database, clock, sequences } = this.deps;
    const row = await database.write((tx) => {
      const current = sequences.require(owner.id, public_id, tx);
      sequences.refuseFrom(current, ['active', 'paused'], 'finished');
      this.audit(tx, actor, current, 'sequence.finished');
      const finished = store.rows.update(tx, current.id, { status: 'finished', updated_at: clock.now() });
      for (const id of rows.listWaitingMails(tx, current.id)) this.deps.deliveries.withhold(tx, id);
      return finished;
    });
    await exitAll(this.deps, row.id);
  }

  /**
   * Completes a finish that a crash cut off, gives a job to an active sequence whose own ended by a fault of ours, and moves on
   * whoever waits for a mail that is gone.
   */
  async sweep(): Promise<void> {
    const { database } = this.deps;
    const jobless = store.rows.listOpen(database.read).filter((row) => this.#lacksJob(database.read, row));
    for (const { id } of jobless) await database.write((tx) => this.#giveJob(tx, id));
    for (const { id } of store.listFinishedWithActive(database.read)) await exitAll(this.deps, id);
    await this.deps.going_on.sweep();
  }

  #giveJob(tx: Tx, id: number): void {
    const row = store.rows.findById(tx, id);
    if (row && this.#lacksJob(tx, row)) store.rows.update(tx, id, { job_id: this.enqueue(tx, row, AT_ONCE) });
  }

  /** True where nothing moves one that is active. */
  #lacksJob(read: Tx, row: SequenceRow): boolean {
    return row.status === 'active' && this.jobOf(read, row) === null;
  }

  /* --- Enrolling -------------------------------------------------------------------------------------------------- */

  /**
   * Enrolls contacts of the sequence's list, in pieces, each a transaction; after a crash the same
   * call does the rest. For a test key they are tests, apart from all others. Throws AppError `conflict` for a draft or a finished
   * sequence, and `invalid` for ids of no contact of the list, or where more than max_recipients would be enrolled: then
   * nobody is.
   */
  async enroll(
    owner: KeyOwner,
    public_id: string,
    selection: Selection,
    { is_test = false, note }: { is_test?: boolean; note: Note },
  ): Promise<Enrolled> {
    const { sequences, lists, contacts, database } = this.deps;
    const row = sequences.require(owner.id, public_id);
    const list = lists.findById(row.list_id);
    if (!list) throw notFound('Sequence');
    lists.requireOpen(database.read, list);
    sequences.refuseFrom(row, ['active', 'paused'], 'enrolled in');
    if ('filter' in selection) refuseAll(contacts.errorsInFilter(list, selection.filter));
    if (!is_test) await this.#refuseTooMany(owner, row, list, selection);
    const total: Enrolled = { enrolled: 0, already: 0, refused_suppressed: 0, refused_status: 0 };
    const whom = whomOf(selection);
    const entry = {
      event: 'sequence.enrolled',
      target: `sequence:${row.public_id}`,
      metadata: { name: row.name, whom, ...(is_test ? { is_test } : {}) },
    };
    let is_noted = false;
    const pieces = this.#piecesOf(list, selection);
    for (;;) {
      const done = await database.write((tx) => {
        // Within the transaction: whoever left or was deleted since is not enrolled.
        const piece = pieces.next();
        if (piece.done) return null;
        const enrolled = this.#enrollPiece(tx, owner, { sequence_id: row.id, is_test }, piece.value);
        if (enrolled.enrolled > 0 && !is_noted) note(tx, entry);
        return enrolled;
      });
      if (!done) return total;
      is_noted ||= done.enrolled > 0;
      for (const what of ['enrolled', 'already', 'refused_suppressed', 'refused_status'] as const)
        total[what] += done[what];
    }
  }

  /** Checked before anybody is enrolled. Everybody who ever was enrolled counts, whatever became of it. */
  async #refuseTooMany(
    owner: KeyOwner,
    row: SequenceRow,
    list: ListRow,
    selection: Selection,
  ): Promise<void> {
    const { contacts, lists, database, suppressions } = this.deps;
    const asked =
      'contact_ids' in selection
        ? selection.contact_ids.length
        : 'tags' in selection
          ? contacts.countWithAnyTag(list.id, selection.tags)
          : lists.countContacts(list.id, { status: 'active' });
    const of = { sequence_id: row.id, is_test: false };
    const enrolled = rows.countEnrolled(database.read, of);
    // Some may be enrolled already and don't count twice, so where it might be too many they are looked at one by one.
    if (enrolled + asked <= row.max_recipients) return;
    let fresh = 0;
    for (const piece of this.#piecesOf(list, selection)) {
      const suppressed = suppressions.checker(database.read, owner);
      for (const contact of piece)
        if (barOf(contact, suppressed) === null && !rows.isEnrolled(database.read, of, contact.id))
          fresh += 1;
      await letOthers();
    }
    if (enrolled + fresh > row.max_recipients) throw tooMany(row, { enrolled, fresh });
  }

  *#piecesOf(list: ListRow, selection: Selection): Generator<ContactStanding[]> {
    const { contacts } = this.deps;
    if ('contact_ids' in selection) {
      yield contacts.requireOfList(list, selection.contact_ids);
      return;
    }
    if ('filter' in selection) {
      yield* contacts.pieces(list.id, selection.filter, ENROLL_PIECE);
      return;
    }
    const tags = 'tags' in selection ? selection.tags : null;
    for (let after_id = 0; ; ) {
      const piece = contacts.listAfter(list.id, { after_id, limit: ENROLL_PIECE });
      const last = piece.at(-1);
      if (!last) return;
      yield tags === null ? piece : contacts.withAnyTag(piece, tags);
      after_id = last.id;
    }
  }

  #enrollPiece(
    tx: Tx,
    owner: KeyOwner,
    of: { sequence_id: number; is_test: boolean },
    piece: readonly ContactStanding[],
  ): Enrolled {
    const { suppressions, clock } = this.deps;
    const row = store.rows.findById(tx, of.sequence_id);
    const first = row ? firstStep(tracksOf(stepsOf(row))) : null;
    if (!row || !first) throw conflict('The sequence was changed meanwhile. Look at it and try again.');
    this.campaigns.refuseFrom(row, ['active', 'paused'], 'enrolled in');
    const suppressed = suppressions.checker(tx, owner);
    const done: Enrolled = { enrolled: 0, already: 0, refused_suppressed: 0, refused_status: 0 };
    const before = rows.countEnrolled(tx, of);
    const asked: ContactStanding[] = [];
    for (const contact of piece) {
      const bar = barOf(contact, suppressed);
      if (bar === null) asked.push(contact);
      else if (rows.isEnrolled(tx, of, contact.id)) done.already += 1;
      else if (bar.is_suppressed) done.refused_suppressed += 1;
      else done.refused_status += 1;
    }
    this.#insert(tx, row, { ...of, first }, asked);
    done.enrolled = rows.countEnrolled(tx, of) - before;
    done.already += asked.length - done.enrolled;
    // Other requests may have enrolled people since they were counted.
    if (!of.is_test && before + done.enrolled > row.max_recipients)
      throw tooMany(row, { enrolled: before, fresh: done.enrolled });
    if (done.enrolled > 0) this.deps.going_on.hasten(tx, row, dueAt(first, clock.now()));
    return done;
  }

  #insert(
    tx: Tx,
    row: SequenceRow,
    { first, is_test }: { first: Step; is_test: boolean },
    contacts: readonly Pick<ContactRow, 'id'>[],
  ): void {
    const enrolled_at = this.deps.clock.now();
    const next_at = dueAt(first, enrolled_at);
    const at = { sequence_id: row.id, is_test, track: first.track, step: first.key, enrolled_at, next_at };
    rows.insertEnrollments(
      tx,
      at,
      contacts.map(({ id }) => [newId(enrolled_at), id]),
    );
  }

  /* --- What comes from outside ------------------------------------------------------------------------------------ */

  /** Told of what happens to contacts, in the transaction that records it. */
  onContact(tx: Tx, { kind, contact, at, is_test = false }: ContactEvent): void {
    const { contact_events, deliveries } = this.deps;
    if (kind === 'deleted' || kind === 'signed_up') return; // Enrollments go with their contact.
    if (kind === 'activated') {
      // Recorded before anybody is enrolled by it, so that it can't end that very enrollment.
      if (contact.confirmed_at === at)
        contact_events.note(tx, { contact_id: contact.id, event: 'confirmed', at });
      this.#autoEnroll(tx, contact, is_test);
      return;
    }
    if (kind === 'resubscribed') this.markLeft(tx, contact, null);
    else exitOf(tx, deliveries, { kind, contact, at });
    // Also after the last step, which is when most people leave.
    if (kind === 'unsubscribed') this.markLeft(tx, contact, at);
    if (kind !== 'suppressed') contact_events.note(tx, { contact_id: contact.id, event: kind, at });
  }

  #autoEnroll(tx: Tx, contact: ContactRow, is_test: boolean): void {
    for (const row of store.listEnrollingSequences(tx, contact.list_id)) {
      if (
        row.enroll_tags.length > 0 &&
        this.deps.contacts.withAnyTag([contact], row.enroll_tags, tx).length === 0
      )
        continue;
      const of = { sequence_id: row.id, is_test };
      if (!is_test && rows.countEnrolled(tx, of) >= row.max_recipients) continue;
      const first = firstStep(tracksOf(stepsOf(row)));
      if (!first || rows.isEnrolled(tx, of, contact.id)) continue;
      this.#insert(tx, row, { ...of, first }, [contact]);
      this.deps.going_on.hasten(tx, row, dueAt(first, this.deps.clock.now()));
    }
  }

  /**
   * Told of what became of a mail, in the transaction that records it: its enrollment goes on. Pauses a sequence with too many
   * bounces, or with too much mail refused because of us.
   */
  onMail(tx: Tx, event: Pick<EmailEvent, 'email_id' | 'kind' | 'at' | 'is_refused'>): void {
    const mail = rows.findMail(tx, event.email_id);
    if (!mail) return;
    const enrollment = mail.is_waiting ? null : rows.findWaitingFor(tx, mail);
    const is_dropped = event.kind === 'dropped';
    if (enrollment) this.deps.going_on.goOn(tx, enrollment, { step: mail.step, at: event.at, is_dropped });
    this.markEvent(tx, mail, event);
  }

  /** What becomes of a mail that the relay did not take, also where an event that it made needless happened meanwhile. */
  decideSend(tx: Tx, { email_id, project_id }: { email_id: string; project_id: number }): SendDecision {
    const mail = rows.findMail(tx, email_id);
    if (!mail) return 'send';
    const enrollment = rows.findEnrollment(tx, mail.enrollment_id);
    if (enrollment?.exit_reason === 'event') return 'cancel';
    const contact = enrollment && this.deps.contacts.findById(enrollment.contact_id, tx);
    return this.decideSendOf(tx, project_id, { row: this.rowOf(tx, mail), contact });
  }

  /**
   * Told that somebody pauses, or no longer does: mail that waits for its relay waits on, and what has waited for the end of a
   * pause is due.
   */
  onPause(tx: Tx, { contact, was_until }: ContactPause): void {
    const { emails, clock, going_on } = this.deps;
    const { id, paused_until } = contact;
    for (const email_id of rows.listWaitingOf(tx, id)) {
      const due_at = emailLife.find(tx, email_id)?.due_at ?? AT_ONCE;
      if (paused_until !== null && !isHeld(due_at)) emails.release(tx, email_id, paused_until);
      else if (due_at === was_until) emails.release(tx, email_id, AT_ONCE);
    }
    if (paused_until !== null) return;
    const now = clock.now();
    for (const { enrollment, sequence } of rows.listActiveOf(tx, id)) {
      if (enrollment.next_at !== was_until) continue;
      rows.updateEnrollment(tx, enrollment.id, { next_at: now });
      going_on.hasten(tx, sequence, now);
    }
  }

  /** Told that an address is no longer tracked: what waits for it goes out without what tells that it is read. */
  onUntracked(tx: Tx, contact: Pick<ContactRow, 'id' | 'project_id'>): void {
    for (const email_id of rows.listWaitingOf(tx, contact.id)) {
      this.deps.marketing_mail.untrack(tx, contact.project_id, email_id);
      rows.updateMail(tx, email_id, { is_untracked: true });
    }
  }

  onReading(tx: Tx, reading: Reading): void {
    const mail = this.markReading(tx, reading);
    const enrollment = mail && reading.kind === 'clicked' && rows.findEnrollment(tx, mail.enrollment_id);
    if (enrollment)
      this.deps.contact_events.note(tx, {
        contact_id: enrollment.contact_id,
        event: 'clicked',
        at: reading.at,
      });
  }
}

/** As the audit trail tells it: of a filter its members alone, as their values may be somebody's address. */
function whomOf(selection: Selection): unknown {
  if ('filter' in selection) return { filter: Object.keys(selection.filter) };
  return 'contact_ids' in selection ? 'contacts' : 'all' in selection ? 'all' : selection;
}

function tooMany(row: SequenceRow, of: { enrolled: number; fresh: number }): AppError {
  return invalid({
    _: [
      `at most ${row.max_recipients} contacts (max_recipients): ${of.enrolled} are enrolled, and ${of.fresh} would come`,
    ],
  });
}

/** Only one of the address that the mail went to: anybody else may write too. */
export function noteReplyToSequence(
  tx: Tx,
  { answered, contact_events }: { answered: Answered; contact_events: ContactEvents },
): void {
  const { email, is_recipient, received_at: at } = answered;
  const mail = is_recipient && email.source === 'sequence' && findMail(tx, email.id);
  if (!mail) return;
  if (mail.replied_at === null) updateMail(tx, email.id, { replied_at: at });
  const contact_id = findEnrollment(tx, mail.enrollment_id)?.contact_id;
  if (contact_id !== undefined) contact_events.note(tx, { contact_id, event: 'replied', at });
}
