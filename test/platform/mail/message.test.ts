/** What a composed message looks like to others: an independent MIME parser and an independent DKIM verifier. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dkimVerify } from 'mailauth/lib/dkim/verify';
import PostalMime, { type Email } from 'postal-mime';
import { AppError } from '../../../src/errors.ts';
import { type DkimKeyPair, generateDkimKey } from '../../../src/platform/mail/dkim.ts';
import {
  bytesOf as bytesOfMessage,
  composeMessage,
  deriveText,
  MAX_BUFFERED_MESSAGE_BYTES,
  signWhole,
  withFields,
} from '../../../src/platform/mail/message.ts';
import type { MailAttachment, MailContent } from '../../../src/platform/mail/types.ts';
import { mailOf, SAMPLE_DATE_MS } from '../../support/mail-samples.ts';

const composeBytes = async (content: MailContent) => bytesOfMessage(await composeMessage(content));

let dir = '';
let key: DkimKeyPair;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'satchel-message-'));
  key = await generateDkimKey();
});

afterAll(() => rm(dir, { recursive: true, force: true }));

async function attach(filename: string, mime_type: string, bytes: Uint8Array): Promise<MailAttachment> {
  const path = join(dir, crypto.randomUUID());
  await writeFile(path, bytes);
  return { filename, mime_type, path, size_bytes: bytes.length };
}

async function parse(changes: Partial<MailContent>): Promise<{ email: Email; raw: string }> {
  const bytes = await composeBytes(mailOf(changes));
  return { email: await PostalMime.parse(bytes), raw: Buffer.from(bytes).toString('latin1') };
}

function header(raw: string, name: string): string | undefined {
  const head = raw.slice(0, raw.indexOf('\r\n\r\n'));
  const line = head.split(/\r\n(?![ \t])/).find((each) => each.toLowerCase().startsWith(`${name}:`));
  return line
    ?.slice(name.length + 1)
    .replace(/\r\n/g, '')
    .trim();
}

async function verify(message: Uint8Array): Promise<{ result: string | undefined; signed: string[] }> {
  const { results } = await dkimVerify(Buffer.from(message), {
    resolver: async (name: string) => {
      expect(name).toBe('s1._domainkey.shop.example');
      return [[`v=DKIM1; k=rsa; p=${key.public_key_base64}`]];
    },
  });
  expect(results).toHaveLength(1);
  const signed = results[0]?.signingHeaders?.keys?.split(':') ?? [];
  return {
    result: results[0]?.status?.result,
    signed: signed.map((name: string) => name.trim().toLowerCase()),
  };
}

function signed(changes: Partial<MailContent> = {}): MailContent {
  return mailOf({
    dkim: { domain: 'shop.example', selector: 's1', private_key_pem: key.private_key_pem },
    ...changes,
  });
}

test('a text mail is one text/plain part with the given Message-ID, Date and addresses', async () => {
  const { email, raw } = await parse({ reply_to: 'help@shop.example', cc: ['bob@customer.example'] });
  expect(header(raw, 'content-type')).toStartWith('text/plain');
  expect(email.text?.trim()).toBe('It is on its way.');
  expect(email.html).toBeUndefined();
  expect(email.messageId).toBe('<01JGK0000000000000000000AA@shop.example>');
  expect(header(raw, 'date')).toBe(new Date(SAMPLE_DATE_MS).toUTCString().replace('GMT', '+0000'));
  expect(email.from).toMatchObject({ address: 'orders@shop.example', name: 'The Shop' });
  expect(email.to).toMatchObject([{ address: 'ann@customer.example', name: 'Ann' }]);
  expect(email.cc).toMatchObject([{ address: 'bob@customer.example' }]);
  expect(email.replyTo).toMatchObject([{ address: 'help@shop.example' }]);
});

test('a mail with only HTML gets a text part derived from it', async () => {
  const html =
    '<h1>Hello</h1><p>See <a href="https://shop.example/o/1">your order</a>.</p><img src="x.png" alt="x">';
  const { email, raw } = await parse({ html, text: null });
  expect(header(raw, 'content-type')).toStartWith('multipart/alternative');
  expect(email.html?.trim()).toBe(html);
  expect(email.text).toContain('See your order [https://shop.example/o/1].');
  expect(email.text).not.toContain('x.png');
});

test('cells of a table stand apart in the text that is made of HTML, and rows on lines of their own', async () => {
  const html =
    '<table><tr><th>Item</th><th>Price</th></tr><tr><td>Bread</td><td><b>3</b></td></tr></table><p>Bye</p>';
  const { email } = await parse({ html, text: null });
  expect(email.text?.trim()).toBe('Item Price\nBread 3\n\nBye');
});

test('a text part that is given is used as it is, an empty one too', async () => {
  const both = await parse({ html: '<p>One</p>', text: 'Two' });
  expect(both.email.text?.trim()).toBe('Two');
  expect(both.email.html?.trim()).toBe('<p>One</p>');
  const empty = await parse({ html: '<p>One</p>', text: '' });
  expect(header(empty.raw, 'content-type')).toStartWith('text/html');
});

test('attachments make it multipart/mixed and arrive to the byte under their names', async () => {
  const binary = crypto.getRandomValues(new Uint8Array(70_000));
  const text = Buffer.from('line one\nline two\r\n.\r\nFrom here\n');
  const { email, raw } = await parse({
    html: '<p>Hi</p>',
    attachments: [
      await attach('Rechnung März "2".pdf', 'application/pdf', binary),
      await attach('notes.txt', 'text/plain; charset=utf-8', text),
    ],
  });
  expect(header(raw, 'content-type')).toStartWith('multipart/mixed');
  expect(raw).toContain('multipart/alternative');
  expect(email.attachments.map((each) => [each.filename, each.mimeType, each.disposition])).toEqual([
    ['Rechnung März "2".pdf', 'application/pdf', 'attachment'],
    ['notes.txt', 'text/plain', 'attachment'],
  ]);
  expect(bytesOf(email, 0)).toEqual(Buffer.from(binary));
  expect(bytesOf(email, 1)).toEqual(text);
});

test.each([
  ['multipart/mixed; boundary=inner', 'form.bin'],
  ['Multipart/Form-Data', 'form.txt'],
  ['message/rfc822', 'forwarded.eml'],
])('an attached file of type %p arrives as the file it is', async (mime_type, filename) => {
  const bytes = Buffer.from('From: ann@customer.example\nSubject: Inner\n\n--inner\n\xff');
  const { email, raw } = await parse({ attachments: [await attach(filename, mime_type, bytes)] });
  expect(email.attachments.map((each) => [each.filename, each.disposition])).toEqual([
    [filename, 'attachment'],
  ]);
  expect(bytesOf(email, 0)).toEqual(bytes);
  // RFC 2045 6.4: parts of these types must not be encoded, and those who relay mail may refuse it.
  expect(raw).not.toMatch(/^content-type: message\//im);
});

function bytesOf(email: Email, index: number): Buffer {
  const content = email.attachments[index]?.content ?? '';
  return typeof content === 'string' ? Buffer.from(content) : Buffer.from(new Uint8Array(content));
}

test('names, subjects and bodies in other scripts survive', async () => {
  const subject = 'Größe geändert — 注文の確認 🎒 '.repeat(6).trim();
  const { email, raw } = await parse({
    subject,
    from: { address: 'orders@shop.example', name: 'Käse, "Brot" & Söhne' },
    to: { address: 'ann@bücher.example', name: 'Ánn 山田' },
    html: '<p>Grüße 🎒</p>',
    text: 'Grüße 🎒',
  });
  expect(email.subject).toBe(subject);
  expect(email.from?.name).toBe('Käse, "Brot" & Söhne');
  expect(email.to?.[0]?.name).toBe('Ánn 山田');
  expect(raw).toContain('ann@xn--bcher-kva.example');
  expect(email.html?.trim()).toBe('<p>Grüße 🎒</p>');
  expect(email.text?.trim()).toBe('Grüße 🎒');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the message must be ASCII.
  expect(raw).toMatch(/^[\x00-\x7f]*$/);
});

test('a subject that looks like an encoded-word is read as it was written', async () => {
  const break_in = '=?utf-8?Q?Hi=0D=0ABcc:_x?=';
  for (const subject of [break_in, `Größe ${break_in}`, `Your order ${break_in} is here`]) {
    const { email, raw } = await parse({ subject });
    expect(email.subject).toBe(subject);
    expect(raw).not.toContain(break_in);
  }
});

test('so is a name that looks like one: many readers decode it within quotation marks too', async () => {
  const break_in = '=?utf-8?Q?Hi=0D=0ABcc:_x?=';
  for (const name of [break_in, `"Ann", ${break_in}`, `Änn ${break_in}`]) {
    const bytes = await composeBytes(
      signed({
        from: { address: 'orders@shop.example', name },
        to: { address: 'ann@customer.example', name },
      }),
    );
    const email = await PostalMime.parse(bytes);
    expect(email.from).toMatchObject({ address: 'orders@shop.example', name });
    expect(email.to).toMatchObject([{ address: 'ann@customer.example', name }]);
    expect(Buffer.from(bytes).toString('latin1')).not.toContain(break_in);
    expect((await verify(bytes)).result).toBe('pass');
  }
});

test('blind copies stand in no header', async () => {
  const { raw } = await parse({ bcc: ['secret@customer.example'] });
  expect(raw.toLowerCase()).not.toContain('secret@customer.example');
  expect(header(raw, 'bcc')).toBeUndefined();
});

test('every line ends in CRLF and none is longer than SMTP allows', async () => {
  const { raw } = await parse({
    text: `one\ntwo\rthree\r\n${'x'.repeat(5_000)}`,
    html: `<p>${'y'.repeat(5_000)}\n</p>`,
  });
  expect(raw.replace(/\r\n/g, '')).not.toMatch(/[\r\n]/);
  expect(Math.max(...raw.split('\r\n').map((line) => line.length))).toBeLessThanOrEqual(998);
});

test('further headers are sent', async () => {
  const headers = {
    'List-Unsubscribe': '<https://shop.example/u/abc>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  };
  const { raw } = await parse({ headers });
  expect(header(raw, 'list-unsubscribe')).toBe('<https://shop.example/u/abc>');
  expect(header(raw, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
});

const UNSAFE: [string, Partial<MailContent>][] = [
  ['a subject', { subject: 'Hi\r\nBcc: x@evil.example' }],
  ['a display name', { from: { address: 'orders@shop.example', name: 'A\nB' } }],
  ['an address', { to: { address: 'ann@customer.example\r\nBcc: x@evil.example', name: null } }],
  ['a copy', { cc: ['bob@customer.example\nX: 1'] }],
  ['a reply address', { reply_to: 'a@b.example\rX: 1' }],
  ['a Message-ID', { message_id: '<a@b>\r\nX: 1' }],
  ['a header value', { headers: { 'X-Tag': 'a\r\nBcc: x@evil.example' } }],
  ['a header name', { headers: { 'X-Tag: a\r\nBcc': 'x@evil.example' } }],
  ['a header of our own', { headers: { Bcc: 'x@evil.example' } }],
  ['a content header', { headers: { 'Content-Type': 'text/html' } }],
];

test.each(UNSAFE)(
  '%s that would break out of its header is refused without being repeated',
  async (_what, changes) => {
    const error = await composeBytes(mailOf(changes)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ kind: 'invalid' });
    expect(String(error)).not.toContain('evil');
  },
);

test('an attachment whose bytes are gone or cut is refused', async () => {
  const attachment = await attach('a.bin', 'application/octet-stream', Buffer.from('12345'));
  const cut = composeBytes(mailOf({ attachments: [{ ...attachment, size_bytes: 6 }] }));
  await expect(cut).rejects.toMatchObject({ kind: 'not_found' });
  const gone = composeBytes(mailOf({ attachments: [{ ...attachment, path: join(dir, 'none') }] }));
  await expect(gone).rejects.toMatchObject({ kind: 'not_found' });
});

const SHAPES: [string, Partial<MailContent>][] = [
  ['text', {}],
  ['html and text', { html: '<p>Hi</p>' }],
  ['html alone', { html: '<p>Hi</p>', text: '' }],
  ['long lines', { text: `${'word '.repeat(300)}\n`, html: `<p>${'x'.repeat(3_000)}</p>` }],
  ['other scripts', { text: '注文の確認'.repeat(40), html: `<p>${'Größe '.repeat(50)}</p>`, subject: 'é' }],
  ['blank and trailing space', { text: 'a \n\n\n b\t\n\n', html: '<pre> a \n b </pre>   ' }],
  ['nothing', { text: '', html: null }],
];

test.each(SHAPES)('a DKIM signature over %s verifies', async (_shape, changes) => {
  expect((await verify(await composeBytes(signed(changes)))).result).toBe('pass');
});

test('what a reader relies on is signed', async () => {
  const content = signed({
    cc: ['bob@customer.example'],
    reply_to: 'help@shop.example',
    subject: 'A  subject   with\twide spaces '.repeat(8),
    headers: {
      'List-Unsubscribe': '<https://shop.example/u>',
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      'List-Id': '<list.shop.example>',
      'Feedback-ID': 'welcome:list:sequence:sender',
    },
  });
  const { result, signed: names } = await verify(await composeBytes(content));
  expect(result).toBe('pass');
  const expected =
    'from to cc subject date message-id reply-to mime-version content-type list-unsubscribe list-unsubscribe-post list-id feedback-id';
  for (const name of expected.split(' ')) expect(names).toContain(name);
});

const ADDED = [
  'From: Boss <boss@evil.example>',
  'To: someone@evil.example',
  'Cc: someone@evil.example',
  'Subject: Another',
  'Reply-To: someone@evil.example',
  'Date: Fri, 02 Jan 2026 03:04:06 +0000',
  'Message-ID: <other@evil.example>',
  'Content-Type: text/html',
  'MIME-Version: 1.0',
  'List-Unsubscribe: <https://evil.example/u>',
  'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
];

test.each(ADDED)(
  'whoever adds %s breaks the signature, above and below, where there was one and where not',
  async (line) => {
    const with_all = signed({
      cc: ['bob@customer.example'],
      reply_to: 'help@shop.example',
      headers: {
        'List-Unsubscribe': '<https://shop.example/u>',
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      },
    });
    for (const content of [signed(), with_all]) {
      const message = Buffer.from(await composeBytes(content)).toString('latin1');
      const above = `${line}\r\n${message}`;
      const below = message.replace('\r\n\r\n', `\r\n${line}\r\n\r\n`);
      expect((await verify(Buffer.from(message, 'latin1'))).result).toBe('pass');
      expect((await verify(Buffer.from(above, 'latin1'))).result).toBe('fail');
      expect((await verify(Buffer.from(below, 'latin1'))).result).toBe('fail');
    }
  },
);

test('headers that relays add on the way leave the signature whole', async () => {
  const message = Buffer.from(await composeBytes(signed())).toString('latin1');
  const added = [
    'Return-Path: <orders@shop.example>',
    'Received: from a by b',
    'X-Spam: no',
    'Feedback-ID: 1:relay',
  ];
  const relayed = `${added.join('\r\n')}\r\n${message}`;
  expect((await verify(Buffer.from(relayed, 'latin1'))).result).toBe('pass');
});

test('a changed body, subject or key fails verification', async () => {
  const message = Buffer.from(await composeBytes(signed())).toString('latin1');
  const body = message.replace('on its way', 'off its way');
  const subject = message.replace('Your order', 'Your money');
  expect((await verify(Buffer.from(body, 'latin1'))).result).not.toBe('pass');
  expect((await verify(Buffer.from(subject, 'latin1'))).result).not.toBe('pass');
  const other = (await generateDkimKey()).private_key_pem;
  const foreign = signed({ dkim: { domain: 'shop.example', selector: 's1', private_key_pem: other } });
  expect((await verify(await composeBytes(foreign))).result).not.toBe('pass');
});

test('a DKIM key that is no key is refused without being repeated', async () => {
  const dkim = { domain: 'shop.example', selector: 's1', private_key_pem: 'not-a-key' };
  const error = await composeBytes(mailOf({ dkim })).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ kind: 'invalid' });
  expect(String(error)).not.toContain('not-a-key');
});

test('a large message is streamed: signed, whole, and the same at every reading', async () => {
  const bytes = Buffer.alloc(3 * MAX_BUFFERED_MESSAGE_BYTES, 'abc \n');
  const content = signed({
    html: '<p>Hi</p>',
    attachments: [await attach('big.bin', 'application/octet-stream', bytes)],
  });
  const message = await composeMessage(content);
  const read = async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of message.read()) chunks.push(chunk);
    expect(Math.max(...chunks.map((chunk) => chunk.length))).toBeLessThan(MAX_BUFFERED_MESSAGE_BYTES);
    return Buffer.concat(chunks);
  };
  const [first, second] = [await read(), await read()];
  expect(first.equals(second)).toBe(true);
  expect(first.length).toBe(message.size_bytes);
  expect((await verify(first)).result).toBe('pass');
  expect(bytesOf(await PostalMime.parse(first), 0).equals(bytes)).toBe(true);
});

test('text is derived even from HTML nested beyond reason', () => {
  const depth = 60_000;
  expect(deriveText(`${'<div>'.repeat(depth)}deep${'</div>'.repeat(depth)}<p>end</p>`)).toContain('...');
});

test('fields of a relay go before all others, unsigned; one that the mail has itself stays alone', async () => {
  const dkim = { domain: 'example.com', selector: 's1', private_key_pem: key.private_key_pem };
  const fields = { 'X-SES-MESSAGE-TAGS': 'satchel=1', 'X-Mine': 'theirs' };
  const plain = await composeMessage(mailOf({ headers: { 'x-mine': 'ours' }, dkim }));
  const message = await withFields(plain, fields);
  const raw = (await bytesOfMessage(message)).toString('latin1');
  expect(raw).toBe(`X-SES-MESSAGE-TAGS: satchel=1\r\n${(await bytesOfMessage(plain)).toString('latin1')}`);
  expect(message.size_bytes).toBe(raw.length);
  expect(header(raw, 'x-mine')).toBe('ours');
  expect(header(raw, 'dkim-signature')).not.toContain('x-ses');
  // Of a message that came whole, too, where the same words in its body are no field.
  const path = join(dir, crypto.randomUUID());
  const came = 'Subject: Hi\r\nX-SES-Message-Tags : a=b\r\n\r\nX-Mine: not a field\r\n';
  await writeFile(path, came);
  const from = { address: 'a@example.com', name: null };
  const whole = await withFields(
    await signWhole({ path, size_bytes: came.length, from, dkim: null }),
    fields,
  );
  expect((await bytesOfMessage(whole)).toString()).toBe(`X-Mine: theirs\r\n${came}`);
});
