/** The filter: which contacts of a list are meant. As it is asked for, in a body and in a query, and as SQL looks for it. */
import {
  MAX_CLICKED_WITHIN_DAYS,
  MAX_CONTACT_QUERY_CHARS,
  MAX_CONTACT_TAGS,
  MAX_CUSTOM_FIELD_NAME_CHARS,
  MAX_CUSTOM_FIELDS,
  MAX_CUSTOM_VALUE_CHARS,
  MAX_NAME_CHARS,
  MAX_TAG_CHARS,
} from '../../limits.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import { readParameters } from '../../platform/http/parameters.ts';
import { dateTime, named, oneOf, parse, type Static, t, text } from '../../platform/http/schema.ts';
import type { Criteria } from './filter-store.ts';
import { CONTACT_STATUSES } from './tables.ts';

const tags = (description: string) =>
  t.Optional(
    t.Array(text({ min: 1, max: MAX_TAG_CHARS }), { minItems: 1, maxItems: MAX_CONTACT_TAGS, description }),
  );

/** The members of a filter; spread into a query's shape. Whatever holds them must be closed, so that a misspelt one is refused. */
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
  clicked_within_days: t.Optional(
    t.Integer({
      minimum: 1,
      maximum: MAX_CLICKED_WITHIN_DAYS,
      description: 'Clicked in a marketing mail within so many days; the first click of each mail counts.',
    }),
  ),
};

export const contact_filter = named(
  'ContactFilter',
  t.Object(filter_fields, {
    additionalProperties: false,
    description: 'What is given must all be so; an empty one fits every contact of the list.',
  }),
);

/** As it is asked for, and kept. */
export type ContactFilter = Static<typeof contact_filter>;

/** What `--filter` takes in the shell. */
export const FILTER_HELP = 'only those that fit, as in a URL: "status=active&tags_any=a,b&custom.plan=pro"';

/** A filter as a query has it. Throws AppError `invalid` by member. */
export function readFilter(text: string): ContactFilter {
  const parameters = readParameters(contact_filter, new URLSearchParams(text));
  return parse(contact_filter, parameters, { coerce: true });
}

/** What a filter asks for; its days count back from `now_ms`. */
export function criteriaOf(filter: ContactFilter, now_ms: number): Criteria {
  const { status, tag, q, custom = {}, joined_after, joined_before, clicked_within_days: days } = filter;
  const some = trimmed(filter.tags_any);
  const tags_all = trimmed([...(filter.tags_all ?? []), ...(tag === undefined ? [] : [tag])]);
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
    clicked_from_ms: days === undefined ? undefined : now_ms - days * DAY_MS,
  };
}

/** As contacts have them: without outer spaces, each once. */
function trimmed(names: readonly string[] = []): string[] {
  return [...new Set(names.map((name) => name.trim()))];
}

/** Whether it asks for nothing but a status, a tag or both: the counters of a list know how many that are. */
export function isCounted(criteria: Criteria): boolean {
  const { q, tags_any, tags_all, tags_none, custom, joined_from_ms, joined_until_ms, clicked_from_ms } =
    criteria;
  const has_other = [q, joined_from_ms, joined_until_ms, clicked_from_ms].some((one) => one !== undefined);
  return !has_other && tags_all.length <= 1 && tags_any.length + tags_none.length + custom.length === 0;
}
