/** What bytes tell as they pass by, in whatever pieces they come. */
import { expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { ContentFacts } from '../../../src/platform/files/content-facts.ts';

const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

test.each([
  ['letters beyond ASCII', bytes('a Grüße, 日本語 and 🎉 z'), true],
  ['a byte order mark', bytes([0xef, 0xbb, 0xbf], 'ascii'), true],
  ['ASCII alone', bytes('hello\r\n\0'), false],
  ['nothing', bytes(''), false],
  ['Latin-1', bytes('Gr', [0xfc], 'sse'), false],
  ['UTF-16', bytes([0xff, 0xfe, 0x41, 0x00]), false],
  ['a character that is cut off', bytes('ü日').subarray(0, -1), false],
  ['half of a surrogate', bytes('ü', [0xed, 0xa0, 0x80]), false],
  ['more bytes than needed', bytes('ü', [0xc0, 0x80]), false],
  ['what goes on nothing', bytes('ü', [0x80]), false],
  ['four that go on nothing', bytes('ü', [0x80, 0x80, 0x80, 0x80]), false],
  ['what begins no character', bytes('ü', [0xf8, 0x88, 0x80, 0x80, 0x80]), false],
  ['a good end behind a bad beginning', bytes([0xc3], 'Grüße'), false],
])(
  '%s: whether it is UTF-8 that ASCII would not do for, in every two and in single pieces',
  (_, all, is_utf8) => {
    for (let cut = 0; cut <= all.length; cut += 1) {
      const facts = new ContentFacts();
      facts.update(all.subarray(0, cut));
      const copy = facts.copy();
      facts.update(Buffer.from([0xff]));
      copy.update(all.subarray(cut));
      expect([cut, copy.is_utf8]).toEqual([cut, is_utf8]);
      expect(copy.sha256()).toBe(createHash('sha256').update(all).digest('hex'));
    }
    const one_by_one = new ContentFacts();
    for (const byte of all) one_by_one.update(Uint8Array.of(byte));
    expect(one_by_one.is_utf8).toBe(is_utf8);
  },
);
