/**
 * The one reader of environment files. It reads as systemd reads an EnvironmentFile (systemd.exec(5), and its
 * src/basic/env-file.c): no `$` is replaced and no command runs. `#` and `;` begin a comment at the beginning of a line alone;
 * single and double quotes may span lines; a backslash at the end of a line joins the next one.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { AppError, messageOf } from '../../errors.ts';

interface Assignment {
  name: string;
  value: string;
  /** Where it begins, from 1. */
  line: number;
  /** As it stands in the file. */
  text: string;
}

interface TellingLine {
  line: number;
  reason: string;
}

export interface EnvFile {
  assignments: Assignment[];
  /** What is neither blank, comment nor assignment, or may be no variable: systemd ignores it. */
  ignored: TellingLine[];
  /** What only some versions of systemd ignore. */
  doubtful: TellingLine[];
}

/** Reads a file. Throws AppError `invalid`, which names it, where it can't be read or is no text. */
export function readEnvFile(path: string): string {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new AppError('invalid', `The environment file ${path} can't be read: ${messageOf(error)}.`, {
      cause: error,
    });
  }
  if (!isUtf8(bytes) || bytes.includes(0))
    throw new AppError('invalid', `The environment file ${path} must be text in UTF-8.`);
  return bytes.toString('utf8');
}

/**
 * The variables of a file that Satchel reads by itself: the last line of a name counts, and CR LF and a byte
 * order mark are no matter. Throws AppError `invalid`, which names file and line and never the text, for a
 * line that systemd would ignore.
 */
export function variablesOf(text: string, path: string): Record<string, string> {
  const { assignments, ignored } = parseEnvFile(text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n'));
  const [first] = ignored;
  if (first !== undefined)
    throw new AppError(
      'invalid',
      `${path}, line ${first.line}: ${first.reason}. A line is NAME=value, blank, or a comment that begins with #. No shell reads it, so ` +
        'there is no export in it.',
    );
  return Object.fromEntries(assignments.map(({ name, value }) => [name, value]));
}

const LINE_END = /[\n\r]/;
const BLANK = /[ \t\n\r]/;
/** POSIX, 8.1. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: systemd takes none of these in a value.
const CONTROLS = /[\x00-\x08\x0b-\x1f\x7f]/;

/** Everything in a file, in its order, to the letter as systemd has it. */
export function parseEnvFile(text: string): EnvFile {
  const file: EnvFile = { assignments: [], ignored: [], doubtful: [] };
  for (let at = 0; at < text.length; ) {
    const line = text.slice(0, at).split(/\r\n|[\r\n]/).length;
    if (BLANK.test(text.charAt(at))) at += text.startsWith('\r\n', at) ? 2 : 1;
    else if (/[#;]/.test(text.charAt(at))) {
      at = endOfLine(text, at);
      if (text.charAt(at - 1) === '\\')
        file.doubtful.push({
          line: line + 1,
          reason:
            'the comment above it ends in a backslash, and systemd before version 254 adds this line to it',
        });
    } else at = readEntry(text, at, line, file);
  }
  return file;
}

function endOfLine(text: string, from: number): number {
  const length = text.slice(from).search(LINE_END);
  return length === -1 ? text.length : from + length;
}

/** Returns where it ends. */
function readEntry(text: string, start: number, line: number, file: EnvFile): number {
  const end = endOfLine(text, start);
  // A name has a character at least.
  const equals = text.slice(start, end).indexOf('=', 1);
  if (equals === -1) {
    file.ignored.push({ line, reason: 'it has no =' });
    return end;
  }
  const name = text.slice(start, start + equals).replace(/[ \t]+$/, '');
  const { value, at } = readValue(text, start + equals + 1);
  if (!NAME.test(name))
    file.ignored.push({ line, reason: 'what stands before the = is no name of a variable' });
  else if (CONTROLS.test(value)) file.ignored.push({ line, reason: 'its value has a control character' });
  else file.assignments.push({ name, value, line, text: text.slice(start, at) });
  return at;
}

/** The value that begins there, and where the line ends in which it does. */
function readValue(text: string, start: number): { value: string; at: number } {
  let value = '';
  /** How much of it stays where blanks end the line; null before its first character outside quotes. */
  let kept: number | null = null;
  let at = start;
  for (; at < text.length && !LINE_END.test(text.charAt(at)); at += 1) {
    const char = text.charAt(at);
    if (char === '\\') {
      at += 1;
      if (!LINE_END.test(text.charAt(at))) value += text.charAt(at);
      kept = value.length;
    } else if (kept === null && (char === '"' || char === "'")) {
      const quoted = char === '"' ? readDoubleQuoted(text, at + 1) : readSingleQuoted(text, at + 1);
      value += quoted.value;
      at = quoted.at;
    } else if (!BLANK.test(char)) {
      value += char;
      kept = value.length;
    } else if (kept !== null) value += char;
  }
  return { value: kept === null ? value : value.slice(0, kept), at: Math.min(at, text.length) };
}

/** To the quotation mark that ends it, or to the end of the file. */
function readSingleQuoted(text: string, start: number): { value: string; at: number } {
  const end = text.indexOf("'", start);
  const at = end === -1 ? text.length : end;
  return { value: text.slice(start, at), at };
}

function readDoubleQuoted(text: string, start: number): { value: string; at: number } {
  let value = '';
  let at = start;
  for (; at < text.length && text.charAt(at) !== '"'; at += 1) {
    if (text.charAt(at) !== '\\') {
      value += text.charAt(at);
      continue;
    }
    at += 1;
    const escaped = text.charAt(at);
    if (/["\\`$]/.test(escaped)) value += escaped;
    else if (escaped !== '\n' && escaped !== '') value += `\\${escaped}`;
  }
  return { value, at };
}
