/** Broadcasts: writing them, what keeps one from being sent, testing it, and its numbers. */

import { AppError, conflict, type FieldErrors, invalid, notFound, refuseAll } from '../../errors.ts';
import type { Answered } from '../../mail/replies/service.ts';
import type { MailboxDnsCheck } from '../../mail/sending-domains/service.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { HOUR_MS } from '../../platform/host/clock.ts';
import { merge } from '../../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { parse } from '../../platform/http/schema.ts';
import { explainHold } from '../../platform/jobs/restore-hold.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import { countAudience } from '../audience.ts';
import { type Problem, readinessProblems, templateProblems } from '../campaign-readiness.ts';
import { type CampaignDeps, Campaigns } from '../campaigns.ts';
import { type ContactFilter, type Contacts, contact_filter, NOT_BOTH } from '../contacts/service.ts';
import type { ListRow } from '../lists/service.ts';
import { type Mailing, type MailOwner, readVariables, type ShownMail } from '../mails/service.ts';
import type { SegmentEvent, Segments } from '../segments/service.ts';
import { lackIf, type Settings } from '../settings/service.ts';
import { errorsInPlan, isTested, variantCalled, warningsOf } from './ab.ts';
import { warningsOfArchive } from './archive.ts';
import { explainAddress, explainPause, turnsOf } from './explain.ts';
import * as recipients from './recipient-store.ts';
import { findByEmail, updateRecipient } from './recipient-store.ts';
import { leftOutOf, presentBroadcast, presentLinks, presentRecipient, timelineOf } from './records.ts';
import {
  type AbPlan,
  type BroadcastChanges,
  type BroadcastRecord,
  FIELDS,
  type LeftOut,
  type NewBroadcast,
  type RecipientRecord,
  type TimelinePoint,
} from './schemas.ts';
import * as store from './store.ts';
import type { BroadcastRow } from './tables.ts';

export type { BroadcastRecord } from './schemas.ts';

/** Whether a broadcast can be sent now, and whom it would reach. */
export interface Readiness {
  /** What is not in the way. */
  warnings: Problem[];
  recipients: number;
  left_out: LeftOut;
  ready: boolean;
  captured: boolean;
  problems: Problem[];
}

/** Contract: doctor tells of an A/B that nobody decided for so long. */
const UNDECIDED_MS = 72 * HOUR_MS;
/** Recipients that one transaction deletes with their broadcast: some milliseconds. */
const DELETE_PIECE = 500;

const NOBODY: Problem = {
  code: 'nobody',
  message: 'Nobody would get it: no active contact of the list fits its filter and is not suppressed.',
};
const NO_TEMPLATE: Problem = { code: 'no_template', message: 'The broadcast has no template.' };

/** What becomes of one once it is sent. */
const UNSENT = {
  status: 'draft',
  pause_reason: null,
  is_test: false,
  send_at: null,
  started_at: null,
  finished_at: null,
  recipients: null,
  last_contact_id: null,
  source_id: null,
  title: null,
  summary: null,
  from_name: null,
  reply_to: null,
  decided_to: 0,
  tested_at: null,
  decides_at: null,
  decided_at: null,
  winner: null,
  job_id: null,
  bounces_since: null,
} as const;

interface BroadcastDeps extends CampaignDeps {
  segments: Segments;
}

export class Broadcasts extends Campaigns<BroadcastRow, BroadcastRecord, keyof typeof UNSENT, BroadcastDeps> {
  readonly what = 'broadcast';
  protected readonly ended = recipients.ended;
  protected readonly over = ['sent', 'cancelled'] as const;
  protected readonly unstarted = UNSENT;

  constructor(deps: BroadcastDeps) {
    super(deps, store.rows, 'Broadcast');
  }

  /* --- Writing ----------------------------------------------------------------------------------------------------- */

  /** What is wrong with the fields of a broadcast beyond their schema, by field; `current` is null for a new one. */
  errorsIn(
    project_id: number,
    fields: BroadcastChanges,
    current: Pick<BroadcastRecord, 'list'> | null,
  ): FieldErrors {
    const errors: FieldErrors = {};
    const list_id = fields.list ?? current?.list;
    const list = list_id === undefined ? null : this.deps.lists.findNamed(project_id, list_id, errors);
    if (list && fields.filter) Object.assign(errors, this.deps.contacts.errorsInFilter(list, fields.filter));
    if (fields.segment && fields.filter) errors.segment = [NOT_BOTH];
    else if (list && fields.segment) this.deps.segments.findNamed(list, fields.segment, errors);
    readVariables(fields.variables ?? {}, 'variables', errors);
    if (fields.ab) Object.assign(errors, errorsInPlan(fields.ab));
    return errors;
  }

  /** Makes a draft, which may be incomplete. Throws AppError `invalid` by field, and `conflict` (list_archived). */
  async create(project_id: number, input: NewBroadcast, note: Note): Promise<BroadcastRecord> {
    const row = await this.deps.database.write((tx) =>
      this.insert(tx, { project_id, ...this.merge(tx, { project_id, current: null }, input, {}) }, note),
    );
    return this.present(row);
  }

  /**
   * The values of a draft, or of one that is scheduled, after a change; `current` is null for a new one. Throws AppError `invalid`
   * with `errors`, to which it adds its own, and `conflict` (list_archived) for another list that takes nobody.
   */
  merge(
    tx: Tx,
    { project_id, current }: { project_id: number; current: BroadcastRow | null },
    sent: BroadcastChanges,
    errors: FieldErrors,
  ) {
    const {
      list: _list,
      segment: _segment,
      ...values
    } = merge(FIELDS, current && { ...current, list: '', segment: null, ab: null }, sent);
    const ab = sent.ab === undefined ? (current?.ab ?? null) : sent.ab;
    if (sent.ab) Object.assign(errors, errorsInPlan(sent.ab));
    const variables = readVariables(values.variables, 'variables', errors);
    const list_id = this.deps.lists.choose(tx, { project_id, current }, sent.list, errors);
    const whom = this.#mergeWhom(tx, { id: list_id, project_id }, current, sent);
    return { ...values, ab, variables, list_id, ...whom };
  }

  /** Filter and segment after a change, of which one takes the place of the other. */
  #mergeWhom(
    tx: Tx,
    list: { id: number; project_id: number },
    current: BroadcastRow | null,
    { filter, segment }: BroadcastChanges,
  ): Pick<BroadcastRow, 'filter' | 'segment_id'> {
    const errors: FieldErrors = {};
    const { contacts, segments } = this.deps;
    if (filter && segment) throw invalid({ segment: [NOT_BOTH] });
    const named = segment ? segments.findNamed(list, segment, errors, tx) : null;
    const kept = segment === undefined && !filter ? (current?.segment_id ?? null) : null;
    const is_list_new = list.id !== current?.list_id;
    if (kept !== null && is_list_new)
      errors.segment = ['is of the list that it had: name one of the new list, or null'];
    const after = segment ? null : filter === undefined ? (current?.filter ?? null) : filter;
    if (after && (filter || is_list_new))
      Object.assign(errors, contacts.errorsInFilter(list, parse(contact_filter, after), tx));
    refuseAll(errors);
    return { filter: after, segment_id: named?.id ?? kept };
  }

  /** The filter that says whom it is for: its own, or that of its segment, of which it has a copy once it began. Null: everybody on its list. */
  filterOf(
    { filter, segment_id }: Pick<BroadcastRow, 'filter' | 'segment_id'>,
    read: Tx = this.deps.database.read,
  ): ContactFilter | null {
    if (filter !== null || segment_id === null) return filter && parse(contact_filter, filter);
    return this.deps.segments.filterOf(segment_id, read);
  }

  /**
   * Told before a segment's filter changes or goes. One that waits for its time would go to others: throws AppError `conflict`.
   * What is left of a deleted one is a copy of its filter.
   */
  onSegment(tx: Tx, { kind, segment }: SegmentEvent): void {
    const waiting = store.findWaitingFor(tx, segment.id);
    if (waiting)
      throw conflict(
        `The broadcast ${waiting.name} (${waiting.public_id}) waits for its time to go to this segment. Make it a draft first, or give it another.`,
        { code: 'segment_in_use' },
      );
    if (kind === 'deleting') store.copyFilter(tx, segment.id, segment.filter);
  }

  listTemplates(read: Tx) {
    return store.listTemplates(read);
  }

  protected draftOf(tx: Tx, row: BroadcastRow): BroadcastRow {
    const { project_id } = row;
    const template = row.template && this.deps.templates.copyOwn(tx, project_id, row.template);
    return { ...row, template, in_archive: null, ...(row.segment_id !== null && { filter: null }) };
  }

  /** What a broadcast's filter names that is gone, or is no more of its list; for those that are being sent, too. */
  filterProblems(row: BroadcastRow, read: Tx): Problem[] {
    const filter = this.filterOf(row, read);
    const gone = filter
      ? Object.keys(this.deps.contacts.errorsInFilter({ id: row.list_id }, filter, read))
      : [];
    return lackIf(
      gone.length > 0,
      'filter_gone',
      `The filter names what is gone, or was sent by a test key: ${gone.join(', ')}. Without it others would get the mail.`,
    );
  }

  /**
   * Deletes a draft, or one that was cancelled with who had their turn; the log keeps its mails. Throws AppError `not_found`,
   * and `conflict` for any other.
   */
  async remove(project_id: number, public_id: string, note: Note): Promise<void> {
    const { database } = this.deps;
    for (let is_gone = false; !is_gone; ) {
      is_gone = await database.writePiece((tx) => {
        const row = this.require(project_id, public_id, tx);
        this.refuseFrom(row, ['draft', 'cancelled'], 'deleted');
        if (recipients.deleteRecipients(tx, row.id, DELETE_PIECE) === DELETE_PIECE) return false;
        const target = `broadcast:${row.public_id}`;
        note(tx, { event: 'broadcast.deleted', target, metadata: { name: row.name } });
        store.deleteBroadcast(tx, row.id);
        return true;
      });
    }
  }

  /* --- Before it is sent ------------------------------------------------------------------------------------------ */

  /** What keeps a broadcast from being sent, and how many would (still) get it. DNS records are looked up as for sequences. */
  async check(project_id: number, public_id: string): Promise<Readiness> {
    const row = this.require(project_id, public_id);
    const owner = this.ownerOf(project_id);
    const { marketing, database, clock } = this.deps;
    const mailboxes = await marketing.checkBeforeStart(project_id);
    const audience = {
      owner,
      list_id: row.list_id,
      filter: this.filterOf(row),
      now_ms: row.started_at ?? clock.now(),
    };
    // Of those who had no turn yet; an A/B goes through the list twice.
    const to_come = {
      after_id: row.ab === null ? row.decided_to : 0,
      last_id: row.last_contact_id,
      without: (ids: readonly number[]) => recipients.turnsAmong(database.read, row.id, ids),
    };
    const count = await countAudience(this.deps, database.read, audience, to_come);
    const problems = this.problemsOf(row, mailboxes);
    const mailOf = (variant: string | null) =>
      this.#mailingOf(database.read, project_id, { public_id, variant });
    if (problems.length === 0 && row.started_at === null)
      for (const { name: variant } of row.ab?.variants ?? [{ name: null }])
        problems.push(...(await this.problemsOfMaking(mailOf(variant))));
    const warnings = row.started_at === null ? warningsOf(row, count.recipients) : [];
    if (problems.length === 0) warnings.push(...(await warningsOfArchive(this.deps, row, mailOf)));
    if (count.recipients === 0 && row.started_at === null) problems.push(NOBODY);
    const found = {
      recipients: count.recipients,
      left_out: leftOutOf((reason) => (reason === 'no_value' ? 0 : count.left_out.get(reason)) ?? 0),
    };
    return { ready: problems.length === 0, captured: mailboxes === null, problems, warnings, ...found };
  }

  /** As `check`, with what was looked up already, and without whom it would reach. What began to be sent needs its template no more. */
  problemsOf(
    row: BroadcastRow,
    mailboxes: MailboxDnsCheck[] | null,
    read: Tx = this.deps.database.read,
  ): Problem[] {
    const { project_id, template } = row;
    return [
      ...readinessProblems(this.readinessOf(row, mailboxes, read)),
      ...this.filterProblems(row, read),
      ...(row.started_at !== null
        ? []
        : template === null
          ? [NO_TEMPLATE]
          : templateProblems(template, this.deps.templates.factsOf(project_id, template))),
    ];
  }

  /**
   * Sends its mail as a test: marked in its subject, with sample values; nothing of it counts, and it is captured where
   * `is_test`. Throws AppError `not_found`, `invalid` where no mail can be made of it, and what accepting a mail throws.
   */
  sendTest(
    project_id: number,
    of: { public_id: string; is_test: boolean; variant: string | null },
    to: string,
  ): Promise<{ email_id: string; job_id: string }> {
    const { is_test } = of;
    return this.sendAsTest((tx) => ({ ...this.#mailingOf(tx, project_id, of), is_test }), to);
  }

  /** Its mail as a reader sees it, with sample values. Throws AppError `not_found`, and `invalid` where it has no template, or can't be shown. */
  async preview(
    project_id: number,
    of_variant: { public_id: string; variant: string | null },
  ): Promise<ShownMail> {
    const { read } = this.deps.database;
    const of = this.#mailingOf(read, project_id, of_variant);
    const template = this.deps.templates.rowOf(read, project_id, of.template);
    if (!template) throw new AppError('invalid', `The template ${of.template} does not exist.`);
    return this.deps.marketing_mail.show(of, template, null);
  }

  #mailingOf(read: Tx, project_id: number, of: { public_id: string; variant: string | null }): Mailing {
    const broadcast = this.require(project_id, of.public_id, read);
    const variant = of.variant === null ? undefined : variantCalled(broadcast, of.variant);
    const list = this.deps.lists.findById(broadcast.list_id, read);
    if (!list) throw notFound('Broadcast');
    if (broadcast.template === null) throw new AppError('invalid', NO_TEMPLATE.message);
    const settings = this.deps.marketing.settings(project_id, read);
    return mailingOf({ owner: this.ownerOf(project_id), broadcast, list, settings, variant });
  }

  /* --- Its numbers ------------------------------------------------------------------------------------------------ */

  /** Recipients that had their turn, the last ones first. Throws AppError `not_found`. */
  listRecipients(project_id: number, public_id: string, query: PageQuery): Page<RecipientRecord> {
    const { database, contacts, emails } = this.deps;
    const { read } = database;
    const broadcast = this.require(project_id, public_id);
    const { id } = broadcast;
    return paginate(query, {
      total: store.countDecided(read, id),
      fetch: (limit, offset) => {
        const found = recipients.listRecipients(read, id, limit, offset);
        const people = contacts.findByIds(found.map(({ contact_id }) => contact_id));
        const log = emails.standingsOf(
          read,
          found.flatMap(({ email_id }) => email_id ?? []),
        );
        return found.map((row) =>
          presentRecipient(row, {
            broadcast,
            contact: people.get(row.contact_id),
            log: row.email_id === null ? undefined : log.get(row.email_id),
          }),
        );
      },
    });
  }

  /** What happened when. Throws AppError `not_found`. */
  timeline(project_id: number, public_id: string): { timeline: TimelinePoint[] } {
    const row = this.require(project_id, public_id);
    return { timeline: timelineOf(row, store.listHours(this.deps.database.read, row.id)) };
  }

  /** Those of all projects whose A/B has waited for days for somebody to decide it. */
  listUndecided(): { id: string; name: string; project_id: number; is_paused: boolean }[] {
    const now = this.deps.clock.now();
    return this.rows.listOpen(this.deps.database.read).flatMap((row) => {
      const { public_id: id, name, project_id, tested_at, decides_at } = row;
      const is_long = isTested(row) && (tested_at ?? now) <= now - UNDECIDED_MS && (decides_at ?? 0) <= now;
      return is_long ? [{ id, name, project_id, is_paused: row.status === 'paused' }] : [];
    });
  }

  /** Why one waits that a restore holds, as a sentence; nothing of any other. */
  explainHeld({ id, pause_reason }: Pick<BroadcastRecord, 'id' | 'pause_reason'>): string[] {
    if (pause_reason !== 'restored') return [];
    const alone = `To go on with it alone: satchel broadcast resume ${id}`;
    return [`It is paused, as ${explainHold(this.deps.database.read)} ${alone}`];
  }

  protected explainPause(row: BroadcastRow): string {
    return explainPause(this.deps, row, this.wordsOfPause(row));
  }

  /** As `explain.ts` has it. */
  explainAddress(project_id: number, email: string): Iterable<string[]> {
    return explainAddress(this.deps, project_id, email);
  }

  /** How turns in broadcasts take part in what is held about an address; they name nobody once its contacts are gone. */
  holderOfAddresses(): AddressHolder {
    const { contacts, database } = this.deps;
    return {
      name: 'broadcasts',
      *find({ id: project_id }, email) {
        for (const contact of contacts.rowsOfAddress(database.read, { project_id, email }))
          yield turnsOf(database.read, contact).map(({ broadcast, recipient }) => ({
            show: () => ({
              broadcast: broadcast.name,
              ...presentRecipient(recipient, { broadcast, contact, log: undefined }),
            }),
          }));
      },
    };
  }

  protected presentAll(found: readonly BroadcastRow[]): BroadcastRecord[] {
    const { database, lists, contacts, segments, marketing_mail } = this.deps;
    const { read } = database;
    const ids = found.map(({ id }) => id);
    const counts = store.listCounts(read, ids);
    const clicked = store.listLinkCounts(read, ids);
    const variants = store.listVariants(read, ids);
    const chosen = segments.publicIdsOf(
      found.flatMap(({ segment_id }) => segment_id ?? []),
      read,
    );
    const links = marketing_mail.linksOf(
      read,
      found.flatMap(({ source_id }) => source_id ?? []),
    );
    return found.flatMap((row) => {
      const list = lists.findById(row.list_id);
      if (!list) return [];
      const own = links.filter(({ source_id }) => source_id === row.source_id);
      const own_clicks = row.is_test ? [] : clicked.filter(({ broadcast_id }) => broadcast_id === row.id);
      const own_counts = counts.filter(({ broadcast_id }) => broadcast_id === row.id);
      return [
        presentBroadcast(row, {
          list: list.public_id,
          pause_words: this.wordsOfPause(row),
          segment: chosen.get(row.segment_id ?? 0) ?? null,
          filter_sentence: row.filter && contacts.tellFilter(list, parse(contact_filter, row.filter)),
          variants: variants.filter(({ broadcast_id }) => broadcast_id === row.id),
          counts: own_counts,
          links: presentLinks(own, own_clicks),
        }),
      ];
    });
  }
}

/** What a broadcast's mail is made from. */
export function mailingOf(of: {
  owner: MailOwner;
  broadcast: BroadcastRow;
  list: ListRow;
  settings: Settings;
  /** Of its A/B. */
  variant?: AbPlan['variants'][number] | undefined;
}): Mailing {
  const { owner, broadcast, list, settings, variant } = of;
  const { template, variables, track_opens, utm, is_test, public_id } = broadcast;
  return {
    source: 'broadcast',
    owner,
    list,
    template: template ?? '',
    subject: variant?.subject,
    preheader: variant?.preheader ?? broadcast.preheader,
    variables,
    settings,
    track_opens,
    utm,
    is_test,
    email_tag: public_id,
  };
}

/** Only one of the address that the mail went to: anybody else may write too. */
export function noteReplyToBroadcast(
  tx: Tx,
  of: {
    answered: Answered;
    contacts: Contacts;
    contact_events: { note(tx: Tx, told: { contact_id: number; event: 'replied'; at: number }): void };
  },
): void {
  const { email, is_recipient, received_at: at } = of.answered;
  const recipient = is_recipient && email.source === 'broadcast' && findByEmail(tx, email.id);
  if (!recipient) return;
  const { contact_id } = recipient;
  if (recipient.replied_at === null) updateRecipient(tx, recipient, { replied_at: at });
  // A turn outlives its contact.
  if (of.contacts.findById(contact_id, tx)) of.contact_events.note(tx, { contact_id, event: 'replied', at });
}
