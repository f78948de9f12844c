/** What a test key does with sequences: all mail is captured, and nothing of it counts. */
import { beforeEach, expect, test } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink, subjectOf } from '../../support/smtp-sink.ts';
import { dataOf } from '../settings/setup.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

let on: SequenceApp;
let sink: SmtpSink;
let list: string;
let call: SequenceApp['call'];
beforeEach(async () => {
  on = await startSequenceApp();
  sink = await startSmtpSink();
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
  for (const slug of ['one', 'two']) await on.template(slug);
  list = await on.list();
  const key = await on.project.key({
    ...{ can_read: true, can_write: true, can_manage_email_marketing: true, is_test: true },
  });
  call = (method, path, body) => on.app.call(method, `/api/v1${path}`, { key, body });
});

const STEPS = [
  { key: 'a', template: 'one' },
  { key: 'b', template: 'two', delay_hours: 1, is_final: true },
];
const NOTHING = { enrolled: 0, active: 0, completed: 0, sent: 0, lost: 0, waiting: 0, opened: 0, clicked: 0 };
const recordOf = async (id: string) => dataOf(await on.call('GET', `/email-sequences/${id}`));
const enrollmentsOf = async (id: string) => (await on.call('GET', `/email-sequences/${id}/enrollments`)).body;

test('whoever a test key enrolls gets nothing: every mail is captured, and no number knows of it', async () => {
  await on.contact(list, 'ann@example.com');
  const id = await on.active(list, STEPS);
  const enrolled = dataOf(await call('POST', `/email-sequences/${id}/enroll`, { all: true }));
  expect(enrolled).toMatchObject({ enrolled: 1, already: 0 });
  await on.pass();
  await on.pass(1);
  expect(sink.mails).toEqual([]);
  const subjects = on.app.services.deliveries
    .listCaptured({ per_page: 10 })
    .data.map(({ subject }) => subject);
  expect(subjects.sort()).toEqual(['one for there', 'two for there']);
  expect(await enrollmentsOf(id)).toMatchObject({
    data: [{ email: 'ann@example.com', is_test: true, state: 'completed' }],
    meta: { total: 1 },
  });
  const { stats, steps } = await recordOf(id);
  expect(stats).toMatchObject(NOTHING);
  expect(steps).toMatchObject([{ stats: NOTHING }, { stats: NOTHING }]);
});

test('a test is no earlier enrollment of the real one, and stands beside it', async () => {
  await on.contact(list, 'both@example.com');
  const id = await on.active(list, STEPS);
  const by_test = () =>
    call('POST', `/email-sequences/${id}/enroll`, { all: true }).then((one) => dataOf(one));
  expect(await by_test()).toMatchObject({ enrolled: 1 });
  expect(await on.enroll(id)).toMatchObject({ enrolled: 1, already: 0 });
  expect(await by_test()).toMatchObject({ enrolled: 0, already: 1 });
  expect(await on.enroll(id)).toMatchObject({ enrolled: 0, already: 1 });
  await on.pass();
  await on.pass(1);
  expect(sink.mails.map(subjectOf)).toEqual(['one', 'two']);
  expect((await recordOf(id)).stats).toMatchObject({ enrolled: 1, completed: 1, sent: 2 });
  expect((await enrollmentsOf(id)).meta).toMatchObject({ total: 2 });
});

test('whoever leaves counts for the mail that they got, not for a test that came later', async () => {
  const { id: contact } = await on.contact(list, 'ann@example.com');
  const id = await on.active(list, [{ key: 'a', template: 'one', is_final: true }]);
  await on.enroll(id);
  await on.pass();
  expect(dataOf(await call('POST', `/email-sequences/${id}/enroll`, { all: true }))).toMatchObject({
    enrolled: 1,
  });
  await on.pass(1);
  dataOf(await on.call('POST', `/email-contacts/${contact}/unsubscribe`));
  expect((await recordOf(id)).stats).toMatchObject({ sent: 1, unsubscribed: 1 });
});

test('tests stand under no max_recipients and no daily cap, and use neither up', async () => {
  const id = await on.active(list, STEPS, { max_recipients: 1 });
  for (const name of ['c1', 'c2', 'c3']) await on.contact(list, `${name}@example.com`);
  await on.call('PATCH', '/email-marketing/settings', { daily_cap: 1 });
  expect(dataOf(await call('POST', `/email-sequences/${id}/enroll`, { all: true }))).toMatchObject({
    enrolled: 3,
  });
  await on.pass();
  expect(on.app.services.deliveries.listCaptured({ per_page: 10 }).data).toHaveLength(3);
  const [contact] = (await on.call('GET', `/email-lists/${list}/contacts`)).body.data as { id: string }[];
  expect(await on.enroll(id, { contact_ids: [contact?.id] })).toMatchObject({ enrolled: 1 });
  await on.pass();
  expect(sink.mails).toHaveLength(1);
});

test('whoever a test key adds, imports or signs up gets nothing of a sequence that takes them up by itself', async () => {
  const id = await on.active(list, STEPS, { auto_enroll_new_contacts: true, max_recipients: 1 });
  expect((await call('POST', `/email-lists/${list}/contacts`, { email: 'added@example.com' })).status).toBe(
    201,
  );
  const text = 'pasted@example.com';
  expect((await call('POST', `/email-lists/${list}/imports`, { method: 'paste', text })).status).toBe(201);
  const form = await on.project.key({
    ...{ can_manage_email_marketing: true, restricted: true, allow_no_origin: true, is_test: true },
  });
  const signUp = (email: string) =>
    on.app.call('POST', `/api/v1/email-lists/${list}/subscribe`, { key: form, body: { email } });
  expect((await signUp('typed@example.com')).status).toBe(202);
  await on.pass();
  const template_key = await on.project.key({ can_write: true, permissions: { email_template: true } });
  const body = {
    ...{ name: 'Confirm', slug: 'confirm', category: 'opt_in', subject: 'Confirm' },
    body_text: '{{confirm_url}}',
  };
  expect((await on.app.call('POST', '/api/v1/emails/templates', { key: template_key, body })).status).toBe(
    201,
  );
  const double = { double_opt_in: true, confirmation_template: 'confirm' };
  dataOf(await on.call('PATCH', `/email-lists/${list}`, double));
  expect((await signUp('asked@example.com')).status).toBe(202);
  await on.pass();
  const [asked] = on.app.services.deliveries.listCaptured({ per_page: 1 }).data;
  const { raw } = await on.app.services.deliveries.readCaptured(asked?.email_id ?? '');
  const path = /\/confirm\/[\w-]+/.exec(raw.replaceAll('=\r\n', ''))?.[0] ?? '';
  expect((await on.app.call('POST', path)).status).toBe(200);
  await on.pass();
  await on.pass(1);
  expect(sink.mails).toEqual([]);
  const { data } = await enrollmentsOf(id);
  const names = (data as { email: string; is_test: boolean }[]).map((one) => [one.email, one.is_test]);
  expect(names.sort()).toEqual([
    ['added@example.com', true],
    ['asked@example.com', true],
    ['pasted@example.com', true],
    ['typed@example.com', true],
  ]);
  // Those are no enrollments: who comes in earnest has the one place that there is.
  await on.contact(list, 'real@example.com');
  await on.pass();
  expect(sink.mails.map(({ envelope }) => envelope.to)).toEqual([['real@example.com']]);
});

test('a test of a step by a test key is captured', async () => {
  const id = await on.draft(list, STEPS);
  const sent = await call('POST', `/email-sequences/${id}/steps/a/test`, { to: 'author@example.com' });
  expect(sent.status).toBe(202);
  await on.pass();
  expect(sink.mails).toEqual([]);
  expect(on.app.services.deliveries.listCaptured({ per_page: 10 }).data).toMatchObject([
    { subject: '[Test] one for there' },
  ]);
});
