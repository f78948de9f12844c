/** Filters of contacts: what each member asks for, what is refused, and pages of what fits on a long list. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { run } from '../../support/command.ts';
import { addContacts, type SequenceApp, startSequenceApp } from '../sequences/setup.ts';
import { dataOf, rowsOf } from '../settings/setup.ts';

const DAY_MS = 86_400_000;
const ANYBODY = 'dora carl bob anna';

let on: SequenceApp;
let list: string;
const namesOf = (rows: Record<string, unknown>[]) =>
  rows.map(({ email }) => String(email).split('@')[0]).join(' ');

beforeAll(async () => {
  on = await startSequenceApp();
  list = await on.list();
  const start = on.app.clock.now();
  const add = async (name: string, fields: Record<string, unknown>) => {
    await on.contact(list, `${name}@example.com`, fields);
    on.app.clock.advance(DAY_MS);
  };
  await add('anna', { first_name: 'Zoe', tags: ['a'], custom: { plan: 'pro', seats: 5, vip: true } });
  await add('bob', { last_name: 'Annan', tags: ['a', 'b'], custom: { plan: 'free', seats: '5' } });
  await add('carl', { tags: ['b', 'two words'], custom: { plan: 'pro', '[0] "$.x"': 'odd' } });
  await add('dora', { tags: ['a', 'c'] });
  const { id } = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=dora`))[0] ?? {};
  await on.call('POST', `/email-contacts/${id}/unsubscribe`);
  joined = (days) => new Date(start + days * DAY_MS).toISOString();
});
let joined: (days: number) => string = () => '';

describe('each member', () => {
  test.each<[string, Record<string, unknown>, string]>([
    ['', {}, ANYBODY],
    ['status=active', { status: 'active' }, 'carl bob anna'],
    ['q=ANN', { q: 'ANN' }, 'bob anna'],
    ['tag=b', { tag: 'b' }, 'carl bob'],
    ['tags_any=b,c', { tags_any: ['b', 'c'] }, 'dora carl bob'],
    ['tags_any=b', { tags_any: ['b'] }, 'carl bob'],
    ['tags_any=two words, none', { tags_any: [' two words', 'none'] }, 'carl'],
    ['tags_all=a,b', { tags_all: ['a', 'b'] }, 'bob'],
    ['tags_all=a,a&tag=c', { tags_all: ['a', 'a'], tag: 'c' }, 'dora'],
    ['tags_none=b,c', { tags_none: ['b', 'c'] }, 'anna'],
    [
      'tags_any=a,b&tags_all=a&tags_none=c',
      { tags_any: ['a', 'b'], tags_all: ['a'], tags_none: ['c'] },
      'bob anna',
    ],
    ['custom.plan=pro', { custom: { plan: 'pro' } }, 'carl anna'],
    ['custom.seats=5', { custom: { seats: 5 } }, 'bob anna'],
    ['custom.seats=5&custom.vip=true', { custom: { seats: '5', vip: true } }, 'anna'],
    ['custom.vip=1', { custom: { vip: 1 } }, ''],
    ['custom.plan=PRO', { custom: { plan: 'PRO' } }, ''],
    ['custom.[0] "$.x"=odd', { custom: { '[0] "$.x"': 'odd' } }, 'carl'],
    ['q=ann&status=active&custom.plan=pro', { q: 'ann', status: 'active', custom: { plan: 'pro' } }, 'anna'],
  ])('%s', async (query, filter, names) => {
    const encoded = new URLSearchParams(query).toString();
    const page = await on.call('GET', `/email-lists/${list}/contacts?${encoded}`);
    expect([page.headers.get('warning'), namesOf(rowsOf(page))]).toEqual([null, names]);
    expect(page.body.meta).toMatchObject({ total: names.split(' ').filter(Boolean).length });
    expect(page.body.meta).not.toHaveProperty('total_capped');
    const mirrored = await on.mirror('GET', `/email-lists/${list}/contacts?${encoded}`);
    expect(rowsOf(mirrored)).toEqual(rowsOf(page));
    const { contacts, lists } = on.app.services;
    const { id } = lists.requireAny(list);
    const of = { filter, now_ms: on.app.clock.now() };
    const rows = rowsOf(page).map((row) => contacts.requireAny(String(row.id)).id);
    expect(await contacts.count(id, filter, of.now_ms)).toBe(rows.length);
    const asked = contacts.listAfter(id, { after_id: 0, limit: 10 }).map((row) => row.id);
    expect([...contacts.matching(id, of, [...asked, 999_999])].sort()).toEqual(rows.sort());
  });

  test('joined is when the contact was made: from one moment on, and before another', async () => {
    const joining = async (query: string) =>
      namesOf(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?${query}`)));
    expect(await joining(`joined_after=${joined(1)}`)).toBe('dora carl bob');
    expect(await joining(`joined_before=${joined(1)}`)).toBe('anna');
    expect(await joining(`joined_after=${joined(1)}&joined_before=${joined(3)}&tags_none=two%20words`)).toBe(
      'bob',
    );
  });

  test('days without a click count back from the moment that is given', async () => {
    const { contacts, lists, database } = on.app.services;
    const { id } = lists.requireAny(list);
    const clicked_ms = on.app.clock.now();
    const contact_id = contacts.findByAddress(id, 'bob@example.com')?.id ?? 0;
    const clicking = { kind: 'clicked', contact_id, is_test: false, at: clicked_ms } as const;
    await database.write((tx) => {
      contacts.onReading(tx, clicking);
      contacts.onReading(tx, { ...clicking, at: clicked_ms - 9 * DAY_MS });
      for (const other of [{ is_test: true }, { kind: 'opened' as const }])
        contacts.onReading(tx, { ...clicking, contact_id: contact_id + 1, ...other });
    });
    const filter = { clicked_within_days: 2 };
    const found = async () =>
      namesOf(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?clicked_within_days=2`)));
    expect(await found()).toBe('bob');
    on.app.clock.advance(2 * DAY_MS + 1);
    expect(await found()).toBe('');
    expect(await contacts.count(id, filter, clicked_ms + 2 * DAY_MS)).toBe(1);
  });
});

describe('in a query as JSON', () => {
  const asked = (path: string, filter: unknown, more = '') => {
    const text = typeof filter === 'string' ? filter : JSON.stringify(filter);
    return on.call('GET', `/email-lists/${list}/${path}?filter=${encodeURIComponent(text)}${more}`);
  };

  test('it has all of a filter, by pages and as a table, on both planes', async () => {
    const filter = { any: [{ tags_all: ['a', 'b'] }, { custom: { plan: 'pro' } }], none: [{ q: 'anna@' }] };
    const page = await asked('contacts', filter, '&page=2&per_page=1');
    expect([namesOf(rowsOf(page)), page.body.meta]).toMatchObject(['bob', { total: 2, current_page: 2 }]);
    const query = `filter=${encodeURIComponent(JSON.stringify(filter))}`;
    expect(namesOf(rowsOf(await on.mirror('GET', `/email-lists/${list}/contacts?${query}`)))).toBe(
      'carl bob',
    );
    const csv = (await asked('contacts.csv', filter)).text.trimEnd().split('\n');
    expect(csv.map((line) => /\w+(?=@)/.exec(line)?.[0])).toEqual([undefined, 'carl', 'bob']);
    expect(namesOf(rowsOf(await asked('contacts', {})))).toBe(ANYBODY);
  });

  test('it stands alone, and is refused by member', async () => {
    for (const path of ['contacts', 'contacts.csv'])
      for (const [filter, more, fields] of [
        [{ status: 'active' }, '&q=a', ['filter']],
        [{}, '&tags_any=a', ['filter']],
        [{}, '&custom.plan=pro', ['filter']],
        [{}, `&segment=${list}`, ['filter']],
        ['{', '', ['filter']],
        ['""', '', ['filter']],
        ['[]', '', ['filter']],
        [{ status: 'gone', tags_nome: ['a'] }, '', ['filter.status', 'filter.tags_nome']],
        [{ none: [{}] }, '', ['filter.none.0']],
        [
          { any: [{ domains: ['@x'] }, { received: list }] },
          '',
          ['filter.any.0.domains.0', 'filter.any.1.received'],
        ],
        [{ q: 'x'.repeat(9_000) }, '', ['filter']],
      ] as const) {
        const { status, body } = await asked(path, filter, more);
        expect([path, filter, status, Object.keys((body.errors ?? {}) as object).sort()]).toEqual([
          path,
          filter,
          422,
          [...fields],
        ]);
      }
  });
});

describe('what is no filter', () => {
  const errorsOf = (body: Record<string, unknown>) => Object.keys((body.errors ?? {}) as object).sort();

  test('is refused with everything that is wrong, in a query and in a body', async () => {
    const query =
      'status=gone&tags_any=&tags_all=a,,b&joined_after=x&clicked_within_days=0&tags_nome=a&custom=x&page=0';
    const refused = await on.call('GET', `/email-lists/${list}/contacts?${query}`);
    expect([refused.status, refused.headers.get('warning')]).toEqual([422, null]);
    expect(errorsOf(refused.body)).toEqual(
      [
        'clicked_within_days',
        'custom',
        'joined_after',
        'page',
        'status',
        'tags_all.1',
        'tags_any.0',
        'tags_nome',
      ].sort(),
    );
    const filter = {
      ...{ status: 'gone', tags_any: [], tags_none: 'a', custom: { plan: { a: 1 } }, joined_before: 5 },
      ...{ clicked_within_days: '3', tag_any: ['secret'], ['x'.repeat(200)]: 1 },
    };
    const body = { filter, add: ['x'], remove: [''] };
    const tagging = await on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, body);
    expect(tagging.status).toBe(422);
    expect(errorsOf(tagging.body)).toEqual(
      [
        ...['filter.clicked_within_days', 'filter.custom', 'filter.joined_before', 'filter.status'],
        ...['filter.tag_any', 'filter.tags_any', 'filter.tags_none', `filter.${'x'.repeat(64)}`, 'remove.0'],
      ].sort(),
    );
    expect(tagging.text).not.toContain('secret');
    expect(tagging.body.errors).toMatchObject({
      'filter.tag_any': [
        'is unknown here: there are status, tag, q, tags_any, tags_all, tags_none, custom, joined_after, joined_before, ' +
          'clicked_within_days, not_clicked_within_days, not_mailed_within_days, domains, event, no_event, received, clicked, ' +
          'not_clicked, sequence, any, none',
      ],
    });
  });

  test('the shell says the same', async () => {
    const listed = (filter: string) =>
      run(on.app.data_dir, 'contact', 'list', '--list', list, '--status', 'active', '--filter', filter);
    const some = await listed('tags_any=b,c&custom.plan=pro');
    expect([some.exit, some.stdout.includes('carl@'), some.stdout.includes('bob@')]).toEqual([
      0,
      true,
      false,
    ]);
    const refused = await listed('tags_nay=b&joined_after=x');
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('tags_nay is unknown here')]);
    expect(refused.stderr).toContain('joined_after must be an ISO 8601 date-time');
  });
});

test('tagging and enrolling go by a filter', async () => {
  const filter = { tags_any: ['a', 'b'], custom: { plan: 'pro' } };
  const tagging = await on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, { filter, add: ['pros'] });
  expect(dataOf(tagging)).toEqual({ changed: 2 });
  expect(namesOf(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?tag=pros`)))).toBe('carl anna');
  await on.template('welcome');
  const step = { key: 'one', template: 'welcome', delay_hours: 24, is_final: true };
  const sequence = await on.active(list, [step], { max_recipients: 2, enroll_tags: ['pros'] });
  const enroll = (body: object) => on.call('POST', `/email-sequences/${sequence}/enroll`, body);
  expect((await enroll({ filter, all: true })).status).toBe(422);
  expect((await enroll({ filter: { tags: ['a'] } })).status).toBe(422);
  // Three would be too many, and nobody is enrolled.
  expect((await enroll({ filter: { tags_any: ['a', 'b'] } })).status).toBe(422);
  const done = await on.mirror('POST', `/email-sequences/${sequence}/enroll`, { filter });
  expect(dataOf(done)).toEqual({ enrolled: 2, already: 0, refused_suppressed: 0, refused_status: 0 });
  const [entry] = rowsOf(await on.mirror('GET', '/audit?event=sequence.enrolled'));
  expect(entry?.metadata).toEqual({ name: 'Welcome', whom: { filter: ['tags_any', 'custom'] } });
  const shell = await run(on.app.data_dir, 'sequence', 'enroll', sequence, '--filter', 'tags_all=c');
  expect(shell.stdout).toContain('0 enrolled, 0 were before, 1 are suppressed');
});

describe('a long list', () => {
  const COUNT = 10_150;
  let long: string;
  beforeAll(async () => {
    long = await on.list();
    const custom = `json_object('half', i % 2, 'plan', iif(i = 3, 'rare', 'usual'))`;
    await addContacts(on, long, { name: 'n', count: COUNT, custom });
  });
  const page = (query: string) => on.call('GET', `/email-lists/${long}/contacts?per_page=50&${query}`);
  const numbers = (rows: Record<string, unknown>[]) =>
    rows.map(({ email }) => Number(/\d+/.exec(String(email))));
  const down = (from: number, count = 50) => Array.from({ length: count }, (_, at) => from - at);

  test('is counted to the end without a filter, and every page of it is there', async () => {
    const last = await page('page=203');
    expect(last.body.meta).toMatchObject({ total: COUNT, last_page: 203, has_more: false });
    expect(numbers(rowsOf(last))).toEqual(down(49));
    expect(numbers(rowsOf(await page('page=100')))).toEqual(down(COUNT - 1 - 99 * 50));
    expect((await page('page=204')).body).toMatchObject({ data: [], meta: { total: COUNT, prev_page: 203 } });
    expect((await page(`page=${Number.MAX_SAFE_INTEGER}&q=n`)).body.meta).toMatchObject({
      total: COUNT,
      from: null,
    });
  });

  test('with a filter it is counted up to 10,000, says so, and pages go on behind that', async () => {
    for (const query of ['q=n', 'custom.plan=usual', 'tags_none=x', 'q=n&status=active']) {
      const first = await page(query);
      expect(first.body.meta).toMatchObject({
        total: 10_000,
        last_page: 200,
        total_capped: true,
        has_more: true,
      });
      expect(first.body.message).toContain('items 1 to 50 of 10000 or more');
      expect(numbers(rowsOf(first))).toEqual(down(COUNT - 1));
    }
    const behind = await page('q=n&page=201');
    expect(numbers(rowsOf(behind))).toEqual(down(COUNT - 1 - 10_000));
    expect(behind.body.meta).toMatchObject({ total: 10_100, next_page: 202, total_capped: true });
    const last = await page('q=n&page=203');
    expect(last.body.meta).toMatchObject({ total: COUNT, has_more: false, next_page: null });
    expect(last.body.meta).not.toHaveProperty('total_capped');
    expect(numbers(rowsOf(last))).toEqual(down(49));
  });

  test('the few that fit among the many are found, and counted to the last', async () => {
    expect((await page('custom.half=1')).body.meta).toMatchObject({ total: COUNT / 2, last_page: 102 });
    const rare = await page('custom.plan=rare');
    expect([numbers(rowsOf(rare)), rare.body.meta]).toMatchObject([[3], { total: 1 }]);
    expect((await page('q=n1&custom.half=0')).body.meta).toMatchObject({ total: 630 });
    const { contacts, lists } = on.app.services;
    expect(await contacts.count(lists.requireAny(long).id, { q: 'n' }, 0)).toBe(COUNT);
    const shell = await run(
      on.app.data_dir,
      'contact',
      'list',
      '--list',
      long,
      '--search',
      'n',
      '--limit',
      '1',
    );
    expect(shell.stdout).toContain('1 to 1 of 10000 or more. Next: --page 2.');
  });
});
