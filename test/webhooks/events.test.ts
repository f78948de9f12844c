/** What webhooks are told of: each type once, in the transaction of what it tells, and nothing where nobody listens. */
import { beforeAll, beforeEach, expect, test } from 'bun:test';
import { SCANNER_WINDOW_MS } from '../../src/limits.ts';
import { parseRelay } from '../../src/mail/mailboxes/relay.ts';
import { EVENT_TYPES } from '../../src/webhooks/schemas.ts';
import { type BroadcastApp, startBroadcastApp } from '../marketing/broadcasts/setup.ts';
import { addContacts } from '../marketing/sequences/setup.ts';
import { heldOf } from '../support/addresses.ts';
import { atEnd } from '../support/cleanup.ts';
import { actor, makeProject } from '../support/helpers.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import { dataOf, type Got, type Hook, startReceiver, type WebhookApp, webhookApp } from './setup.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x64) Firefox/140.0';
const UNKNOWN = { code: 550, message: '5.1.1 No such user' };

interface Told {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

let mail: BroadcastApp;
let on: WebhookApp;
let all: Hook;
const sink = await startSmtpSink({ rcpt: { 'gone@example.org': UNKNOWN } });
atEnd(() => sink.stop());
const seen = new Set<string>();

beforeAll(async () => {
  mail = await startBroadcastApp({ env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } });
  on = await webhookApp(mail.app, mail.project, startReceiver());
  await useRelay(`smtp://127.0.0.1:${sink.port}`);
  await on.app.services.mailboxes.add(actor, {
    ...{ address: 'capture@news.example.com', relay: null, daily_limit: null },
  });
  all = await on.hook('/all');
});
beforeEach(() => told());

const useRelay = (relay: string | null) =>
  on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: relay === null ? null : parseRelay(relay),
  });
const count = (table: string): number =>
  Number(
    on.app.services.database.read.$client.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()
      ?.n,
  );

/** What the webhook of all types was told since the last call, once that is all there is. */
async function told(): Promise<Told[]> {
  await on.settled(all, (deliveries) => deliveries.every(({ status }) => status !== 'waiting'));
  const got = on.receiver.got.splice(0).filter(({ path }) => path === '/all');
  const list = got.map(({ body }): Told => JSON.parse(body));
  for (const { type } of list) seen.add(type);
  return list.toSorted((a, b) => (a.type < b.type ? -1 : 1));
}

/** As `told`, once one of a type has come. */
async function toldOf(type: string): Promise<Told[]> {
  const isIt = ({ path, body }: Got) => path === '/all' && JSON.parse(body).type === type;
  await until(() => on.receiver.got.some(isIt));
  return told();
}

const get = async (path: string) => dataOf(await on.call('GET', path));
const send = async (to: string, more: Record<string, unknown> = {}): Promise<string> => {
  const body = { to, subject: 'Hi', body_text: 'Hi', from: 'hello@news.example.com', ...more };
  const answer = await on.call('POST', '/emails/send', body);
  if (answer.status > 202) throw new Error(answer.text);
  await on.app.app.engine.whenIdle();
  return String(dataOf(answer, answer.status).id);
};

test('of objects: created and deleted, by a request and by their expiry, with their record', async () => {
  const id = await on.upload('menu.txt');
  const record = await get(`/objects/${id}`);
  expect(await toldOf('object.created')).toEqual([
    { type: 'object.created', timestamp: expect.stringMatching(/Z$/), data: record },
  ]);
  await on.call('DELETE', `/objects/${id}`);
  expect(await toldOf('object.deleted')).toMatchObject([{ data: record }]);
  const expiring = await on.upload('old.txt');
  await on.call('PATCH', `/objects/${expiring}`, { expires_in_days: 1 });
  await toldOf('object.created');
  on.app.clock.advance(86_400_001);
  await on.app.services.objects.sweepExpired();
  expect(await toldOf('object.deleted')).toMatchObject([{ data: { public_id: expiring } }]);
});

test('of emails: sent, bounced, failed and complained, with their record; of captured mail nothing', async () => {
  const sent = await send('ann@example.org');
  expect(await toldOf('email.sent')).toMatchObject([
    { type: 'email.sent', data: await get(`/emails/${sent}`) },
  ]);
  const bounced = await send('gone@example.org', { cc: ['ann@example.org'] });
  const [event, ...others] = await toldOf('email.bounced');
  expect([event?.data, others]).toEqual([await get(`/emails/${bounced}`), []]);
  expect(event?.data).toMatchObject({ status: 'bounced', to: 'gone@example.org' });
  sink.behavior.mail = { code: 550, message: '5.7.1 Denied' };
  const failed = await send('ben@example.org');
  delete sink.behavior.mail;
  expect(await toldOf('email.failed')).toMatchObject([{ data: await get(`/emails/${failed}`) }]);
  const { deliveries } = on.app.services;
  await deliveries.reportByHand(actor, sent, { kind: 'complained' });
  expect(await toldOf('email.complained')).toMatchObject([{ data: { id: sent, status: 'complained' } }]);
  const before = count('webhook_events');
  const captured = await send('ann@example.org', { from: 'capture@news.example.com' });
  await send('bounced@simulator.test', { from: 'capture@news.example.com' });
  await deliveries.reportByHand(actor, captured, { kind: 'bounced' });
  const test_key = await on.project.key({ can_send_emails: true, can_read: true, is_test: true });
  await on.app.call('POST', '/api/v1/emails/send', {
    ...{ key: test_key, body: { to: 'ann@example.org', subject: 'Hi', body_text: 'Hi' } },
  });
  await on.app.app.engine.whenIdle();
  expect(count('webhook_events')).toBe(before);
});

test('of a reply: what a person wrote, and nothing of a machine', async () => {
  const sent = await send('ann@example.org');
  const { message_id } = await get(`/emails/${sent}`);
  const reply = { answers: [String(message_id)], from: 'ann@example.org', subject: 'Re: Hi', text: 'Thanks' };
  const domain = 'news.example.com';
  await on.app.services.database.write((tx) => {
    const { replies } = on.app.services;
    const by_machine = { ...reply, digest: 'b', message_id: null, is_automatic: true };
    replies.take(tx, by_machine, { domain, arrived_at: null });
    replies.take(
      tx,
      { ...reply, digest: 'a', message_id: null, is_automatic: false },
      { domain, arrived_at: null },
    );
  });
  const events = (await toldOf('email.replied')).filter(({ type }) => type === 'email.replied');
  expect(events).toMatchObject([
    { data: { email: sent, from: reply.from, subject: reply.subject, text: 'Thanks' } },
  ]);
});

test('a bounce of a copy is not told: the record does not tell it', async () => {
  await send('ann@example.org', { cc: ['gone@example.org'] });
  expect((await toldOf('email.sent')).map(({ type }) => type)).toEqual(['email.sent']);
});

test('of contacts: subscribed, confirmed and unsubscribed, without their token', async () => {
  const list = await mail.list();
  const { contact_token, ...record } = await mail.contact(list, 'kim@example.com', { tags: ['a'] });
  expect(await toldOf('contact.subscribed')).toMatchObject([{ data: record }]);
  await on.call('POST', `/email-contacts/${record.id}/unsubscribe`);
  const [left] = await toldOf('contact.unsubscribed');
  expect(left?.data).toMatchObject({ id: record.id, status: 'unsubscribed' });
  expect(JSON.stringify(left)).not.toContain(String(contact_token));

  const { subscriptions, contacts, lists } = on.app.services;
  await mail.template('confirm', {
    category: 'opt_in',
    is_marketing: false,
    layout: null,
    body_html: null,
    body_text: '{{confirm_url}}',
  });
  const asked = await mail.list({ double_opt_in: true, confirmation_template: 'confirm' });
  const sign_up = {
    ...{ list_id: lists.requireAny(asked).id, email: 'lee@example.com', first_name: null, last_name: null },
    ...{ ip: null, origin: null, is_test: false, tracking: false, is_of_mail: false, at: on.app.clock.now() },
  };
  // Whoever signs up twice is told of once.
  for (let n = 0; n < 2; n += 1)
    expect(await subscriptions.carryOut(on.project.id, sign_up)).toBe('confirmation_sent');
  await on.app.app.engine.whenIdle();
  const signed_up = (await toldOf('contact.subscribed')).filter(({ type }) => type.startsWith('contact'));
  expect(signed_up).toMatchObject([{ data: { email: 'lee@example.com', status: 'pending' } }]);
  const contact = contacts.findByAddress(sign_up.list_id, 'lee@example.com');
  if (!contact) throw new Error('nobody signed up');
  on.app.clock.advance(1_000);
  await on.app.services.database.write(
    (tx) => void contacts.confirm(tx, contact, { by: 'click', is_test: false }),
  );
  expect(await toldOf('contact.confirmed')).toMatchObject([
    { type: 'contact.confirmed', data: { email: 'lee@example.com', status: 'active' } },
  ]);
  await mail.call('PATCH', `/email-contacts/${contact.public_id}`, { first_name: 'Lee' });
  expect(await toldOf('contact.changed')).toMatchObject([
    { data: { contact: { email: 'lee@example.com' }, changes: { first_name: { from: null, to: 'Lee' } } } },
  ]);
});

test('of an import that is completed, and of each contact that came by it', async () => {
  const list = await mail.list();
  const started = dataOf(
    await mail.call('POST', `/email-lists/${list}/imports`, {
      ...{ method: 'paste', text: 'one@example.com\ntwo@example.com' },
    }),
    201,
  );
  const events = await toldOf('import.completed');
  expect(events.map(({ type }) => type)).toEqual([
    'contact.subscribed',
    'contact.subscribed',
    'import.completed',
  ]);
  const { job_id, ...record } = await get(`/email-imports/${started.id}`);
  expect(events[2]?.data).toMatchObject(record);
});

test('of a broadcast that is sent, of each of its mails, and of the first click in one', async () => {
  const list = await mail.list();
  await mail.setTemplate('news', {
    body_html: '<p><a href="https://shop.example.com/a">a</a> <a href="https://shop.example.com/b">b</a></p>',
  });
  await mail.contact(list, 'ann@example.com');
  await mail.contact(list, 'ben@example.com');
  const id = await mail.broadcast(list);
  await mail.send(id);
  const events = await toldOf('broadcast.sent');
  expect(events.map(({ type }) => type).filter((type) => !type.startsWith('contact'))).toEqual([
    ...['broadcast.sent', 'email.sent', 'email.sent'],
  ]);
  expect(events.find(({ type }) => type === 'broadcast.sent')?.data).toEqual(await mail.show(id));
  const { clicks } = on.app.services;
  const email = events.find(({ type, data }) => type === 'email.sent' && data.to === 'ann@example.com');
  for (const position of [1, 2]) {
    const visit = { method: 'GET', headers: new Headers({ 'user-agent': BROWSER }) };
    clicks.click({ email_id: String(email?.data.id), position }, visit);
    await clicks.settle();
    on.app.clock.advance(SCANNER_WINDOW_MS + 2);
    await clicks.settle();
  }
  const clicked = await toldOf('contact.clicked');
  expect(clicked).toMatchObject([{ type: 'contact.clicked', data: { email: 'ann@example.com' } }]);
});

test('of a contact that comes to the end of a sequence; of a test nothing', async () => {
  const list = await mail.list();
  const contact = await mail.contact(list, 'sam@example.com');
  const id = await mail.active(list, [{ key: 'a', template: 'news', delay_hours: 0, is_final: true }]);
  await mail.enroll(id);
  await mail.pass();
  const events = await toldOf('sequence.completed');
  const [completed] = events.filter(({ type }) => type === 'sequence.completed');
  expect(completed?.data).toEqual((await mail.enrollment(id, 'sam@example.com')) ?? {});
  expect(completed?.data).toMatchObject({ sequence_id: id, contact_id: contact.id, state: 'completed' });
});

test('every type was told above', () => {
  expect([...seen].toSorted()).toEqual([...EVENT_TYPES].toSorted());
});

test('where no webhook of the project listens to a type nothing is kept, and a later one is not told of it', async () => {
  const other = await makeProject(on.app, 'other');
  const its = await webhookApp(on.app, other, on.receiver);
  const before = count('webhook_events');
  await its.upload();
  const deaf = await its.hook('/deaf', { types: ['email.sent'] });
  const off = await its.hook('/off');
  await its.call('PATCH', `/webhooks/${off.id}`, { is_active: false });
  await its.upload();
  expect(count('webhook_events')).toBe(before);
  // Nor of what was not handed out yet as it was made.
  await on.app.services.webhook_dispatcher.stop();
  await its.call('PATCH', `/webhooks/${off.id}`, { is_active: true });
  await its.upload('before.txt');
  const late = await its.hook('/late', { types: ['object.created'] });
  await its.upload('after.txt');
  on.app.services.webhook_dispatcher.start();
  await on.receiver.await('/late', 1);
  await its.settled(off, (all) => all.length === 2 && all.every(({ status }) => status === 'delivered'));
  const names = on.receiver.got
    .filter(({ path }) => path === '/late')
    .map(({ body }) => JSON.parse(body).data.original_filename);
  expect(names).toEqual(['after.txt']);
  for (const hook of [deaf, late, off]) await its.call('DELETE', `/webhooks/${hook.id}`);
});

test('what is undone is not told', async () => {
  const before = count('webhook_events');
  const { database, webhook_events } = on.app.services;
  const undone = database.write((tx) => {
    webhook_events.tell(tx, on.project.id, 'object.created', () => ({ data: {} }));
    throw new Error('undone');
  });
  await expect(undone).rejects.toThrow('undone');
  expect(count('webhook_events')).toBe(before);
});

test('a broadcast to many tells of each mail in the transactions that send them', async () => {
  const list = await mail.list();
  await addContacts(mail, list, { name: 'many', count: 120 });
  await mail.send(await mail.broadcast(list));
  const events = await toldOf('broadcast.sent');
  expect(events.filter(({ type }) => type === 'email.sent')).toHaveLength(120);
});

test('what was told of an address is part of what is held about it, and is forgotten with it', async () => {
  const list = await mail.list();
  await mail.contact(list, 'Zoe@example.com');
  await toldOf('contact.subscribed');
  const { privacy, projects } = on.app.services;
  const owner = projects.require(mail.project.slug);
  expect(await heldOf(on.app.services, owner, 'zoe@example.com')).toMatchObject({
    webhook_events: [{ type: 'contact.subscribed', data: { email: 'zoe@example.com' } }],
  });
  await on.app.services.webhook_dispatcher.stop();
  on.app.services.webhook_dispatcher.start();
  const [deliveries, tries] = [count('webhook_deliveries'), count('webhook_tries')];
  expect(await privacy.forget(actor, owner, 'zoe@example.com')).toMatchObject({ webhook_events: 1 });
  expect([count('webhook_deliveries'), count('webhook_tries')]).toEqual([deliveries - 1, tries - 1]);
  expect(await heldOf(on.app.services, owner, 'zoe@example.com')).toMatchObject({ webhook_events: [] });
});
