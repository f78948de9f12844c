/** A filter as the rows of its builder: what is asked, how, and of what, each as text. Pure functions. */
import type { Contact, ContactFilter, ContactFilterPart } from '../../api.generated.ts';

type Member = Exclude<keyof ContactFilterPart, 'tag'>;

/** The kind of a value, by which its input is chosen. */
export type Kind =
  | 'tags'
  | 'words'
  | 'text'
  | 'named'
  | 'day'
  | 'days'
  | 'event'
  | 'status'
  | 'broadcast'
  | 'sequence';

interface Relation {
  member: Member;
  label: string;
  kind: Kind;
}

/** In the order in which they are offered. */
export const FIELDS: readonly { label: string; relations: readonly [Relation, ...Relation[]] }[] = [
  {
    label: 'Tag',
    relations: [
      { member: 'tags_any', label: 'is one of', kind: 'tags' },
      { member: 'tags_all', label: 'is each of', kind: 'tags' },
      { member: 'tags_none', label: 'is none of', kind: 'tags' },
    ],
  },
  { label: 'Custom field', relations: [{ member: 'custom', label: 'is', kind: 'named' }] },
  {
    label: 'Event',
    relations: [
      { member: 'event', label: 'happened', kind: 'event' },
      { member: 'no_event', label: 'did not happen', kind: 'event' },
    ],
  },
  {
    label: 'Broadcast',
    relations: [
      { member: 'received', label: 'received', kind: 'broadcast' },
      { member: 'clicked', label: 'clicked', kind: 'broadcast' },
      { member: 'not_clicked', label: 'received, not clicked', kind: 'broadcast' },
    ],
  },
  { label: 'Sequence', relations: [{ member: 'sequence', label: 'is in', kind: 'sequence' }] },
  {
    label: 'Clicks',
    relations: [
      { member: 'clicked_within_days', label: 'some within', kind: 'days' },
      { member: 'not_clicked_within_days', label: 'none within', kind: 'days' },
    ],
  },
  {
    label: 'Mail',
    relations: [{ member: 'not_mailed_within_days', label: 'none within', kind: 'days' }],
  },
  {
    label: 'On the list',
    relations: [
      { member: 'joined_after', label: 'since or later', kind: 'day' },
      { member: 'joined_before', label: 'since before', kind: 'day' },
    ],
  },
  { label: 'Domain', relations: [{ member: 'domains', label: 'is one of', kind: 'words' }] },
  { label: 'Address or name', relations: [{ member: 'q', label: 'begins with', kind: 'text' }] },
  { label: 'Status', relations: [{ member: 'status', label: 'is', kind: 'status' }] },
];

/** Rows of these may stand together, and are then one member. */
const JOINED: readonly Member[] = ['tags_all', 'tags_none', 'custom'];

export interface Row {
  uid: number;
  member: Member;
  value: string;
  /** Of a custom field. */
  name: string;
  /** Of an event. */
  days: string;
  /** Of a custom field, as it was read: a number stays one. */
  read?: string | number | boolean;
}

/** All of `all` hold; of `some` and of `none`, whose entries are rows that hold together, one at least and none. */
export interface Draft {
  all: Row[];
  some: Row[][];
  none: Row[][];
}

let last_uid = 0;

/** A row to be filled in, of the first member that has not its only row yet. */
export function newRow(among: readonly Row[] = []): Row {
  const free = FIELDS.flatMap(({ relations }) => relations).find(({ member }) => !isTaken(member, among));
  return rowOf(free?.member ?? 'custom', '');
}

function rowOf(member: Member, value: string, more: Partial<Row> = {}): Row {
  last_uid += 1;
  return { uid: last_uid, member, value, name: '', days: '', ...more };
}

/** Says whether a member has its only row among these. */
export function isTaken(member: Member, among: readonly Row[]): boolean {
  return !JOINED.includes(member) && among.some((row) => row.member === member);
}

export function relationOf(member: Member): Relation & { field: string } {
  for (const { label, relations } of FIELDS)
    for (const relation of relations) if (relation.member === member) return { ...relation, field: label };
  throw new Error(`no relation has the member ${member}`);
}

/** A row that is not filled in is of no filter. */
export function isFilled({ member, value, name }: Row): boolean {
  const { kind } = relationOf(member);
  const is_list = kind === 'tags' || kind === 'words';
  return is_list
    ? wordsOf(value).length > 0
    : value.trim() !== '' && (kind !== 'named' || name.trim() !== '');
}

/* --- From a filter and back --------------------------------------------------------------------------------------- */

export function draftOf(filter: ContactFilter): Draft {
  return {
    all: rowsOf(filter),
    some: (filter.any ?? []).map(rowsOf),
    none: (filter.none ?? []).map(rowsOf),
  };
}

/** In the order in which they were built. */
function rowsOf(part: ContactFilterPart): Row[] {
  const { tag, custom = {}, event, no_event } = part;
  const known = FIELDS.flatMap(({ relations }) => relations);
  return Object.keys(part).flatMap((key): Row[] => {
    if (key === 'tag') return [rowOf('tags_all', textOf([tag ?? '']))];
    const relation = known.find(({ member }) => member === key);
    if (!relation) return [];
    const { member, kind } = relation;
    if (kind === 'named')
      return Object.entries(custom).map(([name, each]) => rowOf(member, String(each), { name, read: each }));
    if (kind === 'event') {
      const { name = '', within_days } = (member === 'event' ? event : no_event) ?? {};
      return [rowOf(member, name, { days: within_days === undefined ? '' : String(within_days) })];
    }
    const value = part[member];
    return [rowOf(member, Array.isArray(value) ? textOf(value) : String(value))];
  });
}

/** The filter of all rows that are filled in. A single row of `some` means the same as one above. */
export function filterOf({ all, some, none }: Draft): ContactFilter {
  const partsOf = (groups: readonly Row[][]): Row[][] =>
    groups.map((rows) => rows.filter(isFilled)).filter((rows) => rows.length > 0);
  const [few, nobody] = [partsOf(some), partsOf(none)];
  const [only] = few.length === 1 ? few : [];
  const is_above = only?.every(({ member }) => !isTaken(member, all.filter(isFilled))) === true;
  return {
    ...partOf([...all, ...(only && is_above ? only : [])]),
    ...(few.length > 0 && !is_above && { any: few.map(partOf) }),
    ...(nobody.length > 0 && { none: nobody.map(partOf) }),
  };
}

function partOf(rows: readonly Row[]): ContactFilterPart {
  const part: ContactFilterPart = {};
  for (const row of rows.filter(isFilled)) add(part, row);
  return part;
}

/** A number that is none is left to the API to refuse. */
function add(part: ContactFilterPart, { member, value, name, days, read }: Row): void {
  const text = value.trim();
  if (member === 'tags_all' || member === 'tags_none')
    part[member] = [...new Set([...(part[member] ?? []), ...wordsOf(text)])];
  else if (member === 'tags_any' || member === 'domains') part[member] = wordsOf(text);
  else if (member === 'custom')
    part.custom = {
      ...part.custom,
      [name.trim()]: read !== undefined && String(read) === value ? read : text,
    };
  else if (member === 'event' || member === 'no_event')
    part[member] = { name: text, ...(days.trim() !== '' && { within_days: Number(days) }) };
  else if (member === 'status') part.status = STATUSES.find((each) => each === text) ?? 'active';
  else if (
    member === 'clicked_within_days' ||
    member === 'not_clicked_within_days' ||
    member === 'not_mailed_within_days'
  )
    part[member] = Number(text);
  else part[member] = text;
}

/** Words with commas between; one that has a comma itself stands in quotation marks. */
export function wordsOf(text: string): string[] {
  const words = [...text.matchAll(/\s*(?:"((?:[^"]|"")*)"|([^,]*))\s*(?:,|$)/g)];
  return words
    .map(([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain.trim())
    .filter((word) => word !== '');
}

export function textOf(words: readonly string[]): string {
  return words.map((word) => (/[",]/.test(word) ? `"${word.replaceAll('"', '""')}"` : word)).join(', ');
}

/* --- In an address ------------------------------------------------------------------------------------------------ */

/** The filter of a list in an address: how a name begins and a status by themselves, the rest as JSON. */
export function filterIn(query: URLSearchParams): ContactFilter {
  const q = query.get('q')?.trim();
  const status = STATUSES.find((each) => each === query.get('status'));
  return { ...readJson(query.get('filter')), ...(q && { q }), ...(status && { status }) };
}

function readJson(text: string | null): ContactFilter {
  try {
    const filter: unknown = JSON.parse(text ?? '{}');
    // The API refuses what is no filter, by member.
    return typeof filter === 'object' && filter !== null ? filter : {};
  } catch {
    return {};
  }
}

/** The other way round: parameters, of which empty ones are taken away. */
export function addressOf({ q, status, ...rest }: ContactFilter): Record<string, string> {
  return {
    q: q ?? '',
    status: status ?? '',
    filter: Object.keys(rest).length === 0 ? '' : JSON.stringify(rest),
  };
}

/** As a query of the API has it. */
export function queryOf(filter: ContactFilter): { filter?: string } {
  return Object.keys(filter).length === 0 ? {} : { filter: JSON.stringify(filter) };
}

/** Statuses of a contact, in the order of a life. */
export const STATUSES = [
  'pending',
  'active',
  'unsubscribed',
  'bounced',
  'complained',
] as const satisfies readonly Contact['status'][];
