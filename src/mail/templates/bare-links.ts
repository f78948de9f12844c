/** Web addresses that stand in a text as they are. Pure functions. */

/** Scripts that are written without blanks: their letters stand close to an address. */
const CLOSE = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{scx=${script}}`)
  .join('');
/** Beyond ASCII blanks, punctuation, symbols and what nobody sees end an address. Merge fields' marks do not: they are for private use. */
const BARE = `(?:[!#-;=?-~]|[^\\x00-\\x7f\\p{Z}\\p{P}\\p{S}\\p{Cc}\\p{Cf}${CLOSE}])+`;
/** Between these an address is taken whole. */
const IN_ANGLES = '(?<=<)https?:\\/\\/[^\\s<>"]+(?=>)';
const IN_BRACKETS = '(?<=\\]\\()https?:\\/\\/(?:[^\\s<>"()]|\\([^\\s<>"()]*\\))+(?=\\))';
const ADDRESS = new RegExp(`(${IN_ANGLES}|${IN_BRACKETS})|\\bhttps?:\\/\\/${BARE}`, 'giu');

/**
 * A text by what stands between its web addresses and by them: each other part, from the second on, is an
 * address.
 */
export function splitAtLinks(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { 0: found, 1: whole, index } of text.matchAll(ADDRESS)) {
    const address = whole ?? withoutPunctuation(found);
    if (address.endsWith('://')) continue;
    parts.push(text.slice(from, index), address);
    from = index + address.length;
  }
  return [...parts, text.slice(from)];
}

/**
 * Punctuation behind an address belongs to its sentence, a closing bracket to the address where one was
 * opened in it.
 */
function withoutPunctuation(address: string): string {
  let unopened = address.split(')').length - address.split('(').length;
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address.charAt(end - 1);
    if (!/[.,;:!?'*_)\]}]/.test(last) || (last === ')' && unopened <= 0)) break;
    if (last === ')') unopened -= 1;
  }
  return address.slice(0, end);
}
