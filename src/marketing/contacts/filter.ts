/** The filter: which contacts of a list are meant. As it is asked for, in a body and in a query. */
import { invalid } from '../../errors.ts';
import {
  named,
  nullable,
  parse,
  readParameters,
  type Static,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { MEMBERS, type MemberSchemas } from './filter-members-store.ts';

/** Contract: filters in `any` and `none` of one. */
const MAX_FILTER_PARTS = 10;

/** Half of what the head of a request may have. */
const MAX_FILTER_CHARS = 8_192;

const schemas = Object.entries(MEMBERS).map(([name, { schema }]) => [name, schema]);

/** The members of a filter but those that hold filters; spread into a query's shape. Whatever holds them must be closed, so that a misspelt one is refused. */
export const filter_fields = Object.fromEntries(schemas) as MemberSchemas; // It has no others.

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
