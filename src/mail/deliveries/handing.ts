/**
 * Handing a mail to its relay, or keeping it where nothing leaves: what it is made of, how it goes, and what
 * came of it.
 */

import { AppError, messageOf } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { servedTypeOf } from '../../platform/files/media-types.ts';
import { isShortage } from '../../platform/host/shortages.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import { postponedOutcome, unmadeOutcome, unsentOutcome } from '../../platform/mail/outcomes.ts';
import type {
  DeliveryOutcome,
  FramedContent,
  MailContent,
  UnsentOutcome,
  WholeContent,
} from '../../platform/mail/types.ts';
import { type EmailRow, type Emails, wishesOf } from '../emails/service.ts';
import type { Mailboxes, Outlet } from '../mailboxes/service.ts';
import type { Attempt } from './beginning.ts';
import { simulateDelivery } from './capture.ts';
import type { Listeners } from './listeners.ts';
import type { ReturnPaths } from './return-paths.ts';
import type { AttemptOutcome } from './tables.ts';

/** The part of files/objects that handing over needs. */
interface AttachmentFiles {
  /**
   * Calls `work` with the paths of files that hold the bytes of these objects. Throws AppError `unavailable`
   * where they can't be had now.
   */
  withFiles<T>(
    files: readonly { public_id: string; size_bytes: number }[],
    work: (paths: ReadonlyMap<string, string>) => Promise<T>,
  ): Promise<T>;
  /** Called once these objects are no longer pinned: bytes without an object can be removed. */
  releaseBytes(public_ids: readonly string[]): Promise<void>;
}

export interface HandingDeps {
  database: Database;
  mailer: Mailer;
  emails: Pick<Emails, 'bodiesOf' | 'wholeOf'>;
  mailboxes: Pick<Mailboxes, 'outlets'>;
  objects: AttachmentFiles;
  return_paths: Pick<ReturnPaths, 'addressFor' | 'eventCodeFor'>;
}

/** The outcome of handing a mail over; `captured` where it was kept instead. */
export interface Handed {
  outcome: DeliveryOutcome;
  captured: { raw: Uint8Array; envelope: { from: string; to: string[] } } | null;
  /** No relay was asked: the outcome is the simulator's. */
  is_simulated?: boolean;
}

/**
 * The files that a mail is made of, by the objects that they are of; `whole` is all of a mail that is sent as
 * it came.
 */
interface MailFiles {
  whole: { public_id: string; size_bytes: number } | null;
  paths: ReadonlyMap<string, string>;
}

/** How the attempt itself ended, for its row. */
export function attemptOutcomeOf({ outcome, captured }: Handed): AttemptOutcome {
  if (captured) return 'captured';
  if (outcome.outcome === 'sent') return 'sent';
  if (outcome.is_free) return 'postponed';
  return outcome.outcome === 'unreachable' && outcome.may_be_sent ? 'unanswered' : outcome.outcome;
}

export class Handing {
  constructor(
    private readonly deps: HandingDeps,
    private readonly listeners: Pick<Listeners, 'refusalByMx'>,
  ) {}

  /** Never throws for what a relay does, nor for want of descriptors or of room on the disk. */
  async hand(attempt: Attempt): Promise<Handed> {
    const { email } = attempt;
    try {
      const whole = this.deps.emails.wholeOf(this.deps.database.read, email);
      const files = whole ? [whole] : email.attachments;
      if (files.length === 0 || attempt.mailbox instanceof AppError)
        return await this.#handWith(attempt, { whole, paths: new Map() });
      return await this.deps.objects.withFiles(files, (paths) => this.#handWith(attempt, { whole, paths }));
    } catch (error) {
      return { outcome: outcomeOfFailure(error), captured: null };
    }
  }

  async #handWith({ email, recipients, mailbox }: Attempt, files: MailFiles): Promise<Handed> {
    if (mailbox instanceof AppError) return withoutMailbox(mailbox.message);
    const outlet = this.deps.mailboxes.outlets.of(mailbox);
    if (!outlet) return withoutMailbox('It was removed as the message was about to leave.');
    const content = this.#contentOf(email, outlet, files);
    const return_path = await this.#returnPathOf(email, outlet);
    if (outlet.route && !email.is_test) {
      const refusal = await this.listeners.refusalByMx(email);
      if (refusal) return { outcome: refusal, captured: null };
      const { purpose } = wishesOf(email);
      const { mailer } = this.deps;
      return {
        outcome: await mailer.deliver(content, outlet.route, recipients, {
          purpose,
          envelope_id: email.id,
          return_path,
          fields: await this.#eventFieldsOf(email, outlet),
        }),
        captured: null,
      };
    }
    const outcome = simulateDelivery(recipients);
    if (outcome.outcome !== 'sent') return { outcome, captured: null, is_simulated: true };
    const raw = await this.deps.mailer.compose(content);
    const from = return_path ?? outlet.envelope_sender;
    const envelope = { from, to: outcome.accepted };
    return { outcome, captured: { raw, envelope }, is_simulated: true };
  }

  async #returnPathOf(email: EmailRow, { verp_base }: Outlet): Promise<string | null> {
    if (verp_base === null) return null;
    return this.deps.return_paths.addressFor(this.deps.database, verp_base, email.id);
  }

  /** By which the relay's events name the mail. */
  async #eventFieldsOf(email: EmailRow, { event_fields }: Outlet): Promise<Record<string, string>> {
    const code = event_fields && (await this.deps.return_paths.eventCodeFor(this.deps.database, email.id));
    return event_fields && code !== null ? event_fields(code) : {};
  }

  #contentOf(
    email: EmailRow,
    outlet: Outlet,
    { whole, paths }: MailFiles,
  ): MailContent | FramedContent | WholeContent {
    const from = { address: outlet.address, name: email.from_name };
    const { dkim } = outlet;
    if (whole) return { path: paths.get(whole.public_id) ?? '', size_bytes: whole.size_bytes, from, dkim };
    return {
      ...this.deps.emails.bodiesOf(this.deps.database.read, email),
      message_id: email.message_id,
      date_ms: email.scheduled_at ?? email.created_at,
      from,
      to: { address: email.to_email, name: email.to_name },
      cc: email.cc,
      bcc: email.bcc,
      reply_to: email.reply_to,
      subject: email.subject,
      attachments: email.attachments.map((attachment) => ({
        filename: attachment.filename,
        mime_type: servedTypeOf({ ...attachment, is_utf8: attachment.is_utf8 === true }),
        size_bytes: attachment.size_bytes,
        path: paths.get(attachment.public_id) ?? '',
        content_id: attachment.content_id,
      })),
      headers: email.headers,
      dkim,
    };
  }
}

/** A mail that has no mailbox to go out from: another attempt, or another mailbox, may do. */
function withoutMailbox(response: string): Handed {
  return { outcome: unsentOutcome({ stage: 'choose', response }), captured: null };
}

/** The outcome of a failure before a relay was asked. The server's own troubles pass, a bad mail stays bad. */
function outcomeOfFailure(error: unknown): UnsentOutcome {
  const response = messageOf(error);
  if (isShortage(error)) return postponedOutcome(response);
  if (!(error instanceof AppError)) throw error;
  if (error.kind === 'unavailable') return postponedOutcome(response);
  // A password or DKIM key does not decrypt. The mailbox rests, as after a refused log-in; another may take
  // the mail.
  if (error.kind === 'internal') return unsentOutcome({ stage: 'auth', response });
  return unmadeOutcome(response, { is_permanent: error.kind === 'invalid' || error.kind === 'not_found' });
}
