/** Env blocks: which fields have which names, for a server, three client build tools and a shell. */
import { type EnvTarget, quoteValue } from './env-quoting.ts';

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

/** What a build tool puts into the pages and apps it makes; a server gets everything under the plain name. */
const PREFIX: Record<EnvTarget, string> = {
  server: '',
  shell: '',
  nextjs: 'NEXT_PUBLIC_',
  vite: 'VITE_',
  expo: 'EXPO_PUBLIC_',
};

/** Whether a name is meant for pages and apps, where everybody reads its value. */
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
