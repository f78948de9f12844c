/** Mail that is under way while its recipient is forgotten: it goes no further, and nothing of them comes back into the log. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, rows, type Sender, startSender } from '../emails/setup.ts';

const ADA = 'ada@example.org';

let sink: SmtpSink;
let sender: Sender;

beforeEach(async () => {
  sink = await startSmtpSink();
  sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', sink, { daily_limit: 10 });
});
afterEach(async () => {
  await sender.app.stop();
  await sink.stop();
});

async function forget(): Promise<number | undefined> {
  const { privacy, projects } = sender.app.services;
  return (await privacy.forget(actor, projects.require(sender.project.slug), ADA)).emails;
}

/** Every text that the tables of mail hold. */
function everything(): string {
  const tables = ['emails', 'email_bodies', 'email_attempts', 'email_reports', 'captured_messages'];
  return JSON.stringify(tables.map((table) => rows(sender.app, `SELECT * FROM ${table}`)));
}

test('a mail that waits for its next attempt is canceled, and keeps its place in the quota', async () => {
  sink.behavior.rcpt = { [ADA]: { code: 450, message: `4.2.1 <${ADA}> is busy` } };
  const { body } = await sender.send({ to: ADA });
  await sender.settle();
  expect(await forget()).toBe(1);
  sink.behavior.rcpt = {};
  await sender.pass(15_000);
  expect(await sender.log(body.id)).toMatchObject({ status: 'canceled', attempts: 1, to: '', refused: [] });
  expect(await sender.job(body.job_id)).toMatchObject({ status: 'failed', attempts: 1 });
  expect(sink.mails).toEqual([]);
  expect(everything()).not.toContain(ADA);
  expect(rows(sender.app, 'SELECT n FROM mailbox_usage')).toEqual([{ n: 1 }]);
});

test('what a relay says of a mail that it had in hand stays out of the log', async () => {
  sink.behavior.hang = 'data';
  const { body } = await sender.send({ to: ADA });
  await sink.until(() => sink.unanswered.length === 1);
  expect(await forget()).toBe(1);
  for (const answer of sink.unanswered) answer();
  await sender.settle();
  expect(await sender.log(body.id)).toMatchObject({ status: 'sent', to: '', smtp_response: null });
  expect(everything()).not.toContain(ADA);
});

test('a mail whose attempt under way is deferred meanwhile is canceled instead of tried again', async () => {
  sink.behavior.hang = 'rcpt';
  const { body } = await sender.send({ to: ADA });
  await sink.until(() => sink.unanswered.length === 1);
  expect(await forget()).toBe(1);
  delete sink.behavior.hang;
  sink.dropConnections();
  await sender.settle();
  await sender.pass(15_000);
  expect(await sender.log(body.id)).toMatchObject({ status: 'canceled', to: '', error: null });
  expect(await sender.job(body.job_id)).toMatchObject({ status: 'failed' });
  expect(everything()).not.toContain(ADA);
});
