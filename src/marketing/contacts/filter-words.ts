/** A filter as one sentence: "Those who are active and have the tag “vip”, but not those who ...". Pure functions. */
import type { ContactFilter } from './filter.ts';
import type { ContactStatus } from './tables.ts';

type Part = NonNullable<ContactFilter['any']>[number];

/** What a broadcast or sequence that a filter names is called; null where it is gone. */
export type NameOf = (what: 'broadcast' | 'sequence', public_id: string) => string | null;

/** "Everybody on the list." for an empty one. */
export function sentenceOf(filter: ContactFilter, nameOf: NameOf): string {
  const some = (filter.any ?? []).map((part) => inBrackets(tellMembers(part, nameOf)));
  const others = (filter.none ?? []).map((part) => inBrackets(tellMembers(part, nameOf)));
  const own = tellMembers(filter, nameOf);
  const who = [
    ...(own.length === 0 ? [] : [listOf(own, 'and')]),
    ...(some.length === 0 ? [] : [listOf(some, 'or')]),
  ].join(', and who ');
  const but = others.length === 0 ? '' : `, but not those who ${listOf(others, 'or')}`;
  return `${who === '' ? 'Everybody on the list' : `Those who ${who}`}${but}.`;
}

/** Each behind "those who". */
function tellMembers(part: Part, nameOf: NameOf): string[] {
  const { status, q, tag, tags_all = [], tags_any, tags_none, custom = {} } = part;
  const tags = [...new Set([...tags_all, ...(tag === undefined ? [] : [tag])])];
  return [
    ...(status === undefined ? [] : [STATUS[status]]),
    ...(q === undefined ? [] : [`have an address or a name that begins with ${quoted(q)}`]),
    ...(tags.length === 0 ? [] : [`have ${tagsOf(tags, 'and')}`]),
    ...(tags_any === undefined ? [] : [`have ${tagsOf(tags_any, 'or')}`]),
    ...(tags_none === undefined ? [] : [`do not have ${tagsOf(tags_none, 'or')}`]),
    ...Object.entries(custom).map(([name, value]) => `have ${quoted(value)} as ${name}`),
    ...tellPast(part, nameOf),
  ];
}

const STATUS: Readonly<Record<ContactStatus, string>> = {
  pending: 'have not confirmed their sign-up',
  active: 'are active',
  unsubscribed: 'have unsubscribed',
  bounced: 'have bounced',
  complained: 'have complained',
};

/** Since when they are there, what they did, and what they got. */
function tellPast(part: Part, nameOf: NameOf): string[] {
  const { joined_after, joined_before, domains, event, no_event } = part;
  const broadcast = (id: string): string => called('broadcast', id, nameOf);
  const days = (given: number | undefined): string =>
    given === undefined ? '' : ` within ${given} ${given === 1 ? 'day' : 'days'}`;
  const { received, clicked, not_clicked, sequence } = part;
  const told: [unknown, () => string][] = [
    [domains, () => `have an address at ${listOf(domains ?? [], 'or')}`],
    [joined_after, () => `came to the list on ${momentOf(joined_after)} or later`],
    [joined_before, () => `came to the list before ${momentOf(joined_before)}`],
    [part.clicked_within_days, () => `clicked in a mail${days(part.clicked_within_days)}`],
    [part.not_clicked_within_days, () => `clicked in no mail${days(part.not_clicked_within_days)}`],
    [
      part.not_mailed_within_days,
      () => `got no mail of a broadcast or sequence${days(part.not_mailed_within_days)}`,
    ],
    [event, () => `had the event ${quoted(event?.name)}${days(event?.within_days)}`],
    [no_event, () => `did not have the event ${quoted(no_event?.name)}${days(no_event?.within_days)}`],
    [received, () => `received ${broadcast(received ?? '')}`],
    [clicked, () => `clicked in ${broadcast(clicked ?? '')}`],
    [not_clicked, () => `received ${broadcast(not_clicked ?? '')} and did not click`],
    [sequence, () => `are active in ${called('sequence', sequence ?? '', nameOf)}`],
  ];
  return told.flatMap(([given, tell]) => (given === undefined ? [] : [tell()]));
}

function called(what: 'broadcast' | 'sequence', id: string, nameOf: NameOf): string {
  const name = nameOf(what, id.toUpperCase());
  return name === null ? `a ${what} that is gone` : `the ${what} ${quoted(name)}`;
}

function tagsOf(tags: readonly string[], between: 'and' | 'or'): string {
  return `the ${tags.length === 1 ? 'tag' : 'tags'} ${listOf(tags.map(quoted), between)}`;
}

function quoted(value: unknown): string {
  return `“${String(value)}”`;
}

/** "1 March 2030", with the time where it is no midnight: UTC. */
function momentOf(moment = ''): string {
  const at = new Date(moment);
  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(at);
  const time = at.toISOString().slice(11, 16);
  return time === '00:00' ? day : `${day}, ${time} UTC`;
}

/** Several that hold together are told from those beside them. */
function inBrackets(members: readonly string[]): string {
  return members.length > 1 ? `(${listOf(members, 'and')})` : (members[0] ?? '');
}

function listOf(words: readonly string[], between: 'and' | 'or'): string {
  const last = words.at(-1) ?? '';
  return words.length < 2 ? last : `${words.slice(0, -1).join(', ')} ${between} ${last}`;
}
