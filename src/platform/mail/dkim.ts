/** DKIM (RFC 6376), rsa-sha256 and relaxed/relaxed: making keys, signing messages, recognizing our own. */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { promisify } from 'node:util';
import RelaxedBody from 'nodemailer/lib/dkim/relaxed-body.js';
import { AppError } from '../../errors.ts';

/** Parsed DKIM keys in memory, 2 KB each; far more than one team has sending domains. */
const MAX_CACHED_DKIM_KEYS = 500;
/** RFC 6376 3.3.3: signers use at least 1024 bits; 2048 is what receivers recommend. */
const DKIM_KEY_BITS = 2_048;
/** Signatures of a returned message that are looked at, for 50 microseconds each: ours, a list's. */
const MAX_DKIM_SIGNATURES_READ = 8;

export interface DkimKeyPair {
  private_key_pem: string;
  /** SubjectPublicKeyInfo: the `p=` of the DNS record. */
  public_key_base64: string;
}

export interface DkimIdentity {
  domain: string;
  selector: string;
  private_key_pem: string;
}

/**
 * Headers that a reader sees or a client acts on. Each is signed once more than it occurs (RFC 6376 8.15), so
 * that nobody can add another, which many mail programs would show instead.
 */
const OVER_SIGNED_HEADERS =
  'from to cc subject reply-to date message-id content-type mime-version list-unsubscribe list-unsubscribe-post';
/** Headers signed as often as they occur: adding one deceives nobody, and some relays add a Feedback-ID. */
const SIGNED_HEADERS = 'content-transfer-encoding list-id feedback-id';

/** A new RSA key of DKIM_KEY_BITS bits. Takes some 100 ms, on another thread. */
export async function generateDkimKey(): Promise<DkimKeyPair> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)('rsa', {
    modulusLength: DKIM_KEY_BITS,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  return { private_key_pem: privateKey, public_key_base64: publicKey.toString('base64') };
}

/** SHA-256, in base64, of a body under relaxed canonicalization. */
export async function hashBody(chunks: AsyncIterable<Buffer> | Iterable<Buffer>): Promise<string> {
  // Nothing is written to it: as a stream it would take longer than the hash.
  const canonical = new RelaxedBody({ hashAlgo: 'sha256' });
  let ends_line = true;
  for await (const chunk of chunks) {
    canonical.updateHash(chunk);
    if (chunk.length > 0) ends_line = chunk.at(-1) === LF;
  }
  if (!ends_line) canonical.updateHash(LINE_END);
  return canonical.bodyHash.digest('base64');
}

const LF = 0x0a;
const LINE_END = Buffer.from('\r\n');

/**
 * The DKIM-Signature header with its line break, for a header block (one character a byte) and a body hash.
 * RSA is by far the most expensive part of a mail and runs on the thread pool; here it would halve the
 * throughput. Throws AppError `invalid` when the private key can't be read.
 */
export async function signHeaders(
  headers: string,
  body_hash: string,
  identity: DkimIdentity,
): Promise<string> {
  const key = readKey(identity.private_key_pem);
  const fields = parseFields(headers);
  const present = `${OVER_SIGNED_HEADERS} ${SIGNED_HEADERS}`
    .split(' ')
    .flatMap((name) => fields.filter((field) => field.name === name));
  const names = [...present.map((field) => field.name), ...OVER_SIGNED_HEADERS.split(' ')];
  const tags = [
    'DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; q=dns/txt;',
    ` d=${identity.domain}; s=${identity.selector};`,
    ` h=${names.join(':\r\n  ')};`,
    ` bh=${body_hash};`,
    ' b=',
  ].join('\r\n');
  // A name that is signed once more than it occurs adds nothing to what is hashed (RFC 6376 3.5, h=).
  const signed = present.map(({ name, value }) => `${name}:${relax(value)}\r\n`);
  signed.push(`dkim-signature:${relax(tags.slice('DKIM-Signature:'.length))}`);
  const signature = await signOnPool('sha256', Buffer.from(signed.join(''), 'latin1'), key);
  return `${tags}${signature.toString('base64').replace(/.{72}(?=.)/g, '$&\r\n  ')}\r\n`;
}

const signOnPool = promisify(sign);

/** Names a key as a signature does (d= and s=), and gives its public half in base64, where it is known. */
export type FindDkimKey = (domain: string, selector: string) => string | null;

/**
 * The signed value of a header in a header block (one character a byte), by the first valid signature of a
 * known key; null without one. Only headers count: returned messages have often lost their bodies.
 */
export function findSignedHeader(name: string, headers: string, findKey: FindDkimKey): string | null {
  const fields = parseFields(headers);
  const fields_of = Map.groupBy(fields, (field) => field.name);
  const signatures = fields_of.get('dkim-signature') ?? [];
  for (const { value } of signatures.slice(0, MAX_DKIM_SIGNATURES_READ)) {
    const tags = parseTags(value);
    const names = (tags.get('h') ?? '').split(':').map((one) => one.trim().toLowerCase());
    const key = findKey((tags.get('d') ?? '').toLowerCase(), tags.get('s') ?? '');
    if (key === null || !isOfOurKind(tags)) continue;
    const used = new Map<string, number>();
    const signed = names.flatMap((one) => {
      const nth = used.get(one) ?? 0;
      used.set(one, nth + 1);
      return fields_of.get(one)?.[nth] ?? [];
    });
    const bare = value.replace(/((?:^|;)\s*b\s*=)[^;]*/, '$1');
    const data = [
      ...signed.map((field) => `${field.name}:${relax(field.value)}\r\n`),
      `dkim-signature:${relax(bare)}`,
    ].join('');
    const signature = Buffer.from((tags.get('b') ?? '').replace(/\s/g, ''), 'base64');
    if (!verify('sha256', Buffer.from(data, 'latin1'), readPublicKey(key), signature)) continue;
    const field = signed.find((one) => one.name === name);
    if (field) return relax(field.value);
  }
  return null;
}

function parseTags(value: string): Map<string, string> {
  const tags = value.split(';').map((tag): [string, string] => {
    const equals = tag.indexOf('=');
    return [tag.slice(0, equals).trim(), tag.slice(equals + 1).trim()];
  });
  return new Map(tags);
}

function isOfOurKind(tags: ReadonlyMap<string, string>): boolean {
  return tags.get('v') === '1' && tags.get('a') === 'rsa-sha256' && tags.get('c') === 'relaxed/relaxed';
}

function readPublicKey(base64: string): KeyObject {
  return createPublicKey({ key: Buffer.from(base64, 'base64'), format: 'der', type: 'spki' });
}

/** The fields from last to first, as in RFC 6376 5.4.2, with lower-case names and folded values. */
function parseFields(headers: string): { name: string; value: string }[] {
  return headers
    .split(/\r\n(?![ \t])/)
    .map((line) => {
      const colon = line.indexOf(':');
      return { name: line.slice(0, colon).trim().toLowerCase(), value: line.slice(colon + 1) };
    })
    .reverse();
}

/** Relaxed canonicalization (section 3.4.2) of a header's value: only space and tab are white space. */
function relax(value: string): string {
  return value
    .replace(/\r\n/g, '')
    .replace(/[ \t]+/g, ' ')
    .replace(/^ | $/g, '');
}

/** Reading a PEM checks the key, which costs a sixth of a signature. */
const keys = new Map<string, KeyObject>();

function readKey(pem: string): KeyObject {
  const known = keys.get(pem);
  if (known) return known;
  let key: KeyObject;
  try {
    key = createPrivateKey(pem);
  } catch (cause) {
    throw new AppError(
      'invalid',
      'The DKIM key of the sending domain cannot be read: it must be an RSA private key in PEM.',
      { cause },
    );
  }
  if (key.asymmetricKeyType !== 'rsa') {
    throw new AppError('invalid', 'The DKIM key of the sending domain must be an RSA key.');
  }
  if (keys.size >= MAX_CACHED_DKIM_KEYS) keys.clear();
  keys.set(pem, key);
  return key;
}
