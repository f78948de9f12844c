/** Emails: accepting them, and the log, into which deliveries write what becomes of each. */
import type { Projects } from '../../access/projects/service.ts';
import type { Config } from '../../config.ts';
import { AppError, collectErrors, conflict, type FieldErrors, notFound } from '../../errors.ts';
import type { Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, toIso, utcDay } from '../../platform/host/clock.ts';
import { isUlid } from '../../platform/host/ids.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { CsvTable } from '../../platform/http/csv.ts';
import type { ClaimedKey, Idempotency, KeepAnswer, KeptAnswer } from '../../platform/http/idempotency.ts';
import type { Page } from '../../platform/http/pagination.ts';
import { PLANE_PREFIX, type ProjectCaller } from '../../platform/http/routes.ts';
import type { JobQueue } from '../../platform/jobs/engine.ts';
import { AT_ONCE, finishJob, HELD } from '../../platform/jobs/store.ts';
import { type FramedBodies, fillFrame, type MailContent } from '../../platform/mail/types.ts';
import { type Candidate, listCandidates, sendersOf } from '../mailboxes/service.ts';
import type { AcceptanceDeps, Accepted } from './acceptance.ts';
import * as acceptance from './acceptance.ts';
import { type AcceptBulk, acceptBulk, findPlace, wakeQueue } from './bulk.ts';
import * as bulkQueues from './bulk-store.ts';
import { type AttachmentSource, checkEmail, findAttachments, findSender, purposeOf } from './checking.ts';
import { presentContent } from './content-view.ts';
import { exportLog } from './export.ts';
import * as emailJobs from './jobs.ts';
import * as emailLife from './life-store.ts';
import { filterOf, pageOfLog, presentEmail } from './log.ts';
import {
  type ConfirmationEmail,
  confirmationEmail,
  contentOf,
  type Merge,
  type NewEmail,
  type RenderedContent,
  requestedEmail,
  type ScheduledEmail,
  type SendRequest,
  scheduledEmail,
  type TemplateSource,
} from './new-email.ts';
import * as sentMails from './reading-store.ts';
import {
  type EmailContent,
  type EmailListQuery,
  type EmailLogQuery,
  type EmailRecord,
  isBulk,
  type SendBody,
  type SendResult,
} from './schemas.ts';
import * as store from './store.ts';
import { emailsCascade, sweepEmails } from './sweeping.ts';
import type { EmailRow, EmailSource, EmailStatus } from './tables.ts';
import { findWhole, viewWhole, type WholeDeps, type WholeRef } from './whole.ts';

export { type Accepted, notScheduled, wishesOf } from './acceptance.ts';
export type { AcceptBulk } from './bulk.ts';
export type { AttachmentSource } from './checking.ts';
export { type EmailState, isPinned } from './life-store.ts';
export { listFailedAfter, presentEmail } from './log.ts';
export type { NewEmail } from './new-email.ts';
export type { ReadMail } from './reading-store.ts';
export {
  BULK_SOURCES,
  type EmailRecord,
  emailRecord,
  isBulk,
  type RefusedRecord,
  type RetryBody,
  retryBody,
  type StoredAttachment,
} from './schemas.ts';
export { listFailed } from './store.ts';
export { EMAIL_STATUSES, type EmailRow, type EmailSource, type EmailStatus } from './tables.ts';

export { bulkQueues, emailJobs, emailLife, emailsCascade, sentMails };

interface EmailsDeps
  extends Omit<AcceptanceDeps, 'max_body_bytes'>,
    Pick<WholeDeps, 'internal_objects' | 'viewer'>,
    JobQueue {
  objects: AttachmentSource & WholeDeps['objects'];
  logger: Logger;
  config: Pick<Config, 'public_url' | 'max_email_body_bytes'>;
  database: Database;
  clock: Clock;
  idempotency: Idempotency;
  projects: Pick<Projects, 'requireActive'>;
  templates: TemplateSource;
  /** Sends an email while its client waits, and says what the client is told. */
  sendNow(email: NewEmail, claimed: ClaimedKey): Promise<KeptAnswer>;
}

/** Makes a mail's bodies from what its row names. Throws AppError `invalid` or `not_found`. */
type Renderer = (tx: Tx, merge: Merge, email: EmailRow) => FramedBodies;

/** How a mail that is taken back ends, and its job; no error where it counts as sent. */
export interface TakenBack {
  ending: emailLife.Ending;
  error: string | null;
}

export class Emails {
  readonly #acceptance: AcceptanceDeps;
  readonly #renderers = new Map<EmailSource, Renderer>();
  readonly #data_url: string;

  constructor(private readonly deps: EmailsDeps) {
    this.#acceptance = { ...deps, max_body_bytes: deps.config.max_email_body_bytes };
    this.#data_url = `${deps.config.public_url}${PLANE_PREFIX.data}`;
  }

  /* --- Accepting -------------------------------------------------------------------------------------------------- */

  /**
   * Accepts an email within the transaction and queues it; one that `is_waited_for` gets a job that its
   * sender runs. Throws AppError before it has changed anything: `invalid` by field, `rate_limited` when
   * quotas are used up, `unavailable` when no mailbox can take it.
   */
  accept(tx: Tx, email: NewEmail, options = { is_waited_for: false }): Accepted {
    return acceptance.acceptEmail(tx, email, {
      deps: this.#acceptance,
      now_ms: this.deps.clock.now(),
      ...options,
    });
  }

  /**
   * Accepts emails of one project, as `accept` does. `of` adds to a refusal which email it is about. The
   * transaction takes back what was changed before it.
   */
  acceptAll(tx: Tx, emails: readonly NewEmail[], of: <T>(index: number, work: () => T) => T): Accepted[] {
    const options = { deps: this.#acceptance, now_ms: this.deps.clock.now(), is_waited_for: false };
    return acceptance.acceptAll(tx, emails, options, of);
  }

  /** Accepts a piece of bulk mail: `use` accepts one mail after the other. Returns its result. */
  acceptBulk<T>(tx: Tx, use: (accept: AcceptBulk) => T): T {
    return acceptBulk(
      tx,
      { deps: { ...this.deps, ...this.#acceptance }, now_ms: this.deps.clock.now() },
      use,
    );
  }

  /** Has the job of a mailbox's bulk mail come at a moment, or at once (0). */
  wakeQueue(tx: Tx, mailbox_id: number, run_at: number): void {
    wakeQueue(tx, mailbox_id, run_at, this.deps);
  }

  /** Accepts one mail of a schedule's run and returns its id. Throws as `accept` does. */
  acceptScheduled(tx: Tx, email: ScheduledEmail): string {
    return this.accept(tx, scheduledEmail(email)).id;
  }

  /**
   * Accepts a mail that asks to confirm a sign-up. Throws as `accept` does, and `invalid` where its template
   * no longer fits.
   */
  acceptConfirmation(tx: Tx, mail: ConfirmationEmail): void {
    const { project_id, template, variables } = mail;
    const content = this.deps.templates.renderForSend(project_id, template, variables);
    this.accept(tx, confirmationEmail(mail, mail.layOut(content)));
  }

  /** How many mails that ask for confirmation an address was sent since a moment. */
  countConfirmations(read: Tx, of: { project_id: number; email: string; since_ms: number }): number {
    return store.countConfirmations(read, of);
  }

  /** Addresses that mail of a source may name as `from`. */
  sendersOf(project_id: number, source: EmailSource): string[] {
    return sendersOf(this.#candidatesOf(project_id), purposeOf(source));
  }

  /** Throws AppError `invalid` under `domain` unless it is a domain that the project may send from. */
  checkDomain(project_id: number, domain: string): void {
    findSender(this.#candidatesOf(project_id), { source: 'schedule', domain });
  }

  /**
   * Takes a request to send: queued, scheduled, or sent at once. Answers with what the client is told: 202 or
   * 201, and whether that was told before. Throws AppError `invalid`, `rate_limited`, `unavailable`, and for
   * a mail that was to be sent at once `unavailable` or `invalid` with its email_id and job_id; `conflict`
   * for an Idempotency-Key of another request, and project_inactive.
   */
  send(
    caller: ProjectCaller,
    body: SendBody,
    request: SendRequest,
  ): Promise<KeptAnswer & { is_replayed: boolean }> {
    const { database, idempotency } = this.deps;
    return idempotency.run(request.idempotency, async (claim) => {
      const { kept, ...claimed } = claim(request.idempotency.key === null ? '' : request.hash());
      if (kept) return { ...kept, is_replayed: true };
      this.deps.projects.requireActive(caller.project.id);
      const { public_url } = this.deps.config;
      const { ip, user_agent } = request;
      const content = this.#contentOf(caller, body);
      const email = requestedEmail(caller, body, { ip, user_agent, content, public_url });
      const is_now = body.queue === false && email.scheduled_at === null;
      const answer = is_now
        ? await this.deps.sendNow(email, claimed)
        : await database.write((tx) => this.#acceptAndKeep(tx, email, claimed.keep));
      return { ...answer, is_replayed: false };
    });
  }

  /** All that is wrong with a mail that somebody would send, by field. */
  errorsIn(caller: ProjectCaller, sent: Partial<SendBody>): FieldErrors {
    const { database, clock, objects } = this.deps;
    const { max_body_bytes } = this.#acceptance;
    // Stands in for what a template makes, where that is what is wrong.
    let content: RenderedContent = { subject: '-', body_html: null, body_text: '-' };
    const asked = { to: 'ann@example.org', ...sent };
    const { public_url } = this.deps.config;
    const emailOf = (): NewEmail =>
      requestedEmail(caller, asked, { ip: null, user_agent: null, content, public_url });
    return collectErrors(
      () => {
        content = this.#contentOf(caller, sent);
      },
      () => checkEmail(emailOf(), { max_body_bytes, now_ms: clock.now() }),
      () => findAttachments(database.read, emailOf(), objects),
      () => findSender(this.#candidatesOf(caller.project.id), emailOf()),
    );
  }

  #candidatesOf(project_id: number): Candidate[] {
    return listCandidates(this.deps.database.read, { project_id, day: utcDay(this.deps.clock.now()) });
  }

  #acceptAndKeep(tx: Tx, email: NewEmail, keep: KeepAnswer): KeptAnswer {
    const accepted = this.accept(tx, email);
    const answer: KeptAnswer = {
      status: accepted.scheduled_at === null ? 202 : 201,
      value: this.resultOf(accepted, { status: accepted.status, sent_at: null }),
    };
    keep(tx, answer);
    return answer;
  }

  #contentOf(caller: ProjectCaller, body: Partial<SendBody>): RenderedContent {
    const { templates } = this.deps;
    return contentOf(body, (...asked) => templates.renderForSend(caller.project.id, ...asked));
  }

  /** The answer to the client of an accepted email. */
  resultOf(accepted: Accepted, end: { status: SendResult['status']; sent_at: number | null }): SendResult {
    const is_scheduled = accepted.scheduled_at !== null;
    const url = accepted.api_url ?? this.#data_url;
    return {
      id: accepted.id,
      status: end.status,
      from_email: accepted.from_email,
      domain: accepted.domain,
      job_id: accepted.job_id,
      status_url: is_scheduled ? `${url}/emails/${accepted.id}` : `${url}/jobs/${accepted.job_id}`,
      scheduled_at: toIso(accepted.scheduled_at),
      sent_at: toIso(end.sent_at),
    };
  }

  /* --- Contents --------------------------------------------------------------------------------------------------- */

  /**
   * Sets what renders mail of a source that was accepted with `merge`. It is rendered as it is sent; no copy
   * of each body is kept.
   */
  renderWith(source: EmailSource, renderer: Renderer): void {
    this.#renderers.set(source, renderer);
  }

  /** True where an email's content is still kept, or can be rendered again. */
  hasContent(tx: Tx, email: EmailRow): boolean {
    return email.merge !== null || store.findBodies(tx, email.id) !== null;
  }

  /** The bodies of an email. Throws as `bodiesOf` does. */
  contentOf(tx: Tx, email: EmailRow): store.Bodies {
    const bodies = this.bodiesOf(tx, email);
    const { html, text } = 'frame' in bodies ? fillFrame(bodies) : bodies;
    return { body_html: html, body_text: text };
  }

  /**
   * The bodies of an email, as the mailer takes them. Throws AppError `not_found` where that is no longer kept, and
   * what its renderer throws.
   */
  bodiesOf(tx: Tx, email: EmailRow): Pick<MailContent, 'html' | 'text'> | FramedBodies {
    if (email.merge !== null) {
      const renderer = this.#renderers.get(email.source);
      if (!renderer) throw new AppError('internal', `Nothing renders mail of the source ${email.source}.`);
      return renderer(tx, JSON.parse(email.merge), email);
    }
    const bodies = store.findBodies(tx, email.id);
    if (!bodies) throw new AppError('not_found', 'The content of the email is no longer kept.');
    return { html: bodies.body_html, text: bodies.body_text };
  }

  /** The bytes of a message that came whole and is sent as it came. As `findWhole`. */
  wholeOf(tx: Tx, email: EmailRow): WholeRef | null {
    return findWhole(tx, email, this.deps);
  }

  /** The content of an email, for whoever looks after its project. Throws AppError `not_found`. */
  async readContent(project: { id: number }, id: string): Promise<EmailContent> {
    const { read } = this.deps.database;
    const email = this.#require(read, project.id, id);
    const is_kept = this.hasContent(read, email);
    const whole = is_kept ? this.wholeOf(read, email) : null;
    if (whole) return viewWhole(whole, this.deps);
    const bodies = is_kept ? this.contentOf(read, email) : { body_html: null, body_text: null };
    return presentContent(email, { is_kept, ...bodies }, this.deps.config.public_url);
  }

  /**
   * The message of a mail that came whole, as it is sent but for the signature. Throws AppError `not_found`
   * for other mail too.
   */
  async readMessage(
    project: { id: number },
    id: string,
  ): Promise<{ name: string; bytes: Blob | ReadableStream<Uint8Array> }> {
    const { database, internal_objects } = this.deps;
    const email = this.#require(database.read, project.id, id);
    const whole = this.wholeOf(database.read, email);
    if (!whole) throw notFound('Message');
    return { name: `${email.id}.eml`, bytes: await internal_objects.readWhole(whole.public_id) };
  }

  /** As `readMessage`, of any project and in one piece; null for other mail. */
  async readWhole(id: string): Promise<Uint8Array | null> {
    const { database, internal_objects } = this.deps;
    const email = emailLife.find(database.read, id);
    const whole = email && this.wholeOf(database.read, email);
    return whole ? new Response(await internal_objects.readWhole(whole.public_id)).bytes() : null;
  }

  /* --- The log ---------------------------------------------------------------------------------------------------- */

  /** Throws AppError `not_found`, for another project's email too. */
  get(project: { id: number; public_id: string }, id: string): EmailRecord {
    return presentEmail(this.#require(this.deps.database.read, project.id, id), project.public_id);
  }

  /** A page of the project's log, newest first. */
  list(project: { id: number; public_id: string }, query: EmailListQuery): Page<EmailRecord> {
    return pageOfLog(this.deps.database.read, project, query);
  }

  /** The log as a table, newest first; that it was taken along is noted before. */
  async export(
    project: { id: number; public_id: string },
    query: EmailLogQuery,
    note: Note,
  ): Promise<CsvTable> {
    const { database } = this.deps;
    const metadata = { filter: Object.keys(query) };
    await database.write((tx) => note(tx, { event: 'emails.exported', target: null, metadata }));
    return exportLog(database, filterOf(project.id, query), project.public_id);
  }

  /** How mails stand in the log, and why in its words; those that it has forgotten are left out. */
  standingsOf(read: Tx, ids: readonly string[]): Map<string, { status: EmailStatus; error: string | null }> {
    return new Map(store.listStandings(read, ids).map(({ id, ...standing }) => [id, standing]));
  }

  /** Why a mail stands as it does, in the log's words; null where there is nothing to say. */
  errorOf(read: Tx, id: string): string | null {
    return emailLife.find(read, id)?.error ?? null;
  }

  /** How many mails of all projects wait for one of these mailboxes. */
  countWaitingFor(mailbox_ids: readonly number[]): number {
    return store.countWaitingFor(this.deps.database.read, mailbox_ids);
  }

  /**
   * Cancels a scheduled email and gives its place in the quotas back. Throws AppError `not_found`, and
   * `conflict` when there is nothing to cancel.
   */
  async cancel(project: { id: number; public_id: string }, id: string, note: Note): Promise<EmailRecord> {
    const { database, objects } = this.deps;
    const row = await database.write((tx) => {
      const email = this.#require(tx, project.id, id);
      if (email.status !== 'scheduled')
        throw conflict(`There is nothing to cancel: the email is ${email.status}, not scheduled.`);
      this.takeBack(tx, email);
      note(tx, { event: 'email.canceled', target: `email:${email.id}` });
      return this.#require(tx, project.id, id);
    });
    if (row.attachments.length > 0)
      await objects.releaseBytes(row.attachments.map((attachment) => attachment.public_id));
    return presentEmail(row, project.public_id);
  }

  /** Holds bulk mail that waits until it is released. What is being sent is not stopped. */
  hold(tx: Tx, id: string): void {
    if (emailLife.find(tx, id)?.status === 'queued') emailLife.wait(tx, id, HELD);
  }

  /** Lets bulk mail that was held leave at a moment, in its turn. */
  release(tx: Tx, id: string, at: number): void {
    const email = emailLife.find(tx, id);
    if (!email || email.due_at === null) return;
    const mailbox_id = email.mailbox_id ?? findPlace(tx, email, this.deps.clock.now());
    if (mailbox_id === null) return;
    emailLife.wait(tx, id, at);
    this.wakeQueue(tx, mailbox_id, at);
  }

  /**
   * Ends an email that waits, as `end` says, and gives its place in the quotas back unless an attempt has
   * used it.
   */
  takeBack(
    tx: Tx,
    email: EmailRow,
    end: TakenBack = { ending: { status: 'canceled' }, error: 'Canceled before it was due.' },
  ): void {
    emailLife.finish(tx, email.id, end.ending);
    if (email.job_id !== null) {
      const status = end.error === null ? ('completed' as const) : ('failed' as const);
      const of_job = { status, result: { email_id: email.id }, error: end.error };
      finishJob(tx, email.job_id, of_job, this.deps.clock.now());
    }
    if (email.attempts === 0) acceptance.leavePlace(tx, email);
  }

  /** Has scheduled emails of one project come at another moment. Throws as accepting them does. */
  reschedule(tx: Tx, emails: readonly EmailRow[], scheduled_at: number): void {
    acceptance.rescheduleAll(tx, emails, scheduled_at, {
      deps: this.#acceptance,
      now_ms: this.deps.clock.now(),
    });
  }

  /**
   * Has an email that failed or came back wait once more, with a job of its own or in its mailbox's queue.
   * Returns the job's id, null for bulk mail.
   */
  reopen(
    tx: Tx,
    email: EmailRow,
    place: { mailbox_id: number; quota_day: string },
    now_ms: number,
  ): string | null {
    const is_bulk = isBulk(email.source);
    const job_id = is_bulk ? null : this.deps.enqueue(tx, emailJobs.of(email, place.mailbox_id));
    emailLife.reopen(tx, email, { ...place, job_id, due_at: is_bulk ? AT_ONCE : null, now_ms });
    if (is_bulk) this.wakeQueue(tx, place.mailbox_id, AT_ONCE);
    return job_id;
  }

  /**
   * Empties a mail: its recipients and content go, that there was one stays. One that waits is canceled, and one that is being sent
   * is not tried again. A message that came whole for several names them all: it goes from the others' mails too, and those that
   * still wait are canceled. Returns the objects that it let go of, for `objects.releaseBytes` once that is on disk.
   */
  forget(tx: Tx, id: string): string[] {
    const row = emailLife.find(tx, id);
    if (!row) return [];
    const message = store.findMessage(tx, id);
    if (isWaiting(row)) this.takeBack(tx, row);
    emailLife.empty(tx, row);
    const files = row.attachments.map(({ public_id }) => public_id);
    if (message === null) return files;
    for (const other of store.listOfMessage(tx, message)) {
      if (isWaiting(other)) this.takeBack(tx, other, MESSAGE_GONE);
      emailLife.deleteBodies(tx, other.id);
    }
    return [message, ...files];
  }

  /** A mail with its content, for whom it concerns; null once its row is gone. */
  exportMail(read: Tx, owner: { public_id: string }, id: string): unknown {
    const row = emailLife.find(read, id);
    return row && { ...presentEmail(row, owner.public_id), content: store.findBodies(read, id) };
  }

  #require(tx: Tx, project_id: number, id: string): EmailRow {
    const row = isUlid(id) ? emailLife.find(tx, id.toUpperCase()) : undefined;
    if (row?.project_id !== project_id) throw notFound('Email');
    return row;
  }

  /** Forgets contents, log rows and counts whose time is over. */
  sweep(): Promise<void> {
    return sweepEmails(this.deps);
  }
}

const MESSAGE_GONE: TakenBack = {
  ending: { status: 'canceled', error: 'Its message named somebody who was forgotten, and went with them.' },
  error: 'Canceled before it was due.',
};

const isWaiting = ({ status }: EmailRow): boolean => status === 'scheduled' || status === 'queued';
