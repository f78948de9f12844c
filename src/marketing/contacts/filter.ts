/** The filter: which contacts of a list are meant. As it is asked for, in a body and in a query, and as SQL looks for it. */
import { invalid } from '../../errors.ts';
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
import { DAY_MS } from '../../platform/host/clock.ts';
import {
  dateTime,
  named,
  nullable,
  oneOf,
  parse,
  readParameters,
  type Static,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { canonicalDomain } from '../../platform/mail/address.ts';
import type { EventCriterion } from './filter-past-store.ts';
import type { Criteria } from './filter-store.ts';
import { CONTACT_STATUSES } from './tables.ts';

/** A year is a long time without a click; more than ten are none. */
const MAX_CLICKED_WITHIN_DAYS = 3_650;
/** Contract: filters in `any` and `none` of one; decision: domains of one. */
const MAX_FILTER_PARTS = 10;
const MAX_FILTER_DOMAINS = 100;

/** Half of what the head of a request may have. */
const MAX_FILTER_CHARS = 8_192;

const tags = (description: string) =>
  t.Optional(
    t.Array(text({ min: 1, max: MAX_TAG_CHARS }), { minItems: 1, maxItems: MAX_CONTACT_TAGS, description }),
  );

const days = (description: string, maximum = MAX_CLICKED_WITHIN_DAYS) =>
  t.Optional(t.Integer({ minimum: 1, maximum, description }));
const event = (description: string) =>
  t.Optional(
    t.Object(
      {
        name: text({ min: 1, max: MAX_NAME_CHARS }),
        within_days: days('Within so many days; ever, unless given.'),
      },
      { additionalProperties: false, description },
    ),
  );
const id = (description: string) => t.Optional({ ...ulid(), description });

/** The members of a filter but those that hold filters; spread into a query's shape. Whatever holds them must be closed, so that a misspelt one is refused. */
export const filter_fields = {
  status: t.Optional(oneOf(CONTACT_STATUSES)),
  tag: t.Optional(text({ min: 1, max: MAX_NAME_CHARS, description: 'One more of `tags_all`.' })),
  q: t.Optional(
    text({
      max: MAX_CONTACT_QUERY_CHARS,
      description: 'Beginning of the address, the first or the last name.',
    }),
  ),
  tags_any: tags('At least one of these.'),
  tags_all: tags('Every one of these.'),
  tags_none: tags('None of these.'),
  custom: t.Optional(
    t.Record(
      text({ max: MAX_CUSTOM_FIELD_NAME_CHARS }),
      t.Union([t.String({ maxLength: MAX_CUSTOM_VALUE_CHARS }), t.Number(), t.Boolean()]),
      {
        maxProperties: MAX_CUSTOM_FIELDS,
        description:
          'Custom fields with these values; `"5"` and `5` are the same, and so are `"true"` and `true`.',
      },
    ),
  ),
  joined_after: t.Optional({ ...dateTime(), description: 'On the list since this moment, or later.' }),
  joined_before: t.Optional({ ...dateTime(), description: 'On the list since before this moment.' }),
  clicked_within_days: days(
    'Clicked in a marketing mail within so many days; the first click of each mail counts.',
  ),
  not_clicked_within_days: days(
    'Did not click within so many days; who got no mail did not either. Nobody whose clicks are not counted.',
  ),
  not_mailed_within_days: days(
    'No mail of a sequence or broadcast, of whatever list, was accepted for the address within so many days.',
    EMAIL_LOG_RETENTION_MS / DAY_MS,
  ),
  domains: t.Optional(
    t.Array(text({ min: 1, max: MAX_DNS_NAME_CHARS }), {
      minItems: 1,
      maxItems: MAX_FILTER_DOMAINS,
      description: 'The domain of the address is exactly one of these.',
    }),
  ),
  event: event('This product event was told of them.'),
  no_event: event('This product event was not told of them.'),
  received: id('A relay took the mail to them of this broadcast of the list.'),
  clicked: id('They clicked in the mail of this broadcast of the list.'),
  not_clicked: id('They received this broadcast of the list, tracked, and did not click.'),
  sequence: id('They are active in this sequence of the list.'),
};

/** In `none`, an empty one would leave nobody, and in `any` choose everybody: who sends one forgot what was to stand in it. */
const part = named(
  'ContactFilterPart',
  t.Object(filter_fields, {
    additionalProperties: false,
    minProperties: 1,
    description: 'As a filter, but without `any` and `none`.',
  }),
);

export const contact_filter = named(
  'ContactFilter',
  t.Object(
    {
      ...filter_fields,
      any: t.Optional(
        t.Array(part, {
          minItems: 2,
          maxItems: MAX_FILTER_PARTS,
          description: 'At least one of these fits.',
        }),
      ),
      none: t.Optional(
        t.Array(part, { minItems: 1, maxItems: MAX_FILTER_PARTS, description: 'None of these fits.' }),
      ),
    },
    {
      additionalProperties: false,
      description: 'What is given must all be so; an empty one fits every contact of the list.',
    },
  ),
);

/** In place of a filter. */
const segment = {
  ...ulid(),
  description: 'A segment of the list, in place of a filter: both together are refused.',
};
export const segment_in_query = t.Optional(segment);
export const segment_in_body = t.Optional(nullable(segment));
export const NOT_BOTH = 'must be left out where a filter is given';

/** As it is asked for, and kept. */
export type ContactFilter = Static<typeof contact_filter>;

/** In a query: a filter as JSON, `any` and `none` too. */
export const filter_in_query = t.Optional(
  text({
    min: 2,
    max: MAX_FILTER_CHARS,
    description:
      'A filter as JSON, `any` and `none` too, in place of the other parameters but those of paging.',
  }),
);

/** What `--filter` takes in the shell. */
export const FILTER_HELP =
  'only those that fit, as in a URL: "status=active&tags_any=a,b&custom.plan=pro"; or as JSON, also with any and none';

/** A filter as a query or JSON has it. Throws AppError `invalid` by member. */
export function readFilter(text: string): ContactFilter {
  if (text.trimStart().startsWith('{')) return parse(contact_filter, readJson(text));
  return parse(filter_in_text, readParameters(filter_in_text, new URLSearchParams(text)), { coerce: true });
}
const filter_in_text = t.Object(filter_fields, { additionalProperties: false });

function readJson(text: string, words = 'must be JSON, as it begins with {'): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid({ filter: [words] });
  }
}

/** A filter that a query has as JSON. Throws AppError `invalid` by member, such as `filter.status`. */
export function readFilterInQuery(text: string): ContactFilter {
  const value = readJson(text, 'must be a filter as JSON');
  return parse(t.Object({ filter: contact_filter }), { filter: value }).filter;
}

/** What a filter asks for; its days count back from `now_ms`. */
export function criteriaOf(filter: ContactFilter, now_ms: number): Criteria {
  const { status, tag, q, custom = {}, joined_after, joined_before } = filter;
  const some = trimmed(filter.tags_any);
  const tags_all = trimmed([...(filter.tags_all ?? []), ...(tag === undefined ? [] : [tag])]);
  const since = (days: number | undefined) => (days === undefined ? undefined : now_ms - days * DAY_MS);
  const eventOf = (event: ContactFilter['event']): EventCriterion | undefined =>
    event && { name: event.name, from_ms: since(event.within_days) };
  return {
    status,
    q: q?.trim() || undefined,
    // One of one is that one.
    tags_any: some.length > 1 ? some : [],
    tags_all: some.length === 1 ? trimmed([...tags_all, ...some]) : tags_all,
    tags_none: trimmed(filter.tags_none),
    custom: Object.entries(custom).map(([name, value]) => [name, String(value)]),
    joined_from_ms: joined_after === undefined ? undefined : Date.parse(joined_after),
    joined_until_ms: joined_before === undefined ? undefined : Date.parse(joined_before),
    clicked_from_ms: since(filter.clicked_within_days),
    not_clicked_from_ms: since(filter.not_clicked_within_days),
    not_mailed_from_ms: since(filter.not_mailed_within_days),
    domains: (filter.domains ?? []).map((domain) => canonicalDomain(domain) ?? domain),
    event: eventOf(filter.event),
    no_event: eventOf(filter.no_event),
    received: filter.received?.toUpperCase(),
    clicked: filter.clicked?.toUpperCase(),
    not_clicked: filter.not_clicked?.toUpperCase(),
    sequence: filter.sequence?.toUpperCase(),
    any_of: (filter.any ?? []).map((one) => criteriaOf(one, now_ms)),
    none_of: (filter.none ?? []).map((one) => criteriaOf(one, now_ms)),
  };
}

/** As contacts have them: without outer spaces, each once. */
function trimmed(names: readonly string[] = []): string[] {
  return [...new Set(names.map((name) => name.trim()))];
}

/** Whether it asks for nothing but a status, a tag or both: the counters of a list know how many that are. */
export function isCounted(criteria: Criteria): boolean {
  const { status: _status, tags_all, ...others } = criteria;
  return (
    tags_all.length <= 1 &&
    Object.values(others).every(
      (asked) => asked === undefined || (Array.isArray(asked) && asked.length === 0),
    )
  );
}

/** What it asks for: a quarter of a millisecond each for a thousand contacts; not_mailed, which reads the log, eight times that. */
function weightOf(criteria: Criteria): number {
  const { any_of, none_of, custom, not_mailed_from_ms, ...others } = criteria;
  const asked = Object.values(others).filter(
    (one) => one !== undefined && (!Array.isArray(one) || one.length > 0),
  );
  const own = asked.length + custom.length + (not_mailed_from_ms === undefined ? 0 : 8);
  return [...any_of, ...none_of].reduce((sum, one) => sum + weightOf(one), own);
}

/** How many contacts may be asked whether it fits them before others have their turn: `most`, or fewer where it asks for much. */
export function pieceOf(criteria: Criteria, most: number): number {
  return Math.min(most, Math.max(25, Math.floor(4_000 / Math.max(1, weightOf(criteria)))));
}
