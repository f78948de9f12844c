/** What a relay that hangs, or is not there, holds up: only the mail that must go through it. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test';
import type { NewEmail } from '../../../src/mail/emails/service.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, addMailbox, RELAY_DOWN_PORT, rows, type Sender, startSender } from '../emails/setup.ts';

setDefaultTimeout(60_000);

let sender: Sender;
let hanging: SmtpSink;
let sink: SmtpSink;

beforeEach(async () => {
  sender = await startSender();
  hanging = await startSmtpSink({ hang: 'data' });
  sink = await startSmtpSink();
});
afterEach(async () => {
  await Promise.all([hanging.stop(), sink.stop()]);
  await sender.app.stop();
});

/** Accepts mails as a sequence does. */
async function acceptMarketing(count: number): Promise<void> {
  const { database, emails } = sender.app.services;
  const email: NewEmail = {
    ...{ project_id: Number(sender.project.id), api_key_id: null, is_test: false, source: 'sequence' },
    ...{ to: 'ada@example.org', to_name: null, cc: [], bcc: [], reply_to: null, from_name: null },
    ...{ subject: 'News', content: { body_html: null, body_text: 'News' }, template: null },
    ...{ domain: null, attachments: [], scheduled_at: null, client: null },
  };
  await database.write((tx) => {
    for (let n = 0; n < count; n += 1) emails.accept(tx, email);
  });
}

test('beside 1,000 marketing mails at a relay that hangs in DATA, other domains and mailboxes send at once', async () => {
  const { mailboxes } = sender.app.services;
  const news = await addDomain(sender.app, 'shop.example.com', hanging, { is_default: true });
  await mailboxes.change(actor, news, { for_marketing: true, for_transactional: false });
  await addMailbox(sender.app, 'reset@shop.example.com', sink);
  await addDomain(sender.app, 'other.example.com', sink);
  await acceptMarketing(1_000);
  while (hanging.unanswered.length < 10) await Bun.sleep(2);
  // Nothing of the thousand ends within the two minutes that a relay has for DATA: whatever waits for one fails the test.
  await sender.send({ to: 'one@example.org' });
  await sender.send({ to: 'two@example.org', domain: 'other.example.com' });
  const mails = await sink.waitForMails(2);
  expect(new Set(mails.map((mail) => mail.envelope.from))).toEqual(
    new Set(['reset@shop.example.com', 'hello@other.example.com']),
  );
  const ended = "SELECT count(*) AS n FROM jobs WHERE status IN ('completed', 'failed') AND priority = 20";
  expect(rows(sender.app, ended)).toEqual([{ n: 0 }]);
});

test('more urgent mail of the same mailbox waits for no place among 1,000 less urgent ones', async () => {
  await addDomain(sender.app, 'shop.example.com', hanging);
  await sender.app.services.mailboxes.change(actor, 'hello@shop.example.com', { for_marketing: true });
  await acceptMarketing(1_000);
  while (hanging.unanswered.length < 10) await Bun.sleep(2);
  const { body } = await sender.send();
  // Off the row: a key may ask no more than 600 times a minute.
  const isSending = () =>
    rows(sender.app, `SELECT 1 FROM emails WHERE id = '${body.id}' AND status = 'sending'`).length > 0;
  while (!isSending()) await Bun.sleep(2);
  // It is the next to get a connection.
  hanging.unanswered.shift()?.();
  while (isSending()) {
    hanging.unanswered.pop()?.();
    await Bun.sleep(2);
  }
  expect(await sender.log(body.id)).toMatchObject({ status: 'sent' });
});

test('a mail that goes on with another mailbox waits in the lane of that one', async () => {
  await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT, { is_default: true });
  await addDomain(sender.app, 'shop.example.com', hanging);
  const { body } = await sender.send();
  while (hanging.unanswered.length < 1) await Bun.sleep(2);
  const lanes = "SELECT j.lane, m.address FROM jobs j JOIN mailboxes m ON j.lane LIKE '%:' || m.id";
  expect(rows(sender.app, lanes)).toEqual([
    { lane: expect.stringMatching(/^email\.send:transactional:\d+$/), address: 'hello@shop.example.com' },
  ]);
  hanging.unanswered.pop()?.();
  await sender.settle();
  expect(await sender.log(body.id)).toMatchObject({
    status: 'sent',
    attempts: 1,
    from_email: 'hello@shop.example.com',
  });
  expect(await sender.job(body.job_id)).toMatchObject({ status: 'completed', attempts: 1 });
});

test('a mail whose mailbox rests when it is due moves to the lane of another before it is tried', async () => {
  const first = await addDomain(sender.app, 'first.example.com', sink, { is_default: true });
  const { body } = await sender.send({ scheduled_at: '2030-01-15T13:00:00Z' });
  await addDomain(sender.app, 'second.example.com', sink);
  await sender.app.services.mailboxes.setStatus(actor, first, 'paused');
  await sender.pass(3_600_000);
  expect(await sender.log(body.id)).toMatchObject({ status: 'sent', from_email: 'hello@second.example.com' });
  expect(await sender.job(body.job_id)).toMatchObject({ attempts: 1 });
  const { events } = sender.app.services.deliveries.explain(String(body.id));
  expect(events.filter(({ kind }) => kind === 'attempt')).toMatchObject([
    { who: 'hello@second.example.com' },
  ]);
});
