/**
 * The members of a filter: of each its shape, the SQL that asks it of a row of contacts, and how much that is. What contacts did and
 * got is answered by seeks of a primary key, so that it is asked of some contacts at a time. A filter is one statement, so it names
 * tables of other nouns.
 */
import type { TObject } from '@sinclair/typebox';
import { and, gte, lt, or, type SQL, sql } from 'drizzle-orm';
import {
  EMAIL_LOG_RETENTION_MS,
  MAX_CONTACT_QUERY_CHARS,
  MAX_CONTACT_TAGS,
  MAX_CUSTOM_FIELD_NAME_CHARS,
  MAX_CUSTOM_FIELDS,
  MAX_CUSTOM_VALUE_CHARS,
  MAX_DNS_NAME_CHARS,
  MAX_NAME_CHARS,
  MAX_TAG_CHARS,
} from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import { rawGet } from '../../platform/database/raw-sql.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import { dateTime, oneOf, type Static, type TSchema, t, text, ulid } from '../../platform/http/schema.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import { CONTACT_STATUSES, contacts } from './tables.ts';

/** A year is a long time without a click; more than ten are none. */
const MAX_CLICKED_WITHIN_DAYS = 3_650;
/** Decision: domains of one filter. */
const MAX_FILTER_DOMAINS = 100;

/** Of which list is asked, and from when days count back. */
interface Asked {
  list_id: number;
  now_ms: number;
}

/**
 * `where` holds of a row of contacts that fits. It is never NULL where nothing is gone, as `none` turns it round; of what is gone
 * nothing is known: that is NULL, which fits nobody. `weight`: a quarter of a millisecond each for a thousand contacts.
 */
const member = <S extends TSchema>(
  schema: S,
  where: (value: Static<S>, q: Asked) => SQL | undefined,
  { weight = () => 1 }: { weight?(value: Static<S>): number } = {},
) => ({ schema: t.Optional(schema), where, weight });

const tags = (description: string) =>
  t.Array(text({ min: 1, max: MAX_TAG_CHARS }), { minItems: 1, maxItems: MAX_CONTACT_TAGS, description });
const days = (description: string, maximum = MAX_CLICKED_WITHIN_DAYS) =>
  t.Integer({ minimum: 1, maximum, description });
const event = (description: string) =>
  t.Object(
    {
      name: text({ min: 1, max: MAX_NAME_CHARS }),
      within_days: t.Optional(days('Within so many days; ever, unless given.')),
    },
    { additionalProperties: false, description },
  );

export const MEMBERS = {
  status: member(oneOf(CONTACT_STATUSES), (status) => sql`+${contacts.status} = ${status}`),
  /** Made one of `tags_all` before. */
  tag: member(text({ min: 1, max: MAX_NAME_CHARS, description: 'One more of `tags_all`.' }), () => undefined),
  q: member(
    text({
      max: MAX_CONTACT_QUERY_CHARS,
      description: 'Beginning of the address, the first or the last name.',
    }),
    beginsWith,
  ),
  tags_any: member(tags('At least one of these.'), (some) => sql`EXISTS (${tagsAmong(sql`1`, some)})`),
  tags_all: member(
    tags('Every one of these.'),
    (all) => sql`(${tagsAmong(sql`count(*)`, all)}) = ${all.length}`,
  ),
  tags_none: member(tags('None of these.'), (none) => sql`NOT EXISTS (${tagsAmong(sql`1`, none)})`),
  custom: member(
    t.Record(
      text({ max: MAX_CUSTOM_FIELD_NAME_CHARS }),
      t.Union([t.String({ maxLength: MAX_CUSTOM_VALUE_CHARS }), t.Number(), t.Boolean()]),
      {
        maxProperties: MAX_CUSTOM_FIELDS,
        description:
          'Custom fields with these values; `"5"` and `5` are the same, and so are `"true"` and `true`.',
      },
    ),
    (custom) => and(...Object.entries(custom).map(([name, value]) => hasCustom(name, String(value)))),
    { weight: (custom) => Object.keys(custom).length },
  ),
  joined_after: member({ ...dateTime(), description: 'On the list since this moment, or later.' }, (moment) =>
    gte(contacts.created_at, Date.parse(moment)),
  ),
  joined_before: member({ ...dateTime(), description: 'On the list since before this moment.' }, (moment) =>
    lt(contacts.created_at, Date.parse(moment)),
  ),
  clicked_within_days: member(
    days('Clicked in a marketing mail within so many days; the first click of each mail counts.'),
    (within, q) => sql`coalesce(${contacts.clicked_at} >= ${since(within, q)}, 0)`,
  ),
  not_clicked_within_days: member(
    days(
      'Did not click within so many days; who got no mail did not either. Nobody whose clicks are not counted.',
    ),
    (within, q) =>
      sql`(${contacts.clicked_at} IS NULL OR ${contacts.clicked_at} < ${since(within, q)}) AND ${TRACKED}`,
  ),
  // It reads the log.
  not_mailed_within_days: member(
    days(
      'No mail of a sequence or broadcast, of whatever list, was accepted for the address within so many days.',
      EMAIL_LOG_RETENTION_MS / DAY_MS,
    ),
    (within, q) => sql`NOT EXISTS (${mailsSince(since(within, q))})`,
    { weight: () => 8 },
  ),
  domains: member(
    t.Array(text({ min: 1, max: MAX_DNS_NAME_CHARS }), {
      minItems: 1,
      maxItems: MAX_FILTER_DOMAINS,
      description: 'The domain of the address is exactly one of these.',
    }),
    isAt,
  ),
  event: member(event('This product event was told of them.'), (of, q) => sql`EXISTS (${eventsOf(of, q)})`),
  no_event: member(
    event('This product event was not told of them.'),
    (of, q) => sql`NOT EXISTS (${eventsOf(of, q)})`,
  ),
  received: member(
    { ...ulid(), description: 'A relay took the mail to them of this broadcast of the list.' },
    (id, q) => got(id, q, sql`sent_at IS NOT NULL`),
  ),
  clicked: member(
    { ...ulid(), description: 'They clicked in the mail of this broadcast of the list.' },
    (id, q) => got(id, q, sql`clicked_at IS NOT NULL`),
  ),
  not_clicked: member(
    { ...ulid(), description: 'They received this broadcast of the list, tracked, and did not click.' },
    (id, q) =>
      got(id, q, sql`sent_at IS NOT NULL AND clicked_at IS NULL AND is_untracked = 0 AND ${TRACKED}`),
  ),
  sequence: member({ ...ulid(), description: 'They are active in this sequence of the list.' }, isIn),
};

export type MemberSchemas = { [Name in keyof typeof MEMBERS]: (typeof MEMBERS)[Name]['schema'] };
type Part = Static<TObject<MemberSchemas>>;

/** A filter made plain for SQL. */
export interface Criteria extends Pick<Part, 'status' | 'q'> {
  /** `tag` among them, and one of `tags_any` that stands alone. */
  readonly tags_all: readonly string[];
  readonly clicked_from_ms: number | undefined;
  /** It asks for nothing but a status, a tag or both: the counters of a list know how many that are. */
  readonly is_counted: boolean;
  readonly weight: number;
  /** All of them must hold; the lightest first. */
  conditionsOf(list_id: number): SQL[];
}

/** What a filter asks for; its days count back from `now_ms`. */
export function criteriaOf(
  filter: Part & Partial<Record<'any' | 'none', readonly Part[]>>,
  now_ms: number,
): Criteria {
  const { tag, any: some_of = [], none = [], ...own } = filter;
  const some = trimmed(own.tags_any);
  const is_one = some.length === 1; // One of one is that one.
  const tags_all = trimmed([
    ...(own.tags_all ?? []),
    ...(tag === undefined ? [] : [tag]),
    ...(is_one ? some : []),
  ]);
  const plain = {
    ...own,
    q: own.q?.trim() || undefined,
    tags_all: tags_all.length > 0 ? tags_all : undefined,
    tags_any: is_one ? undefined : own.tags_any && some,
    tags_none: own.tags_none && trimmed(own.tags_none),
    custom: Object.keys(own.custom ?? {}).length > 0 ? own.custom : undefined,
  };
  const asked = Object.entries(MEMBERS).flatMap(([name, { where, weight }]) => {
    const value = Reflect.get(plain, name) as never; // As the schema of the member has it.
    return value === undefined ? [] : [{ name, weight: weight(value), where: (q: Asked) => where(value, q) }];
  });
  asked.sort((a, b) => a.weight - b.weight);
  const any_of = some_of.map((one) => criteriaOf(one, now_ms));
  const none_of = none.map((one) => criteriaOf(one, now_ms));
  const parts = [...any_of, ...none_of];
  const is_of_counters = asked.every(({ name }) => name === 'status' || name === 'tags_all');
  return {
    ...(own.status && { status: own.status }),
    ...(plain.q && { q: plain.q }),
    tags_all,
    clicked_from_ms: own.clicked_within_days && since(own.clicked_within_days, { now_ms }),
    is_counted: parts.length === 0 && tags_all.length <= 1 && is_of_counters,
    weight: [...asked, ...parts].reduce((sum, one) => sum + one.weight, 0),
    conditionsOf(list_id) {
      const allOf = (one: Criteria): SQL => sql`(${and(sql`1`, ...one.conditionsOf(list_id))})`;
      return [
        ...asked.flatMap(({ where }) => where({ list_id, now_ms }) ?? []),
        ...(any_of.length === 0 ? [] : [sql`(${or(...any_of.map(allOf))})`]),
        ...none_of.map((one) => sql`NOT ${allOf(one)}`),
      ];
    },
  };
}

/** As contacts have them: without outer spaces, each once. */
function trimmed(names: readonly string[] = []): string[] {
  return [...new Set(names.map((name) => name.trim()))];
}

function since(within_days: number, { now_ms }: Pick<Asked, 'now_ms'>): number {
  return now_ms - within_days * DAY_MS;
}

/* --- SQL of members ------------------------------------------------------------------------------------------------ */

/** The first text that no longer begins with `prefix`, for a range of an index. */
export function afterPrefix(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}

function isAt(asked: readonly string[]): SQL {
  const domains = asked.map((domain) => canonicalDomain(domain) ?? domain);
  const { email } = contacts;
  return sql`substr(${email}, instr(${email}, '@') + 1) IN (SELECT value FROM json_each(${JSON.stringify(domains)}))`;
}

function beginsWith(q: string): SQL {
  const email = q.toLowerCase();
  const until = afterPrefix(q);
  const { first_name, last_name } = contacts;
  return sql`coalesce(${contacts.email} >= ${email} AND ${contacts.email} < ${afterPrefix(email)}
    OR ${first_name} >= ${q} COLLATE NOCASE AND ${first_name} < ${until} COLLATE NOCASE
    OR ${last_name} >= ${q} COLLATE NOCASE AND ${last_name} < ${until} COLLATE NOCASE, 0)`;
}

function tagsAmong(what: SQL, tags: readonly string[]): SQL {
  return sql`SELECT ${what} FROM contact_tags WHERE contact_id = ${contacts.id}
    AND tag IN (SELECT value FROM json_each(${JSON.stringify(tags)}))`;
}

/** A file has text where an app has a number or a boolean: the same value of any type fits. */
function hasCustom(name: string, value: string): SQL {
  const number = String(Number(value)) === value ? Number(value) : null;
  const boolean = value === 'true' || value === 'false' ? value : null;
  return sql`EXISTS (SELECT 1 FROM json_each(${contacts.custom}) WHERE key = ${name} AND (type = 'text' AND atom = ${value}
    OR type IN ('integer', 'real') AND atom = ${number} OR type = ${boolean}))`;
}

/** As tracking/service.ts says it of one address: of nobody else it is known that they did not click. */
const TRACKED = sql`coalesce(
  (SELECT tracking = 'allowed' FROM tracking_choices
    WHERE tracking_choices.project_id = ${contacts.project_id} AND tracking_choices.email = ${contacts.email}),
  (SELECT tracking <> 'consented' FROM marketing_settings WHERE marketing_settings.project_id = ${contacts.project_id}),
  1)`;

function ofKnown(id: SQL, condition: SQL): SQL {
  return sql`iif(${id} IS NULL, NULL, ${condition})`;
}

/** What became of the mail of a broadcast to them. */
function got(public_id: string, { list_id }: Asked, more: SQL): SQL {
  const broadcast = sql`(SELECT id FROM broadcasts WHERE public_id = ${public_id.toUpperCase()} AND list_id = ${list_id} AND is_test = 0)`;
  return ofKnown(
    broadcast,
    sql`EXISTS (SELECT 1 FROM broadcast_recipients WHERE broadcast_id = ${broadcast} AND contact_id = ${contacts.id} AND ${more})`,
  );
}

function eventsOf({ name, within_days }: { name: string; within_days?: number }, q: Asked): SQL {
  const of_late =
    within_days === undefined
      ? sql``
      : sql`AND occurred_at + 999 * is_whole_second >= ${since(within_days, q)}`;
  return sql`SELECT 1 FROM contact_events WHERE contact_id = ${contacts.id} AND event = ${name} ${of_late}`;
}

function isIn(public_id: string, { list_id }: Asked): SQL {
  const sequence = sql`(SELECT id FROM sequences WHERE public_id = ${public_id.toUpperCase()} AND list_id = ${list_id})`;
  return ofKnown(
    sequence,
    sql`EXISTS (SELECT 1 FROM enrollments WHERE sequence_id = ${sequence} AND contact_id = ${contacts.id} AND is_test = 0 AND state = 'active')`,
  );
}

/**
 * Marketing to the address, accepted since then: what waits is on its way to them, and what ended without being sent is none. The index
 * is named, so that a condition which does not fit it is an error and no walk of the whole log; ids run ahead where a clock was set back.
 */
function mailsSince(from_ms: number): SQL {
  return sql`SELECT 1 FROM emails INDEXED BY emails_by_recipient WHERE emails.project_id = ${contacts.project_id}
    AND emails.to_email = ${contacts.email} COLLATE NOCASE AND emails.id >= ${firstIdOf(from_ms)}
    AND emails.created_at >= ${from_ms}
    AND source IN ('sequence', 'broadcast') AND emails.is_test = 0
    AND emails.status NOT IN ('failed', 'suppressed', 'canceled')`;
}

/* --- What a filter may name ---------------------------------------------------------------------------------------- */

const broadcastOf = rawGet<{ name: string }, [string, number]>(
  'SELECT name FROM broadcasts WHERE public_id = ? AND list_id = ? AND is_test = 0',
);
const sequenceOf = rawGet<{ name: string }, [string, number]>(
  'SELECT name FROM sequences WHERE public_id = ? AND list_id = ?',
);

/** What a broadcast of a list, which is no test's, or a sequence of it is called; null where it has none such. */
export function nameOf(
  read: Tx,
  list_id: number,
  what: 'broadcast' | 'sequence',
  public_id: string,
): string | null {
  return (what === 'broadcast' ? broadcastOf : sequenceOf)(read, public_id, list_id)?.name ?? null;
}
