/** Trying marketing out where no name resolves: mail is captured, and nobody asks the DNS before a relay gets any. */
import { expect, test } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { atEnd } from '../../support/cleanup.ts';
import { type DnsServer, startDnsServer } from '../../support/dns-server.ts';
import { actor } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { dataOf, rowsOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

const STEPS = [
  { key: 'a', template: 'first' },
  { key: 'b', template: 'second', delay_hours: 24, is_final: true },
];

/** Its DNS knows no name at all. */
async function start(): Promise<SequenceApp & { nowhere: DnsServer; asked(): string[] }> {
  const nowhere = await startDnsServer();
  atEnd(() => nowhere.stop());
  const on = await startSequenceApp({ env: { SATCHEL_DNS_SERVERS: nowhere.address } });
  await on.template('first');
  await on.template('second');
  const before = nowhere.queries.length;
  return {
    ...on,
    nowhere,
    asked: () => nowhere.queries.slice(before).map(({ name, type }) => `${type} ${name}`),
  };
}

async function addRelay(on: SequenceApp, fields: Record<string, unknown> = {}) {
  const sink = await startSmtpSink();
  atEnd(() => sink.stop());
  await on.app.services.mailboxes.add(actor, {
    ...{ address: 'out@news.example.com', relay: parseRelay(`smtp://127.0.0.1:${sink.port}`) },
    ...{ daily_limit: null, return_path: null, for_transactional: true, for_marketing: true, ...fields },
  });
  return sink;
}

async function addConfirmation(on: SequenceApp): Promise<void> {
  const written = await on.app.call('POST', '/api/v1/emails/templates', {
    key: await on.project.key({ can_write: true, can_read: true, permissions: { email_template: true } }),
    body: {
      ...{ name: 'Confirm', slug: 'confirm', category: 'opt_in', subject: 'Confirm' },
      body_text: '{{confirm_url}}',
    },
  });
  expect(written.status).toBe(201);
}

test('while all mailboxes capture, contacts come and a sequence runs without a question to the DNS', async () => {
  const on = await start();
  const list = await on.list();
  await on.contact(list, 'ann@one.example', { first_name: 'Ann' });
  const pasted = await on.call('POST', `/email-lists/${list}/imports`, {
    ...{ method: 'paste', text: 'bob@two.example, Bob\ncy@three.example, Cy' },
  });
  expect(dataOf(pasted, 201)).toMatchObject({ accepted: 2, no_mx: 0 });
  const signed_up = await on.mirror('POST', `/email-lists/${list}/subscribe`, {
    ...{ email: 'di@four.example', first_name: 'Di' },
  });
  expect(signed_up.status).toBe(202);
  await on.app.app.engine.whenIdle();
  expect(rowsOf(await on.call('GET', `/email-lists/${list}/contacts`))).toHaveLength(4);
  const sequence = await on.draft(list, STEPS);
  expect(dataOf(await on.call('GET', `/email-sequences/${sequence}/check`))).toEqual({
    ...{ ready: true, captured: true, problems: [] },
  });
  dataOf(await on.call('POST', `/email-sequences/${sequence}/activate`));
  await on.enroll(sequence);
  await on.pass();
  expect(await on.got('bob@two.example')).toEqual(['first for Bob']);
  expect(on.asked()).toEqual([]);
  // Whoever asks for the records by name gets them.
  const settings = await on.mirror('GET', '/email-marketing/settings?dns=1');
  expect(settings.body.data).toMatchObject({ captured: true, mailboxes: [{ spf: { ok: false } }] });
});

test('a mailbox that captures takes no mail while its domain is not in use: nothing starts that would wait for ever', async () => {
  const on = await start();
  const list = await on.list();
  await on.app.services.sending_domains.add(actor, { name: 'fresh.example.com', is_default: true });
  await on.app.services.mailboxes.add(actor, {
    ...{ address: 'hello@fresh.example.com', relay: null, daily_limit: null, return_path: null },
    ...{ for_transactional: true, for_marketing: true },
  });
  const accounts = ['hello@fresh.example.com'];
  dataOf(await on.mirror('PATCH', '/email-marketing/settings', { accounts }));
  const sequence = await on.draft(list, STEPS);
  expect(dataOf(await on.call('GET', `/email-sequences/${sequence}/check`))).toMatchObject({
    ...{ ready: false, captured: true },
    problems: [
      { code: 'no_mailbox', message: expect.stringContaining('1 is of a domain that is not verified') },
    ],
  });
  expect((await on.call('POST', `/email-sequences/${sequence}/activate`)).status).toBe(422);
});

test.each([
  ['for marketing', 'active'],
  ['for marketing, though paused,', 'paused'],
] as const)('with a relay %s all is asked', async (_what, status) => {
  const on = await start();
  const list = await on.list();
  await addRelay(on);
  await on.app.services.mailboxes.change(actor, 'out@news.example.com', { status });
  const refused = await on.call('POST', `/email-lists/${list}/contacts`, { email: 'ann@one.example' });
  expect([refused.status, refused.body.code]).toEqual([422, 'no_mx']);
  const sequence = await on.draft(list, STEPS);
  const check = dataOf(await on.call('GET', `/email-sequences/${sequence}/check`));
  expect(check).toMatchObject({ ready: false, captured: false, problems: [{ code: 'mailbox_dns' }] });
  expect(on.asked()).toEqual(expect.arrayContaining(['MX one.example', 'TXT _dmarc.news.example.com']));
});

test('with a mailbox that is not for marketing, or none at all, a contact is looked up', async () => {
  const on = await start();
  const list = await on.list();
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', { for_marketing: false });
  const refused = await on.call('POST', `/email-lists/${list}/contacts`, { email: 'ann@one.example' });
  expect([refused.status, refused.body.code]).toEqual([422, 'no_mx']);
});

test("who came unasked is asked for before a relay's first mail to them, once", async () => {
  const on = await start();
  const list = await on.list();
  const people = { ann: 'ann@there.example', bob: 'bob@gone.example', cy: 'cy@silent.example' };
  for (const [first_name, email] of Object.entries(people)) await on.contact(list, email, { first_name });
  const [first, second] = STEPS;
  const third = { key: 'c', template: 'third', delay_hours: 24, is_final: true };
  await on.template('third');
  const sequence = await on.active(list, [first, { ...second, is_final: false }, third]);
  await on.enroll(sequence);
  await on.pass();
  expect(await on.got(people.bob)).toEqual(['first for bob']);
  const sink = await addRelay(on);
  on.nowhere.set('there.example', { mx: [{ exchange: 'mx.there.example', preference: 10 }] });
  on.nowhere.set('silent.example', { fault: 'servfail' });
  await on.pass(24);
  const mailed = () => sink.mails.flatMap(({ envelope }) => envelope.to);
  expect(mailed()).toEqual([people.ann]);
  const statusOf = async (email: string) => {
    const [mail] = (await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key })).body.data as {
      status: string;
      error: string;
    }[];
    return mail;
  };
  // Nobody there: as if the relay had said so, but without asking it.
  expect(await statusOf(people.bob)).toMatchObject({
    ...{ status: 'bounced', error: 'The domain of the address takes no mail: it has no MX.' },
  });
  expect(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=bob`))[0]?.status).toBe('bounced');
  // No answer is no verdict.
  expect(await statusOf(people.cy)).toMatchObject({ status: 'queued' });
  on.nowhere.set('silent.example', { mx: [{ exchange: 'mx.silent.example', preference: 10 }] });
  // A machine under load may be late with an answer, which is none either.
  await until(async () => {
    await on.pass(1);
    return mailed().length > 1;
  });
  expect(mailed()).toEqual([people.ann, people.cy]);
  // The answer is remembered with the contact, for longer than any resolver would.
  await on.pass(48);
  expect(mailed().toSorted()).toEqual([people.ann, people.ann, people.cy, people.cy]);
  expect(on.asked().filter((query) => query === 'MX there.example')).toHaveLength(1);
});

test('the mail that asks to confirm is a first mail, too', async () => {
  const on = await start();
  await addConfirmation(on);
  const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
  const sink = await addRelay(on, { for_marketing: false });
  on.nowhere.set('there.example', { mx: [{ exchange: 'mx.there.example', preference: 10 }] });
  for (const email of ['ann@there.example', 'bob@gone.example']) {
    const answer = await on.mirror('POST', `/email-lists/${list}/subscribe`, { email });
    expect(answer.status).toBe(202);
  }
  await on.pass();
  expect(sink.mails.flatMap(({ envelope }) => envelope.to)).toEqual(['ann@there.example']);
});

test('what a test key has asked to confirm is captured, whatever relay there is', async () => {
  const on = await start();
  await addConfirmation(on);
  const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
  const sink = await addRelay(on);
  on.nowhere.set('there.example', { mx: [{ exchange: 'mx.there.example', preference: 10 }] });
  const fields = { restricted: true, allow_no_origin: true, can_manage_email_marketing: true };
  for (const [email, is_test] of [
    ['tester@there.example', true],
    ['ann@there.example', false],
  ] as const) {
    const key = await on.project.key({ ...fields, is_test });
    const path = `/api/v1/email-lists/${list}/subscribe`;
    expect((await on.app.call('POST', path, { key, body: { email } })).status).toBe(202);
  }
  await on.pass();
  expect(sink.mails.flatMap(({ envelope }) => envelope.to)).toEqual(['ann@there.example']);
  const [mail] = (await on.app.call('GET', '/api/v1/emails?to=tester@there.example', { key: on.key })).body
    .data as { id: string }[];
  expect((await on.app.services.deliveries.readCaptured(mail?.id ?? '')).raw).toContain('/confirm/');
});
