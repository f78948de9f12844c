/** What filters ask of what people did and got, `any` and `none`, and what they may name. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from '../broadcasts/setup.ts';

const DAY_MS = 86_400_000;
const EVERYBODY = 'dora carl bob anna';

let on: BroadcastApp;
let list: string;
/** To anna and bob; bob clicked. To all but dora, four days later. By a test key. A draft. */
let first: string;
let second: string;
let test_one: string;
let draft: string;
/** Anna is in it; bob was, and it is over for him. */
let sequence: string;
let elsewhere: { list: string; broadcast: string; sequence: string };

const namesOf = (rows: Record<string, unknown>[]) =>
  rows.map(({ email }) => String(email).split('@')[0]).join(' ');
const idOf = (name: string) => {
  const { contacts, lists } = on.app.services;
  return contacts.findByAddress(lists.requireAny(list).id, name)?.id ?? 0;
};
/** Whom a broadcast with this filter would reach, by `check`; and whom bulk-tag changes. */
async function chosen(filter: Record<string, unknown>): Promise<string> {
  const add = [crypto.randomUUID()];
  const tagged = dataOf(await on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, { filter, add }));
  const found = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?tag=${add[0]}`));
  expect(tagged.changed).toBe(found.length);
  const { contacts, lists } = on.app.services;
  const { id } = lists.requireAny(list);
  expect(await contacts.count(id, filter, on.app.clock.now())).toBe(found.length);
  return namesOf(found);
}
const refusedIn = async (filter: Record<string, unknown>) => {
  const answer = await on.call('POST', '/email-broadcasts', { name: 'No', list, template: 'news', filter });
  return [
    answer.status,
    Object.keys((answer.body.errors ?? {}) as object)
      .sort()
      .join(' '),
  ];
};

beforeAll(async () => {
  on = await startBroadcastApp();
  list = await on.list();
  for (const [name, tags] of [
    ['anna@example.com', ['a']],
    ['bob@Example.COM', ['a', 'b']],
    ['carl@mail.example.com', ['b']],
    ['dora@bücher.example', ['c']],
  ] as const)
    await on.contact(list, name, { tags });
  first = await on.broadcast(list, { filter: { tags_any: ['a'] } });
  await on.send(first);
  const { broadcast_life, contacts, database } = on.app.services;
  const turn = (await on.turns(first)).get('bob@example.com');
  const clicking = { kind: 'clicked', is_test: false, at: on.app.clock.now() } as const;
  await database.write((tx) => {
    const reading = { ...clicking, contact_id: idOf('bob@example.com'), email_id: String(turn?.email_id) };
    broadcast_life.onReading(tx, reading as Parameters<typeof broadcast_life.onReading>[1]);
    contacts.onReading(tx, reading);
  });
  on.app.clock.advance(4 * DAY_MS);
  second = await on.broadcast(list, { filter: { tags_none: ['c'] } });
  await on.send(second);
  draft = await on.broadcast(list);
  test_one = await on.broadcast(list);
  await database.write((tx) =>
    tx.$client.query('UPDATE broadcasts SET is_test = 1 WHERE public_id = ?').run(test_one),
  );
  const steps = [
    { key: 'one', track: 'main', position: 1, template: 'news', delay_hours: 1_000, is_final: true },
  ];
  sequence = await on.active(list, steps);
  for (const name of ['anna@example.com', 'bob@example.com'])
    await on.enroll(sequence, { contact_ids: [contacts.findById(idOf(name))?.public_id] });
  await database.write((tx) =>
    tx.$client
      .query("UPDATE enrollments SET state = 'completed', next_at = NULL WHERE contact_id = ?")
      .run(idOf('bob@example.com')),
  );
  for (const [name, event, days] of [
    ['anna@example.com', 'bought', 0],
    ['carl@mail.example.com', 'bought', 30],
    ['carl@mail.example.com', 'looked', 1],
  ] as const) {
    const occurred_at = new Date(on.app.clock.now() - days * DAY_MS).toISOString();
    await on.call('POST', '/email-contacts/events', { email: name, list, event, occurred_at });
  }
  const other = await on.list();
  elsewhere = { list: other, broadcast: await on.broadcast(other), sequence: await on.draft(other, steps) };
});

describe('each member', () => {
  test.each<[string, () => Record<string, unknown>, string]>([
    ['domains', () => ({ domains: ['EXAMPLE.com'] }), 'bob anna'],
    ['domains, in Unicode', () => ({ domains: ['bücher.example', 'mail.example.com'] }), 'dora carl'],
    ['event', () => ({ event: { name: 'bought' } }), 'carl anna'],
    ['event of late', () => ({ event: { name: 'bought', within_days: 29 } }), 'anna'],
    ['no event', () => ({ no_event: { name: 'bought' } }), 'dora bob'],
    ['no event of late', () => ({ no_event: { name: 'bought', within_days: 29 } }), 'dora carl bob'],
    ['received', () => ({ received: first }), 'bob anna'],
    ['received, in lower case', () => ({ received: second.toLowerCase() }), 'carl bob anna'],
    ['received a draft', () => ({ received: draft }), ''],
    ['clicked', () => ({ clicked: first }), 'bob'],
    ['not clicked', () => ({ not_clicked: first }), 'anna'],
    ['not clicked of one that all got', () => ({ not_clicked: second }), 'carl bob anna'],
    ['not clicked within days', () => ({ not_clicked_within_days: 5 }), 'dora carl anna'],
    ['not clicked within fewer days', () => ({ not_clicked_within_days: 3 }), EVERYBODY],
    ['not mailed within days', () => ({ not_mailed_within_days: 1 }), 'dora'],
    ['sequence', () => ({ sequence }), 'anna'],
    ['any', () => ({ any: [{ clicked: first }, { domains: ['bücher.example'] }] }), 'dora bob'],
    ['any beside others', () => ({ tags_any: ['a'], any: [{ q: 'anna' }, { q: 'dora' }] }), 'anna'],
    ['none', () => ({ none: [{ received: first }, { q: 'carl' }] }), 'dora'],
    ['none of who clicked', () => ({ none: [{ clicked_within_days: 5 }] }), 'dora carl anna'],
    ['none of a name', () => ({ none: [{ q: 'ann', tags_any: ['a'] }] }), 'dora carl bob'],
    ['a part of two', () => ({ none: [{ received: second, tags_any: ['b'] }] }), 'dora anna'],
  ])('%s', async (_, filter, names) => {
    expect(await chosen(filter())).toBe(names);
  });

  test('in a URL and in the shell, where any and none come as JSON', async () => {
    const found = async (query: string) =>
      namesOf(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?${query}`)));
    expect(await found('event.name=bought&event.within_days=29')).toBe('anna');
    expect(await found(`received=${first}&domains=example.com,mail.example.com`)).toBe('bob anna');
    const refused = await on.call('GET', `/email-lists/${list}/contacts?any=x&sequence=${draft}`);
    expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([422, ['any']]);
    const unknown = await on.call('GET', `/email-lists/${list}/contacts.csv?sequence=${draft}`);
    expect([unknown.status, Object.keys(unknown.body.errors as object)]).toEqual([422, ['sequence']]);
  });

  test('mail that failed or was a test is none; what waits is one, on whatever list of the project', async () => {
    const log = (set: string) =>
      on.app.services.database.write((tx) =>
        tx.$client.query(`UPDATE emails SET ${set} WHERE to_email = 'carl@mail.example.com'`).run(),
      );
    const others = () => chosen({ not_mailed_within_days: 1 });
    for (const set of [
      "status = 'failed'",
      "status = 'sent', is_test = 1",
      "is_test = 0, source = 'confirmation'",
    ]) {
      await log(set);
      expect(await others()).toBe('dora carl');
    }
    await log("source = 'sequence', status = 'queued'");
    expect(await others()).toBe('dora');
    on.app.clock.advance(DAY_MS + 1);
    expect(await others()).toBe(EVERYBODY);
  });
});

describe('what is no filter', () => {
  test('is refused by field, in parts too', async () => {
    expect(await refusedIn({ opened: first })).toEqual([422, 'filter.opened']);
    expect(await refusedIn({ any: [{ q: 'a' }], none: [] })).toEqual([422, 'filter.any filter.none']);
    expect(await refusedIn({ none: [{ any: [{ q: 'a' }, { q: 'b' }] }, {}] })).toEqual([
      422,
      'filter.none.0.any filter.none.1',
    ]);
    expect(await refusedIn({ domains: ['a@example.com'], event: { name: '', day: 1 } })).toEqual([
      422,
      'filter.event.day filter.event.name',
    ]);
    expect(await refusedIn({ not_mailed_within_days: 366 })).toEqual([422, 'filter.not_mailed_within_days']);
    expect(await refusedIn({ domains: ['example.com', '*.com'] })).toEqual([422, 'filter.domains.1']);
    expect(
      await refusedIn({ no_event: { name: 'Ordered' }, any: [{ q: 'a' }, { event: { name: 'a b' } }] }),
    ).toEqual([422, 'filter.any.1.event.name filter.no_event.name']);
  });

  test('ids of another list, of what is none, and of a test', async () => {
    const ids = { received: elsewhere.broadcast, clicked: sequence, not_clicked: test_one };
    expect(await refusedIn({ ...ids, none: [{ sequence: elsewhere.sequence }] })).toEqual([
      422,
      'filter.clicked filter.none.0.sequence filter.not_clicked filter.received',
    ]);
    const tagging = await on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, {
      filter: ids,
      add: ['x'],
    });
    expect(tagging.status).toBe(422);
    const enrolling = await on.call('POST', `/email-sequences/${sequence}/enroll`, { filter: ids });
    expect([enrolling.status, Object.keys(enrolling.body.errors as object)[0]]).toEqual([
      422,
      'filter.received',
    ]);
  });

  test('a broadcast may not go to another list with what its filter names', async () => {
    const id = await on.broadcast(list, { filter: { received: first } });
    const moved = await on.call('PATCH', `/email-broadcasts/${id}`, { list: elsewhere.list });
    expect([moved.status, Object.keys(moved.body.errors as object)]).toEqual([422, ['filter.received']]);
    dataOf(await on.call('PATCH', `/email-broadcasts/${id}`, { list: elsewhere.list, filter: null }));
  });
});

describe('what is gone', () => {
  const codesOf = async (id: string) =>
    (dataOf(await on.call('GET', `/email-broadcasts/${id}/check`)).problems as { code: string }[]).map(
      ({ code }) => code,
    );

  test('chooses nobody, by none either, and is a problem', async () => {
    const gone = await on.broadcast(list);
    const id = await on.broadcast(list, { filter: { none: [{ received: gone }] } });
    expect(await codesOf(id)).toEqual([]);
    dataOf(await on.call('DELETE', `/email-broadcasts/${gone}`));
    expect(await codesOf(id)).toEqual(['filter_gone', 'nobody']);
    const { contacts, lists } = on.app.services;
    const of = { filter: { none: [{ received: gone }] }, now_ms: 0 };
    expect(contacts.matching(lists.requireAny(list).id, of, [idOf('anna@example.com')]).size).toBe(0);
    expect((await on.post(id, 'send')).status).toBe(422);
    dataOf(await on.call('PATCH', `/email-broadcasts/${id}`, { name: 'Another name' }));
  });

  test('pauses what is being sent', async () => {
    const gone = await on.broadcast(list);
    const id = await on.broadcast(list, { filter: { none: [{ received: gone }] } });
    dataOf(await on.post(id, 'send'), 202);
    dataOf(await on.call('DELETE', `/email-broadcasts/${gone}`));
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'paused', pause_reason: 'not_ready' });
    await on.post(id, 'resume');
    expect(await on.show(id)).toMatchObject({ status: 'paused', stats: { sent: 0, to_come: 4 } });
  });
});
