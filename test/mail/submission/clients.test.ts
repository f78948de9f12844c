/** Real clients over TLS: what they say, what the receiver gets, and whether its signature verifies. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify';
import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { loadConfig } from '../../../src/config.ts';
import { submissionChecks } from '../../../src/mail/submission/checks.ts';
import { SERVER_CERTIFICATES, TEST_CA_PEM } from '../../support/smtp-certificates.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { addDomain, type Sender } from '../emails/setup.ts';
import { authPlain, GREETING, handIn, messageFrom, portOf, RawClient, startTaking } from './setup.ts';

const FROM = 'hello@shop.example.com';
const MAX_BYTES = 256 * 1024;
const dir = makeTempDir();
const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') };

let on: Sender;
let sink: SmtpSink;

beforeAll(async () => {
  writeFileSync(files.cert, SERVER_CERTIFICATES.localhost.cert);
  writeFileSync(files.key, SERVER_CERTIFICATES.localhost.key);
  on = await startTaking({
    env: {
      SATCHEL_SMTPS_PORT: '0',
      SATCHEL_SMTP_TLS_CERT: files.cert,
      SATCHEL_SMTP_TLS_KEY: files.key,
      SATCHEL_SMTP_MAX_BYTES: String(MAX_BYTES),
    },
  });
  sink = await startSmtpSink();
  await addDomain(on.app, 'shop.example.com', sink, { is_default: true });
});
afterAll(() => sink.stop());

const transportAt = (which: 'port' | 'tls_port') =>
  createTransport({
    ...{ host: 'localhost', port: portOf(on, which), secure: which === 'tls_port', requireTLS: true },
    ...{ auth: { user: 'satchel', pass: on.key }, tls: { ca: TEST_CA_PEM } },
  });

test.each(['port', 'tls_port'] as const)(
  'nodemailer at the %s: parts, a picture, an invitation and a file arrive as they were, and DKIM verifies',
  async (which) => {
    sink.mails.splice(0);
    const picture = Buffer.from([137, 80, 78, 71, 0, 255, 13, 10]);
    const { response } = await transportAt(which).sendMail({
      from: { name: 'Shöp', address: FROM },
      to: 'ada@example.org',
      subject: 'Grüße',
      text: 'Hi\n.\n..',
      html: '<p>Hi <img src="cid:p@x"></p>',
      attachments: [
        { filename: 'p.png', content: picture, cid: 'p@x' },
        { filename: 'ä.bin', content: Buffer.alloc(5_000, 7) },
      ],
      icalEvent: { method: 'REQUEST', content: 'BEGIN:VCALENDAR\r\nEND:VCALENDAR\r\n' },
    });
    expect(response).toMatch(/^250 2\.0\.0 queued as [0-9A-Z]{26}$/);
    const [mail] = await sink.waitForMails(1);
    const raw = mail?.raw ?? Buffer.alloc(0);
    const { records } = on.app.services.sending_domains.show('shop.example.com');
    const resolver = async (name: string) =>
      records.filter((record) => record.name === name).map(({ value }) => [value]);
    const { results } = await dkimVerify(raw, { resolver });
    expect(results.map(({ status }) => status?.result)).toEqual(['pass']);
    const { subject, text, attachments } = await PostalMime.parse(raw);
    expect([subject, text?.trim()]).toEqual(['Grüße', 'Hi\n.\n..']);
    const of = (name: string) => attachments.find(({ filename }) => filename === name)?.content;
    expect(Buffer.from(of('p.png') as ArrayBuffer)).toEqual(picture);
    expect(Buffer.from(of('ä.bin') as ArrayBuffer)).toEqual(Buffer.alloc(5_000, 7));
    expect(raw.toString()).toContain('text/calendar');
  },
);

test('metrics count what was taken, what was refused, and who could not sign in', async () => {
  const read = async () => {
    const text = await on.app.services.metrics.read();
    const of = (name: string) => Number(new RegExp(`^satchel_smtp_${name} (\\d+)$`, 'm').exec(text)?.[1]);
    return [
      of('messages_total\\{reply="taken"\\}'),
      of('messages_total\\{reply="refused"\\}'),
      of('failed_sign_ins_total'),
    ];
  };
  const [taken = 0, refused = 0, failed = 0] = await read();
  const client = await RawClient.connect(portOf(on));
  expect(await client.sayAll(GREETING, authPlain('sat_live_nothing'))).toStartWith('535 ');
  expect(await client.say(authPlain(on.key))).toStartWith('235 ');
  expect(await handIn(client, messageFrom(FROM))).toStartWith('250 ');
  expect(await handIn(client, messageFrom('eve@elsewhere.example'))).toStartWith('550 ');
  client.close();
  // Those of the tests above may be told late, too.
  await until(async () => {
    const [now_taken = 0, now_refused = 0, now_failed = 0] = await read();
    return now_taken > taken && now_refused > refused && now_failed > failed;
  });
});

test('what was pipelined behind STARTTLS is forgotten, and so is who signed in before it', async () => {
  const client = await RawClient.connect(portOf(on));
  await client.say(GREETING);
  client.write(`STARTTLS\r\nMAIL FROM:<a@b.example>\r\n`);
  expect(await client.reply()).toStartWith('220 ');
  await client.secure();
  expect(await client.say('MAIL FROM:<a@b.example>')).toMatch(/^5(?:03|30) /);
  expect(await client.sayAll(GREETING, authPlain(on.key))).toStartWith('235 ');
  client.close();
});

test.each([
  ['\n.\n', '554 5.6.0'],
  ['\n.\r\n', '554 5.6.0'],
  ['\r.\r', '554 5.6.0'],
  ['\r\n.\n', '554 5.6.0'],
  ['\r\n.\r', '554 5.6.0'],
  ['\r\n\0.\r\n', '554 5.6.0'],
])('%j ends no message: nothing can be smuggled behind it', async (ending, refusal) => {
  sink.mails.splice(0);
  const client = await RawClient.connect(portOf(on));
  await client.sayAll(GREETING, authPlain(on.key));
  const smuggled = `MAIL FROM:<a@b.example>\r\nRCPT TO:<eve@example.org>\r\nDATA\r\n${messageFrom(FROM)}`;
  expect(await handIn(client, `${messageFrom(FROM)}x${ending}${smuggled}\r\n`)).toStartWith(refusal);
  expect(await client.say('NOOP')).toStartWith('250 ');
  expect(sink.mails).toEqual([]);
  client.close();
});

test('a message is as large as SIZE says at most, whether it was told before or not, and leaves no file', async () => {
  const client = await RawClient.connect(portOf(on));
  expect(await client.sayAll(GREETING)).toContain(`SIZE ${MAX_BYTES}`);
  expect(await client.say(authPlain(on.key))).toStartWith('235 ');
  expect(await client.say(`MAIL FROM:<a@b.example> SIZE=${MAX_BYTES + 1}`)).toStartWith('552 5.3.4');
  const count = () =>
    on.app.services.database.read.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM objects').get()
      ?.n;
  const before = count();
  const body = `${'x'.repeat(70)}\r\n`.repeat(Math.ceil(MAX_BYTES / 72));
  expect(await handIn(client, messageFrom(FROM, { body }))).toStartWith('552 5.3.4');
  expect(count()).toBe(before);
  // Past twice of it nobody reads on.
  client.write(`MAIL FROM:<a@b.example>\r\nRCPT TO:<ada@example.org>\r\nDATA\r\n`);
  client.write(messageFrom(FROM, { body: body.repeat(3) }));
  await client.over();
  expect(count()).toBe(before);
  client.close();
});

describe('doctor', () => {
  const SOON = Date.parse('2126-10-20T00:00:00Z');
  const LATE = Date.parse('2126-12-01T00:00:00Z');
  const pair = { SATCHEL_SMTP_TLS_CERT: files.cert, SATCHEL_SMTP_TLS_KEY: files.key };
  test.each([
    [{}, 0, null, ''],
    [{ SATCHEL_SMTP_PORT: '2525' }, 0, 'ok', 'port 2525, without TLS.'],
    [{ SATCHEL_SMTP_PORT: '2525', SATCHEL_SMTP_HOST: '0.0.0.0' }, 0, 'warning', 'but this machine'],
    [
      { SATCHEL_SMTP_PORT: '2525', SATCHEL_SMTP_HOST: '0.0.0.0', SATCHEL_SMTP_PLAIN_FROM: '10.0.0.0/8' },
      ...[0, 'ok', 'without TLS'],
    ],
    [{ SATCHEL_SMTPS_PORT: '465', ...pair }, 0, 'ok', 'is good until 2126-10-28T'],
    [{ SATCHEL_SMTPS_PORT: '465', ...pair }, SOON, 'warning', 'is good until 2126-10-28T'],
    [{ SATCHEL_SMTPS_PORT: '465', ...pair }, LATE, 'problem', 'ended 2126-10-28T'],
    [{ SATCHEL_SMTPS_PORT: '465', ...pair, SATCHEL_SMTP_TLS_KEY: '/none' }, 0, 'problem', "can't be read"],
  ] as const)('of %j at %d: %s, %s', async (env, now_ms, status, message) => {
    const config = loadConfig(env);
    const clock = { ...on.app.clock, now: () => now_ms };
    const found = await Promise.all(submissionChecks({ config, clock }).map(({ run }) => run()));
    expect(found.flat()).toEqual(
      status === null ? [] : [expect.objectContaining({ status, message: expect.stringContaining(message) })],
    );
  });
});

test('a certificate that is replaced by a bad one is kept, and a good one takes its place', async () => {
  const { submission } = on.app.services;
  writeFileSync(files.cert, 'nonsense');
  submission.lookAtFiles();
  await transportAt('tls_port').verify();
  writeFileSync(files.cert, SERVER_CERTIFICATES.elsewhere.cert);
  writeFileSync(files.key, SERVER_CERTIFICATES.elsewhere.key);
  submission.lookAtFiles();
  await expect(transportAt('tls_port').verify()).rejects.toThrow(/altname|localhost/);
  await expect(transportAt('port').verify()).rejects.toThrow(/altname|localhost/);
});

test('a test key captures what it sends, whose bytes are kept once', async () => {
  sink.mails.splice(0);
  const key = await on.project.key({ can_send_emails: true, is_test: true });
  const client = await RawClient.connect(portOf(on, 'tls_port'), { tls: true });
  await client.sayAll(GREETING, authPlain(key));
  const fields = ['Date: Fri, 27 Nov 2026 10:00:00 +0000', 'Message-ID: <captured@client.example>'];
  const message = messageFrom(FROM, { fields, body: `${'x'.repeat(990)}\r\n`.repeat(200) });
  const to = ['c1@example.org', 'c2@example.org'];
  const reply = await handIn(client, message, to);
  expect(reply).toStartWith('250 2.0.0 queued as ');
  await on.settle();
  expect(sink.mails).toEqual([]);
  expect(await on.log(reply.slice(-26))).toMatchObject({ status: 'sent', source: 'smtp' });
  const { deliveries, database } = on.app.services;
  const captured = deliveries.listCaptured({}).data;
  expect(captured.flatMap((one) => one.to).sort()).toEqual(to);
  for (const { email_id } of captured) {
    const { raw } = await deliveries.readCaptured(email_id);
    expect(raw).toStartWith('DKIM-Signature: ');
    expect(raw).toEndWith(`\r\n${message}`);
  }
  const bytes = 'SELECT max(length(raw)) < 2000 AS is_small FROM captured_messages';
  expect(database.read.$client.query(bytes).get()).toEqual({ is_small: 1 });
  client.close();
});
