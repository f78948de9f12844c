/** Sequences: writing drafts, what may change while one runs, its checks, and looking ahead. */
import { conflict, type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import type { MailboxDnsCheck } from '../../mail/sending-domains/service.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { DAY_MS, toIso } from '../../platform/host/clock.ts';
import { merge } from '../../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { explainHold } from '../../platform/jobs/restore-hold.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import { explainBrake } from '../campaign-life.ts';
import { explainProblem, type Problem, templateProblems } from '../campaign-readiness.ts';
import { type CampaignDeps, Campaigns } from '../campaigns.ts';
import { barOf, type ContactRow } from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import { type MailOutlook, UNSEEN } from '../mails/service.ts';
import type { Settings } from '../settings/service.ts';
import { findProblems } from './activation.ts';
import { explainNoMail, mailOfStep } from './engine.ts';
import * as rows from './enrollment-store.ts';
import { endedOf, explainContact, explainSequence, waitsOf } from './explain.ts';
import { exitReasonOf, type GoingOn } from './going-on.ts';
import { type Step, stepsOf, tracksOf } from './model.ts';
import { type Answers, type TimelineEntry, walk } from './preview.ts';
import { presentEnrollment, presentSequence } from './records.ts';
import {
  type EnrollmentRecord,
  FIELDS,
  type NewSequence,
  type PreviewInput,
  type SequenceChanges,
  type SequenceRecord,
} from './schemas.ts';
import { readSteps, refuseBadEvents, refuseOtherSteps, refuseOthersMail } from './steps.ts';
import * as store from './store.ts';
import type { EnrollmentState, SequenceRow } from './tables.ts';

/** A preview ends here: tracks may route in a circle. */
const MAX_PREVIEW_ENTRIES = 200;

export type { SequenceRecord } from './schemas.ts';

/** What becomes of one once it runs. */
const NOT_STARTED = { status: 'draft', pause_reason: null, job_id: null, bounces_since: null } as const;

type SequenceDeps = CampaignDeps & { going_on: Pick<GoingOn, 'retime'> };

export class Sequences extends Campaigns<
  SequenceRow,
  SequenceRecord,
  keyof typeof NOT_STARTED,
  SequenceDeps
> {
  readonly what = 'sequence';
  protected readonly ended = rows.ended;
  protected readonly over = ['finished'] as const;
  protected readonly unstarted = NOT_STARTED;

  constructor(deps: SequenceDeps) {
    super(deps, store.rows, 'Sequence');
  }

  /**
   * Makes a draft, which may be incomplete. Throws AppError `invalid` by field, and `conflict`
   * (list_archived).
   */
  async create(project_id: number, input: NewSequence, note: Note): Promise<SequenceRecord> {
    const row = await this.deps.database.write((tx) =>
      this.insert(tx, { project_id, ...this.#merge(tx, { project_id, current: null }, input) }, note),
    );
    return this.present(row);
  }

  /**
   * Changes what is given; steps are replaced whole. Once a sequence runs, of a step only template,
   * preheader, delay_hours and variables may differ. Throws AppError `not_found`, `invalid` by field, and
   * `conflict` for one that is finished, and for another list, exit events or rule of whom it enrolls once it
   * runs.
   */
  async update(
    project_id: number,
    public_id: string,
    changes: SequenceChanges,
    note: Note,
  ): Promise<SequenceRecord> {
    const row = await this.deps.database.write((tx) => {
      const current = this.require(project_id, public_id, tx);
      if (current.status === 'finished') throw conflict('A finished sequence does not change any more.');
      const values = this.#merge(tx, { project_id, current }, changes);
      const updated_at = this.deps.clock.now();
      const changed = store.rows.update(tx, current.id, { ...values, updated_at });
      note(tx, {
        event: 'sequence.changed',
        target: `sequence:${current.public_id}`,
        metadata: { name: current.name },
        changes: this.deps.lists.changesOf(tx, current, changed),
      });
      return changed;
    });
    // Also when no delay differs: an earlier request may have been cut off before everybody had a new time.
    if (row.status !== 'draft' && changes.steps) await this.deps.going_on.retime(row.id);
    return this.present(row);
  }

  /**
   * The values of a sequence after a change; `current` is null for a new one. Throws as `create` and `update`
   * do.
   */
  #merge(
    tx: Tx,
    { project_id, current }: { project_id: number; current: SequenceRow | null },
    sent: SequenceChanges,
  ) {
    const errors: FieldErrors = {};
    const { steps: sent_steps, ...plain } = sent;
    const { list: _list, ...values } = merge(FIELDS, current && { ...current, list: '', steps: [] }, plain);
    const before = current === null ? [] : stepsOf(current);
    const steps = sent_steps ? readSteps(sent_steps, errors) : before;
    const runs = current !== null && current.status !== 'draft';
    if (sent_steps && runs) {
      refuseOtherSteps(before, steps, errors);
      this.#refuseTemplates(project_id, { before, steps }, errors);
    }
    refuseBadEvents(sent.exit_events ?? [], errors);
    const list_id = this.deps.lists.choose(tx, { project_id, current }, sent.list, errors);
    if (runs) refuseOthersMail(current, { ...values, list_id });
    return { ...values, steps, list_id };
  }

  listTemplates(read: Tx) {
    return store.listTemplates(read);
  }

  protected draftOf(tx: Tx, row: SequenceRow): SequenceRow {
    const { templates } = this.deps;
    const steps = stepsOf(row).map((step) => ({
      ...step,
      template: templates.copyOwn(tx, row.project_id, step.template),
    }));
    return { ...row, steps };
  }

  /** A running sequence takes no template that would have kept it from being activated. */
  #refuseTemplates(
    project_id: number,
    { before, steps }: { before: readonly Step[]; steps: readonly Step[] },
    errors: FieldErrors,
  ): void {
    steps.forEach((step, index) => {
      if (step.template === before[index]?.template) return;
      const problems = templateProblems(
        step.template,
        this.deps.templates.factsOf(project_id, step.template),
        step.key,
      );
      if (problems.length > 0) errors[`steps.${index}.template`] ??= problems.map(({ message }) => message);
    });
  }

  /**
   * What keeps a sequence from being activated. DNS records are looked up, also those of a trusted domain;
   * but not where it is `captured`, as all mailboxes of the project's marketing capture.
   */
  async check(
    project_id: number,
    public_id: string,
  ): Promise<{ ready: boolean; captured: boolean; problems: Problem[] }> {
    this.require(project_id, public_id);
    const mailboxes = await this.deps.marketing.checkBeforeStart(project_id);
    const known = this.problemsOf(project_id, public_id, mailboxes);
    const problems = known.length > 0 ? known : await this.problemsOfMails(project_id, public_id);
    return { ready: problems.length === 0, captured: mailboxes === null, problems };
  }

  /** What of its mails can't be made; see `problemsOfMaking`. */
  async problemsOfMails(project_id: number, public_id: string): Promise<Problem[]> {
    const { lists, marketing } = this.deps;
    const owner = this.ownerOf(project_id);
    const sequence = this.require(project_id, public_id);
    const list = lists.findById(sequence.list_id);
    const settings = marketing.settings(project_id);
    const problems: Problem[] = [];
    if (!list) return problems;
    for (const step of stepsOf(sequence)) {
      const of = mailOfStep({ owner, sequence, list, settings, step, is_test: false });
      problems.push(...(await this.problemsOfMaking(of, step.key)));
    }
    return problems;
  }

  /** As `check`, with what was looked up already. */
  problemsOf(project_id: number, public_id: string, mailboxes: MailboxDnsCheck[] | null): Problem[] {
    const row = this.require(project_id, public_id);
    const { lists, templates } = this.deps;
    const steps = stepsOf(row);
    const list = lists.findById(row.list_id);
    return findProblems({
      ...this.readinessOf(row, mailboxes),
      steps,
      tracks: tracksOf(steps),
      templateOf: (slug) => templates.factsOf(project_id, slug),
      matching_contacts: list ? this.#countMatching(list, row) : 0,
      max_recipients: row.max_recipients,
    });
  }

  /**
   * What a contact, or a sample, would get. Stores and sends nothing. Throws AppError `not_found`, and
   * `invalid` by field.
   */
  async preview(project_id: number, public_id: string, input: PreviewInput) {
    const owner = this.ownerOf(project_id);
    const row = this.require(owner.id, public_id);
    const steps = stepsOf(row);
    const answers: Answers = {
      start_at: input.start_at ? Date.parse(input.start_at) : this.deps.clock.now(),
      events: input.events ?? [],
      clicks: input.clicks ?? [],
    };
    const errors: FieldErrors = {};
    answers.clicks.forEach((key, index) => {
      if (!steps.some((step) => step.key === key)) errors[`clicks.${index}`] = ['must be the key of a step'];
    });
    refuseAll(errors);
    const { contacts, marketing, marketing_mail, lists, database, suppressions } = this.deps;
    const contact = input.contact ? contacts.require(owner.id, input.contact) : null;
    // A pending contact counts: they would get it once they confirmed.
    const bar =
      contact && contact.status !== 'pending'
        ? barOf(contact, suppressions.checker(database.read, owner))
        : null;
    if (bar)
      return { timeline: [], end: { at: toIso(answers.start_at), reason: exitReasonOf(bar), error: null } };
    const settings = marketing.settings(owner.id);
    const list = lists.findById(row.list_id);
    const walked = walk(steps, {
      exit_events: row.exit_events,
      window: settings,
      used_up: this.#usedUp(owner.id, settings),
      answers,
      max_entries: MAX_PREVIEW_ENTRIES,
    });
    const outlooks = new Map<string, MailOutlook>();
    // One step may come again and again.
    const outlookOf = async (key: string): Promise<MailOutlook> => {
      const known = outlooks.get(key);
      if (known) return known;
      const step = steps.find((one) => one.key === key);
      if (!step || !list) return UNSEEN;
      const of = mailOfStep({ owner, sequence: row, list, settings, step, is_test: false });
      const outlook = await marketing_mail.outlookOf(database.read, of, contact);
      outlooks.set(key, outlook);
      return outlook;
    };
    const timeline: (Omit<TimelineEntry, 'at'> & { at: string } & Omit<MailOutlook, 'refusal'>)[] = [];
    for (const entry of walked.timeline) {
      const at = toIso(entry.at);
      const { refusal, ...seen } = entry.result === 'send' ? await outlookOf(entry.key) : UNSEEN;
      if (refusal !== null)
        return { timeline, end: { at, reason: 'failed', error: explainNoMail(entry.key, refusal) } };
      timeline.push({ ...entry, at, ...seen });
    }
    return { timeline, end: { at: toIso(walked.end.at), reason: walked.end.reason, error: null } };
  }

  /**
   * Sends the mail of a step as a test: marked in its subject, with sample values; no enrollment moves, and
   * nothing of it counts; it is captured where `is_test`. Returns the ids of the email and of its job. Throws
   * AppError `not_found`, `invalid` where no mail can be made of the step, and what accepting a mail throws.
   */
  sendTest(
    project_id: number,
    of: { public_id: string; key: string; is_test: boolean },
    to: string,
  ): Promise<{ email_id: string; job_id: string }> {
    const owner = this.ownerOf(project_id);
    const { lists, marketing } = this.deps;
    return this.sendAsTest((tx) => {
      const sequence = this.require(owner.id, of.public_id, tx);
      const list = lists.findById(sequence.list_id, tx);
      const step = stepsOf(sequence).find(({ key }) => key === of.key);
      if (!step || !list) throw notFound('Step');
      const settings = marketing.settings(owner.id, tx);
      return mailOfStep({ owner, sequence, list, settings, step, is_test: of.is_test });
    }, to);
  }

  /** Today (UTC) where the daily cap is used up, else null. */
  #usedUp(project_id: number, { daily_cap }: Settings): { from: number; until: number } | null {
    const { now_ms, used_today } = waitsOf(this.deps, project_id);
    if (daily_cap === null || used_today < daily_cap) return null;
    const from = now_ms - (now_ms % DAY_MS);
    return { from, until: from + DAY_MS };
  }

  /** Why a sequence sends or does not: a sentence a line. Throws AppError `not_found`. */
  async explain(project_id: number, public_id: string): Promise<string[]> {
    const row = this.require(project_id, public_id);
    const { read } = this.deps.database;
    const problems = row.status === 'finished' ? [] : (await this.check(project_id, public_id)).problems;
    const told = explainSequence(row, {
      waits: waitsOf(this.deps, project_id),
      ended: endedOf(read, row),
      words: this.wordsOfPause(row),
      hold: explainHold(read),
      next_at: rows.nextDue(read, row.id),
      mails: this.present(row).stats,
    });
    return [...told, ...problems.map(explainProblem)];
  }

  protected explainPause(row: SequenceRow): string {
    const { marketing, database } = this.deps;
    const settings = marketing.settings(row.project_id);
    return explainBrake(row.pause_reason, endedOf(database.read, row), settings, this.wordsOfPause(row));
  }

  /** What a contact of the sequence's list gets, got, and why. Throws AppError `not_found`. */
  explainContact(project_id: number, public_id: string, address: string): string[] {
    const row = this.require(project_id, public_id);
    return explainContact(this.deps, this.contactOf(row, address), { sequences: [row], with_others: false });
  }

  /**
   * What an address got and still gets of any sequence, and what it never gets and why: contact by contact, a sentence a line.
   */
  *explainAddress(project_id: number, email: string): Generator<string[]> {
    const { contacts, database } = this.deps;
    for (const contact of contacts.rowsOfAddress(database.read, { project_id, email })) {
      const sequences = store.rows.listOpenOfList(database.read, contact.list_id);
      yield explainContact(this.deps, contact, { sequences, with_others: true });
    }
  }

  /** How enrollments take part in what is held about an address; they go with its contacts. */
  holderOfAddresses(): AddressHolder {
    const { contacts, database } = this.deps;
    return {
      name: 'enrollments',
      *find({ id: project_id }, email) {
        for (const contact of contacts.rowsOfAddress(database.read, { project_id, email }))
          yield rows.listOfContact(database.read, contact.id).map(({ enrollment, sequence }) => ({
            show: () => ({ sequence: sequence.name, ...presentEnrollment(enrollment, sequence, contact) }),
          }));
      },
    };
  }

  /** The contact of an address on a sequence's list. Throws AppError `not_found`. */
  contactOf(row: SequenceRow, address: string): ContactRow {
    const contact = this.deps.contacts.findByAddress(row.list_id, address);
    if (!contact) throw notFound('Contact');
    return contact;
  }

  /** Contacts that the sequence is for: active ones, with one of enroll_tags where those are set. */
  #countMatching(list: ListRow, row: SequenceRow): number {
    const { lists } = this.deps;
    if (row.enroll_tags.length === 0) return lists.countContacts(list.id, { status: 'active' });
    if (row.enroll_tags.length === 1)
      return lists.countContacts(list.id, { status: 'active', tag: row.enroll_tags[0] });
    return this.deps.contacts.countWithAnyTag(list.id, row.enroll_tags);
  }

  /** Newest first. Throws AppError `not_found`. */
  listEnrollments(
    project_id: number,
    public_id: string,
    query: PageQuery & { state?: EnrollmentState | undefined; track?: string | undefined },
  ): Page<EnrollmentRecord> {
    const { read } = this.deps.database;
    const sequence = this.require(project_id, public_id);
    const filter = { sequence_id: sequence.id, state: query.state, track: query.track };
    return paginate(query, {
      total: rows.countEnrollments(read, filter),
      fetch: (limit, offset) => {
        const found = rows.listEnrollments(read, filter, { limit, offset });
        const contacts = this.deps.contacts.findByIds(found.map((row) => row.contact_id));
        return found.map((row) => presentEnrollment(row, sequence, contacts.get(row.contact_id)));
      },
    });
  }

  protected presentAll(found: readonly SequenceRow[]): SequenceRecord[] {
    const counts = rows.listCounts(
      this.deps.database.read,
      found.map((row) => row.id),
    );
    return found.flatMap((row) => {
      const list = this.deps.lists.findById(row.list_id);
      const own = counts.filter((count) => count.sequence_id === row.id);
      const pause_words = this.wordsOfPause(row);
      return list ? [presentSequence(row, { list: list.public_id, pause_words, counts: own })] : [];
    });
  }
}
