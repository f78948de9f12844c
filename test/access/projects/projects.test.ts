/** The endpoints of projects: what each takes, answers, refuses and leaves alone. */
import { describe, expect, test } from 'bun:test';
import { newId } from '../../../src/platform/host/ids.ts';
import {
  beforeEachOnStage,
  codeOf,
  dataOf,
  detailsOf,
  invalidFieldsOf,
  listOf,
  type Management,
} from '../../support/management.ts';

let stage: Management;
beforeEachOnStage((given) => {
  stage = given;
});

const call = (...args: Parameters<Management['call']>) => stage.call(...args);

test('a project out of scope and one that does not exist answer the very same', async () => {
  const foreign = await call('GET', '/projects/other', stage.scoped);
  const missing = await call('GET', '/projects/nowhere', stage.scoped);
  expect(foreign.text).toBe(missing.text);
  expect(foreign.status).toBe(missing.status);
});

describe('creating', () => {
  test('answers the whole project with the fields of the contract', async () => {
    const answer = await call('POST', '/projects', stage.all, {
      name: 'Corner Shop',
      status: 'inactive',
      notes: 'n',
      description: 'd',
      app_identifier: 'com.example.shop',
      primary_url: 'https://shop.example',
      repo_url: 'https://git.example/shop',
      repo_is_public: false,
      platforms: ['ios', 'web'],
      tech_stack: ['bun'],
    });
    expect(answer.status).toBe(201);
    expect(dataOf(answer)).toEqual({
      id: 3,
      public_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      name: 'Corner Shop',
      slug: 'corner-shop',
      status: 'inactive',
      notes: 'n',
      description: 'd',
      app_identifier: 'com.example.shop',
      primary_url: 'https://shop.example',
      repo_url: 'https://git.example/shop',
      repo_is_public: false,
      platforms: ['ios', 'web'],
      tech_stack: ['bun'],
      sending_domain: null,
      link_domain: null,
      link_domain_status: null,
      link_domain_problem: null,
      sending_domains: null,
      database_project_id: null,
      created_at: '2030-01-15T12:00:00.000Z',
      api_keys: [],
      mail: 'refused',
    });
    expect(stage.lastEvent()).toMatchObject({ event: 'project.created', target: 'project:3' });
  });

  test('leaves what was not said null or empty, and makes it active', async () => {
    const data = dataOf(await call('POST', '/projects', stage.all, { name: 'Bare' }));
    expect(data).toMatchObject({
      status: 'active',
      notes: null,
      description: null,
      app_identifier: null,
      primary_url: null,
      repo_url: null,
      repo_is_public: null,
      platforms: [],
      tech_stack: [],
    });
  });

  test.each([
    ['Corner Shop', 'corner-shop'],
    ['Café Zoë & Søn', 'cafe-zoe-s-n'],
    ['日本', 'project'],
    ['2030', 'project-2030'],
    ['01ARZ3NDEKTSV4RRFFQ69G5FAV', 'project-01arz3ndektsv4rrffq69g5fav'],
    ['x'.repeat(255), 'x'.repeat(243)],
  ])('makes a slug of the name %p', async (name, slug) => {
    expect(dataOf(await call('POST', '/projects', stage.all, { name })).slug).toBe(slug);
  });

  test('numbers generated slugs that are taken', async () => {
    const slugs: unknown[] = [];
    for (let n = 0; n < 3; n += 1) {
      slugs.push(dataOf(await call('POST', '/projects', stage.all, { name: 'Mine' })).slug);
    }
    expect(slugs).toEqual(['mine-2', 'mine-3', 'mine-4']);
  });

  test('numbers them when two are made at the same moment, too', async () => {
    const made = await Promise.all(
      [1, 2, 3].map(() => call('POST', '/projects', stage.all, { name: 'Same' })),
    );
    expect(made.map((answer) => dataOf(answer).slug)).toEqual(['same', 'same-2', 'same-3']);
  });

  test('takes a given slug as it is, and refuses it when it is taken', async () => {
    expect(dataOf(await call('POST', '/projects', stage.all, { name: 'A', slug: 'a--b-' })).slug).toBe(
      'a--b-',
    );
    const before = stage.snapshot();
    const again = await call('POST', '/projects', stage.all, { name: 'B', slug: 'a--b-' });
    expect(again.status).toBe(409);
    expect(codeOf(again)).toBe('SLUG_ALREADY_EXISTS');
    expect(stage.snapshot()).toBe(before);
  });

  test.each([
    ['name', {}],
    ['name', { name: '' }],
    ['name', { name: '   ' }],
    ['name', { name: null }],
    ['name', { name: 7 }],
    ['name', { name: 'é'.repeat(256) }],
    ['slug', { name: 'A', slug: '' }],
    ['slug', { name: 'A', slug: '123' }],
    ['slug', { name: 'A', slug: '01arz3ndektsv4rrffq69g5fav' }],
    ['slug', { name: 'A', slug: 'With Space' }],
    ['slug', { name: 'A', slug: 'Upper' }],
    ['slug', { name: 'A', slug: 'under_score' }],
    ['slug', { name: 'A', slug: 'x'.repeat(256) }],
    ['status', { name: 'A', status: 'archived' }],
    ['primary_url', { name: 'A', primary_url: 'javascript:alert(1)' }],
    ['repo_url', { name: 'A', repo_url: 'not a url' }],
    ['repo_is_public', { name: 'A', repo_is_public: 'yes' }],
    ['platforms', { name: 'A', platforms: 'ios' }],
    ['platforms.1', { name: 'A', platforms: ['ios', 7] }],
    ['tech_stack', { name: 'A', tech_stack: Array(51).fill('x') }],
  ])('refuses a bad %s: %j', async (field, body) => {
    const before = stage.snapshot();
    const answer = await call('POST', '/projects', stage.all, body);
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 422,
      code: 'VALIDATION_FAILED',
    });
    expect(invalidFieldsOf(answer)).toEqual([field]);
    expect(stage.snapshot()).toBe(before);
  });

  test('a name of 255 characters outside the basic plane is not too long', async () => {
    expect((await call('POST', '/projects', stage.all, { name: '🛒'.repeat(255) })).status).toBe(201);
  });

  test('a body that is not JSON is 422', async () => {
    expect((await call('POST', '/projects', stage.all, '{"name":')).status).toBe(422);
  });

  test('a scoped token may use the project it creates, other tokens of the kind may not', async () => {
    const second = await stage.makeToken({ projects: ['mine'] });
    const { slug } = dataOf(await call('POST', '/projects', stage.scoped, { name: 'Fresh' }));
    expect((await call('GET', `/projects/${slug}`, stage.scoped)).status).toBe(200);
    expect((await call('GET', `/projects/${slug}`, second)).status).toBe(404);
    expect(listOf(await call('GET', '/projects', stage.scoped)).map((each) => each.slug)).toEqual([
      'fresh',
      'mine',
    ]);
  });
});

describe('reading', () => {
  test('a project is found by numeric id, by ULID in either case, and by slug', async () => {
    const { id, public_id, slug } = stage.mine;
    for (const ref of [String(id), public_id, public_id.toLowerCase(), slug]) {
      expect(dataOf(await call('GET', `/projects/${ref}`, stage.scoped)).id).toBe(id);
    }
  });

  test.each(['0', '99', '9'.repeat(40), newId(1), 'nope', 'MINE', '%F0%9F%9B%92', '..%2F'])(
    'there is no project %s',
    async (ref) => {
      expect((await call('GET', `/projects/${ref}`, stage.all)).status).toBe(404);
    },
  );

  test('shows its keys abbreviated, newest first', async () => {
    await call('POST', '/projects/mine/api-keys', stage.all, { name: 'one' });
    await call('POST', '/projects/mine/api-keys', stage.all, { name: 'two', restricted: true });
    const prefix = expect.stringMatching(/^sat_live_.{6}$/);
    expect(dataOf(await call('GET', '/projects/mine', stage.all)).api_keys).toEqual([
      { id: 2, name: 'two', key_prefix: prefix, restricted: true, is_active: true },
      { id: 1, name: 'one', key_prefix: prefix, restricted: false, is_active: true },
    ]);
  });
});

describe('listing', () => {
  test('runs newest first with the number of keys, within the scope of the token', async () => {
    await call('POST', '/projects/mine/api-keys', stage.all, { name: 'one' });
    const all = await call('GET', '/projects', stage.all);
    expect(listOf(all).map((each) => [each.slug, each.api_keys_count])).toEqual([
      ['other', 0],
      ['mine', 1],
    ]);
    expect(all.body.meta).toMatchObject({ total: 2, current_page: 1, last_page: 1 });
    const scoped = await call('GET', '/projects', stage.scoped);
    expect(listOf(scoped).map((each) => each.slug)).toEqual(['mine']);
    expect(scoped.body.meta).toMatchObject({ total: 1 });
  });

  test('a token whose only project was deleted sees none, not all', async () => {
    await call('DELETE', '/projects/mine', stage.all);
    const answer = await call('GET', '/projects', stage.scoped);
    expect(answer.status).toBe(200);
    expect(listOf(answer)).toEqual([]);
    expect(dataOf(await call('GET', '/token', stage.scoped)).projects).toEqual([]);
  });

  test.each([
    ['q=MIN', ['mine']],
    ['q=the', ['other']],
    ['q=', ['other', 'mine']],
    ['q=%25', []],
    ['q=_', []],
    ['q=100%25', []],
    ['status=active', ['other', 'mine']],
    ['status=inactive', []],
    ['q=o&status=active', ['other']],
  ])('?%s', async (query, slugs) => {
    const answer = await call('GET', `/projects?${query}`, stage.all);
    expect(listOf(answer).map((each) => each.slug)).toEqual(slugs);
    expect(answer.body.meta).toMatchObject({ total: slugs.length });
  });

  test('q matches a percent sign and an underscore as they are', async () => {
    await call('POST', '/projects', stage.all, { name: '100% of_it', slug: 'all' });
    for (const q of ['100%25', 'of_i', '%25 of']) {
      expect(listOf(await call('GET', `/projects?q=${q}`, stage.all)).map((each) => each.slug)).toEqual([
        'all',
      ]);
    }
  });

  test('q ignores the case of ASCII letters in names and slugs', async () => {
    await call('POST', '/projects', stage.all, { name: 'CORNER Shop', slug: 'x-y' });
    for (const q of ['corner', 'CoRnEr S', 'X-Y']) {
      const found = listOf(await call('GET', `/projects?q=${encodeURIComponent(q)}`, stage.all));
      expect(found.map((each) => each.slug)).toEqual(['x-y']);
    }
  });

  test('totals follow status changes and deletions', async () => {
    const total = async (query: string) => (await call('GET', `/projects${query}`, stage.all)).body.meta;
    await call('PATCH', '/projects/mine', stage.all, { status: 'inactive' });
    expect(await total('?status=inactive')).toMatchObject({ total: 1 });
    expect(await total('?status=active')).toMatchObject({ total: 1 });
    await call('DELETE', '/projects/mine', stage.all);
    expect(await total('?status=inactive')).toMatchObject({ total: 0 });
    expect(await total('')).toMatchObject({ total: 1 });
  });

  test.each([
    ['status', 'status=archived'],
    ['per_page', 'per_page=0'],
    ['page', 'page=x'],
    ['q', `q=${'x'.repeat(256)}`],
  ])('refuses a bad %s', async (field, query) => {
    const answer = await call('GET', `/projects?${query}`, stage.all);
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual([field]);
  });

  test('pages are cut to size, and one past the end is empty', async () => {
    const first = await call('GET', '/projects?per_page=1', stage.all);
    expect(first.body.meta).toMatchObject({ count: 1, has_more: true, next_page: 2, remaining_items: 1 });
    const beyond = await call('GET', '/projects?per_page=1&page=9', stage.all);
    expect(listOf(beyond)).toEqual([]);
    expect(beyond.body.meta).toMatchObject({ from: null, to: null, prev_page: 2, remaining_items: 0 });
    const large = await call('GET', '/projects?per_page=1000', stage.all);
    expect(large.body.meta).toMatchObject({ per_page: 50 });
  });
});

describe('changing', () => {
  test('sets only what is sent and replaces lists', async () => {
    await call('PATCH', '/projects/mine', stage.scoped, { notes: 'n', platforms: ['ios', 'web'] });
    const answer = await call('PATCH', '/projects/mine', stage.scoped, {
      name: 'New',
      platforms: ['android'],
    });
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toMatchObject({ name: 'New', slug: 'mine', notes: 'n', platforms: ['android'] });
    expect(stage.lastEvent()).toEqual({
      event: 'project.updated',
      target: 'project:1',
      actor_name: 'test token',
      metadata: { name: 'New' },
      changes: {
        name: { from: expect.any(String), to: 'New' },
        platforms: { from: ['ios', 'web'], to: ['android'] },
      },
    });
  });

  test('null clears, and lists become empty', async () => {
    const filled = {
      notes: 'n',
      primary_url: 'https://a.example',
      repo_is_public: true,
      tech_stack: ['bun'],
    };
    await call('PATCH', '/projects/mine', stage.all, filled);
    const cleared = { notes: null, primary_url: null, repo_is_public: null, tech_stack: null };
    expect(dataOf(await call('PATCH', '/projects/mine', stage.all, cleared))).toMatchObject({
      notes: null,
      primary_url: null,
      repo_is_public: null,
      tech_stack: [],
    });
  });

  test('nothing sent, or nothing known, changes nothing and is fine', async () => {
    const before = stage.snapshot();
    for (const body of [undefined, {}, { colour: 'red', __proto__: { name: 'x' } }]) {
      const answer = await call('PATCH', '/projects/mine', stage.all, body);
      expect(answer.status).toBe(200);
      expect(dataOf(answer).name).toBe('Mine');
    }
    expect(stage.snapshot()).toBe(before);
  });

  test('a new slug holds from the next request on', async () => {
    expect((await call('PATCH', '/projects/mine', stage.all, { slug: 'ours' })).status).toBe(200);
    expect((await call('GET', '/projects/ours', stage.all)).status).toBe(200);
    expect((await call('GET', '/projects/mine', stage.all)).status).toBe(404);
  });

  test('its own slug is not taken, that of another project is', async () => {
    expect((await call('PATCH', '/projects/mine', stage.all, { slug: 'mine' })).status).toBe(200);
    const taken = await call('PATCH', '/projects/mine', stage.all, { slug: 'other' });
    expect(taken.status).toBe(409);
    expect(codeOf(taken)).toBe('SLUG_ALREADY_EXISTS');
  });

  test.each([
    ['name', { name: null }],
    ['name', { name: ' ' }],
    ['slug', { slug: null }],
    ['slug', { slug: '42' }],
    ['status', { status: null }],
    ['status', { status: 'gone' }],
    ['notes', { notes: 7 }],
    ['platforms', { platforms: {} }],
    ['database_project_id', { database_project_id: true }],
  ])('refuses a bad %s: %j', async (field, body) => {
    const token = await stage.makeToken({ capabilities: ['can_manage_database'] });
    const before = stage.snapshot();
    const answer = await call('PATCH', '/projects/mine', token, { ...body });
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual([field]);
    expect(stage.snapshot()).toBe(before);
  });

  test('linking a database project needs can_manage_database, unlinking too', async () => {
    const before = stage.snapshot();
    for (const database_project_id of [1, null]) {
      const answer = await call('PATCH', '/projects/mine', stage.scoped, { database_project_id });
      expect(answer.status).toBe(403);
      expect(codeOf(answer)).toBe('TOKEN_PERMISSION_DENIED');
      expect(detailsOf(answer)).toEqual({ required_scope: 'can_manage_database' });
    }
    expect(stage.snapshot()).toBe(before);
  });

  test('the 403 of linking a database project comes before 404 and 422, and uses none of the rate up', async () => {
    for (const [path, token] of [
      ['/projects/mine', stage.all],
      ['/projects/nowhere', stage.all],
      ['/projects/other', stage.scoped],
    ] as const) {
      const answer = await call('PATCH', path, token, { name: 5, database_project_id: 1 });
      expect({ path, status: answer.status, code: codeOf(answer) }).toEqual({
        path,
        status: 403,
        code: 'TOKEN_PERMISSION_DENIED',
      });
      expect(answer.headers.get('ratelimit-remaining')).toBe('6000');
    }
    expect((await call('GET', '/token', stage.all)).headers.get('ratelimit-remaining')).toBe('5999');
    expect((await call('PATCH', '/projects/mine', stage.all, { name: 5 })).status).toBe(422);
  });

  test('a database project that the token cannot see is 422', async () => {
    const token = await stage.makeToken({ capabilities: ['can_manage_database'] });
    const answer = await call('PATCH', '/projects/mine', token, { name: 'New', database_project_id: 4711 });
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual(['database_project_id']);
    expect(dataOf(await call('GET', '/projects/mine', token)).name).toBe('Mine');
  });
});

describe('deleting', () => {
  test('answers all counts, keeps them in the audit trail, and takes the keys along', async () => {
    const { plaintext_key } = dataOf(
      await call('POST', '/projects/mine/api-keys', stage.all, { name: 'one' }),
    );
    await call('POST', '/projects/mine/api-keys', stage.all, { name: 'two' });
    const answer = await call('DELETE', '/projects/mine', stage.scoped);
    const cascade = {
      api_keys: 2,
      stored_objects: 0,
      vault_credentials: 0,
      vault_files: 0,
      links: 0,
      vault_reveals: 0,
      ...{
        email_lists: 0,
        email_contacts: 0,
        email_suppressions: 0,
        email_sequences: 0,
        email_broadcasts: 0,
      },
      ...{ email_imports: 0 },
    };
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toEqual({ deleted: true, cascade });
    expect(stage.lastEvent()).toEqual({
      event: 'public_api.project.deleted',
      target: 'project:1',
      actor_name: 'test token',
      metadata: { name: 'Mine', slug: 'mine', cascade },
    });
    const lookup = await call('POST', '/api-keys/lookup', stage.all, { api_key: plaintext_key });
    expect(lookup.status).toBe(404);
    expect((await call('DELETE', '/projects/mine', stage.all)).status).toBe(404);
  });

  test('leaves other projects alone, and frees the slug but never the id', async () => {
    await call('POST', '/projects/other/api-keys', stage.all, { name: 'kept' });
    await call('DELETE', '/projects/2', stage.scoped);
    await call('DELETE', '/projects/mine', stage.all);
    expect(dataOf(await call('GET', '/projects/other', stage.all)).api_keys).toHaveLength(1);
    const again = dataOf(await call('POST', '/projects', stage.all, { name: 'Mine' }));
    expect(again).toMatchObject({ id: 3, slug: 'mine' });
  });

  test('two deletions at once: one is done, the other finds nothing', async () => {
    const answers = await Promise.all([1, 2].map(() => call('DELETE', '/projects/mine', stage.all)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 404]);
  });
});
