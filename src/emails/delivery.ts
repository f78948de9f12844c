/** Delivering an email: one attempt from choosing the mailbox to recording what its relay said. */
import { AppError, messageOf } from '../errors.ts';
import type { Choice, ChosenMailbox, Mailboxes, Outlet } from '../mailboxes/service.ts';
import { type Database, mayPass, type Tx } from '../platform/database/database.ts';
import type { JobRow } from '../platform/database/tables.ts';
import { type Clock, SECOND_MS, utcDay } from '../platform/host/clock.ts';
import { isPlainObject } from '../platform/http/schema.ts';
import type { Beginning, TaskOutcome } from '../platform/jobs/engine.ts';
import type { Mailer } from '../platform/mail/mailer.ts';
import { unmadeOutcome, unsentOutcome } from '../platform/mail/smtp-replies.ts';
import type { DeliveryOutcome, MailContent } from '../platform/mail/types.ts';
import { type AttachmentSource, purposeOf } from './acceptance.ts';
import { isComplaintAddress, simulateDelivery } from './capture.ts';
import {
  type DueEmail,
  endAttempt,
  findDueEmail,
  recordAttempt,
  recordState,
  startAttempt,
} from './hot-store.ts';
import { judgeOutcome, type Verdict } from './outcomes.ts';
import { deletePins, insertCaptured, interruptAttempts, updateEmail } from './store.ts';
import { type EmailSource, NO_MAILBOX } from './tables.ts';

/** What happened to an email, for other capabilities. */
export interface EmailEvent {
  kind: 'sent' | 'bounced' | 'complained' | 'failed';
  email_id: string;
  project_id: number;
  source: EmailSource;
  /** Whom it concerns: of several recipients each bounce is an event of its own. */
  address: string;
  at: number;
}

/** Told of every end of an email in the transaction that records it. */
export type EmailListener = (tx: Tx, event: EmailEvent) => void;

export interface DeliveryDeps {
  database: Database;
  clock: Clock;
  mailer: Mailer;
  mailboxes: Mailboxes;
  objects: AttachmentSource;
  retry_delays_s: readonly [number, number];
}

/** An attempt that is on record. */
export interface Attempt {
  email: DueEmail;
  recipients: string[];
  attempt_id: number;
  started_at: number;
  mailbox: ChosenMailbox | null;
  /** Why there is no mailbox to try with. */
  obstacle: AppError | null;
}

export interface Captured {
  raw: Uint8Array;
  envelope: { from: string; to: string[] };
}

/** How an attempt ended: what the job engine records, and what a waiting client is told. */
export interface Conclusion {
  outcome: TaskOutcome;
  verdict: Verdict;
}

export class Delivery {
  readonly #deps: DeliveryDeps;
  readonly #listeners: EmailListener[] = [];

  constructor(deps: DeliveryDeps) {
    this.#deps = deps;
  }

  listen(listener: EmailListener): void {
    this.#listeners.push(listener);
  }

  /** Chooses the mailbox and puts the attempt on record, within the transaction that takes the job up. */
  begin(tx: Tx, job: JobRow, now_ms: number): Beginning<Attempt> {
    const email = findDueEmail(tx, emailIdOf(job));
    if (!email) return over('failed', 'The email was deleted.', null);
    if (email.status === 'canceled') return over('failed', 'Canceled before it was due.', email.id);
    const done = new Set([...email.taken, ...email.refused.map((recipient) => recipient.address)]);
    const recipients = recipientsOf(email).filter((address) => !done.has(address));
    if (recipients.length === 0) return over('completed', null, email.id);
    const choice = this.#choose(tx, email, now_ms);
    const attempt = email.attempts + 1;
    const facts = { email, recipients, started_at: now_ms };
    if (!choice.ok) {
      updateEmail(tx, email.id, { attempts: attempt, status: email.status === 'sent' ? 'sent' : 'sending' });
      const attempt_id = recordAttempt(tx, {
        email_id: email.id,
        attempt,
        mailbox: NO_MAILBOX,
        choice: choice.explanation,
        now_ms,
      });
      return { go: true, started: { ...facts, attempt_id, mailbox: null, obstacle: choice.error } };
    }
    const attempt_id = this.#take(tx, email, choice, { counts: 1, attempt, now_ms });
    return { go: true, started: { ...facts, attempt_id, mailbox: choice, obstacle: null } };
  }

  #choose(tx: Tx, email: DueEmail, now_ms: number, failed?: ReadonlySet<number>): Choice {
    return this.#deps.mailboxes.take(tx, {
      domain: email.requested_domain,
      purpose: purposeOf(email.source),
      day: email.quota_day ?? utcDay(now_ms),
      now_ms,
      is_test: email.is_test,
      held_mailbox_id: email.mailbox_id,
      ...(failed ? { failed } : {}),
    });
  }

  /** Records that an attempt goes out from this mailbox, and moves the email's place in a quota along. */
  #take(
    tx: Tx,
    email: DueEmail,
    mailbox: ChosenMailbox,
    options: { counts: 0 | 1; attempt: number; now_ms: number },
  ): number {
    const quota_day = email.quota_day ?? utcDay(options.now_ms);
    email.mailbox_id = mailbox.mailbox_id;
    return startAttempt(tx, {
      email_id: email.id,
      mailbox_id: mailbox.mailbox_id,
      quota_day,
      from_email: mailbox.address,
      domain: mailbox.domain,
      choice: mailbox.explanation,
      ...options,
    });
  }

  /**
   * Hands the mail to its relay; where that relay can't be used, to the next one that fits. Never throws for what a
   * relay does. What comes back is yet to be recorded.
   */
  async run(job: JobRow, attempt: Attempt): Promise<Conclusion> {
    const failed = new Set<number>();
    let current = attempt;
    for (;;) {
      const { outcome, captured } = await this.#hand(current);
      const next = hasFailedToConnect(outcome) ? await this.#tryNext(current, outcome, failed) : null;
      if (!next) return this.#conclude(job, current, outcome, captured);
      current = next;
    }
  }

  async #hand(attempt: Attempt): Promise<{ outcome: DeliveryOutcome; captured: Captured | null }> {
    const { email, recipients, mailbox, obstacle } = attempt;
    if (!mailbox) {
      const response = obstacle?.message ?? 'There is no usable mailbox.';
      return { outcome: unsentOutcome({ stage: 'choose', response }), captured: null };
    }
    try {
      const outlet = this.#deps.mailboxes.outletOf(mailbox);
      const content = this.#contentOf(email, outlet);
      if (outlet.route && !email.is_test) {
        return {
          outcome: await this.#deps.mailer.deliver(content, outlet.route, recipients, {
            purpose: purposeOf(email.source),
          }),
          captured: null,
        };
      }
      const outcome = simulateDelivery(recipients);
      if (outcome.outcome !== 'sent') return { outcome, captured: null };
      const raw = await this.#deps.mailer.compose(content);
      const envelope = { from: outlet.envelope_sender, to: outcome.accepted };
      return { outcome, captured: { raw, envelope } };
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return { outcome: outcomeOfFailure(error), captured: null };
    }
  }

  #contentOf(email: DueEmail, outlet: Outlet): MailContent {
    return {
      message_id: email.message_id,
      date_ms: email.scheduled_at ?? email.created_at,
      from: { address: outlet.address, name: email.from_name },
      to: { address: email.to_email, name: email.to_name },
      cc: email.cc,
      bcc: email.bcc,
      reply_to: email.reply_to,
      subject: email.subject,
      html: email.body_html,
      text: email.body_text,
      attachments: email.attachments.map((attachment) => ({
        filename: attachment.filename,
        mime_type: attachment.mime_type,
        size_bytes: attachment.size_bytes,
        path: this.#deps.objects.pathOf(attachment.public_id),
      })),
      headers: email.headers,
      dkim: outlet.dkim,
    };
  }

  /** Takes up the next mailbox that fits, or null when there is none; the failed one is noted either way. */
  async #tryNext(attempt: Attempt, outcome: DeliveryOutcome, failed: Set<number>): Promise<Attempt | null> {
    const { mailbox, email } = attempt;
    const { database, clock, mailboxes } = this.#deps;
    if (!mailbox) return null;
    failed.add(mailbox.mailbox_id);
    const takeUp = (tx: Tx): Attempt | null => {
      const now_ms = clock.now();
      const choice = this.#choose(tx, email, now_ms, failed);
      if (!choice.ok) return null;
      const { smtp_code, response } = outcome;
      endAttempt(tx, attempt.attempt_id, { outcome: 'unreachable', smtp_code, response }, now_ms);
      const { started_at } = attempt;
      mailboxes.recordFailure(tx, mailbox.mailbox_id, {
        started_at,
        now_ms,
        reason: response,
      });
      const attempt_id = this.#take(tx, email, choice, { counts: 0, attempt: email.attempts + 1, now_ms });
      return { ...attempt, attempt_id, started_at: now_ms, mailbox: choice };
    };
    try {
      return await database.write(takeUp);
    } catch (error) {
      // The disk is full or the database busy: the attempt ends with this mailbox, and the mail is tried again.
      if (mayPass(error)) return null;
      throw error;
    }
  }

  #conclude(job: JobRow, attempt: Attempt, outcome: DeliveryOutcome, captured: Captured | null): Conclusion {
    const { email, recipients } = attempt;
    // Attempts that a crash cut off do not count towards those after which it fails.
    const tries = job.attempts - job.interruptions;
    const verdict = judgeOutcome(outcome, {
      to_email: email.to_email,
      recipients,
      taken: email.taken,
      refused: email.refused,
      may_retry: tries < job.max_attempts,
      tries,
    });
    const apply = (tx: Tx): void => this.#record(tx, attempt, { outcome, verdict, captured });
    if (verdict.end === 'retry') {
      const [first, later] = this.#deps.retry_delays_s;
      const run_at = this.#deps.clock.now() + (tries <= 1 ? first : later) * SECOND_MS;
      const is_cut_off = outcome.outcome === 'interrupted';
      return {
        verdict,
        outcome: { status: 'retry', error: verdict.error ?? 'deferred', run_at, apply, is_cut_off },
      };
    }
    const is_sent = verdict.end === 'sent';
    const released = email.attachments.map((attachment) => attachment.public_id);
    return {
      verdict,
      outcome: {
        status: is_sent ? 'completed' : 'failed',
        result: { email_id: email.id },
        error: is_sent ? null : verdict.error,
        apply,
        ...(released.length > 0
          ? { afterCommit: () => void this.#deps.objects.releaseBytes(released).catch(() => {}) }
          : {}),
      },
    };
  }

  /** Writes what an attempt came to: its own row, the log, the mailbox's health, captures and pins. */
  #record(
    tx: Tx,
    attempt: Attempt,
    end: { outcome: DeliveryOutcome; verdict: Verdict; captured: Captured | null },
  ): void {
    const { email, mailbox } = attempt;
    const { outcome, verdict, captured } = end;
    const now_ms = this.#deps.clock.now();
    const attempt_outcome = captured ? 'captured' : verdict.attempt.outcome;
    endAttempt(tx, attempt.attempt_id, { ...verdict.attempt, outcome: attempt_outcome }, now_ms);
    this.#recordHealth(tx, attempt, outcome, now_ms);
    const is_retry = verdict.end === 'retry';
    const is_taken = verdict.taken.length > 0;
    const complainer = captured?.envelope.to.find(isComplaintAddress);
    const status =
      complainer !== undefined ? 'complained' : is_taken ? 'sent' : is_retry ? 'queued' : verdict.end;
    recordState(tx, email.id, {
      status: status === 'retry' ? 'queued' : status,
      smtp_code: verdict.smtp_code,
      smtp_response: verdict.response,
      bounce_type: verdict.bounce_type,
      error: verdict.error,
      taken: verdict.taken,
      refused: verdict.refused,
      sent_at: is_taken ? now_ms : null,
      bounced_at: verdict.end === 'bounced' ? now_ms : null,
      complained_at: complainer === undefined ? null : now_ms,
      failed_at: verdict.end === 'failed' ? now_ms : null,
    });
    if (captured && mailbox) {
      const { raw, envelope } = captured;
      insertCaptured(tx, {
        email_id: email.id,
        mailbox: mailbox.address,
        envelope,
        raw: Buffer.from(raw),
        captured_at: now_ms,
      });
    }
    if (!is_retry && email.attachments.length > 0) deletePins(tx, email.id);
    this.#announce(tx, email, { verdict, outcome, complainer, at: now_ms });
  }

  #recordHealth(tx: Tx, attempt: Attempt, outcome: DeliveryOutcome, now_ms: number): void {
    const { mailbox, started_at, email } = attempt;
    const { mailboxes } = this.#deps;
    if (!mailbox || email.is_test) return;
    if (hasFailedToConnect(outcome)) {
      const reason = outcome.response;
      mailboxes.recordFailure(tx, mailbox.mailbox_id, { started_at, now_ms, reason });
    } else if (outcome.outcome !== 'unreachable' && outcome.outcome !== 'interrupted') {
      mailboxes.recordSuccess(tx, mailbox.mailbox_id, now_ms);
    }
  }

  #announce(
    tx: Tx,
    email: DueEmail,
    end: { verdict: Verdict; outcome: DeliveryOutcome; complainer: string | undefined; at: number },
  ): void {
    if (this.#listeners.length === 0) return;
    const { verdict, at } = end;
    const tell = (kind: EmailEvent['kind'], address: string): void => {
      const { id: email_id, project_id, source } = email;
      for (const listener of this.#listeners)
        listener(tx, { kind, email_id, project_id, source, address, at });
    };
    if (verdict.taken.length > email.taken.length && email.taken.length === 0) tell('sent', email.to_email);
    if (verdict.end === 'failed') tell('failed', email.to_email);
    if (end.complainer !== undefined) tell('complained', end.complainer);
    for (const recipient of verdict.refused.slice(email.refused.length))
      if (recipient.about === 'recipient') tell('bounced', recipient.address);
  }

  /** Mends what a crash cut off: the attempt stays on record, and the email waits again. */
  recover(tx: Tx, job: JobRow, now_ms: number): void {
    const email = findDueEmail(tx, emailIdOf(job));
    if (!email) return;
    interruptAttempts(tx, email.id, now_ms);
    if (email.status === 'sending') updateEmail(tx, email.id, { status: 'queued' });
  }

  /** Records a failure of Satchel's own making. */
  abandon(tx: Tx, job: JobRow, now_ms: number): void {
    const email = findDueEmail(tx, emailIdOf(job));
    if (!email) return;
    interruptAttempts(tx, email.id, now_ms);
    deletePins(tx, email.id);
    if (email.taken.length === 0) {
      const error = 'Something went wrong on the server.';
      updateEmail(tx, email.id, { status: 'failed', failed_at: now_ms, error });
    }
  }
}

export function emailIdOf(job: JobRow): string {
  const { payload } = job;
  return isPlainObject(payload) && typeof payload.email_id === 'string' ? payload.email_id : '';
}

/** Everybody who gets a copy, once: no mailbox in use tells addresses apart by their case. */
export function recipientsOf(email: Pick<DueEmail, 'to_email' | 'cc' | 'bcc'>): string[] {
  if (email.cc.length === 0 && email.bcc.length === 0) return [email.to_email];
  const by_address = new Map<string, string>();
  for (const address of [email.to_email, ...email.cc, ...email.bcc]) {
    const key = address.toLowerCase();
    if (!by_address.has(key)) by_address.set(key, address);
  }
  return [...by_address.values()];
}

function over(
  status: 'completed' | 'failed',
  error: string | null,
  email_id: string | null,
): {
  go: false;
  end: { status: 'completed' | 'failed'; result: Record<string, unknown> | null; error: string | null };
} {
  return { go: false, end: { status, result: email_id === null ? null : { email_id }, error } };
}

/** The relay never came to judge the mail, and has not got it either. */
function hasFailedToConnect(outcome: DeliveryOutcome): boolean {
  return outcome.outcome === 'unreachable' && !outcome.may_be_sent;
}

/** What went wrong before any relay was asked. A mail that can't be made stays so; the rest may pass. */
function outcomeOfFailure(error: AppError): DeliveryOutcome {
  const response = messageOf(error);
  if (error.kind === 'internal') return unsentOutcome({ stage: 'auth', response });
  return unmadeOutcome(response, { is_permanent: error.kind === 'invalid' || error.kind === 'not_found' });
}
