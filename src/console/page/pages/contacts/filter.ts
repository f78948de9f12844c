/** A filter as it stands in an address and in the fields of its builder: the API's parameters, each as text. Pure functions. */
import type { ContactFilter, ContactFilterPart } from '../../api.generated.ts';
import { dayOf } from '../../components/date-filter.tsx';
import { STATUSES } from './statuses.ts';

export type FilterParameters = Readonly<Record<string, string>>;

const WORDS = ['tags_any', 'tags_all', 'tags_none', 'domains'] as const;
const TEXTS = [
  'q',
  'joined_after',
  'joined_before',
  'received',
  'clicked',
  'not_clicked',
  'sequence',
] as const;
const DAYS = ['clicked_within_days', 'not_clicked_within_days', 'not_mailed_within_days'] as const;
const NAMES: readonly string[] = ['status', 'tag', ...TEXTS, ...WORDS, ...DAYS];
export const CUSTOM = 'custom.';
/** Members that an address has no place for: as JSON. Of `any` and `none` the builder tells; it has no fields for them. */
const NESTED = ['event', 'no_event', 'any', 'none'] as const;

/** Those of an address that are of a filter. */
export function filterIn(query: URLSearchParams): FilterParameters {
  return Object.fromEntries([...query].filter(([name]) => NAMES.includes(name) || name.startsWith(CUSTOM)));
}

/** As the API takes it in a body. A number that is none is left to the API to refuse. */
export function filterOf(parameters: FilterParameters): ContactFilter {
  const { status, tag } = parameters;
  const given = STATUSES.find((each) => each === status);
  const custom = Object.entries(parameters).filter(([name]) => name.startsWith(CUSTOM));
  const members = <T>(names: readonly string[], read: (value: string) => T): Record<string, T> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = parameters[name]?.trim();
        return value ? [[name, read(value)] as const] : [];
      }),
    );
  return {
    ...(given && { status: given }),
    ...(tag && { tag }),
    ...members(TEXTS, (value) => value),
    ...members(
      WORDS.filter((name) => wordsOf(parameters[name]).length > 0),
      wordsOf,
    ),
    ...(custom.length > 0 && {
      custom: Object.fromEntries(custom.map(([name, value]) => [name.slice(CUSTOM.length), value])),
    }),
    ...members(DAYS, Number),
    ...members(NESTED, JSON.parse),
  };
}

/** The other way round. */
export function parametersOf({ custom = {}, ...rest }: ContactFilter): FilterParameters {
  const members = [
    ...Object.entries(rest),
    ...Object.entries(custom).map(([name, value]) => [CUSTOM + name, value] as const),
  ];
  return Object.fromEntries(
    members.map(([name, value]) => {
      if (NESTED.some((each) => each === name)) return [name, JSON.stringify(value)];
      return [name, Array.isArray(value) ? value.join(', ') : String(value)];
    }),
  );
}

/** Whether an address has a place for all of it. */
export function fitsAddress(parameters: FilterParameters): boolean {
  return NESTED.every((name) => !parameters[name]);
}

/** In words, as they stand behind "those who are": "active; with any of the tags fair, spring". */
export function tellFilter(filter: ContactFilter): string {
  const parts = (of: ContactFilterPart[]) =>
    of.map((each) => `(${tellMembers(each).join('; ')})`).join(' or ');
  const told = [
    ...tellMembers(filter),
    ...(filter.any ? [`any of ${parts(filter.any)}`] : []),
    ...(filter.none ? [`none of ${parts(filter.none)}`] : []),
  ];
  return told.length === 0 ? 'everybody on the list' : told.join('; ');
}

function tellMembers(filter: ContactFilterPart): string[] {
  const { status, tag, q, tags_any, tags_all = [], tags_none, custom = {}, ...rest } = filter;
  const all = tag === undefined ? tags_all : [...tags_all, tag];
  return [
    ...(status ? [status] : []),
    ...(q ? [`beginning with “${q}”`] : []),
    ...(all.length > 0 ? [`tagged ${quoted(all, 'and')}`] : []),
    ...(tags_any ? [`tagged ${quoted(tags_any, 'or')}`] : []),
    ...(tags_none ? [`not tagged ${quoted(tags_none, 'or')}`] : []),
    ...Object.entries(custom).map(([name, value]) => `with ${name} “${value}”`),
    ...(rest.joined_after ? [`on the list since ${dayOf(rest.joined_after)} or later`] : []),
    ...(rest.joined_before ? [`on the list since before ${dayOf(rest.joined_before)}`] : []),
    ...(rest.clicked_within_days ? [`who clicked within ${rest.clicked_within_days} days`] : []),
    ...tellPast(rest),
  ];
}

/** What they did and got. */
function tellPast(filter: ContactFilterPart): string[] {
  const { domains, event, no_event, received, clicked, not_clicked, sequence } = filter;
  const { not_clicked_within_days: quiet_days, not_mailed_within_days: unmailed_days } = filter;
  const eventOf = (one: { name: string; within_days?: number }) =>
    `“${one.name}”${one.within_days ? ` within ${one.within_days} days` : ''}`;
  return [
    ...(domains ? [`at ${domains.join(' or ')}`] : []),
    ...(event ? [`with the event ${eventOf(event)}`] : []),
    ...(no_event ? [`without the event ${eventOf(no_event)}`] : []),
    ...(received ? [`who received the broadcast ${received}`] : []),
    ...(clicked ? [`who clicked in the broadcast ${clicked}`] : []),
    ...(not_clicked ? [`who received the broadcast ${not_clicked} and did not click`] : []),
    ...(sequence ? [`active in the sequence ${sequence}`] : []),
    ...(quiet_days ? [`who did not click within ${quiet_days} days`] : []),
    ...(unmailed_days ? [`who got no mail within ${unmailed_days} days`] : []),
  ];
}

function quoted(tags: readonly string[], between: string): string {
  return tags.map((each) => `“${each}”`).join(` ${between} `);
}

export function wordsOf(text = ''): string[] {
  return text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
}
