/** In the thread of apps: what of a call to Mailgun differs from recipient to recipient. */

import { isPlainObject } from '../../platform/http/schema.ts';
import { oneLine } from '../../platform/mail/address.ts';
import { Unfit } from './reading.ts';

/** Decision: `recipient-variables` of a thousand recipients, 4 KiB each; JSON of more would take its time. */
const MAX_VARIABLES_BYTES = 4 * 1024 * 1024;

const HOLE = /%recipient\.([^%\s]{1,128})%/g;

/** The values of a recipient, by name. */
export type RecipientValues = Readonly<Record<string, string>>;

/** Cuts a text at what recipients have values for: in place of each its name's place among `names`, which grows by it. */
export function cutAtNames(text: string, names: Map<string, number>): (string | number)[] {
  // What stands between is a name.
  return text.split(HOLE).map((piece, index) => {
    if (index % 2 === 0) return piece;
    const place = names.get(piece) ?? names.size;
    names.set(piece, place);
    return place;
  });
}

/** The values of a recipient in the order of `names`. One that has none stays as it was written. */
export function valuesInOrder(names: ReadonlyMap<string, number>, values: RecipientValues): string[] {
  return [...names.keys()].map((name) =>
    Object.hasOwn(values, name) ? String(values[name]) : `%recipient.${name}%`,
  );
}

/** Puts a recipient's values into a field of a header, on one line; what is put in is not looked through. */
export function fillField(text: string, values: RecipientValues): string {
  return text.replace(HOLE, (whole, name: string) =>
    Object.hasOwn(values, name) ? oneLine(values[name] ?? '') : whole,
  );
}

/** How often each name stands in texts. */
export function namesIn(...texts: readonly (string | null)[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const [, name = ''] of text?.matchAll(HOLE) ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** What finds the values of an address; null where none were sent. Throws Unfit. */
export function readVariables(sent: string | undefined): ((address: string) => RecipientValues) | null {
  if (sent === undefined) return null;
  if (Buffer.byteLength(sent) > MAX_VARIABLES_BYTES)
    throw new Unfit('form', `recipient-variables: may have ${MAX_VARIABLES_BYTES} bytes at most`);
  const by_address = new Map<string, unknown>(Object.entries(parsed(sent)));
  for (const [address, values] of [...by_address]) by_address.set(address.toLowerCase(), values);
  return (address) => textsOf(by_address.get(address) ?? by_address.get(address.toLowerCase()) ?? {});
}

function parsed(sent: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(sent);
    if (isPlainObject(value)) return value;
  } catch {}
  throw new Unfit(
    'form',
    'recipient-variables: must be a JSON object of objects, such as {"ann@example.org": {"name": "Ann"}}',
  );
}

function textsOf(values: unknown): RecipientValues {
  if (!isPlainObject(values))
    throw new Unfit('form', 'recipient-variables: each address must have an object of values');
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? ''),
    ]),
  );
}
