/** Words of a POSIX shell: the commands that messages name are there to be pasted. */

/** As one word, quoted in any case. */
function quoteWord(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** As one word, quoted where it must be: a path with a space would name two places. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : quoteWord(text);
}
