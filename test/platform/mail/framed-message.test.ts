/** Mails of a frame: each reads as the one that MailComposer makes of its filled bodies. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify';
import PostalMime from 'postal-mime';
import { type DkimKeyPair, generateDkimKey } from '../../../src/platform/mail/dkim.ts';
import { FramedMessages } from '../../../src/platform/mail/framed-message.ts';
import { buildMime, buildTexts, bytesOf, composeMessage } from '../../../src/platform/mail/message.ts';
import { fillFrame, type MailFrame, type MailHead } from '../../../src/platform/mail/types.ts';
import { mailOf } from '../../support/mail-samples.ts';

let key: DkimKeyPair;

beforeAll(async () => {
  key = await generateDkimKey();
});

type Parts = MailFrame['text'];

function frameOf(text: Parts, html: Parts = null): MailFrame {
  return { key: crypto.randomUUID(), text, html };
}

/** A mail of a frame, as bytes one to a character, and the same by MailComposer alone. */
async function composeBoth(frame: MailFrame, values: string[], changes: Partial<MailHead> = {}) {
  const content = { ...mailOf(changes), frame_key: frame.key, values };
  const framed = await bytesOf(await new FramedMessages(frame).compose(content));
  const whole = await bytesOf(await composeMessage({ ...mailOf(changes), ...fillFrame({ frame, values }) }));
  return { framed: Buffer.from(framed).toString('latin1'), whole: Buffer.from(whole).toString('latin1') };
}

/**
 * What is read of a message: all but how its parts are encoded, which boundary is between them, and the line breaks at their
 * end, as one is added to all but base64.
 */
async function read(message: string) {
  const { html, text, subject, from, to, cc, replyTo, messageId, date, headers } = await PostalMime.parse(
    Buffer.from(message, 'latin1'),
  );
  const fields = headers
    .filter(({ key }) => key !== 'content-transfer-encoding')
    .map(({ key, value }) => `${key}: ${value.replace(/boundary=\S+/, '')}`)
    .sort();
  return {
    html: linesOf(html),
    text: linesOf(text),
    subject,
    from,
    to,
    cc,
    replyTo,
    messageId,
    date,
    fields,
    parts: partsOf(message),
  };
}

function chomp(text = ''): string {
  return text.replace(/[\r\n]+$/, '');
}

/** The parser gives the line breaks of base64 as CRLF, and those of anything else as LF. */
function linesOf(text: string | undefined): string[] {
  return chomp(text).split(/\r?\n/);
}

/** The parts as bytes, so that no blank at an end is lost on the way. */
function partsOf(message: string): string[] {
  const [, boundary] = /boundary="([^"]+)"/.exec(message) ?? [];
  const parts = boundary === undefined ? [message] : message.split(`--${boundary}`).slice(1, -1);
  return parts.map((part) => {
    const end = part.indexOf('\r\n\r\n');
    const [, encoding = '7bit'] = /content-transfer-encoding: (\S+)/i.exec(part.slice(0, end)) ?? [];
    const body = part.slice(end + 4);
    if (encoding === 'base64') return chomp(Buffer.from(body, 'base64').toString('latin1'));
    const decoded =
      encoding === 'quoted-printable'
        ? body
            .replace(/[ \t]+(?=\r\n)/g, '')
            .replaceAll('=\r\n', '')
            .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
        : body;
    return chomp(decoded);
  });
}

async function expectSame(frame: MailFrame, values: string[], changes: Partial<MailHead> = {}) {
  const { framed, whole } = await composeBoth(frame, values, changes);
  expect(await read(framed)).toEqual(await read(whole));
  expectLegal(framed);
  return framed;
}

function expectLegal(message: string): void {
  expect(message).toEndWith('\r\n');
  expect(message.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  const [, ...body] = message.split('\r\n\r\n');
  const lines = body.join('\r\n\r\n').split('\r\n');
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(76);
  if (!isFilled(message)) return;
  expect(message).not.toEndWith('=\r\n');
  expect(message.slice(message.indexOf('\r\n\r\n'))).not.toMatch(/[ \t]\r\n/);
}

/** Whether MailComposer had no part in this mail: it encodes no part that is short and ASCII. */
function isFilled(message: string): boolean {
  return !/^Content-Transfer-Encoding: (7bit|base64)/m.test(message);
}

const LONG = `${'word '.repeat(300)}${'x'.repeat(300)}`;

const CASES: [string, MailFrame, string[]][] = [
  ['a text', frameOf(['Hi ', 0, ', all well?\n']), ['Ann']],
  ['text and HTML', frameOf(['Hi ', 0, '.'], ['<p>Hi ', 0, '.</p>']), ['Ann']],
  ['no holes', frameOf(['Hi.'], ['<p>Hi.</p>']), []],
  ['a hole at either end', frameOf([0, ' and ', 1], [1, ' und ', 0]), ['Ann', 'Bob']],
  ['holes side by side', frameOf(['a', 0, 1, 2, 'b', 3, 3]), ['Ann', '', 'Bob', 'x']],
  ['empty values', frameOf(['a ', 0, '\nb\t', 0, ' c', 0, 1]), ['', '']],
  ['a value that ends in blanks, where the line ends', frameOf(['a', 0, '\nb ', 0, '\r\n', 0]), ['Ann \t']],
  ['a value that begins with blanks', frameOf([0, 'a', 0, '\n', 0, 'b']), [' \tAnn']],
  ['a hole after a long line', frameOf([LONG, 0, LONG, 0, '\n']), ['Ann']],
  ['equals signs and dots', frameOf(['a=', 0, '.\n', 0, '=41', 1, '\n', 1, '\n']), ['=3D', '.']],
  ['line breaks of all kinds', frameOf(['a\n', 0, '\rb\r\n', 0, 'c\n']), ['1\n2\r3\r\n\n4\n']],
  [
    'emoji and other scripts',
    frameOf(['Grüße ', 0, ' 注文', 1], ['<b>é', 0, '</b>', 1]),
    ['🎒Ann 山田', 'ü'],
  ],
  ['what HTML reserves', frameOf(['a', 0], ['<a title="', 0, '">', 0, '</a>']), [`"'<b>&amp;`]],
  ['a value of 10 KB', frameOf(['a ', 0, ' b'], ['<p>', 0, '</p>']), [LONG.repeat(6)]],
  ['a value of 10 KB without a blank', frameOf(['a ', 0, ' b']), ['ü='.repeat(5_000)]],
  [
    'values as long as a line',
    frameOf(['', ...[74, 75, 76, 77].flatMap((_n, i) => ['x', i, 'y\n', i])]),
    [74, 75, 76, 77].map((n) => 'v'.repeat(n)),
  ],
  [
    'texts as long as a line',
    frameOf([73, 74, 75, 76, 77].flatMap((n) => ['\n', 't'.repeat(n), 0, 't'.repeat(n)])),
    ['A'],
  ],
  [
    'texts as long as a line, of others',
    frameOf([23, 24, 25, 26].flatMap((n) => ['\n', 'ü'.repeat(n), 0, 'é'.repeat(n)])),
    ['ö'],
  ],
  [
    'a body of 1 MB',
    frameOf([`${LONG}\n`.repeat(600), 0], ['<p>', 0, `${LONG}\n`.repeat(600), 0, '</p>']),
    ['Ann'],
  ],
  ['control characters', frameOf(['a\0\f', 0, '\x7f\n']), ['\0\x01\x7f\x0b']],
];

describe('a mail of a frame reads as MailComposer makes it', () => {
  test.each(CASES)('%s', async (_what, frame, values) => {
    const framed = await expectSame(frame, values);
    expect(isFilled(framed)).toBe(true);
  });

  test('whatever the parts and values', async () => {
    const random = randomBy(20_260_102);
    let filled = 0;
    for (let n = 0; n < 1_000; n += 1) {
      const pieces = n % 3 === 0 ? [...PIECES, ...HARD_PIECES] : PIECES;
      const text = (most: number): string =>
        Array.from({ length: random(most + 1) }, () => pieces[random(pieces.length)]).join('');
      const parts = (): (string | number)[] =>
        Array.from({ length: 1 + random(8) }, () => (random(2) === 0 ? random(HOLES) : text(6)));
      const frame = frameOf(parts(), random(3) === 0 ? null : parts());
      const values = Array.from({ length: HOLES }, () => text(4));
      const subject = text(3).replace(/\p{Cc}/gu, ' ');
      if (isFilled(await expectSame(frame, values, { subject }))) filled += 1;
    }
    expect(filled).toBeGreaterThan(500);
  });

  test('and that is what its streams make, but for where lines are broken softly', async () => {
    const random = randomBy(20_261_128);
    const pieces = [...PIECES, ...HARD_PIECES];
    const text = (most: number): string =>
      Array.from({ length: random(most + 1) }, () => pieces[random(pieces.length)]).join('');
    for (let n = 0; n < 1_000; n += 1) {
      const html = n % 3 === 0 ? null : text(30);
      const content = mailOf({
        text: n % 3 === 1 ? '' : text(30),
        html,
        subject: text(3).replace(/\p{Cc}/gu, ' '),
      });
      const built = buildTexts(buildMime(content, 'edge')).toString('latin1');
      const streamed = (await buildMime(content, 'edge').build()).toString('latin1');
      expectLegal(built);
      expect(built.replaceAll('=\r\n', '')).toBe(streamed.replaceAll('=\r\n', ''));
    }
  });

  test('with all the headers that it has of its own', async () => {
    const frame = frameOf(['Hi ', 0, '.'], ['<p>', 0, '</p>']);
    const held = new FramedMessages(frame);
    const heads: Partial<MailHead>[] = [
      {},
      { reply_to: 'help@bücher.example', cc: ['bob@customer.example', 'eve@customer.example'] },
      { subject: '', to: { address: 'ann@bücher.example', name: null }, date_ms: 0 },
      {
        subject: `Größe ${LONG.slice(0, 400)} 🎒`,
        from: { address: 'a@shop.example', name: 'Käse, "Brot"' },
      },
      {
        subject: '=?utf-8?Q?Hi=0D=0ABcc:_x?=',
        to: { address: 'ann@customer.example', name: '=?utf-8?Q?x?=' },
      },
      { from: { address: 'orders@shop.example', name: `Ä =?utf-8?Q?x?=` } },
      { to: { address: 'änn@customer.example', name: 'Ann' } },
      {
        headers: {
          'List-Unsubscribe': `<https://shop.example/u/${'t'.repeat(90)}>`,
          'list-id': '<l.shop.example>',
          'X-Empty': '',
          'X-Tag': 'ü',
        },
      },
    ];
    for (const head of heads) {
      const framed = await expectSame(frame, ['Ann'], head);
      expect(isFilled(framed)).toBe(true);
      const again = await held.compose({ ...mailOf(head), frame_key: frame.key, values: ['Ann'] });
      expect(await read(Buffer.from(await bytesOf(again)).toString('latin1'))).toEqual(await read(framed));
    }
  });
});

const HOLES = 4;
const PIECES = [
  ...[
    'a',
    'word ',
    ' ',
    '\t',
    '=',
    '=3D',
    '.',
    '..',
    '\n',
    '\r\n',
    'é',
    '🎒',
    '注文',
    '\0',
    '"',
    "'",
    '<',
    '>',
    '&',
  ],
  ...['x'.repeat(70), 'y'.repeat(76), 'ü'.repeat(30), 'https://shop.example/c/', '--', '--_NmP-', 'text-'],
  ...['-0', '=\r\n', 'From '],
];
/** With these a mail is left to MailComposer, mostly. */
const HARD_PIECES = ['\r', '\ud83c', '\udf92'];

type Random = (below: number) => number;

/** The same numbers at each run (mulberry32). */
function randomBy(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

describe('MailComposer makes a mail of a frame', () => {
  const FRAME = frameOf(['Hi ', 0, '.']);

  test.each<[string, MailFrame, string[]]>([
    ['whose text is derived', frameOf(null, ['<p>Hi ', 0, '.</p>']), ['Ann']],
    ['of which a part may come out empty', frameOf([0], ['<p>', 0, '</p>']), ['']],
    ['whose value ends within a line break', frameOf(['Hi ', 0, '\n']), ['Ann\r']],
    ['whose text ends within a line break', frameOf(['Hi\r', 0, '\n']), ['']],
    ['with half a character', frameOf(['Hi ', 0, 1]), ['\ud83c', '\udf92']],
  ])('%s', async (_what, frame, values) => {
    await expectSame(frame, values);
  });

  test('that has nothing to say, or headers that could break out: as an error', async () => {
    const compose = (frame: MailFrame, changes: Partial<MailHead>) =>
      new FramedMessages(frame).compose({ ...mailOf(changes), frame_key: frame.key, values: ['Ann'] });
    await expect(compose(frameOf(null), {})).rejects.toMatchObject({ kind: 'invalid' });
    const headers = { 'X-Tag': 'a\r\nBcc: x@evil.example' };
    await expect(compose(FRAME, { headers })).rejects.toMatchObject({ kind: 'invalid' });
    await expect(compose(FRAME, { subject: 'a\nb' })).rejects.toMatchObject({ kind: 'invalid' });
  });

  test('with an attachment', async () => {
    const attachment = {
      filename: 'a.txt',
      mime_type: 'text/plain',
      path: import.meta.path,
      size_bytes: Bun.file(import.meta.path).size,
    };
    const { framed } = await composeBoth(FRAME, ['Ann'], { attachments: [attachment] });
    const { attachments } = await PostalMime.parse(framed);
    expect(attachments.map(({ filename }) => filename)).toEqual(['a.txt']);
  });
});

test('no value can be made to look like the boundary: each mail has its own', async () => {
  const frame = frameOf(['Hi ', 0], ['<p>', 0, '</p>']);
  const messages = new FramedMessages(frame);
  const compose = async (value: string) =>
    Buffer.from(
      await bytesOf(await messages.compose({ ...mailOf(), frame_key: frame.key, values: [value] })),
    ).toString('latin1');
  const [, boundary = ''] = /boundary="([^"]+)"/.exec(await compose('Ann')) ?? [];
  expect(boundary).not.toBe('');
  const hostile = `\r\n--${boundary}\r\nContent-Type: text/html\r\n\r\n<b>x</b>\r\n--${boundary}--`;
  const { text } = await PostalMime.parse(await compose(hostile));
  expect(text).toBe(`Hi ${hostile.replaceAll('\r\n', '\n')}\n`);
});

test('a signature over a filled mail verifies', async () => {
  const dkim = { domain: 'shop.example', selector: 's1', private_key_pem: key.private_key_pem };
  const frame = frameOf(['Hi ', 0, '\n\n', 1, ' \n'], ['<p>', 0, '</p>\n', 1]);
  for (const values of [
    ['Ann', ''],
    ['Grüße =\n', ' \n \n'],
    [LONG, '.'],
  ]) {
    const { framed } = await composeBoth(frame, values, { dkim });
    const { results } = await dkimVerify(Buffer.from(framed, 'latin1'), {
      resolver: async () => [[`v=DKIM1; k=rsa; p=${key.public_key_base64}`]],
    });
    expect(results.map(({ status }) => status?.result)).toEqual(['pass']);
  }
});
