/** The endpoints of templates: who may do what, what is stored, and what a template must be. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { longestTurnMs } from '../../support/event-loop.ts';
import { actor, startTestApp, type TestApp } from '../../support/helpers.ts';

const PATH = '/api/v1/emails/templates';
const VALID = {
  name: 'Welcome',
  category: 'welcome',
  subject: 'Hello {{ name }}',
  body_text: 'Hi {{ name }}',
};

let app: TestApp;
const keys: Record<string, string> = {};

async function makeKey(project: string, input: Record<string, unknown>): Promise<string> {
  const row = app.services.projects.require(project);
  return (await app.services.keys.create(actor, row, { name: 'test', ...input })).plaintext_key;
}

beforeAll(async () => {
  app = await startTestApp();
  await app.services.projects.create(actor, { name: 'One', slug: 'one' });
  await app.services.projects.create(actor, { name: 'Two', slug: 'two' });
  const editor = { can_read: true, can_write: true, permissions: { email_template: true } };
  keys.full = await makeKey('one', editor);
  keys.marketing = await makeKey('one', { ...editor, can_manage_email_marketing: true });
  keys.foreign = await makeKey('two', { ...editor, can_manage_email_marketing: true });
  keys.read = await makeKey('one', { can_read: true });
  keys.no_read = await makeKey('one', { can_write: true, permissions: { email_template: true } });
  keys.no_write = await makeKey('one', { can_read: true, permissions: { email_template: true } });
  keys.no_template = await makeKey('one', { can_read: true, can_write: true });
});

const call = (method: string, path: string, key: string | null, body?: unknown) =>
  app.call(method, `${PATH}${path}`, {
    ...(key === null ? {} : { key: keys[key] ?? '' }),
    ...(body === undefined ? {} : { body }),
  });

async function create(fields: Record<string, unknown> = {}, key = 'full'): Promise<Record<string, unknown>> {
  const answer = await call('POST', '', key, { ...VALID, ...fields });
  expect(answer.status).toBe(201);
  return answer.body;
}

describe('POST /emails/templates', () => {
  test('answers the whole template, flat', async () => {
    const body = await create({
      slug: 'Full_Example-1',
      body_html: '<p>{{ name }}</p>',
      description: 'For newcomers',
      variables: [
        { name: 'name', required: true },
        { name: 'nick', description: 'What friends say' },
      ],
    });
    expect(body).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      slug: 'Full_Example-1',
      name: 'Welcome',
      category: 'welcome',
      subject: 'Hello {{ name }}',
      body_html: '<p>{{ name }}</p>',
      body_text: 'Hi {{ name }}',
      body_markdown: null,
      is_own: false,
      draft: null,
      has_draft: false,
      description: 'For newcomers',
      variables: [
        { name: 'name', description: null, required: true },
        { name: 'nick', description: 'What friends say', required: false },
      ],
      is_active: true,
      is_marketing: false,
      layout: null,
      created_at: '2030-01-15T12:00:00.000Z',
      updated_at: '2030-01-15T12:00:00.000Z',
    });
    expect((await call('GET', '/Full_Example-1', 'read')).body).toEqual(body);
  });

  test('makes a slug from the name and keeps it apart from those there are', async () => {
    const name = 'Ça va, Zoë? 100%';
    const slugs = [await create({ name }), await create({ name }), await create({ name })].map(
      ({ slug }) => slug,
    );
    expect(slugs).toEqual(['ca-va-zoe-100', 'ca-va-zoe-100-2', 'ca-va-zoe-100-3']);
    expect((await create({ name: '你好' })).slug).toBe('template');
    const long = await create({ name: 'x'.repeat(255) });
    expect(String(long.slug).length).toBeLessThanOrEqual(255);
    expect((await create({ name: 'x'.repeat(255) })).slug).toBe(`${long.slug}-2`);
  });

  test('takes a slug once in a project, by its case, and again after a deletion', async () => {
    await create({ slug: 'only-one' });
    const again = await call('POST', '', 'full', { ...VALID, slug: 'only-one' });
    expect([again.status, Object.keys(Object(again.body.errors))]).toEqual([422, ['slug']]);
    await create({ slug: 'Only-One' });
    await create({ slug: 'only-one' }, 'foreign');
    expect((await call('DELETE', '/only-one', 'full')).status).toBe(200);
    await create({ slug: 'only-one' });
  });

  test('gives one of two templates that want the same slug at once', async () => {
    const answers = await Promise.all([1, 2].map(() => call('POST', '', 'full', { ...VALID, slug: 'race' })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 422]);
    const named = await Promise.all([1, 2].map(() => create({ name: 'Race of names' })));
    expect(named.map(({ slug }) => slug).sort()).toEqual(['race-of-names', 'race-of-names-2']);
  });

  const REFUSED: [what: string, fields: Record<string, unknown>, field: string][] = [
    ['no name', { name: undefined }, 'name'],
    ['a blank name', { name: '  ' }, 'name'],
    ['a name of 256 characters', { name: 'é'.repeat(256) }, 'name'],
    ['a slug with a space', { slug: 'two words' }, 'slug'],
    ['a slug with a dot', { slug: 'a.b' }, 'slug'],
    ['a slug with a letter outside ASCII', { slug: 'zoë' }, 'slug'],
    ['a slug of 256 characters', { slug: 'x'.repeat(256) }, 'slug'],
    ['no category', { category: undefined }, 'category'],
    ['an unknown category', { category: 'Transactional' }, 'category'],
    ['no subject', { subject: undefined }, 'subject'],
    ['a subject of 501 characters', { subject: 'x'.repeat(501) }, 'subject'],
    ['a subject of two lines', { subject: 'one\r\nBcc: x@example.com' }, 'subject'],
    ['no body', { body_text: undefined }, 'body_html'],
    ['empty bodies', { body_text: '', body_html: '' }, 'body_html'],
    ['a body past the limit in bytes', { body_text: 'é'.repeat(256_001) }, 'body_text'],
    ['a body that is no text', { body_html: 7 }, 'body_html'],
    ['a description of 2001 characters', { description: 'x'.repeat(2001) }, 'description'],
    ['variables that are no array', { variables: { name: 'x' } }, 'variables'],
    ['a variable without a name', { variables: [{}] }, 'variables.0.name'],
    ['a variable that no placeholder can name', { variables: [{ name: 'first..name' }] }, 'variables.0.name'],
    ['a variable named like a prototype', { variables: [{ name: '__proto__' }] }, 'variables.0.name'],
    ['a variable declared twice', { variables: [{ name: 'a' }, { name: 'a' }] }, 'variables.1.name'],
    ['more than 100 variables', { variables: Array(101).fill({ name: 'a' }) }, 'variables'],
    ['a flag that is none', { is_active: 'yes' }, 'is_active'],
    ['an unknown layout', { layout: 'plain' }, 'layout'],
  ];

  test.each(REFUSED)('refuses %s', async (_what, fields, field) => {
    const before = (await call('GET', '', 'read')).body.data;
    const answer = await call('POST', '', 'full', { ...VALID, ...fields });
    expect([answer.status, Object.keys(Object(answer.body.errors))]).toEqual([422, [field]]);
    expect((await call('GET', '', 'read')).body.data).toEqual(before);
  });

  test('takes what is just within the limits', async () => {
    await create({
      name: 'é'.repeat(255),
      slug: 'y'.repeat(255),
      subject: '😀'.repeat(500),
      body_text: 'é'.repeat(256_000),
      description: '😀'.repeat(2000),
    });
  });

  test('takes a marketing template only from a key that manages marketing', async () => {
    const refused = await call('POST', '', 'full', { ...VALID, slug: 'promo', is_marketing: true });
    expect(refused.status).toBe(403);
    // By the name that the key's own field has.
    expect(refused.body.message).toContain("'can_manage_email_marketing'");
    // The permission comes before the rest of the body is judged, and a refusal uses none of the rate up.
    const spoiled = await call('POST', '', 'full', { slug: 'promo', subject: 7, is_marketing: true });
    const left = refused.headers.get('ratelimit-remaining');
    expect([spoiled.status, spoiled.headers.get('ratelimit-remaining')]).toEqual([403, left]);
    expect((await call('GET', '/promo', 'read')).status).toBe(404);
    expect(
      await create({ slug: 'promo', is_marketing: true, layout: 'marketing' }, 'marketing'),
    ).toMatchObject({
      is_marketing: true,
      layout: 'marketing',
    });
    expect(await create({ category: 'marketing', layout: 'marketing' })).toMatchObject({
      is_marketing: false,
    });
  });
});

describe('GET /emails/templates', () => {
  test('lists the project and the categories, newest first, unpaginated and without bodies', async () => {
    await create({ slug: 'older' });
    await create({ slug: 'newer', variables: [{ name: 'name' }] });
    const { body, status } = await call('GET', '?per_page=1&page=2', 'read');
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(['success', 'data', 'categories']);
    expect(body.success).toBe(true);
    expect(body.categories).toEqual([
      'transactional',
      'marketing',
      'welcome',
      'opt_in',
      'notification',
      'receipt',
      'other',
    ]);
    const items = Array.isArray(body.data) ? body.data : [];
    expect(items.slice(0, 2).map(({ slug }) => slug)).toEqual(['newer', 'older']);
    expect(items[0]).toMatchObject({
      name: 'Welcome',
      category: 'welcome',
      variables: [{ name: 'name', description: null, required: false }],
    });
    expect(items[0]).not.toHaveProperty('body_text');
    const foreign = await call('GET', '', 'foreign');
    expect(JSON.stringify(foreign.body.data)).not.toContain('newer');
  });
});

describe('PATCH /emails/templates/{slug}', () => {
  test('changes what is sent and nothing else', async () => {
    const before = await create({ slug: 'patched', body_html: '<p>x</p>', description: 'old' });
    app.clock.advance(5_000);
    const { status, body } = await call('PATCH', '/patched', 'full', { subject: 'New', is_active: false });
    expect(status).toBe(200);
    expect(body).toEqual({
      ...before,
      subject: 'New',
      is_active: false,
      updated_at: '2030-01-15T12:00:05.000Z',
    });
    expect((await call('PATCH', '/patched', 'full', {})).status).toBe(200);
  });

  test('clears an optional field with null', async () => {
    await create({
      slug: 'cleared',
      body_html: '<p>x</p>',
      description: 'old',
      variables: [{ name: 'a' }],
      layout: 'marketing',
      is_active: false,
    });
    const nothing = { description: null, variables: null, layout: null, body_text: null, is_active: null };
    const { body } = await call('PATCH', '/cleared', 'full', nothing);
    expect(body).toMatchObject({
      description: null,
      variables: [],
      layout: null,
      body_text: null,
      body_html: '<p>x</p>',
      is_active: true,
    });
  });

  test('leaves at least one body', async () => {
    await create({ slug: 'bodies' });
    for (const changes of [{ body_text: null }, { body_text: '' }, { body_text: null, body_html: null }]) {
      const answer = await call('PATCH', '/bodies', 'full', changes);
      expect([answer.status, Object.keys(Object(answer.body.errors))]).toEqual([422, ['body_html']]);
    }
    const swapped = await call('PATCH', '/bodies', 'full', { body_text: null, body_html: '<p>x</p>' });
    expect(swapped.body).toMatchObject({ body_text: null, body_html: '<p>x</p>' });
  });

  test.each(['name', 'category', 'subject'])('refuses to clear %s', async (field) => {
    const { slug } = await create();
    const answer = await call('PATCH', `/${slug}`, 'full', { [field]: null });
    expect([answer.status, Object.keys(Object(answer.body.errors))]).toEqual([422, [field]]);
  });

  test('never changes the slug', async () => {
    await create({ slug: 'fixed' });
    const answer = await call('PATCH', '/fixed', 'full', { slug: 'other', name: 'Renamed' });
    expect([answer.status, answer.body.slug, answer.body.name]).toEqual([200, 'fixed', 'Renamed']);
    expect((await call('GET', '/other', 'read')).status).toBe(404);
  });

  test('needs the marketing flag to make, change or unmake a marketing template', async () => {
    const { slug } = await create();
    for (const fields of [{}, { name: 7 }])
      expect((await call('PATCH', `/${slug}`, 'full', { is_marketing: true, ...fields })).status).toBe(403);
    expect((await call('PATCH', `/${slug}`, 'marketing', { is_marketing: true })).body.is_marketing).toBe(
      true,
    );
    for (const changes of [{ name: 'x' }, { is_marketing: false }, { name: 7 }]) {
      expect((await call('PATCH', `/${slug}`, 'full', changes)).status).toBe(403);
    }
    expect((await call('DELETE', `/${slug}`, 'full')).status).toBe(403);
    expect((await call('PATCH', `/${slug}`, 'marketing', { is_marketing: false })).body.is_marketing).toBe(
      false,
    );
    expect((await call('DELETE', `/${slug}`, 'full')).status).toBe(200);
  });
});

describe('DELETE /emails/templates/{slug}', () => {
  test('deletes once', async () => {
    await create({ slug: 'short-lived' });
    const answer = await call('DELETE', '/short-lived', 'full');
    expect([answer.status, answer.body]).toEqual([200, { success: true, message: 'Template deleted.' }]);
    expect((await call('GET', '/short-lived', 'read')).status).toBe(404);
    expect((await call('DELETE', '/short-lived', 'full')).status).toBe(404);
  });
});

describe('POST /emails/templates/{slug}/preview', () => {
  test('renders without sending, escaping in HTML only', async () => {
    await create({ slug: 'shown', body_html: '<p>{{ name }}</p>' });
    const { status, body } = await call('POST', '/shown/preview', 'read', { variables: { name: 'A&B' } });
    expect(status).toBe(200);
    expect(body).toEqual({
      subject: 'Hello A&B',
      body_html: '<p>A&amp;B</p>',
      body_text: 'Hi A&B',
      missing: [],
      invalid: [],
    });
  });

  test('names what is missing and shows its placeholder, of inactive and marketing templates too', async () => {
    const variables = [{ name: 'token', required: true }, { name: 'nick' }];
    const fields = { body_text: '{{name}}/{{ nick }}/{{ user.id }}', variables, is_active: false };
    await create({ slug: 'gaps', ...fields, is_marketing: true }, 'marketing');
    const { body } = await call('POST', '/gaps/preview', 'read', { variables: { user: { id: 7 } } });
    expect(body.body_text).toBe('{{ name }}//7');
    expect(body.missing).toEqual(['token', 'name']);
  });

  test('refuses variables that are no object', async () => {
    await create({ slug: 'typed' });
    const answer = await call('POST', '/typed/preview', 'read', { variables: ['x'] });
    expect([answer.status, Object.keys(Object(answer.body.errors))]).toEqual([422, ['variables']]);
  });
});

describe('body_markdown', () => {
  const markdown = { body_text: undefined, body_markdown: '# Hi {{ name }}\n\n[Open]({{ url }})' };
  const made = {
    body_html: '<h1>Hi {{name}}</h1>\n<p><a href="{{url}}">Open</a></p>\n',
    body_text: 'Hi {{name}}\n===========\n\nOpen <{{url}}>',
    body_markdown: markdown.body_markdown,
  };

  test('makes both bodies, which a preview fills in', async () => {
    const { slug, ...created } = await create(markdown);
    expect(created).toMatchObject(made);
    expect((await call('GET', `/${slug}`, 'read')).body).toMatchObject(made);
    const variables = { name: '<Ann>', url: 'https://example.com/?a&b' };
    const shown = await call('POST', `/${slug}/preview`, 'read', { variables });
    expect(shown.body).toMatchObject({
      body_html: '<h1>Hi &lt;Ann&gt;</h1>\n<p><a href="https://example.com/?a&amp;b">Open</a></p>\n',
      body_text: 'Hi <Ann>\n===========\n\nOpen <https://example.com/?a&b>',
    });
    const changes = { body_markdown: '*{{ name }}*' };
    const changed = await call('POST', `/${slug}/preview`, 'read', { variables, changes });
    expect(changed.body).toMatchObject({ body_html: '<p><em>&lt;Ann&gt;</em></p>\n', body_text: '<Ann>' });
  });

  test('is ended by a body, and makes all anew', async () => {
    const { slug } = await create(markdown);
    const patch = async (body: Record<string, unknown>) =>
      (await call('PATCH', `/${slug}`, 'full', body)).body;
    expect(await patch({ subject: 'Other' })).toMatchObject(made);
    expect(await patch({ body_text: 'Own' })).toMatchObject({
      ...made,
      body_text: 'Own',
      body_markdown: null,
    });
    const anew = { body_html: '<p>New</p>\n', body_text: 'New', body_markdown: 'New' };
    expect(await patch({ body_markdown: 'New' })).toMatchObject(anew);
    expect(await patch({ body_html: null })).toMatchObject({ ...anew, body_html: null, body_markdown: null });
    expect(await patch({ body_markdown: 'New', body_text: '', body_html: null })).toMatchObject(anew);
    expect(await patch({ body_markdown: null })).toMatchObject({ ...anew, body_markdown: null });
  });

  test.each([
    ['beside a body', { body_html: '<p>Hi</p>' }, 'makes body_html and body_text: send either it or them'],
    ['that shows nothing', { body_markdown: '[a]: https://example.com' }, 'must show something'],
    [
      'that is nested too deep',
      { body_markdown: `${'> '.repeat(300)}a` },
      'must not be nested deeper than 100 levels',
    ],
    [
      'that is too long',
      { body_markdown: 'a'.repeat(512_001) },
      'must have at most 512000 bytes (got 512001)',
    ],
    [
      'that makes too much',
      { body_markdown: '&'.repeat(200_000) },
      'must not make a body of more than 512000 bytes',
    ],
  ])('%s is refused under its own name, and changes nothing', async (_what, fields, message) => {
    const { slug } = await create(markdown);
    const errors = { body_markdown: [message] };
    const sent = { ...VALID, ...markdown, ...fields };
    expect((await call('POST', '', 'full', sent)).body).toMatchObject({ errors });
    const patch = { body_markdown: sent.body_markdown, ...fields };
    expect(await call('PATCH', `/${slug}`, 'full', patch)).toMatchObject({ status: 422, body: { errors } });
    expect((await call('GET', `/${slug}`, 'read')).body).toMatchObject(made);
  });
});

test('499,000 characters that are hard to make keep nobody waiting', async () => {
  const key = keys.full ?? '';
  const template = { ...VALID, slug: 'long' };
  expect((await app.call('POST', PATH, { key, body: template })).status).toBe(201);
  const changes = ['\ta\n', '|a|b|\n|-|-|\n|a|b|\n\n', 'a**b', '_a_ '].map((piece) => ({
    body_markdown: piece.repeat(499_000 / piece.length),
  }));
  for (const change of [...changes, { body_html: '{{a}}'.repeat(99_800) }]) {
    const turn_ms = await longestTurnMs(() =>
      app.call('POST', `${PATH}/long/preview`, { key, body: { changes: change } }),
    );
    expect([Object.values(change)[0]?.slice(0, 5), turn_ms < 150]).toEqual([
      Object.values(change)[0]?.slice(0, 5),
      true,
    ]);
  }
});
