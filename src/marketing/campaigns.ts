/**
 * Campaigns are sequences and broadcasts: marketing mail to a list, which somebody writes as a draft and
 * starts. What both can do to be written, found and looked at stands here; `campaign-life.ts` has what they
 * can do once they go out.
 */
import type { Projects } from '../access/projects/service.ts';
import { AppError, conflict, notFound } from '../errors.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import type { Deliveries } from '../mail/deliveries/service.ts';
import type { Emails } from '../mail/emails/service.ts';
import type { MailboxDnsCheck } from '../mail/sending-domains/service.ts';
import type { Templates } from '../mail/templates/service.ts';
import type { Note } from '../platform/database/audit-trail.ts';
import type { Database, Tx } from '../platform/database/database.ts';
import type { Clock } from '../platform/host/clock.ts';
import { newId } from '../platform/host/ids.ts';
import { type Page, type PageQuery, paginate } from '../platform/http/pagination.ts';
import { Records } from '../platform/http/records.ts';
import type { JobQueue } from '../platform/jobs/engine.ts';
import type { Problem, ReadinessFacts } from './campaign-readiness.ts';
import type { CampaignRow, CampaignStore, EndedStore } from './campaign-store.ts';
import type { Contacts } from './contacts/service.ts';
import type { Lists } from './lists/service.ts';
import { type Mailing, type MailOwner, type MarketingMail, makesNoMail } from './mails/service.ts';
import type { MarketingSettings } from './settings/service.ts';
import type { Suppressions } from './suppressions/service.ts';

/** What sequences and broadcasts need. */
export interface CampaignDeps extends JobQueue {
  database: Database;
  clock: Clock;
  lists: Lists;
  contacts: Contacts;
  marketing: MarketingSettings;
  suppressions: Suppressions;
  templates: Pick<Templates, 'factsOf' | 'rowOf' | 'copyOwn'>;
  marketing_mail: MarketingMail;
  projects: Pick<Projects, 'requireActive' | 'isActive'>;
  projectOf(id: number): MailOwner | null;
  emails: Pick<Emails, 'accept' | 'acceptBulk' | 'hold' | 'release' | 'standingsOf' | 'errorOf'>;
  deliveries: Pick<Deliveries, 'withhold' | 'wordsOfRefusal'>;
}

/** What the name of a copy ends with. */
const COPY = ' (copy)';

/** Columns that `insert` sets. */
type Fresh = 'id' | 'public_id' | 'created_at' | 'updated_at';

/** `Unstarted` are the columns that nobody gives: what becomes of one once it is started. */
export abstract class Campaigns<
  Row extends CampaignRow,
  Seen,
  Unstarted extends keyof Row,
  Deps extends CampaignDeps = CampaignDeps,
> extends Records<Row, Seen> {
  /** What one is called, in messages and on the audit trail. */
  abstract readonly what: 'sequence' | 'broadcast';
  /** What it is once it is over: found by its name only where no other fits. */
  protected abstract readonly over: readonly Row['status'][];

  constructor(
    protected readonly deps: Deps,
    readonly rows: CampaignStore<Row>,
    private readonly noun: 'Sequence' | 'Broadcast',
  ) {
    super({ ...deps, rows, noun, lister: `satchel ${noun.toLowerCase()} list --project REF` });
  }

  protected abstract presentAll(rows: readonly Row[]): Seen[];
  /** Why one paused by itself: the end of a sentence. */
  protected abstract explainPause(row: Row): string;
  /** How the last mails of one ended, tests apart. */
  protected abstract readonly ended: EndedStore;
  /** Those columns of a draft. */
  protected abstract readonly unstarted: Pick<Row, Unstarted>;

  /** What a mail server said last to one that paused as they refuse its mail; null for any other. */
  protected wordsOfPause(row: Row): string | null {
    if (row.status !== 'paused' || row.pause_reason !== 'relay_refuses') return null;
    const { read } = this.deps.database;
    const { last } = this.ended.countRefused(read, row);
    return last === null ? null : this.deps.deliveries.wordsOfRefusal(read, last);
  }

  /** Newest first. */
  list(
    project_id: number,
    query: PageQuery & { status?: Row['status'] | undefined; name?: string | undefined },
  ): Page<Seen> {
    const { read } = this.deps.database;
    const filter = { project_id, status: query.status, name: query.name };
    return paginate(query, {
      total: this.rows.count(read, filter),
      fetch: (limit, offset) => this.presentAll(this.rows.list(read, filter, { limit, offset })),
    });
  }

  present(row: Row): Seen {
    const [seen] = this.presentAll([row]);
    if (!seen) throw notFound(this.noun);
    return seen;
  }

  protected override isOver({ status }: Row): boolean {
    return this.over.includes(status);
  }

  /** Throws AppError `conflict` unless one has one of these statuses. */
  refuseFrom(row: Row, from: readonly Row['status'][], what: string): void {
    if (!from.includes(row.status))
      throw conflict(
        `The ${this.what} is ${row.status}: only one that is ${from.join(' or ')} can be ${what}.`,
      );
  }

  /* --- Drafts ----------------------------------------------------------------------------------------------------- */

  /**
   * Makes a draft like another, named after it. Throws AppError `not_found`, and `conflict` (list_archived).
   */
  async copy(project_id: number, public_id: string, note: Note): Promise<Seen> {
    const copy_id = await this.deps.database.write((tx) => {
      const of = this.require(project_id, public_id, tx);
      this.deps.lists.requireOpen(tx, { id: of.list_id });
      const name = [...of.name].slice(0, MAX_NAME_CHARS - COPY.length).join('') + COPY;
      return this.insert(tx, { ...this.draftOf(tx, of), name }, note, { copy_of: of.public_id }).public_id;
    });
    return this.get(project_id, copy_id);
  }

  /** The templates that those of all projects name. */
  abstract listTemplates(read: Tx): { project_id: number; template: string | null }[];

  /** What a copy has of one: its own words, where that has its own. */
  protected abstract draftOf(tx: Tx, row: Row): Row;

  protected insert(
    tx: Tx,
    { id: _id, ...of }: Omit<Row, Fresh | Unstarted> & { id?: number; name: string },
    note: Note,
    metadata: Record<string, unknown> = {},
  ): Row {
    const now = this.deps.clock.now();
    const public_id = newId(now);
    const target = `${this.what}:${public_id}`;
    note(tx, { event: `${this.what}.created`, target, metadata: { name: of.name, ...metadata } });
    const fresh = { public_id, created_at: now, updated_at: now };
    // All of its columns, in three parts.
    return this.rows.insert(tx, { ...of, ...this.unstarted, ...fresh } as unknown as Omit<Row, 'id'>);
  }

  /* --- Before it goes out ------------------------------------------------------------------------------------------ */

  /** The state of the settings, list and mailboxes that it needs. `mailboxes` were looked up before. */
  protected readinessOf(
    { project_id, list_id }: CampaignRow,
    mailboxes: MailboxDnsCheck[] | null,
    read: Tx = this.deps.database.read,
  ): ReadinessFacts {
    const { lists, marketing } = this.deps;
    const list = lists.findById(list_id, read);
    return {
      settings: marketing.settings(project_id, read),
      mailboxes,
      problem_of_mailboxes: marketing.problemOfMailboxes(project_id),
      problem_of_links: marketing.problemOfLinks(project_id),
      is_list_archived: list === null || list.archived_at !== null,
    };
  }

  /**
   * What can't be made of a mail within its share of the processor; what can is composed for when it is sent, so that nobody
   * waits for it then.
   */
  protected async problemsOfMaking(of: Mailing, step?: string): Promise<Problem[]> {
    const { marketing_mail, database } = this.deps;
    try {
      await marketing_mail.prepare(database.read, of);
      return [];
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'invalid')) throw error;
      const message = makesNoMail(of.template, error);
      return [{ code: 'template_makes_no_mail', message, ...(step === undefined ? {} : { step }) }];
    }
  }

  /**
   * Sends a test mail, in the transaction that reads what it is made of. Throws AppError `invalid` where it
   * can't be made.
   */
  protected async sendAsTest(
    of: (read: Tx) => Mailing,
    to: string,
  ): Promise<{ email_id: string; job_id: string }> {
    const { database, marketing_mail, emails } = this.deps;
    await marketing_mail.prepare(database.read, { ...of(database.read), track_opens: false });
    return database.write((tx) => {
      const planned = marketing_mail.planTest(tx, of(tx), to);
      if (!planned.ok) throw new AppError('invalid', planned.reason);
      const { id, job_id } = emails.accept(tx, planned.email);
      return { email_id: id, job_id };
    });
  }

  ownerOf(project_id: number): MailOwner {
    const owner = this.deps.projectOf(project_id);
    if (!owner) throw notFound('Project');
    return owner;
  }

  /** Those of all projects that paused by themselves, and why. */
  listPausedByThemselves(): { id: string; name: string; project_id: number; why: string }[] {
    return this.rows.listPausedByThemselves(this.deps.database.read).map((row) => {
      const { public_id: id, name, project_id } = row;
      return { id, name, project_id, why: this.explainPause(row) };
    });
  }
}

/** Deletes words whose broadcast is gone, or that no step has any more: a day later, as they may be on their way to one. */
export function sweepWords(
  templates: Pick<Templates, 'sweepOwn'>,
  campaigns: readonly Pick<Campaigns<never, unknown, never>, 'listTemplates'>[],
): Promise<void> {
  return templates.sweepOwn((tx) => {
    const named = campaigns.flatMap((each) => each.listTemplates(tx));
    const all = new Set(named.map(({ project_id, template }) => `${project_id}/${template}`));
    return (project_id, slug) => all.has(`${project_id}/${slug}`);
  });
}
