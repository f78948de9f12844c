/** Broadcasts: writing them, what keeps one from being sent, testing it, and its numbers. */
import { AppError, type FieldErrors, notFound, refuseAll } from '../../errors.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { merge } from '../../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { type Problem, problem, readinessProblems, templateProblems } from '../campaign-readiness.ts';
import { Campaigns } from '../campaigns.ts';
import type { ListRow } from '../lists/service.ts';
import { type Mailing, type MailOwner, readVariables, type ShownMail } from '../mails/service.ts';
import type { MailboxDnsCheck, Settings } from '../settings/service.ts';
import { type Count, countAudience, filterOf } from './audience.ts';
import { explainAddress, explainPause, turnsOf } from './explain.ts';
import * as recipients from './recipient-store.ts';
import { presentBroadcast, presentLinks, presentRecipient, timelineOf } from './records.ts';
import {
  type BroadcastChanges,
  type BroadcastRecord,
  FIELDS,
  type NewBroadcast,
  type RecipientRecord,
  type TimelinePoint,
} from './schemas.ts';
import * as store from './store.ts';
import type { BroadcastRow } from './tables.ts';

export type { BroadcastRecord } from './schemas.ts';

/** Whether a broadcast can be sent now, and whom it would reach. */
export interface Readiness extends Count {
  ready: boolean;
  captured: boolean;
  problems: Problem[];
}

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
  from_name: null,
  reply_to: null,
  decided_to: 0,
  job_id: null,
  bounces_since: null,
} as const;

export class Broadcasts extends Campaigns<BroadcastRow, BroadcastRecord, keyof typeof UNSENT> {
  readonly what = 'broadcast';
  readonly rows = store.rows;
  protected readonly over = ['sent', 'cancelled'] as const;
  protected readonly unstarted = UNSENT;

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
    readVariables(fields.variables ?? {}, 'variables', errors);
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
    const { list: _list, ...values } = merge(FIELDS, current && { ...current, list: '' }, sent);
    const variables = readVariables(values.variables, 'variables', errors);
    const list_id = this.deps.lists.choose(tx, { project_id, current }, sent.list, errors);
    const is_filter_new = sent.filter !== undefined || list_id !== current?.list_id;
    if (is_filter_new) refuseAll(this.#errorsInFilter(tx, { list_id, filter: values.filter }));
    return { ...values, variables, list_id };
  }

  #errorsInFilter(read: Tx, of: Pick<BroadcastRow, 'list_id' | 'filter'>): FieldErrors {
    const filter = filterOf(of);
    return filter === null ? {} : this.deps.contacts.errorsInFilter({ id: of.list_id }, filter, read);
  }

  /** What a broadcast's filter names that is gone, or is no more of its list; for those that are being sent, too. */
  filterProblems(row: BroadcastRow, read: Tx): Problem[] {
    const gone = Object.keys(this.#errorsInFilter(read, row));
    return problem(
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
    const of = { owner, broadcast: row, now_ms: row.started_at ?? clock.now() };
    const count = await countAudience(this.deps, database.read, of);
    const problems = this.problemsOf(row, mailboxes);
    if (count.recipients === 0 && row.started_at === null) problems.push(NOBODY);
    return { ready: problems.length === 0, captured: mailboxes === null, problems, ...count };
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
    of: { public_id: string; is_test: boolean },
    to: string,
  ): Promise<{ email_id: string; job_id: string }> {
    const { public_id, is_test } = of;
    return this.sendAsTest((tx) => ({ ...this.#mailingOf(tx, project_id, public_id), is_test }), to);
  }

  /** Its mail as a reader sees it, with sample values. Throws AppError `not_found`, and `invalid` where it has no template. */
  preview(project_id: number, public_id: string): ShownMail {
    const { read } = this.deps.database;
    const of = this.#mailingOf(read, project_id, public_id);
    const template = this.deps.templates.rowOf(read, project_id, of.template);
    if (!template) throw new AppError('invalid', `The template ${of.template} does not exist.`);
    return this.deps.marketing_mail.show(read, of, template, null);
  }

  #mailingOf(read: Tx, project_id: number, public_id: string): Mailing {
    const broadcast = this.require(project_id, public_id, read);
    const list = this.deps.lists.findById(broadcast.list_id, read);
    if (!list) throw notFound('Broadcast');
    if (broadcast.template === null) throw new AppError('invalid', NO_TEMPLATE.message);
    const settings = this.deps.marketing.settings(project_id, read);
    return mailingOf({ owner: this.ownerOf(project_id), broadcast, list, settings });
  }

  /* --- Its numbers ------------------------------------------------------------------------------------------------ */

  /** Who had their turn, the last ones first. Throws AppError `not_found`. */
  listRecipients(project_id: number, public_id: string, query: PageQuery): Page<RecipientRecord> {
    const { database, contacts, emails } = this.deps;
    const { read } = database;
    const { id } = this.require(project_id, public_id);
    return paginate(query, {
      total: store.countDecided(read, id),
      fetch: (limit, offset) => {
        const found = recipients.listRecipients(read, id, { limit, offset });
        const people = contacts.findByIds(found.map(({ contact_id }) => contact_id));
        const log = emails.standingsOf(
          read,
          found.flatMap(({ email_id }) => email_id ?? []),
        );
        return found.map((row) =>
          presentRecipient(row, {
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

  protected explainPause(row: BroadcastRow): string {
    return explainPause(this.deps, row);
  }

  /** What an address gets and got of the project's broadcasts, what it did not get and why: a sentence a line. */
  explainAddress(project_id: number, email: string): string[] {
    return explainAddress(this.deps, project_id, email);
  }

  /** How turns in broadcasts take part in what is held about an address; they name nobody once its contacts are gone. */
  holderOfAddresses() {
    return {
      name: 'broadcasts',
      export: (_read: Tx, owner: { id: number }, email: string): unknown[] =>
        turnsOf(this.deps, owner.id, email).map(({ broadcast, recipient, contact }) => ({
          broadcast: broadcast.name,
          ...presentRecipient(recipient, { contact, log: undefined }),
        })),
      forget: (): number => 0,
    };
  }

  protected presentAll(found: readonly BroadcastRow[]): BroadcastRecord[] {
    const { database, lists, marketing_mail } = this.deps;
    const { read } = database;
    const ids = found.map(({ id }) => id);
    const counts = store.listCounts(read, ids);
    const clicked = store.listLinkCounts(read, ids);
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
}): Mailing {
  const { owner, broadcast, list, settings } = of;
  const { template, preheader, variables, track_opens, is_test, public_id } = broadcast;
  return {
    source: 'broadcast',
    owner,
    list,
    template: template ?? '',
    preheader,
    variables,
    settings,
    track_opens,
    is_test,
    email_tag: public_id,
  };
}
