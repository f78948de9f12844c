/** Options for fields of the API: reads what was given, and names options in refusals. */
import { Kind, type TObject } from '@sinclair/typebox';
import { type Command, Option } from 'commander';
import { AppError, type FieldErrors, invalid } from '../../errors.ts';
import type { FieldList, SettableField } from '../http/fields.ts';
import type { Cli } from './cli.ts';
import { readFileText } from './input.ts';
import { collect, limitOrWord, listOption, type Options, UsageError, wholeNumber } from './options.ts';

/** Fields by the option that stands for them: `{ body_text: '--text' }`. */
export type OptionNames = Readonly<Record<string, string>>;

/* --- Options made of a list of fields ------------------------------------------------------------------------------ */

type WithOption = SettableField & { readonly option: string; readonly is_read?: boolean };

function withOptions(fields: FieldList, readers: object = {}): [name: string, field: WithOption][] {
  return Object.entries(fields).flatMap(([name, field]) =>
    'option' in field && field.option !== undefined
      ? [[name, { ...field, option: field.option, is_read: Object.hasOwn(readers, name) }]]
      : [],
  );
}

/** `--set` of `--set <name=value>`. */
const longOf = ({ option }: { option: string }): string => option.split(' ')[0] ?? option;

/** The option of each field, for `inOptions`. */
export function optionNames(fields: FieldList): OptionNames {
  return Object.fromEntries(withOptions(fields).map(([name, field]) => [name, longOf(field)]));
}

/** By field: makes the API's value of a text that was given, or of each of a list. */
export type Readers<C> = Readonly<Record<string, (given: string, session: C) => unknown>>;

/** Help says these of a field. */
type OptionWords = readonly [option: string, says: string, more?: Pick<SettableField, 'is_long'>];

/** Fields of a shape, each by its option. */
export function fieldsOf<B extends TObject>(
  { properties, required = [] }: B,
  words: { readonly [field in keyof B['properties']]?: OptionWords },
): FieldList {
  const told: Readonly<Record<string, OptionWords | undefined>> = words;
  return Object.fromEntries(
    Object.entries(told).flatMap(([name, of]) => {
      const shape = properties[name];
      if (!of || !shape) return [];
      const [option, says, more] = of;
      const field = { ...more, option, says, shape, stored: shape };
      const is_required = required.includes(name);
      return [[name, is_required ? { ...field, use: 'required' } : { ...field, use: 'preset', blank: '' }]];
    }),
  );
}

/** The options of a verb that makes a thing; required fields are required options. */
export function addCreationOptions(command: Command, fields: FieldList, readers: Readers<never> = {}): void {
  for (const [, field] of withOptions(fields, readers))
    command.addOption(optionOf(field, false).makeOptionMandatory(field.use === 'required'));
}

/**
 * The options of a verb that changes a thing. A flag has one more that clears it. What may be null takes an
 * empty text, or a word.
 */
export function addChangeOptions(command: Command, fields: FieldList, readers: Readers<never> = {}): void {
  for (const [, field] of withOptions(fields, readers)) {
    command.addOption(optionOf(field, isClearable(field)));
    if (kindOf(field) === 'Boolean') command.addOption(unsetOptionOf(field));
  }
}

/** Reads the values of these fields for the API. Wrong usage where two would come from standard input. */
export async function readFields<S, C>(
  cli: Cli<S>,
  fields: FieldList,
  options: Options,
  { readers = {}, session }: { readers: Readers<C> | undefined; session: C },
): Promise<Record<string, unknown>> {
  const all = withOptions(fields, readers).map(
    ([name, field]) => [name, field, givenOf(field, options)] as const,
  );
  const piped = all.filter(([, { is_long }, value]) => is_long && value === '-');
  if (piped.length > 1)
    throw new UsageError(
      `Only one of ${piped.map(([, field]) => longOf(field)).join(' and ')} can come from standard input.`,
    );
  const read = await Promise.all(
    all.map(async ([name, field, value]) => {
      const is = await readOption(cli, field, value);
      const reader = readers[name];
      if (!reader) return [name, is] as const;
      const of = Array.isArray(is) ? is.map((each) => reader(String(each), session)) : is;
      return [name, typeof is === 'string' ? reader(is, session) : of] as const;
    }),
  );
  return given(Object.fromEntries(read));
}

async function readOption<S>(cli: Cli<S>, field: WithOption, value: unknown): Promise<unknown> {
  if (value === undefined) return undefined;
  switch (kindOf(field)) {
    case 'Array':
      if (isClearable(field) && String(value) === field.null_word) return null;
      return listOption({ value }, 'value');
    case 'Record':
      // One empty text clears it, as with other options.
      if (isClearable(field) && String(value) === '') return null;
      return pairsOf(Array.isArray(value) ? value : [], longOf(field));
    case 'Integer':
      return typeof value === 'number' ? value : null;
    case 'Number':
      return Number(value);
    default: {
      const text = field.is_long && typeof value === 'string' ? await readLongText(cli, value) : value;
      return text === '' && field.use === 'optional' ? null : text;
    }
  }
}

/** A command line knows these kinds of shapes. */
function kindOf({ shape, is_read }: WithOption): string {
  if (is_read && shape[Kind] !== 'Array') return 'Text';
  if (Array.isArray(shape.enum)) return 'Choice';
  return shape[Kind] === 'Object' ? 'Record' : shape[Kind];
}

const isClearable = (field: WithOption): boolean => field.use === 'optional' && field.blank === null;

/** The option that clears a flag: `--no-` of its own, unless the field says another. */
function unsetOptionOf({ option, unset_option, unset }: WithOption): Option {
  return new Option(unset_option ?? option.replace('--', '--no-'), unset);
}

/** Commander's value of a field. */
function givenOf(field: WithOption, options: Options): unknown {
  const value = options[new Option(field.option).attributeName()];
  if (field.unset_option === undefined || options[unsetOptionOf(field).attributeName()] !== true)
    return value;
  if (value === true) throw new UsageError(`Give either ${field.option} or ${field.unset_option}.`);
  return false;
}

function optionOf(field: WithOption, takes_none: boolean): Option {
  const option = new Option(field.option, wordsOf(field, takes_none));
  switch (kindOf(field)) {
    case 'Choice':
      return option.choices([...field.shape.enum, ...(takes_none ? [''] : [])]);
    case 'Array':
    case 'Record':
      return option.argParser(collect);
    case 'Integer':
      return option.argParser(
        (takes_none ? limitOrWord : wholeNumber)(field.shape.minimum ?? 0, nullWordOf(field)),
      );
    default:
      return option;
  }
}

const nullWordOf = ({ null_word = 'none' }: WithOption): string => null_word;

function wordsOf(field: WithOption, takes_none: boolean): string {
  const { says = '', is_long, null_word } = field;
  if (kindOf(field) === 'Array' && null_word !== undefined) return `${says}; or ${null_word}`;
  if (takes_none && kindOf(field) === 'Integer') return `${says}, or ${nullWordOf(field)}`;
  if (is_long) return `${says}; @file and - (standard input) are read`;
  return kindOf(field) === 'Record' ? `${says}; may be repeated` : says;
}

/* --- What was given, and refusals ---------------------------------------------------------------------------------- */

/** Without what was not given. */
export function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Pairs such as `name=value`. Else wrong usage. */
function pairsOf(pairs: readonly unknown[], option: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, value] = /^([^=]+)=(.*)$/s.exec(String(pair)) ?? [];
      if (key === undefined || value === undefined) throw new UsageError(`${option} takes NAME=VALUE.`);
      return [key, value];
    }),
  );
}

/** A long text: as given, of a file (`@file`), or of standard input (`-`). Throws as `readFileText` does. */
async function readLongText<S>(cli: Cli<S>, text: string): Promise<string> {
  return text === '-' || text.startsWith('@') ? await readFileText(cli, text.replace(/^@/, '')) : text;
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
