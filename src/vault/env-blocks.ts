/** Env blocks: stored fields as the text of a .env file, for a server and for three client build tools. */

/** One stored field that is no file. */
export interface EnvEntry {
  env_key: string;
  client_safe: boolean;
  value: string;
}

export const ENV_TARGETS = ['server', 'nextjs', 'vite', 'expo'] as const;
export type EnvTarget = (typeof ENV_TARGETS)[number];
export type EnvBlocks = Partial<Record<EnvTarget, string>>;

/** What a build tool puts into the pages and apps it makes; a server gets everything under the plain name. */
const PREFIX: Record<EnvTarget, string> = {
  server: '',
  nextjs: 'NEXT_PUBLIC_',
  vite: 'VITE_',
  expo: 'EXPO_PUBLIC_',
};

/** Client blocks hold client-safe fields only. A block without a line is left out. */
export function buildEnvBlocks(entries: readonly EnvEntry[]): EnvBlocks {
  const blocks: EnvBlocks = {};
  for (const target of ENV_TARGETS) {
    const own = entries.filter((entry) => target === 'server' || entry.client_safe);
    const lines = own.map((entry) => lineOf(`${PREFIX[target]}${entry.env_key}`, entry.value));
    if (lines.length > 0) blocks[target] = `${lines.join('\n')}\n`;
  }
  return blocks;
}

function lineOf(name: string, value: string): string {
  const quoted = quoteForDotenv(value);
  // A comment rather than a wrong value: the reader learns that one is missing and where it can be had.
  if (quoted === null) return `# ${name}: no .env file can hold its value; take it from the field itself.`;
  return `${name}=${quoted}`;
}

/**
 * A value such that the dotenv package reads it back unchanged, or null where no spelling does that: dotenv knows no
 * escapes but \n and \r within double quotes, so a value that mixes all quotes with line breaks or # has none.
 * Single quotes come first because shells read them the same way.
 */
export function quoteForDotenv(value: string): string | null {
  // A quote after a backslash does not end the value, so no quoted value may end in one.
  const is_quotable = !value.endsWith('\\');
  const is_double_quotable = is_quotable && !value.includes('"') && !/\\[nr]/.test(value);
  if (value.includes('\r')) {
    // dotenv turns CR into LF before it reads, so one is written as an escape.
    if (!is_double_quotable) return null;
    return `"${value.replaceAll('\n', '\\n').replaceAll('\r', '\\r')}"`;
  }
  if (is_quotable && !value.includes("'")) return `'${value}'`;
  if (is_double_quotable) return `"${value}"`;
  if (is_quotable && !value.includes('`')) return `\`${value}\``;
  const is_plain = value === value.trim() && !/[#\n\u2028\u2029]/.test(value) && !/^['"`]/.test(value);
  return is_plain && value !== '' ? value : null;
}
