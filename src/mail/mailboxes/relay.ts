/** The relay of a mailbox as it is written on the command line: `smtp[s]://user:pass@host:port[?tls=required&dkim=off]`. */
import { invalid } from '../../errors.ts';
import {
  decodePart,
  isLinkLocal,
  LINK_LOCAL,
  MASKED,
  readHost,
  showHost,
} from '../../platform/mail/server-address.ts';
import type { MailboxRow } from './tables.ts';

export interface Relay {
  host: string;
  port: number;
  /** smtps is TLS from the first byte; smtp is STARTTLS wherever the relay offers it, and nothing without it where it is required. */
  security: 'tls' | 'starttls' | 'opportunistic';
  username: string | null;
  password: string | null;
  /** It makes the DKIM signature, and we none. */
  signs: boolean;
}

/** RFC 8314: submission over TLS, and submission. */
const DEFAULT_PORT = { tls: 465, starttls: 587, opportunistic: 587 } as const;

/** Throws AppError `invalid` under `field` that tells what an address of a relay looks like and repeats nothing of it. */
export function parseRelay(text: string, field = 'smtp'): Relay {
  const refuse = (problem: string) =>
    invalid({
      [field]: [
        `${problem}; it is written smtp[s]://user:password@host:port, with ?tls=required or ?dkim=off where wanted`,
      ],
    });
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  if (!url || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:'))
    throw refuse('is not the address of a relay');
  const host = readHost(url.hostname);
  if (host === null) throw refuse('has no valid host');
  if (isLinkLocal(host)) throw refuse(LINK_LOCAL);
  if (url.pathname.length > 1 || url.hash !== '') throw refuse('has something after the port');
  const options = [...url.searchParams].map(([name, value]) => `${name}=${value}`);
  if (options.some((option) => !['tls=required', 'dkim=off'].includes(option)))
    throw refuse('has an option that there is none of');
  const plain_security = options.includes('tls=required') ? 'starttls' : 'opportunistic';
  const security = url.protocol === 'smtps:' ? 'tls' : plain_security;
  if (url.port === '0') throw refuse('has no valid port');
  const username = decodePart(url.username, () => refuse('has a user name that is not percent-encoded'));
  const password = decodePart(url.password, () => refuse('has a password that is not percent-encoded'));
  if (password === MASKED) throw refuse('has the mask that is shown in place of its password');
  if (username === '' && password !== '') throw refuse('has a password but no user name');
  return {
    host,
    port: url.port === '' ? DEFAULT_PORT[security] : Number(url.port),
    security,
    username: username === '' ? null : username,
    password: password === '' ? null : password,
    signs: options.includes('dkim=off'),
  };
}

/** Whether the text holds a secret, so that it does not belong into a process list. */
export function hasPassword(text: string): boolean {
  return URL.canParse(text) && new URL(text).password !== '';
}

/** A relay for people to read: its password never shows. */
export function describeRelay(mailbox: MailboxRow): string | null {
  const { smtp_host, smtp_port, smtp_security, smtp_username, sealed_smtp_password } = mailbox;
  if (smtp_host === null) return null;
  const options = [
    ...(smtp_security === 'starttls' ? ['tls=required'] : []),
    ...(mailbox.is_signed_by_relay ? ['dkim=off'] : []),
  ];
  const scheme = smtp_security === 'tls' ? 'smtps' : 'smtp';
  const secret = sealed_smtp_password === null ? '' : `:${MASKED}`;
  const user = smtp_username === null ? '' : `${encodeURIComponent(smtp_username)}${secret}@`;
  const query = options.length > 0 ? `?${options.join('&')}` : '';
  return `${scheme}://${user}${showHost(smtp_host, smtp_port)}${query}`;
}
