/** Addresses as people copy them into fields: as an import reads them. Pure but for the field. */

/** Blanks, those that do not break too, and what has no width or turns the direction of text. */
const UNSEEN = /[\s\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069]/;

/** A text without what nobody sees around it. */
export function trimUnseen(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && UNSEEN.test(text.charAt(from))) from += 1;
  while (to > from && UNSEEN.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** `Ann Lee <ann@example.com>`, or `Lee, Ann <ann@example.com>`; null where it is no such text. */
function readNamed(text: string): { email: string; first: string; last: string } | null {
  const [, before = '', email] = /^([^<>]*)<([^<>]*)>$/.exec(text) ?? [];
  if (email === undefined) return null;
  const name = trimUnseen(trimUnseen(before).replace(/^(["'])(.*)\1$/, '$2'));
  const [, last_first, first_last] = /^([^,]*),(.*)$/.exec(name) ?? [];
  const [, all_but_last = name, last = ''] = /^(.*)\s(\S+)$/.exec(name) ?? [];
  const [first, family] = last_first === undefined ? [all_but_last, last] : [first_last ?? '', last_first];
  return name.includes('@')
    ? { email: trimUnseen(email), first: '', last: '' }
    : { email: trimUnseen(email), first: first.trim(), last: family.trim() };
}

/** The address of such a text, or the text. */
export function addressIn(text: string): string {
  const given = trimUnseen(text);
  return readNamed(given)?.email ?? given;
}

/** Leaves the address alone in its field, and puts the name that stood before it into the fields for names, where all are empty. */
export function tidyAddress(field: HTMLInputElement): void {
  const text = trimUnseen(field.value);
  const named = readNamed(text);
  field.value = named?.email ?? text;
  if (!named) return;
  const { first, last } = named;
  const names = { first_name: first, last_name: last, name: `${first} ${last}`.trim() };
  const fields = Object.entries(names).flatMap(([name, value]) => {
    const one = field.form?.elements.namedItem(name);
    return one instanceof HTMLInputElement ? [{ one, value }] : [];
  });
  if (fields.every(({ one }) => one.value === '')) for (const { one, value } of fields) one.value = value;
}
