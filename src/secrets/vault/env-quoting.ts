/**
 * How a value is written so that its target's loader reads it back: dotenv for servers, @next/env, vite's
 * loadEnv, @expo/env, and sh. No .env format can escape quotes, so some values have no spelling.
 */

export type EnvTarget = 'server' | 'nextjs' | 'vite' | 'expo' | 'shell';

/** What stands behind `NAME=`, or null where the loader can't carry the value. */
export function quoteValue(target: EnvTarget, value: string): string | null {
  switch (target) {
    case 'server':
      return quoteForDotenv(value);
    case 'nextjs':
      return quoteForDotenv(escapeDollars(value));
    case 'vite':
      return quoteForParseEnv(escapeDollars(value));
    case 'expo': {
      const escaped = escapeForExpo(value);
      return escaped === null ? null : quoteForParseEnv(escaped);
    }
    case 'shell':
      return `'${value.replaceAll("'", String.raw`'\''`)}'`;
  }
}

/** Build tools expand `$NAME` whatever the quotes, and take one backslash away before each `$`. */
function escapeDollars(value: string): string {
  return value.replaceAll('$', String.raw`\$`);
}

/** A reference to a variable as @expo/env finds it, with its default up to the first brace. */
const EXPO_REFERENCE = /(\\)?\$\{?[\w.]+(?::?-([^}]+))?/g;

/**
 * As `escapeDollars`. @expo/env takes two backslashes away where a reference begins, so one of the value's
 * own needs one more. Behind a default with braces in it nobody knows which `$` begins one: null for a `\$`
 * there.
 */
function escapeForExpo(value: string): string | null {
  const last = value.lastIndexOf(String.raw`\$`);
  let is_known = true;
  const doubled = value.replace(EXPO_REFERENCE, (reference: string, own = '', fallback = '', at = 0) => {
    if (last > at && fallback.includes('${')) is_known = false;
    return own + reference;
  });
  return is_known ? escapeDollars(doubled) : null;
}

/**
 * dotenv takes a quote after a backslash as part of the value, and strips outer quotes off an unquoted line.
 * Within double quotes it knows two escapes. It reads a carriage return as a line feed.
 */
function quoteForDotenv(text: string): string | null {
  const raw = text.includes('\r') ? [] : [text];
  const escaped = /\\[nr]/.test(text) ? [] : [text.replaceAll('\n', '\\n').replaceAll('\r', '\\r')];
  const spellings = [
    ...raw.map((inner) => ["'", inner] as const),
    ...escaped.map((inner) => ['"', inner] as const),
    ...raw.map((inner) => ['`', inner] as const),
  ];
  const found =
    spellings.find(([quote, inner]) => !inner.includes(quote)) ??
    spellings.find(([quote, inner]) => !inner.replaceAll(`\\${quote}`, '').includes(quote)) ??
    spellings.find(([quote, inner]) => !new RegExp(`[#\n]|${quote}\\s*[\u2028\u2029]`).test(inner));
  if (!found) return null;
  const [quote, inner] = found;
  // With nothing but the quote after a backslash, the value would go on to the next quote of the file.
  return `${quote}${inner}${quote}${inner.endsWith('\\') ? ` # ${quote}.` : ''}`;
}

/** Vite and Expo read with parseEnv of node:util. Node's and Bun's differ: both read this alike. */
function quoteForParseEnv(text: string): string | null {
  if (text.includes('\r')) return null;
  const quotes = text.endsWith('\\') ? [] : ["'", /\\[nr]/.test(text) ? "'" : '"', '`'];
  const quote = quotes.find((each) => !text.includes(each));
  if (quote !== undefined) return quote + text + quote;
  const is_plain = text === text.trim() && !/^['"`]|[#\n]/.test(text);
  return is_plain ? text : null;
}
