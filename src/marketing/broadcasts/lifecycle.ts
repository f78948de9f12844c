/** A broadcast's life: changing its plan, sending, pausing, resuming, cancelling, ending; and what it is told from outside. */
import { isDeepStrictEqual } from 'node:util';
import { conflict, type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import type { EmailEvent, SendDecision } from '../../mail/deliveries/service.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { HOUR_MS } from '../../platform/host/clock.ts';
import { type Actor, SYSTEM } from '../../platform/http/callers.ts';
import type { Release, Released } from '../../platform/jobs/restore-hold.ts';
import { AT_ONCE } from '../../platform/jobs/store.ts';
import { CampaignLife, isHeldByRestore } from '../campaign-life.ts';
import type { Problem } from '../campaign-readiness.ts';
import type { CampaignDeps } from '../campaigns.ts';
import { type ContactEvent, type ContactPause, type ContactRow, isPaused } from '../contacts/service.ts';
import type { FollowedLink, Reading } from '../mails/service.ts';
import type { KeyOwner } from '../settings/service.ts';
import { bestOf, isTested, isWalked, phaseOf, variantCalled } from './ab.ts';
import { errorsInArchive, isForArchive, isOfArchiveAlone, outlineOf } from './archive.ts';
import * as recipients from './recipient-store.ts';
import type { BroadcastChanges } from './schemas.ts';
import { type Broadcasts, mailingOf } from './service.ts';
import { dueAt, isSameMail, isToCome, refusal, statusBefore } from './standing.ts';
import * as store from './store.ts';
import type { BroadcastRow, RecipientRow } from './tables.ts';

/** Decision: a broadcast that is later, as the server did not run, waits until somebody says that it is still wanted. */
const BROADCAST_LATE_MS = 24 * 3_600_000;

/** The type of the jobs that send a broadcast, once its time has come. */
export const BROADCAST_SEND = 'broadcast.send';

/** Mails that one transaction takes back, of which each takes a fifth of a millisecond. */
const TAKE_BACK_PIECE = 10;

/** Told within the transaction in which a broadcast becomes `sent`. */
type SentListener = (tx: Tx, broadcast: BroadcastRow) => void;

interface LifeDeps extends CampaignDeps {
  broadcasts: Broadcasts;
}

export class BroadcastLife extends CampaignLife<RecipientRow, LifeDeps> {
  protected readonly campaigns = this.deps.broadcasts;
  protected readonly running = ['sending', 'testing'] as const;
  protected readonly paused_by_move = ['scheduled', 'sending', 'testing'] as const;
  protected readonly stopped = 'cancelled';
  protected readonly job_type = BROADCAST_SEND;
  protected readonly listWaiting = recipients.listWaiting;
  protected readonly findMail = recipients.findByEmail;
  protected readonly mark = recipients.updateRecipient;
  protected readonly ended = recipients.ended;
  readonly #sent_listeners: SentListener[] = [];

  protected rowOf(read: Tx, { broadcast_id }: RecipientRow): BroadcastRow | null {
    return store.rows.findById(read, broadcast_id);
  }

  /** Has something told of each broadcast whose mails have all ended. */
  listenToSent(listener: SentListener): void {
    this.#sent_listeners.push(listener);
  }

  /* --- Changing its plan ------------------------------------------------------------------------------------------ */

  /**
   * Changes what is given of a draft, or of one that is scheduled: its time too, and without one it is a draft again. Throws
   * AppError `not_found`, `conflict` for any other, and `invalid` by field.
   */
  async change(project_id: number, public_id: string, changes: BroadcastChanges, note: Note): Promise<void> {
    const { broadcasts, database, clock } = this.deps;
    await database.write((tx) => {
      const row = broadcasts.require(project_id, public_id, tx);
      if (!isOfArchiveAlone(changes)) this.campaigns.refuseFrom(row, ['draft', 'scheduled'], 'changed');
      const errors = errorsInArchive(row, changes);
      const send_at = this.#readTime(changes.send_at, errors);
      if (row.status === 'draft' && send_at !== null)
        errors.send_at = ['may be changed once it is scheduled: POST .../send schedules a draft'];
      const values = broadcasts.merge(tx, { project_id, current: row }, changes, errors);
      const plan = this.#replan(tx, row, changes.send_at, send_at);
      const after = store.rows.update(tx, row.id, { ...values, ...plan, updated_at: clock.now() });
      note(tx, {
        event: 'broadcast.changed',
        target: `broadcast:${row.public_id}`,
        metadata: { name: row.name },
        changes: this.deps.lists.changesOf(tx, row, after),
      });
    });
  }

  #replan(
    tx: Tx,
    row: BroadcastRow,
    asked: string | null | undefined,
    send_at: number | null,
  ): Partial<BroadcastRow> {
    if (row.status === 'draft' || asked === undefined) return {};
    this.#dismiss(tx, row);
    if (send_at === null) return { status: 'draft', send_at: null, job_id: null };
    return { send_at, job_id: this.enqueue(tx, row, send_at) };
  }

  /** Null for none; in the past is an error. */
  #readTime(send_at: string | null | undefined, errors: FieldErrors): number | null {
    if (send_at === undefined || send_at === null) return null;
    const at = Date.parse(send_at);
    if (at <= this.deps.clock.now()) errors.send_at = ['must be in the future; without a zone it is UTC'];
    return at;
  }

  /** Has the job of a broadcast find that it is no longer wanted. */
  #dismiss(tx: Tx, { job_id }: BroadcastRow): void {
    if (job_id !== null) this.deps.hasten(tx, job_id, AT_ONCE);
  }

  /* --- Sending ---------------------------------------------------------------------------------------------------- */

  /**
   * Sends a draft, or one that is scheduled, at once or at a time. `is_test`: for a test key, captured. Throws AppError
   * `not_found`, `conflict` for any other and project_inactive, and `invalid`: by field for a time in the past, send_refused with every problem.
   */
  async send(
    actor: Actor,
    owner: KeyOwner,
    public_id: string,
    how: { send_at?: string | null | undefined; is_test: boolean },
  ): Promise<void> {
    const { broadcasts, database, clock, projects } = this.deps;
    const errors: FieldErrors = {};
    const send_at = this.#readTime(how.send_at, errors);
    refuseAll(errors);
    const asked = broadcasts.require(owner.id, public_id);
    this.campaigns.refuseFrom(asked, ['draft', 'scheduled'], 'sent');
    projects.requireActive(owner.id);
    const filter = broadcasts.filterOf(asked);
    const readiness = await broadcasts.check(owner.id, public_id);
    if (!readiness.ready) throw refusal(readiness.problems);
    await database.write((tx) => {
      const found = broadcasts.require(owner.id, public_id, tx);
      this.campaigns.refuseFrom(found, ['draft', 'scheduled'], 'sent');
      if (!isSameMail(asked, found) || !isDeepStrictEqual(broadcasts.filterOf(found, tx), filter))
        throw conflict('The broadcast was changed meanwhile. Look at it and send it again.');
      this.#dismiss(tx, found);
      const { recipients: number } = readiness;
      const row = store.rows.update(tx, found.id, {
        is_test: how.is_test,
        send_at,
        updated_at: clock.now(),
      });
      if (send_at === null) {
        const problems = this.#begin(tx, actor, row, number);
        if (problems.length > 0) throw refusal(problems);
        return;
      }
      this.#schedule(tx, row, send_at);
      this.audit(tx, actor, row, 'broadcast.scheduled', { recipients: number, send_at: how.send_at });
    });
  }

  #schedule(tx: Tx, row: BroadcastRow, send_at: number): void {
    const job_id = this.enqueue(tx, row, send_at);
    store.rows.update(tx, row.id, { status: 'scheduled', pause_reason: null, job_id });
  }

  /**
   * Begins what was scheduled, at its time, unless it is not ready or more than a day late: then it pauses. Returns when to look
   * again, null where nothing is left to begin.
   */
  async beginScheduled(of: { broadcast_id: number; job_id: string }): Promise<number | null> {
    const { broadcasts, database, clock } = this.deps;
    const asked = store.rows.findById(database.read, of.broadcast_id);
    if (asked?.status !== 'scheduled' || asked.job_id !== of.job_id) return null;
    const late_ms = clock.now() - (asked.send_at ?? 0);
    if (late_ms < 0) return asked.send_at;
    const is_late = late_ms > BROADCAST_LATE_MS;
    const readiness = is_late ? null : await broadcasts.check(asked.project_id, asked.public_id);
    return database.write((tx) => {
      const row = store.rows.findById(tx, asked.id);
      if (row?.status !== 'scheduled' || row.job_id !== of.job_id) return null;
      if (!isSameMail(asked, row)) return AT_ONCE;
      if (readiness === null) this.stop(tx, row, 'late');
      else if (!readiness.ready || this.#begin(tx, SYSTEM, row, readiness.recipients).length > 0)
        this.stop(tx, row, 'not_ready');
      return null;
    });
  }

  /**
   * Sends from now on, to whoever is on the list at this moment, what template, layout and settings make of it at this moment.
   * Returns what keeps it from that; then nothing has changed.
   */
  #begin(tx: Tx, actor: Actor, row: BroadcastRow, number: number): Problem[] {
    const { broadcasts, lists, contacts, marketing, marketing_mail, clock } = this.deps;
    const owner = broadcasts.ownerOf(row.project_id);
    const settings = marketing.settings(owner.id, tx);
    const list = lists.findById(row.list_id, tx);
    if (!list) throw notFound('List');
    const of = { owner, broadcast: row, list, settings };
    const variants = row.ab?.variants ?? [undefined];
    const sources = variants.map((variant) => marketing_mail.fix(tx, mailingOf({ ...of, variant })));
    // It was changed while the DNS was asked.
    const [source] = sources;
    if (!source?.ok) return [{ code: 'template_changed', message: source?.reason ?? '' }];
    for (const [variant, fixed] of sources.entries())
      if (row.ab !== null && fixed.ok)
        store.insertVariant(tx, { broadcast_id: row.id, variant, source_id: fixed.id });
    const now = clock.now();
    store.rows.update(tx, row.id, {
      status: 'sending',
      pause_reason: null,
      started_at: now,
      bounces_since: now,
      recipients: number,
      filter: broadcasts.filterOf(row, tx),
      last_contact_id: contacts.lastIdOf(list.id, tx),
      source_id: source.id,
      in_archive: isForArchive(row, list),
      from_name: settings.from_name,
      reply_to: settings.reply_to,
      job_id: this.enqueue(tx, row, AT_ONCE),
    });
    store.addCounts(tx, row.id, new Map([['to_come', lists.countContacts(list.id, {}, tx)]]));
    this.audit(tx, actor, row, 'broadcast.sent', { recipients: number });
    return [];
  }

  /* --- Its A/B ---------------------------------------------------------------------------------------------------- */

  /** The share had its turn: from now on it waits for the decision. Returns when to look again, null where somebody decides. */
  beginTesting(tx: Tx, row: BroadcastRow): number | null {
    const now = this.deps.clock.now();
    const hours = row.ab?.decide_by === 'clicks' ? row.ab.decide_after_hours : null;
    const decides_at = typeof hours === 'number' ? now + hours * HOUR_MS : null;
    store.rows.update(tx, row.id, { status: 'testing', tested_at: now, decides_at });
    return decides_at;
  }

  /**
   * Lets the clicks decide once their time has come; more than a day late it pauses, and is decided when somebody resumes it.
   * Returns when to look again, null where there is nothing to do by itself.
   */
  decideInTime(tx: Tx, row: BroadcastRow): number | null {
    if (row.decides_at === null) return null;
    const late_ms = this.deps.clock.now() - row.decides_at;
    if (late_ms < 0) return row.decides_at;
    if (late_ms > BROADCAST_LATE_MS) {
      this.stop(tx, row, 'late');
      return null;
    }
    this.#sendRest(tx, SYSTEM, row, bestOf(store.listVariants(tx, [row.id])));
    return AT_ONCE;
  }

  /** Decides what the rest gets. Throws AppError `not_found`, `conflict` unless it is testing, and project_inactive, and `invalid` for no variant of it. */
  async decide(actor: Actor, owner: KeyOwner, public_id: string, name: string): Promise<void> {
    const { broadcasts, database, clock, projects } = this.deps;
    await database.write((tx) => {
      const row = broadcasts.require(owner.id, public_id, tx);
      this.campaigns.refuseFrom(row, ['testing'], 'decided');
      projects.requireActive(owner.id, tx);
      const winner = row.ab?.variants.indexOf(variantCalled(row, name)) ?? 0;
      this.#dismiss(tx, row);
      const job_id = this.enqueue(tx, row, AT_ONCE);
      store.rows.update(tx, row.id, { job_id, updated_at: clock.now() });
      this.#sendRest(tx, actor, row, winner);
    });
  }

  #sendRest(tx: Tx, actor: Actor, row: BroadcastRow, winner: number): void {
    // From the first contact on: whoever had their turn is passed over.
    const rest = { status: 'sending', pause_reason: null, decided_to: 0 } as const;
    store.rows.update(tx, row.id, { ...rest, winner, decided_at: this.deps.clock.now() });
    this.audit(tx, actor, row, 'broadcast.decided', { variant: row.ab?.variants[winner]?.name });
  }

  /* --- Pausing, resuming, cancelling ------------------------------------------------------------------------------ */

  /**
   * Goes on after a pause, or begins what could not begin at its time, if it is ready: else it stays paused as `not_ready`. What
   * its project's move kept from a time that is yet to come is scheduled again. Bounces and refusals are counted afresh. Throws
   * AppError `not_found`, and `conflict` unless it is paused, and project_inactive.
   */
  async resume(actor: Actor, owner: KeyOwner, public_id: string): Promise<void> {
    const { broadcasts, database, marketing, clock, projects } = this.deps;
    const asked = broadcasts.require(owner.id, public_id);
    this.campaigns.refuseFrom(asked, ['paused'], 'resumed');
    projects.requireActive(owner.id);
    const waits = isToCome(asked, clock.now());
    const readiness = waits || asked.started_at !== null ? null : await broadcasts.check(owner.id, public_id);
    const mailboxes = waits || readiness ? null : await marketing.checkBeforeStart(owner.id);
    await database.write((tx) => {
      const row = broadcasts.require(owner.id, public_id, tx);
      this.campaigns.refuseFrom(row, ['paused'], 'resumed');
      store.rows.update(tx, row.id, { updated_at: clock.now() });
      if (waits) {
        this.#schedule(tx, row, asked.send_at ?? 0);
        this.audit(tx, actor, row, 'broadcast.resumed');
        return;
      }
      const problems = readiness?.problems ?? broadcasts.problemsOf(row, mailboxes, tx);
      if (readiness?.ready) problems.push(...this.#begin(tx, actor, row, readiness.recipients));
      if (problems.length > 0) {
        store.rows.update(tx, row.id, { pause_reason: 'not_ready' });
        return;
      }
      this.audit(tx, actor, row, 'broadcast.resumed');
      if (!readiness) this.#goOn(tx, actor, row);
    });
  }

  /**
   * As `resume`, of one that stopped as its project moved, and for nobody who looks at each. Throws AppError `conflict` also where
   * its time is long past: then it waits for somebody to resume it.
   */
  async letGo(actor: Actor, owner: KeyOwner, public_id: string): Promise<void> {
    const { broadcasts, database, clock, projects } = this.deps;
    const { id, started_at, send_at } = broadcasts.require(owner.id, public_id);
    projects.requireActive(owner.id);
    const is_late = started_at === null && send_at !== null && clock.now() - send_at > BROADCAST_LATE_MS;
    if (!is_late) return this.resume(actor, owner, public_id);
    await database.write((tx) => store.rows.update(tx, id, { pause_reason: 'late' }));
    throw conflict('Its time is more than a day past: resume it, to have it sent now, or cancel it.');
  }

  /** An A/B whose time came meanwhile is decided now. */
  #goOn(tx: Tx, actor: Actor, row: BroadcastRow): void {
    const now = this.deps.clock.now();
    const going = { status: statusBefore(row), pause_reason: null, bounces_since: now } as const;
    store.rows.update(tx, row.id, { ...going, job_id: this.enqueue(tx, row, AT_ONCE) });
    if (isTested(row) && row.decides_at !== null && row.decides_at <= now)
      this.#sendRest(tx, actor, row, bestOf(store.listVariants(tx, [row.id])));
    this.release(tx, row);
  }

  /**
   * Ends it for good: what no relay took is taken back, in pieces, and held until then. Throws AppError `not_found`, and
   * `conflict` for a draft or one that is over.
   */
  async cancel(actor: Actor, owner: KeyOwner, public_id: string): Promise<void> {
    const { broadcasts, database } = this.deps;
    const cancelled = await database.write((tx) => {
      const row = broadcasts.require(owner.id, public_id, tx);
      this.campaigns.refuseFrom(row, ['scheduled', 'sending', 'testing', 'paused'], 'cancelled');
      this.#cancel(tx, actor, row);
      return row;
    });
    await this.#takeBack(cancelled);
  }

  #cancel(tx: Tx, actor: Actor, row: BroadcastRow): void {
    const now = this.deps.clock.now();
    const over = { status: 'cancelled', pause_reason: null, finished_at: now, updated_at: now } as const;
    store.rows.update(tx, row.id, over);
    this.#dismiss(tx, row);
    for (const id of recipients.listWaiting(tx, row.id)) this.deps.emails.hold(tx, id);
    this.audit(tx, actor, row, 'broadcast.cancelled');
  }

  /**
   * Has those go on that a restore paused, as if they had waited; what began before it, or was due, is
   * cancelled where that counts as done.
   */
  async letGoHeld(release: Release): Promise<Released> {
    const { actor, done_until, project_id } = release;
    const { database } = this.deps;
    const released = { went_on: 0, dropped: 0 };
    for (const { id } of store.rows.listHeld(database.read, project_id)) {
      const row = await database.write((tx) => {
        const held = store.rows.findById(tx, id);
        if (!held || !isHeldByRestore(held)) return null;
        const is_done =
          done_until !== null && (held.started_at !== null || (held.send_at ?? 0) <= done_until);
        if (is_done) this.#cancel(tx, actor, held);
        else this.#letGoOn(tx, actor, held);
        released[is_done ? 'dropped' : 'went_on'] += 1;
        return is_done ? held : null;
      });
      if (row) await this.#takeBack(row);
    }
    return released;
  }

  #letGoOn(tx: Tx, actor: Actor, row: BroadcastRow): void {
    const status = statusBefore(row);
    const run_at = status === 'sending' ? AT_ONCE : dueAt({ ...row, status }, this.deps.clock.now());
    const job_id = run_at === null ? null : this.enqueue(tx, row, run_at);
    store.rows.update(tx, row.id, { status, pause_reason: null, job_id });
    this.audit(tx, actor, row, 'broadcast.resumed');
  }

  async #takeBack({ id }: Pick<BroadcastRow, 'id'>): Promise<void> {
    const { database, deliveries } = this.deps;
    const waiting = recipients.listWaiting(database.read, id);
    for (let from = 0; from < waiting.length; from += TAKE_BACK_PIECE)
      await database.writePiece((tx) => {
        for (const one of waiting.slice(from, from + TAKE_BACK_PIECE)) deliveries.withhold(tx, one);
      });
  }

  /** Pauses one whose filter names what was deleted while it was sent: who was meant can't be told any more. Returns whether it did. */
  stopWithoutFilter(tx: Tx, row: BroadcastRow): boolean {
    if (this.campaigns.filterProblems(row, tx).length === 0) return false;
    this.stop(tx, row, 'not_ready');
    return true;
  }

  /** Makes a broadcast `sent` whose turns are over and whose mails have all ended; returns whether it did. */
  finish(tx: Tx, row: BroadcastRow): boolean {
    if (row.status !== 'sending' && row.status !== 'paused') return false;
    if (phaseOf(row) === 'share' || !isWalked(row) || store.countWaiting(tx, row.id) > 0) return false;
    const over = { status: 'sent', pause_reason: null, finished_at: this.deps.clock.now() } as const;
    store.rows.update(tx, row.id, { ...over, ...outlineOf(tx, this.deps.marketing_mail.pages, row) });
    this.#dismiss(tx, row);
    for (const listener of this.#sent_listeners) listener(tx, row);
    return true;
  }

  /**
   * Completes a cancel that a crash cut off, ends those whose last mail ended unseen, as that of somebody who was forgotten, and
   * gives a job to those that have none. Where a clock that ran ahead has a job wait for long, it comes sooner.
   */
  async mend(): Promise<void> {
    const { database, clock, hasten } = this.deps;
    for (const id of recipients.listBroadcastsWaiting(database.read))
      if (store.rows.findById(database.read, id)?.status === 'cancelled') await this.#takeBack({ id });
    for (const { id } of store.rows.listOpen(database.read))
      await database.write((tx) => {
        const row = store.rows.findById(tx, id);
        if (!row || this.finish(tx, row)) return;
        const run_at = dueAt(row, clock.now());
        if (run_at === null) return;
        const job = this.jobOf(tx, row);
        if (job) hasten(tx, job.id, run_at);
        else store.rows.update(tx, row.id, { job_id: this.enqueue(tx, row, run_at) });
      });
  }

  /* --- What comes from outside ------------------------------------------------------------------------------------ */

  /** Told of what became of a mail, in the transaction that records it. Pauses a broadcast as sequences pause. */
  onMail(tx: Tx, event: Pick<EmailEvent, 'email_id' | 'kind' | 'at' | 'is_refused'>): void {
    const recipient = recipients.findByEmail(tx, event.email_id);
    // One that counts as done ends with all of its broadcast.
    if (!recipient || event.kind === 'dropped') return;
    this.markEvent(tx, recipient, event);
    const row = this.rowOf(tx, recipient);
    if (row) this.finish(tx, row);
  }

  /** Told of what happens to contacts, in the transaction that records it: whoever left gets nothing that still waits. */
  onContact(tx: Tx, { kind, contact, at }: Pick<ContactEvent, 'kind' | 'contact' | 'at'>): void {
    if (kind === 'activated' || kind === 'signed_up') return;
    if (kind === 'resubscribed') {
      this.markLeft(tx, contact, null);
      return;
    }
    for (const id of recipients.listWaitingTo(tx, contact.id)) this.deps.deliveries.withhold(tx, id);
    if (kind === 'deleted')
      for (const { id, last_contact_id } of store.rows.listOpenOfList(tx, contact.list_id))
        if (
          contact.id <= (last_contact_id ?? 0) &&
          !recipients.turnsAmong(tx, id, [contact.id]).has(contact.id)
        )
          store.addCounts(tx, id, new Map([['to_come', -1]]));
    if (kind === 'unsubscribed') this.markLeft(tx, contact, at);
  }

  /** What becomes of a mail that was being tried when its broadcast paused or was cancelled, or its recipient left. */
  decideSend(tx: Tx, { email_id, project_id }: Pick<EmailEvent, 'email_id' | 'project_id'>): SendDecision {
    const recipient = recipients.findByEmail(tx, email_id);
    const contact = recipient && this.deps.contacts.findById(recipient.contact_id, tx);
    if (contact && isPaused(contact, this.deps.clock.now())) return 'cancel';
    return this.decideSendOf(tx, project_id, { row: recipient && this.rowOf(tx, recipient), contact });
  }

  /** Told that somebody pauses: what waits for its relay is taken back. */
  onPause(tx: Tx, { contact }: ContactPause): void {
    if (contact.paused_until === null) return;
    for (const email_id of recipients.listWaitingTo(tx, contact.id))
      this.deps.deliveries.withhold(tx, email_id);
  }

  /** Told that an address is no longer tracked: what waits for it goes out without what tells that it is read. */
  onUntracked(tx: Tx, contact: Pick<ContactRow, 'id' | 'project_id'>): void {
    for (const email_id of recipients.listWaitingTo(tx, contact.id)) {
      const recipient = recipients.findByEmail(tx, email_id);
      this.deps.marketing_mail.untrack(tx, contact.project_id, email_id);
      if (recipient) recipients.updateRecipient(tx, recipient, { is_untracked: true });
    }
  }

  onReading(tx: Tx, reading: Reading): void {
    this.markReading(tx, reading);
  }

  /** Told of each link that a person followed. */
  onLink(tx: Tx, { email_id, ...click }: FollowedLink): void {
    const recipient = recipients.findByEmail(tx, email_id);
    if (recipient) store.addClick(tx, recipient.broadcast_id, click);
  }
}
