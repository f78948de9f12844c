/** Emails: accepting them, the log, and what an operator asks of it. */
import type { Config } from '../config.ts';
import { AppError, conflict, notFound } from '../errors.ts';
import {
  EMAIL_BODY_RETENTION_MS,
  EMAIL_LOG_RETENTION_MS,
  EMAIL_SWEEP_STEP_MS,
  MAX_USER_AGENT_CHARS,
  STORY_RETRIES,
  SWEEP_BATCH,
} from '../limits.ts';
import { listAudit } from '../platform/database/audit-trail.ts';
import type { Tx } from '../platform/database/database.ts';
import { DAY_MS, toIso, utcDay } from '../platform/host/clock.ts';
import { isUlid } from '../platform/host/ids.ts';
import type { Logger } from '../platform/host/logger.ts';
import type { Actor, KeyCaller } from '../platform/http/callers.ts';
import type { Idempotency, KeepAnswer, KeptAnswer } from '../platform/http/idempotency.ts';
import type { Page } from '../platform/http/pagination.ts';
import { PLANE_PREFIX } from '../platform/http/routes.ts';
import { finishJob } from '../platform/jobs/store.ts';
import { type AcceptanceDeps, type Accepted, acceptEmail, type NewEmail } from './acceptance.ts';
import { Delivery, type DeliveryDeps, type EmailListener } from './delivery.ts';
import { pageOfLog, presentEmail } from './log.ts';
import {
  auditTargetOf,
  EMAIL_RETRIED,
  type LeftOut,
  type RetryResult,
  retryEmails,
  sortFailed,
} from './retrying.ts';
import type { EmailListQuery, EmailRecord, SendBody, SendResult } from './schemas.ts';
import { SendingNow } from './sending-now.ts';
import * as store from './store.ts';
import { tellStory } from './story.ts';
import type { EmailRow } from './tables.ts';

export { type Accepted, EMAIL_SEND, type NewEmail } from './acceptance.ts';
export type { EmailEvent, EmailListener } from './delivery.ts';

/** What emails ask of the templates capability. Throws AppError `invalid` where the template does not fit. */
export interface TemplateSource {
  renderForSend(
    project_id: number,
    slug: string,
    variables: Readonly<Record<string, unknown>>,
  ): { subject: string; body_html: string | null; body_text: string | null };
}

export interface EmailsDeps
  extends Omit<AcceptanceDeps, 'max_body_bytes'>,
    Omit<DeliveryDeps, 'retry_delays_s'> {
  config: Pick<Config, 'public_url' | 'max_email_body_bytes' | 'email_retry_delays_s'>;
  logger: Logger;
  idempotency: Idempotency;
  templates: TemplateSource;
  /** Names for people: of a key and of a project, by numeric id; null where it is gone. */
  names: {
    keyOf(id: number): string | null;
    projectOf(id: number): { public_id: string; slug: string } | null;
  };
}

/** What a request is, besides its body. */
export interface SendRequest {
  idempotency_key: string | null;
  /** Called only where there is an Idempotency-Key. */
  hash(): string;
  ip: string | null;
  user_agent: string | null;
}

/** One mail of a schedule's run. */
export interface ScheduledEmail
  extends Pick<
    NewEmail,
    'project_id' | 'api_key_id' | 'is_test' | 'cc' | 'bcc' | 'reply_to' | 'from_name' | 'domain' | 'template'
  > {
  to: { email: string; name: string | null };
  content: Pick<NewEmail, 'subject' | 'body_html' | 'body_text'>;
}

export interface CapturedMessage {
  email_id: string;
  project_id: string | null;
  mailbox: string;
  from: string;
  to: string[];
  subject: string;
  captured_at: string;
}

export class Emails {
  readonly delivery: Delivery;
  readonly #deps: EmailsDeps;
  readonly #acceptance: AcceptanceDeps;
  readonly #sending_now: SendingNow;
  readonly #data_url: string;

  constructor(deps: EmailsDeps) {
    this.#deps = deps;
    this.#acceptance = { ...deps, max_body_bytes: deps.config.max_email_body_bytes };
    this.delivery = new Delivery({ ...deps, retry_delays_s: deps.config.email_retry_delays_s });
    this.#sending_now = new SendingNow({
      ...{ database: deps.database, clock: deps.clock, logger: deps.logger },
      ...{ acceptance: this.#acceptance, delivery: this.delivery },
      resultOf: (accepted, end) => this.#resultOf(accepted, end),
    });
    this.#data_url = `${deps.config.public_url}${PLANE_PREFIX.data}`;
  }

  /** Has a capability told of what happens to emails, in the transaction that records it. */
  listen(listener: EmailListener): void {
    this.delivery.listen(listener);
  }

  /* --- Accepting -------------------------------------------------------------------------------------------------- */

  /**
   * Accepts an email within the transaction and queues it. Throws AppError before it has changed anything: `invalid`
   * by field, `rate_limited` when quotas are used up, `unavailable` when no mailbox can take it.
   */
  accept(tx: Tx, email: NewEmail): Accepted {
    return acceptEmail(tx, email, { deps: this.#acceptance, now_ms: this.#deps.clock.now() });
  }

  /** Accepts one mail of a schedule's run and returns its id. Throws as `accept` does. */
  acceptScheduled(tx: Tx, email: ScheduledEmail): string {
    const { to, content, ...rest } = email;
    return this.accept(tx, {
      ...rest,
      ...content,
      to: to.email,
      to_name: to.name,
      source: 'schedule',
      attachments: [],
      scheduled_at: null,
      client: null,
    }).id;
  }

  /** Throws AppError `invalid` under `domain` unless it is a domain to send from. */
  checkDomain(domain: string): void {
    this.#deps.mailboxes.checkDomain(domain);
  }

  /**
   * Takes a request to send: queued, scheduled, or sent at once. Answers with what the client is told: 202 or 201, and
   * whether that was told before.
   * Throws AppError `invalid`, `rate_limited`, `unavailable`, and for a mail that was to be sent at once `unavailable`
   * or `invalid` with its email_id and job_id; `conflict` for an Idempotency-Key of another request.
   */
  send(
    caller: KeyCaller,
    body: SendBody,
    request: SendRequest,
  ): Promise<KeptAnswer & { is_replayed: boolean }> {
    const { database, idempotency } = this.#deps;
    const { idempotency_key: key } = request;
    return idempotency.run({ api_key_id: caller.key_id, key }, async (claim) => {
      const { kept, ...claimed } = claim(key === null ? '' : request.hash());
      if (kept) return { ...kept, is_replayed: true };
      const email = this.#emailOf(caller, body, request);
      const is_now = body.queue === false && email.scheduled_at === null;
      const answer = is_now
        ? await this.#sending_now.send(email, claimed)
        : await database.write((tx) => this.#acceptAndKeep(tx, email, claimed.keep));
      return { ...answer, is_replayed: false };
    });
  }

  #acceptAndKeep(tx: Tx, email: NewEmail, keep: KeepAnswer): KeptAnswer {
    const accepted = this.accept(tx, email);
    const answer: KeptAnswer = {
      status: accepted.scheduled_at === null ? 202 : 201,
      value: this.#resultOf(accepted, { status: accepted.status, sent_at: null }),
    };
    keep(tx, answer);
    return answer;
  }

  #emailOf(caller: KeyCaller, body: SendBody, request: SendRequest): NewEmail {
    const content =
      body.template === undefined
        ? {
            subject: body.subject ?? '',
            body_html: body.body_html ?? null,
            body_text: body.body_text ?? null,
          }
        : this.#deps.templates.renderForSend(caller.project_id, body.template, body.variables ?? {});
    return {
      ...content,
      project_id: caller.project_id,
      api_key_id: caller.key_id,
      is_test: caller.is_test,
      source: 'api',
      to: body.to,
      to_name: body.to_name ?? null,
      cc: body.cc ?? [],
      bcc: body.bcc ?? [],
      reply_to: body.reply_to ?? null,
      from_name: body.from_name ?? null,
      template: body.template ?? null,
      domain: body.domain ?? null,
      attachments: body.attachments ?? [],
      scheduled_at: body.scheduled_at === undefined ? null : Date.parse(body.scheduled_at),
      client:
        caller.app_id === null
          ? null
          : {
              app_id: caller.app_id,
              ip: request.ip,
              user_agent: request.user_agent?.slice(0, MAX_USER_AGENT_CHARS) ?? null,
            },
    };
  }

  #resultOf(accepted: Accepted, end: { status: string; sent_at: number | null }): SendResult {
    const is_scheduled = accepted.scheduled_at !== null;
    return {
      id: accepted.id,
      status: end.status,
      from_email: accepted.from_email,
      domain: accepted.domain,
      job_id: accepted.job_id,
      status_url: is_scheduled
        ? `${this.#data_url}/emails/${accepted.id}`
        : `${this.#data_url}/jobs/${accepted.job_id}`,
      scheduled_at: toIso(accepted.scheduled_at),
      sent_at: toIso(end.sent_at),
    };
  }

  /* --- The log ---------------------------------------------------------------------------------------------------- */

  /** Throws AppError `not_found`, for another project's email too. */
  get(project: { id: number; public_id: string }, id: string): EmailRecord {
    return presentEmail(this.#require(this.#deps.database.read, project.id, id), project.public_id);
  }

  /** A page of the project's log, newest first. */
  list(project: { id: number; public_id: string }, query: EmailListQuery): Page<EmailRecord> {
    return pageOfLog(this.#deps.database.read, project.id, query).map((row) =>
      presentEmail(row, project.public_id),
    );
  }

  /**
   * Cancels a scheduled email and gives its place in the quotas back. Throws AppError `not_found`, and `conflict` when
   * there is nothing to cancel.
   */
  async cancel(project: { id: number; public_id: string }, id: string): Promise<EmailRecord> {
    const { database, clock, mailboxes, objects } = this.#deps;
    const row = await database.write((tx) => {
      const email = this.#require(tx, project.id, id);
      if (email.status !== 'scheduled')
        throw conflict(`There is nothing to cancel: the email is ${email.status}, not scheduled.`);
      store.updateEmail(tx, email.id, { status: 'canceled' });
      if (email.job_id !== null) {
        const result = { email_id: email.id };
        finishJob(
          tx,
          email.job_id,
          { status: 'failed', result, error: 'Canceled before it was due.' },
          clock.now(),
        );
      }
      if (email.quota_day !== null) {
        if (email.mailbox_id !== null && !email.is_test)
          mailboxes.release(tx, email.mailbox_id, email.quota_day);
        if (email.api_key_id !== null) store.releaseKeyUsage(tx, email.api_key_id, email.quota_day);
      }
      store.deletePins(tx, email.id);
      return this.#require(tx, project.id, id);
    });
    if (row.attachments.length > 0)
      await objects.releaseBytes(row.attachments.map((attachment) => attachment.public_id));
    return presentEmail(row, project.public_id);
  }

  /** How emails take part in the deletion of their project: those still scheduled leave their places to others. */
  projectCascade() {
    return {
      count: () => ({}),
      remove: (tx: Tx, project: { id: number }): void => {
        for (const { mailbox_id, day } of store.listScheduledPlaces(tx, project.id))
          this.#deps.mailboxes.release(tx, mailbox_id, day);
      },
    };
  }

  #require(tx: Tx, project_id: number, id: string): EmailRow {
    const row = isUlid(id) ? store.findEmail(tx, id.toUpperCase()) : undefined;
    if (row?.project_id !== project_id) throw notFound('Email');
    return row;
  }

  /* --- For the operator ------------------------------------------------------------------------------------------- */

  /** The log of an email of any project, and its story in plain words. Throws AppError `not_found`. */
  explain(id: string): { email: EmailRecord; story: string[] } {
    const { read } = this.#deps.database;
    const email = store.findEmail(read, id.toUpperCase());
    if (!email) throw new AppError('not_found', 'Email not found: no email of any project has this id.');
    const project = this.#deps.names.projectOf(email.project_id);
    const story = tellStory({
      email,
      attempts: store.listAttempts(read, email.id),
      retries: listAudit(read, { event: EMAIL_RETRIED, target: auditTargetOf(email.id) }, STORY_RETRIES, 0),
      job: email.job_id === null ? null : (store.findJob(read, email.job_id) ?? null),
      key: email.api_key_id === null ? null : this.#deps.names.keyOf(email.api_key_id),
      project: project?.slug ?? null,
      has_body: store.hasBody(read, email.id),
    });
    return { email: presentEmail(email, project?.public_id ?? ''), story };
  }

  /** What was captured instead of sent, newest first. */
  listCaptured(limit: number): CapturedMessage[] {
    return store.listCaptured(this.#deps.database.read, limit).map(({ message, email }) => ({
      email_id: message.email_id,
      project_id: this.#deps.names.projectOf(email.project_id)?.public_id ?? null,
      mailbox: message.mailbox,
      from: message.envelope.from,
      to: message.envelope.to,
      subject: email.subject,
      captured_at: toIso(message.captured_at),
    }));
  }

  /** What was captured last of one email, as it would have been sent. Throws AppError `not_found`. */
  readCaptured(id: string): CapturedMessage & { raw: string } {
    const { read } = this.#deps.database;
    const email = store.findEmail(read, id.toUpperCase());
    const [message] = email ? store.listCapturedOf(read, email.id) : [];
    if (!email || !message) throw notFound('Captured message', 'satchel email captured');
    return {
      email_id: email.id,
      project_id: this.#deps.names.projectOf(email.project_id)?.public_id ?? null,
      mailbox: message.mailbox,
      from: message.envelope.from,
      to: message.envelope.to,
      subject: email.subject,
      captured_at: toIso(message.captured_at),
      raw: message.raw.toString('utf8'),
    };
  }

  /** Queues failed or bounced emails again, each by itself, and says of each what became of it. */
  retry(actor: Actor, ids: readonly string[]): Promise<RetryResult[]> {
    return retryEmails(ids, { deps: this.#deps, actor });
  }

  /** Queues again what failed since a moment, oldest first, but for what had better be looked at one by one. */
  async retryFailed(
    actor: Actor,
    since_ms: number,
  ): Promise<{ results: RetryResult[]; left_out: LeftOut[] }> {
    const { ids, left_out } = sortFailed(this.#deps.database.read, since_ms);
    return { results: await this.retry(actor, ids), left_out };
  }

  /** Forgets contents, log rows and counts whose time is over. */
  async sweep(): Promise<void> {
    const { database, clock, mailboxes } = this.#deps;
    const now = clock.now();
    const limit = SWEEP_BATCH;
    const bodies_before = now - EMAIL_BODY_RETENTION_MS;
    const step = { limit, step_ms: EMAIL_SWEEP_STEP_MS };
    while ((await database.write((tx) => store.deleteOldBodies(tx, bodies_before, step))) > 0) {}
    const log_before = now - EMAIL_LOG_RETENTION_MS;
    while ((await database.write((tx) => store.deleteOldEmails(tx, log_before, limit))) === limit) {}
    await database.write((tx) => store.deleteKeyUsageBefore(tx, utcDay(now - 2 * DAY_MS)));
    await mailboxes.sweepUsage();
  }
}

/** Which bytes of deleted objects must stay: those of mails that are not out yet. */
export class AttachmentPins {
  isPinned(tx: Tx, object_public_id: string): boolean {
    return store.isPinned(tx, object_public_id);
  }
}
