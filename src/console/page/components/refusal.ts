/**
 * What the API refuses, as a person at a page wants it: its messages end with the command that mends them, and a page has a way to
 * the page that does the same.
 */
import { isObject, SatchelError } from '../../../operation/client/core-failures.ts';
import { to } from '../path.ts';

/** What mends a failure, as the API says it. */
export interface Remedy {
  /** A noun in the singular. */
  code: string;
  /** Which one; null where none is meant by itself. */
  ref: string | null;
  /** What somebody at a shell would type; the message has it, too. */
  command: string | null;
}

/** Null where nothing is known that does. */
export function remedyOf({ details: { remedy } }: Pick<SatchelError, 'details'>): Remedy | null {
  if (!isObject(remedy) || typeof remedy.code !== 'string') return null;
  const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);
  return { code: remedy.code, ref: textOf(remedy.ref), command: textOf(remedy.command) };
}

const PARAMETER = /\b[a-z]+(?:_[a-z]+)+\b/g;

/** A message without the command, and with names of parameters as words. */
export function tellRefusal(message: string, remedy: Remedy | null): string {
  const at = remedy?.command ? message.indexOf(remedy.command) : -1;
  const told = at < 0 ? message : untilCommand(message.slice(0, at));
  const whole = /[.!?]$/.test(told) || !message.includes(' ') ? told : `${told}.`;
  return whole.replace(PARAMETER, (name) => name.replaceAll('_', ' '));
}

/** The first sentence stays without what leads to the command; a later one that does goes. */
function untilCommand(before: string): string {
  const sentences = before.split(/(?<=[.!?]) (?=[A-Z])/);
  return sentences.slice(0, -1).join(' ') || before.replace(/[\s:;(]+$/, '');
}

/** Tells what was thrown, as a sentence. */
export function tellError(error: unknown): string {
  if (error instanceof SatchelError) return tellRefusal(error.message, remedyOf(error));
  return tellRefusal(error instanceof Error ? error.message : String(error), null);
}

interface Way {
  /** A path below /console. */
  path: string;
  label: string;
}

type Place = (ref: string | null) => Way;

/** Of the server as a whole, or that name what they are in. */
const PLACES: Readonly<Record<string, Place>> = {
  sending: () => ({ path: '/set-up-sending', label: 'Set up sending' }),
  sending_domain: (name) =>
    name === null
      ? { path: '/sending-domains', label: 'Sending domains' }
      : { path: to`/sending-domains/${name}`, label: `The domain ${name}` },
  mailbox: (address) =>
    address === null
      ? { path: '/mailboxes', label: 'Mailboxes' }
      : { path: to`/mailboxes/${address}`, label: `The mailbox ${address}` },
  project: (slug) =>
    slug === null
      ? { path: '/projects', label: 'Projects' }
      : { path: to`/projects/${slug}/settings`, label: `Settings of ${slug}` },
  account: () => ({ path: '/account', label: 'Account' }),
  token: () => ({ path: '/tokens', label: 'Tokens' }),
  person: () => ({ path: '/people', label: 'People' }),
  global_origin: () => ({ path: '/settings', label: 'Settings' }),
  settings: () => ({ path: '/settings', label: 'Settings of this server' }),
  alerts: () => ({ path: '/alerts', label: 'Alerts' }),
  finding: () => ({ path: '/findings', label: 'Findings' }),
};

/** Of the project that is looked at. */
const PLACES_OF_PROJECT: Readonly<Record<string, readonly [part: string, label: string]>> = {
  key: ['keys', 'Keys'],
  vault: ['vault', 'The vault'],
  object: ['files', 'Files'],
  captured_message: ['emails', 'Mail log'],
  webhook: ['webhooks', 'Webhooks'],
  list: ['lists', 'Lists'],
  contact: ['contacts', 'Contacts'],
  import: ['contacts', 'Contacts'],
  segment: ['contacts', 'Contacts'],
  sequence: ['sequences', 'Sequences'],
};

/** Where it is done by clicking; null where no page does it. `project`: the one that is looked at. */
export function wayOf({ code, ref }: Pick<Remedy, 'code' | 'ref'>, project: string | null): Way | null {
  const place = Object.hasOwn(PLACES, code) ? PLACES[code] : undefined;
  if (place) return place(ref);
  const part = Object.hasOwn(PLACES_OF_PROJECT, code) ? PLACES_OF_PROJECT[code] : undefined;
  // A vault names its project, which is also looked at from elsewhere.
  const slug = code === 'vault' && ref !== null ? ref : project;
  return part && slug !== null ? { path: `${to`/projects/${slug}`}/${part[0]}`, label: part[1] } : null;
}
