/** What sends get of templates: the current form whoever changed it, and refusals that name what is wrong. */
import { afterAll, describe, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { CompiledCache } from '../../../src/mail/templates/compiled-cache.ts';
import { Templates } from '../../../src/mail/templates/service.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { Beside } from '../../../src/platform/host/beside.ts';
import { makeDatabase, TestClock } from '../../support/temp.ts';

const MAX_BODY_BYTES = 1_000;
const { database, path } = makeDatabase();
const other_process = openDatabase(path);
const clock = new TestClock();
const beside = new Beside(() => new Worker(new URL('../../../src/app/beside.worker.ts', import.meta.url)));
const templates = new Templates({ database, clock, max_body_bytes: MAX_BODY_BYTES, beside });
const elsewhere = new Templates({ database: other_process, clock, max_body_bytes: MAX_BODY_BYTES, beside });
await database.write((tx) =>
  tx.$client.run(`INSERT INTO projects (id, public_id, name, slug, created_at, updated_at)
    VALUES (1, 'P1', 'One', 'one', 1, 1), (2, 'P2', 'Two', 'two', 1, 1)`),
);
afterAll(async () => {
  beside.stop();
  await other_process.close();
  await database.close();
});

let count = 0;
async function create(fields: Record<string, unknown> = {}): Promise<string> {
  count += 1;
  const base = {
    name: 'T',
    slug: `t${count}`,
    category: 'other' as const,
    subject: 'Hello {{ name }}',
    body_text: 'Hi',
  };
  return (await templates.create(1, { ...base, ...fields }, noNote)).slug;
}

/** The messages by field of the refusal that a call ends in. */
function refusalOf(call: () => unknown): unknown {
  try {
    call();
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return error.errors;
    throw error;
  }
  throw new Error('it was not refused');
}

describe('renderForSend', () => {
  test('refuses a mail whose values leave it without a subject or a body, or put control characters there', async () => {
    const slug = await create({ subject: '{{ name }}', body_text: '{{ body }}' });
    const refused = (name: string, body: string) =>
      refusalOf(() => templates.renderForSend(1, slug, { name, body }));
    expect(refused(' ', '')).toEqual({
      subject: ['must not be empty once its placeholders are filled in'],
      body_text: ['must not be empty once its placeholders are filled in'],
    });
    expect(refused('a\u0000b', 'x')).toEqual({
      subject: ['must have no control characters once its placeholders are filled in'],
    });
  });

  test('fills the subject in plain text, HTML escaped, and leaves an absent body absent', async () => {
    const slug = await create({ body_html: '<b>{{ name }}</b>', body_text: null });
    expect(templates.renderForSend(1, slug, { name: '<A&B>\r\nBcc: x@example.com' })).toEqual({
      subject: 'Hello <A&B>Bcc: x@example.com',
      body_html: '<b>&lt;A&amp;B&gt;\r\nBcc: x@example.com</b>',
      body_text: null,
    });
  });

  test('names every variable that is missing or no text, once and without its value', async () => {
    const variables = [{ name: 'token', required: true }, { name: 'nick' }];
    const slug = await create({ body_text: '{{ name }} {{nick}} {{ user.mail }} {{ list }}', variables });
    const given = { name: null, user: { mail: { secret: 's3cret' } }, list: [1], unused: { a: 1 } };
    const errors = refusalOf(() => templates.renderForSend(1, slug, given));
    expect(Object.keys(Object(errors)).sort()).toEqual([
      'variables.list',
      'variables.name',
      'variables.token',
      'variables.user.mail',
    ]);
    expect(JSON.stringify(errors)).not.toContain('s3cret');
  });

  test('takes an empty string, a number and a boolean as values, and a declared optional one as empty', async () => {
    const slug = await create({ body_text: '{{ a }}|{{ b }}|{{ c }}', variables: [{ name: 'c' }] });
    expect(templates.renderForSend(1, slug, { name: '', a: 0, b: false })).toMatchObject({
      subject: 'Hello ',
      body_text: '0|false|',
    });
  });

  test('does not scan values again', async () => {
    const slug = await create();
    expect(templates.renderForSend(1, slug, { name: '{{ name }}' }).subject).toBe('Hello {{ name }}');
  });

  test('holds the subject and the bodies to their limits after rendering too', async () => {
    const slug = await create({ body_text: '{{ text }}' });
    const fits = { name: '😀'.repeat(494), text: 'é'.repeat(500) };
    expect(templates.renderForSend(1, slug, fits).body_text).toHaveLength(500);
    const long = { name: '😀'.repeat(495), text: 'é'.repeat(501) };
    const errors = refusalOf(() => templates.renderForSend(1, slug, long));
    expect(Object.keys(Object(errors))).toEqual(['subject', 'body_text']);
  });

  test.each([
    ['unknown', { slug: 'is-not-there' }],
    ['inactive', { is_active: false }],
    ['marketing', { is_marketing: true }],
  ])('refuses a template that is %s, under `template`', async (kind, fields) => {
    const created = await create(kind === 'unknown' ? {} : fields);
    const slug = kind === 'unknown' ? 'no-such-template' : created;
    const errors = refusalOf(() => templates.renderForSend(1, slug, { name: 'x' }));
    expect(Object.keys(Object(errors))).toEqual(['template']);
  });

  test('refuses the template of another project, and a slug in another case', async () => {
    const slug = await create();
    expect(templates.renderForSend(1, slug, { name: 'x' }).subject).toContain('x');
    refusalOf(() => templates.renderForSend(2, slug, { name: 'x' }));
    refusalOf(() => templates.renderForSend(1, slug.toUpperCase(), { name: 'x' }));
  });
});

describe('after a change, the next send', () => {
  const subjectOf = (slug: string) => templates.renderForSend(1, slug, { name: 'x' }).subject;

  test('has the new form, also within one millisecond', async () => {
    const slug = await create();
    for (const subject of ['One {{ name }}', 'Two {{ name }}', 'Three {{ name }}']) {
      await templates.update(1, slug, { subject }, noNote);
      expect(subjectOf(slug)).toBe(subject.replace('{{ name }}', 'x'));
    }
  });

  test('has what another process wrote', async () => {
    const slug = await create();
    expect(subjectOf(slug)).toBe('Hello x');
    await elsewhere.update(1, slug, { subject: 'Elsewhere {{ name }}' }, noNote);
    expect(subjectOf(slug)).toBe('Elsewhere x');
    await elsewhere.update(1, slug, { is_active: false }, noNote);
    refusalOf(() => subjectOf(slug));
    await elsewhere.update(1, slug, { is_active: true }, noNote);
    expect(subjectOf(slug)).toBe('Elsewhere x');
  });

  test('has the new form with a clock that was set back', async () => {
    const slug = await create();
    subjectOf(slug);
    clock.advance(-60_000);
    await templates.update(1, slug, { subject: 'Earlier {{ name }}' }, noNote);
    clock.advance(60_000);
    expect(subjectOf(slug)).toBe('Earlier x');
  });

  test('has the template that took over the slug of a deleted one', async () => {
    const slug = await create();
    subjectOf(slug);
    await templates.remove(1, slug, noNote);
    refusalOf(() => subjectOf(slug));
    await create({ slug, subject: 'Successor' });
    expect(subjectOf(slug)).toBe('Successor');
  });
});

describe('the cache of compiled templates', () => {
  test('finds the version that it was given and no other', () => {
    const cache = new CompiledCache<string>(100);
    cache.set(1, 7, 'seven', 10);
    expect([cache.get(1, 7), cache.get(1, 8), cache.get(2, 7)]).toEqual(['seven', undefined, undefined]);
    cache.set(1, 8, 'eight', 10);
    expect([cache.get(1, 7), cache.get(1, 8)]).toEqual([undefined, 'eight']);
  });

  test('stays within its size, dropping what was used longest ago', () => {
    const cache = new CompiledCache<string>(100);
    for (const id of [1, 2, 3]) cache.set(id, 1, `${id}`, 30);
    cache.get(1, 1);
    cache.set(4, 1, '4', 30);
    expect([1, 2, 3, 4].map((id) => cache.get(id, 1))).toEqual(['1', undefined, '3', '4']);
    cache.set(5, 1, '5', 101);
    expect(cache.get(5, 1)).toBeUndefined();
    expect(cache.get(4, 1)).toBe('4');
  });

  test('counts a replaced entry once', () => {
    const cache = new CompiledCache<string>(100);
    for (let version = 0; version < 10; version += 1) cache.set(1, version, 'x', 60);
    cache.set(2, 1, 'y', 40);
    expect([cache.get(1, 9), cache.get(2, 1)]).toEqual(['x', 'y']);
  });
});
