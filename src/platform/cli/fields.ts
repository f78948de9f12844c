/** Options that stand for fields of the API: what was given, and refusals in the words of whoever typed them. */
import { AppError, type FieldErrors, invalid } from '../../errors.ts';
import { type Cli, UsageError } from './cli.ts';
import type { Options } from './options.ts';
import { readFileText } from './secret-input.ts';

/** Fields by the option that stands for them: `{ body_text: '--text' }`. */
export type OptionNames = Readonly<Record<string, string>>;

/** Without what was not given. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The pairs of a repeatable option such as `--set name=value`; undefined where it was not given. Wrong usage otherwise. */
export function pairsOption(
  options: Options,
  name: string,
  option = `--${name}`,
): Record<string, string> | undefined {
  const pairs = options[name];
  if (!Array.isArray(pairs)) return undefined;
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(String(pair)) ?? [];
      if (key === undefined || value === undefined) throw new UsageError(`${option} takes NAME=VALUE.`);
      return [key, value];
    }),
  );
}

/** A text that is long: as it stands, of a file (`@file`), or of standard input (`-`). Throws as `readFileText` does. */
export async function readLongText<S>(
  cli: Cli<S>,
  argument: string | undefined,
): Promise<string | undefined> {
  if (argument === undefined || !(argument === '-' || argument.startsWith('@'))) return argument;
  return await readFileText(cli, argument.replace(/^@/, ''));
}

/** Does something whose refusals then name options instead of fields. */
export async function inOptions<T>(names: OptionNames, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AppError) || error.kind !== 'invalid' || !error.errors) throw error;
    const { code, details } = error;
    throw invalid(byOption(names, error.errors), { ...(code && { code }), ...(details && { details }) });
  }
}

function byOption(names: OptionNames, errors: FieldErrors): FieldErrors {
  const told: FieldErrors = {};
  for (const [field, messages] of Object.entries(errors)) {
    const [name = '', member = ''] = field.split('.');
    // An option holds a list whole; values have names.
    const rest = /^\d*$/.test(member) ? '' : ` ${member}`;
    const option = names[name] === undefined ? field : names[name] + rest;
    const all = [...(told[option] ?? []), ...messages.map((message) => inWords(names, message))];
    told[option] = [...new Set(all)];
  }
  return told;
}

/** A message may name other fields, such as `body_html or body_text is required`. */
function inWords(names: OptionNames, message: string): string {
  return message.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => names[word] ?? word);
}
