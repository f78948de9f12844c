/** What the SMTP server says to each thing that a client may say, code for code. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { actor, makeProject } from '../../support/helpers.ts';
import { addDomain, addMailbox, type Sender } from '../emails/setup.ts';
import {
  authPlain,
  GREETING,
  handIn,
  messageFrom,
  portOf,
  RawClient,
  signedIn,
  startTaking,
} from './setup.ts';

let on: Sender;
const FROM = 'hello@shop.example.com';
const TAKEN = /^250 2\.0\.0 queued as [0-9A-Z]{26}$/;

beforeAll(async () => {
  on = await startTaking();
  await addDomain(on.app, 'shop.example.com', null, { is_default: true });
});

const open = (): Promise<RawClient> => RawClient.connect(portOf(on));
let shared: RawClient;
beforeAll(async () => {
  shared = await signedIn(portOf(on), on.key);
});
afterAll(() => shared.close());

const countMails = (): number =>
  on.app.services.database.read.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM emails').get()
    ?.n ?? 0;

/** The reply to a message, which is not taken unless it says so. */
async function handInOne(message: string | Uint8Array, to?: string[]): Promise<string> {
  const before = countMails();
  const reply = await handIn(shared, message, to);
  if (!TAKEN.test(reply)) expect(countMails()).toBe(before);
  return reply;
}

describe('before signing in', () => {
  test('EHLO offers what there is, and neither STARTTLS without a certificate nor SMTPUTF8', async () => {
    const client = await open();
    const lines = (await client.say(GREETING)).split('\r\n').map((line) => line.slice(4));
    expect(lines.slice(1).sort()).toEqual(
      ['PIPELINING', '8BITMIME', 'ENHANCEDSTATUSCODES', 'AUTH LOGIN PLAIN', 'SIZE 26214400'].sort(),
    );
    expect(await client.say('HELO client')).toStartWith('250 ');
    client.close();
  });

  test.each([
    'MAIL FROM:<a@b.example>',
    'RCPT TO:<a@b.example>',
    'DATA',
    'VRFY a',
    'EXPN a',
    'BDAT 1',
    'HELP',
    'WIZ x',
    'XCLIENT NAME=a',
    'what',
  ])('%s is 530', async (line) => {
    const client = await open();
    await client.say(GREETING);
    expect(await client.say(line)).toStartWith('530 5.7.0 ');
    client.close();
  });

  test('NOOP, RSET and QUIT are answered, and STARTTLS is unknown without a certificate', async () => {
    const client = await open();
    expect(await client.say('NOOP')).toStartWith('250 2.0.0 ');
    expect(await client.say('RSET')).toStartWith('250 2.0.0 ');
    expect(await client.say('STARTTLS')).toStartWith('500 5.5.2 ');
    expect(await client.say('QUIT')).toStartWith('221 2.0.0 ');
    await client.over();
  });

  test('a browser that is made to talk to the port is hung up on', async () => {
    const client = await open();
    for (const line of ['MAIL FROM:<a HTTP/1.1', 'HELP HTTP/1.1', 'VRFY x HTTP/'])
      expect(await client.say(line)).toStartWith('530 5.7.0 ');
    expect(await client.say('POST / HTTP/1.1')).toStartWith('421 ');
    await client.over();
  });
});

describe('signing in', () => {
  test('by PLAIN and LOGIN, with any name', async () => {
    const client = await open();
    expect(await client.sayAll(GREETING, authPlain(on.key, 'whoever'))).toBe(
      '235 2.7.0 Authentication successful',
    );
    expect(await client.say(authPlain(on.key))).toStartWith('503 5.5.1 ');
    client.close();
    const other = await open();
    const [name, password] = ['me', on.key].map((text) => Buffer.from(text).toString('base64'));
    expect(await other.sayAll(GREETING, 'AUTH LOGIN', name ?? '', password ?? '')).toStartWith('235 ');
    other.close();
  });

  test('a key that is unknown, switched off or of an inactive project is told one sentence', async () => {
    const project = await makeProject(on.app, 'asleep');
    const sleeping = await project.key({ can_send_emails: true });
    const off = await on.project.key({ can_send_emails: true });
    await switchOffLast();
    await on.app.services.projects.update(actor, on.app.services.projects.require('asleep'), {
      status: 'inactive',
    });
    const said = new Set<string>();
    for (const key of ['nonsense', `sat_live_${'a'.repeat(43)}`, off, sleeping]) {
      const client = await open();
      said.add(await client.sayAll(GREETING, authPlain(key)));
      client.close();
    }
    expect([...said]).toEqual(['535 5.7.8 The password must be an API key that is active.']);
  });

  test('a key that may not send, or from nowhere but a page, is told what it lacks', async () => {
    const mute = await on.project.key({ can_read: true });
    const of_page = await on.project.key({ can_send_emails: true, restricted: true });
    const client = await open();
    expect(await client.sayAll(GREETING, authPlain(mute))).toMatch(/^535 5\.7\.8 .*'email'/);
    expect(await client.say(authPlain(of_page))).toMatch(/^535 5\.7\.8 .*it lacks allow_no_origin/);
    client.close();
    const free = await on.project.key({ can_send_emails: true, restricted: true, allow_no_origin: true });
    (await signedIn(portOf(on), free)).close();
  });

  test('the third failure ends the connection, and nobody is locked out', async () => {
    const client = await open();
    await client.say(GREETING);
    expect(await client.say(authPlain('a'))).toStartWith('535 ');
    expect(await client.say(authPlain('b'))).toStartWith('535 ');
    expect(await client.say(authPlain('c'))).toStartWith('421 4.7.0 ');
    await client.over();
    (await signedIn(portOf(on), on.key)).close();
  });

  test('a key that is switched off meanwhile is 530 at the next MAIL, and no message of it is taken', async () => {
    const key = await on.project.key({ can_send_emails: true });
    const client = await signedIn(portOf(on), key);
    expect(await handIn(client, messageFrom(FROM))).toMatch(TAKEN);
    await client.sayAll('MAIL FROM:<a@b.example>', 'RCPT TO:<ada@example.org>', 'DATA');
    const before = countMails();
    await switchOffLast();
    client.write(messageFrom(FROM));
    expect(await client.say('.')).toStartWith('530 5.7.0 ');
    expect(await client.say('MAIL FROM:<a@b.example>')).toStartWith('530 5.7.0 ');
    expect(countMails()).toBe(before);
    client.close();
  });
});

/** Switches off the key that was made last. */
async function switchOffLast(): Promise<void> {
  const { keys, database } = on.app.services;
  const last = database.read.$client.query<{ id: number }, []>('SELECT max(id) AS id FROM api_keys').get();
  await keys.update(actor, keys.require(String(last?.id)), { is_active: false });
}

describe('the envelope', () => {
  test.each([
    ['VRFY ada', '252 '],
    ['EXPN list', '500 5.5.2 '],
    ['BDAT 10', '500 5.5.2 '],
    ['HELP', '500 5.5.2 '],
    ['RCPT TO:<ada@example.org>', '503 5.5.1 '],
    ['DATA', '503 5.5.1 '],
    ['MAIL FROM:<a@b.example> SMTPUTF8', '555 5.5.4 '],
    ['MAIL FROM:<a@b.example> SIZE=26214401', '552 5.3.4 '],
    ['MAIL FROM:a@b.example', '501 5.1.7 '],
  ])('%s is %s', async (line, reply) => {
    expect(await shared.say(line)).toStartWith(reply);
  });

  test('a recipient that the API would not take is 501 5.1.3', async () => {
    await shared.sayAll('RSET', 'MAIL FROM:<>');
    for (const address of [
      'postmaster',
      'a%b@example.org',
      '"a b"@example.org',
      'a@[192.0.2.1]',
      'a@example',
      'ä@example.org',
      `${'a'.repeat(65)}@example.org`,
    ])
      expect(await shared.say(`RCPT TO:<${address}>`)).toStartWith('501 5.1.3 ');
    expect(await shared.say('RCPT TO:<ada@xn--bcher-kva.example>')).toStartWith('250 2.1.5 ');
    expect(await shared.say('RSET')).toStartWith('250 ');
  });

  test('fifty recipients are taken, the next is 452 4.5.3; one that is named twice is one', async () => {
    await shared.say('MAIL FROM:<>');
    for (let n = 0; n < 50; n++) expect(await shared.say(`RCPT TO:<r${n}@example.org>`)).toStartWith('250 ');
    expect(await shared.say('RCPT TO:<R7@EXAMPLE.org>')).toStartWith('250 ');
    expect(await shared.say('RCPT TO:<one.more@example.org>')).toStartWith('452 4.5.3 ');
    await shared.say('RSET');
    const reply = await handInOne(messageFrom(FROM, { subject: 'Twice' }), [
      'bob@example.org',
      'BOB@example.org',
    ]);
    expect(reply).toMatch(TAKEN);
    const mails = on.app.services.database.read.$client
      .query("SELECT to_email FROM emails WHERE subject = 'Twice'")
      .all();
    expect(mails).toEqual([{ to_email: 'BOB@example.org' }]);
  });
});

describe('From', () => {
  beforeAll(async () => {
    for (const name of ['b', 'c', 'd', 'e', 'f']) await addMailbox(on.app, `${name}@shop.example.com`, null);
  });

  test.each([
    ['another address', 'eve@shop.example.com'],
    ['a list', `${FROM}, b@shop.example.com`],
    ['a group', `us:${FROM};`],
    ['two in angles', `<${FROM}> <${FROM}>`],
    ['what comes behind', `<${FROM}> x`],
    ['an address in quotes', `"hello"@shop.example.com`],
    ['another address before it', `ceo@bank.test <${FROM}>`],
    ['another address among its name', `The ceo@bank.test "of" <${FROM}>`],
    ['another address in a comment', `${FROM} (ceo@bank.test)`],
    ['its own with another', `${FROM} ceo@bank.test <${FROM}>`],
    ['an at sign alone', `Shop @ work <${FROM}>`],
    ['nothing', ''],
  ])('%s is 550 5.7.1 and is told up to five that would do', async (_what, from) => {
    expect(await handInOne(messageFrom(from))).toBe(
      '550 5.7.1 From must hold the address of one active mailbox that this key may send from, and nothing else. ' +
        'Those are: hello@shop.example.com, b@shop.example.com, c@shop.example.com, d@shop.example.com, e@shop.example.com, ....',
    );
  });

  test.each([
    ['bare', FROM],
    ['in other case', FROM.toUpperCase()],
    ['with a name', `"Shop, the" <${FROM}>`],
    ['with a comment', `${FROM} (the shop)`],
    ['with its address as its name', `${FROM} <${FROM}>`],
    ['with another address in quotation marks', `"ceo@bank.test" <${FROM}>`],
    ['with an encoded name', `=?utf-8?B?w4RubmU=?= <${FROM}>`],
  ])('%s is taken', async (_what, from) => {
    expect(await handInOne(messageFrom(from))).toMatch(TAKEN);
  });
});

describe('the message', () => {
  const mime = (body: string, type = 'multipart/mixed; boundary=b'): string =>
    messageFrom(FROM, { fields: ['MIME-Version: 1.0', `Content-Type: ${type}`], body });
  const deep = (levels: number): string => {
    const types = Array.from(
      { length: levels },
      (_, n) => `--${n}\r\nContent-Type: multipart/mixed; boundary=${n + 1}\r\n\r\n`,
    );
    return mime(types.join(''), 'multipart/mixed; boundary=0');
  };

  test.each([
    ['no From', `To: a@b.example\r\n\r\nHi\r\n`, 'it has no From field'],
    ['two From', messageFrom(FROM, { fields: [`From: ${FROM}`] }), 'it has two from fields'],
    ['two Subjects', messageFrom(FROM, { fields: ['subject: x'] }), 'it has two subject fields'],
    [
      'two Bcc',
      messageFrom(FROM, { fields: ['Bcc: a@b.example', 'Bcc: c@d.example'] }),
      'it has two bcc fields',
    ],
    [
      'two types of a part',
      mime('--b\r\nContent-Type: a/b\r\nContent-Type: c/d\r\n\r\n--b--\r\n'),
      'it has two content-type fields',
    ],
    ['a line that is no field', messageFrom(FROM, { fields: ['no field'] }), 'header field 4 is none'],
    [
      'a name with a space',
      messageFrom(FROM, { fields: ['Reply-To : a@b.example'] }),
      'header field 4 is none',
    ],
    ['a fold without a field', ` x\r\n${messageFrom(FROM)}`, 'header field 1 is none'],
    [
      '1,001 fields',
      messageFrom(FROM, { fields: Array.from({ length: 998 }, () => 'X-A: b') }),
      'more than 1000 fields',
    ],
    [
      'a header past 256 KiB',
      messageFrom(FROM, { fields: Array.from({ length: 300 }, () => `X-A: ${'b'.repeat(900)}`) }),
      'more than 262144 bytes',
    ],
    ['a bare LF', messageFrom(FROM, { body: 'a\nb\r\n' }), 'it has a CR or an LF that is no CRLF'],
    ['a bare CR', messageFrom(FROM, { body: 'a\rb\r\n' }), 'it has a CR or an LF that is no CRLF'],
    ['a NUL', messageFrom(FROM, { body: 'a\0b\r\n' }), 'it has a NUL'],
    [
      'a line of 999',
      messageFrom(FROM, { body: `${'a'.repeat(999)}\r\n` }),
      'a line has more than 998 characters',
    ],
    ['501 parts', mime('--b\r\n\r\nx\r\n'.repeat(501)), 'it has more than 500 parts'],
    ['21 deep', deep(20), 'its parts stand deeper than 20 in one another'],
  ])('with %s is 554 5.6.0', async (_what, message, reason) => {
    expect(await handInOne(message)).toMatch(/^554 5\.6\.0 The message is not taken: /);
    expect(await handInOne(message)).toContain(reason);
  });

  test.each([
    ['1,000 fields', messageFrom(FROM, { fields: Array.from({ length: 997 }, () => 'X-A: b') })],
    ['a line of 998', messageFrom(FROM, { body: `${'a'.repeat(998)}\r\n` })],
    ['500 parts', mime('--b\r\n\r\nx\r\n'.repeat(500))],
    ['20 deep', deep(19)],
    ['several Received', messageFrom(FROM, { fields: ['Received: a', 'Received: b'] })],
    ['no subject', messageFrom(FROM, { subject: '' })],
    ['no body at all', `From: ${FROM}\r\nTo: a@b.example\r\n`],
    ['bytes that are no UTF-8', Buffer.from(messageFrom(FROM, { body: '\xff\xfe\r\n' }), 'latin1')],
  ])('with %s is taken', async (_what, message) => {
    expect(await handInOne(message)).toMatch(TAKEN);
  });
});

describe('limits', () => {
  test('the rate of the key is 450 4.7.1 at MAIL, the day 451 4.7.1 after DATA, all of a message or none', async () => {
    const slow = await signedIn(
      portOf(on),
      await on.project.key({ can_send_emails: true, rate_limit_per_minute: 1 }),
    );
    expect(await slow.say('MAIL FROM:<>')).toStartWith('250 2.1.0 ');
    expect(await slow.sayAll('RSET', 'MAIL FROM:<>')).toStartWith('450 4.7.1 ');
    slow.close();
    const few = await signedIn(
      portOf(on),
      await on.project.key({ can_send_emails: true, email_daily_limit: 2 }),
    );
    const before = countMails();
    const three = ['a@example.org', 'b@example.org', 'c@example.org'];
    expect(await handIn(few, messageFrom(FROM), three)).toStartWith('451 4.7.1 ');
    expect(countMails()).toBe(before);
    expect(await handIn(few, messageFrom(FROM), three.slice(1))).toMatch(TAKEN);
    expect(countMails()).toBe(before + 2);
    few.close();
  });

  test('a mailbox whose day is used up is 451, and its message goes out from no other', async () => {
    await addMailbox(on.app, 'full@shop.example.com', null, { daily_limit: 1 });
    expect(await handInOne(messageFrom('full@shop.example.com'))).toMatch(TAKEN);
    expect(await handInOne(messageFrom('full@shop.example.com'))).toMatch(/^451 4\.7\.1 /);
  });
});

test('under one X-Satchel-Idempotency-Key a message is taken once, and another is refused', async () => {
  const fields = ['X-Satchel-Idempotency-Key: order-1'];
  const first = await handInOne(messageFrom(FROM, { fields }));
  expect(first).toMatch(TAKEN);
  const before = countMails();
  expect(await handInOne(messageFrom(FROM, { fields, body: 'Again\r\n' }))).toBe(first);
  expect(countMails()).toBe(before);
  expect(await handInOne(messageFrom(FROM, { fields, subject: 'Other' }))).toStartWith('554 5.6.0 ');
  expect(await handInOne(messageFrom(FROM, { fields }), ['bob@example.org'])).toStartWith('554 5.6.0 ');
  expect(
    await handInOne(messageFrom(FROM, { fields: [`X-Satchel-Idempotency-Key: ${'a'.repeat(256)}`] })),
  ).toStartWith('554 5.6.0 ');
});
