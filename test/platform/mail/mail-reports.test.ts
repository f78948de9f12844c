/** Reports as real servers write them, and what is none. Who is believed is tested with deliveries. */
import { describe, expect, test } from 'bun:test';
import { MAX_REPORT_BYTES } from '../../../src/limits.ts';
import { readMailReport } from '../../../src/platform/mail/mail-reports.ts';
import { isHardBounce } from '../../../src/platform/mail/refusals.ts';
import { readSample } from '../../mail-reports.ts';

const read = (text: string) => readMailReport(Buffer.from(text, 'latin1'));

/** By sample: whom it names, what it makes of them, and whether it returns headers. */
const TOLD: Record<string, [address: string, kind: string | null][] | null> = {
  'postfix-unknown-user': [['unknown.user@example.org', 'bounced']],
  'postfix-headers-only': [['unknown.big@example.org', 'bounced']],
  'postfix-two-recipients': [
    ['nobody1@example.org', 'bounced'],
    ['nobody2@example.org', 'bounced'],
  ],
  'postfix-remote-550': [['refuse.me@remote.example', 'bounced']],
  'postfix-delayed': [['ann@slow.example', null]],
  'postfix-success': [['ann@example.org', 'delivered']],
  'postfix-envid': [['unknown.env@example.org', 'bounced']],
  'exim-unknown-user': [['nobody.here@exim.example', 'bounced']],
  'arf-abuse': [['ann@example.org', 'complained']],
  'not-a-bounce-auto-reply': null,
};

for (const [name, told] of Object.entries(TOLD))
  for (const [ends, text] of [
    ['LF', readSample(name)],
    ['CRLF', readSample(name).replace(/\n/g, '\r\n')],
  ] as const)
    test(`${name} with ${ends}`, async () => {
      const report = await read(text);
      expect(report?.recipients.map(({ addresses, kind }) => [addresses[0], kind]) ?? null).toEqual(told);
      if (!report) return;
      expect(report.returned_headers).toMatch(/\r\nDKIM-Signature: v=1;/);
      expect(report.returned_headers).toMatch(/\r\nMessage-ID: <\w{26}@[a-z.]+>\r\n/);
      expect(report.returned_headers).not.toMatch(/[^\r]\n|\r\n\r\n/);
    });

test('the words are those of the server that refused, on one line', async () => {
  const report = await read(readSample('postfix-remote-550'));
  expect(report?.recipients[0]).toMatchObject({
    smtp_code: 550,
    words:
      '550 5.1.1 <refuse.me@remote.example>: Recipient address rejected: User unknown here (reported by mx.example.org)',
  });
});

/** A report whose status part is this, in the frame that OpenSMTPD gives it: no report-type, no Diagnostic-Code. */
const framed = (status: string, type = 'message/delivery-status'): string =>
  [
    'From: Mailer Daemon <MAILER-DAEMON@mx.example.org>',
    'To: bounces+tag@shop.example.com',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed;boundary="12/x"',
    '',
    '--12/x',
    'Content-Type: text/plain; charset=utf-8',
    '',
    'Hi! An error has occurred.',
    '--12/x',
    `Content-Type: ${type}`,
    '',
    status,
    '--12/x',
    'Content-Type: text/rfc822-headers',
    '',
    'Return-Path: <bounces+other@shop.example.com>',
    'Message-ID: <x@y>',
    '',
    '--12/x--',
    '',
  ].join('\n');

test('OpenSMTPD: multipart/mixed, no Diagnostic-Code', async () => {
  const status =
    'Reporting-MTA: dns; mx.example.org\n\nFinal-Recipient: rfc822; <ann@example.org>\nAction: failed\nStatus: 5.0.0\n';
  const report = await read(framed(status));
  expect(report).toMatchObject({
    recipients: [{ addresses: ['ann@example.org'], kind: 'bounced', smtp_code: null }],
    returned_headers: 'Return-Path: <bounces+other@shop.example.com>\r\nMessage-ID: <x@y>\r\n',
  });
  expect(report?.addresses).toEqual(['bounces+tag@shop.example.com', 'bounces+other@shop.example.com']);
});

test('whom we wrote to comes before whom it was passed on to, with xtext decoded or not', async () => {
  const status =
    'X: y\n\nOriginal-Recipient: rfc822;ann+2Bnews@example.org\nFinal-Recipient: rfc822;a@inner.example\nAction: failed\nStatus: 5.1.1\n\nFinal-Recipient: x-local; root\nAction: failed\nStatus: 5.1.1';
  const report = await read(framed(status));
  expect(report?.recipients.map(({ addresses }) => addresses)).toEqual([
    ['ann+2Bnews@example.org', 'ann+news@example.org', 'a@inner.example'],
  ]);
});

test('only feedback that wants no more mail is a complaint', async () => {
  const kindOf = async (type: string) =>
    (await read(framed(`Feedback-Type: ${type}\nVersion: 1\n`, 'message/feedback-report')))?.recipients;
  expect(await kindOf('Abuse')).toMatchObject([{ addresses: [], kind: 'complained' }]);
  expect(await kindOf('not-spam')).toMatchObject([{ kind: null }]);
  expect(await kindOf('auth-failure')).toMatchObject([{ kind: null }]);
});

describe('what is no report', () => {
  const disposition = framed(
    'Final-Recipient: rfc822;ann@example.org\nDisposition: automatic-action/MDN-sent-automatically; displayed',
    'message/disposition-notification',
  );
  const nested = `Content-Type: multipart/mixed; boundary=a\n\n${Array.from({ length: 300 }, (_, k) => `--${k === 0 ? 'a' : k}\nContent-Type: multipart/mixed; boundary=${k + 1}\n\n`).join('')}`;
  const nothings: [string, string][] = [
    ['an empty message', ''],
    [
      'bytes of no meaning',
      String.fromCharCode(...Array.from({ length: 4_000 }, (_, k) => (k * 7919) % 256)),
    ],
    ['a receipt of reading', disposition],
    ['multiparts in multiparts', nested],
    ['a boundary that never comes', 'Content-Type: multipart/report; boundary=zzz\n\nnothing'],
    ['a status part with no fields', framed('')],
    ['headers without an end', `X: ${'y'.repeat(600_000)}`],
  ];
  for (const [name, text] of nothings)
    test(name, async () => {
      expect(await read(text)).toBeNull();
    });
});

describe('a report stays one', () => {
  const sample = readSample('postfix-unknown-user');
  const bounced = { recipients: [{ kind: 'bounced' }] };
  const returning = (more: string): string => sample.replace(/(?=\n--[^\n]+--\n*$)/, more);

  test('whatever the mail that it returns holds: parts, lines of hyphens, headers', async () => {
    for (const more of [
      `\n${'--x\nContent-Type: text/html\n\n<p>\n'.repeat(300)}`,
      `\n${'------\n\n-- \n'.repeat(1_000)}`,
      `\n${'Content-Type: message/rfc822\n\n'.repeat(1_000)}`,
    ]) {
      const report = await read(returning(more));
      expect(report).toMatchObject(bounced);
      expect(report?.returned_headers).toMatch(/\r\nDKIM-Signature: v=1;/);
    }
  });

  test('with what it returns before what it says, and with attachments', async () => {
    const boundary = /boundary="([^"]+)"/.exec(sample)?.[1] ?? '';
    const [head, ...parts] = sample.split(`\n--${boundary}\n`);
    expect(parts).toHaveLength(3);
    const [text, fields, returned = ''] = parts;
    const bare = returned.replace(`\n--${boundary}--`, '');
    const picture = `Content-Type: image/png\nContent-Transfer-Encoding: base64\n\n${'QUJD\n'.repeat(1_000)}`;
    const turned = [head, bare, picture, text, fields].join(`\n--${boundary}\n`);
    const report = await read(`${turned}\n--${boundary}--\n`);
    expect(report).toMatchObject(bounced);
    expect(report?.returned_headers).toMatch(/\r\nMessage-ID: </);
  });

  test('with 64 KiB of headers and a hundred parts, and with more of either it is none', async () => {
    const header = (bytes: number): string => `${'X-Y: z\n'.repeat(bytes / 7)}${sample}`;
    expect(await read(header(60 * 1024))).toMatchObject(bounced);
    expect(await read(header(64 * 1024))).toBeNull();
    const part = `\n--${/boundary="([^"]+)"/.exec(sample)?.[1]}\nContent-Type: text/plain\n\nhello`;
    const more = (parts: number): string => sample.replace(/(?=\n--)/, part.repeat(parts));
    expect(await read(more(95))).toMatchObject(bounced);
    expect(await read(more(100))).toBeNull();
  });
});

test('only the beginning of a message is read, however much follows', async () => {
  const [head = ''] = readSample('postfix-unknown-user').split(/\n--[^\n]+--\n*$/);
  const huge = Buffer.concat([Buffer.from(head), Buffer.alloc(50 * 1024 * 1024, 'x\n')]);
  expect((await readMailReport(huge))?.recipients).toMatchObject([{ kind: 'bounced' }]);
  const late = readSample('postfix-unknown-user').replace(
    'This is the mail system',
    'x\n'.repeat(MAX_REPORT_BYTES / 2),
  );
  expect(await read(late)).toBeNull();
});

const STATUSES: [status: string | null, diagnostic: string, is_hard: boolean][] = [
  ['5.1.1', '', true],
  ['5.1.1', '550 5.1.1 unknown', true],
  ['5.1.1', 'unknown user', true],
  ['5.1.8', '550 bad sender', false],
  ['5.2.1', '', true],
  ['5.2.2', '', false],
  ['5.2.3', '552 5.2.3 too big', false],
  ['5.0.0', '', true],
  [null, '', true],
  ['5.0.0', 'unknown user', true],
  ['5.0.0', '550 no such user', true],
  ['5.0.0', '550-5.1.1 The email account does not exist', true],
  ['5.0.0', '5.1.0 - Unknown address error', true],
  ['5.0.0', '552 mailbox full', false],
  ['5.0.0', '552 5.2.2 mailbox full', false],
  ['5.1.1', '552 5.2.2 mailbox full', false],
  ['5.0.0', '550 5.7.1 blocked', false],
  ['5.0.0', '451 4.3.0 later', false],
  ['5.7.1', '550 5.7.1 blocked', false],
  ['5.3.0', '550 no such user', false],
  ['4.4.7', '', false],
  ['4.2.2', '452 4.2.2 full', false],
];

for (const [status, diagnostic, is_hard] of STATUSES)
  test(`failed with ${status} and "${diagnostic}" is ${is_hard ? 'hard' : 'soft'}`, () => {
    expect(isHardBounce(status, diagnostic)).toBe(is_hard);
  });
