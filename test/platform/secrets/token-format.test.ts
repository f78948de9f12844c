/** The format of keys and tokens: shape, checksum, and what of them is shown and stored. */
import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  createToken,
  hashToken,
  parseToken,
  sameHash,
  TOKEN_PREFIXES,
  type TokenKind,
} from '../../../src/platform/secrets/token-format.ts';

const KINDS = Object.keys(TOKEN_PREFIXES).filter((kind): kind is TokenKind => kind in TOKEN_PREFIXES);
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function numberOf(digits: string): bigint {
  return [...digits].reduce((value, digit) => value * 62n + BigInt(BASE62.indexOf(digit)), 0n);
}

/** Ends a body with its right checksum, worked out by zlib. */
function withChecksum(body: string): string {
  let rest = crc32(body);
  let digits = '';
  for (let index = 0; index < 6; index += 1) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return body + digits;
}

describe('a new token', () => {
  test.each(KINDS)('of kind %s has its prefix, 43 random characters and 6 of CRC-32', (kind) => {
    const { plaintext } = createToken(kind);
    const prefix = TOKEN_PREFIXES[kind];
    expect(plaintext).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`));
    expect(numberOf(plaintext.slice(-6))).toBe(BigInt(crc32(plaintext.slice(0, -6))));
    expect(parseToken(plaintext)).toEqual({ kind });
  });

  test('carries 256 random bits, never more', () => {
    const values = Array.from({ length: 2_000 }, () => numberOf(createToken('live').plaintext.slice(9, 52)));
    expect(new Set(values).size).toBe(2_000);
    const ones = values.reduce((seen, value) => seen | value, 0n);
    const zeros = values.reduce((seen, value) => seen & value, (1n << 256n) - 1n);
    expect(ones).toBe((1n << 256n) - 1n);
    expect(zeros).toBe(0n);
  });

  test('shows its prefix and six characters, and stores its SHA-256', () => {
    const token = createToken('test');
    expect(token.prefix_shown).toBe(token.plaintext.slice(0, 15));
    expect(token.prefix_shown).toStartWith('sat_test_');
    expect(token.hash).toBe(createHash('sha256').update(token.plaintext).digest('hex'));
    expect(hashToken(token.plaintext)).toBe(token.hash);
  });
});

describe('a text is no token', () => {
  const good = withChecksum(`sat_live_${'0'.repeat(42)}7`);

  test('unless everything fits', () => {
    expect(parseToken(good)).toEqual({ kind: 'live' });
  });

  test('when any one character is another', () => {
    for (let index = 0; index < good.length; index += 1) {
      const other = good[index] === 'x' ? 'y' : 'x';
      expect(parseToken(good.slice(0, index) + other + good.slice(index + 1))).toBeNull();
    }
  });

  test('when two neighbours are swapped', () => {
    const { plaintext } = createToken('management');
    for (let index = 0; index + 1 < plaintext.length; index += 1) {
      const pair = plaintext.slice(index, index + 2);
      const swapped =
        plaintext.slice(0, index) + pair.charAt(1) + pair.charAt(0) + plaintext.slice(index + 2);
      if (swapped !== plaintext) expect(parseToken(swapped)).toBeNull();
    }
  });

  test.each([
    ['empty', ''],
    ['only a prefix', 'sat_live_'],
    ['too short', withChecksum(`sat_live_${'0'.repeat(42)}`)],
    ['too long', withChecksum(`sat_live_${'0'.repeat(44)}`)],
    ['of an unknown kind', withChecksum(`sat_prod_${'0'.repeat(43)}`)],
    ['in upper case', good.toUpperCase()],
    ['with a character outside base 62', withChecksum(`sat_live_${'0'.repeat(42)}-`)],
    ['with a space before it', ` ${good}`],
    ['with a line break after it', `${good}\n`],
    ['of one kind under the checksum of another', good.replace('live', 'test')],
  ])('when it is %s', (_name, text) => {
    expect(parseToken(text)).toBeNull();
  });
});

test('hashes are the same only when every character is', () => {
  const hash = hashToken('a');
  expect(sameHash(hash, hashToken('a'))).toBe(true);
  expect(sameHash(hash, hashToken('b'))).toBe(false);
  expect(sameHash(hash, hash.slice(0, -1))).toBe(false);
  expect(sameHash(hash, '')).toBe(false);
});
