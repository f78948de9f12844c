/** Trying a relay before a mailbox is made of it: what its server says, and what to do about it. Saves nothing. */
import { AppError, invalid } from '../../errors.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { parseAddress } from '../../platform/mail/address.ts';
import type { Mailer } from '../../platform/mail/mailer.ts';
import type { RelayCheck } from '../../platform/mail/types.ts';
import type { Relay } from './relay.ts';
import { otherPortsHint, providerAt } from './relay-providers.ts';

/** Contract. Each holds a connection to a server that somebody named. */
const CHECKS_AT_ONCE = 2;

export const CHECK_STAGES = ['connect', 'tls', 'greeting', 'login', 'sender'] as const;

export interface CheckedRelay {
  ok: boolean;
  stage: RelayCheck['stage'];
  words: string;
  /** Null where nothing needs to be done. */
  hint: string | null;
}

export class RelayChecks {
  #running = 0;

  constructor(private readonly deps: { database: Database; clock: Clock; mailer: Pick<Mailer, 'check'> }) {}

  /**
   * Connects, logs in and asks whether mail from the mailbox would be taken, within 15 s; the address that was looked up is
   * the one connected to. It stands on the audit trail. Throws AppError `invalid` for an address that is none, `rate_limited`
   * while two others run.
   */
  async check(
    actor: Actor,
    { address, relay, return_path }: { address: string; relay: Relay; return_path?: string | null },
  ): Promise<CheckedRelay> {
    const { database, clock, mailer } = this.deps;
    const parsed = parseAddress(address);
    if (!parsed) throw invalid({ address: ['must be an email address, such as hello@example.com'] });
    if (this.#running >= CHECKS_AT_ONCE)
      throw new AppError(
        'rate_limited',
        `At most ${CHECKS_AT_ONCE} relays are checked at once. Try again in a moment.`,
        {
          retry_after_s: 5,
        },
      );
    this.#running += 1;
    try {
      const { host, port, security, username, password } = relay;
      const told = { event: 'mailbox.checked', target: `mailbox:${parsed.address}`, project: null };
      await database.write((tx) =>
        recordAudit(tx, actor, { ...told, metadata: { relay: `${host}:${port}` } }, clock.now()),
      );
      const server = { host, port, security, username, password };
      const route = { ...server, key: 'check', client_name: parsed.domain, return_path: null };
      const found = await mailer.check(route, return_path ?? parsed.address);
      const { stage, words } = found;
      return { ok: stage === null, stage, words, hint: hintOf(found, relay) };
    } finally {
      this.#running -= 1;
    }
  }
}

/** What a provider wants as password, by the name of its preset. */
const LOGIN_HINTS: Readonly<Record<string, string>> = {
  ses: "Amazon SES wants its own SMTP credentials, made under 'SMTP settings': an access key does not work.",
  sendgrid: "SendGrid's user is always apikey, and the password an API key that may send mail.",
  mailgun: "Mailgun wants the SMTP credentials of the sending domain, which stand under 'Domain settings'.",
  postmark: "Postmark's user and password are both the token of the server.",
  resend: "Resend's user is always resend, and the password an API key that may send.",
  brevo: "Brevo's password is an SMTP key, made under 'SMTP & API'.",
  mailjet: "Mailjet's user is the API key and its password the secret key.",
  google: 'Google wants an app password, which an account has once two-step verification is on.',
  microsoft: "Microsoft 365 wants 'Authenticated SMTP' switched on for this mailbox.",
  fastmail: 'Fastmail wants an app password that may send by SMTP.',
};

function hintOf({ stage, smtp_code, words }: RelayCheck, { host, port }: Relay): string | null {
  switch (stage) {
    case null:
      return null;
    case 'connect':
      return (
        otherPortsHint({ host, port }, words) ??
        (port === 25
          ? 'Many hosting providers close port 25. Try 587, or 465 with TLS.'
          : 'Is the host spelt as the provider writes it, and its port? The usual ones are 587, and 465 with TLS; some hosting providers close them, and 2525 is then often open.')
      );
    case 'tls':
      return 'Port 465 begins with TLS, port 587 has STARTTLS. The host must be the name that stands in its certificate.';
    case 'greeting':
      return 'Is it the port of a mail server? The usual ones are 587, and 465 with TLS.';
    case 'login':
      return smtp_code !== null && smtp_code < 500
        ? 'The server asks to try again later.'
        : (LOGIN_HINTS[providerAt(host) ?? ''] ??
            'Are user and password those for SMTP? They often differ from those of the web site.');
    case 'sender':
      return smtp_code !== null && smtp_code < 500
        ? 'The server asks to try again later.'
        : 'The server takes no mail from this address: have its domain confirmed there, or use an address that is.';
  }
}
