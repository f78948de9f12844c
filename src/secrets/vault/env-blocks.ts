/** Env blocks: which fields have which names, for a server, three client build tools and a shell; and their quoting. */

/** One stored field that is no file. */
export interface EnvEntry {
  service: string;
  field: string;
  env_key: string;
  /** Of a service with names of the operator's own: they stay, with a client's prefix or without. */
  free_form: boolean;
  client_safe: boolean;
  /** Null where it does not decrypt. */
  value: string | null;
}

/** A field that is in no block, because a name of the service `env` hides it. */
export interface ShadowedField {
  service: string;
  field: string;
  name: string;
}

export interface EnvBlock {
  /** Null where nothing stands in it. */
  text: string | null;
  shadowed: ShadowedField[];
  /** Names that are left out, as the target's loader can't read their values back. */
  unquotable: { target: EnvTarget; name: string }[];
}

/** The blocks of a reveal; the command line alone knows `shell` too. */
export const ENV_TARGETS = ['server', 'nextjs', 'vite', 'expo'] as const;

/** A build tool puts names with this prefix into the pages and apps it makes; a server gets everything under the plain name. */
const PREFIX: Record<EnvTarget, string> = {
  server: '',
  shell: '',
  nextjs: 'NEXT_PUBLIC_',
  vite: 'VITE_',
  expo: 'EXPO_PUBLIC_',
};

/** True of a name that is meant for pages and apps, where everybody reads its value. */
export function isPublicName(name: string): boolean {
  return Object.values(PREFIX).some((prefix) => prefix !== '' && name.startsWith(prefix));
}

/** Names that dotenv drops, and that bash or dash refuses, makes up or calculates. */
const LOST_NAMES: Partial<Record<EnvTarget, RegExp>> = {
  server: /^__proto__$/,
  shell:
    /^(?:_|BASH(?!_ENV$)\w*|DIRSTACK|EPOCHREALTIME|EPOCHSECONDS|E?UID|FUNCNAME|GROUPS|HISTCMD|LINENO|OPTIND|PPID|S?RANDOM|SECONDS|SHELLOPTS)$/,
};

/**
 * The variables of a target; for clients only what is client-safe. A name of `env` hides another service's,
 * even where its own value does not decrypt: the other's value could mean another database.
 */
export function pickVariables(
  entries: readonly EnvEntry[],
  target: EnvTarget,
): { variables: [name: string, value: string][]; shadowed: ShadowedField[] } {
  const prefix = PREFIX[target];
  const named = entries
    .filter((entry) => prefix === '' || entry.client_safe)
    .map((entry) => ({ ...entry, name: entry.free_form ? entry.env_key : prefix + entry.env_key }))
    .filter(({ name }) => name.startsWith(prefix));
  const own = new Set(named.filter((entry) => entry.free_form).map(({ name }) => name));
  const variables: [string, string][] = [];
  const shadowed: ShadowedField[] = [];
  for (const { service, field, name, free_form, value } of named) {
    if (value === null) continue;
    if (!free_form && own.has(name)) shadowed.push({ service, field, name });
    else variables.push([name, value]);
  }
  return { variables, shadowed };
}

/** The text of a target's block, each value as its loader reads it back unchanged. */
export function buildEnvBlock(entries: readonly EnvEntry[], target: EnvTarget): EnvBlock {
  const { variables, shadowed } = pickVariables(entries, target);
  const unquotable: EnvBlock['unquotable'] = [];
  const lines = variables.map(([name, value]) => {
    const quoted = LOST_NAMES[target]?.test(name) ? null : quoteValue(target, value);
    if (quoted !== null) return `${target === 'shell' ? 'export ' : ''}${name}=${quoted}\n`;
    unquotable.push({ target, name });
    // A comment rather than a wrong value: the reader learns that one is missing and where it can be had.
    return `# ${name}: this file can't hold its value; take it from the vault itself.\n`;
  });
  return { text: lines.length > 0 ? lines.join('') : null, shadowed, unquotable };
}

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
