/**
 * Deliveries: what becomes of accepted emails, by our own attempts, by reports from outside and by an
 * operator.
 */
import type { Keys } from '../../access/keys/service.ts';
import type { Projects } from '../../access/projects/service.ts';
import type { Config } from '../../config.ts';
import { AppError, conflict, invalid, notFound } from '../../errors.ts';
import { EMAIL_BODY_RETENTION_MS, SWEEP_BATCH } from '../../limits.ts';
import { listAudit, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { HOUR_MS, toIso } from '../../platform/host/clock.ts';
import { Tally } from '../../platform/host/measures.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import type { JobQueue } from '../../platform/jobs/engine.ts';
import { explainHold } from '../../platform/jobs/restore-hold.ts';
import { AT_ONCE, findJob, isHeld, listWaitingJobs } from '../../platform/jobs/store.ts';
import type { AddressHolder } from '../../platform/mail/address.ts';
import type { MailReport } from '../../platform/mail/mail-reports.ts';
import { recipientFieldsOf } from '../../platform/mail/raw-report.ts';
import { type ReportReader, UnreadableReport } from '../../platform/mail/report-reader.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import {
  bulkQueues,
  type EmailRecord,
  type EmailRow,
  type EmailSource,
  type EmailStatus,
  type Emails,
  emailJobs,
  emailLife,
  isBulk,
  presentEmail,
  type RetryBody,
  sentMails,
} from '../emails/service.ts';
import type { Teller, ToldEvent } from '../relay-events/service.ts';
import type { Replies } from '../replies/service.ts';
import type { SendingDomains } from '../sending-domains/service.ts';
import { Attempts, type AttemptsDeps } from './attempts.ts';
import { attemptsOf } from './beginning.ts';
import { BulkSending } from './bulk-sending.ts';
import { HeldMail } from './held.ts';
import { type EmailEvent, Listeners } from './listeners.ts';
import { longestWait, type Patience, unansweredOf } from './patience.ts';
import { takeEvent } from './relay-events.ts';
import { findReportedEmail, type MatchingDeps, mayBeBelieved, wordsAbout } from './report-matching.ts';
import { type Evidence, refuseReport, report, wordsOfRefusal } from './reports.ts';
import {
  auditTargetOf,
  EMAIL_RETRIED,
  type LeftOut,
  type RequeueDeps,
  type RetryResult,
  requeueEmails,
  sortFailed,
} from './requeue.ts';
import { type Requeued, requeueMatching } from './requeue-matching.ts';
import { ReturnPaths, returnPathsIn } from './return-paths.ts';
import { SendingNow, type SendingNowDeps } from './sending-now.ts';
import * as store from './store.ts';
import type { ReportKind } from './tables.ts';
import { type EmailFacts, timelineOf } from './timeline.ts';
import { endWithheld } from './withholding.ts';

export type { EmailEvent, SendDecision } from './listeners.ts';
export type { ReportKind } from './tables.ts';

/**
 * `email why` tells of at most so many retries: nobody tries one mail again more often and still wonders why.
 */
const STORY_RETRIES = 100;

/** The result of an operator's report about an email. */
interface HandReport {
  email_id: string;
  kind: ReportKind;
  recipient: string;
  /** False where the same was told before: then nothing changed. */
  is_new: boolean;
  status: EmailStatus;
}

/** The result of another mail server's report. */
export interface TakenReport {
  email_id: string;
  told: { recipient: string; kind: ReportKind; is_new: boolean }[];
}

export interface DeliveriesDeps
  extends Omit<AttemptsDeps, 'patience' | 'return_paths'>,
    Omit<RequeueDeps, 'listeners'>,
    SendingNowDeps,
    Pick<JobQueue, 'hasten'> {
  config: Pick<Config, 'email_retry_delays_s' | 'marketing_patience_hours'>;
  emails: Emails;
  key_ring: Pick<KeyRing, 'seal' | 'open'>;
  sending_domains: Pick<SendingDomains, 'findDkimKey'>;
  report_reader: Pick<ReportReader, 'read'>;
  replies: Pick<Replies, 'listNoted'>;
  objects: AttemptsDeps['objects'] & RequeueDeps['objects'];
  projects: Pick<Projects, 'findById' | 'isActive' | 'requireActive'>;
  keys: Pick<Keys, 'nameOf'>;
}

interface CapturedMessage {
  email_id: string;
  project_id: string | null;
  mailbox: string;
  from: string;
  to: string[];
  subject: string;
  captured_at: string;
}

export class Deliveries {
  readonly attempts: Attempts;
  readonly bulk: BulkSending;
  readonly return_paths: ReturnPaths;
  readonly sending_now: SendingNow;
  /** Mail that a restore holds. */
  readonly held: HeldMail;
  /** How mails ended since this server started. */
  readonly outcomes = new Tally<EmailEvent['kind']>(['sent', 'failed', 'unknown', 'bounced', 'complained']);
  /** They are told what happens to emails, and asked before bulk mail goes. */
  readonly listeners: Listeners;
  readonly #patience: Patience;

  constructor(private readonly deps: DeliveriesDeps) {
    this.listeners = new Listeners((project_id) => deps.projects.isActive(project_id));
    this.return_paths = new ReturnPaths(deps.key_ring);
    const { email_retry_delays_s: retry_delays_s, marketing_patience_hours } = deps.config;
    const patience = { retry_delays_s, marketing_ms: marketing_patience_hours * HOUR_MS };
    this.#patience = patience;
    this.attempts = new Attempts({ ...deps, return_paths: this.return_paths, patience }, this.listeners);
    this.bulk = new BulkSending(deps, this.attempts, this.listeners);
    this.sending_now = new SendingNow(deps, this.attempts);
    this.held = new HeldMail({
      ...deps,
      listeners: this.listeners,
      withhold: (tx, id) => this.withhold(tx, id),
    });
    this.listeners.add((_tx, { kind }) => this.outcomes.add(kind));
  }

  /**
   * Takes back a mail that waits and whose recipient is to get nothing more. One that is being sent is not
   * stopped. Where an attempt may have delivered it, it counts as sent.
   */
  withhold(tx: Tx, id: string): void {
    const email = emailLife.find(tx, id);
    if (email?.status !== 'queued') return;
    const { emails, clock } = this.deps;
    endWithheld(tx, email, { emails, listeners: this.listeners, now_ms: clock.now() });
  }

  /**
   * Takes a report about an email. It changes the log where it is about the mail's own recipient, and all
   * who listen are told. False where nothing changes, as for a report that came before. Throws AppError
   * `not_found`.
   */
  report(tx: Tx, email_id: string, kind: ReportKind, evidence: Evidence): boolean {
    return report(tx, { email_id, kind, evidence, at: this.deps.clock.now() }, this.listeners);
  }

  /**
   * The report in a message; null where there is none, or none that `takeReport` would believe. Rejects with
   * UnreadableReport, and with AppError `unavailable`.
   */
  async readReport(message: Uint8Array): Promise<MailReport | null> {
    return this.#mayBeBelieved(message) ? this.deps.report_reader.read(message) : null;
  }

  /** True where a message, by its fields, came to a return path that we made for a single mail. */
  cameToReturnPath(fields: string): boolean {
    const { read } = this.deps.database;
    return returnPathsIn(recipientFieldsOf(fields)).some(
      (address) => this.return_paths.emailOf(read, address) !== null,
    );
  }

  #mayBeBelieved(message: Uint8Array): boolean {
    const { read } = this.deps.database;
    return mayBeBelieved(read, message, this.#matching(read));
  }

  #matching(tx: Tx): MatchingDeps {
    return {
      return_paths: this.return_paths,
      findDkimKey: (domain, selector) => this.deps.sending_domains.findDkimKey(tx, domain, selector),
    };
  }

  /**
   * Takes a report of another mail server if it carries what only our mail had. Otherwise it is not
   * believed, and nothing changes. It leaves out people whom the mail did not go to, and what is not final.
   */
  takeReport(tx: Tx, mail_report: MailReport): TakenReport | null {
    const email = findReportedEmail(tx, mail_report, this.#matching(tx));
    if (!email) return null;
    const told = wordsAbout(email, mail_report).map(({ address, kind, smtp_code, words }) => {
      const is_new = this.report(tx, email.id, kind, { address, smtp_code, words });
      return { recipient: address, kind, is_new };
    });
    return { email_id: email.id, told };
  }

  /** Takes what a relay's provider told of a mail, as relay-events.ts has it. */
  takeEvent(tx: Tx, told: ToldEvent, by: Teller): boolean {
    const { return_paths, listeners } = this;
    return takeEvent(tx, told, by, { return_paths, listeners, now_ms: this.deps.clock.now() });
  }

  /* --- For the operator ------------------------------------------------------------------------------------------- */

  /**
   * As `report`, on an operator's word, with an audit event. Throws AppError `not_found`, `invalid` for an
   * address that the mail did not go to, `conflict` where the mail has not left yet.
   */
  reportByHand(actor: Actor, id: string, said: { kind: ReportKind; address?: string }): Promise<HandReport> {
    const { database, clock, projects } = this.deps;
    return database.write((tx) => {
      const email = emailLife.find(tx, id.toUpperCase());
      if (!email) throw new AppError('not_found', 'Email not found: no email of any project has this id.');
      const { kind, address = email.to_email } = said;
      refuseReport(email, address);
      const is_new = this.report(tx, email.id, kind, { address, words: `said by ${actor.name}` });
      const project = projects.findById(email.project_id);
      if (is_new) {
        const owner = project && { id: email.project_id, public_id: project.public_id };
        const entry = { event: 'email.reported', target: auditTargetOf(email.id), project: owner };
        const is_copy = address.toLowerCase() !== email.to_email.toLowerCase();
        recordAudit(tx, actor, { ...entry, metadata: { kind, is_copy } }, clock.now());
      }
      const after = emailLife.find(tx, email.id) ?? email;
      return { email_id: email.id, kind, recipient: address, is_new, status: after.status };
    });
  }

  /**
   * Takes the report in a message that another mail server sent. Throws AppError `invalid` for one that is
   * no report, is not believed or can't be read.
   */
  async takeReportByHand(actor: Actor, message: Uint8Array): Promise<TakenReport> {
    const { database, clock, report_reader } = this.deps;
    if (!this.#mayBeBelieved(message)) throw unbelieved();
    const mail_report = await report_reader.read(message).catch((error: unknown) => {
      throw error instanceof UnreadableReport ? invalid({ report: [error.message] }) : error;
    });
    if (!mail_report) throw invalid({ report: ['is no report of a mail server: nothing was changed'] });
    return database.write((tx) => {
      const taken = this.takeReport(tx, mail_report);
      if (!taken) throw unbelieved();
      const entry = { event: 'email.reported', target: auditTargetOf(taken.email_id), project: null };
      const kinds = taken.told.flatMap(({ kind, is_new }) => (is_new ? [kind] : []));
      if (kinds.length > 0)
        recordAudit(tx, actor, { ...entry, metadata: { by: 'report', kinds } }, clock.now());
      return taken;
    });
  }

  /** Refusals because of us that only reports told of, since a moment and by mailbox. */
  listRefusedSince(since_ms: number): store.RefusedMailbox[] {
    return store.listRefusedSince(this.deps.database.read, since_ms);
  }

  /** As `reports.ts` has it. */
  wordsOfRefusal(read: Tx, email_id: string): string | null {
    return wordsOfRefusal(read, email_id);
  }

  /** The log of an email of any project and its timeline. Throws AppError `not_found`. */
  explain(id: string): { email: EmailRecord } & ReturnType<typeof timelineOf> {
    const { keys, projects, database, emails } = this.deps;
    const { read } = database;
    const email = emailLife.find(read, id.toUpperCase());
    if (!email) throw new AppError('not_found', 'Email not found: no email of any project has this id.');
    const project = projects.findById(email.project_id);
    const now_ms = this.deps.clock.now();
    const { mailbox_id, is_test } = email;
    const facts: EmailFacts = {
      now_ms,
      held:
        mailbox_id === null || is_test ? null : this.deps.mailboxes.pace.heldBack(read, mailbox_id, now_ms),
      email: { ...email, due_at: this.#leavesAt(email) },
      attempts: attemptsOf(read, email),
      reports: store.listReports(read, email.id),
      replies: this.deps.replies.listNoted(read, email.id),
      retries: listAudit(read, { event: EMAIL_RETRIED, target: auditTargetOf(email.id) }, STORY_RETRIES, 0),
      job: email.job_id === null ? null : findJob(read, email.job_id),
      key: email.api_key_id === null ? null : keys.nameOf(email.api_key_id),
      project: project?.slug ?? null,
      is_project_active: project?.status === 'active',
      hold: explainHold(read),
      has_content: emails.hasContent(read, email),
      patience_ms: isBulk(email.source) ? this.deps.config.marketing_patience_hours * HOUR_MS : null,
    };
    return {
      email: presentEmail(email, project?.public_id ?? ''),
      ...timelineOf(facts),
    };
  }

  /**
   * When bulk mail that waits is tried next: not before its window opens, and never while its project's is
   * switched off.
   */
  #leavesAt({ project_id, due_at }: EmailRow): number | null {
    if (due_at === null || isHeld(due_at)) return due_at;
    const now_ms = this.deps.clock.now();
    const opens_at = this.listeners.opensAt(project_id, now_ms);
    return opens_at > now_ms ? Math.max(due_at, opens_at) : due_at;
  }

  /** Captured messages, newest first. */
  listCaptured(query: PageQuery): Page<CapturedMessage> {
    const { read } = this.deps.database;
    return paginate(query, {
      total: store.countCaptured(read),
      fetch: (limit, offset) => store.listCaptured(read, limit, offset),
    }).map((message) => this.#presentCaptured(message));
  }

  /** The last captured message of one email, as it would have been sent. Throws AppError `not_found`. */
  async readCaptured(id: string): Promise<CapturedMessage & { raw: string }> {
    const { emails, database } = this.deps;
    const message = store.findCaptured(database.read, id.toUpperCase());
    if (!message) throw notFound('Captured message', 'satchel email captured');
    const came = await emails.readWhole(message.email_id);
    const raw = came === null ? message.raw : Buffer.concat([message.raw, came]);
    return { ...this.#presentCaptured(message), raw: raw.toString('utf8') };
  }

  #presentCaptured(message: Omit<store.CapturedRow, 'raw'>): CapturedMessage {
    const { database, projects } = this.deps;
    const email = emailLife.find(database.read, message.email_id);
    return {
      email_id: message.email_id,
      project_id: email ? (projects.findById(email.project_id)?.public_id ?? null) : null,
      mailbox: message.mailbox,
      from: message.envelope.from,
      to: message.envelope.to,
      subject: email?.subject ?? '',
      captured_at: toIso(message.captured_at),
    };
  }

  /**
   * Queues emails that failed, bounced or are unknown again, each by itself, and says of each what became of
   * it.
   */
  requeue(actor: Actor, ids: readonly string[]): Promise<RetryResult[]> {
    return requeueEmails(ids, { deps: { ...this.deps, listeners: this.listeners }, actor });
  }

  /**
   * As `requeue`, of one. Throws AppError `conflict` with the reason where it is not queued,
   * `project_inactive` too.
   */
  async requeueOne(actor: Actor, id: string): Promise<{ id: string; job_id: string | null }> {
    const email = emailLife.find(this.deps.database.read, id);
    if (email) this.deps.projects.requireActive(email.project_id);
    const [result] = await this.requeue(actor, [id]);
    if (!result || 'refusal' in result)
      throw conflict(`The email is not queued again: ${result?.refusal ?? 'it is gone'}.`);
    return result;
  }

  /** As `requeueFailed`, of a project, as requeue-matching.ts says. Throws AppError `conflict` project_inactive. */
  requeueMatching(
    actor: Actor,
    project_id: number,
    { dry_run: is_dry_run = false, ...query }: RetryBody,
  ): Promise<Requeued> {
    this.deps.projects.requireActive(project_id);
    const deps = { ...this.deps, listeners: this.listeners };
    return requeueMatching(project_id, query, { deps, actor, is_dry_run });
  }

  /**
   * Queues again what failed since a moment, oldest first, but for what had better be looked at one by one.
   */
  async requeueFailed(
    actor: Actor,
    since_ms: number,
  ): Promise<{ results: RetryResult[]; left_out: LeftOut[] }> {
    const { ids, left_out } = sortFailed(this.deps.database.read, since_ms, {
      ...this.deps,
      listeners: this.listeners,
    });
    return { results: await this.requeue(actor, ids), left_out };
  }

  /**
   * Brings attempts forward that lie further ahead than any wait allows: a clock that ran ahead leaves such
   * ones. Queues of bulk mail look again at what is due.
   */
  async mendTimes(): Promise<void> {
    const { database, clock, hasten, emails } = this.deps;
    const now_ms = clock.now();
    const soonest = (source: EmailSource): number =>
      now_ms + longestWait({ source, is_unanswered: false }, this.#patience);
    const waitOf = ({ id, source, queued_at }: Pick<EmailRow, 'id' | 'source' | 'queued_at'>): number => {
      const is_unanswered = unansweredOf(store.listAttempts(database.read, id), queued_at) !== null;
      return now_ms + longestWait({ source, is_unanswered }, this.#patience);
    };
    const late = listWaitingJobs(database.read, emailJobs.type, soonest('api')).flatMap((job) => {
      const email = emailLife.find(database.read, emailJobs.emailOf(job));
      // One that was to go out so late waits for that.
      if (!email || (email.scheduled_at !== null && email.attempts === 0)) return [];
      const latest = waitOf(email);
      return job.run_at <= latest ? [] : [(tx: Tx): void => hasten(tx, job.id, latest)];
    });
    const late_bulk = bulkQueues.listDueAfter(database.read, soonest('sequence')).flatMap((email) => {
      const { id, project_id, mailbox_id, due_at } = email;
      const latest = Math.max(waitOf(email), this.listeners.opensAt(project_id, now_ms));
      if (mailbox_id === null || due_at === null || due_at <= latest) return [];
      return [
        (tx: Tx): void => {
          emailLife.wait(tx, id, latest);
          emails.wakeQueue(tx, mailbox_id, latest);
        },
      ];
    });
    const queues = listWaitingJobs(database.read, bulkQueues.type, now_ms).map(
      ({ id }) =>
        (tx: Tx): void =>
          hasten(tx, id, AT_ONCE),
    );
    const changes = [...late, ...late_bulk, ...queues];
    for (let from = 0; from < changes.length; from += SWEEP_BATCH)
      await database.writePiece((tx) => {
        for (const change of changes.slice(from, from + SWEEP_BATCH)) change(tx);
      });
  }

  /** How the log takes part in what is held about an address, with what was said and captured of its mails. */
  holderOfAddresses(): AddressHolder {
    const { database, emails, objects } = this.deps;
    return {
      name: 'emails',
      *find(owner, email) {
        for (const ids of sentMails.idsOfAddress(database, { project_id: owner.id, email }))
          yield ids.map((id) => ({
            show: () => emails.exportMail(database.read, owner, id),
            forget(tx, later) {
              const files = emails.forget(tx, id);
              store.emptyDelivery(tx, id);
              if (files.length > 0) later(() => objects.releaseBytes(files));
            },
          }));
      },
    };
  }

  /** Forgets captured messages whose time is over. */
  async sweep(): Promise<void> {
    const { database, clock } = this.deps;
    const before = clock.now() - EMAIL_BODY_RETENTION_MS;
    const limit = SWEEP_BATCH;
    while ((await database.writePiece((tx) => store.deleteCapturedBefore(tx, before, limit))) === limit) {}
  }
}

function unbelieved(): AppError {
  return invalid({
    report: [
      'carries nothing that only a mail of this server had, such as its signed headers: anybody can write such a message, and nothing was changed',
    ],
  });
}
