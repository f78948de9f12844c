/** Which lines of an environment file a shell reads otherwise than Satchel: those that `. satchel.env` got wrong, or relied on. */
import { parseEnvFile } from './env-file.ts';

/** The numbers of those lines, in their order. */
export function linesShellsReadOtherwise(text: string): number[] {
  const { assignments, ignored } = parseEnvFile(text);
  const others = assignments.filter((each) => {
    const word = each.text.startsWith(`${each.name}=`) ? each.text.slice(each.name.length + 1) : null;
    return word === null || valueInShell(word) !== each.value;
  });
  return [...others, ...ignored].map(({ line }) => line).sort((a, b) => a - b);
}

/** What the shell command language (POSIX, 2.2 and 2.3) does with a character outside quotes, but to keep it. */
const SPECIAL = /[$`&|;<>()*?[]/;

/** The value of a word behind a `=`; null where a shell expands it, runs something, or reads on. */
function valueInShell(text: string): string | null {
  let value = '';
  let at = 0;
  const { length } = text;
  if (text.startsWith('~')) return null;
  while (at < length && !/\s/.test(text.charAt(at))) {
    const char = text.charAt(at);
    if (char === "'" || char === '"') {
      const quoted = char === "'" ? /'([^']*)'/y : /"((?:[^"\\$`]|\\[\s\S])*)"/y;
      quoted.lastIndex = at;
      const [whole, inside] = quoted.exec(text) ?? [];
      if (whole === undefined || inside === undefined) return null;
      value +=
        char === "'" ? inside : inside.replace(/\\([\\"$`]|\n)/g, (_, one) => (one === '\n' ? '' : one));
      at += whole.length;
    } else if (char === '\\') {
      value += text.slice(at + 1, at + 2).replace('\n', '');
      at += 2;
    } else if (SPECIAL.test(char)) return null;
    else {
      value += char;
      at += 1;
    }
  }
  // Behind a blank another word begins, or a comment.
  return /^\s*(#.*)?$/.test(text.slice(at)) ? value : null;
}
