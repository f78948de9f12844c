/** Titles found by the first letters of their words: "nk" and "new k" are "New key". */

/** Says whether what was typed is, word by word in their order, how words of a title begin; a blank begins another word. */
export function fits(typed: string, title: string): boolean {
  const words = wordsOf(title);
  const [first = '', ...after] = wordsOf(typed);
  // No place is tried twice, as somebody may call a thing "a a a a a a".
  const failed = new Set<string>();
  const fitsFrom = (rest: string, next: number, at: number): boolean => {
    if (rest === '') return next === after.length || fitsFrom(after[next] ?? '', next + 1, at);
    const state = `${rest.length} ${next} ${at}`;
    if (failed.has(state)) return false;
    for (const [index, word] of words.entries()) {
      if (index < at) continue;
      for (let taken = common(rest, word); taken > 0; taken -= 1)
        if (fitsFrom(rest.slice(taken), next, index + 1)) return true;
    }
    failed.add(state);
    return false;
  };
  return first !== '' && fitsFrom(first, 0, 0);
}

/** As many letters as tell one word from another. */
const TELLING = 3;

/** Says whether each word of what was typed begins a word of a text, whatever their order: other names of a thing. */
export function isAbout(typed: string, text: string): boolean {
  const words = wordsOf(text);
  const asked = wordsOf(typed);
  return (
    asked.some((word) => word.length >= TELLING) &&
    asked.every((each) => words.some((word) => word.startsWith(each)))
  );
}

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Counts the characters that two words have in common from their beginning. */
function common(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
