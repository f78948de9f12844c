/**
 * The relay of a mailbox as people write it: in parts, or as an URL,
 * `smtp[s]://user:pass@host:port[?tls=required&dkim=off]`.
 */
import { type FieldErrors, invalid } from '../../errors.ts';
import {
  decodePart,
  isLinkLocal,
  LINK_LOCAL,
  MASKED,
  readHost,
  showHost,
} from '../../platform/mail/server-lookup.ts';
import type { MailboxRow } from './tables.ts';

export interface Relay {
  host: string;
  port: number;
  security: NonNullable<MailboxRow['smtp_security']>;
  username: string | null;
  password: string | null;
  /** It makes the DKIM signature, and we none. */
  signs: boolean;
}

/** Implicit TLS; STARTTLS or nothing; STARTTLS where it is offered; never. */
export const RELAY_TLS = ['tls', 'required', 'starttls', 'none'] as const;
type RelayTls = (typeof RELAY_TLS)[number];

const SECURITY = { tls: 'tls', required: 'starttls', starttls: 'opportunistic', none: 'none' } as const;

/** RFC 8314: submission over TLS, and submission. */
const DEFAULT_PORT = { tls: 465, starttls: 587, opportunistic: 587, none: 587 } as const;

export const MAX_PORT = 65_535;

/** What is absent stays as it is, or becomes what is usual. */
export interface RelayParts {
  host?: string | undefined;
  port?: number | undefined;
  /** Null: it asks for no log-in. */
  user?: string | null | undefined;
  password?: string | null | undefined;
  tls?: RelayTls | undefined;
}

/**
 * A relay from its parts: port 587 and STARTTLS where it is offered unless given, port 465 and TLS from the
 * first byte where either of these is. Throws AppError `invalid` by part, such as `relay.host`, and repeats
 * nothing of them.
 */
export function relayOf(parts: RelayParts): Relay {
  return joinParts(parts, null).relay;
}

/**
 * The relay of a mailbox with other parts. The password that is stored stays unless another one is given, but
 * goes along to no other host. Throws as `relayOf`.
 */
export function changeRelay(
  mailbox: MailboxRow,
  parts: RelayParts,
): { relay: Relay; keeps_password: boolean } {
  return joinParts(parts, mailbox);
}

function joinParts(parts: RelayParts, before: MailboxRow | null): { relay: Relay; keeps_password: boolean } {
  const errors: FieldErrors = {};
  const host = parts.host === undefined ? (before?.smtp_host ?? null) : readHost(parts.host.trim());
  if (parts.host !== undefined && host === null) errors['relay.host'] = ['must be a host name or an address'];
  else if (host === null) errors['relay.host'] = ['is required'];
  else if (isLinkLocal(host)) errors['relay.host'] = [LINK_LOCAL];
  const known = before?.smtp_security ?? null;
  const usual = parts.port === DEFAULT_PORT.tls ? 'tls' : 'opportunistic';
  const security = parts.tls === undefined ? (known ?? usual) : SECURITY[parts.tls];
  // A port that was the usual one follows what is usual.
  const kept_port = known !== null && before?.smtp_port === DEFAULT_PORT[known] ? null : before?.smtp_port;
  const username = parts.user === undefined ? (before?.smtp_username ?? null) : parts.user;
  const is_logging_in = username !== null;
  const stored = before?.sealed_smtp_password ?? null;
  const keeps_password = parts.password === undefined && stored !== null && is_logging_in;
  if (parts.port !== undefined && parts.port > MAX_PORT)
    errors['relay.port'] = [`must be a whole number from 1 to ${MAX_PORT}`];
  if (parts.password && !is_logging_in) errors['relay.user'] = ['is required with a password'];
  if (parts.password === MASKED)
    errors['relay.password'] = ['is the mask that is shown in place of a password'];
  if (keeps_password && host !== before?.smtp_host)
    errors['relay.password'] = ['is required with another host: the one that is stored goes to no other'];
  for (const part of ['user', 'password'] as const)
    if (/[\r\n\0]/.test(parts[part] ?? '')) errors[`relay.${part}`] = ['must not hold a line break'];
  if (host === null || Object.keys(errors).length > 0) throw invalid(errors);
  return {
    relay: {
      host,
      port: parts.port ?? kept_port ?? DEFAULT_PORT[security],
      security,
      username,
      password: is_logging_in ? (parts.password ?? null) : null,
      signs: before?.is_signed_by_relay ?? false,
    },
    keeps_password,
  };
}

/** What a URL may hold unescaped between the colon and the @ (RFC 3986, 3.2.1). */
const ESCAPED = /^([\w.~!$&'()*+,;=:-]|%[\da-f]{2})*$/i;

const UNESCAPED =
  'has a password with a character that is not escaped: write %40 for @, %25 for %, %2F for /, %23 for #, %3F for ?, ' +
  'or give the relay in parts, where nothing is escaped: --smtp-host, --smtp-user and --smtp-password ' +
  '(the API: relay: {host, user, password})';

/**
 * Throws AppError `invalid` under `field` that tells what an address of a relay looks like and repeats
 * nothing of it.
 */
export function parseRelay(text: string, field = 'smtp'): Relay {
  const refuse = (problem: string, form = FORM) => invalid({ [field]: [`${problem}${form}`] });
  const address = text.trim();
  // Behind a password no @ has a meaning, so that the last one ends it, whatever URL parsers make of the
  // others.
  const [, password_as_typed = ''] = /^smtps?:\/\/[^:]*:(.*)@/is.exec(address) ?? [];
  if (!ESCAPED.test(password_as_typed)) throw refuse(UNESCAPED, '');
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!url || (url.protocol !== 'smtp:' && url.protocol !== 'smtps:'))
    throw refuse('is not the address of a relay');
  const host = readHost(url.hostname);
  if (host === null) throw refuse('has no valid host');
  if (isLinkLocal(host)) throw refuse(LINK_LOCAL);
  if (url.pathname.length > 1 || url.hash !== '') throw refuse('has something after the port');
  const { tls, signs } = readOptions(url, () => refuse('has an option that there is none of'));
  const security = url.protocol === 'smtps:' ? 'tls' : SECURITY[tls];
  if (url.port === '0') throw refuse('has no valid port');
  const username = decodePart(url.username, () => refuse('has a user name that is not percent-encoded'));
  const password = decodePart(url.password, () => refuse(UNESCAPED, ''));
  if (password === MASKED) throw refuse('has the mask that is shown in place of its password');
  if (username === '' && password !== '') throw refuse('has a password but no user name');
  return {
    host,
    port: url.port === '' ? DEFAULT_PORT[security] : Number(url.port),
    security,
    username: username === '' ? null : username,
    password: password === '' ? null : password,
    signs,
  };
}

const FORM =
  '; it is written smtp[s]://user:password@host:port, with ?tls=required, ?tls=none or ?dkim=off where wanted';

/**
 * What stands behind the question mark: smtps has TLS anyway, smtp has STARTTLS where it is offered unless
 * told.
 */
function readOptions(url: URL, refuse: () => Error): { tls: RelayTls; signs: boolean } {
  const options = new Set([...url.searchParams].map(([name, value]) => `${name}=${value}`));
  const signs = options.delete('dkim=off');
  const [given, ...others] = options;
  const tls = (['required', 'starttls', 'none'] as const).find((word) => given === `tls=${word}`);
  if (others.length > 0 || (given !== undefined && tls === undefined)) throw refuse();
  if (url.protocol === 'smtps:' && given !== undefined && tls !== 'required') throw refuse();
  return { tls: tls ?? 'starttls', signs };
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
    ...(smtp_security === 'none' ? ['tls=none'] : []),
    ...(mailbox.is_signed_by_relay ? ['dkim=off'] : []),
  ];
  const scheme = smtp_security === 'tls' ? 'smtps' : 'smtp';
  const secret = sealed_smtp_password === null ? '' : `:${MASKED}`;
  const user = smtp_username === null ? '' : `${encodeURIComponent(smtp_username)}${secret}@`;
  const query = options.length > 0 ? `?${options.join('&')}` : '';
  return `${scheme}://${user}${showHost(smtp_host, smtp_port)}${query}`;
}
