/** An inbox as it is written on the command line: `imaps://user:password@host[:port][/folder]`. */
import { type FieldErrors, invalid } from '../../errors.ts';
import { isLoopback } from '../../platform/http/hosts.ts';
import {
  decodePart,
  isLinkLocal,
  LINK_LOCAL,
  MASKED,
  readHost,
  showHost,
} from '../../platform/mail/server-lookup.ts';
import type { InboxRow } from './tables.ts';

export interface InboxAddress {
  host: string;
  port: number;
  /** imaps is TLS from the first byte; imap is STARTTLS, and nothing without it, but for this very machine. */
  security: InboxRow['security'];
  username: string;
  /** Null: that of the inbox that is there. */
  password: string | null;
  folder: string;
}

/** The same in parts, as they are: nothing is escaped. */
export interface InboxParts {
  host: string;
  port?: number;
  /** From the first byte unless false: then STARTTLS. */
  tls?: boolean;
  user: string;
  password?: string;
  folder?: string;
}

/** RFC 8314. */
const DEFAULT_PORT = { tls: 993, starttls: 143 } as const;
const DEFAULT_FOLDER = 'INBOX';

/** Throws AppError `invalid` that tells what an address of an inbox looks like and repeats nothing of it. */
export function parseInbox(text: string): InboxAddress {
  const refuse = (problem: string) =>
    invalid({ inbox: [`${problem}; it is written imaps://user:password@host:port/folder`] });
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : null;
  if (!url || (url.protocol !== 'imap:' && url.protocol !== 'imaps:'))
    throw refuse('is not the address of an inbox');
  const host = readHost(url.hostname);
  if (host === null) throw refuse('has no valid host');
  if (isLinkLocal(host)) throw refuse(LINK_LOCAL);
  if (url.search !== '' || url.hash !== '') throw refuse('has something after the folder');
  if (url.port === '0') throw refuse('has no valid port');
  const decode = (part: string): string =>
    decodePart(part, () => refuse('has a part that is not percent-encoded'));
  const [username, password] = [decode(url.username), decode(url.password)];
  if (username === '' || password === '') throw refuse('needs a user and a password');
  if (password === MASKED) throw refuse('has the mask that is shown in place of its password');
  const folder = decode(url.pathname.replace(/^\/|\/$/g, ''));
  if (/[\r\n\0]/.test(`${username}${password}${folder}`)) throw refuse('has a line break');
  return {
    host,
    ...endOf(host, url.protocol === 'imaps:', url.port === '' ? undefined : Number(url.port)),
    username,
    password,
    folder: folder === '' ? DEFAULT_FOLDER : folder,
  };
}

/**
 * An inbox that is given in parts. Throws AppError `invalid` by part, such as `inbox.host`, and repeats nothing of them. Whether the
 * password that is stored may stay, Inboxes.set knows.
 */
export function inboxOf(parts: InboxParts): InboxAddress {
  const { user, tls = true, port, folder = DEFAULT_FOLDER } = parts;
  const password = parts.password ?? null;
  const host = readHost(parts.host.trim());
  const errors: FieldErrors = {};
  if (host === null) errors['inbox.host'] = ['must be a host name or an address'];
  else if (isLinkLocal(host)) errors['inbox.host'] = [LINK_LOCAL];
  if (password === MASKED) errors['inbox.password'] = ['is the mask that is shown in place of a password'];
  for (const [part, value] of Object.entries({ user, password, folder }))
    if (/[\r\n\0]/.test(value ?? '')) errors[`inbox.${part}`] = ['must not hold a line break'];
  if (host === null || Object.keys(errors).length > 0) throw invalid(errors);
  return { host, ...endOf(host, tls, port), username: user, password, folder };
}

/** imap is STARTTLS, but for this very machine. */
function endOf(
  host: string,
  is_tls: boolean,
  port: number | undefined,
): Pick<InboxAddress, 'port' | 'security'> {
  return {
    port: port ?? DEFAULT_PORT[is_tls ? 'tls' : 'starttls'],
    security: is_tls ? 'tls' : isLoopback(host) ? 'none' : 'starttls',
  };
}

/** An inbox for people to read: its password never shows. */
export function describeInbox(inbox: InboxRow): string {
  const { host, port, security, username, folder } = inbox;
  const path = folder === DEFAULT_FOLDER ? '' : `/${folder.split('/').map(encodeURIComponent).join('/')}`;
  return `${security === 'tls' ? 'imaps' : 'imap'}://${encodeURIComponent(username)}:${MASKED}@${showHost(host, port)}${path}`;
}
