/**
 * The format of API keys and access tokens: a prefix that says what it is, 256 random bits, and a checksum.
 * That tells a mistyped or cut one from a revoked one without the database.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';

/** What each kind begins with. */
export const TOKEN_PREFIXES = { management: 'satm_', live: 'sat_live_', test: 'sat_test_' } as const;

export type TokenKind = keyof typeof TOKEN_PREFIXES;

export interface NewToken {
  /** The secret itself, shown once. */
  plaintext: string;
  /** Enough to recognise it in a list, such as `sat_live_AbCd12`; 36 of its 256 bits. */
  prefix_shown: string;
  /** SHA-256 in hex: what is stored. A fast hash is right for 256 random bits. */
  hash: string;
}

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** 62^43 is the first power past 2^256, and 62^6 the first past 2^32. */
const RANDOM_CHARS = 43;
const CHECKSUM_CHARS = 6;
const SHOWN_CHARS = 6;
const TOKEN = /^(satm_|sat_live_|sat_test_)[0-9A-Za-z]{49}$/;
/** One that was cut or mistyped as well. */
const ANY_TOKEN = /((?:satm_|sat_live_|sat_test_)[0-9A-Za-z]{6})[0-9A-Za-z]+/g;

/** The number in base 62, padded to a fixed width, most significant digit first. */
function toBase62(value: bigint, width: number): string {
  let digits = '';
  for (let rest = value; digits.length < width; rest /= 62n) {
    digits = BASE62.charAt(Number(rest % 62n)) + digits;
  }
  return digits;
}

function checksumOf(text: string): string {
  return toBase62(BigInt(Bun.hash.crc32(text)), CHECKSUM_CHARS);
}

/** A new secret from the system's random source. Nothing of it is kept here. */
export function createToken(kind: TokenKind): NewToken {
  const prefix = TOKEN_PREFIXES[kind];
  const random = toBase62(BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`), RANDOM_CHARS);
  const body = prefix + random;
  const plaintext = body + checksumOf(body);
  return {
    plaintext,
    prefix_shown: plaintext.slice(0, prefix.length + SHOWN_CHARS),
    hash: hashToken(plaintext),
  };
}

/** 256 random bits for links and cookies, which nobody types: without a prefix that says what they are. */
export function createSecret(): string {
  return randomBytes(RANDOM_BYTES).toString('base64url');
}

/** What kind of token a text is; null for a wrong shape or checksum. It need not exist. */
export function parseToken(text: string): { kind: TokenKind } | null {
  const prefix = TOKEN.exec(text)?.[1];
  const body = text.slice(0, -CHECKSUM_CHARS);
  if (prefix === undefined || checksumOf(body) !== text.slice(-CHECKSUM_CHARS)) return null;
  if (prefix === TOKEN_PREFIXES.management) return { kind: 'management' };
  return { kind: prefix === TOKEN_PREFIXES.live ? 'live' : 'test' };
}

/** A text in which every token is cut to what lists show of it. */
export function hideTokens(text: string): string {
  return text.replace(ANY_TOKEN, '$1...');
}

/** SHA-256 of a token in hex, the form in which it is stored and looked up. */
export function hashToken(text: string): string {
  return new Bun.CryptoHasher('sha256').update(text).digest('hex');
}

/** Whether two hashes are the same, in a time that does not depend on where they differ. */
export function sameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
