/** Segments: a filter of a list under a name, and everywhere that one stands in place of a filter. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { toIso } from '../../../src/platform/host/clock.ts';
import { run, runRecord } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from '../broadcasts/setup.ts';

const GONE = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const VIP = { tags_any: ['vip'] };

let on: BroadcastApp;
let list: string;
let other_list: string;
/** Of `list`: ann and bob, of whom bob is suppressed, and cy who left. */
let vips: string;
let elsewhere: string;

const segment = async (fields: Record<string, unknown> = {}): Promise<string> =>
  String(
    dataOf(await on.call('POST', '/email-segments', { name: 'VIPs', list, filter: VIP, ...fields }), 201).id,
  );
const one = async (id: string) => dataOf(await on.call('GET', `/email-segments/${id}`));
const errorsOf = ({ status, body }: Awaited<ReturnType<BroadcastApp['call']>>) => [
  status,
  ...Object.keys((body.errors ?? {}) as object),
];
const inHours = (hours: number): string => toIso(on.app.clock.now() + hours * 3_600_000);

beforeAll(async () => {
  on = await startBroadcastApp();
  list = await on.list();
  other_list = await on.list({ name: 'Other' });
  for (const [name, tags] of [
    ['ann', ['vip']],
    ['bob', ['vip']],
    ['cy', ['vip']],
    ['dan', []],
  ] as const)
    await on.contact(list, `${name}@example.com`, { tags });
  await on.contact(other_list, 'eve@example.com', { tags: ['vip'] });
  await on.call('POST', '/email-suppressions', { email: 'bob@example.com' });
  const [cy] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=cy`));
  await on.app.services.database.write((tx) =>
    tx.$client.query("UPDATE contacts SET status = 'unsubscribed' WHERE public_id = ?").run(String(cy?.id)),
  );
  vips = await segment();
  elsewhere = await segment({ list: other_list, name: 'Elsewhere' });
});

describe('the record', () => {
  test('is made, read, changed and listed on both planes, and only one alone has a count', async () => {
    const id = await segment({ name: 'Quiet', filter: { not_clicked_within_days: 90 } });
    const fields = {
      ...{ id, list, name: 'Quiet', filter: { not_clicked_within_days: 90 } },
      filter_sentence: 'Those who clicked in no mail within 90 days.',
    };
    // Ann and Dan: Bob is suppressed, and Cy left.
    expect(await one(id)).toEqual({
      ...{ ...fields, contacts_count: 2 },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    });
    const mirrored = dataOf(await on.mirror('GET', `/email-segments/${id.toLowerCase()}`));
    expect(mirrored).toMatchObject({ id, contacts_count: 2 });
    on.app.clock.advance(1_000);
    const changed = dataOf(await on.mirror('PATCH', `/email-segments/${id}`, { filter: VIP }));
    expect(changed).toMatchObject({ name: 'Quiet', filter: VIP });
    expect(changed.updated_at).not.toBe(changed.created_at);
    expect(await one(id)).toMatchObject({ filter: VIP, contacts_count: 1 });
    const listed = rowsOf(await on.call('GET', '/email-segments'));
    expect(listed[0]).toEqual(changed);
    expect(listed.map(({ id: each }) => each)).toEqual([id, elsewhere, vips]);
    const of_list = await on.call('GET', `/email-segments?list=${other_list}`);
    expect(rowsOf(of_list).map(({ id: each }) => each)).toEqual([elsewhere]);
    expect(of_list.body.meta).toMatchObject({ total: 1 });
    dataOf(await on.call('DELETE', `/email-segments/${id}`));
    const after = await on.call('GET', '/email-segments');
    expect([(await on.call('GET', `/email-segments/${id}`)).status, after.body.meta]).toMatchObject([
      404,
      { total: 2 },
    ]);
  });

  test('is tried before it is kept: the number of a filter and the first who fit, of whatever member', async () => {
    const asked = (filter: unknown, of = list) => on.call('POST', `/email-lists/${of}/matching`, { filter });
    expect(dataOf(await asked({}))).toEqual({
      contacts_count: 2,
      sentence: 'Everybody on the list.',
      samples: ['ann@example.com', 'dan@example.com'],
    });
    expect(dataOf(await asked({ none: [VIP] }))).toEqual({
      ...{ contacts_count: 1, samples: ['dan@example.com'] },
      sentence: 'Everybody on the list, but not those who have the tag “vip”.',
    });
    expect(dataOf(await asked({ event: { name: 'ordered' } }))).toMatchObject({
      contacts_count: 0,
      samples: [],
    });
    expect(errorsOf(await asked({ received: GONE }))).toEqual([422, 'filter.received']);
    expect(errorsOf(await asked(undefined))).toEqual([422, 'filter']);
    expect((await asked({}, GONE)).status).toBe(404);
    const many = await on.list({ name: 'Many' });
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) await on.contact(many, `${name}@example.com`);
    const told = dataOf(await on.mirror('POST', `/email-lists/${many}/matching`, { filter: {} }));
    expect([told.contacts_count, (told.samples as string[]).join('').replaceAll('@example.com', '')]).toEqual(
      [7, 'abcde'],
    );
  });

  test('reads as one sentence, of whatever members, with the names of what it names', async () => {
    const tell = async (filter: object) =>
      dataOf(await on.call('POST', `/email-lists/${list}/matching`, { filter })).sentence;
    const broadcast = await on.broadcast(list, { name: 'May “news”' });
    const sequence = await on.draft(list, []);
    const ALL: [object, string][] = [
      [{ status: 'pending' }, 'Those who have not confirmed their sign-up.'],
      [{ q: 'an' }, 'Those who have an address or a name that begins with “an”.'],
      [{ tag: 'a', tags_all: ['a'] }, 'Those who have the tag “a”.'],
      [{ tag: 'c', tags_all: ['a', 'b'] }, 'Those who have the tags “a”, “b” and “c”.'],
      [{ tags_any: ['a', 'b'] }, 'Those who have the tags “a” or “b”.'],
      [{ tags_none: ['a'] }, 'Those who do not have the tag “a”.'],
      [{ custom: { plan: 'pro', seats: 5 } }, 'Those who have “pro” as plan and have “5” as seats.'],
      [{ domains: ['a.example', 'b.example'] }, 'Those who have an address at a.example or b.example.'],
      [{ joined_after: '2030-03-01T00:00:00Z' }, 'Those who came to the list on 1 March 2030 or later.'],
      [
        { joined_before: '2030-02-28T23:00:00Z' },
        'Those who came to the list before 28 February 2030, 23:00 UTC.',
      ],
      [{ clicked_within_days: 1 }, 'Those who clicked in a mail within 1 day.'],
      [{ not_clicked_within_days: 30 }, 'Those who clicked in no mail within 30 days.'],
      [{ not_mailed_within_days: 7 }, 'Those who got no mail of a broadcast or sequence within 7 days.'],
      [{ event: { name: 'ordered' } }, 'Those who had the event “ordered”.'],
      [
        { no_event: { name: 'ordered', within_days: 9 } },
        'Those who did not have the event “ordered” within 9 days.',
      ],
      [{ received: broadcast }, 'Those who received the broadcast “May “news””.'],
      [{ clicked: broadcast.toLowerCase() }, 'Those who clicked in the broadcast “May “news””.'],
      [{ not_clicked: broadcast }, 'Those who received the broadcast “May “news”” and did not click.'],
      [{ sequence }, 'Those who are active in the sequence “Welcome”.'],
      [{ any: [{ tag: 'a' }, { tag: 'b' }] }, 'Those who have the tag “a” or have the tag “b”.'],
      [
        {
          ...{ status: 'active', q: 'a', clicked_within_days: 3 },
          any: [{ tag: 'a' }, { tag: 'b', domains: ['x.example'] }, { tag: 'c' }],
          none: [{ status: 'bounced' }, { event: { name: 'left' }, tag: 'd' }],
        },
        'Those who are active, have an address or a name that begins with “a” and clicked in a mail within 3 days, ' +
          'and who have the tag “a”, (have the tag “b” and have an address at x.example) or have the tag “c”, ' +
          'but not those who have bounced or (have the tag “d” and had the event “left”).',
      ],
    ];
    for (const [filter, sentence] of ALL) expect(await tell(filter)).toBe(sentence);
    const id = await segment({ name: 'Readers', filter: { received: broadcast, sequence } });
    const { filter_sentence } = await one(id);
    expect(filter_sentence).toBe(
      'Those who received the broadcast “May “news”” and are active in the sequence “Welcome”.',
    );
    await on.call('DELETE', `/email-broadcasts/${broadcast}`);
    const [listed] = rowsOf(await on.call('GET', '/email-segments'));
    expect(listed?.filter_sentence).toBe(
      'Those who received a broadcast that is gone and are active in the sequence “Welcome”.',
    );
    await on.call('DELETE', `/email-segments/${id}`);
  });

  test('keeps its version where only its count changes', async () => {
    const path = `/api/public/v1/projects/shop/email-segments/${vips}`;
    const { token } = await on.app.services.tokens.create(actor, {
      ...{ name: 'etags', all_projects: true, projects: [], capabilities: [] },
    });
    const read = await on.app.call('GET', path, { token });
    const more = await on.contact(list, 'fay@example.com', { tags: ['vip'] });
    const again = await on.app.call('GET', path, { token });
    expect(dataOf(again).contacts_count).toBe(2);
    expect(again.headers.get('etag')).toBe(String(read.headers.get('etag')));
    await on.call('POST', `/email-contacts/${more.id}/unsubscribe`);
  });

  test('refuses by field what no filter of the list is, another list, and nothing given', async () => {
    const post = (fields: Record<string, unknown>) =>
      on.call('POST', '/email-segments', { name: 'No', list, filter: VIP, ...fields });
    const { list: _list, ...without } = { name: 'No', list, filter: VIP };
    expect(errorsOf(await on.call('POST', '/email-segments', without))).toEqual([422, 'list']);
    expect(errorsOf(await on.call('POST', '/email-segments', { name: 'No', list }))).toEqual([422, 'filter']);
    expect(errorsOf(await post({ name: '' }))).toEqual([422, 'name']);
    expect(errorsOf(await post({ name: 'a\nb' }))).toEqual([422, 'name']);
    expect(errorsOf(await post({ list: GONE }))).toEqual([422, 'list']);
    expect(errorsOf(await post({ filter: { tag_any: ['a'] } }))).toEqual([422, 'filter.tag_any']);
    expect(errorsOf(await post({ filter: { received: GONE } }))).toEqual([422, 'filter.received']);
    expect(errorsOf(await post({ filter: { none: [{ domains: ['a b'] }] } }))).toEqual([
      422,
      'filter.none.0.domains.0',
    ]);
    const patch = (body: unknown) => on.call('PATCH', `/email-segments/${vips}`, body);
    expect(errorsOf(await patch({ filter: null }))).toEqual([422, 'filter']);
    expect(errorsOf(await patch({ filter: { sequence: GONE } }))).toEqual([422, 'filter.sequence']);
    expect(errorsOf(await on.call('GET', `/email-segments?list=${GONE}`))).toEqual([422, 'list']);
    expect(await one(vips)).toMatchObject({ name: 'VIPs', filter: VIP });
  });

  test('draws a warning where it is the second of its name', async () => {
    const second = await on.call('POST', '/email-segments', { name: 'VIPs', list, filter: {} });
    expect([second.status, second.headers.get('warning')]).toEqual([
      201,
      '299 satchel "another active segment of this project has this name"',
    ]);
    const id = String(dataOf(second, 201).id);
    expect(await one(id)).toMatchObject({ filter: {}, contacts_count: 2 });
    dataOf(await on.call('DELETE', `/email-segments/${id}`));
  });

  test('leaves its story on the audit trail', async () => {
    const made = await on.mirror('POST', '/email-segments', { name: 'Told', list, filter: VIP });
    const { id } = dataOf(made, 201);
    dataOf(await on.mirror('PATCH', `/email-segments/${id}`, { filter: { q: 'ann' } }));
    dataOf(await on.mirror('DELETE', `/email-segments/${id}`));
    const rows = on.app.services.database.read.$client
      .query<{ event: string; changes: string }, [string]>(
        'SELECT event, changes FROM audit_events WHERE target = ? ORDER BY id',
      )
      .all(`segment:${id}`);
    expect(rows.map(({ event, changes }) => [event, JSON.parse(changes)])).toEqual([
      ['segment.created', {}],
      ['segment.changed', { filter: { from: expect.anything(), to: expect.anything() } }],
      ['segment.deleted', {}],
    ]);
  });
});

describe('in place of a filter', () => {
  const emailsOf = (rows: Record<string, unknown>[]) =>
    rows.map(({ email }) => String(email).split('@')[0]).join(' ');
  test('contacts of a list and their export', async () => {
    const contacts = `/email-lists/${list}/contacts`;
    expect(emailsOf(rowsOf(await on.call('GET', `${contacts}?segment=${vips}&per_page=2`)))).toMatch(
      /^\w+ \w+$/,
    );
    const all = emailsOf(rowsOf(await on.call('GET', `${contacts}?segment=${vips}`)));
    expect(all.split(' ')).toEqual(expect.arrayContaining(['cy', 'bob', 'ann']));
    expect(all).not.toContain('dan');
    const csv = (await on.call('GET', `${contacts}.csv?segment=${vips}`)).text;
    expect([csv.includes('ann@example.com'), csv.includes('dan@example.com')]).toEqual([true, false]);
    for (const path of [contacts, `${contacts}.csv`]) {
      expect(errorsOf(await on.call('GET', `${path}?segment=${vips}&q=a`))).toEqual([422, 'segment']);
      expect(errorsOf(await on.call('GET', `${path}?segment=${elsewhere}`))).toEqual([422, 'segment']);
      expect(errorsOf(await on.call('GET', `${path}?segment=${GONE}`))).toEqual([422, 'segment']);
    }
  });

  test('bulk-tag', async () => {
    const tag = (body: Record<string, unknown>) =>
      on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, { add: ['seen'], ...body });
    expect(errorsOf(await tag({ segment: vips, filter: {} }))).toEqual([422, 'segment']);
    expect(errorsOf(await tag({ segment: vips, contact_ids: [GONE] }))).toEqual([422, 'segment']);
    expect(errorsOf(await tag({ segment: elsewhere }))).toEqual([422, 'segment']);
    expect(errorsOf(await tag({}))).toEqual([422, 'contact_ids']);
    const { total } = (await on.call('GET', `/email-lists/${list}/contacts?tags_any=vip`)).body.meta as {
      total: number;
    };
    expect(dataOf(await tag({ segment: vips })).changed).toBe(total);
    expect(emailsOf(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?tag=seen`)))).not.toContain(
      'dan',
    );
  });

  test('enroll', async () => {
    const sequence = await on.active(list, [{ key: 'a', template: 'news', is_final: true }]);
    const enroll = (body: unknown) => on.call('POST', `/email-sequences/${sequence}/enroll`, body);
    expect(errorsOf(await enroll({ segment: vips, filter: {} }))).toEqual([422, 'segment']);
    expect(errorsOf(await enroll({ segment: vips, all: true }))).toEqual([422, '_']);
    expect(errorsOf(await enroll({ segment: elsewhere }))).toEqual([422, 'segment']);
    expect(dataOf(await enroll({ segment: vips }))).toMatchObject({ enrolled: 1, refused_status: 1 });
    expect(await on.enrollment(sequence, 'ann@example.com')).toBeDefined();
    expect(await on.enrollment(sequence, 'dan@example.com')).toBeUndefined();
  });

  test('one whose filter names what is gone is refused wherever somebody would be chosen, and counts nobody', async () => {
    const draft = await on.broadcast(list);
    const gone = await segment({ name: 'Gone', filter: { none: [{ received: draft }] } });
    dataOf(await on.call('DELETE', `/email-broadcasts/${draft}`));
    const answer = await on.call('GET', `/email-lists/${list}/contacts?segment=${gone}`);
    expect(errorsOf(answer)).toEqual([422, 'segment']);
    expect(answer.text).toContain('filter.none.0.received');
    expect((await one(gone)).contacts_count).toBe(0);
    const broadcast = await on.broadcast(list, { segment: gone });
    const check = dataOf(await on.call('GET', `/email-broadcasts/${broadcast}/check`));
    expect((check.problems as { code: string }[]).map(({ code }) => code)).toContain('filter_gone');
    // Its name may change all the same.
    expect(dataOf(await on.call('PATCH', `/email-segments/${gone}`, { name: 'Was' })).name).toBe('Was');
  });
});

describe('a broadcast', () => {
  const patch = (id: string, body: unknown) => on.call('PATCH', `/email-broadcasts/${id}`, body);

  test('takes a segment or a filter: in a change each takes the place of the other', async () => {
    const id = await on.broadcast(list, { segment: vips });
    expect(await on.show(id)).toMatchObject({ segment: vips, filter: null });
    expect(dataOf(await on.call('GET', `/email-broadcasts/${id}/check`))).toMatchObject({
      recipients: 1,
      left_out: { by_reason: { suppressed: 1, filter: 1 } },
    });
    const both = { name: 'No', list, segment: vips, filter: VIP };
    expect(errorsOf(await on.call('POST', '/email-broadcasts', both))).toEqual([422, 'segment']);
    const wrong = { name: 'No', list, segment: elsewhere };
    expect(errorsOf(await on.call('POST', '/email-broadcasts', wrong))).toEqual([422, 'segment']);
    expect(errorsOf(await patch(id, { segment: vips, filter: VIP }))).toEqual([422, 'segment']);
    expect(errorsOf(await patch(id, { segment: elsewhere }))).toEqual([422, 'segment']);
    expect(errorsOf(await patch(id, { list: other_list }))).toEqual([422, 'segment']);
    expect(await on.show(id)).toMatchObject({ list, segment: vips });
    expect(dataOf(await patch(id, { filter: VIP }))).toMatchObject({ segment: null, filter: VIP });
    expect(dataOf(await patch(id, { segment: vips }))).toMatchObject({ segment: vips, filter: null });
    expect(dataOf(await patch(id, { name: 'Kept' }))).toMatchObject({ segment: vips, filter: null });
    expect(dataOf(await patch(id, { list: other_list, segment: elsewhere }))).toMatchObject({
      list: other_list,
      segment: elsewhere,
    });
    expect(dataOf(await patch(id, { segment: null }))).toMatchObject({ segment: null, filter: null });
  });

  test('begins with a copy of the filter as it then is; a copy of it asks the segment anew', async () => {
    const moving = await segment({ name: 'Moving', filter: { tags_any: ['nobody'] } });
    const id = await on.broadcast(list, { segment: moving });
    dataOf(await on.call('PATCH', `/email-segments/${moving}`, { filter: { q: 'ann' } }));
    await on.send(id);
    expect(await on.show(id)).toMatchObject({
      status: 'sent',
      segment: moving,
      filter: { q: 'ann' },
      recipients: 1,
    });
    expect((await on.turns(id)).get('dan@example.com')).toMatchObject({ reason: 'filter' });
    dataOf(await on.call('PATCH', `/email-segments/${moving}`, { filter: { q: 'dan' } }));
    expect(await on.show(id)).toMatchObject({ filter: { q: 'ann' } });
    const copy = dataOf(await on.post(id, 'copy'), 201);
    expect(copy).toMatchObject({ segment: moving, filter: null });
    dataOf(await on.call('DELETE', `/email-segments/${moving}`));
    expect(await on.show(id)).toMatchObject({ segment: null, filter: { q: 'ann' } });
  });

  test('that is sending goes on by its copy, whatever becomes of the segment', async () => {
    const moving = await segment({ name: 'Moving', filter: { tags_none: ['vip'] } });
    const day = toIso(on.app.clock.now()).slice(0, 10);
    const used = on.count(`SELECT coalesce(sum(n), 0) AS n FROM marketing_usage WHERE day = '${day}'`);
    await on.call('PATCH', '/email-marketing/settings', { daily_cap: Math.max(1, used) });
    const id = await on.broadcast(list, { segment: moving });
    await on.send(id);
    expect(await on.show(id)).toMatchObject({ status: 'sending', filter: { tags_none: ['vip'] } });
    dataOf(await on.call('PATCH', `/email-segments/${moving}`, { filter: {} }));
    dataOf(await on.call('DELETE', `/email-segments/${moving}`));
    await on.call('PATCH', '/email-marketing/settings', { daily_cap: null });
    await on.pass(1);
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 1 } });
    expect((await on.turns(id)).get('dan@example.com')).toMatchObject({ status: 'sent' });
  });

  test('a draft whose segment is deleted keeps its filter, and so does one that was cancelled before it began', async () => {
    const doomed = await segment({ name: 'Doomed', filter: { q: 'ann' } });
    const draft = await on.broadcast(list, { segment: doomed });
    const cancelled = await on.broadcast(list, { segment: doomed });
    const own = await on.broadcast(list, { filter: VIP });
    dataOf(await on.post(cancelled, 'send', { send_at: inHours(2) }), 202);
    dataOf(await on.post(cancelled, 'cancel'));
    dataOf(await on.call('DELETE', `/email-segments/${doomed}`));
    for (const id of [draft, cancelled])
      expect(await on.show(id)).toMatchObject({ segment: null, filter: { q: 'ann' } });
    expect(await on.show(own)).toMatchObject({ segment: null, filter: VIP });
    expect(dataOf(await on.post(cancelled, 'copy'), 201)).toMatchObject({ filter: { q: 'ann' } });
  });

  test('that is scheduled holds its segment: neither its filter nor it may go, its name may', async () => {
    const held = await segment({ name: 'Held' });
    const id = await on.broadcast(list, { segment: held });
    dataOf(await on.post(id, 'send', { send_at: inHours(2) }), 202);
    const refused = await on.call('DELETE', `/email-segments/${held}`);
    expect([refused.status, refused.body.code]).toEqual([409, 'segment_in_use']);
    expect(refused.text).toContain(id);
    const filter = { filter: { q: 'x' } };
    expect((await on.call('PATCH', `/email-segments/${held}`, filter)).status).toBe(409);
    expect(
      dataOf(await on.call('PATCH', `/email-segments/${held}`, { name: 'New', filter: VIP })),
    ).toMatchObject({
      name: 'New',
    });
    // It waits for somebody to resume it, and would begin then.
    on.app.clock.advance(30 * 3_600_000);
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'paused', pause_reason: 'late', filter: null });
    expect((await on.call('DELETE', `/email-segments/${held}`)).status).toBe(409);
    dataOf(await on.post(id, 'cancel'));
    dataOf(await on.call('DELETE', `/email-segments/${held}`));
  });
});

test('the shell makes, shows, changes and removes them, and takes them in place of a filter', async () => {
  const satchel = (...args: string[]) => run(on.app.data_dir, ...args);
  const of_shop = ['--project', 'shop'];
  const made = await satchel(
    'segment',
    'create',
    ...of_shop,
    '--name',
    'Shell',
    '--list',
    list,
    '--filter',
    'q=ann',
  );
  const id = made.stdout.split('\n')[0] ?? '';
  expect([made.exit, made.stderr, id]).toEqual([0, '', expect.stringMatching(/^[0-9A-Z]{26}$/)]);
  const shown = await satchel('segment', 'show', 'Shell', ...of_shop);
  expect(shown.stdout).toContain('A broadcast to it would reach 1 contact now.');
  expect(shown.stdout).toContain('{"q":"ann"}');
  expect((await satchel('segment', 'list', ...of_shop, '--list', list)).stdout).toContain('Shell');
  const wrong = await satchel('segment', 'change', id, '--filter', `received=${GONE}`);
  expect([wrong.exit, wrong.stderr]).toEqual([1, expect.stringContaining('--filter received')]);
  expect((await satchel('segment', 'change', id, '--filter', 'q=dan', '--name', 'Dan')).exit).toBe(0);
  expect(await one(id)).toMatchObject({ name: 'Dan', filter: { q: 'dan' } });
  const in_shop = [...of_shop, '--list', list];
  const listed = await satchel('contact', 'list', ...in_shop, '--segment', 'Dan');
  expect([listed.stdout.includes('dan@'), listed.stdout.includes('ann@')]).toEqual([true, false]);
  const csv = await satchel('contact', 'export', ...in_shop, '--segment', 'Dan');
  expect([csv.stdout.includes('dan@'), csv.stdout.includes('ann@')]).toEqual([true, false]);
  for (const more of [
    ['--filter', 'q=x'],
    ['--tag', 'vip'],
  ])
    expect((await satchel('contact', 'list', ...in_shop, '--segment', 'Dan', ...more)).exit).toBe(2);
  const sequence = await on.active(list, [{ key: 'a', template: 'news', is_final: true }]);
  const enrolled = await satchel('sequence', 'enroll', sequence, '--segment', id);
  expect(enrolled.stdout).toContain('1 enrolled');
  const broadcast = await runRecord(
    on.app.data_dir,
    ...['broadcast', 'create', ...of_shop, '--name', 'To Dan', '--list', list, '--segment', 'Dan'],
  );
  expect(broadcast).toMatchObject({ segment: id, filter: null });
  const changed = await runRecord(
    on.app.data_dir,
    'broadcast',
    'change',
    String(broadcast.id),
    '--filter',
    'q=ann',
  );
  expect(changed).toMatchObject({ segment: null, filter: { q: 'ann' } });
  dataOf(await on.call('PATCH', `/email-broadcasts/${broadcast.id}`, { segment: id }));
  const everybody = await runRecord(
    on.app.data_dir,
    'broadcast',
    'change',
    String(broadcast.id),
    '--everybody',
  );
  expect(everybody).toMatchObject({ segment: null, filter: null });
  expect((await satchel('segment', 'remove', id)).exit).toBe(1);
  expect((await satchel('segment', 'remove', id, '--yes')).exit).toBe(0);
  expect((await on.call('GET', `/email-segments/${id}`)).status).toBe(404);
});
