/** Mail of which a relay had everything and never answered, and relays that take their time: who waits for them, and how long. */

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { SEND_ANSWER_MS } from '../../../src/limits.ts';
import { UNANSWERED_RETRIES_MS } from '../../../src/mail/deliveries/patience.ts';
import { emailChecks } from '../../../src/mail/emails/checks.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { HOUR_MS, MINUTE_MS, toIso } from '../../../src/platform/host/clock.ts';
import { startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { addContacts } from '../../marketing/sequences/setup.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { startOddRelay } from '../../support/odd-relay.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { addDomain, rows, type Sender, senderOf, startSender } from '../emails/setup.ts';

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

const storyOf = (id: unknown): string => sender.app.services.deliveries.explain(String(id)).story.join('\n');
const messageIds = (): (string | undefined)[] =>
  sink.mails.map(({ raw }) => /^Message-ID: (.+)\r$/m.exec(raw.toString())?.[1]);

async function lose(fields: Record<string, unknown> = {}, key = 'lost') {
  sink.behavior = { drop_after_data: true };
  const { status, body } = await sender.send(fields, { 'Idempotency-Key': key });
  await sender.settle();
  return { status, body, id: body.id ?? body.email_id, job_id: body.job_id };
}

/** Has a client that waits be answered after a moment in place of SEND_ANSWER_MS. */
function answerSoon() {
  const { setTimeout: start } = globalThis;
  const soon = (ms: number): number => (ms > SEND_ANSWER_MS - 9_000 && ms <= SEND_ANSWER_MS ? 100 : ms);
  return spyOn(globalThis, 'setTimeout').mockImplementation(
    Object.assign((work: () => void, ms = 0) => start(work, soon(ms)), start),
  );
}

describe('a queued mail whose answer never comes', () => {
  test('is tried again after 30 minutes and 4 hours, under one Message-ID, and then is unknown', async () => {
    expect(UNANSWERED_RETRIES_MS).toEqual([30 * MINUTE_MS, 4 * HOUR_MS]);
    const lost_at = sender.app.clock.now();
    const { id, job_id } = await lose();
    const steps: [ms: number, attempts: number][] = [
      [30 * MINUTE_MS - 1, 1],
      [1, 2],
      [3.5 * HOUR_MS - 1, 2],
    ];
    expect(storyOf(id)).toContain(
      `Next: another attempt comes at ${toIso(lost_at + 30 * MINUTE_MS)}, the first of two since its relay may have taken it.`,
    );
    for (const [ms, attempts] of steps) {
      // By the clock that mends itself each hour it comes no earlier.
      await sender.app.services.deliveries.mendTimes();
      await sender.pass(ms);
      expect(await sender.log(id)).toMatchObject({ status: 'queued', attempts });
    }
    expect(storyOf(id)).toContain('the last since its relay may have taken it');
    await sender.pass(1);
    const log = await sender.log(id);
    expect(log).toMatchObject({ status: 'unknown', attempts: 3, failed_at: toIso(lost_at + 4 * HOUR_MS) });
    expect(log.error).toStartWith('Whether it was sent is unknown');
    expect(await sender.job(job_id)).toMatchObject({ status: 'failed' });
    expect(rows(sender.app, 'SELECT DISTINCT outcome, may_be_sent FROM email_attempts')).toEqual([
      { outcome: 'unanswered', may_be_sent: 1 },
    ]);
    expect(storyOf(id)).toContain('sent again, it may arrive twice. To try again: satchel email retry');
    const { body } = await sender.get('/emails?status=unknown');
    expect(body.meta).toMatchObject({ total: 1 });
    const { deliveries, database } = sender.app.services;
    expect(deliveries.outcomes.entries()).toContainEqual(['unknown', 1]);
    const now_ms = sender.app.clock.now();
    const [check] = emailChecks({ sqlite: database.read.$client, now_ms });
    expect(await check?.run()).toMatchObject([
      { status: 'warning', message: expect.stringMatching(/^1 of/) },
    ]);

    const all = await deliveries.requeueFailed(actor, 0);
    expect(all).toMatchObject({ results: [], left_out: [{ id, reason: expect.stringContaining('twice') }] });
    sink.behavior = {};
    expect(await deliveries.requeue(actor, [String(id)])).toMatchObject([{ id, job_id: expect.any(String) }]);
    await sender.settle();
    expect(await sender.log(id)).toMatchObject({ status: 'sent', attempts: 4, error: null });
    expect(messageIds()).toEqual([String(log.message_id)]);
  });

  test('is decided by an answer as ever', async () => {
    const { id } = await lose();
    sink.behavior = { data: { code: 451, message: '4.2.0 Greylisted, try again later' } };
    await sender.pass(30 * MINUTE_MS);
    expect(await sender.log(id)).toMatchObject({ status: 'queued', attempts: 2, smtp_code: 451 });
    for (const ms of [15_000, 300_000]) await sender.pass(ms);
    expect(await sender.log(id)).toMatchObject({ status: 'failed', attempts: 4 });
    const { id: other } = await lose({}, 'other');
    sink.behavior = { data: { code: 554, message: '5.6.0 No' } };
    await sender.pass(30 * MINUTE_MS);
    expect(await sender.log(other)).toMatchObject({ status: 'failed', attempts: 2 });
  });

  test('is not decided by a relay that is not there', async () => {
    const { id } = await lose();
    const { mailboxes } = sender.app.services;
    await mailboxes.change(actor, 'hello@mail.example.com', { relay: parseRelay('smtp://127.0.0.1:9') });
    await sender.pass(30 * MINUTE_MS);
    expect(await sender.log(id)).toMatchObject({ status: 'queued', attempts: 2 });
    await sender.pass(3.5 * HOUR_MS);
    expect(await sender.log(id)).toMatchObject({ status: 'unknown', attempts: 3 });
    // Whatever another server tells of it says more.
    await sender.app.services.deliveries.reportByHand(actor, String(id), { kind: 'bounced' });
    expect(await sender.log(id)).toMatchObject({ status: 'bounced' });
  });
});

test('a stop that waits in vain for an answer leaves mail that its relay may have taken', async () => {
  const { app, key, project } = sender;
  sink.behavior.hang = 'data';
  const { body } = await sender.send();
  const waited_for = sender.send({ queue: false });
  await sink.until(() => sink.unanswered.length === 2);
  const { mailer } = app.services;
  const stop = mailer.stop.bind(mailer);
  const stopping = spyOn(mailer, 'stop').mockImplementation(() => stop(20));
  await app.stop();
  stopping.mockRestore();
  sink.behavior = {};
  sender = senderOf(await startTestApp({ data_dir: app.data_dir, clock: app.clock }), project, key);
  await sender.pass(30 * MINUTE_MS - 1);
  expect(await sender.log(body.id)).toMatchObject({ status: 'queued', attempts: 1 });
  expect(sink.mails).toHaveLength(0);
  await sender.pass(1);
  expect(await sender.log(body.id)).toMatchObject({ status: 'sent', attempts: 2 });
  expect(sink.mails).toHaveLength(1);
  const { body: told } = await waited_for;
  expect(told.code).toBe('outcome_unknown');
  expect(await sender.log(told.email_id)).toMatchObject({ status: 'unknown', attempts: 1 });
});

test('a mail of a broadcast is tried as often, whatever its patience, and is lost in its numbers', async () => {
  const on = await startBroadcastApp({ env: { SATCHEL_MARKETING_PATIENCE_HOURS: '1' } });
  const relay = parseRelay(`smtp://127.0.0.1:${sink.port}`);
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', { relay });
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: 2 });
  sink.behavior.drop_after_data = true;
  const id = await on.broadcast(list);
  await on.send(id);
  await on.pass(0.5);
  expect(await on.show(id)).toMatchObject({ stats: { waiting: 2, lost: 0 } });
  await on.pass(3);
  expect(rows(on.app, 'SELECT DISTINCT status, attempts FROM emails')).toEqual([
    { status: 'queued', attempts: 2 },
  ]);
  await on.pass(0.5);
  expect(rows(on.app, 'SELECT DISTINCT status, attempts FROM emails')).toEqual([
    { status: 'unknown', attempts: 3 },
  ]);
  expect(await on.show(id)).toMatchObject({ status: 'sent', stats: { waiting: 0, sent: 0, lost: 2 } });
  expect([...(await on.turns(id)).values()].map(({ status }) => status)).toEqual(['unknown', 'unknown']);
});

describe('a client that waits', () => {
  test('is told at once where the answer was lost, and told the same again', async () => {
    const { status, body, id, job_id } = await lose({ queue: false });
    expect(status).toBe(503);
    expect(body).toMatchObject({ code: 'outcome_unknown', email_id: id, job_id });
    expect(await sender.log(id)).toMatchObject({ status: 'unknown', attempts: 1 });
    expect(await sender.job(job_id)).toMatchObject({ status: 'failed' });
    sink.behavior = {};
    const again = await sender.send({ queue: false }, { 'Idempotency-Key': 'lost' });
    expect([again.status, again.body]).toEqual([503, body]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(sink.mails).toHaveLength(0);
    const other = await sender.send({ queue: false, subject: 'No' }, { 'Idempotency-Key': 'lost' });
    expect(other.status).toBe(409);
  });

  test('is told within 30 s that nobody knows yet, and the log tells how it ended', async () => {
    expect(SEND_ANSWER_MS).toBeLessThan(30_000);
    const timing = answerSoon();
    sink.behavior.hang = 'data';
    const send = () => sender.send({ queue: false }, { 'Idempotency-Key': 'slow' });
    const { status, body } = await send();
    timing.mockRestore();
    expect([status, body.code]).toEqual([503, 'outcome_unknown']);
    expect(await sender.log(body.email_id)).toMatchObject({ status: 'sending' });
    const log_of = (): Promise<Record<string, unknown>> => sender.log(body.email_id);
    await sink.until(() => sink.unanswered.length > 0);
    for (const answer of sink.unanswered) answer();
    await until(async () => (await log_of()).status === 'sent');
    expect(await sender.job(body.job_id)).toMatchObject({ status: 'completed' });
    const again = await send();
    expect([again.status, again.body]).toEqual([503, body]);
    expect(rows(sender.app, 'SELECT id FROM emails')).toHaveLength(1);
    // After a restart too.
    const { data_dir, clock } = sender.app;
    await sender.app.stop();
    const restarted = senderOf(await startTestApp({ data_dir, clock }), sender.project, sender.key);
    const last = await restarted.send({ queue: false }, { 'Idempotency-Key': 'slow' });
    expect([last.status, last.body]).toEqual([503, body]);
  });

  test('may be gone as its relay answers a stop: that is written down', async () => {
    const timing = answerSoon();
    sink.behavior.hang = 'data';
    const { body } = await sender.send({ queue: false });
    timing.mockRestore();
    await sink.until(() => sink.unanswered.length > 0);
    const stopped = sender.app.stop();
    await Bun.sleep(100);
    for (const answer of sink.unanswered) answer();
    await stopped;
    const { data_dir, clock } = sender.app;
    const restarted = senderOf(await startTestApp({ data_dir, clock }), sender.project, sender.key);
    await restarted.settle();
    expect(await restarted.log(body.email_id)).toMatchObject({ status: 'sent', attempts: 1 });
  });
});

test('a relay that is slow holds up ten connections of its own, and nothing else', async () => {
  const slow = await startOddRelay({ RCPT: '' });
  await addDomain(sender.app, 'slow.example.com', slow.port);
  for (let n = 0; n < 60; n += 1) await sender.send({ domain: 'slow.example.com' });
  await until(() => slow.connections_total === 10);
  const { body } = await sender.send({ domain: 'mail.example.com' });
  await until(async () => (await sender.log(body.id)).status === 'sent');
  const { status } = await sender.send({ domain: 'mail.example.com', queue: false });
  expect(status).toBe(201);
  expect(slow.connections_total).toBe(10);
  slow.stop();
});

describe('no attempt is used up', () => {
  test.each(['ENOSPC', 'EMFILE', 'ENFILE'])('by %s as attachments are read', async (code) => {
    const { objects } = sender.app.services;
    const upload = new FormData();
    upload.set('file', new File(['bytes'], 'a.txt'));
    const { body: file } = await sender.app.call('POST', '/api/v1/objects', {
      key: sender.key,
      body: upload,
    });
    const reading = spyOn(objects, 'withFiles').mockImplementation(() =>
      Promise.reject(Object.assign(new Error(`${code}: no`), { code })),
    );
    const { body } = await sender.send({ attachments: [file.public_id] });
    await sender.settle();
    for (let n = 0; n < 4; n += 1) await sender.pass(300_000);
    expect(await sender.log(body.id)).toMatchObject({ status: 'queued', attempts: 5 });
    reading.mockRestore();
    await sender.pass(300_000);
    expect(await sender.log(body.id)).toMatchObject({ status: 'sent' });
  });
});
