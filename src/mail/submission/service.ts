/** Mail that comes by SMTP: who may hand it in, and what becomes of a message once it is on disk. */

import type { Keys } from '../../access/keys/service.ts';
import type { Projects } from '../../access/projects/service.ts';
import type { Config, SmtpSettings } from '../../config.ts';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { StoreFault } from '../../platform/files/s3-requests.ts';
import { BoundedThread, PieceFailed } from '../../platform/host/bounded-thread.ts';
import { MINUTE_MS } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { describeDiskFailure } from '../../platform/host/shortages.ts';
import { rateOfKey } from '../../platform/http/admission.ts';
import { type KeyCaller, requirePermissions, withoutOrigin } from '../../platform/http/callers.ts';
import { hashRequest, type Idempotency } from '../../platform/http/idempotency.ts';
import type { RateLimiter } from '../../platform/http/rate-limit.ts';
import { isPlainObject, named, nullable, oneOf, type Static, t } from '../../platform/http/schema.ts';
import type { Emails, NewEmail } from '../emails/service.ts';
import { type MessageStore, messageFile, requireSender, WRONG_SENDER, wholeMail } from '../whole-messages.ts';
import { describeCertificate, readPair } from './certificate.ts';
import {
  type Answer,
  type Measures,
  type Question,
  type Reply,
  SMTP_READ_MS,
  type Submitted,
  type ThreadSettings,
  type TlsPair,
} from './protocol.ts';
import { SubmissionThread } from './thread.ts';

/** Any name does, and most apps ask for one. */
const SMTP_USER = 'satchel';
const EVERYWHERE = ['0.0.0.0', '::'];

interface SubmissionDeps {
  config: Config;
  database: Database;
  logger: Logger;
  limiter: RateLimiter;
  idempotency: Idempotency;
  keys: Pick<Keys, 'authenticate'>;
  projects: Pick<Projects, 'requireActive'>;
  emails: Pick<Emails, 'acceptAll' | 'sendersOf'>;
  internal_objects: MessageStore;
  ownership: { refuseChanges(): void };
}

export class Submission {
  #thread: SubmissionThread | null = null;
  #pair: TlsPair | null = null;
  #look: Timer | null = null;
  /** Where it listens. */
  ports: { port: number | null; tls_port: number | null } | null = null;

  constructor(private readonly deps: SubmissionDeps) {}

  /**
   * Opens the listeners of the settings. Throws AppError `conflict` where a port can't be had, and `invalid` where the files of the
   * certificate are of no use.
   */
  async start(times: Pick<ThreadSettings, 'sign_in_ms' | 'idle_ms'> = {}): Promise<void> {
    const { config, logger } = this.deps;
    const { smtp } = config;
    if (!smtp) return;
    // With `serve --tls` the pair comes by `use`.
    if (smtp.certificate && !config.tls) this.#pair = readPair(smtp.certificate);
    const { host, port, tls_port, plain_from } = smtp;
    const { data_dir, public_url, max_message_bytes: max_bytes } = config;
    const name = new URL(public_url).hostname;
    this.#thread = new SubmissionThread(
      { name, host, port, tls_port, plain_from, max_bytes, data_dir, pair: this.#pair, ...times },
      { logger, answer: (question) => this.#answer(question) },
    );
    this.ports = await this.#thread.start();
    logger.info('smtp listening', { host, ...this.ports });
    this.#look = setInterval(() => this.lookAtFiles(), MINUTE_MS);
    this.#look.unref();
  }

  /** Has new connections get another certificate. */
  use(pair: TlsPair): void {
    this.#pair = pair;
    this.#thread?.use(pair);
  }

  /** Reads the files of the certificate again. A pair that is of no use leaves the one before. */
  lookAtFiles(): void {
    const { config, logger } = this.deps;
    if (!config.smtp?.certificate || config.tls) return;
    try {
      const pair = readPair(config.smtp.certificate);
      if (pair.cert !== this.#pair?.cert || pair.key !== this.#pair.key) this.use(pair);
    } catch (error) {
      logger.warn('the certificate of the SMTP server stays as it was', { error: messageOf(error) });
    }
  }

  /** Takes no new message, and lets those on their way come to their end within the deadline. */
  async stop(deadline_ms: number): Promise<void> {
    if (this.#look) clearInterval(this.#look);
    await this.#thread?.stop(deadline_ms);
  }

  /** What an app is to be set to; null without a listener. */
  access(): SmtpAccess | null {
    const { config } = this.deps;
    return accessOf({ ...config, smtp: config.smtp && { ...config.smtp, ...this.ports } });
  }

  /** Null without a listener. */
  measures(): Measures | null {
    return this.#thread?.count() ?? null;
  }

  async #answer(question: Question): Promise<Answer> {
    const { op, api_key } = question;
    try {
      if (op === 'take') return { ok: true, taken: await this.#take(api_key, question.message) };
      const caller = this.#callerOf(api_key);
      if (op === 'begin') this.deps.limiter.take(`key:${caller.key_id}`, rateOfKey(caller));
      return { ok: true, taken: null };
    } catch (error) {
      return { ok: false, reply: op === 'sign_in' ? refusalOfSignIn(error) : this.#refusalOf(error, op) };
    }
  }

  /** Throws AppError `unauthenticated`, and `forbidden` for a key that may not send this way. */
  #callerOf(api_key: string): KeyCaller {
    const caller = withoutOrigin((credentials) => this.deps.keys.authenticate(credentials), api_key || '-');
    requirePermissions(caller, ['email']);
    return caller;
  }

  /** Accepts a message that is on disk: one mail for each recipient, all of them or none. */
  #take(api_key: string, message: Submitted): Promise<{ id: string; is_kept: boolean }> {
    const { idempotency, projects, internal_objects, emails, ownership } = this.deps;
    const caller = this.#callerOf(api_key);
    const request = {
      project_id: caller.project_id,
      caller: `key:${caller.key_id}`,
      key: message.idempotency_key,
      acceptAgain: () => this.#callerOf(api_key),
    };
    return idempotency.run(request, async (claim) => {
      const { kept, keep } = claim(hashOf(message));
      if (kept) return { id: isPlainObject(kept.value) ? String(kept.value.id) : '', is_kept: false };
      projects.requireActive(caller.project_id);
      requireSender(emails, { ...caller, source: 'smtp', from: message.from_email });
      const mails = mailsOf(message, caller);
      let id = '';
      await internal_objects.keep([messageFile(message, caller)], (tx) => {
        // Others had their turn meanwhile.
        this.#callerOf(api_key);
        ownership.refuseChanges();
        id = emails.acceptAll(tx, mails, (_index, work) => work())[0]?.id ?? '';
        keep(tx, { status: 250, value: { id } });
      });
      return { id, is_kept: true };
    });
  }

  #refusalOf(error: unknown, op: 'begin' | 'take'): Reply {
    const disk = describeDiskFailure(codeBehind(error));
    if (disk !== null)
      return { code: 452, text: `4.3.1 The message was not stored: ${disk}. Try again later.` };
    if (!(error instanceof AppError)) {
      this.deps.logger.error('a message could not be taken', { error: messageOf(error) });
      return { code: 451, text: '4.3.0 Something went wrong on the server. Try again later.' };
    }
    if (error instanceof StoreFault) return { code: 451, text: `4.3.0 ${error.message}` };
    const { kind, message } = error;
    if (kind === 'unauthenticated' || kind === 'forbidden') return { code: 530, text: `5.7.0 ${message}` };
    if (kind === 'rate_limited')
      return op === 'begin'
        ? { code: 450, text: `4.7.1 ${message}` }
        : { code: 451, text: `4.7.1 ${message}` };
    if (error.code === WRONG_SENDER || error.errors?.from) return { code: 550, text: `5.7.1 ${message}` };
    if (kind === 'invalid' || kind === 'conflict') return { code: 554, text: `5.6.0 ${message}` };
    return { code: 451, text: `4.3.2 ${message}` };
  }
}

/** A key that is unknown is told no more than one that is switched off. */
function refusalOfSignIn(error: unknown): Reply {
  const { kind = 'internal', message } = error instanceof AppError ? error : { message: '' };
  if (kind === 'unauthenticated')
    return { code: 535, text: '5.7.8 The password must be an API key that is active.' };
  if (kind === 'forbidden') return { code: 535, text: `5.7.8 ${message}` };
  return { code: 454, text: '4.7.0 Nobody can sign in at present. Try again later.' };
}

/** Under one X-Satchel-Idempotency-Key a message is the same where these are. */
function hashOf({ from_email, subject, recipients }: Submitted): string {
  return hashRequest(
    'SMTP',
    '',
    from_email?.toLowerCase() ?? '',
    subject,
    recipients.join('\n').toLowerCase(),
  );
}

/** The mails that a message makes, one for each recipient. */
function mailsOf(message: Submitted, caller: KeyCaller): NewEmail[] {
  const { from_email: from, from_name, reply_to, subject } = message;
  const mail = {
    source: 'smtp',
    from,
    from_name,
    reply_to,
    subject,
    to_name: null,
    scheduled_at: null,
  } as const;
  return message.recipients.map((to) => wholeMail({ ...mail, to }, message, caller));
}

function codeBehind(error: unknown): string | null {
  return errorCodeOf(error) ?? (error instanceof Error && error.cause ? codeBehind(error.cause) : null);
}

/**
 * What an app is to be set to; null without a listener. TLS from the first byte goes before STARTTLS (RFC 8314), and a name that the
 * certificate is for before others.
 */
export function accessOf({
  smtp,
  tls,
  public_url,
}: Pick<Config, 'smtp' | 'tls' | 'public_url'>): SmtpAccess | null {
  if (!smtp) return null;
  const has_certificate = tls !== null || smtp.certificate !== null;
  const named = tls?.names[0] ?? nameOf(smtp);
  const host = named ?? (EVERYWHERE.includes(smtp.host) ? new URL(public_url).hostname : smtp.host);
  const port = smtp.tls_port ?? smtp.port ?? 0;
  const how = smtp.tls_port !== null ? 'tls' : has_certificate ? 'starttls' : 'none';
  return { host, port, tls: how, user: SMTP_USER };
}

function nameOf({ certificate }: SmtpSettings): string | null {
  try {
    return certificate && describeCertificate(readPair(certificate)).name;
  } catch {
    return null;
  }
}

export interface MessageView {
  headers: { name: string; value: string }[];
  body_html: string | null;
  body_text: string | null;
  attachments: { public_id: null; filename: string; mime_type: string; size_bytes: number }[];
}

export class MessageViewer {
  readonly #thread = new BoundedThread<{ path: string }, MessageView>({
    startWorker: () => new Worker(new URL('./viewing.worker.ts', import.meta.url)),
    cpu_ms: SMTP_READ_MS,
  });

  /** Reads the message in a file. Throws AppError `unavailable` where that takes too long. */
  async view(path: string): Promise<MessageView> {
    try {
      return await this.#thread.do({ path });
    } catch (error) {
      if (!(error instanceof PieceFailed)) throw error;
      throw new AppError('unavailable', `The message could not be read: ${error.message}`, { cause: error });
    }
  }

  stop(): void {
    this.#thread.stop();
  }
}

export const smtpAccess = named(
  'SmtpAccess',
  t.Object({
    host: t.String(),
    port: t.Integer(),
    tls: oneOf(['tls', 'starttls', 'none']),
    user: t.String({ description: 'Any name does.' }),
  }),
);
export type SmtpAccess = Static<typeof smtpAccess>;

export const smtpAnswer = t.Object({ smtp: nullable(smtpAccess) });
