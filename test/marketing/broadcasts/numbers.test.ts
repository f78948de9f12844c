/** What becomes of a broadcast's mails: its numbers, links and timeline, who leaves, what makes it pause, and retries. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { REFUSALS_TO_PAUSE } from '../../../src/limits.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { toIso } from '../../../src/platform/host/clock.ts';
import { heldOf } from '../../support/addresses.ts';
import { run } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { BROWSER } from '../mails/setup.ts';
import { addContacts } from '../sequences/setup.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from './setup.ts';

let on: BroadcastApp;
let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
  on = await startBroadcastApp();
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
  await on.template('links', {
    body_html:
      '<a href="https://shop.example.com/a">A</a> <a href="https://shop.example.com/b?x={{first_name}}">B</a>',
    body_text: 'https://shop.example.com/a',
  });
});
afterAll(() => sink.stop());
beforeEach(() => {
  sink.behavior = {};
});

let n = 0;
const nameOf = (): string => `m${n++}-`;
const settle = async (): Promise<void> => {
  on.app.clock.advance(11_000);
  await on.app.services.clicks.settle();
};
/** Addresses below `/c/` or `/o/` in the mail that an address got last. */
function addressesIn(email: string, kind: 'c' | 'o'): string[] {
  const raw = sink.mails.findLast(({ envelope }) => envelope.to.includes(email))?.raw.toString() ?? '';
  const text = raw.replace(/=\r\n/g, '').replace(/=3D/g, '=');
  return [...new Set(text.match(new RegExp(`http://satchel\\.test/${kind}/[0-9a-z.-]+`, 'g')))];
}
const follow = (url: string, user_agent = BROWSER) =>
  on.app.call('GET', url.replace('http://satchel.test', ''), { headers: { 'User-Agent': user_agent } });

test('clicks and opens are counted by people, by link and by the hour', async () => {
  const name = nameOf();
  const list = await on.list();
  for (const who of ['a', 'b']) await on.contact(list, `${name}${who}@example.com`, { first_name: who });
  const id = await on.broadcast(list, { template: 'links', track_opens: true });
  await on.send(id);
  const [first = '', second = ''] = addressesIn(`${name}a@example.com`, 'c');
  const [other = ''] = addressesIn(`${name}b@example.com`, 'c');
  const answer = await follow(first);
  expect([answer.status, answer.headers.get('location')]).toEqual([302, 'https://shop.example.com/a']);
  await settle();
  for (const url of [first, other]) await follow(url);
  await settle();
  await follow(second);
  await settle();
  await follow(addressesIn(`${name}a@example.com`, 'o')[0] ?? '', 'Mozilla/5.0');
  await settle();
  on.app.clock.advance(50 * 3_600_000);
  await follow(addressesIn(`${name}b@example.com`, 'o')[0] ?? '');
  await settle();
  const record = await on.show(id);
  expect(record).toMatchObject({
    status: 'sent',
    stats: { sent: 2, clicked: 2, opened: 1, opened_by_machine: 1 },
  });
  expect(record.links).toEqual([
    { url: 'https://shop.example.com/a', people: 2, clicks: 3 },
    { url: 'https://shop.example.com/b?x={{first_name}}', people: 1, clicks: 1 },
  ]);
  expect((await on.turns(id)).get(`${name}a@example.com`)).toMatchObject({ clicked_at: expect.any(String) });
  const { timeline } = dataOf(await on.call('GET', `/email-broadcasts/${id}/timeline`));
  const points = timeline as { at: string; unit: string; sent: number; clicked: number; opened: number }[];
  expect(points[0]).toMatchObject({ unit: 'hour', sent: 2, clicked: 2, opened: 0, opened_by_machine: 1 });
  expect(points.slice(0, 48).every(({ unit }) => unit === 'hour')).toBe(true);
  expect(points.at(-1)).toMatchObject({ unit: 'day', sent: 0, opened: 1, opened_by_machine: 0 });
  expect(points.reduce((sum, { clicked }) => sum + clicked, 0)).toBe(2);
  // Whoever clicked is known to filters, those of broadcasts too.
  const again = await on.broadcast(list, { filter: { clicked_within_days: 30 } });
  expect(dataOf(await on.call('GET', `/email-broadcasts/${again}/check`))).toMatchObject({ recipients: 2 });
}, 30_000);

test('whoever leaves while a mail is with its relay counts for that one once it is sent, and for none before', async () => {
  const email = `${nameOf()}x@example.com`;
  const list = await on.list();
  const contact = await on.contact(list, email);
  const before = await on.active(list, [{ key: 'only', template: 'news', is_final: true }]);
  await on.enroll(before);
  await on.pass(1);
  const last = await on.broadcast(list);
  sink.behavior.hang = 'data';
  dataOf(await on.post(last, 'send'), 202);
  await sink.until(() => sink.unanswered.length === 1);
  dataOf(await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`));
  const statsOf = async (what: string, id: string) => dataOf(await on.call('GET', `/${what}/${id}`)).stats;
  const unsubscribed = async () => [
    await statsOf('email-sequences', before),
    await statsOf('email-broadcasts', last),
  ];
  expect(await unsubscribed()).toMatchObject([{ unsubscribed: 1 }, { sent: 0, unsubscribed: 0 }]);
  on.app.clock.advance(1_000);
  for (const answer of sink.unanswered.splice(0)) answer();
  await on.pass();
  expect(await unsubscribed()).toMatchObject([{ unsubscribed: 0 }, { sent: 1, unsubscribed: 1 }]);
});

test('whoever unsubscribes counts for the mail that they got last, and contact why tells it', async () => {
  const email = `${nameOf()}x@example.com`;
  const list = await on.list();
  const contact = await on.contact(list, email);
  const first = await on.broadcast(list, { name: 'First' });
  await on.send(first);
  const second = await on.broadcast(list, { name: 'Second' });
  await on.send(second);
  dataOf(await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`));
  expect(await on.show(first)).toMatchObject({ stats: { unsubscribed: 0 } });
  expect(await on.show(second)).toMatchObject({ stats: { unsubscribed: 1 } });
  const third = await on.broadcast(list, { name: 'Third' });
  expect(dataOf(await on.call('GET', `/email-broadcasts/${third}/check`))).toMatchObject({
    ...{ ready: false, left_out: { total: 1, by_reason: { unsubscribed: 1 } } },
  });
  const { stdout } = await run(on.app.data_dir, 'contact', 'why', email, '--project', 'shop');
  expect(stdout).toContain('The broadcast First: sent');
  expect(stdout).toMatch(/The broadcast Second: sent .*unsubscribed/);
  const exported = await heldOf(on.app.services, on.project, email);
  expect(exported.broadcasts).toHaveLength(2);
});

test('what a test key sends is captured, and counts nowhere', async () => {
  const list = await on.list();
  const email = `${nameOf()}t@example.com`;
  await on.contact(list, email);
  await on.call('PATCH', '/email-marketing/settings', { daily_cap: 1 });
  const key = await on.project.key({
    ...{ can_read: true, can_write: true, can_manage_email_marketing: true, is_test: true },
  });
  const id = await on.broadcast(list, { template: 'links' });
  const before = sink.mails.length;
  const used = () => on.count('SELECT coalesce(sum(n), 0) AS n FROM marketing_usage');
  const was_used = used();
  const post = (verb: string, body: unknown) =>
    on.app.call('POST', `/api/v1/email-broadcasts/${id}/${verb}`, { key, body });
  expect((await post('test', { to: 'me@example.com' })).status).toBe(202);
  expect(dataOf(await post('send', {}), 202)).toMatchObject({ is_test: true, recipients: 1 });
  await on.pass();
  const record = await on.show(id);
  expect(record).toMatchObject({ status: 'sent', is_test: true, stats: { sent: 0, waiting: 0 } });
  expect(record.links).toMatchObject([{ people: 0 }, { people: 0 }]);
  expect((await on.turns(id)).get(email)).toMatchObject({ status: 'sent' });
  expect([sink.mails.length, used()]).toEqual([before, was_used]);
  const captured = on.app.services.deliveries
    .listCaptured({ per_page: 2 })
    .data.map(({ subject, to }) => [subject, ...to]);
  expect(captured.toSorted()).toEqual([
    ['[Test] links for there', 'me@example.com'],
    ['links for there', email],
  ]);
  await on.call('PATCH', '/email-marketing/settings', { daily_cap: null });
});

/** Lets so many more mails go today; null: all. */
async function capAt(more: number | null): Promise<void> {
  const day = toIso(on.app.clock.now()).slice(0, 10);
  const used = on.count(`SELECT coalesce(sum(n), 0) AS n FROM marketing_usage WHERE day = '${day}'`);
  const daily_cap = more === null ? null : used + more;
  dataOf(await on.call('PATCH', '/email-marketing/settings', { daily_cap }));
}

test('refusals because of us pause it; a resume goes on, a retry changes its numbers', async () => {
  sink.behavior = {
    sender: { like: /./, at: 'rcpt', reply: { code: 550, message: 'JunkMail rejected - is in an RBL' } },
  };
  const list = await on.list();
  await addContacts(on, list, { name: nameOf(), count: 60 });
  const id = await on.broadcast(list);
  await capAt(30);
  await on.send(id);
  await capAt(null);
  await on.pass(1);
  const paused = await on.show(id);
  const pause_words = '550 JunkMail rejected - is in an RBL';
  expect(paused).toMatchObject({
    status: 'paused',
    pause_reason: 'relay_refuses',
    pause_words,
    recipients: 60,
  });
  expect((await run(on.app.data_dir, 'broadcast', 'show', id)).stdout).toContain(pause_words);
  // Those that were in the relay's hands when it paused.
  const { lost, waiting } = paused.stats as { lost: number; waiting: number };
  expect([lost >= REFUSALS_TO_PAUSE, lost + waiting]).toEqual([true, 30]);
  const { findings } = JSON.parse((await run(on.app.data_dir, 'doctor', '--json')).stdout);
  expect(findings).toContainEqual(
    expect.objectContaining({
      ...{
        check: 'broadcasts',
        status: 'warning',
        message: expect.stringContaining(`of its last ${lost} mails ${lost}`),
      },
    }),
  );
  sink.behavior = {};
  dataOf(await on.post(id, 'resume'));
  await on.pass();
  const sent = await on.show(id);
  expect(sent).toMatchObject({ status: 'sent', stats: { sent: 60 - lost, lost, waiting: 0 } });
  on.app.clock.advance(60_000);
  await on.app.services.deliveries.requeueFailed(actor, on.app.clock.now() - 2 * 3_600_000);
  expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { waiting: lost } });
  await on.pass();
  const { finished_at } = sent;
  expect(await on.show(id)).toMatchObject({ status: 'sent', finished_at, stats: { sent: 60, lost: 0 } });
}, 60_000);

test.each([
  ['bounced', 6, 'bounce_threshold'],
  ['refused', REFUSALS_TO_PAUSE, 'relay_refuses'],
] as const)(
  'reports that many were %s pause it',
  async (kind, how_many, pause_reason) => {
    const name = nameOf();
    const list = await on.list();
    await addContacts(on, list, { name, count: 130 });
    const id = await on.broadcast(list);
    await capAt(120);
    await on.send(id);
    const { database, deliveries } = on.app.services;
    const sent = database.read.$client
      .query<{ id: string }, []>(`SELECT id FROM emails WHERE to_email LIKE '${name}%' ORDER BY id DESC`)
      .all();
    const report = (from: number, to: number) =>
      database.write((tx) => {
        for (const one of sent.slice(from, to))
          deliveries.report(tx, one.id, kind, { words: '554 5.7.1 No' });
      });
    await report(0, how_many - 1);
    expect(await on.show(id)).toMatchObject({ status: 'sending', stats: { sent: 120 } });
    await report(how_many - 1, how_many);
    expect(await on.show(id)).toMatchObject({ status: 'paused', pause_reason });
    await capAt(null);
    dataOf(await on.post(id, 'resume'));
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { sent: 130 } });
  },
  60_000,
);

test('a cancel takes back what waits, and retry --failed leaves its mails out', async () => {
  sink.behavior = { data: { code: 451, message: '4.2.0 Try later' }, rcpt: {} };
  const name = nameOf();
  const list = await on.list();
  await addContacts(on, list, { name, count: 3 });
  Object.assign(sink.behavior.rcpt ?? {}, { [`${name}0@example.com`]: { code: 554, message: '5.7.1 No' } });
  const id = await on.broadcast(list);
  await on.send(id);
  expect(await on.show(id)).toMatchObject({ status: 'sending', stats: { waiting: 2, lost: 1 } });
  dataOf(await on.post(id, 'cancel'));
  expect(await on.show(id)).toMatchObject({ status: 'cancelled', stats: { waiting: 0, lost: 3 } });
  const turns = await on.turns(id);
  expect([...turns.values()].map(({ status }) => status).toSorted()).toEqual([
    'canceled',
    'canceled',
    'failed',
  ]);
  sink.behavior = {};
  const before = sink.mails.length;
  const { results, left_out } = await on.app.services.deliveries.requeueFailed(
    actor,
    on.app.clock.now() - 60_000,
  );
  expect([results, left_out]).toMatchObject([[], [{ reason: expect.stringContaining('cancelled') }]]);
  await on.pass(48);
  expect(sink.mails.length).toBe(before);
  expect((await on.call('DELETE', `/email-broadcasts/${id}`)).status).toBe(200);
  expect(
    on.count(
      'SELECT count(*) AS n FROM broadcast_recipients r LEFT JOIN broadcasts b ON b.id = r.broadcast_id WHERE b.id IS NULL',
    ),
  ).toBe(0);
});

test('a cancel that was cut off is completed, and nothing of it leaves before', async () => {
  sink.behavior = { data: { code: 451, message: '4.2.0 Try later' } };
  const list = await on.list();
  await addContacts(on, list, { name: nameOf(), count: 2 });
  const id = await on.broadcast(list);
  await on.send(id);
  // As its first transaction leaves it.
  await on.app.services.database.write((tx) => {
    tx.$client.run("UPDATE broadcasts SET status = 'cancelled' WHERE public_id = ?", [id]);
  });
  await on.app.services.broadcast_life.mend();
  expect(await on.show(id)).toMatchObject({ status: 'cancelled', stats: { waiting: 0, lost: 2 } });
  expect([...(await on.turns(id)).values()].map(({ status }) => status)).toEqual(['canceled', 'canceled']);
});

test('somebody who leaves while their mail waits does not get it, and it ends without them', async () => {
  sink.behavior = { data: { code: 451, message: '4.2.0 Try later' } };
  const name = nameOf();
  const list = await on.list();
  const left = await on.contact(list, `${name}left@example.com`);
  await on.contact(list, `${name}gone@example.com`);
  const id = await on.broadcast(list);
  await on.send(id);
  expect(await on.show(id)).toMatchObject({ status: 'sending', stats: { waiting: 2 } });
  dataOf(await on.call('POST', `/email-contacts/${left.id}/unsubscribe`));
  await on.app.services.privacy.forget(actor, on.project, `${name}gone@example.com`);
  await on.app.services.broadcast_life.mend();
  expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { waiting: 0, lost: 2 } });
  sink.behavior = {};
  const before = sink.mails.length;
  await on.pass(24);
  expect(sink.mails.length).toBe(before);
});
