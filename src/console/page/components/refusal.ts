/**
 * What the API refuses, as a person at a page wants it: the API's messages end with the command that mends them, and a page has a
 * way to the page that does the same.
 */
import { to } from '../path.ts';

export interface Refusal {
  /** Without commands and names of parameters. */
  told: string;
  /** What somebody at a shell would type, or the setting of the server. */
  command: string | null;
}

/** A command stands at the end of its sentence, after a colon, a semicolon or a bracket. */
const COMMAND = /\bsatchel [a-z]+( [a-z-]+)?\b[^.;)]*(?:\.[^\s.;)][^.;)]*)*/;
/** What is set where the server starts. */
const SETTING = /\bSATCHEL_PUBLIC_URL\b/;
const PARAMETER = /\b[a-z]+(?:_[a-z]+)+\b/g;

/** The first sentence stays without its command; a later one that is about a command goes. */
export function readRefusal(message: string): Refusal {
  const command = COMMAND.exec(message)?.[0].trim() ?? SETTING.exec(message)?.[0] ?? null;
  const [first = '', ...rest] = message.split(/(?<=[.!?]) (?=[A-Z])/);
  const clause = first.replace(
    /\s*[:;(][^:;(]*\b(?:satchel [a-z]|(?:GET|POST|PATCH|PUT|DELETE) [/.]).*$/s,
    '',
  );
  const told = [clause, ...rest.filter((sentence) => !COMMAND.test(sentence))].join(' ').trim();
  const whole = /[.!?]$/.test(told) || !message.includes(' ') ? told : `${told}.`;
  return { told: whole.replace(PARAMETER, (name) => name.replaceAll('_', ' ')), command };
}

export interface Way {
  /** A path below /console. */
  path: string;
  label: string;
}

type Rule = readonly [command: RegExp, way: (named: string, project: string | null) => Way | null];

const ofProject =
  (part: string, label: string) =>
  (_named: string, project: string | null): Way | null =>
    project === null ? null : { path: `${to`/projects/${project}`}${part}`, label };

const SET_UP: Way = { path: '/set-up-sending', label: 'Set up sending' };

/** The page that does what a command does; the first that fits. */
const RULES: readonly Rule[] = [
  [/^satchel domain (add)/, () => SET_UP],
  [/^satchel domain (list|[a-z]+ NAME)/, () => ({ path: '/sending-domains', label: 'Sending domains' })],
  [
    /^satchel domain \S+ (\S+)/,
    (name) => ({ path: to`/sending-domains/${name}`, label: `The domain ${name}` }),
  ],
  [/^satchel mailbox (add)/, () => SET_UP],
  [
    /^satchel mailbox [a-z]+ ([^\s']+@[^\s']+)/,
    (address) => ({ path: to`/mailboxes/${address}`, label: `The mailbox ${address}` }),
  ],
  [/^satchel (mailbox)/, () => ({ path: '/mailboxes', label: 'Mailboxes' })],
  [
    /^satchel project change (?!REF)(\S+) --status/,
    (slug) => ({ path: to`/projects/${slug}/settings`, label: 'Settings of the project' }),
  ],
  [/^satchel (project list)/, () => ({ path: '/projects', label: 'Projects' })],
  [
    /^satchel project change (?!REF)(\S+)/,
    (slug) => ({ path: to`/projects/${slug}/settings`, label: `Settings of ${slug}` }),
  ],
  [/^satchel (token)/, () => ({ path: '/tokens', label: 'Tokens' })],
  [/^satchel (person)/, () => ({ path: '/people', label: 'People' })],
  [/^(SATCHEL_PUBLIC_URL)$/, () => ({ path: '/settings', label: 'Settings of this server' })],
  [/^satchel (origin)/, () => ({ path: '/settings', label: 'Settings' })],
  [/^satchel (backup)/, () => ({ path: '/backups', label: 'Backups' })],
  [/^satchel (doctor)/, () => ({ path: '/findings', label: 'Findings' })],
  [
    /^satchel vault .*--project (?!REF)(\S+)/,
    (slug) => ({ path: to`/projects/${slug}/vault`, label: 'The vault' }),
  ],
  [/^satchel (vault)/, ofProject('/vault', 'The vault')],
  [/^satchel (key)/, ofProject('/keys', 'Keys')],
  [/^satchel (object)/, ofProject('/files', 'Files')],
  [/^satchel (email captured|email)/, ofProject('/emails', 'Mail log')],
  [/^satchel (template)/, ofProject('/templates', 'Templates')],
  [/^satchel (schedule)/, ofProject('/schedules', 'Schedules')],
  [/^satchel (webhook)/, ofProject('/webhooks', 'Webhooks')],
  [/^satchel (list)/, ofProject('/lists', 'Lists')],
  [/^satchel (contact|import|segment)/, ofProject('/contacts', 'Contacts')],
  [/^satchel (broadcast)/, ofProject('/broadcasts', 'Broadcasts')],
  [/^satchel (sequence)/, ofProject('/sequences', 'Sequences')],
  [/^satchel (suppression)/, ofProject('/suppressions', 'Suppressions')],
  [/^satchel (marketing)/, ofProject('/marketing', 'Marketing settings')],
  [/--project (?!REF)(\S+)/, (slug) => ({ path: to`/projects/${slug}`, label: 'The project' })],
];

/** Where a command is done by clicking; null where no page does it. `project`: the one that is looked at. */
export function wayOf(command: string, project: string | null): Way | null {
  for (const [pattern, way] of RULES) {
    const named = pattern.exec(command)?.[1];
    if (named !== undefined) return way(named, project);
  }
  return null;
}
