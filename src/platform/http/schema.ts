/** Shapes of input and output: TypeBox schemas, which OpenAPI prints and validation.ts checks against. */
import {
  Kind,
  type TNull,
  type TOptional,
  type TProperties,
  type TSchema,
  type TUnion,
  Type,
} from '@sinclair/typebox';
import { REFUSES_NULL } from './validation.ts';

export { type Static, type TSchema, type TUnsafe, Type as t } from '@sinclair/typebox';
export {
  countCodePoints,
  isPlainObject,
  parse,
  parseDateTime,
  requireValid,
  type Validated,
  validate,
} from './validation.ts';

/** A string of `min` to `max` code points. With a `min` it has at least one character that is no space. */
export function text(options: { min?: number; max: number; description?: string }) {
  const { min = 0, max, description } = options;
  return Type.String({ minLength: min, maxLength: max, ...(description ? { description } : {}) });
}

/** As `text`, without line breaks and other control characters: what may stand in a header of mail. */
export const line = (options: { min: number; max: number }) =>
  Type.String({ ...text(options), format: 'line' });

/** An email address; parsed to its canonical form (host in ASCII). */
export const emailAddress = () => Type.String({ format: 'email' });
/** An ISO 8601 moment; parsed to the same moment in UTC. Without a zone it is UTC. */
export const dateTime = () => Type.String({ format: 'date-time' });
export const ulid = () => Type.String({ format: 'ulid', minLength: 26, maxLength: 26 });
/** Of vaults. */
export const environmentName = () =>
  Type.String({ format: 'environment', description: '`[a-z][a-z0-9-]{0,31}`' });
export const webUrl = (max: number) => Type.String({ format: 'uri', maxLength: max });

export function nullable<T extends TSchema>(schema: T) {
  return Type.Union([schema, Type.Null()]);
}

/** Gives a schema a name of its own in the documentation and in generated clients. */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, $id: name };
}

/**
 * The body of a PATCH: each field may be left out, and null clears those that take it. Others refuse null by
 * name, as a client would believe that it had cleared them.
 */
export function changesOf<T extends TProperties>(fields: T) {
  return Object.assign(Type.Partial(Type.Object(fields)), { [REFUSES_NULL]: true });
}

type Optionals<T extends TProperties> = { [K in keyof T]: TOptional<T[K]> };
type Nullables<T extends TProperties> = { [K in keyof T]: TUnion<[T[K], TNull]> };

function mapFields(fields: TProperties, change: (schema: TSchema) => TSchema): TProperties {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, change(schema)]));
}

/** These fields, each optional: for a POST. */
export function optionals<T extends TProperties>(fields: T): Optionals<T> {
  return mapFields(fields, (schema) => Type.Optional(schema)) as Optionals<T>; // Field by field the same.
}

/** These fields, each optional and cleared by null: for a PATCH. */
export function nullables<T extends TProperties>(fields: T): Nullables<T> {
  return mapFields(fields, nullable) as Nullables<T>; // Field by field the same.
}

/** One of a fixed set of words. */
export function oneOf<const T extends readonly string[]>(words: T) {
  return Type.Unsafe<T[number]>({ ...Type.String(), enum: [...words] });
}

/**
 * Parameters by name, as text; the last one of a repeated name counts. Members of a record, such as
 * `custom.plan=pro`, are gathered under its name.
 */
export function readParameters(
  schema: TSchema | undefined,
  parameters: URLSearchParams,
): Record<string, unknown> {
  const properties: Record<string, TSchema> = schema?.properties ?? {};
  const given = new Map<string, unknown>();
  const records = new Map<string, Map<string, string>>();
  for (const [name, value] of parameters) {
    const dot = name.indexOf('.');
    const head = name.slice(0, Math.max(0, dot));
    const kind = Object.hasOwn(properties, head) ? properties[head]?.[Kind] : undefined;
    if (kind !== 'Record' && kind !== 'Object') given.set(name, value);
    else records.set(head, (records.get(head) ?? new Map()).set(name.slice(dot + 1), value));
  }
  for (const [name, members] of records) given.set(name, Object.fromEntries(members));
  return Object.fromEntries(given);
}
