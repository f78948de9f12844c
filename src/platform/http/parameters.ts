/** The parameters of a query, as the object that its schema is of. */
import { Kind } from '@sinclair/typebox';
import type { TSchema } from './schema.ts';

/**
 * Parameters by name, as text; the last one of a repeated name counts. Members of a record, such as
 * `custom.plan=pro`, are gathered under its name.
 */
export function readParameters(
  schema: TSchema | undefined,
  parameters: URLSearchParams,
): Record<string, unknown> {
  const properties: Record<string, TSchema> = schema?.properties ?? {};
  const given = new Map<string, unknown>();
  const records = new Map<string, Map<string, string>>();
  for (const [name, value] of parameters) {
    const dot = name.indexOf('.');
    const head = name.slice(0, Math.max(0, dot));
    const kind = Object.hasOwn(properties, head) ? properties[head]?.[Kind] : undefined;
    if (kind !== 'Record' && kind !== 'Object') given.set(name, value);
    else records.set(head, (records.get(head) ?? new Map()).set(name.slice(dot + 1), value));
  }
  for (const [name, members] of records) given.set(name, Object.fromEntries(members));
  return Object.fromEntries(given);
}
