/** Addresses as people copy them: with a name before, in angle brackets, or with characters around that nobody sees. Pure functions. */

/** Blanks, those that do not break too, and what has no width or turns the direction of text. */
const UNSEEN = /[\s\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069]/;

export interface NamedAddress {
  email: string;
  first_name: string | null;
  last_name: string | null;
}

/** A text without what nobody sees around it. */
export function trimUnseen(text: string): string {
  let from = 0;
  let to = text.length;
  while (from < to && UNSEEN.test(text.charAt(from))) from += 1;
  while (to > from && UNSEEN.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
}

/** `Ann Lee <ann@example.com>`. What is no such text is an address without a name, whatever it is. */
export function readAddress(text: string): NamedAddress {
  const given = trimUnseen(text);
  const open = given.lastIndexOf('<');
  if (open < 0 || !given.endsWith('>')) return { email: given, first_name: null, last_name: null };
  return { email: trimUnseen(given.slice(open + 1, -1)), ...readName(given.slice(0, open)) };
}

/** `Ann Maria Lee` or `Lee, Ann Maria`, in quotes or without. */
export function readName(text: string): Pick<NamedAddress, 'first_name' | 'last_name'> {
  const given = trimUnseen(text);
  const [, , quoted = given] = /^(["'])(.*)\1$/s.exec(given) ?? [];
  const name = trimUnseen(quoted);
  // Mail programs write the address itself where they know no name.
  if (name.includes('@')) return { first_name: null, last_name: null };
  const comma = name.indexOf(',');
  const blank = name.search(/\s\S*$/);
  const [first, last] =
    comma >= 0
      ? [name.slice(comma + 1), name.slice(0, comma)]
      : [name.slice(0, blank < 0 ? undefined : blank), blank < 0 ? '' : name.slice(blank)];
  return { first_name: first.trim() || null, last_name: last.trim() || null };
}
