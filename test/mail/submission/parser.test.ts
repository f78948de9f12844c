/** What of the bytes behind DATA is the message, and what of a message is kept, however a network cuts them into pieces. */
import { expect, test } from 'bun:test';
import { BrokenMessage } from '../../../src/mail/header-section.ts';
import { MessageReader } from '../../../src/mail/message-reading.ts';
import { SubmissionParser } from '../../../src/mail/submission/parser.ts';
import { createRandom, makeText } from './random-text.ts';

const SEED = 20_261_127;

/** A text whole, byte by byte, and cut at random. */
function cutAll(text: string, random: (below: number) => number): string[][] {
  const cut = (longest: number): string[] => {
    const pieces: string[] = [];
    for (let from = 0; from < text.length; from += pieces.at(-1)?.length ?? 1)
      pieces.push(text.slice(from, from + 1 + random(longest)));
    return pieces;
  };
  return [[text], cut(1), cut(4), cut(16)];
}

interface Parsed {
  /** Null where the message has not ended. */
  message: string | null;
  /** Commands behind it. */
  commands: string[];
}

async function parse(pieces: readonly string[]): Promise<Parsed> {
  const parser = new SubmissionParser();
  const commands: string[] = [];
  parser.oncommand = (command, next) => {
    commands.push(command.toString('latin1'));
    next?.();
  };
  let message: string | null = null;
  let came = '';
  parser
    .startDataMode()
    .on('data', (chunk: Buffer) => {
      came += chunk.toString('latin1');
    })
    .on('end', () => {
      message = came;
      parser.continue();
    });
  for (const piece of pieces)
    await new Promise<void>((resolve) => parser.write(Buffer.from(piece, 'latin1'), () => resolve()));
  return { message, commands };
}

/** RFC 5321, 4.1.1.4 and 4.5.2, on a text that is there as a whole. */
function parseWhole(text: string): Parsed {
  const lines = text.split('\r\n');
  const end = lines.indexOf('.');
  if (end < 0 || end === lines.length - 1) return { message: null, commands: [] };
  const message = lines.slice(0, end).map((line) => `${line.replace(/^\./, '')}\r\n`);
  const behind = lines.slice(end + 1).join('\r\n');
  return { message: message.join(''), commands: behind.split(/\r?\n/).slice(0, -1) };
}

test('CRLF.CRLF alone ends a message, and a dot that begins a line is one fewer, however the bytes come', async () => {
  const random = createRandom(SEED);
  const words = ['\r\n', '\r\n', '\r', '\n', '.', '.', 'a', '\0', '\r\n.\r\n'];
  let ended = 0;
  for (let n = 0; n < 1_500; n += 1) {
    const text = makeText(words, 1 + random(14), random);
    const expected = parseWhole(text);
    if (expected.message !== null) ended += 1;
    for (const pieces of cutAll(text, random))
      expect([pieces, await parse(pieces)]).toEqual([pieces, expected]);
  }
  expect(ended).toBeGreaterThan(300);
});

const FIELDS = [
  ...['X-Odd:  a \r\n', ' fold\r\n', 'Bcc: e@x\r\n', 'x-satchel-tag: t\r\n'],
  'Content-Type: multipart/mixed; boundary=b\r\n',
];
const BODY = ['\r\n', 'x\r\n', '.\r\n', '--b\r\n', '--b--\r\n', '--c\r\n', ...FIELDS];
const FLAWS = [
  '\0',
  '\r',
  '\n',
  'Subject: a\r\nSubject: b\r\n',
  'no field\r\n',
  'z',
  `${'y'.repeat(998)}\r\n`,
];

function readMessage(pieces: readonly string[]): { kept: string; leaves: [number, number][] } | null {
  const reader = new MessageReader({ complete: () => 'X-Made: 1\r\n', keeps_leaves: true });
  try {
    const kept = pieces.map((piece) => reader.take(Buffer.from(piece, 'latin1')).toString('latin1'));
    kept.push(reader.end().toString('latin1'));
    return { kept: kept.join(''), leaves: reader.leaves.map(({ from, to }) => [from, to]) };
  } catch (error) {
    if (error instanceof BrokenMessage) return null;
    throw error;
  }
}

/** What is kept of a text that is a message. */
function keepWhole(text: string): string {
  const [, header = '', body = ''] = /^((?:[^\r].*\r\n)*)([\s\S]*)$/.exec(text) ?? [];
  const fields = header.replace(/^(?:Bcc|x-satchel-tag):.*\r\n(?:[ \t].*\r\n)*/gm, '');
  return `${fields}X-Made: 1\r\n${body || '\r\n'}`;
}

test('a message is kept or refused alike however its bytes come, without the fields that are for this server', () => {
  const random = createRandom(SEED);
  let kept = 0;
  for (let n = 0; n < 1_000; n += 1) {
    const flaws = n % 4 === 0 ? FLAWS : [];
    const header = makeText([...FIELDS, ...flaws], random(6), random);
    const body = random(8) === 0 ? '' : `\r\n${makeText([...BODY, ...flaws], random(12), random)}`;
    const text = `From: a@b.example\r\n${header}${body}`;
    const [whole, ...others] = cutAll(text, random).map((pieces) => [pieces, readMessage(pieces)] as const);
    const expected = whole?.[1] ?? null;
    for (const [pieces, result] of others) expect([pieces, result]).toEqual([pieces, expected]);
    if (!expected) continue;
    kept += 1;
    expect(expected.kept).toBe(keepWhole(text));
  }
  expect(kept).toBeGreaterThan(500);
});
