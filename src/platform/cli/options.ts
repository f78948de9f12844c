/** Reads the options that commander gives: texts, lists, numbers, moments, capabilities, and the consent to destroy. */

import { InvalidArgumentError, Option } from 'commander';
import { AppError } from '../../errors.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../host/clock.ts';
import { ADMINISTER, CAPABILITIES, type Capability, GRANTABLE } from '../http/callers.ts';
import { parseDateTime } from '../http/schema.ts';

export type Options = Record<string, unknown>;

/** The command was used wrongly, in a way that commander can't check. Ends with `EXIT.usage`. */
export class UsageError extends Error {}

/** The option of every verb that says where settings are. */
export function envFileOption(): Option {
  return new Option(
    '--env-file <file>',
    'settings that count where the environment has none, as systemd reads such a file',
  );
}

/** A text option, or undefined where it was not given. */
export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** Which projects somebody new is for: --all-projects or --project. Throws UsageError unless one is. */
export function requireScope(options: Options, whom: string): { all_projects: boolean; projects: string[] } {
  const projects = listOption(options, 'project');
  const all_projects = options.allProjects === true;
  if (all_projects === projects.length > 0)
    throw new UsageError(
      `Say what ${whom} is for: either --all-projects, or --project REF once or more often.`,
    );
  return { all_projects, projects };
}

/** A repeatable or comma-separated option as a list. */
export function listOption(options: Options, name: string): string[] {
  const value = options[name];
  const parts = Array.isArray(value) ? value : typeof value === 'string' ? [value] : [];
  return parts
    .flatMap((part) => (typeof part === 'string' ? part.split(',') : []))
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

/** Collects a repeatable option; hand it to commander as the option's parser. */
export function collect(value: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), value];
}

/** Commander's parser of a whole number from `min`. Wrong usage otherwise. */
export function wholeNumber(min: number): (value: string) => number {
  return (value) => {
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (!(number >= min)) throw new InvalidArgumentError(`It must be a whole number of at least ${min}.`);
    return number;
  };
}

/** As `wholeNumber`, for a limit that the word takes away. Commander keeps no null, so it stays the word. */
export function limitOrWord(min: number, word: string): (value: string) => number | string {
  return (value) => (value === word ? word : wholeNumber(min)(value));
}

export function numberOption(options: Options, name: string): number | undefined {
  const value = options[name];
  return typeof value === 'number' ? value : undefined;
}

/** Refuses a verb that destroys something unless `--yes` was given. */
export function requireYes(options: Options, what: string): void {
  if (options.yes !== true) throw new AppError('invalid', `This ${what}. Add --yes to do it.`);
}

/** The text options of these names that were given, by name. */
export function textOptions<N extends string>(options: Options, ...names: N[]): { [name in N]?: string } {
  const given: { [name in N]?: string } = {};
  for (const name of names) {
    const value = textOption(options, name);
    if (value !== undefined) given[name] = value;
  }
  return given;
}

const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** The moment of `--since`, which says it or how long ago it was. Wrong usage otherwise. */
export function momentSince(text: string, now_ms: number): number {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  if (ago) return now_ms - Number(ago[1]) * (UNITS[ago[2] ?? ''] ?? 0);
  const at = parseDateTime(text);
  if (at === null)
    throw new UsageError('--since takes a time such as 2030-01-31T09:00:00Z, or how long ago: 90m, 6h, 2d.');
  return at;
}

/** The seconds of a span such as `90s`, `30m`, `6h` or `7d`. Wrong usage otherwise. */
export function secondsOf(text: string, option: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError(`${option} takes a span of time: 90s, 30m, 6h, 7d.`);
  return Number(count) * ((UNITS[unit] ?? 1_000) / 1_000);
}

const shortName = (capability: Capability): string => capability.replace(/^can_/, '');
const SHORT_NAMES = CAPABILITIES.map(shortName).join(', ');

/** Every word that `--can` takes. */
export const CAPABILITY_WORDS = ['all', ...GRANTABLE.map(shortName)];

/** For the help of `--can`. */
export const CAN_HELP = `comma-separated: ${SHORT_NAMES}, or all (these six), and administer`;

/** Commander's parser of `--can`; it may be repeated. Wrong usage for a word that it does not know. */
export function readCapabilities(value: string, previous: Capability[] | undefined): Capability[] {
  const words = value.split(',').map((word) => word.trim().replace(/^can_/, ''));
  const chosen = words.flatMap((word) => {
    if (word === 'all') return [...CAPABILITIES];
    const capability = GRANTABLE.find((each) => shortName(each) === word);
    if (!capability) {
      throw new InvalidArgumentError(`It takes ${SHORT_NAMES}, or all, and ${shortName(ADMINISTER)}.`);
    }
    return [capability];
  });
  return [...new Set([...(previous ?? []), ...chosen])];
}

/** A table's cell: `read_only,read_vault`. */
export function presentPowers(holder: Partial<Record<Capability | 'read_only', boolean>>): string {
  return (['read_only', ...GRANTABLE] as const)
    .filter((each) => holder[each])
    .map((each) => each.replace(/^can_/, ''))
    .join(',');
}
