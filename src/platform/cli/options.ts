/** Reading the options that commander gives: texts, lists, numbers, and the consent to destroy. */
import { InvalidArgumentError, Option } from 'commander';
import { AppError } from '../../errors.ts';

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

/**
 * As `wholeNumber`, for a limit that the word takes away. Commander keeps no null, so `limitOption` makes it
 * of the word.
 */
export function limitOrWord(min: number, word: string): (value: string) => number | string {
  return (value) => (value === word ? word : wholeNumber(min)(value));
}

export function limitOption(options: Options, name: string): number | null | undefined {
  const value = options[name];
  return typeof value === 'string' ? null : numberOption(options, name);
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

/** The fields that have a value. Wrong usage where none has. */
export function requireChanges(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (given.length === 0) throw new UsageError('Name what to change.');
  return Object.fromEntries(given);
}
