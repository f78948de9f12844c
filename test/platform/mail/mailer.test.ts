/** Deliveries through the real worker thread to a real SMTP server: what each answer of the relay comes to. */
import { afterAll, afterEach, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AppError } from '../../../src/errors.ts';
import type { Asked } from '../../../src/platform/host/threads.ts';
import { createMailer, type Mailer, type MailerOptions } from '../../../src/platform/mail/mailer.ts';
import type { FramedContent, MailerRequest, MailFrame, MailHead } from '../../../src/platform/mail/types.ts';
import { takeDkimKey } from '../../support/dkim-keys.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import { mailOf, routeTo } from '../../support/mail-samples.ts';
import { startOddRelay } from '../../support/odd-relay.ts';
import { type SinkOptions, type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { makeTempDir } from '../../support/temp.ts';
import { OwnThread } from '../../support/threads.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function startSink(options: SinkOptions = {}): Promise<SmtpSink> {
  const sink = await startSmtpSink(options);
  cleanups.push(() => sink.stop());
  return sink;
}

/** For tests that neither set anything nor stop it: starting its thread takes longer than most of them. */
const shared = createMailer();
afterAll(() => shared.stop(0));

function startMailer(options?: MailerOptions): Mailer {
  if (options === undefined) return shared;
  const mailer = createMailer(options);
  cleanups.push(() => mailer.stop(0));
  return mailer;
}

/** Short enough to wait for. Only ever set for the stage that hangs, so that a busy machine fails no other. */
const SHORT_MS = 200;
/** For a deadline that earlier stages have, too, which are answered at once. */
const PATIENT_MS = 2_000;
const ANN = 'ann@customer.example';
const BOB = 'bob@customer.example';
const EVE = 'eve@customer.example';

test('a mail reaches its recipients, from the return path where there is one', async () => {
  const sink = await startSink();
  const mailer = startMailer();
  const content = mailOf({ cc: [BOB], bcc: [EVE] });
  const plain = await mailer.deliver(content, routeTo(sink), [ANN, BOB, EVE]);
  expect(plain).toMatchObject({ outcome: 'sent', smtp_code: 250, accepted: [ANN, BOB, EVE], rejected: [] });
  await mailer.deliver(content, routeTo(sink, { return_path: 'bounces@shop.example' }), [ANN]);
  expect(sink.mails.map((mail) => mail.envelope)).toEqual([
    { from: 'orders@shop.example', to: [ANN, BOB, EVE] },
    { from: 'bounces@shop.example', to: [ANN] },
  ]);
  expect(sink.mails[0]?.raw.toString()).not.toContain(EVE);
});

test('what is captured is what would be sent, dots at line starts included', async () => {
  const sink = await startSink();
  const mailer = startMailer();
  const content = mailOf({ text: '.\n..two\nthree' });
  await mailer.deliver(content, routeTo(sink), [ANN]);
  expect(sink.mails[0]?.raw.toString()).toBe(Buffer.from(await mailer.compose(content)).toString());
});

test('8-bit bytes are announced to a relay that takes them, and go as they are to one that does not say so', async () => {
  const path = join(makeTempDir(), 'message.eml');
  const from = { address: 'orders@shop.example', name: null };
  const handOver = async (sink: SmtpSink, bytes: Buffer, signed = false) => {
    writeFileSync(path, bytes);
    const dkim = signed ? { domain: 'shop.example', selector: 's1', ...(await takeDkimKey()) } : null;
    await startMailer().deliver({ path, size_bytes: bytes.length, from, dkim }, routeTo(sink), [ANN]);
    const { body_type = '', raw = Buffer.alloc(0) } = sink.mails.at(-1) ?? {};
    return [body_type, raw.subarray(raw.length - bytes.length).equals(bytes)];
  };
  const plain = Buffer.from('From: orders@shop.example\r\nSubject: Hi\r\n\r\nHi\r\n');
  const eight = Buffer.from('From: orders@shop.example\r\nSubject: Hi\r\n\r\nGr\xfc\xdfe \xff\r\n', 'latin1');
  const [modern, old] = [await startSink(), await startSink({ hides_8bitmime: true })];
  expect(await handOver(modern, plain)).toEqual(['7bit', true]);
  expect(await handOver(modern, eight)).toEqual(['8bitmime', true]);
  expect(await handOver(modern, eight, true)).toEqual(['8bitmime', true]);
  expect(await handOver(old, eight)).toEqual(['7bit', true]);
});

test('domains in other scripts travel as punycode and are reported as they were given', async () => {
  // The sink shows punycode as Unicode; that SMTPUTF8 was not asked for tells what travelled.
  const sink = await startSink({ rcpt: { 'no@bücher.example': { code: 550, message: 'no' } } });
  const recipients = ['ann@bücher.example', 'no@bücher.example'];
  const outcome = await startMailer().deliver(mailOf(), routeTo(sink), recipients);
  expect(sink.mails[0]).toMatchObject({ envelope: { to: ['ann@bücher.example'] }, is_smtputf8: false });
  expect(outcome).toMatchObject({
    accepted: ['ann@bücher.example'],
    rejected: [{ address: 'no@bücher.example' }],
  });
});

for (const hides_pipelining of [false, true]) {
  const how = hides_pipelining ? 'one command at a time' : 'pipelined';
  test(`a relay that reports on mails is told their id, and each recipient as it was addressed (${how})`, async () => {
    const sink = await startSink({ offers_dsn: true, hides_pipelining });
    const mailer = startMailer();
    const recipients = [ANN, 'bob+shop=1@bücher.example', EVE];
    await mailer.deliver(mailOf(), routeTo(sink), recipients, { envelope_id: '01JGK=1' });
    await mailer.deliver(mailOf(), routeTo(sink), [EVE]);
    expect(sink.mails.map((mail) => mail.dsn)).toEqual([
      {
        ret: 'HDRS',
        envid: '01JGK=1',
        orcpt: [`rfc822;${ANN}`, 'rfc822;bob+shop=1@xn--bcher-kva.example', `rfc822;${EVE}`],
      },
      { ret: 'HDRS', envid: null, orcpt: [`rfc822;${EVE}`] },
    ]);
  });
}

test('a relay that knows nothing of reports is told nothing of them', async () => {
  const sink = await startSink();
  await startMailer().deliver(mailOf(), routeTo(sink), [ANN], { envelope_id: '01JGK' });
  expect(sink.mails[0]?.dsn).toEqual({ ret: null, envid: null, orcpt: [null] });
});

test('recipients refused beside others are reported one by one', async () => {
  const sink = await startSink({
    rcpt: {
      [BOB]: { code: 550, message: '5.1.1 no such user' },
      [EVE]: { code: 450, message: '4.2.0 busy' },
    },
  });
  const outcome = await startMailer().deliver(mailOf(), routeTo(sink), [ANN, BOB, EVE]);
  expect(outcome).toMatchObject({
    outcome: 'sent',
    accepted: [ANN],
    rejected: [
      { address: BOB, smtp_code: 550, response: '550 5.1.1 no such user' },
      { address: EVE, smtp_code: 450, response: '450 4.2.0 busy' },
    ],
  });
});

for (const hides_pipelining of [false, true]) {
  const how = hides_pipelining ? 'one command at a time' : 'pipelined';
  test(`when all recipients are refused, for good or for now, each has its code (${how})`, async () => {
    const sink = await startSink({
      hides_pipelining,
      rcpt: { [ANN]: { code: 550, message: 'unknown' }, [BOB]: { code: 450, message: 'busy' } },
    });
    const mailer = startMailer();
    const route = routeTo(sink);
    const mixed = await mailer.deliver(mailOf(), route, [ANN, BOB]);
    expect(mixed).toMatchObject({
      outcome: 'deferred',
      stage: 'rcpt',
      about: null,
    });
    expect(mixed.rejected.map((each) => [each.address, each.smtp_code])).toEqual([
      [ANN, 550],
      [BOB, 450],
    ]);
    const all_refused = await mailer.deliver(mailOf(), route, [ANN]);
    expect(all_refused).toMatchObject({
      outcome: 'refused',
      stage: 'rcpt',
      about: 'recipient',
      smtp_code: 550,
    });
    expect(sink.mails).toEqual([]);
    // A refusal is no reason to give up the connection, though a second one may begin before it is ready again.
    expect(await mailer.deliver(mailOf(), route, [EVE])).toMatchObject({ outcome: 'sent' });
    expect(sink.connections_open).toBe(sink.connections_total);
  });
}

const REFUSALS = [
  ['mail', 550, 'mailbox'],
  ['mail', 552, 'message'],
  ['data', 554, 'mailbox'],
  ['data', 550, 'mailbox'],
  ['data', 452, null],
] as const;

test.each(REFUSALS)('a refusal at %s with %i says so', async (stage, code, about) => {
  const sink = await startSink({ [stage]: { code, message: 'not this one' } });
  const outcome = await startMailer().deliver(mailOf(), routeTo(sink), [ANN]);
  expect(outcome).toEqual({
    outcome: about === null ? 'deferred' : 'refused',
    stage,
    tls: 'none',
    about,
    may_be_sent: false,
    smtp_code: code,
    response: `${code} not this one`,
    rejected: [],
  });
});

test('a refusal of the sender with 4xx, whatever its words, is one that asks for less mail', async () => {
  const sink = await startSink({ mail: { code: 451, message: 'not this one' } });
  const outcome = await startMailer().deliver(mailOf(), routeTo(sink), [ANN]);
  const slowdown = { words: '451 not this one', asked_ms: null, is_quota: false };
  expect(outcome).toMatchObject({
    outcome: 'deferred',
    stage: 'mail',
    about: null,
    smtp_code: 451,
    slowdown,
  });
});

test('a mail larger than the relay takes is refused for good without being sent', async () => {
  const sink = await startSink({ max_size_bytes: 2_000 });
  const outcome = await startMailer().deliver(mailOf({ text: 'x\n'.repeat(2_000) }), routeTo(sink), [ANN]);
  expect(outcome).toMatchObject({ outcome: 'refused', stage: 'mail', about: 'message', smtp_code: 552 });
});

test('a relay that says 421 at the greeting is connection trouble', async () => {
  const sink = await startSink({ greeting: { code: 421, message: '4.3.2 try later' } });
  const outcome = await startMailer().deliver(mailOf(), routeTo(sink), [ANN]);
  expect(outcome).toMatchObject({
    stage: 'greeting',
    outcome: 'unreachable',
    about: null,
    smtp_code: 421,
    may_be_sent: false,
  });
});

test('a port where nobody listens is connection trouble', async () => {
  const sink = await startSmtpSink();
  await sink.stop();
  const outcome = await startMailer().deliver(mailOf(), routeTo(sink), [ANN]);
  expect(outcome).toMatchObject({
    stage: 'connect',
    outcome: 'unreachable',
    about: null,
    smtp_code: null,
  });
});

const HANGS = [
  ['connect', 'greeting', { greeting_ms: SHORT_MS }, false],
  ['greeting', 'greeting', { greeting_ms: SHORT_MS }, false],
  ['mail', 'mail', { command_ms: PATIENT_MS }, false],
  ['rcpt', 'mail', { command_ms: PATIENT_MS }, false],
  ['data', 'data', { answer_ms: SHORT_MS }, true],
] as const;

test.each(HANGS)('a relay that hangs at %s is given up', async (hang, stage, deadlines, may_be_sent) => {
  const sink = await startSink({ hang, hides_pipelining: true });
  const outcome = await startMailer({ deadlines }).deliver(mailOf(), routeTo(sink), [ANN]);
  expect(outcome).toMatchObject({
    stage,
    outcome: 'unreachable',
    about: null,
    smtp_code: null,
    may_be_sent,
  });
});

test('a TLS handshake that is never answered ends with the connect deadline', async () => {
  const sink = await startSink({ hang: 'connect' });
  const mailer = startMailer({ deadlines: { connect_ms: SHORT_MS } });
  const outcome = await mailer.deliver(mailOf(), routeTo(sink, { security: 'tls' }), [ANN]);
  expect(outcome).toMatchObject({ outcome: 'unreachable', stage: 'connect', may_be_sent: false });
});

test('a connection that is lost after the content may have sent the mail', async () => {
  const sink = await startSink({ drop_after_data: true });
  const outcome = await startMailer().deliver(mailOf(), routeTo(sink), [ANN]);
  expect(outcome).toMatchObject({
    stage: 'data',
    outcome: 'unreachable',
    about: null,
    may_be_sent: true,
  });
});

test('a relay that hangs holds up nobody but those who use it', async () => {
  const [hanging, working] = [await startSink({ hang: 'greeting' }), await startSink()];
  const mailer = startMailer({});
  const route = routeTo(hanging);
  const stuck = Array.from({ length: 60 }, () => mailer.deliver(mailOf(), route, [ANN]));
  const other = routeTo(working);
  const sent = await Promise.all(Array.from({ length: 60 }, () => mailer.deliver(mailOf(), other, [ANN])));
  expect(sent.every((outcome) => outcome.outcome === 'sent')).toBe(true);
  expect(hanging.connections_open).toBe(10);
  await mailer.stop(0);
  expect((await Promise.all(stuck)).every((outcome) => outcome.outcome === 'interrupted')).toBe(true);
});

test('a thousand mails that hang in DATA hold up no other mailbox, of this relay or another', async () => {
  const [relay, other_relay] = [await startSink({ hang: 'data' }), await startSink()];
  const mailer = startMailer({});
  const route = routeTo(relay);
  const marketing = { purpose: 'marketing' } as const;
  const stuck = Array.from({ length: 1_000 }, () => mailer.deliver(mailOf(), route, [ANN], marketing));
  await relay.until(() => relay.unanswered.length === 10);
  relay.behavior = {};
  for (const free of [routeTo(relay), routeTo(other_relay)])
    expect(await mailer.deliver(mailOf(), free, [BOB])).toMatchObject({ outcome: 'sent' });
  expect([relay.unanswered.length, relay.mails.length, other_relay.mails.length]).toEqual([10, 1, 1]);
  await mailer.stop(0);
  // Ten of them are all written.
  const lost = (await Promise.all(stuck)).filter(({ outcome }) => outcome !== 'interrupted');
  expect(lost).toMatchObject(Array(10).fill({ outcome: 'unreachable', may_be_sent: true }));
});

test('what is transactional takes the next free connection, before all marketing that waits', async () => {
  const sink = await startSink({ hang: 'data' });
  const mailer = startMailer();
  const route = routeTo(sink);
  const deliver = (address: string, purpose: 'marketing' | 'transactional') =>
    mailer.deliver(mailOf(), route, [address], { purpose });
  const all = Array.from({ length: 40 }, () => deliver(ANN, 'marketing'));
  while (sink.unanswered.length < 10) await Bun.sleep(5);
  all.push(deliver(BOB, 'transactional'), deliver(EVE, 'transactional'));
  // The mailer has read both once it has answered what came after them.
  await mailer.compose(mailOf());
  sink.behavior = {};
  for (const answer of sink.unanswered) answer();
  expect((await Promise.all(all)).every((outcome) => outcome.outcome === 'sent')).toBe(true);
  const order = sink.mails.map((mail) => mail.envelope.to[0]);
  expect(order).toHaveLength(32);
  expect(Math.max(order.indexOf(BOB), order.indexOf(EVE))).toBeLessThan(20);
});

test('all that waits for an unreachable relay learns of it at once, and the next mail tries again', async () => {
  const sink = await startSink({ greeting: { code: 554, message: 'go away' } });
  const mailer = startMailer();
  const route = routeTo(sink);
  const outcomes = await Promise.all(
    Array.from({ length: 50 }, () => mailer.deliver(mailOf(), route, [ANN])),
  );
  for (const outcome of outcomes) expect(outcome).toMatchObject({ stage: 'greeting', smtp_code: 554 });
  expect(sink.connections_total).toBeLessThanOrEqual(10);
  sink.behavior = {};
  expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ outcome: 'sent' });
});

test('at most ten connections serve a relay, again and again', async () => {
  const sink = await startSink();
  const mailer = startMailer();
  const route = routeTo(sink);
  await Promise.all(Array.from({ length: 200 }, () => mailer.deliver(mailOf(), route, [ANN])));
  expect(sink.mails).toHaveLength(200);
  expect(sink.connections_total).toBeLessThanOrEqual(10);
  await mailer.deliver(mailOf(), route, [ANN]);
  expect(sink.connections_total).toBeLessThanOrEqual(10);
});

test('the connection that has rested longest goes next, as a relay may limit what each takes', async () => {
  const sink = await startSink({ hang: 'data' });
  const mailer = startMailer();
  const route = routeTo(sink);
  const send = () => mailer.deliver(mailOf(), route, [ANN]);
  // Three at once need a connection each.
  const first = [send(), send(), send()];
  await sink.until(() => sink.unanswered.length === 3);
  delete sink.behavior.hang;
  for (const answer of sink.unanswered.splice(0)) answer();
  await Promise.all(first);
  for (let n = 0; n < 6; n += 1) await send();
  const used = sink.mails.slice(-6).map(({ connection }) => connection);
  expect(new Set(used).size).toBe(3);
  expect(used.slice(3)).toEqual(used.slice(0, 3));
});

test('a relay that refuses further connections is served over those it took', async () => {
  const sink = await startSink();
  const mailer = startMailer();
  const route = routeTo(sink);
  await mailer.deliver(mailOf(), route, [ANN]);
  sink.behavior = { greeting: { code: 421, message: 'too many connections' } };
  const outcomes = await Promise.all(
    Array.from({ length: 30 }, () => mailer.deliver(mailOf(), route, [ANN])),
  );
  expect(outcomes.map((outcome) => outcome.outcome)).toEqual(Array(30).fill('sent'));
  expect(new Set(sink.mails.map((mail) => mail.connection)).size).toBe(1);
});

test('a mail that meets connections closed while idle goes over a new one', async () => {
  const sink = await startSink();
  const mailer = startMailer();
  const route = routeTo(sink);
  await Promise.all(Array.from({ length: 20 }, () => mailer.deliver(mailOf(), route, [ANN])));
  sink.dropConnections();
  expect(await mailer.deliver(mailOf(), route, [BOB])).toMatchObject({ outcome: 'sent', accepted: [BOB] });
  expect(sink.mails).toHaveLength(21);
});

test('mails that keep a distance keep it at the relay, also those that waited for their connections together', async () => {
  const sink = await startSink({ hang: 'greeting' });
  const mailer = startMailer({});
  const route = routeTo(sink, { gap_ms: 60_000 });
  const first = [ANN, BOB, EVE].map((to) => mailer.deliver(mailOf(), route, [to]));
  await sink.until(() => sink.unanswered.length === 3);
  delete sink.behavior.hang;
  for (const greet of sink.unanswered.splice(0)) greet();
  await Promise.race(first);
  // However long one waits, within the minute no second one comes.
  await Bun.sleep(SHORT_MS);
  expect(sink.mails.length).toBe(1);
  await mailer.stop(0);
});

test('a relay that takes few mails over each connection costs no mail its attempt', async () => {
  const sink = await startSink({ max_mails_per_connection: 3 });
  const mailer = startMailer();
  const route = routeTo(sink);
  const outcomes = await Promise.all(
    Array.from({ length: 200 }, () => mailer.deliver(mailOf(), route, [ANN])),
  );
  expect(outcomes.map((outcome) => outcome.outcome)).toEqual(Array(200).fill('sent'));
  expect(sink.mails).toHaveLength(200);
});

test('a relay that ends every connection over a mail is asked about that mail a few times only', async () => {
  const sink = await startSink({ rcpt: { [EVE]: { code: 421, message: '4.3.0 go away' } } });
  const mailer = startMailer();
  const route = routeTo(sink);
  await Promise.all(Array.from({ length: 20 }, () => mailer.deliver(mailOf(), route, [ANN])));
  const outcome = await mailer.deliver(mailOf(), route, [EVE]);
  expect(outcome).toMatchObject({ outcome: 'unreachable', smtp_code: 421 });
  expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ outcome: 'sent' });
});

test('idle connections are closed after a while', async () => {
  const sink = await startSink();
  const mailer = startMailer({ deadlines: { idle_ms: 50 } });
  await mailer.deliver(mailOf(), routeTo(sink), [ANN]);
  await sink.until(() => sink.connections_open === 0);
  expect(sink.connections_total).toBe(1);
});

test('a mail that cannot be built is refused for good before any connection', async () => {
  const sink = await startSink();
  const mailer = startMailer();
  const content = mailOf({ subject: 'a\nb' });
  const outcome = await mailer.deliver(content, routeTo(sink), [ANN]);
  expect(outcome).toMatchObject({ outcome: 'refused', stage: 'compose', about: 'message' });
  const error = await mailer.compose(content).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ kind: 'invalid' });
  expect(sink.connections_total).toBe(0);
});

test('a stop waits for a mail whose content is with the relay and gives up the others', async () => {
  const sink = await startSink({ hang: 'data' });
  const mailer = startMailer({});
  const in_data = mailer.deliver(mailOf(), routeTo(sink), [ANN]);
  const hanging = await startSink({ hang: 'greeting' });
  const waiting = mailer.deliver(mailOf(), routeTo(hanging), [ANN]);
  await sink.until(() => sink.unanswered.length > 0);
  const stopped = mailer.stop(10_000);
  expect(await waiting).toMatchObject({ outcome: 'interrupted', may_be_sent: false });
  for (const answer of sink.unanswered) answer();
  expect(await in_data).toMatchObject({ outcome: 'sent' });
  await stopped;
  const late = await mailer.deliver(mailOf(), routeTo(sink), [ANN]);
  expect(late).toMatchObject({ stage: 'interrupted', may_be_sent: false });
});

test('a stop ends at its deadline and says that a mail may be sent', async () => {
  const sink = await startSink({ hang: 'data' });
  const mailer = startMailer({});
  const in_data = mailer.deliver(mailOf(), routeTo(sink), [ANN]);
  await sink.until(() => sink.unanswered.length > 0);
  await mailer.stop(50);
  expect(await in_data).toMatchObject({
    ...{ outcome: 'unreachable', stage: 'data', may_be_sent: true, about: null },
    response: 'The server stopped before the relay answered.',
  });
});

test('a worker that dies is replaced, and what it had in hand is answered', async () => {
  const sink = await startSink({ hang: 'data' });
  const workers: Worker[] = [];
  const crashes: string[] = [];
  const mailer = startMailer({
    startWorker: () => {
      const worker = new OwnThread(new URL('../../../src/platform/mail/mailer.worker.ts', import.meta.url));
      workers.push(worker);
      return worker;
    },
    onCrash: (message) => crashes.push(message),
  });
  const silent = await startSink({ hang: 'greeting' });
  const in_hand = mailer.deliver(mailOf(), routeTo(sink), [ANN]);
  const waiting = mailer.deliver(mailOf(), routeTo(silent), [ANN]);
  await sink.until(() => sink.unanswered.length > 0);
  await silent.until(() => silent.unanswered.length > 0);
  workers[0]?.terminate();
  // The relay may have taken the one, and never got the other.
  expect(await in_hand).toMatchObject({ outcome: 'unreachable', stage: 'data', may_be_sent: true });
  expect(await waiting).toMatchObject({ outcome: 'interrupted', may_be_sent: false });
  expect(crashes).toHaveLength(1);
  sink.behavior = {};
  expect(await mailer.deliver(mailOf(), routeTo(sink), [ANN])).toMatchObject({ outcome: 'sent' });
  expect(workers).toHaveLength(2);
});

test('a name server without a route costs no mail: the next one is asked, and the thread lives on', async () => {
  const [sink, busy] = [await startSink(), await startSink({ hang: 'data' })];
  const dns = await startDnsServer({ 'relay.example': { a: ['127.0.0.1'] } });
  cleanups.push(() => dns.stop());
  const crashes: string[] = [];
  const dns_servers = ['255.255.255.255', '[fe80::1]', dns.address];
  const mailer = startMailer({ dns_servers, onCrash: (words) => crashes.push(words) });
  const in_hand = mailer.deliver(mailOf(), routeTo(busy), [ANN]);
  await busy.until(() => busy.unanswered.length > 0);
  const route = { ...routeTo(sink), host: 'relay.example' };
  expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ outcome: 'sent' });
  const nowhere = startMailer({
    dns_servers: dns_servers.slice(0, 2),
    onCrash: (words) => crashes.push(words),
  });
  expect(await nowhere.deliver(mailOf(), route, [ANN])).toMatchObject({
    ...{ outcome: 'unreachable', stage: 'connect', may_be_sent: false },
    response: expect.stringContaining('could not be looked up'),
  });
  delete busy.behavior.hang;
  for (const answer of busy.unanswered) answer();
  expect(await in_hand).toMatchObject({ outcome: 'sent' });
  expect(crashes).toEqual([]);
});

test('a relay whose name leads to a link-local address is not connected to', async () => {
  const sink = await startSink();
  const dns = await startDnsServer({ 'relay.example': { a: ['169.254.169.254'] } });
  cleanups.push(() => dns.stop());
  const mailer = startMailer({ dns_servers: [dns.address] });
  const route = { ...routeTo(sink), host: 'relay.example' };
  const told = { stage: 'connect', response: expect.stringContaining('is at a link-local address') };
  expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ outcome: 'unreachable', ...told });
  expect(await mailer.deliver(mailOf(), { ...route, key: 'x', host: '169.254.1.1' }, [ANN])).toMatchObject(
    told,
  );
  // Where it leads is asked at each connection.
  dns.set('relay.example', { a: ['127.0.0.1'] });
  expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ outcome: 'sent' });
  dns.set('relay.example', { a: ['169.254.169.254'] });
  sink.dropConnections();
  await sink.until(() => sink.connections_open === 0);
  const check = () => mailer.check(route, 'a@shop.example');
  expect(await check()).toMatchObject({ stage: 'connect', words: expect.stringContaining('link-local') });
});

test('of what greets as no mail server no word is told, of a mail server that refuses all are', async () => {
  const said = async (greeting: string) => {
    const relay = await startOddRelay({ greeting });
    cleanups.push(async () => relay.stop());
    return startMailer().deliver(mailOf(), routeTo(relay), [ANN]);
  };
  for (const banner of [
    'SSH-2.0-OpenSSH_9.2',
    '-ERR s3cret',
    '+OK ready',
    '200 s3cret',
    '250 s3cret',
    'HTTP/1.1 500 s3cret',
  ])
    expect(await said(banner)).toMatchObject({
      ...{ outcome: 'unreachable', smtp_code: null },
      response: 'What answers there does not greet as a mail server that takes mail.',
    });
  expect(await said('421 4.7.0 Too many connections')).toMatchObject({
    ...{ smtp_code: 421, response: '421 4.7.0 Too many connections' },
  });
});

test('a worker that throws is reported with its last words', async () => {
  const crashes: string[] = [];
  const script = URL.createObjectURL(new Blob(['onmessage = () => { throw new Error("out of luck"); }']));
  const mailer = startMailer({
    startWorker: () => new Worker(script),
    onCrash: (words) => crashes.push(words),
  });
  const outcome = await mailer.deliver(mailOf(), routeTo({ host: '127.0.0.1', port: 9 }), [ANN]);
  expect(outcome).toMatchObject({ stage: 'interrupted', may_be_sent: false });
  expect(crashes).toHaveLength(1);
  expect(crashes[0]).toContain('out of luck');
});

/** A mail whose bodies are a frame and a value. */
function framedMailOf(frame: MailFrame, changes: Partial<MailHead> = {}): FramedContent {
  const { html: _html, text: _text, ...head } = mailOf(changes);
  return { ...head, frame, values: ['Ann'] };
}

const GREETING: MailFrame = { key: 'greeting', html: null, text: ['Hi ', 0, '.'] };

test('a mail of a frame reads the same as sent and as captured', async () => {
  const sink = await startSink();
  const mailer = startMailer();
  const content = framedMailOf(GREETING, { cc: [BOB] });
  expect(await mailer.deliver(content, routeTo(sink), [ANN])).toMatchObject({ outcome: 'sent' });
  const sent = sink.mails[0]?.raw.toString();
  expect(sent).toBe(Buffer.from(await mailer.compose(content)).toString());
  expect(sent).toContain('Hi=20=\r\nAnn=\r\n.\r\n');
});

test('a frame travels once, and again where the thread had too many', async () => {
  const ops: string[] = [];
  const mailer = startMailer({
    startWorker: () => {
      const worker = new OwnThread(new URL('../../../src/platform/mail/mailer.worker.ts', import.meta.url));
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (requests: Asked<MailerRequest>[]) => {
        for (const { ask: request } of requests)
          ops.push(request.op === 'keep_frame' ? `keep ${request.frame.key}` : request.op);
        post(requests);
      };
      return worker;
    },
  });
  const compose = async (frame: MailFrame, changes?: Partial<MailHead>) => {
    ops.length = 0;
    const message = await mailer.compose(framedMailOf(frame, changes)).then(
      (bytes) => Buffer.from(bytes).toString(),
      ({ kind }: AppError) => kind,
    );
    return { ops: ops.filter((op) => op !== 'configure'), message };
  };
  expect((await compose(GREETING)).ops).toEqual(['keep greeting', 'compose']);
  expect((await compose(GREETING)).ops).toEqual(['compose']);
  // Not worth composing.
  const large = { key: 'large', html: null, text: ['x'.repeat(8 * 1024 * 1024)] };
  expect(await compose(large, { subject: 'a\nb' })).toEqual({
    ops: ['drop_frames', 'keep large', 'compose'],
    message: 'invalid',
  });
  const again = await compose(GREETING);
  expect(again.ops).toEqual(['drop_frames', 'keep greeting', 'compose']);
  expect(again.message).toContain('Ann');
});

test('the thread starts with the first mail, ends when unused and starts again', async () => {
  const sink = await startSink();
  let started = 0;
  const ended: Promise<unknown>[] = [];
  const mailer = startMailer({
    idle_stop_ms: 20,
    startWorker: () => {
      started += 1;
      const worker = new OwnThread(new URL('../../../src/platform/mail/mailer.worker.ts', import.meta.url));
      ended.push(new Promise((resolve) => worker.addEventListener('close', resolve)));
      return worker;
    },
  });
  expect(started).toBe(0);
  const framed = framedMailOf(GREETING);
  await mailer.deliver(framed, routeTo(sink), [ANN]);
  await ended[0];
  expect(await mailer.deliver(framed, routeTo(sink), [ANN])).toMatchObject({ outcome: 'sent' });
  expect(started).toBe(2);
});
