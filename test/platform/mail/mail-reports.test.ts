/** Reports as real servers write them, and what is none. Who is believed is tested with deliveries. */
import { describe, expect, test } from 'bun:test';
import { MAX_REPORT_BYTES } from '../../../src/limits.ts';
import { readMailReport } from '../../../src/platform/mail/mail-reports.ts';
import { readSample } from '../../support/mail-reports.ts';

const read = (text: string) => readMailReport(Buffer.from(text, 'latin1'));

/** By sample: whom it names, what it makes of them, and whether it returns headers. */
const TOLD: Record<string, [address: string | undefined, kind: string | null][] | null> = {
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
  'arf-base64': [[undefined, 'complained']],
  ironport: [['b-ironportX@remote.example', 'bounced']],
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
      expect(report.returned_headers).toMatch(/(?:^|\r\n)DKIM-Signature: v=1;/);
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

describe('qmail’s plain text', () => {
  const said = (told: string): string =>
    readSample('qmail').replace(/^<b-qmail[\s\S]*?\n(?=\n--- Below)/m, told);

  test('tells of each recipient in a paragraph of its own, and returns nothing that counts', async () => {
    const report = await read(readSample('qmail'));
    expect(report).toMatchObject({
      recipients: [
        {
          ...{ addresses: ['b-qmail@remote.example'], kind: 'bounced' },
          words: 'Sorry, no mailbox here by that name. (#5.1.1)',
        },
      ],
      addresses: [expect.stringMatching(/^news\+\w{26}\.\w{20}@shop\.example$/)],
      returned_headers: '',
    });
  });

  test('is judged as replies are', async () => {
    const report = await read(
      said(
        [
          '<a@x.example>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 5.7.1 Client host blocked\nGiving up on 192.0.2.1.\n',
          '<b@x.example>:\nConnected to 192.0.2.1 but sender was rejected.\nRemote host said: 550 no such user\n',
          '<c@x.example>:\n192.0.2.1 failed after I sent the message.\nRemote host said: 550 Nope\n',
          "<d@x.example>:\nI'm not going to try again; this message has been in the queue too long.\n",
          '<e@x.example>:\nThe users mailfolder is over the allowed quota (size). (#5.2.2)\n',
          '<f@x.example>:\n192.0.2.1 does not like recipient.\nRemote host said: 550 User unknown\n',
          'No address:\nUser unknown\n',
        ].join('\n'),
      ),
    );
    const kinds = ['refused', 'refused', 'refused', 'soft_bounced', 'soft_bounced', 'bounced'];
    expect(report?.recipients.map(({ kind }) => String(kind))).toEqual(kinds);
    expect(report?.recipients[0]).toMatchObject({
      smtp_code: 550,
      words: expect.stringMatching(/^550 5\.7\.1/),
    });
  });

  test('is none that says something else first, or that it goes on', async () => {
    const other = readSample('qmail').replace('Hi. This is the', 'Hello. This is the');
    expect(await read(other)).toBeNull();
    const warning = readSample('qmail').replace(
      "I've given up. Sorry it didn't work out.",
      "I'll keep trying.",
    );
    expect(await read(warning)).toBeNull();
  });
});

/** A report whose status part is this, in the frame that OpenSMTPD gives it: no report-type, no Diagnostic-Code. */
const framed = (
  status: string,
  type = 'message/delivery-status',
  text = 'Hi! An error has occurred.',
): string =>
  [
    'From: Mailer Daemon <MAILER-DAEMON@mx.example.org>',
    'To: bounces+tag@shop.example.com',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed;boundary="12/x"',
    '',
    '--12/x',
    'Content-Type: text/plain; charset=utf-8',
    '',
    text,
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

const failed = (...addresses: string[]): string =>
  ['Reporting-MTA: dns; mx.example.org\n']
    .concat(
      addresses.map((address) => `Final-Recipient: rfc822; <${address}>\nAction: failed\nStatus: 5.0.0\n`),
    )
    .join('\n');

test('OpenSMTPD: multipart/mixed, no Diagnostic-Code; without a reply in the text it may pass', async () => {
  const report = await read(framed(failed('ann@example.org')));
  expect(report).toMatchObject({
    recipients: [{ addresses: ['ann@example.org'], kind: 'soft_bounced', smtp_code: null }],
    returned_headers: 'Return-Path: <bounces+other@shop.example.com>\r\nMessage-ID: <x@y>\r\n',
  });
  expect(report?.addresses).toEqual(['bounces+tag@shop.example.com', 'bounces+other@shop.example.com']);
});

describe('what the text alone tells', () => {
  const opensmtpd = `    Hi!

    This is the MAILER-DAEMON, please DO NOT REPLY to this email.

    An error has occurred while attempting to deliver a message for
    the following list of recipients:

ann@example.org: 550 5.1.1 <ann@example.org>: Recipient address rejected: User unknown
bob@example.org: 550 5.7.1 Service unavailable; Client host [203.0.113.9] blocked using zen.spamhaus.org
cy@example.org: 550 JunkMail rejected - is in an RBL
dee@example.org: No MX found for domain

    Below is a copy of the original message:`;
  const exim = (words: string): string => `This message was created automatically by mail delivery software.

A message that you sent could not be delivered to one or more of its
recipients. This is a permanent error. The following address(es) failed:

  ann@example.org
    ${words}

  bob@example.org
    host mx.example.org [203.0.113.1]
    SMTP error from remote mail server after RCPT TO:<bob@example.org>:
    550-5.1.1 No such
    550 5.1.1 user

------ This is a copy of the message, including all the headers. ------

: 550 5.7.1 words of the mail itself`;

  test('by OpenSMTPD, for each recipient its own', async () => {
    const [ann, bob, cy, dee] = ['ann', 'bob', 'cy', 'dee'].map((name) => `${name}@example.org`);
    const report = await read(
      framed(failed(ann ?? '', bob ?? '', cy ?? '', dee ?? ''), undefined, opensmtpd),
    );
    expect(report?.recipients).toMatchObject([
      { kind: 'bounced', smtp_code: 550, words: expect.stringContaining('550 5.1.1 <ann@example.org>') },
      { kind: 'refused', smtp_code: 550, words: expect.stringContaining('zen.spamhaus.org (reported by mx') },
      { kind: 'refused', words: '550 JunkMail rejected - is in an RBL (reported by mx.example.org)' },
      { kind: 'soft_bounced', smtp_code: null, words: expect.stringContaining('No MX found for domain') },
    ]);
  });

  const TEXTS: [words: string, kind: string][] = [
    [
      'SMTP error from remote mail server after RCPT TO:<ann@example.org>: 550 relay not permitted',
      'refused',
    ],
    [
      'SMTP error from remote mail server after end of data:\n    550-JunkMail rejected\n    550 is in an RBL',
      'refused',
    ],
    ['SMTP error from remote mail server after RCPT TO:<ann@example.org>:\n    550 User unknown', 'bounced'],
    [
      'SMTP error from remote mail server after RCPT TO:<ann@example.org>:\n    552 5.2.2 mailbox full',
      'soft_bounced',
    ],
    [
      "all hosts for 'example.org' have been failing for a long time (and retry time not reached)",
      'soft_bounced',
    ],
    ['host mx.example.org [203.0.113.1]: retry timeout exceeded', 'soft_bounced'],
    ['Unrouteable address', 'soft_bounced'],
    ['Unknown user', 'bounced'],
  ];
  test.each(TEXTS)('by Exim: %p is %p', async (words, kind) => {
    const report = await read(framed(failed('ann@example.org', 'bob@example.org'), undefined, exim(words)));
    expect(report?.recipients.map((one) => String(one.kind))).toEqual([kind, 'bounced']);
    expect(report?.recipients[1]?.words).toStartWith('550-5.1.1 No such 550 5.1.1 user (');
  });

  test('is that of the only recipient where it was passed on under another name', async () => {
    const text = exim('SMTP error after RCPT TO:<ann@example.org>: 550 relay not permitted').split(
      '  bob@',
    )[0];
    const report = await read(framed(failed('ann.old@example.org'), undefined, text));
    expect(report?.recipients).toMatchObject([{ kind: 'refused', smtp_code: 550 }]);
  });

  test('is not asked where the report has a Diagnostic-Code or a Status of its own', async () => {
    const told = failed('ann@example.org').replace('Status: 5.0.0', 'Status: 5.1.1');
    expect((await read(framed(told, undefined, exim('550 relay not permitted'))))?.recipients[0]?.kind).toBe(
      'bounced',
    );
    const diagnosed = failed('ann@example.org').replace(
      'Status: 5.0.0',
      'Status: 5.0.0\nDiagnostic-Code: X-Postfix; host mx[203.0.113.1] said: 550 5.7.1 Blocked (in reply to MAIL FROM)',
    );
    expect((await read(framed(diagnosed, undefined, exim('550 User unknown'))))?.recipients[0]).toMatchObject(
      {
        kind: 'refused',
        smtp_code: 550,
      },
    );
  });
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
      expect(report?.returned_headers).toMatch(/(?:^|\r\n)DKIM-Signature: v=1;/);
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

  test('ten parts deep, and deeper it is none', async () => {
    const within = (depth: number): string =>
      Array.from({ length: depth }, (_, n) => n).reduce(
        (message, n) =>
          `Content-Type: multipart/mixed; boundary=in${n}\n\n--in${n}\n${message}\n--in${n}--\n`,
        sample.slice(sample.indexOf('Content-Type: multipart/report')),
      );
    expect(await read(within(8))).toMatchObject(bounced);
    expect(await read(within(10))).toBeNull();
  });

  test('with a boundary that ends like the last line of its parts', async () => {
    const [, boundary = ''] = /boundary="([^"]+)"/.exec(sample) ?? [];
    const [head, text, fields, returned = ''] = sample.replaceAll(boundary, 'b--').split('\n--b--\n');
    const bare = returned.replace('\n--b----', '');
    expect(await read([head, bare, text, `${fields}\n--b----\n`].join('\n--b--\n'))).toMatchObject(bounced);
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
