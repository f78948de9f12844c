/** Delivery against relays that take, refuse, defer, hang up or are not there; and what the log says of it. */

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { recipientsOf } from '../../../src/mail/deliveries/beginning.ts';
import { EMAIL_RECORD_RETRY_MS, EMAIL_RECORD_WAIT_MS } from '../../../src/mail/deliveries/sending-now.ts';
import { mailboxChecks } from '../../../src/mail/mailboxes/checks.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { findJob } from '../../../src/platform/jobs/store.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import {
  addDomain,
  addMailbox,
  RELAY_DOWN_PORT,
  rows,
  type Sender,
  senderOf,
  startSender,
} from '../emails/setup.ts';

let sink: SmtpSink;
let sender: Sender;

beforeEach(async () => {
  sink = await startSmtpSink();
  sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', sink);
});
afterEach(async () => {
  await sender.app.stop();
  await sink.stop();
});

const ADA = 'ada@example.org';
const BOB = 'bob@example.org';

async function sendAndSettle(
  fields: Record<string, unknown> = {},
): Promise<{ id: unknown; job_id: unknown }> {
  const { status, body } = await sender.send(fields);
  expect(status).toBe(202);
  await sender.settle();
  return { id: body.id, job_id: body.job_id };
}

test('an address that stands in several fields, however its case, gets one copy', () => {
  const mail = { to_email: 'Ann@x.example', cc: ['ann@x.example', 'bob@x.example'], bcc: ['BOB@x.example'] };
  expect(recipientsOf(mail)).toEqual(['Ann@x.example', 'bob@x.example']);
});

describe('retries', () => {
  test('a deferred mail is tried three times, after exactly 15 and 300 seconds, and then fails', async () => {
    sink.behavior.rcpt = { [ADA]: { code: 450, message: '4.2.1 Busy' } };
    const { id, job_id } = await sendAndSettle();
    expect(await sender.log(id)).toMatchObject({
      status: 'queued',
      attempts: 1,
      smtp_code: 450,
      failed_at: null,
    });
    expect(await sender.job(job_id)).toMatchObject({ status: 'pending', attempts: 1 });
    await sender.pass(14_999);
    expect(await sender.job(job_id)).toMatchObject({ attempts: 1 });
    await sender.pass(1);
    expect(await sender.job(job_id)).toMatchObject({ status: 'pending', attempts: 2 });
    await sender.pass(299_999);
    expect(await sender.job(job_id)).toMatchObject({ attempts: 2 });
    await sender.pass(1);
    expect(await sender.job(job_id)).toMatchObject({
      status: 'failed',
      attempts: 3,
      result: { email_id: id },
      error: expect.stringContaining('Gave up after 3 attempts'),
    });
    expect(await sender.log(id)).toMatchObject({
      status: 'failed',
      attempts: 3,
      smtp_code: 450,
      smtp_response: expect.stringContaining('4.2.1 Busy'),
      bounce_type: 'transient',
      failed_at: new Date(sender.app.clock.now()).toISOString(),
      bounced_at: null,
      sent_at: null,
    });
  });

  test('each attempt keeps whether it went over TLS, and its story says so where the mail was judged', async () => {
    const secured = await startSmtpSink({ tls: 'starttls' });
    await addDomain(sender.app, 'secured.example.com', secured);
    const plain = await sendAndSettle();
    const over_tls = await sendAndSettle({ domain: 'secured.example.com' });
    const nowhere = await sendAndSettle({ domain: await domainWithout() });
    const facts = (id: unknown) => {
      const { events, story } = sender.app.services.deliveries.explain(String(id));
      const attempt = events.find(({ kind }) => kind === 'attempt');
      return [attempt?.tls, story.find((line) => line.startsWith('Attempt 1'))];
    };
    expect(facts(plain.id)).toEqual(['none', expect.stringContaining('was taken without TLS: 250')]);
    expect(facts(over_tls.id)).toEqual(['TLSv1.3', expect.stringContaining('was taken over TLSv1.3: 250')]);
    expect(facts(nowhere.id)).toEqual([null, expect.not.stringContaining('TLS')]);
    await secured.stop();
  });

  test('a relay that reports on mails is given the id by which the report is told apart', async () => {
    const reporting = await startSmtpSink({ offers_dsn: true });
    await addDomain(sender.app, 'reporting.example.com', reporting);
    const { id } = await sendAndSettle({ domain: 'reporting.example.com' });
    expect(reporting.mails[0]?.dsn).toEqual({ ret: 'HDRS', envid: String(id), orcpt: [`rfc822;${ADA}`] });
    await reporting.stop();
  });

  test('a relay that comes back in time gets the mail once, under the same Message-ID', async () => {
    sink.behavior.data = { code: 451, message: '4.3.0 Try later' };
    const { id } = await sendAndSettle();
    delete sink.behavior.data;
    await sender.pass(15_000);
    const log = await sender.log(id);
    expect(log).toMatchObject({
      status: 'sent',
      attempts: 2,
      error: null,
      smtp_code: 250,
      bounce_type: null,
    });
    expect(sink.mails.length).toBe(1);
    expect(sink.mails[0]?.raw.toString()).toContain(`Message-ID: ${log.message_id}`);
  });

  test('a relay that is not there is connection trouble: three attempts, then failed', async () => {
    const { id, job_id } = await sendAndSettle({ domain: await domainWithout() });
    await sender.pass(15_000);
    await sender.pass(300_000);
    expect(await sender.job(job_id)).toMatchObject({ status: 'failed', attempts: 3 });
    expect(await sender.log(id)).toMatchObject({ status: 'failed', smtp_code: null, bounce_type: null });
  });

  test('a connection that is lost after the content is tried again', async () => {
    sink.behavior.drop_after_data = true;
    const { id } = await sendAndSettle();
    expect(await sender.log(id)).toMatchObject({ status: 'queued', attempts: 1 });
    sink.behavior.drop_after_data = false;
    await sender.pass(30 * 60_000);
    expect(await sender.log(id)).toMatchObject({ status: 'sent', attempts: 2 });
    // Should somebody get it twice, its story says why.
    const story = sender.app.services.deliveries.explain(String(id)).story.join('\n');
    expect(story).toMatch(/Attempt 1.*the relay may have taken/);
    expect(story).not.toContain('could not reach');
  });

  async function domainWithout(): Promise<string> {
    await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT);
    return 'down.example.com';
  }
});

describe('a 5xx ends it at once', () => {
  test('at RCPT the mail is bounced, permanently', async () => {
    sink.behavior.rcpt = { [ADA]: { code: 550, message: '5.1.1 No such user' } };
    const { id, job_id } = await sendAndSettle();
    expect(await sender.log(id)).toMatchObject({
      status: 'bounced',
      bounce_type: 'permanent',
      attempts: 1,
      smtp_code: 550,
      smtp_response: expect.stringContaining('5.1.1 No such user'),
      refused: [{ address: ADA, smtp_code: 550, response: expect.stringContaining('No such user') }],
      bounced_at: new Date(sender.app.clock.now()).toISOString(),
      failed_at: null,
      sent_at: null,
    });
    expect(await sender.job(job_id)).toMatchObject({ status: 'failed', result: { email_id: id } });
  });

  test('what is said of a bounce is what was said of its recipient, not of a copy that is tried again', async () => {
    sink.behavior.rcpt = {
      [ADA]: { code: 550, message: '5.1.1 No such user' },
      [BOB]: { code: 450, message: '4.2.0 Later' },
    };
    const { id } = await sendAndSettle({ cc: [BOB] });
    await sender.pass(15_000);
    await sender.pass(300_000);
    expect(await sender.log(id)).toMatchObject({
      status: 'bounced',
      attempts: 3,
      bounce_type: 'permanent',
      smtp_code: 550,
      smtp_response: expect.stringContaining('No such user'),
      error: expect.stringContaining('No such user'),
    });
    const attempts = 'SELECT smtp_code FROM email_attempts WHERE attempt > 1';
    expect(rows(sender.app, attempts)).toEqual([{ smtp_code: 450 }, { smtp_code: 450 }]);
    const waited_for = await sender.send({ cc: [BOB], queue: false });
    expect(waited_for.status).toBe(422);
    expect(waited_for.body.message).toContain('refused the recipient with 550');
  });

  test('at RCPT it is no bounce where the relay speaks of us and not of the recipient', async () => {
    const heard: string[] = [];
    sender.app.services.deliveries.listeners.add((_tx, event) => heard.push(event.kind));
    sink.behavior.rcpt = { [ADA]: { code: 554, message: '5.7.1 Client host rejected' } };
    const { id } = await sendAndSettle();
    expect(await sender.log(id)).toMatchObject({
      status: 'failed',
      bounce_type: null,
      bounced_at: null,
      attempts: 1,
      smtp_code: 554,
      error: 'The relay refused what comes from this mailbox: 554 5.7.1 Client host rejected',
      refused: [{ address: ADA, smtp_code: 554, about: 'mailbox' }],
    });
    expect(heard).toEqual(['failed']);
  });

  for (const stage of ['mail', 'data'] as const) {
    test(`at ${stage} the mail has failed, and nothing is said of its recipient`, async () => {
      sink.behavior[stage] = { code: 554, message: '5.7.1 Policy' };
      const { id } = await sendAndSettle();
      expect(await sender.log(id)).toMatchObject({
        status: 'failed',
        bounce_type: null,
        smtp_code: 554,
        attempts: 1,
      });
    });
  }

  test('a hard bounce is told to whoever listens, with its address; a refused message is not', async () => {
    const heard: unknown[] = [];
    sender.app.services.deliveries.listeners.add((_tx, event) => heard.push([event.kind, event.address]));
    sink.behavior.rcpt = { [ADA]: { code: 550, message: '5.1.1 No such user' } };
    await sendAndSettle();
    sink.behavior.rcpt = {};
    await sendAndSettle();
    sink.behavior.data = { code: 554, message: '5.7.1 Policy' };
    await sendAndSettle();
    expect(heard).toEqual([
      ['bounced', ADA],
      ['sent', ADA],
      ['failed', ADA],
    ]);
  });
});

describe('a 5xx at RCPT that is not about the recipient', () => {
  for (const message of ['5.7.1 Client host blocked', '5.7.1 Sender address rejected: not owned by user']) {
    test(`(${message}) has failed, bounces nobody, and is tried again with all that failed`, async () => {
      const heard: unknown[] = [];
      sender.app.services.deliveries.listeners.add((_tx, event) => heard.push([event.kind, event.address]));
      sink.behavior.rcpt = { [ADA]: { code: 554, message } };
      const { id } = await sendAndSettle();
      expect(await sender.log(id)).toMatchObject({
        status: 'failed',
        attempts: 1,
        bounce_type: null,
        bounced_at: null,
        error: expect.stringContaining('what comes from this mailbox'),
      });
      expect(heard).toEqual([['failed', ADA]]);
      const { results } = await sender.app.services.deliveries.requeueFailed(actor, 0);
      expect(results).toEqual([{ id: String(id), job_id: expect.any(String) }]);
    });
  }
});

test('what a relay holds against a mailbox is named by doctor until it takes a mail, and for a day at most', async () => {
  const { mailboxes } = sender.app.services;
  const finding = () => mailboxChecks({ mailboxes })[0]?.run();
  const state = () => mailboxes.list()[0];
  await sendAndSettle();
  const last_success_at = state()?.last_success_at;
  sender.app.clock.advance(1_000);
  sink.behavior.mail = { code: 550, message: '5.7.1 Sender not owned' };
  await sendAndSettle();
  expect(state()).toMatchObject({
    refusal: expect.stringContaining('5.7.1 Sender not owned'),
    refused_at: new Date(sender.app.clock.now()).toISOString(),
    last_success_at,
    failures: 0,
  });
  expect(finding()).toMatchObject([
    {
      status: 'problem',
      message: expect.stringMatching(/hello@mail\.example\.com was refused .*5\.7\.1 Sender not owned/),
    },
  ]);
  // A bounce is no success, and speaks of nothing but its recipient.
  delete sink.behavior.mail;
  sink.behavior.rcpt = { [ADA]: { code: 550, message: '5.1.1 No such user' } };
  await sendAndSettle();
  expect(state()?.refusal).toContain('5.7.1');
  sink.behavior.rcpt = {};
  await sendAndSettle();
  expect(state()).toMatchObject({ refusal: null, refused_at: null });
  expect(finding()).toMatchObject([{ status: 'ok' }]);
  sink.behavior.data = { code: 554, message: 'Transaction failed' };
  await sendAndSettle();
  expect(state()?.refusal).toContain('554');
  sender.app.clock.advance(86_400_000);
  expect(state()?.refusal).toBeNull();
});

describe('several recipients', () => {
  test('refused itself while a copy was taken, a mail is bounced; its waiting client learns who has it', async () => {
    sink.behavior.rcpt = { [ADA]: { code: 550, message: '5.1.1 No Ada' } };
    const { id, job_id } = await sendAndSettle({ cc: [BOB] });
    expect(await sender.log(id)).toMatchObject({
      status: 'bounced',
      bounce_type: 'permanent',
      sent_at: null,
    });
    expect(await sender.job(job_id)).toMatchObject({ status: 'failed' });
    const { status, body } = await sender.send({ cc: [BOB], queue: false });
    expect(status).toBe(422);
    expect(body).toMatchObject({
      code: 'bounced',
      errors: { to: [expect.any(String)], delivered: [BOB] },
      email_id: expect.any(String),
    });
    expect(sink.mails.map((mail) => mail.envelope.to)).toEqual([[BOB], [BOB]]);
    expect((await sender.send({ queue: false })).body).not.toHaveProperty('code');
  });

  test('deferred itself while a copy was taken, a mail waits, and is sent to its own recipient alone', async () => {
    sink.behavior.rcpt = { [ADA]: { code: 450, message: '4.2.0 Later' } };
    const { id } = await sendAndSettle({ cc: [BOB] });
    expect(await sender.log(id)).toMatchObject({ status: 'queued', sent_at: null });
    sink.behavior.rcpt = {};
    await sender.pass(15_000);
    expect(await sender.log(id)).toMatchObject({ status: 'sent', sent_at: expect.any(String) });
    expect(sink.mails.map((mail) => mail.envelope.to)).toEqual([[BOB], [ADA]]);
  });

  test('some refused, others taken: the mail is sent and the refusal recorded', async () => {
    sink.behavior.rcpt = { [BOB]: { code: 550, message: '5.1.1 No Bob' } };
    const { id, job_id } = await sendAndSettle({ cc: [BOB] });
    expect(await sender.log(id)).toMatchObject({
      status: 'sent',
      refused: [{ address: BOB, smtp_code: 550 }],
      error: expect.stringContaining('No Bob'),
    });
    expect(await sender.job(job_id)).toMatchObject({ status: 'completed' });
    await sender.pass(600_000);
    expect(sink.mails.length).toBe(1);
  });

  test('some deferred, others taken: it is sent at once, and a retry addresses only those not taken', async () => {
    sink.behavior.rcpt = { [BOB]: { code: 450, message: '4.2.0 Later' } };
    const { id, job_id } = await sendAndSettle({ bcc: [BOB] });
    const first_sent_at = new Date(sender.app.clock.now()).toISOString();
    expect(await sender.log(id)).toMatchObject({ status: 'sent', sent_at: first_sent_at });
    expect(await sender.job(job_id)).toMatchObject({ status: 'pending' });
    sink.behavior.rcpt = {};
    await sender.pass(15_000);
    expect(sink.mails.map((mail) => mail.envelope.to)).toEqual([[ADA], [BOB]]);
    expect(await sender.log(id)).toMatchObject({
      status: 'sent',
      sent_at: first_sent_at,
      refused: [],
      attempts: 2,
    });
    expect(await sender.job(job_id)).toMatchObject({ status: 'completed', attempts: 2 });
  });

  test('who stays deferred is recorded as refused in the end, and the mail stays sent', async () => {
    sink.behavior.rcpt = { [BOB]: { code: 450, message: '4.2.0 Later' } };
    const { id, job_id } = await sendAndSettle({ cc: [BOB] });
    await sender.pass(15_000);
    await sender.pass(300_000);
    expect(await sender.log(id)).toMatchObject({
      status: 'sent',
      refused: [{ address: BOB, smtp_code: 450 }],
    });
    expect(await sender.job(job_id)).toMatchObject({ status: 'completed', attempts: 3 });
    expect(sink.mails.length).toBe(1);
  });

  test('a copy that is refused for good is no bounce of a mail whose own recipient is only deferred', async () => {
    sink.behavior.rcpt = {
      [ADA]: { code: 450, message: '4.2.0 Later' },
      [BOB]: { code: 550, message: '5.1.1 No such user' },
    };
    const { id } = await sendAndSettle({ cc: [BOB] });
    await sender.pass(15_000);
    await sender.pass(300_000);
    expect(await sender.log(id)).toMatchObject({
      status: 'failed',
      attempts: 3,
      bounce_type: 'transient',
      bounced_at: null,
      refused: [
        { address: BOB, smtp_code: 550 },
        { address: ADA, smtp_code: 450 },
      ],
    });
  });

  test('the same address in to and cc gets one copy', async () => {
    await sendAndSettle({ cc: [ADA, BOB], bcc: [BOB] });
    expect(sink.mails[0]?.envelope.to).toEqual([ADA, BOB]);
  });
});

describe('a synchronous send', () => {
  test('that is refused for good is 422 with email_id and job_id, and logged', async () => {
    sink.behavior.rcpt = { [ADA]: { code: 550, message: '5.1.1 No such user' } };
    const { status, body } = await sender.send({ queue: false });
    expect(status).toBe(422);
    expect(body).toMatchObject({ success: false, errors: { to: [expect.any(String)] } });
    expect(await sender.log(body.email_id)).toMatchObject({ status: 'bounced', attempts: 1 });
    expect(await sender.job(body.job_id)).toMatchObject({
      status: 'failed',
      attempts: 1,
      result: { email_id: body.email_id },
    });
  });

  test('that is deferred is 503 after one attempt, and never tried again', async () => {
    sink.behavior.data = { code: 451, message: '4.3.0 Try later' };
    const { status, body, headers } = await sender.send({ queue: false });
    expect(status).toBe(503);
    expect(headers.get('retry-after')).not.toBeNull();
    expect(await sender.log(body.email_id)).toMatchObject({ status: 'failed', smtp_code: 451 });
    delete sink.behavior.data;
    await sender.pass(600_000);
    expect(sink.mails.length).toBe(0);
    expect(await sender.job(body.job_id)).toMatchObject({ status: 'failed', attempts: 1 });
  });

  test('that could not be recorded because the database was busy is recorded later', async () => {
    const { database, mailer } = sender.app.services;
    const deliver = mailer.deliver.bind(mailer);
    const handing = spyOn(mailer, 'deliver').mockImplementation(async (...mail) => {
      const outcome = await deliver(...mail);
      spyOn(database, 'write').mockImplementationOnce(() =>
        Promise.reject(new AppError('unavailable', 'The database is busy.')),
      );
      return outcome;
    });
    const { status, body } = await sender.send({ queue: false });
    handing.mockRestore();
    expect(status).toBe(201);
    expect(await sender.log(body.id)).toMatchObject({ status: 'sent', attempts: 1 });
    expect(await sender.job(body.job_id)).toMatchObject({ status: 'completed' });
  });

  test('that cannot be recorded for long is told to have been taken, and recorded all the same', async () => {
    const { database, mailer } = sender.app.services;
    const deliver = mailer.deliver.bind(mailer);
    const handing = spyOn(mailer, 'deliver').mockImplementation(async (...mail) => {
      const outcome = await deliver(...mail);
      writing.mockImplementation(() => Promise.reject(new AppError('unavailable', 'The disk is full.')));
      return outcome;
    });
    const writing = spyOn(database, 'write');
    const { setTimeout: start } = globalThis;
    const shorter = new Map([
      [EMAIL_RECORD_WAIT_MS, 20],
      [EMAIL_RECORD_RETRY_MS, 300],
    ]);
    const timing = spyOn(globalThis, 'setTimeout').mockImplementation(
      Object.assign((work: () => void, ms = 0) => start(work, shorter.get(ms) ?? ms), start),
    );
    const send = () => sender.send({ queue: false }, { 'Idempotency-Key': 'taken' });
    const { status, body, headers } = await send();
    expect(status).toBe(503);
    expect(body.message).toStartWith('The relay took the message');
    expect(headers.get('retry-after')).not.toBeNull();
    expect(await sender.job(body.job_id)).toMatchObject({ status: 'processing' });
    writing.mockRestore();
    handing.mockRestore();
    // There is room again, and yet this mail is still to be recorded: the same request must not send another.
    const again = await send();
    expect(again.status).toBe(503);
    expect(again.body.message).toContain('Idempotency-Key');
    let last = await send();
    while (last.status === 503) {
      await Bun.sleep(2);
      last = await send();
    }
    timing.mockRestore();
    expect(last).toMatchObject({ status: 201, body: { id: body.email_id } });
    expect(await sender.log(body.email_id)).toMatchObject({ status: 'sent', attempts: 1 });
    expect(await sender.job(body.job_id)).toMatchObject({ status: 'completed' });
    expect(sink.mails).toHaveLength(1);
  });

  test('with a relay that is not there is 503', async () => {
    await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT);
    const { status, body } = await sender.send({ queue: false, domain: 'down.example.com' });
    expect(status).toBe(503);
    expect(await sender.log(body.email_id)).toMatchObject({ status: 'failed' });
  });
});

test('a log-in that the relay refuses is told as that, and blamed on no message', async () => {
  const guarded = await startSmtpSink({ users: { shop: 'right' }, offers_plain_auth: true });
  const relay = parseRelay(`smtp://shop:wrong@127.0.0.1:${guarded.port}`);
  const { sending_domains, mailboxes } = sender.app.services;
  await sending_domains.add(actor, { name: 'guarded.example.com', is_trusted: true, is_default: false });
  await mailboxes.add(actor, { address: 'hello@guarded.example.com', relay });
  const { body } = await sender.send({ queue: false, domain: 'guarded.example.com' });
  expect(body.message).toBe(
    'The relay refused the log-in or the connection with 535; its words are in the email log.',
  );
  expect(await sender.log(body.email_id)).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('The relay refused the log-in: 535'),
  });
  await guarded.stop();
});

describe('a mailbox that does not connect', () => {
  test('is passed over within the attempt where the domain was left open', async () => {
    await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT, { is_default: true });
    const { status, body } = await sender.send({ queue: false });
    expect(status).toBe(201);
    expect(body).toMatchObject({ from_email: 'hello@mail.example.com', domain: 'mail.example.com' });
    expect(await sender.log(body.id)).toMatchObject({ attempts: 1, from_email: 'hello@mail.example.com' });
    expect(rows(sender.app, 'SELECT attempt, mailbox, outcome FROM email_attempts ORDER BY id')).toEqual([
      { attempt: 1, mailbox: 'hello@down.example.com', outcome: 'unreachable' },
      { attempt: 1, mailbox: 'hello@mail.example.com', outcome: 'sent' },
    ]);
    const usage =
      'SELECT m.address, u.n FROM mailbox_usage u JOIN mailboxes m ON m.id = u.mailbox_id ORDER BY 1';
    expect(rows(sender.app, usage)).toEqual([
      { address: 'hello@down.example.com', n: 0 },
      { address: 'hello@mail.example.com', n: 1 },
    ]);
  });

  test('ends the attempt of a client that waits where the next one cannot be noted, as on a full disk', async () => {
    await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT, { is_default: true });
    const { database, mailer } = sender.app.services;
    const deliver = mailer.deliver.bind(mailer);
    const handing = spyOn(mailer, 'deliver').mockImplementation(async (...mail) => {
      const outcome = await deliver(...mail);
      spyOn(database, 'write').mockImplementationOnce(() =>
        Promise.reject(new AppError('unavailable', 'The disk of the server is full.')),
      );
      return outcome;
    });
    const { status, body } = await sender.send({ queue: false });
    expect(status).toBe(503);
    expect(await sender.log(body.email_id)).toMatchObject({ status: 'failed', attempts: 1 });
    // One that nobody waits for goes on as soon as that can be noted.
    const { id, job_id } = await sendAndSettle();
    handing.mockRestore();
    expect(await sender.log(id)).toMatchObject({ status: 'sent', attempts: 1 });
    expect(await sender.job(job_id)).toMatchObject({ status: 'completed', attempts: 1 });
  });

  test('is not what a relay is that was lost after the content: no other one gets the mail in that attempt', async () => {
    const lossy = await startSmtpSink({ drop_after_data: true });
    await addDomain(sender.app, 'lossy.example.com', lossy, { is_default: true });
    const { status, body } = await sender.send({ queue: false });
    expect(status).toBe(503);
    // Whoever sends it again should know that it may arrive twice.
    expect(body).toMatchObject({ code: 'outcome_unknown', message: expect.stringContaining('twice') });
    expect(await sender.log(body.email_id)).toMatchObject({ status: 'unknown', attempts: 1 });
    expect(rows(sender.app, 'SELECT mailbox FROM email_attempts')).toEqual([
      { mailbox: 'hello@lossy.example.com' },
    ]);
    expect(sink.mails).toHaveLength(0);
    await lossy.stop();
  });

  test('rests for longer and longer, is shown so, and is tried again', async () => {
    await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT, { is_default: true });
    const { mailboxes } = sender.app.services;
    const state = () => mailboxes.list().find((mailbox) => mailbox.address === 'hello@down.example.com');
    const attempt = async (): Promise<void> => {
      sender.app.clock.advance(1);
      await sender.send({ queue: false });
    };
    const restOf = (): number => Date.parse(state()?.resting_until ?? '') - sender.app.clock.now();
    await attempt();
    await attempt();
    expect(state()).toMatchObject({ state: 'active', failures: 2, last_error: expect.any(String) });
    await attempt();
    expect(state()).toMatchObject({ state: 'resting', failures: 3 });
    expect(restOf()).toBe(30_000);
    await attempt();
    expect(state()).toMatchObject({ failures: 3 });
    sender.app.clock.advance(30_000);
    await attempt();
    expect(state()).toMatchObject({ state: 'resting', failures: 4 });
    expect(restOf()).toBe(60_000);
    await mailboxes.setStatus(actor, 'hello@down.example.com', 'active');
    expect(state()).toMatchObject({ state: 'active', failures: 0, resting_until: null });
  });

  test('has failed once when many mails fail at once, and not at all once it works again', async () => {
    const { mailboxes } = sender.app.services;
    const state = () => mailboxes.list().find((mailbox) => mailbox.address === 'hello@mail.example.com');
    const send = () => sender.send({ queue: false });
    expect((await send()).status).toBe(201);
    sink.behavior.greeting = { code: 421, message: '4.3.2 Later' };
    sink.dropConnections();
    sender.app.clock.advance(1);
    await Promise.all(Array.from({ length: 5 }, send));
    expect(state()).toMatchObject({ state: 'active', failures: 1 });
    for (const failures of [2, 3]) {
      sender.app.clock.advance(20_000);
      await send();
      expect(state()).toMatchObject({ failures });
    }
    sender.app.clock.advance(26_000);
    // It rests now, and is tried as no other one is awake; success so soon after the last one counts at once.
    delete sink.behavior.greeting;
    expect((await send()).status).toBe(201);
    expect(state()).toMatchObject({ state: 'active', failures: 0, resting_until: null });
  });

  test('is used all the same when no other one is awake, so that a mail has its attempts', async () => {
    await addDomain(sender.app, 'down.example.com', RELAY_DOWN_PORT);
    for (let n = 0; n < 4; n++) {
      sender.app.clock.advance(1);
      await sender.send({ queue: false, domain: 'down.example.com' });
    }
    const { job_id } = await sendAndSettle({ domain: 'down.example.com' });
    expect(await sender.job(job_id)).toMatchObject({ status: 'pending', attempts: 1 });
  });

  test('is not stood in for by one that captures: what was only captured must not count as sent', async () => {
    await sender.app.services.mailboxes.remove(actor, 'hello@mail.example.com');
    await addMailbox(sender.app, 'down@mail.example.com', RELAY_DOWN_PORT);
    await addMailbox(sender.app, 'kept@mail.example.com', null);
    await addDomain(sender.app, 'capture.example.com', null);
    for (const fields of [{}, { domain: 'mail.example.com' }]) {
      const { status, body } = await sender.send({ queue: false, ...fields });
      expect(status).toBe(503);
      expect(await sender.log(body.email_id)).toMatchObject({ status: 'failed' });
    }
    const { id } = await sendAndSettle();
    expect(await sender.log(id)).toMatchObject({ status: 'queued', attempts: 1 });
    expect(sender.app.services.deliveries.listCaptured({ per_page: 10 }).data).toEqual([]);
    const asked = await sender.send({ queue: false, domain: 'capture.example.com' });
    expect(asked.body).toMatchObject({ status: 'sent', from_email: 'hello@capture.example.com' });
  });

  test('that is another one of the same domain takes over too', async () => {
    await addDomain(sender.app, 'two.example.com', RELAY_DOWN_PORT);
    await addMailbox(sender.app, 'zulu@two.example.com', sink);
    const { body } = await sender.send({ queue: false, domain: 'two.example.com' });
    expect(body).toMatchObject({ from_email: 'zulu@two.example.com' });
  });
});

describe('the mailbox is chosen when the mail is due', () => {
  test('one that was removed meanwhile is replaced, and the quota moves along', async () => {
    const { body } = await sender.send({ scheduled_at: '2030-01-15T13:00:00Z' });
    await addDomain(sender.app, 'new.example.com', sink);
    await sender.app.services.mailboxes.remove(actor, 'hello@mail.example.com');
    await sender.pass(3_600_000);
    const log = await sender.log(body.id);
    expect(log).toMatchObject({
      status: 'sent',
      from_email: 'hello@new.example.com',
      domain: 'new.example.com',
    });
    expect(log.message_id).toContain('@mail.example.com');
    expect(rows(sender.app, 'SELECT n FROM mailbox_usage')).toEqual([{ n: 1 }]);
  });

  test('one that is removed between the beginning of an attempt and its relay has the attempt go on with another', async () => {
    const { attempts } = sender.app.services.deliveries;
    const { database, mailboxes } = sender.app.services;
    const { body } = await sender.send({ scheduled_at: '2030-01-15T13:00:00Z' });
    const job = findJob(database.read, String(body.job_id));
    const begun = await database.write((tx) => job && attempts.begin(tx, job, sender.app.clock.now()));
    if (!begun?.go) throw new Error('the attempt did not begin');
    await mailboxes.remove(actor, 'hello@mail.example.com');
    const alone = await attempts.run(begun.started);
    expect(alone).toMatchObject({
      next: { kind: 'retry' },
      verdict: {
        is_over: false,
        error: expect.stringContaining('no mailbox to go out from: It was removed'),
      },
    });
    await addDomain(sender.app, 'new.example.com', sink);
    const { next, apply } = await attempts.run(begun.started);
    expect(next).toEqual({ kind: 'elsewhere', mailbox_id: mailboxes.require('hello@new.example.com').id });
    await database.write(apply);
    await sender.pass(3_600_000);
    expect(await sender.log(body.id)).toMatchObject({ status: 'sent', from_email: 'hello@new.example.com' });
  });

  test('with none left each attempt says so, and the mail fails in the end', async () => {
    const { body } = await sender.send({ scheduled_at: '2030-01-15T13:00:00Z' });
    await sender.app.services.mailboxes.setStatus(actor, 'hello@mail.example.com', 'paused');
    await sender.pass(3_600_000);
    await sender.pass(15_000);
    expect(await sender.log(body.id)).toMatchObject({ status: 'queued', attempts: 2 });
    await sender.pass(300_000);
    expect(await sender.log(body.id)).toMatchObject({
      status: 'failed',
      attempts: 3,
      error: expect.stringMatching(/^Gave up after 3 attempts\. There was no mailbox .*no usable mailbox/),
    });
    const { story } = sender.app.services.deliveries.explain(String(body.id));
    expect(story.join('\n')).toMatch(/Attempt 3, \S+, had no mailbox to go out from: .*is paused/);
    // Nobody has asked one.
    expect(story.join('\n')).not.toContain('relay');
  });
});

describe('captured mail', () => {
  test('of a test key is stored as it would have been sent, and no relay sees it', async () => {
    const key = await sender.project.key({ can_send_emails: true, is_test: true });
    const answer = await sender.app.call('POST', '/api/v1/emails/send', {
      key,
      body: { to: ADA, subject: 'Hello', body_text: 'Hi Ada', bcc: [BOB] },
    });
    await sender.settle();
    expect(sink.mails.length).toBe(0);
    expect(await sender.log(answer.body.id)).toMatchObject({ status: 'sent', captured: true });
    const message = await sender.app.services.deliveries.readCaptured(String(answer.body.id));
    expect(message).toMatchObject({ from: 'hello@mail.example.com', to: [ADA, BOB], subject: 'Hello' });
    expect(message.raw).toContain('Hi Ada');
    expect(message.raw).toContain('DKIM-Signature:');
  });

  test('has the envelope it would have been sent with, its return path included', async () => {
    const return_path = 'bounces@mail.example.com';
    await sender.app.services.mailboxes.change(actor, 'hello@mail.example.com', {
      return_path,
    });
    const tester = await sender.project.key({ can_send_emails: true, is_test: true });
    const { body } = await senderOf(sender.app, sender.project, tester).send({ queue: false });
    const message = await sender.app.services.deliveries.readCaptured(String(body.id));
    expect(message).toMatchObject({ from: return_path, to: [ADA] });
    expect(message.raw).toContain('From: hello@mail.example.com');
  });

  test('is told from mail that went out, until a retry sends it', async () => {
    await addDomain(sender.app, 'capture.example.com', null);
    const { id: relayed } = await sendAndSettle();
    const { id } = await sendAndSettle({ domain: 'capture.example.com' });
    expect((await sender.log(relayed)).captured).toBe(false);
    expect((await sender.log(id)).captured).toBe(true);
    const { body } = await sender.get('/emails');
    expect(body.data).toMatchObject([
      { id, captured: true },
      { id: relayed, captured: false },
    ]);
    expect((await sender.get('/emails.csv')).text).toMatch(/,captured,.*\n.*,true,.*\n.*,false,/);
    const { deliveries } = sender.app.services;
    await deliveries.reportByHand(actor, String(id), { kind: 'bounced' });
    await deliveries.requeueOne(actor, String(id));
    expect((await sender.log(id)).captured).toBe(false);
    await sender.settle();
    expect(await sender.log(id)).toMatchObject({ status: 'sent', captured: true });
  });

  test('to the simulator acts its outcomes out', async () => {
    await addDomain(sender.app, 'capture.example.com', null);
    const to = async (local: string, fields = {}) =>
      sender.send({ to: `${local}@simulator.satchel.test`, domain: 'capture.example.com', ...fields });
    const bounced = await to('bounce');
    const complained = await to('complaint');
    const deferred = await to('defer');
    await sender.settle();
    expect(await sender.log(bounced.body.id)).toMatchObject({
      status: 'bounced',
      bounce_type: 'permanent',
      captured: false,
    });
    expect(await sender.log(complained.body.id)).toMatchObject({
      status: 'complained',
      sent_at: expect.any(String),
      complained_at: expect.any(String),
    });
    expect(await sender.log(deferred.body.id)).toMatchObject({ status: 'queued', attempts: 1 });
    await sender.pass(15_000);
    await sender.pass(300_000);
    expect(await sender.log(deferred.body.id)).toMatchObject({ status: 'failed', attempts: 3 });
    expect((await to('bounce', { queue: false })).status).toBe(422);
    expect((await to('defer', { queue: false })).status).toBe(503);
  });
});

test('a relay that hangs holds up no mail of another domain', async () => {
  const hanging = await startSmtpSink({ hang: 'greeting' });
  await addDomain(sender.app, 'hang.example.com', hanging);
  for (let n = 0; n < 60; n++) await sender.send({ domain: 'hang.example.com' });
  await sender.send({ domain: 'mail.example.com' });
  const [mail] = await sink.waitForMails(1);
  expect(mail?.envelope.from).toBe('hello@mail.example.com');
  await hanging.stop();
});
