/** What want of consent does to numbers, filters and the conditions of sequences. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Reading } from '../../../src/marketing/mails/service.ts';
import { type BroadcastApp, dataOf, rowsOf, startBroadcastApp } from '../broadcasts/setup.ts';

let on: BroadcastApp;

beforeAll(async () => {
  on = await startBroadcastApp();
  await on.setTemplate('news', { body_html: '<a href="https://shop.example.com/">x</a>' });
});

const names = (rows: Record<string, unknown>[]) =>
  rows.map(({ email }) => String(email).split('@')[0]).sort();
const rowOf = (list: string, email: string) => {
  const { contacts, lists } = on.app.services;
  const row = contacts.findByAddress(lists.requireAny(list).id, email);
  if (!row) throw new Error(email);
  return row;
};
const say = async (list: string, email: string, tracking: string | null) =>
  dataOf(await on.call('PATCH', `/email-contacts/${rowOf(list, email).public_id}`, { tracking }));
/** A person clicks in a mail. */
async function click(email_id: string, contact_id: number): Promise<void> {
  const { broadcast_life, sequence_life, contacts, database } = on.app.services;
  const reading: Reading = { kind: 'clicked', email_id, contact_id, is_test: false, at: on.app.clock.now() };
  await database.write((tx) => {
    broadcast_life.onReading(tx, reading);
    sequence_life.onReading(tx, reading);
    contacts.onReading(tx, reading);
  });
}
const fitting = async (list: string, filter: Record<string, unknown>) => {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(filter)) query.set(name, String(value));
  return names(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?${query}`)));
};

test('mail that is not tracked counts as untracked within sent, and in no filter as not clicked', async () => {
  const list = await on.list();
  for (const name of ['click', 'tracked', 'refused', 'later'])
    await on.contact(list, `${name}@example.com`, name === 'refused' ? { tracking: 'refused' } : {});
  const broadcast = await on.broadcast(list);
  await on.send(broadcast);
  expect((await on.show(broadcast)).stats).toMatchObject({ sent: 4, untracked: 1, clicked: 0 });
  const turn = (await on.turns(broadcast)).get('click@example.com');
  await click(String(turn?.email_id), rowOf(list, 'click@example.com').id);
  expect(await fitting(list, { clicked: broadcast })).toEqual(['click']);
  expect(await fitting(list, { not_clicked: broadcast })).toEqual(['later', 'tracked']);
  expect(await fitting(list, { not_clicked_within_days: 5 })).toEqual(['later', 'tracked']);
  expect(await fitting(list, { received: broadcast })).toEqual(['click', 'later', 'refused', 'tracked']);
  // Who refuses later may have clicked since, and nobody knows; who allows later was not tracked then.
  await say(list, 'later@example.com', 'refused');
  await say(list, 'refused@example.com', 'allowed');
  expect(await fitting(list, { not_clicked: broadcast })).toEqual(['tracked']);
  expect(await fitting(list, { not_clicked_within_days: 5 })).toEqual(['refused', 'tracked']);
  dataOf(await on.call('PATCH', '/email-marketing/settings', { tracking: 'consented' }));
  expect(await fitting(list, { not_clicked: broadcast })).toEqual([]);
  expect(await fitting(list, { not_clicked_within_days: 5 })).toEqual(['refused']);
  dataOf(await on.call('PATCH', '/email-marketing/settings', { tracking: 'all' }));
  expect((await on.show(broadcast)).stats).toMatchObject({ sent: 4, untracked: 1, clicked: 1 });
});

test('a mail that waits when its reader refuses goes out untracked, and is counted so', async () => {
  const list = await on.list();
  await on.contact(list, 'waits@example.com');
  const { database } = on.app.services;
  dataOf(
    await on.call('PATCH', '/email-marketing/settings', {
      send_window_start: '00:00',
      send_window_end: '23:59',
    }),
  );
  const broadcast = await on.broadcast(list);
  dataOf(await on.post(broadcast, 'send'), 202);
  // Accepted, and held before a relay took it.
  await on.app.services.broadcast_engine.turn(
    ...([on.app.services.projects.require('shop'), jobOf(broadcast), new AbortController().signal] as const),
  );
  expect((await on.show(broadcast)).stats).toMatchObject({ waiting: 1 });
  await say(list, 'waits@example.com', 'refused');
  await on.pass();
  expect((await on.show(broadcast)).stats).toMatchObject({ sent: 1, untracked: 1, waiting: 0 });
  const [sent = {}] = database.read.$client
    .query<Record<string, unknown>, []>("SELECT id FROM emails WHERE to_email = 'waits@example.com'")
    .all();
  const { emails } = on.app.services;
  const content = await emails.readContent(
    { id: on.app.services.projects.require('shop').id },
    String(sent.id),
  );
  expect(content.body_html).toContain('<a href="https://shop.example.com/">x</a>');
  expect(content.body_html).not.toContain('/c/');
  dataOf(
    await on.call('PATCH', '/email-marketing/settings', { send_window_start: null, send_window_end: null }),
  );
});

function jobOf(broadcast: string): { id: number; job_id: string } {
  const [row] = on.app.services.database.read.$client
    .query<{ id: number; job_id: string }, [string]>('SELECT id, job_id FROM broadcasts WHERE public_id = ?')
    .all(broadcast);
  if (!row) throw new Error('no such broadcast');
  return row;
}

describe('in a sequence', () => {
  const branches = (condition: unknown) => [
    { key: 'first', template: 'news' },
    { key: 'second', template: 'news', delay_hours: 24, condition, is_final: true },
  ];
  const steps = async (sequence: string, email: string) =>
    on.app.services.database.read.$client
      .query<{ step: string }, [string, string]>(
        `SELECT step FROM sequence_mails JOIN emails ON emails.id = email_id JOIN sequences ON sequences.id = sequence_id
         WHERE sequences.public_id = ? AND to_email = ? ORDER BY email_id`,
      )
      .all(sequence, email)
      .map(({ step }) => step);

  test.each([
    ['not_clicked', { type: 'not_clicked' }],
    ['clicked', { type: 'clicked' }],
    ['no_event clicked', { type: 'no_event', event: 'clicked' }],
    ['all of not_clicked', { type: 'all', of: [{ type: 'not_clicked' }] }],
  ])('%s holds for nobody who was not tracked, or refused since', async (_name, condition) => {
    const list = await on.list();
    const is_not = JSON.stringify(condition).includes('no');
    await on.contact(list, 'counted@example.com');
    await on.contact(list, 'never@example.com', { tracking: 'refused' });
    await on.contact(list, 'late@example.com');
    const sequence = await on.active(list, branches(condition));
    await on.enroll(sequence);
    await on.pass();
    await say(list, 'late@example.com', 'refused');
    await on.pass(25);
    expect(await steps(sequence, 'counted@example.com')).toEqual(is_not ? ['first', 'second'] : ['first']);
    expect(await steps(sequence, 'never@example.com')).toEqual(['first']);
    expect(await steps(sequence, 'late@example.com')).toEqual(['first']);
    const { stats } = dataOf(await on.call('GET', `/email-sequences/${sequence}`));
    expect(stats).toMatchObject(is_not ? { sent: 4, untracked: 1 } : { sent: 3, untracked: 1 });
    for (const email of ['late@example.com', 'never@example.com']) await say(list, email, null);
  });

  test('who allows it after a mail that was not tracked has neither clicked in that nor not', async () => {
    const list = await on.list();
    await on.contact(list, 'changes@example.com', { tracking: 'refused' });
    const sequence = await on.active(list, branches({ type: 'not_clicked' }));
    await on.enroll(sequence);
    await on.pass();
    await say(list, 'changes@example.com', 'allowed');
    await on.pass(25);
    expect(await steps(sequence, 'changes@example.com')).toEqual(['first']);
  });

  test('who clicked before they refused has clicked', async () => {
    const list = await on.list();
    await on.contact(list, 'before@example.com');
    const sequence = await on.active(list, branches({ type: 'clicked' }));
    await on.enroll(sequence);
    await on.pass();
    const [mail] = on.app.services.database.read.$client
      .query<{ id: string }, []>("SELECT id FROM emails WHERE to_email = 'before@example.com'")
      .all();
    await click(mail?.id ?? '', rowOf(list, 'before@example.com').id);
    await say(list, 'before@example.com', 'refused');
    await on.pass(25);
    expect(await steps(sequence, 'before@example.com')).toEqual(['first', 'second']);
  });
});
