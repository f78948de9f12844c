/** Reads a .env file into the service `env` as npm's dotenv does. Refuses what that would skip or cut. */
import { parse } from 'dotenv';
import { invalid } from '../../errors.ts';
import { findVaultField, requireVaultService, VAULT_SERVICES } from './registry.ts';
import type { ImportedName, ServiceMetadata } from './schemas.ts';

export const ENV = requireVaultService('env');

/**
 * What dotenv takes for one variable: its own expression without blank lines before it. Skipping those anew
 * from each of them takes seconds in a file that is full of them.
 */
const VARIABLE =
  /^[^\S\n\u2028\u2029]*(?:export\s+)?[\w.-]+(?:\s*=\s*?|:\s+?)(?:\s*'(?:\\'|[^'])*'|\s*"(?:\\"|[^"])*"|\s*`(?:\\`|[^`])*`|(?<unquoted>[^#\r\n]+))?\s*(?<comment>#.*)?$/gm;

/** So many lines are told of. */
const MAX_TOLD = 10;

/**
 * The variables of a .env file; the last value of a name counts, as with dotenv. Throws AppError `invalid`
 * under `field` with each line that dotenv would skip, whose value a `#` would cut, or whose name the vault
 * refuses, and repeats none of their text.
 */
export function readEnvFile(text: string, field: string): Map<string, string> {
  const lines = text.replace(/\r\n?/g, '\n');
  const values = new Map<string, string>();
  const problems: [line: number, problem: string][] = [];
  let line = 1;
  let end = 0;
  const passOver = (upto: number): void => {
    for (const skipped of lines.slice(end, upto).split('\n')) {
      if (/^\s*[^#\s]/.test(skipped)) problems.push([line, SKIPPED]);
      line += 1;
    }
    line -= 1;
  };
  for (const { 0: variable, index, groups = {} } of lines.matchAll(VARIABLE)) {
    passOver(index);
    const [[name, value] = ['', ''], ...others] = Object.entries(parse(variable));
    if (name === '' || others.length > 0) problems.push([line, SKIPPED]);
    else if (!findVaultField(ENV, name)) problems.push([line, UNFIT]);
    else if (isCut(variable, groups)) problems.push([line, CUT]);
    else values.set(name, value);
    line += variable.split('\n').length - 1;
    end = index + variable.length;
  }
  passOver(lines.length);
  if (problems.length > 0) {
    const told = problems.slice(0, MAX_TOLD).map(([at, problem]) => `Line ${at} ${problem}.`);
    const rest = problems.length - told.length;
    throw invalid({ [field]: rest > 0 ? [...told, `${rest} more lines are wrong.`] : told });
  }
  if (values.size === 0) throw invalid({ [field]: ['There is no NAME=value in it.'] });
  return values;
}

/** Whether a value without quotes ends at a `#` that may have been meant as part of it. */
function isCut(variable: string, { unquoted, comment }: Record<string, string | undefined>): boolean {
  if (comment === undefined) return false;
  const before = variable.slice(0, -comment.length);
  return unquoted === undefined ? before.endsWith('=') : !/\s$/.test(before);
}

const SKIPPED = 'would be skipped by dotenv: write NAME=value, or # before a comment';
const CUT =
  'has a # at which dotenv would cut the value: put quotes around the value, or a blank before a # that begins a comment';
const UNFIT =
  'has a name that the vault does not take: a letter or _, then letters, digits and _, at most 128 in all';

/** What storing these names would do to what a project's vault holds; `isPlain` says what each then is. */
export function explainImport(
  stored: readonly ServiceMetadata[],
  names: Iterable<string>,
  isPlain: (name: string) => boolean,
): ImportedName[] {
  const present = new Map(stored.map((each) => [each.service, each.present]));
  const hidden = new Map(
    VAULT_SERVICES.flatMap(({ service, fields }) =>
      fields
        .filter(({ field, file }) => !file && present.get(service)?.[field])
        .map(({ field, env_key }) => [env_key, `${service}.${field}`] as const),
    ),
  );
  return [...names].map((name) => ({
    name,
    replaces: present.get(ENV.service)?.[name] === true,
    hides: hidden.get(name) ?? null,
    plain: isPlain(name),
  }));
}
