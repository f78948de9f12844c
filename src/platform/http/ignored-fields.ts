/** Fields that no endpoint knows are ignored, but named in a Warning header, so that a typing error shows. */
import { MAX_WARNED_FIELD_CHARS, MAX_WARNED_FIELDS } from '../../limits.ts';
import { readParameters, type TSchema } from './schema.ts';

/** Unknown query parameters of a list, and unknown fields at the top of a body, in their order. */
export function ignoredNames(
  known: { query?: TSchema; body?: TSchema; response?: TSchema },
  url: URL,
  sent: Readonly<Record<string, unknown>>,
): string[] {
  const { query, body, response } = known;
  const is_list = query !== undefined || response?.type === 'array';
  return [
    ...(is_list && url.search !== ''
      ? unknownTo(query, Object.keys(readParameters(query, url.searchParams)))
      : []),
    ...(body ? unknownTo(body, Object.keys(sent)) : []),
  ];
}

function unknownTo(schema: TSchema | undefined, names: Iterable<string>): string[] {
  // A closed one refuses them.
  if (schema?.additionalProperties === false) return [];
  const properties: object = schema?.properties ?? {};
  return [...names].filter((name) => !Object.hasOwn(properties, name));
}

/** Names as a header may hold them: cut, with `_` for what is no token character (RFC 9110, 5.6.2). */
export function showNames(names: readonly string[]): string {
  return names
    .slice(0, MAX_WARNED_FIELDS)
    .map((name) =>
      // Cut first: a name may be as long as a body.
      [...name.slice(0, 2 * MAX_WARNED_FIELD_CHARS)]
        .slice(0, MAX_WARNED_FIELD_CHARS)
        .join('')
        .replace(/[^!#$%&'*+.^`|~\w-]/gu, '_'),
    )
    .join(', ');
}
