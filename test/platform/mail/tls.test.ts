/** TLS and log-in of the mailer, against real TLS servers whose certificates are right, wrong or of an unknown authority. */
import { afterEach, expect, test } from 'bun:test';
import { isLoopback } from '../../../src/platform/http/hosts.ts';
import { createMailer, type Mailer } from '../../../src/platform/mail/mailer.ts';
import type { SmtpRoute } from '../../../src/platform/mail/types.ts';
import { mailOf, routeTo } from '../../support/mail-samples.ts';
import { type SinkOptions, type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(options: SinkOptions): Promise<{ sink: SmtpSink; mailer: Mailer }> {
  const sink = await startSmtpSink(options);
  const mailer = createMailer();
  cleanups.push(
    () => sink.stop(),
    () => mailer.stop(0),
  );
  return { sink, mailer };
}

const ANN = 'ann@customer.example';
const USERS = { shop: 'correct horse' };
const LOG_IN = { username: 'shop', password: 'correct horse' };
/** Linux connects it to loopback, yet it is none of the names that Satchel takes for loopback. */
const ELSEWHERE = '0.0.0.0';

for (const [security, tls] of [
  ['tls', 'tls'],
  ['starttls', 'starttls'],
  ['opportunistic', 'starttls'],
] as const) {
  test(`${security}: mails large and small go through TLS, logged in, over reused connections`, async () => {
    const { sink, mailer } = await start({ tls, users: USERS });
    const route = routeTo(sink, { security, host: 'localhost', ca_pem: sink.ca_pem, ...LOG_IN });
    const large = mailOf({ text: 'A line of a long mail.\n'.repeat(100_000) });
    const mails = Array.from({ length: 30 }, (_, index) => (index === 7 ? large : mailOf()));
    const outcomes = await Promise.all(mails.map((mail) => mailer.deliver(mail, route, [ANN])));
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual(Array(30).fill('sent'));
    expect(sink.mails.every((mail) => mail.is_tls && mail.user === 'shop')).toBe(true);
    expect(Math.max(...sink.mails.map((mail) => mail.raw.length))).toBeGreaterThan(2_000_000);
    expect(sink.connections_total).toBeLessThanOrEqual(10);
  });

  test(`${security}: the version of TLS is told of what is taken, refused or kept from logging in`, async () => {
    const { sink, mailer } = await start({ tls, users: USERS });
    const route = routeTo(sink, { security, host: 'localhost', ca_pem: sink.ca_pem, ...LOG_IN });
    expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ outcome: 'sent', tls: 'TLSv1.3' });
    const wrong = { ...route, key: 'wrong', password: 'wrong' };
    expect(await mailer.deliver(mailOf(), wrong, [ANN])).toMatchObject({ stage: 'auth', tls: 'TLSv1.3' });
    sink.behavior = { rcpt: { [ANN]: { code: 550, message: '5.1.1 no' } } };
    expect(await mailer.deliver(mailOf(), route, [ANN])).toMatchObject({ stage: 'rcpt', tls: 'TLSv1.3' });
  });
}

test('without TLS none is told of', async () => {
  const { sink, mailer } = await start({});
  expect(await mailer.deliver(mailOf(), routeTo(sink), [ANN])).toMatchObject({
    outcome: 'sent',
    tls: 'none',
  });
  sink.behavior = { mail: { code: 550, message: 'no' } };
  expect(await mailer.deliver(mailOf(), routeTo(sink), [ANN])).toMatchObject({ stage: 'mail', tls: 'none' });
});

const CERTIFICATES: [string, SinkOptions, (sink: SmtpSink) => Partial<SmtpRoute>][] = [
  ['tls, unknown authority', { tls: 'tls' }, () => ({ security: 'tls' })],
  ['starttls, unknown authority', { tls: 'starttls' }, () => ({ security: 'starttls' })],
  [
    'opportunistic, unknown authority, not on this machine',
    { tls: 'starttls' },
    () => ({ security: 'opportunistic', host: ELSEWHERE }),
  ],
  [
    "tls, another host's name",
    { tls: 'tls', certificate: 'elsewhere' },
    (sink) => ({ security: 'tls', host: 'localhost', ca_pem: sink.ca_pem }),
  ],
  [
    "starttls, another host's name",
    { tls: 'starttls', certificate: 'elsewhere' },
    (sink) => ({ security: 'starttls', host: 'localhost', ca_pem: sink.ca_pem }),
  ],
  [
    "tls, another host's name where the host is an address",
    { tls: 'tls', certificate: 'elsewhere' },
    (sink) => ({ security: 'tls', ca_pem: sink.ca_pem }),
  ],
  [
    "starttls, another host's name where the host is an address",
    { tls: 'starttls', certificate: 'elsewhere' },
    (sink) => ({ security: 'starttls', ca_pem: sink.ca_pem }),
  ],
];

test.each(CERTIFICATES)(
  'a certificate that proves nothing gets neither mail nor password (%s)',
  async (_case, options, route) => {
    const { sink, mailer } = await start({ ...options, users: USERS });
    const outcome = await mailer.deliver(mailOf(), routeTo(sink, { ...route(sink), ...LOG_IN }), [ANN]);
    expect(outcome).toMatchObject({
      outcome: 'unreachable',
      stage: 'tls',
      about: null,
    });
    expect(sink.mails).toEqual([]);
    expect(sink.log_ins).toEqual([]);
  },
);

test('a certificate for the address is right where the host is an address', async () => {
  const { sink, mailer } = await start({ tls: 'tls' });
  const outcome = await mailer.deliver(mailOf(), routeTo(sink, { security: 'tls', ca_pem: sink.ca_pem }), [
    ANN,
  ]);
  expect(outcome).toMatchObject({ outcome: 'sent' });
});

test('opportunistic TLS to this very machine does without a proof', async () => {
  const { sink, mailer } = await start({ tls: 'starttls', users: USERS });
  expect(await mailer.deliver(mailOf(), routeTo(sink, LOG_IN), [ANN])).toMatchObject({ outcome: 'sent' });
  expect(sink.mails[0]).toMatchObject({ is_tls: true, user: 'shop' });
});

test('required STARTTLS that is not offered ends the session before the log-in', async () => {
  const { sink, mailer } = await start({ users: USERS, offers_plain_auth: true });
  const outcome = await mailer.deliver(mailOf(), routeTo(sink, { security: 'starttls', ...LOG_IN }), [ANN]);
  expect(outcome).toMatchObject({ stage: 'tls', outcome: 'unreachable', about: null });
  expect(sink.log_ins).toEqual([]);
});

test('without TLS a password goes to no host but this machine', async () => {
  const { sink, mailer } = await start({ users: USERS, offers_plain_auth: true });
  const elsewhere = await mailer.deliver(mailOf(), routeTo(sink, { host: ELSEWHERE, ...LOG_IN }), [ANN]);
  expect(elsewhere).toMatchObject({ stage: 'tls', outcome: 'unreachable', smtp_code: null });
  expect(sink.log_ins).toEqual([]);
  expect(await mailer.deliver(mailOf(), routeTo(sink, LOG_IN), [ANN])).toMatchObject({ outcome: 'sent' });
  expect(sink.log_ins).toEqual(['shop']);
});

test('a mail that should be sent logged in is not sent without a log-in', async () => {
  // What a relay then says of a recipient, such as "relay access denied", would pass for the recipient's own fault.
  const rcpt = { [ANN]: { code: 554, message: '5.7.1 Relay access denied' } };
  const { sink, mailer } = await start({ rcpt });
  expect(await mailer.deliver(mailOf(), routeTo(sink, LOG_IN), [ANN])).toMatchObject({
    outcome: 'unreachable',
    stage: 'auth',
    about: null,
    response: expect.stringContaining('offers no log-in'),
  });
  const elsewhere = await mailer.deliver(mailOf(), routeTo(sink, { host: ELSEWHERE, ...LOG_IN }), [ANN]);
  expect(elsewhere).toMatchObject({ stage: 'tls', outcome: 'unreachable' });
  expect(sink.mails).toEqual([]);
});

test('a relay is greeted with the name of the sending domain', async () => {
  const { sink, mailer } = await start({});
  await mailer.deliver(mailOf(), routeTo(sink, { client_name: 'mail.shop.example' }), [ANN]);
  expect(sink.mails[0]?.client_name).toBe('mail.shop.example');
});

const REMEDIES: [string, SinkOptions, (sink: SmtpSink) => Partial<SmtpRoute>, RegExp][] = [
  ['unknown authority', {}, () => ({}), /authority .*NODE_EXTRA_CA_CERTS/],
  [
    "another host's name",
    { certificate: 'elsewhere' },
    (sink) => ({ ca_pem: sink.ca_pem }),
    /relay\.elsewhere\.test.*name that stands in it/,
  ],
];

for (const tls of ['tls', 'starttls'] as const) {
  test.each(REMEDIES)(
    `${tls}: a refused certificate comes with its remedy (%s)`,
    async (_case, options, changes, words) => {
      const { sink, mailer } = await start({ tls, ...options });
      const route = routeTo(sink, { security: tls, host: 'localhost', ...changes(sink) });
      const outcome = await mailer.deliver(mailOf(), route, [ANN]);
      expect(outcome).toMatchObject({ stage: 'tls', response: expect.stringMatching(words) });
    },
  );
}

test('a scheme that is not the one of the port is told, both ways', async () => {
  const submission = await start({ tls: 'starttls' });
  const over_tls = routeTo(submission.sink, { security: 'tls' });
  expect(await submission.mailer.deliver(mailOf(), over_tls, [ANN])).toMatchObject({
    stage: 'tls',
    response: expect.stringContaining('wants smtp://'),
  });
  const smtps = await startSmtpSink({ tls: 'tls' });
  const mailer = createMailer({ deadlines: { greeting_ms: 2_000 } });
  cleanups.push(
    () => smtps.stop(),
    () => mailer.stop(0),
  );
  expect(await mailer.deliver(mailOf(), routeTo(smtps), [ANN])).toMatchObject({
    stage: 'greeting',
    response: expect.stringContaining('wants smtps://'),
  });
});

test('names and addresses of this machine are told from others', () => {
  const here = ['localhost', 'LOCALHOST', 'mail.localhost', '127.0.0.1', '127.9.9.9', '::1'];
  expect(here.filter((host) => !isLoopback(host))).toEqual([]);
  const elsewhere = [
    '127.0.0.1.example.com',
    'localhost.example.com',
    '10.0.0.1',
    '::2',
    '0.0.0.0',
    'notlocalhost',
  ];
  expect(elsewhere.filter(isLoopback)).toEqual([]);
});

test('a wrong password is refused at the log-in, and stands in no answer', async () => {
  const { sink, mailer } = await start({ users: USERS, offers_plain_auth: true });
  const route = routeTo(sink, { username: 'shop', password: 'wrong battery' });
  const outcome = await mailer.deliver(mailOf(), route, [ANN]);
  expect(outcome).toMatchObject({ stage: 'auth', smtp_code: 535, outcome: 'unreachable', about: 'mailbox' });
  expect(JSON.stringify(outcome)).not.toContain('battery');
});

test('a relay that wants a log-in where none is set refuses the sender', async () => {
  const { sink, mailer } = await start({ users: USERS, offers_plain_auth: true });
  const outcome = await mailer.deliver(mailOf(), routeTo(sink), [ANN]);
  expect(outcome).toMatchObject({ stage: 'mail', smtp_code: 530, about: 'mailbox' });
});
