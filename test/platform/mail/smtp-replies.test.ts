/** Replies that no sound relay gives: what they come to, and that they reach no other mail. */
import { afterEach, expect, test } from 'bun:test';
import type { Socket } from 'node:net';
import {
  createMailer,
  type Mailer,
  type MailerOptions,
  SMTP_CONNECT_TIMEOUT_MS,
  SMTP_DEADLINES,
} from '../../../src/platform/mail/mailer.ts';
import { mailOf, routeTo } from '../../support/mail-samples.ts';
import { type OddRelay, startOddRelay } from '../../support/odd-relay.ts';

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  sayings: Parameters<typeof startOddRelay>[0],
  options: MailerOptions = {},
): Promise<{ relay: OddRelay; mailer: Mailer }> {
  const relay = await startOddRelay(sayings);
  const mailer = createMailer(options);
  cleanups.push(
    () => relay.stop(),
    () => mailer.stop(0),
  );
  return { relay, mailer };
}

const ANN = 'ann@customer.example';
/** Short enough to wait for. */
const SHORT_MS = 200;
/** For what is answered at once, on a busy machine too. */
const PATIENT_MS = 2_000;
const MORE_LINES_THAN_A_SOCKET_HOLDS = 1_000_000;

test('an answer to the content that is no reply leaves open whether the mail was taken', async () => {
  const { relay, mailer } = await start({ content: Buffer.from([0xff, 0xfe, 0x67]) });
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({
    stage: 'data',
    outcome: 'unreachable',
    about: null,
    may_be_sent: true,
    smtp_code: null,
  });
});

const NO_REFUSALS = [
  ['MAIL', '99999999999999999999999 what', false],
  ['MAIL', '7 what', false],
  ['RCPT', '600 what', false],
  ['content', '99999999999999999999999 what', true],
  ['content', '354 go on', true],
] as const;

test.each(NO_REFUSALS)('%s answered with "%s" is no refusal', async (moment, reply, may_be_sent) => {
  const { relay, mailer } = await start({ [moment]: reply });
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({
    outcome: 'unreachable',
    about: null,
    may_be_sent,
    smtp_code: null,
    response: reply,
  });
});

const EARLY = [
  ['250 queued', { outcome: 'unreachable', stage: 'data', smtp_code: null, about: null }],
  ['552 too large', { outcome: 'refused', stage: 'data', smtp_code: 552, about: 'message' }],
] as const;

test.each(EARLY)(
  'with an answer that comes before the content is over (%s) the connection ends',
  async (early, refusal) => {
    const sayAndRead = (socket: Socket): void => {
      socket.write(`354 go on\r\n${early}\r\n`);
      socket.pause();
      setTimeout(() => socket.resume(), SHORT_MS);
    };
    const { relay, mailer } = await start({ DATA: sayAndRead, content: '' });
    const route = routeTo(relay);
    const large = mailOf({ text: 'a line of text\n'.repeat(MORE_LINES_THAN_A_SOCKET_HOLDS) });
    expect(await mailer.deliver(large, route, [ANN])).toMatchObject(refusal);
    // The next mail would get into the middle of the first.
    await mailer.deliver(mailOf(), route, [ANN]);
    expect(relay.connections_total).toBe(2);
  },
);

test('an answer to the content that never ends is waited for no longer than one that does not come', async () => {
  const drip = (socket: Socket): void => {
    const timer = setInterval(() => socket.write('2'), SHORT_MS / 4);
    socket.on('close', () => clearInterval(timer));
  };
  const { relay, mailer } = await start({ content: drip }, { deadlines: { answer_ms: SHORT_MS } });
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({ stage: 'data', outcome: 'unreachable', may_be_sent: true });
});

test.each(['EHLO', 'STARTTLS'])('a relay that hangs at %s has the time of one command', async (moment) => {
  const { relay, mailer } = await start(
    { EHLO: '250-odd.test\r\n250 STARTTLS', [moment]: '' },
    { deadlines: { command_ms: SHORT_MS } },
  );
  const began_ms = performance.now();
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({ outcome: 'unreachable', smtp_code: null });
  // Nor that of the greeting, which is the next longer one.
  expect(performance.now() - began_ms).toBeLessThan(SMTP_CONNECT_TIMEOUT_MS);
});

test('the time of a command ends with its answer, and cuts off no mail that is under way later', async () => {
  const takeTime = (socket: Socket): void => {
    setTimeout(() => socket.write('250 queued\r\n'), PATIENT_MS + SHORT_MS);
  };
  const { relay, mailer } = await start({ content: takeTime }, { deadlines: { command_ms: PATIENT_MS } });
  const route = routeTo(relay);
  for (let n = 0; n < 2; n += 1) {
    expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ outcome: 'sent' });
  }
  expect(relay.connections_total).toBe(1);
});

test("each step has RFC 5321's time (4.5.3.2)", () => {
  const minute_ms = 60_000;
  expect(SMTP_DEADLINES).toMatchObject({
    connect_ms: 10_000,
    greeting_ms: 5 * minute_ms,
    command_ms: 5 * minute_ms,
    data_ms: 2 * minute_ms,
    block_ms: 3 * minute_ms,
    answer_ms: 10 * minute_ms,
  });
});

test.each([
  ['the command DATA', { DATA: '' }, { data_ms: SHORT_MS }, { stage: 'mail', may_be_sent: false }],
  [
    'a block of the content',
    { DATA: (socket: Socket) => socket.pause().write('354 go on\r\n') },
    { block_ms: SHORT_MS },
    { stage: 'data', may_be_sent: false },
  ],
  ['the dot', { content: '' }, { answer_ms: SHORT_MS }, { stage: 'data', may_be_sent: true }],
])('%s has a time of its own', async (_step, sayings, deadlines, end) => {
  const { relay, mailer } = await start(sayings, { deadlines });
  const text = 'a line of text\n'.repeat('block_ms' in deadlines ? MORE_LINES_THAN_A_SOCKET_HOLDS : 1);
  const outcome = await mailer.deliver(mailOf({ text }), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({ outcome: 'unreachable', smtp_code: null, ...end });
  expect(outcome.response).toBe(`No answer from the relay within ${SHORT_MS / 1000} s.`);
});

test('a relay that says nothing to RSET holds up no answer', async () => {
  const { relay, mailer } = await start({ MAIL: '550 5.7.1 no', RSET: '' });
  expect(await mailer.deliver(mailOf(), routeTo(relay), [ANN])).toMatchObject({ smtp_code: 550 });
});

test('a relay that hangs in the TLS it was asked for is not said to want TLS from the start', async () => {
  const hang = (socket: Socket): void => {
    socket.removeAllListeners('data').write('220 go on\r\n');
  };
  const { relay, mailer } = await start(
    { EHLO: '250-odd.test\r\n250 STARTTLS', STARTTLS: hang },
    { deadlines: { greeting_ms: PATIENT_MS } },
  );
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({ outcome: 'unreachable', response: 'TLS handshake timed out' });
});

test("a relay's words are passed on without control characters, and cut", async () => {
  const { relay, mailer } = await start({ MAIL: '550-5.7.1 \x1b[2Jgo\x07\r\n550 5.7.1 away\x00' });
  const refused = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(refused.response).toBe('550-5.7.1 \u{fffd}[2Jgo\u{fffd}\n550 5.7.1 away\u{fffd}');
  const long = await start({ RCPT: `550 ${'x'.repeat(9_000)}` });
  const { response, rejected } = await long.mailer.deliver(mailOf(), routeTo(long.relay), [ANN]);
  for (const words of [response, rejected[0]?.response]) expect(words).toHaveLength(1_003);
});

test('a relay that counts a connection for a moment after it used it up costs no mail its attempt', async () => {
  const served = new Map<Socket, number>();
  let counted = 0;
  const greet = (socket: Socket): void => {
    if (counted > 0) {
      socket.end('421 4.7.0 too many connections\r\n');
      return;
    }
    counted += 1;
    socket.on('close', () => setTimeout(() => (counted -= 1), SHORT_MS));
    socket.write('220 odd.test ESMTP\r\n');
  };
  const takeTwo = (socket: Socket): void => {
    const count = (served.get(socket) ?? 0) + 1;
    served.set(socket, count);
    if (count > 2) socket.end('421 4.7.0 too many mails\r\n');
    else socket.write('250 ok\r\n');
  };
  const { relay, mailer } = await start({ greeting: greet, MAIL: takeTwo });
  const route = routeTo(relay);
  const outcomes = await Promise.all(Array.from({ length: 6 }, () => mailer.deliver(mailOf(), route, [ANN])));
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(Array.from({ length: 6 }, () => 'sent'));
});

test('a relay that was away for a moment is then served over as many connections as before', async () => {
  const open = new Set<Socket>();
  let is_away = false;
  let is_back = false;
  let peak = 0;
  const greet = (socket: Socket): void => {
    if (is_away) {
      socket.end('421 4.3.2 away\r\n');
      return;
    }
    peak = Math.max(peak, open.add(socket).size);
    socket.on('close', () => open.delete(socket)).write('220 odd.test ESMTP\r\n');
  };
  const takeOrEnd = (socket: Socket): void => {
    if (is_away) socket.end('421 4.3.2 away\r\n');
    else socket.write('250 ok\r\n');
  };
  // Once it is back it keeps its answers until it has as many connections, so that the mails last as long as that takes.
  const takeTime = (socket: Socket): void => {
    const answer = (): void => {
      if (is_back && peak < 10) setTimeout(answer, SHORT_MS / 20);
      else socket.write('250 queued\r\n');
    };
    setTimeout(answer, SHORT_MS / 4);
  };
  const { relay, mailer } = await start({ greeting: greet, MAIL: takeOrEnd, content: takeTime });
  const route = routeTo(relay);
  const sending = Array.from({ length: 60 }, () => mailer.deliver(mailOf(), route, [ANN]));
  await sending[0];
  is_away = true;
  peak = 0;
  setTimeout(() => {
    is_away = false;
    is_back = true;
  }, SHORT_MS);
  const outcomes = await Promise.all(sending);
  expect(outcomes.every(({ outcome }) => outcome === 'sent')).toBe(true);
  expect(peak).toBe(10);
});

test('a relay that goes on without the TLS it was asked for is not said to want smtp://, which it has', async () => {
  const goOnInClear = (socket: Socket): void => {
    socket.removeAllListeners('data').on('data', () => socket.write('500 what\r\n'));
    socket.write('220 go on\r\n');
  };
  const { relay, mailer } = await start({ EHLO: '250-odd.test\r\n250 STARTTLS', STARTTLS: goOnInClear });
  const outcome = await mailer.deliver(mailOf(), routeTo(relay), [ANN]);
  expect(outcome).toMatchObject({ stage: 'tls', outcome: 'unreachable' });
  expect(outcome.response).not.toContain('smtp://');
});
