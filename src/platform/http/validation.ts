/**
 * Checks input against its shape. It is ours because messages must tell what would be right, count code
 * points, and never repeat a value.
 */
import { Kind, OptionalKind, type Static, type TSchema } from '@sinclair/typebox';
import { type FieldErrors, refuseAll } from '../../errors.ts';
import { MAX_WARNED_FIELD_CHARS } from '../../limits.ts';
import { isUlid } from '../host/ids.ts';
import { hasControls, parseAddress } from '../mail/address.ts';

/** On an object: null is refused in a field that does not take it, instead of counting as absent. */
export const REFUSES_NULL = Symbol('refuses null');

type Errors = FieldErrors;
interface Walk {
  errors: Errors;
  /** Query strings and CLI arguments carry numbers and booleans as text. */
  coerce: boolean;
}

/** What an input comes to: the declared fields that fit, and messages by field for those that do not. */
export interface Validated<T extends TSchema> {
  value: Partial<Static<T>>;
  errors: FieldErrors;
}

/**
 * The value in the schema's shape, with declared fields only, and what is wrong with the rest. An optional
 * null counts as absent, unless the schema takes null.
 */
export function validate<T extends TSchema>(
  schema: T,
  input: unknown,
  options: { coerce?: boolean } = {},
): Validated<T> {
  const walk: Walk = { errors: {}, coerce: options.coerce ?? false };
  const value = check(schema, input, '', walk);
  return { value: value as Partial<Static<T>>, errors: walk.errors }; // The walk has just built it by that schema.
}

/** The value, which is whole where nothing is wrong. Throws AppError `invalid` with all messages by field. */
export function requireValid<T extends TSchema>({ value, errors }: Validated<T>): Static<T> {
  refuseAll(errors);
  return value as Static<T>; // Without an error every field is there.
}

/** The value in the shape of the schema. Throws AppError `invalid`. */
export function parse<T extends TSchema>(
  schema: T,
  input: unknown,
  options: { coerce?: boolean } = {},
): Static<T> {
  return requireValid(validate(schema, input, options));
}

/**
 * What is wrong with an input by its shape and by further rules, which see the sound fields only. What the
 * rules say of a field is left out where that is broken, or absent while another of those judged `together`
 * is broken.
 */
export function allErrors<T extends TSchema>(
  { value, errors }: Validated<T>,
  errorsIn: (sound: Partial<Static<T>>) => FieldErrors,
  together: readonly PropertyKey[] = [],
): FieldErrors {
  const topOf = (path: string): string => path.split('.')[0] ?? path;
  const broken = new Set(Object.keys(errors).map(topOf));
  const sound = Object.fromEntries(Object.entries(value).filter(([field]) => !broken.has(field)));
  const is_unsure = [...broken].some((field) => together.includes(field));
  const isTold = (field: string): boolean =>
    !broken.has(field) && !(is_unsure && together.includes(field) && !Object.hasOwn(sound, field));
  const told = Object.entries(errorsIn(sound as Partial<Static<T>>)) // Some of its fields.
    .filter(([path]) => isTold(topOf(path)));
  return { ...Object.fromEntries(told), ...errors };
}

/** The value, whole where nothing is wrong. Throws AppError `invalid` with all that `allErrors` finds. */
export function requireAll<T extends TSchema>(
  found: Validated<T>,
  errorsIn: (sound: Partial<Static<T>>) => FieldErrors,
  together: readonly PropertyKey[] = [],
): Static<T> {
  refuseAll(allErrors(found, errorsIn, together));
  return requireValid(found);
}

function fail(walk: Walk, path: string, message: string): undefined {
  const field = path === '' ? '_' : path;
  const list = walk.errors[field];
  if (list) list.push(message);
  else walk.errors[field] = [message];
  return undefined;
}

function check(schema: TSchema, input: unknown, path: string, walk: Walk): unknown {
  switch (schema[Kind]) {
    case 'String':
      return checkString(schema, input, path, walk);
    case 'Integer':
    case 'Number':
      return checkNumber(schema, input, path, walk);
    case 'Boolean':
      return checkBoolean(input, path, walk);
    case 'Literal':
      return input === schema.const ? input : fail(walk, path, `must be ${JSON.stringify(schema.const)}`);
    case 'Array':
      return checkArray(schema, input, path, walk);
    case 'Object':
      return checkObject(schema, input, path, walk);
    case 'Record':
      return checkRecord(schema, input, path, walk);
    case 'Union':
      return checkUnion(schema, input, path, walk);
    case 'Null':
      return input === null ? null : fail(walk, path, 'must be null');
    case 'Unsafe':
      return checkString(schema, input, path, walk);
    case 'Any':
      // Left to the route's own rules.
      return input;
    default:
      return isWellFormed(input) ? input : fail(walk, path, ILL_FORMED);
  }
}

const ILL_FORMED = 'must be well-formed Unicode';

/** Half a character has no UTF-8: it could be neither stored nor sent as it came. */
function isWellFormed(input: unknown): boolean {
  if (typeof input === 'string') return input.isWellFormed();
  if (typeof input !== 'object' || input === null) return true;
  return Object.entries(input).every(([name, value]) => name.isWellFormed() && isWellFormed(value));
}

/** How many code points a string has; its length counts a pair of surrogates twice. */
export function countCodePoints(value: string): number {
  let count = value.length;
  // An iterator makes a string of each: a hundred milliseconds for the largest body.
  for (let at = 1; at < value.length; at += 1)
    if ((value.charCodeAt(at) & 0xfc00) === 0xdc00 && (value.charCodeAt(at - 1) & 0xfc00) === 0xd800)
      count -= 1;
  return count;
}

function checkString(schema: TSchema, input: unknown, path: string, walk: Walk): unknown {
  if (typeof input !== 'string') return fail(walk, path, 'must be a string');
  if (!input.isWellFormed()) return fail(walk, path, ILL_FORMED);
  if (Array.isArray(schema.enum)) {
    return schema.enum.includes(input)
      ? input
      : fail(walk, path, `must be one of: ${schema.enum.map(asWord).join(', ')}`);
  }
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY } = schema;
  if (minLength > 0 && input.trim() === '') return fail(walk, path, 'must not be empty');
  // A code point has one unit or two: only so long a text need be counted.
  if (input.length > maxLength || input.length < 2 * minLength) {
    const length = countCodePoints(input);
    if (length > maxLength)
      return fail(walk, path, `must have at most ${maxLength} characters (got ${length})`);
    if (length < minLength)
      return fail(walk, path, `must have at least ${minLength} characters (got ${length})`);
  }
  return checkFormat(schema.format, input, path, walk);
}

/** A word as a sentence names it: what is no word, such as a comma, in quotes. */
function asWord(word: string): string {
  return /^[\w.-]+$/.test(word) ? word : JSON.stringify(word);
}

function checkFormat(format: string | undefined, input: string, path: string, walk: Walk): unknown {
  if (format === 'email') {
    const address = parseAddress(input);
    return address ? address.address : fail(walk, path, 'must be an email address, such as ann@example.com');
  }
  if (format === 'line' && hasControls(input))
    return fail(walk, path, 'must have no line breaks or other control characters');
  if (format === 'date-time') {
    const at = parseDateTime(input);
    if (at === null) return fail(walk, path, 'must be an ISO 8601 date-time, such as 2030-01-31T09:00:00Z');
    const moment = new Date(at).toISOString();
    // A moment without a fraction is known to the second only.
    return /[.,]\d/.test(input) ? moment : moment.replace('.000Z', 'Z');
  }
  if (format === 'ulid')
    return isUlid(input) ? input.toUpperCase() : fail(walk, path, 'must be a ULID (26 characters)');
  if (format === 'environment') return ENVIRONMENT.test(input) ? input : fail(walk, path, NO_ENVIRONMENT);
  if (format === 'uri') {
    const url = URL.canParse(input) ? new URL(input) : null;
    return url && /^https?:$/.test(url.protocol)
      ? input
      : fail(walk, path, 'must be an http or https address');
  }
  return input;
}

/** The name of an environment of vaults, and what is said of what is none. */
export const ENVIRONMENT = /^[a-z][a-z0-9-]{0,31}$/;
export const NO_ENVIRONMENT =
  'must be a name such as staging: a letter, then letters, digits and hyphens, 32 at most, in lower case';

const DATE_TIME =
  /^\d{4}-\d{2}-\d{2}(?:[Tt ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)\s?(Z|z|[+-]\d{2}:?\d{2})?)?$/;

/** Epoch milliseconds of an ISO 8601 moment (UTC without a zone), or null where there is no such moment. */
export function parseDateTime(value: string): number | null {
  const match = DATE_TIME.exec(value);
  if (!match) return null;
  const date = value.slice(0, 10);
  const midnight = Date.parse(`${date}T00:00:00Z`);
  // JavaScript rolls 2030-02-31 over to March; a date that does not exist is refused instead.
  if (Number.isNaN(midnight) || new Date(midnight).toISOString().slice(0, 10) !== date) return null;
  if (match[1] === undefined) return midnight;
  const time = match[1].replace(',', '.');
  const zone = (match[2] ?? 'Z').toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, '$1:$2');
  const at = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(at) ? null : at;
}

function checkNumber(schema: TSchema, input: unknown, path: string, walk: Walk): unknown {
  const whole = schema[Kind] === 'Integer';
  const value =
    walk.coerce && typeof input === 'string' && /^-?\d+$/.test(input) ? nearestExact(Number(input)) : input;
  const { minimum, maximum } = schema;
  const range =
    minimum !== undefined && maximum !== undefined
      ? ` from ${minimum} to ${maximum}`
      : minimum !== undefined
        ? ` of at least ${minimum}`
        : '';
  const wanted = `must be a ${whole ? 'whole ' : ''}number${range}`;
  if (typeof value !== 'number' || !Number.isFinite(value)) return fail(walk, path, wanted);
  if (whole && !Number.isSafeInteger(value)) return fail(walk, path, wanted);
  if ((minimum !== undefined && value < minimum) || (maximum !== undefined && value > maximum))
    return fail(walk, path, wanted);
  return value;
}

/** A whole number that is too large to be exact still counts as one; the bounds of its field refuse it. */
function nearestExact(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER));
}

function checkBoolean(input: unknown, path: string, walk: Walk): unknown {
  if (typeof input === 'boolean') return input;
  if (walk.coerce && (input === 'true' || input === '1')) return true;
  if (walk.coerce && (input === 'false' || input === '0')) return false;
  return fail(walk, path, 'must be true or false');
}

function checkArray(schema: TSchema, input: unknown, path: string, walk: Walk): unknown {
  // A query carries an array as text, with commas between.
  const items =
    walk.coerce && typeof input === 'string' ? input.split(',').map((item) => item.trim()) : input;
  if (!Array.isArray(items)) return fail(walk, path, 'must be an array');
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (items.length > maxItems)
    return fail(walk, path, `must have at most ${maxItems} entries (got ${items.length})`);
  if (items.length < minItems)
    return fail(walk, path, `must have at least ${minItems} entries (got ${items.length})`);
  return items.map((item, index) =>
    check(schema.items, item, path === '' ? `${index}` : `${path}.${index}`, walk),
  );
}

export function isPlainObject(input: unknown): input is Record<string, unknown> {
  return typeof input === 'object' && input !== null && !Array.isArray(input);
}

function checkObject(schema: TSchema, input: unknown, path: string, walk: Walk): unknown {
  if (!isPlainObject(input))
    return fail(walk, path, path === '' ? 'The body must be a JSON object.' : 'must be an object');
  const value: Record<string, unknown> = {};
  const properties: Record<string, TSchema> = schema.properties;
  for (const [name, property] of Object.entries(properties)) {
    const field = path === '' ? name : `${path}.${name}`;
    const given = Object.hasOwn(input, name) ? input[name] : undefined;
    const is_absent = given === undefined || (given === null && !acceptsNull(property));
    if (given === null && is_absent && REFUSES_NULL in schema) fail(walk, field, 'must not be null');
    else if (!is_absent) {
      const found = check(property, given, field, walk);
      if (found !== undefined) value[name] = found;
    } else if (!(OptionalKind in property)) fail(walk, field, 'is required');
    else if (property.default !== undefined) value[name] = property.default;
  }
  if (schema.additionalProperties === false) refuseUnknown(properties, input, path, walk);
  if (schema.minProperties !== undefined && Object.keys(input).length < schema.minProperties)
    fail(walk, path, 'must not be empty');
  return value;
}

/** A filter without the member that was misspelt would fit more than was asked for. */
function refuseUnknown(known: object, input: Record<string, unknown>, path: string, walk: Walk): void {
  for (const name of Object.keys(input)) {
    if (Object.hasOwn(known, name)) continue;
    const shown = [...name.slice(0, 2 * MAX_WARNED_FIELD_CHARS)].slice(0, MAX_WARNED_FIELD_CHARS).join('');
    const field = path === '' ? shown : `${path}.${shown}`;
    fail(walk, field, `is unknown here: there are ${Object.keys(known).join(', ')}`);
  }
}

function acceptsNull(schema: TSchema): boolean {
  const kind = schema[Kind];
  if (kind === 'Null' || kind === 'Unknown' || kind === 'Any') return true;
  return kind === 'Union' && schema.anyOf.some(acceptsNull);
}

const PROTOTYPE_NAMES = new Set(['__proto__', 'constructor', 'prototype']);

function checkRecord(schema: TSchema, input: unknown, path: string, walk: Walk): unknown {
  if (!isPlainObject(input)) return fail(walk, path, 'must be an object');
  const names = Object.keys(input);
  const { maxProperties = Number.POSITIVE_INFINITY, propertyNames } = schema;
  if (names.length > maxProperties)
    return fail(walk, path, `must have at most ${maxProperties} entries (got ${names.length})`);
  const longest = propertyNames?.maxLength ?? Number.POSITIVE_INFINITY;
  if (names.some((name) => name.length > longest))
    return fail(walk, path, `every name must have at most ${longest} characters`);
  const [item] = Object.values<TSchema>(schema.patternProperties);
  const value: Record<string, unknown> = {};
  for (const [name, given] of Object.entries(input)) {
    if (PROTOTYPE_NAMES.has(name) || item === undefined) continue;
    if (!name.isWellFormed()) {
      fail(walk, path, `every name ${ILL_FORMED}`);
      continue;
    }
    // The keys of a record come from the client, so messages name the record and not the key.
    const inner: Walk = { errors: {}, coerce: walk.coerce };
    value[name] = check(item, given, '', inner);
    const message = Object.values(inner.errors)[0]?.[0];
    if (message) fail(walk, path, `every value ${message}`);
  }
  return value;
}

/**
 * The first alternative that fits; else the messages of the one of the input's kind (object or not), or of
 * the first that is not null.
 */
function checkUnion(schema: TSchema, input: unknown, path: string, walk: Walk): unknown {
  const alternatives: TSchema[] = schema.anyOf;
  let closest: Errors | null = null;
  let meant: Errors | null = null;
  for (const alternative of alternatives) {
    const attempt: Walk = { errors: {}, coerce: walk.coerce };
    const value = check(alternative, input, path, attempt);
    if (Object.keys(attempt.errors).length === 0) return value;
    if (alternative[Kind] === 'Null') continue;
    const is_meant = (alternative[Kind] === 'Object') === isPlainObject(input);
    if (is_meant) meant ??= attempt.errors;
    closest ??= attempt.errors;
  }
  for (const [field, messages] of Object.entries(meant ?? closest ?? {})) {
    for (const message of messages) fail(walk, field === '_' ? '' : field, message);
  }
  return undefined;
}
