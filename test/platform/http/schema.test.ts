import { describe, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import {
  changesOf,
  dateTime,
  emailAddress,
  nullable,
  oneOf,
  parse,
  parseDateTime,
  type TSchema,
  t,
  text,
  ulid,
} from '../../../src/platform/http/schema.ts';

function errorsOf(schema: TSchema, input: unknown): unknown {
  try {
    return parse(schema, input);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.status).toBe(422);
    return error.errors;
  }
}

describe('parse', () => {
  const schema = t.Object({
    name: text({ min: 1, max: 5 }),
    note: t.Optional(nullable(text({ max: 3 }))),
    size: t.Optional(t.Integer({ minimum: 1, maximum: 9 })),
    kind: t.Optional(oneOf(['a', 'b'])),
    tags: t.Optional(t.Array(text({ min: 1, max: 3 }), { maxItems: 2 })),
  });

  test('keeps declared fields only, whatever else is sent', () => {
    const input = JSON.parse('{"name":"x","extra":1,"__proto__":{"size":3},"constructor":2}');
    expect(parse(schema, input)).toEqual({ name: 'x' });
    expect(Object.hasOwn(parse(schema, input), '__proto__')).toBe(false);
  });

  test('reports each field with what would be right and never the value', () => {
    const errors = errorsOf(schema, {
      name: 'secret-value',
      size: 10,
      kind: 'secret-kind',
      tags: ['ok', 'secret', 'z'],
    });
    expect(errors).toEqual({
      name: ['must have at most 5 characters (got 12)'],
      size: ['must be a whole number from 1 to 9'],
      kind: ['must be one of: a, b'],
      tags: ['must have at most 2 entries (got 3)'],
    });
    expect(JSON.stringify(errors)).not.toContain('secret');
  });

  test('points into nested fields', () => {
    const nested = t.Object({ people: t.Array(t.Object({ email: emailAddress() })) });
    expect(errorsOf(nested, { people: [{ email: 'a@b.co' }, { email: 'no' }, {}] })).toEqual({
      'people.1.email': ['must be an email address, such as ann@example.com'],
      'people.2.email': ['is required'],
    });
  });

  test.each([[undefined], [null], ['x'], [[]], [3]])('refuses %p where an object is due', (input) => {
    expect(errorsOf(schema, input)).toEqual({ _: ['The body must be a JSON object.'] });
  });

  test('counts code points, not UTF-16 units', () => {
    expect(parse(schema, { name: '😀😀😀😀😀' })).toEqual({ name: '😀😀😀😀😀' });
    expect(errorsOf(schema, { name: '😀😀😀😀😀😀' })).toEqual({
      name: ['must have at most 5 characters (got 6)'],
    });
  });

  test('null counts as absent unless the field takes null', () => {
    expect(parse(schema, { name: 'x', size: null, note: null })).toEqual({ name: 'x', note: null });
    expect(errorsOf(schema, { name: null })).toEqual({ name: ['is required'] });
  });

  test('a blank is empty where something is needed', () => {
    expect(errorsOf(schema, { name: '  ' })).toEqual({ name: ['must not be empty'] });
  });

  test('takes numbers and booleans as text only where told to', () => {
    const query = t.Object({ page: t.Optional(t.Integer({ minimum: 1 })), all: t.Optional(t.Boolean()) });
    expect(parse(query, { page: '3', all: '1' }, { coerce: true })).toEqual({ page: 3, all: true });
    expect(errorsOf(query, { page: '3' })).toEqual({ page: ['must be a whole number of at least 1'] });
    for (const page of ['0', '-1', '1.5', 'x', '', '1e3', ' 1']) {
      expect(() => parse(query, { page }, { coerce: true })).toThrow(
        'page: must be a whole number of at least 1',
      );
    }
    // A whole number too large to be exact is one all the same: a list clamps it, and never refuses it.
    const large = { page: '9007199254740991', all: 'true' };
    expect(parse(query, large, { coerce: true })).toEqual({ page: Number.MAX_SAFE_INTEGER, all: true });
    for (const page of ['9007199254740993', '9'.repeat(400)])
      expect(parse(query, { page }, { coerce: true })).toEqual({ page: Number.MAX_SAFE_INTEGER });
    expect(() => parse(query, { page: `-${'9'.repeat(400)}` }, { coerce: true })).toThrow('page: must be');
  });

  test('a record keeps its own names but those of the prototype', () => {
    const record = t.Object({ flags: t.Record(t.String(), t.Boolean()) });
    expect(parse(record, JSON.parse('{"flags":{"a":true,"__proto__":true,"constructor":true}}'))).toEqual({
      flags: { a: true },
    });
    expect(errorsOf(record, { flags: { a: 'secret' } })).toEqual({
      flags: ['every value must be true or false'],
    });
  });

  test('gives ids in upper case and addresses with an ASCII domain', () => {
    const both = t.Object({ id: ulid(), to: emailAddress() });
    expect(parse(both, { id: '01arz3ndektsv4rrffq69g5fav', to: 'Ann@BÜCHER.example' })).toEqual({
      id: '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      to: 'Ann@xn--bcher-kva.example',
    });
  });
});

describe('email addresses', () => {
  const one = t.Object({ to: emailAddress() });
  test.each(['a@b.co', "o'neil+tag@sub.example.com", 'x@xn--bcher-kva.example', `${'a'.repeat(64)}@b.co`])(
    'takes %s',
    (to) => {
      expect(parse(one, { to })).toEqual({ to });
    },
  );
  test.each([
    '',
    'a',
    'a@',
    '@b.co',
    'a@b',
    'a b@c.de',
    'a@b..co',
    'a@-b.co',
    'a@b.co\r\nBcc: x@y.zz',
    'Ann <a@b.co>',
    '"a b"@c.de',
    'a@[127.0.0.1]',
    'a@1.2.3.4',
    '.a@b.co',
    'a.@b.co',
    `${'a'.repeat(65)}@b.co`,
    `a@${'b'.repeat(64)}.co`,
    'ünicode@b.co',
    'a@b@c.de,',
  ])('refuses %p', (to) => {
    expect(errorsOf(one, { to })).toHaveProperty('to');
  });
});

describe('date-times', () => {
  test.each([
    ['2030-01-31T09:00:00Z', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00:00', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31T09:00', '2030-01-31T09:00:00.000Z'],
    ['2030-01-31', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31T09:00:00.123456+02:00', '2030-01-31T07:00:00.123Z'],
    ['2030-01-31 09:00:00-0330', '2030-01-31T12:30:00.000Z'],
  ])('reads %s', (given, iso) => {
    expect(new Date(parseDateTime(given) ?? 0).toISOString()).toBe(iso);
  });
  test.each([
    'tomorrow',
    '2030-02-30T00:00:00Z',
    '2030-13-01',
    '2030-01-31T25:00:00Z',
    '1',
    '2030-01-31T09:00:00+99:00',
    '01/02/2030',
  ])('refuses %s', (given) => {
    expect(parseDateTime(given)).toBeNull();
    expect(errorsOf(t.Object({ at: dateTime() }), { at: given })).toHaveProperty('at');
  });
});

test('half a surrogate pair is refused wherever it stands: in text, in an enum, in free values and in names', () => {
  const schema = t.Object({
    note: t.Optional(text({ max: 9 })),
    kind: t.Optional(oneOf(['a'])),
    variables: t.Optional(t.Record(t.String(), t.Unknown())),
    flags: t.Optional(t.Record(t.String(), t.Boolean())),
  });
  const half = '\ud83d';
  expect(errorsOf(schema, { note: `a${half}` })).toEqual({ note: ['must be well-formed Unicode'] });
  expect(errorsOf(schema, { kind: half })).toEqual({ kind: ['must be well-formed Unicode'] });
  expect(errorsOf(schema, { variables: { a: [{ b: half }] } })).toHaveProperty('variables');
  expect(errorsOf(schema, { variables: { a: { [half]: 1 } } })).toHaveProperty('variables');
  expect(errorsOf(schema, { flags: { [half]: true } })).toHaveProperty('flags');
  expect(parse(schema, { note: '😀', variables: { '😀': ['😀'] } })).toEqual({
    note: '😀',
    variables: { '😀': ['😀'] },
  });
});

test('a change may leave out every field, and null is refused by name where it clears nothing', () => {
  const changes = changesOf({ name: text({ max: 5 }), note: nullable(text({ max: 5 })) });
  expect(parse(changes, {})).toEqual({});
  expect(parse(changes, { name: 'n', note: null })).toEqual({ name: 'n', note: null });
  expect(errorsOf(changes, { name: null, note: null })).toEqual({ name: ['must not be null'] });
});
