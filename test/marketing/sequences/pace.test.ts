/** A sequence through a relay that takes few mails a second: all arrive, none fails, and what somebody waits for goes first. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { mailboxChecks } from '../../../src/mail/mailboxes/checks.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { actor } from '../../support/helpers.ts';
import { type SinkReply, type SmtpSink, startSmtpSink, subjectOf } from '../../support/smtp-sink.ts';
import { addContacts, type SequenceApp, startSequenceApp } from './setup.ts';

setDefaultTimeout(120_000);
const CONTACTS = 400;
const A_SECOND = 2;
const THROTTLED: SinkReply = { code: 454, message: '4.7.0 Throttling: 2 messages a second' };
const MAILBOX = 'hello@news.example.com';

let on: SequenceApp;
let sink: SmtpSink;

beforeAll(async () => {
  on = await startSequenceApp();
  await on.template('hello', { subject: 'hello' });
  sink = await startSmtpSink();
  let [second, taken] = [0, 0];
  sink.behavior.mail = () => {
    const now = Math.floor(on.app.clock.now() / 1_000);
    if (now !== second) [second, taken] = [now, 0];
    taken += 1;
    return taken <= A_SECOND ? undefined : THROTTLED;
  };
  await on.app.services.mailboxes.change(actor, MAILBOX, {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
});
afterAll(() => sink.stop());

/** Lets half seconds go by until this holds; fails where it does not within a day of the test's clock. */
async function goOn(until: () => boolean): Promise<void> {
  for (let halves = 0; !until(); halves += 1) {
    if (halves > 172_800) throw new Error('it never came');
    await on.pass(0.5 / 3_600);
  }
}

test(`${CONTACTS} contacts all get their mail from a relay that takes ${A_SECOND} a second, and a password reset goes first`, async () => {
  const { app } = on;
  const { mailboxes } = app.services;
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: CONTACTS });
  const sequence = await on.active(list, [{ key: 'a', template: 'hello', is_final: true }]);
  await on.enroll(sequence);
  await on.pass();

  // Told wherever mailboxes are told of.
  const words = '454 4.7.0 Throttling: 2 messages a second';
  const pace = { allowed: null, since: expect.any(String), words, waits_until: expect.any(String) };
  expect(mailboxes.list()).toMatchObject([{ address: MAILBOX, pace }]);
  const found = await Promise.all(mailboxChecks({ mailboxes }).map(({ run: look }) => look()));
  expect(found.flat()).toContainEqual(
    expect.objectContaining({
      ...{ status: 'warning', message: expect.stringContaining(words) },
      remedy: `satchel mailbox resume ${MAILBOX}`,
    }),
  );

  await goOn(() => sink.mails.length >= CONTACTS / 4);
  const key = await on.project.key({ can_send_emails: true });
  const body = { to: 'ann@example.org', subject: 'reset', body_text: 'https://shop.example.com/reset' };
  expect((await app.call('POST', '/api/v1/emails/send', { key, body })).status).toBe(202);
  const before = sink.mails.length;
  await goOn(() => sink.mails.length > before);
  expect(sink.mails.slice(before).map(subjectOf)[0]).toBe('reset');

  await goOn(() => sink.mails.length > CONTACTS);
  const to = sink.mails.flatMap(({ envelope }) => envelope.to);
  expect(new Set(to).size).toBe(CONTACTS + 1);
  expect(to.length).toBe(CONTACTS + 1);
  await on.pass();
  const statuses = app.services.database.read.$client.query(
    'SELECT status, count(*) AS n FROM emails GROUP BY status',
  );
  expect(statuses.all()).toEqual([{ status: 'sent', n: CONTACTS + 1 }]);
});

test('a mail that its recipient’s server puts off for most of a day arrives, and one that is put off for longer fails', async () => {
  const { app } = on;
  await app.services.mailboxes.setStatus(actor, MAILBOX, 'active');
  sink.mails.length = 0;
  const later = { code: 450, message: '4.2.1 Busy' };
  sink.behavior = { rcpt: { 'slow@example.com': later, 'never@example.com': later } };
  const list = await on.list();
  for (const name of ['slow', 'never', 'quick']) await on.contact(list, `${name}@example.com`);
  const sequence = await on.active(list, [{ key: 'a', template: 'hello', is_final: true }]);
  await on.enroll(sequence);
  await on.pass();
  expect(sink.mails.flatMap(({ envelope }) => envelope.to)).toEqual(['quick@example.com']);
  const mailOf = (to: string) =>
    app.services.database.read.$client
      .query<{ id: string; status: string; attempts: number }, [string]>(
        'SELECT id, status, attempts FROM emails WHERE to_email = ?',
      )
      .get(to);
  // Quarters of an hour: every attempt but the first three meets one of its own.
  for (let quarters = 0; quarters < 80; quarters += 1) await on.pass(1 / 4);
  expect(mailOf('slow@example.com')).toMatchObject({ status: 'queued' });
  const { story } = app.services.deliveries.explain(mailOf('slow@example.com')?.id ?? '');
  expect(story.at(-1)).toMatch(/another attempt comes at .*; it is tried until 2030-01-/);
  sink.behavior = { rcpt: { 'never@example.com': later } };
  for (let quarters = 0; quarters < 12; quarters += 1) await on.pass(1 / 4);
  expect(mailOf('slow@example.com')).toMatchObject({ status: 'sent' });
  expect(mailOf('never@example.com')).toMatchObject({ status: 'queued' });
  for (let quarters = 0; quarters < 5; quarters += 1) await on.pass(1 / 4);
  const never = mailOf('never@example.com');
  expect(never).toMatchObject({ status: 'failed' });
  expect(never?.attempts).toBeWithin(35, 66);
});
