/**
 * The fields of a noun, each said once: its name, shape and words, its value where none is given, and who may
 * set it. From the list come the shapes of requests and answers, their types, merging, and what clients see.
 * platform/cli/fields.ts makes options of the command line of it.
 */
import {
  Kind,
  type Static,
  type TNull,
  type TObject,
  type TOptional,
  type TSchema,
  type TUnion,
  Type,
} from '@sinclair/typebox';
import { toIso } from '../host/clock.ts';
import { changesOf, dateTime, nullable } from './schema.ts';

/** What the documentation and the command line say of a field. */
interface Words {
  /** A phrase, without a capital and a full stop: `the IANA zone of cron_expression`. */
  readonly says?: string;
  /** Its option, as commander has it: `--timezone <zone>`. */
  readonly option?: string;
  /** The option that clears a flag in a change, such as `--off`. Default: `--no-` and its own. */
  readonly unset_option?: string;
  /** In a verb that changes: what clearing a flag does. */
  readonly unset?: string;
  /** The word for null in place of a list; in a verb that changes, of a number: `none` unless given. */
  readonly null_word?: string;
  /** Its option takes `@file` and `-`. */
  readonly is_long?: true;
}

/**
 * The shape of what is sent, and of what is stored and shown. Where that is more exact, `merge` leaves it to
 * its caller.
 */
interface Shapes<S extends TSchema, R extends TSchema> {
  readonly shape: S;
  readonly stored: R;
}

/** A new thing must have it, and it is never null. */
export interface RequiredField<S extends TSchema = TSchema, R extends TSchema = TSchema>
  extends Words,
    Shapes<S, R> {
  readonly use: 'required';
}

/** It may be left out. A new thing then has `blank`, which null brings back in a change. */
export interface OptionalField<S extends TSchema = TSchema, R extends TSchema = TSchema, B = unknown>
  extends Words,
    Shapes<S, R> {
  readonly use: 'optional';
  readonly blank: B;
}

/** It may be left out. A new thing then has `blank`; null is refused, in a change too. */
export interface PresetField<S extends TSchema = TSchema, R extends TSchema = TSchema, B = unknown>
  extends Words,
    Shapes<S, R> {
  readonly use: 'preset';
  readonly blank: B;
}

/** Clients see it and set nothing. A moment is in milliseconds in its row. */
export interface ShownField<S extends TSchema = TSchema> {
  readonly use: 'shown' | 'moment';
  readonly stored: S;
}

export type SettableField = RequiredField | OptionalField | PresetField;
type Field = SettableField | ShownField;
export type FieldList = Readonly<Record<string, Field>>;

export function required<S extends TSchema, R extends TSchema = S>(
  shape: S,
  { stored, ...words }: Words & { stored?: R } = {},
): RequiredField<S, R> {
  return { ...words, use: 'required', ...shapesOf(shape, stored, words) };
}

export function optional<S extends TSchema, B, R extends TSchema = S>(
  blank: B,
  shape: S,
  { stored, ...words }: Words & { stored?: R } = {},
): OptionalField<S, R, B> {
  return { ...words, use: 'optional', blank, ...shapesOf(shape, stored, words) };
}

export function preset<S extends TSchema, R extends TSchema = S>(
  blank: Static<R>,
  shape: S,
  { stored, ...words }: Words & { stored?: R } = {},
): PresetField<S, R, Static<R>> {
  return { ...words, use: 'preset', blank, ...shapesOf(shape, stored, words) };
}

function shapesOf<S extends TSchema, R extends TSchema>(
  shape: S,
  stored: R | undefined,
  { says }: Words,
): Shapes<S, R> {
  const told = withWords(shape, says);
  return { shape: told, stored: stored === undefined ? (told as TSchema as R) : withWords(stored, says) }; // R is S then.
}

export function shown<S extends TSchema>(shape: S, says?: string): ShownField<S> {
  return { use: 'shown', stored: withWords(shape, says) };
}

export function moment(says?: string) {
  return { use: 'moment', stored: withWords(dateTime(), says) } as const;
}

export function momentOrNull(says?: string) {
  return { use: 'moment', stored: withWords(nullable(dateTime()), says) } as const;
}

/** A phrase as a sentence, for a shape that has no description of its own. */
function withWords<S extends TSchema>(shape: S, says: string | undefined): S {
  return says === undefined || shape.description !== undefined
    ? shape
    : { ...shape, description: `${says.charAt(0).toUpperCase()}${says.slice(1)}.` };
}

/* --- Types ----------------------------------------------------------------------------------------------------------- */

type Settable<F extends FieldList> = { [K in keyof F]: F[K] extends ShownField ? never : K }[keyof F];
type OrNull<S extends TSchema> = TUnion<[S, TNull]>;

type CreationOf<F extends FieldList> = TObject<{
  [K in Settable<F>]: F[K] extends RequiredField<infer S>
    ? S
    : F[K] extends OptionalField<infer S> | PresetField<infer S>
      ? TOptional<S>
      : never;
}>;
type ChangesOf<F extends FieldList> = TObject<{
  [K in Settable<F>]: F[K] extends RequiredField<infer S> | PresetField<infer S>
    ? TOptional<S>
    : F[K] extends OptionalField<infer S>
      ? TOptional<OrNull<S>>
      : never;
}>;
type StoredOf<F extends Field> =
  F extends OptionalField<TSchema, infer R, infer B> ? (null extends B ? OrNull<R> : R) : F['stored'];
type RecordOf<F extends FieldList> = TObject<{ [K in keyof F]: StoredOf<F[K]> }>;

/** What may be set of a thing, as its row has it. */
export type Values<F extends FieldList> = { [K in Settable<F>]: Static<StoredOf<F[K]>> };
/** What is sent of a thing: an absent field stays, null clears. */
export type Changes<F extends FieldList> = Static<ChangesOf<F>>;
/** What clients see of a thing. */
export type RecordOfFields<F extends FieldList> = Static<RecordOf<F>>;

type Milliseconds<T> = T extends string ? number : T;
/** What `present` reads of a thing: its row, and what is computed beside it. */
type Shows<F extends FieldList> = {
  [K in keyof F]: F[K] extends { use: 'moment' }
    ? Milliseconds<Static<F[K]['stored']>>
    : RecordOfFields<F>[K & keyof RecordOfFields<F>];
};

/* --- Shapes ---------------------------------------------------------------------------------------------------------- */

function shapesBy(fields: FieldList, shapeOf: (field: Field) => TSchema | null): Record<string, TSchema> {
  const shapes = Object.entries(fields).map(([name, field]) => [name, shapeOf(field)] as const);
  return Object.fromEntries(shapes.flatMap(([name, shape]) => (shape === null ? [] : [[name, shape]])));
}

const isSettable = (field: Field): field is SettableField => field.use !== 'shown' && field.use !== 'moment';

/** The body of a POST. */
export function creationOf<F extends FieldList>(fields: F): CreationOf<F> {
  const shapes = shapesBy(fields, (field) => {
    if (!isSettable(field)) return null;
    return field.use === 'required' ? field.shape : Type.Optional(field.shape);
  });
  return Type.Object(shapes) as TSchema as CreationOf<F>; // Field by field the same.
}

/** The body of a PATCH. */
export function changesOfFields<F extends FieldList>(fields: F): ChangesOf<F> {
  const shapes = shapesBy(fields, (field) => {
    if (!isSettable(field)) return null;
    return field.use === 'optional' ? nullable(field.shape) : field.shape;
  });
  return changesOf(shapes) as TSchema as ChangesOf<F>; // Field by field the same.
}

/** What clients see. */
export function recordOf<F extends FieldList>(fields: F): RecordOf<F> {
  const shapes = shapesBy(fields, (field) => {
    const shape = isSettable(field) ? withoutBounds(field.stored) : field.stored;
    return field.use === 'optional' && field.blank === null ? nullable(shape) : shape;
  });
  return Type.Object(shapes) as TSchema as RecordOf<F>; // Field by field the same.
}

/** Bounds are of what is sent: an answer that promised them could not outlive a change of theirs. */
function withoutBounds(shape: TSchema): TSchema {
  const {
    minLength,
    maxLength,
    minItems,
    maxItems,
    minimum,
    maximum,
    maxProperties,
    propertyNames,
    ...rest
  } = shape;
  return rest.items === undefined ? rest : { ...rest, items: withoutBounds(rest.items) };
}

/* --- Values ---------------------------------------------------------------------------------------------------------- */

/** What a required field of a new thing is where it is missing: empty, which its rules refuse. */
function blankOf(field: SettableField): unknown {
  if (field.use !== 'required') return field.blank;
  return field.shape[Kind] === 'Array' ? [] : '';
}

/** The values that a change sets. */
export function setBy<F extends FieldList>(fields: F, sent: Partial<Changes<F>>): Partial<Values<F>> {
  const given: Readonly<Record<string, unknown>> = sent;
  const set = Object.entries(fields).flatMap(([name, field]) =>
    isSettable(field) && given[name] !== undefined ? [[name, given[name] ?? blankOf(field)]] : [],
  );
  return Object.fromEntries(set); // Field by field the same.
}

/** A thing's values after a change; `current` is null for a new one. */
export function merge<F extends FieldList>(
  fields: F,
  current: Values<F> | null,
  sent: Partial<Changes<F>>,
): Values<F> {
  const old: Readonly<Record<string, unknown>> | null = current;
  const before = Object.entries(fields).flatMap(([name, field]) =>
    isSettable(field) ? [[name, old === null ? blankOf(field) : old[name]]] : [],
  );
  return { ...Object.fromEntries(before), ...setBy(fields, sent) }; // Field by field the same.
}

/** What clients see of a thing: its fields, in their order, and nothing else that its row has. */
export function present<F extends FieldList>(fields: F, row: Shows<F>): RecordOfFields<F> {
  const shows: Readonly<Record<string, unknown>> = row;
  const seen = Object.entries(fields).map(([name, { use }]) => {
    const value = shows[name];
    return [name, use === 'moment' && typeof value === 'number' ? toIso(value) : value];
  });
  return Object.fromEntries(seen); // Field by field the same.
}
