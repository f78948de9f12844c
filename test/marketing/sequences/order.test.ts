/** That steps never overtake each other: what follows a mail begins when a relay took it, or when its attempts have ended. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink, subjectOf } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { dataOf } from '../settings/setup.ts';
import { addContacts, type SequenceApp, startSequenceApp } from './setup.ts';

const HOUR_MS = 3_600_000;
const GREYLISTED = { code: 451, message: '4.2.0 Greylisted, try again later' };

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

const AT_ONCE = [
  { key: 'a', template: 'one' },
  { key: 'b', template: 'two' },
  { key: 'c', template: 'three', is_final: true },
];
const stats = async (id: string) =>
  dataOf(await on.call('GET', `/email-sequences/${id}`)).stats as Record<string, number>;
const emailOf = (address: string) =>
  on.app.services.database.read.$client
    .query<{ id: string; job_id: string; status: string; sent_at: number | null }, [string]>(
      'SELECT id, job_id, status, sent_at FROM emails WHERE to_email = ? ORDER BY id DESC LIMIT 1',
    )
    .get(address);
const why = (id: string, address: string) =>
  on.app.services.sequences.explainContact(Number(on.project.id), id, address);

test('a first step that is greylisted once is followed by no other before it was taken, 6 of 6 times', async () => {
  const addresses = Array.from({ length: 6 }, (_, n) => `grey${n}@example.com`);
  for (const address of addresses) await on.contact(list, address);
  const id = await on.active(list, AT_ONCE);
  sink.behavior.rcpt = Object.fromEntries(addresses.map((address) => [address, GREYLISTED]));
  await on.enroll(id);
  await on.pass();
  expect(await on.enrollment(id, 'grey0@example.com')).toMatchObject({
    ...{ state: 'active', step: 'b', next_at: null, waits_for: emailOf('grey0@example.com')?.id },
  });
  expect(await stats(id)).toMatchObject({ sent: 0, lost: 0, waiting: 6 });
  expect(why(id, 'grey0@example.com').slice(1)).toEqual([
    expect.stringMatching(/Step a: waits for its relay: .*Greylisted.*\. More: satchel email why /),
    'The step b comes 0 h after a relay took that mail, or the attempts at it ended.',
  ]);
  delete sink.behavior.rcpt;
  await on.pass(1);
  await on.pass();
  for (const address of addresses) {
    const got = sink.mails.filter(({ envelope }) => envelope.to[0] === address).map(subjectOf);
    expect(got).toEqual(['one', 'two', 'three']);
  }
  expect(await stats(id)).toMatchObject({ completed: 6, sent: 18, lost: 0, waiting: 0 });
});

test('a delay counts from the moment at which a relay took the mail before', async () => {
  await on.contact(list, 'late@example.com');
  const id = await on.active(list, [AT_ONCE[0], { ...AT_ONCE[2], delay_hours: 5 }]);
  sink.behavior.rcpt = { 'late@example.com': GREYLISTED };
  await on.enroll(id);
  await on.pass();
  delete sink.behavior.rcpt;
  await on.pass(3);
  const taken_at = emailOf('late@example.com')?.sent_at ?? 0;
  expect(taken_at).toBe(on.app.clock.now());
  const waiting = await on.enrollment(id, 'late@example.com');
  expect([waiting?.waits_for, Date.parse(String(waiting?.next_at))]).toEqual([null, taken_at + 5 * HOUR_MS]);
  await on.pass(5);
  expect(sink.mails.map(subjectOf)).toEqual(['one', 'three']);
});

test('a delay that is changed while a mail waits holds when that has ended', async () => {
  await on.contact(list, 'timed@example.com');
  const steps = [AT_ONCE[0], { ...AT_ONCE[2], delay_hours: 5 }];
  const id = await on.active(list, steps);
  sink.behavior.rcpt = { 'timed@example.com': GREYLISTED };
  await on.enroll(id);
  await on.pass();
  const changed = [steps[0], { ...steps[1], delay_hours: 2 }];
  dataOf(await on.call('PATCH', `/email-sequences/${id}`, { steps: changed }));
  expect(await on.enrollment(id, 'timed@example.com')).toMatchObject({ next_at: null });
  delete sink.behavior.rcpt;
  await on.pass(1);
  const { next_at } = (await on.enrollment(id, 'timed@example.com')) ?? {};
  expect(Date.parse(String(next_at))).toBe(on.app.clock.now() + 2 * HOUR_MS);
});

test('a mail that no relay takes is lost, stands in the numbers, and what follows counts from its end', async () => {
  await on.contact(list, 'lost@example.com');
  const id = await on.active(list, [AT_ONCE[0], { ...AT_ONCE[2], delay_hours: 2 }]);
  sink.behavior.data = { code: 554, message: '5.6.0 Message refused' };
  await on.enroll(id);
  await on.pass();
  expect(await stats(id)).toMatchObject({ sent: 0, lost: 1, waiting: 0, failed: 0, bounced: 0 });
  const { next_at } = (await on.enrollment(id, 'lost@example.com')) ?? {};
  expect(Date.parse(String(next_at))).toBe(on.app.clock.now() + 2 * HOUR_MS);
  expect(why(id, 'lost@example.com')[1]).toMatch(/Step a: lost .*: .*554 5\.6\.0 Message refused.*More:/);
  delete sink.behavior.data;
  await on.pass(2);
  expect(await stats(id)).toMatchObject({ sent: 1, lost: 1, waiting: 0, completed: 1 });
  const { steps } = dataOf(await on.call('GET', `/email-sequences/${id}`));
  expect(steps).toMatchObject([{ stats: { sent: 0, lost: 1 } }, { stats: { sent: 1, lost: 0 } }]);
  // One that is tried again by hand is no longer lost, and moves nobody.
  const [{ id: email_id = '' } = {}] = on.app.services.database.read.$client
    .query<{ id: string }, []>("SELECT id FROM emails WHERE status = 'failed'")
    .all();
  await on.app.services.deliveries.requeue(actor, [email_id]);
  expect(await stats(id)).toMatchObject({ sent: 1, lost: 0, waiting: 1 });
  await on.pass();
  expect(await stats(id)).toMatchObject({ sent: 2, lost: 0, waiting: 0, completed: 1 });
  expect(sink.mails.map(subjectOf)).toEqual(['three', 'one']);
});

test('a mail that bounces as it is handed over was not sent, and is told as lost and bounced', async () => {
  await on.contact(list, 'nobody@example.com');
  const id = await on.active(list, AT_ONCE);
  sink.behavior.rcpt = { 'nobody@example.com': { code: 550, message: '5.1.1 No such user' } };
  await on.enroll(id);
  await on.pass();
  expect(await stats(id)).toMatchObject({ sent: 0, lost: 1, waiting: 0, bounced: 1, exited: 1, failed: 0 });
  expect(await on.enrollment(id, 'nobody@example.com')).toMatchObject({
    ...{ state: 'exited', exit_reason: 'bounced', waits_for: null },
  });
});

test('an enrollment is complete when its last mail has ended, not when that was made', async () => {
  await on.contact(list, 'last@example.com');
  const id = await on.active(list, [AT_ONCE[2]]);
  sink.behavior.rcpt = { 'last@example.com': GREYLISTED };
  await on.enroll(id);
  await on.pass();
  const email_id = emailOf('last@example.com')?.id;
  expect(await on.enrollment(id, 'last@example.com')).toMatchObject({
    ...{ state: 'active', step: 'c', next_at: null, waits_for: email_id, ended_at: null },
  });
  expect(why(id, 'last@example.com').at(-1)).toBe(
    'It is complete once a relay took that mail, or the attempts at it ended.',
  );
  delete sink.behavior.rcpt;
  await on.pass(1);
  expect(await on.enrollment(id, 'last@example.com')).toMatchObject({
    ...{ state: 'completed', waits_for: null, ended_at: new Date(on.app.clock.now()).toISOString() },
  });
});

test('an enrollment that ends earlier takes its mail that waits back, which counts as lost', async () => {
  await on.contact(list, 'gone@example.com');
  const id = await on.active(list, AT_ONCE, { exit_events: ['paid'] });
  sink.behavior.rcpt = { 'gone@example.com': GREYLISTED };
  await on.enroll(id);
  await on.pass();
  await on.call('POST', '/email-contacts/events', { email: 'gone@example.com', list, event: 'paid' });
  expect(emailOf('gone@example.com')?.status).toBe('canceled');
  expect(await on.enrollment(id, 'gone@example.com')).toMatchObject({
    ...{ state: 'exited', exit_reason: 'event', waits_for: null, next_at: null },
  });
  expect(await stats(id)).toMatchObject({ sent: 0, lost: 1, waiting: 0 });
  expect(why(id, 'gone@example.com')[1]).toMatch(
    /Step a: taken back: Its recipient is to get nothing more\. More:/,
  );
});

describe('after a restart', () => {
  const restart = async (): Promise<void> => {
    await on.app.stop();
    const { data_dir, clock } = on.app;
    const app = await startTestApp({ data_dir, clock, env: { SATCHEL_DNS_SERVERS: on.dns.address } });
    Object.assign(on.app, app);
  };

  test('no two mails to one contact change places', async () => {
    await addContacts(on, list, { name: 'pair', count: 30 });
    const id = await on.active(list, AT_ONCE);
    sink.behavior.hang = 'rcpt';
    await on.enroll(id);
    await until(() => sink.unanswered.length > 0);
    await restart();
    delete sink.behavior.hang;
    for (const reply of sink.unanswered.splice(0)) reply();
    sink.mails.length = 0;
    await on.pass();
    await until(() => sink.mails.length === 90);
    for (let n = 0; n < 30; n += 1) {
      const got = sink.mails.filter(({ envelope }) => envelope.to[0] === `pair${n}@example.com`);
      expect(got.map(subjectOf)).toEqual(['one', 'two', 'three']);
    }
  });

  test('whoever waits for a mail that has ended goes on from its end', async () => {
    await on.contact(list, 'stranded@example.com');
    const id = await on.active(list, [AT_ONCE[0], { ...AT_ONCE[2], delay_hours: 5 }]);
    await on.enroll(id);
    await on.pass();
    const before = await on.enrollment(id, 'stranded@example.com');
    await on.app.services.database.write((tx) =>
      tx.$client.run('UPDATE enrollments SET next_at = NULL, waits_for = last_email_id'),
    );
    on.app.clock.advance(2 * HOUR_MS);
    await restart();
    await until(async () => (await on.enrollment(id, 'stranded@example.com'))?.next_at !== null);
    expect(await on.enrollment(id, 'stranded@example.com')).toEqual(before);
  });

  test('a mail that the relay may have taken, and whose contact left before it was tried again, is sent', async () => {
    const contact = await on.contact(list, 'left@example.com');
    const id = await on.active(list, AT_ONCE);
    sink.behavior.hang = 'rcpt';
    await on.enroll(id);
    await until(() => sink.unanswered.length > 0);
    const began_at = on.app.clock.now();
    await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`);
    await restart();
    await on.pass();
    expect(emailOf('left@example.com')).toMatchObject({ status: 'sent', sent_at: began_at });
    expect(sink.mails).toEqual([]);
    expect(await stats(id)).toMatchObject({ sent: 1, lost: 0, waiting: 0, exited: 1 });
    const { story } = on.app.services.deliveries.explain(emailOf('left@example.com')?.id ?? '');
    expect(story.join('\n')).toContain(
      'was cut off by a crash or a stop: its relay may have taken the message.',
    );
    expect(story.at(-2)).toMatch(
      /^Its status is sent since .* Its relay may have taken it when an attempt was cut off/,
    );
  });

  test('the same holds for one that was held until its contact left', async () => {
    const contact = await on.contact(list, 'held@example.com');
    const id = await on.active(list, AT_ONCE);
    sink.behavior.hang = 'rcpt';
    await on.enroll(id);
    await until(() => sink.unanswered.length > 0);
    await on.call('POST', `/email-sequences/${id}/pause`);
    await restart();
    await on.pass();
    expect(emailOf('held@example.com')?.status).toBe('queued');
    await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`);
    expect(emailOf('held@example.com')?.status).toBe('sent');
  });

  test('a mail that its relay certainly did not take is canceled when its contact leaves', async () => {
    const contact = await on.contact(list, 'refused@example.com');
    const id = await on.active(list, AT_ONCE);
    sink.behavior.rcpt = { 'refused@example.com': GREYLISTED };
    await on.enroll(id);
    await on.pass();
    await restart();
    await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`);
    expect(emailOf('refused@example.com')?.status).toBe('canceled');
  });
});
