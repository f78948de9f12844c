/** A clock that runs two years ahead for a while: nobody waits until then once it is right again. */
import { beforeEach, expect, test } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink, subjectOf } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { type SequenceApp, startSequenceApp } from './setup.ts';

const HOUR_MS = 3_600_000;
const AHEAD_MS = 2 * 365 * 24 * HOUR_MS;

let on: SequenceApp;
let sink: SmtpSink;
let list: string;
beforeEach(async () => {
  on = await startSequenceApp();
  sink = await startSmtpSink();
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
  for (const slug of ['one', 'two', 'three']) await on.template(slug);
  list = await on.list();
});

const STEPS = [
  { key: 'a', template: 'one' },
  { key: 'b', template: 'two', delay_hours: 24, condition: { type: 'no_event', event: 'paid' } },
  { key: 'c', template: 'three', delay_hours: 72, is_final: true },
];
const ahead = async (work: () => Promise<unknown>): Promise<void> => {
  on.app.clock.advance(AHEAD_MS);
  await work();
  on.app.clock.advance(15_000 - AHEAD_MS);
};
const restart = async (): Promise<void> => {
  await on.app.stop();
  const { data_dir, clock } = on.app;
  Object.assign(
    on.app,
    await startTestApp({ data_dir, clock, env: { SATCHEL_DNS_SERVERS: on.dns.address } }),
  );
};
const nextOf = async (id: string, email: string) =>
  Date.parse(String((await on.enrollment(id, email))?.next_at)) - on.app.clock.now();
test('whoever was mailed or enrolled meanwhile goes on by their delays, from a start on', async () => {
  for (const name of ['mailed', 'before']) await on.contact(list, `${name}@example.com`);
  const id = await on.active(list, STEPS);
  const contact_ids = [(await on.contact(list, 'within@example.com')).id];
  await on.enroll(id, { tags: ['none'] });
  const [mailed] = (await on.call('GET', `/email-lists/${list}/contacts?q=mailed`)).body.data as {
    id: string;
  }[];
  await on.enroll(id, { contact_ids: [mailed?.id] });
  await on.pass();
  await ahead(async () => {
    await on.enroll(id, { contact_ids });
    await on.pass();
  });
  expect(await nextOf(id, 'mailed@example.com')).toBeGreaterThan(AHEAD_MS);
  await restart();
  await until(async () => (await nextOf(id, 'mailed@example.com')) === 72 * HOUR_MS);
  expect(await nextOf(id, 'within@example.com')).toBe(24 * HOUR_MS);
  // What happens now is since its enrollment.
  await on.call('POST', '/email-contacts/events', { email: 'within@example.com', list, event: 'paid' });
  await on.pass(24);
  await on.pass(48);
  await on.pass(24);
  const got = (email: string) => sink.mails.filter(({ envelope }) => envelope.to[0] === email).map(subjectOf);
  expect(got('mailed@example.com')).toEqual(['one', 'two', 'three']);
  expect(got('within@example.com')).toEqual(['one', 'three']);
});

test('who waits as long as a step may stays where they are', async () => {
  await on.contact(list, 'waits@example.com');
  const id = await on.active(list, STEPS);
  await on.enroll(id);
  await on.pass();
  const before = await on.enrollment(id, 'waits@example.com');
  await on.app.services.going_on.mendTimes();
  expect(await on.enrollment(id, 'waits@example.com')).toEqual(before);
});

test('a mail that was put off meanwhile is tried within its longest wait', async () => {
  await on.contact(list, 'grey@example.com');
  const id = await on.active(list, STEPS);
  sink.behavior.rcpt = { 'grey@example.com': { code: 451, message: '4.2.0 Greylisted' } };
  await ahead(async () => {
    await on.enroll(id);
    await on.pass();
    // Gone before the clock is right again: the next start knows of no jump.
    await on.app.stop();
  });
  delete sink.behavior.rcpt;
  await restart();
  const dueIn = () =>
    (on.app.services.database.read.$client.query<{ due_at: number }, []>('SELECT due_at FROM emails').get()
      ?.due_at ?? Number.POSITIVE_INFINITY) - on.app.clock.now();
  await until(() => dueIn() <= 0.7 * HOUR_MS);
  await on.pass(0.7);
  expect(sink.mails.map(subjectOf)).toEqual(['one']);
});

test('a mail that is to go out later by its client stays for then', async () => {
  const scheduled_at = new Date(on.app.clock.now() + 48 * HOUR_MS).toISOString();
  const body = { to: 'later@example.org', subject: 'Later', body_text: 'Later', scheduled_at };
  const key = await on.project.key({ can_send_emails: true });
  expect((await on.app.call('POST', '/api/v1/emails/send', { key, body })).status).toBe(201);
  await on.app.services.deliveries.mendTimes();
  await on.pass(47);
  expect(sink.mails).toEqual([]);
  await on.pass(1);
  expect(sink.mails.map(subjectOf)).toEqual(['Later']);
});
