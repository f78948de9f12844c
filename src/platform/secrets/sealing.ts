/**
 * Seals bytes with AES-256-GCM: values under a data key, data keys under the master key. Loads what makes keys of passphrases.
 * `key-ring.ts` keeps keys, and `master-key-source.ts` knows where the master key comes from.
 *
 * A random 96-bit nonce is safe for 2^32 messages under one key (NIST SP 800-38D, 8.3). A data key serves one
 * project's secrets, and a master key seals only data keys: both stay far below.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes, randomInt } from 'node:crypto';
import { AppError } from '../../errors.ts';
import { asCaller } from '../host/ownership.ts';

export interface MasterKey {
  /** 16 hex characters that name the key without telling anything of it. */
  readonly id: string;
  readonly bytes: Uint8Array;
}

export interface DataKey {
  /** Random, so that an id never returns for another key, even after a rollback or a restore. */
  readonly id: number;
  readonly bytes: Uint8Array;
}

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ALGORITHM = 'aes-256-gcm';

const SEALED_VALUE = /^v1\.([1-9]\d{0,15})\.([\w-]+)$/;
const WRAPPED_KEY = /^w1\.([0-9a-f]{16})\.([\w-]+)$/;

/** Gives a master key its name: the same bytes always have the same id. */
export function masterKeyOf(bytes: Uint8Array): MasterKey {
  const digest = createHash('sha256').update('satchel master key id').update(bytes).digest('hex');
  return { id: digest.slice(0, 16), bytes };
}

export function createMasterKey(): MasterKey {
  return masterKeyOf(randomBytes(KEY_BYTES));
}

export function createDataKey(): DataKey {
  return { id: randomInt(1, 2 ** 48 - 1), bytes: randomBytes(KEY_BYTES) };
}

/**
 * Encrypts a value so that it opens only under the same data key and context: what it is and whose, such as
 * ['vault', project, service, field]. The result names its data key: `v1.<data_key_id>.<base64url>`.
 */
export function sealValue(key: DataKey, plaintext: string | Uint8Array, context: readonly string[]): string {
  return `v1.${key.id}.${encrypt(key.bytes, plaintext, ['value', ...context])}`;
}

/** The id of the data key that a sealed value needs, or null for a text that is no sealed value. */
export function dataKeyIdOf(sealed: string): number | null {
  const id = Number(SEALED_VALUE.exec(sealed)?.[1]);
  return Number.isSafeInteger(id) ? id : null;
}

/** The value; null where it was altered, cut off, moved to another place, or sealed under another key. */
export function openValue(key: DataKey, sealed: string, context: readonly string[]): Uint8Array | null {
  if (dataKeyIdOf(sealed) !== key.id) return null;
  return decrypt(key.bytes, sealed.slice(sealed.lastIndexOf('.') + 1), ['value', ...context]);
}

/** Encrypts a data key, bound to its id and scope: `w1.<master_key_id>.<base64url>`. */
export function wrapDataKey(master: MasterKey, key: DataKey, scope: string): string {
  return `w1.${master.id}.${encrypt(master.bytes, key.bytes, dataKeyBinding(key.id, scope))}`;
}

/** The id of the master key that a wrapped data key needs, or null for a text that is none. */
export function masterKeyIdOf(wrapped: string): string | null {
  return WRAPPED_KEY.exec(wrapped)?.[1] ?? null;
}

/** The data key of a stored row, or null when it does not open under this master key. */
export function unwrapDataKey(
  master: MasterKey,
  row: { id: number; scope: string; wrapped: string },
): DataKey | null {
  if (masterKeyIdOf(row.wrapped) !== master.id) return null;
  const payload = row.wrapped.slice(row.wrapped.lastIndexOf('.') + 1);
  const bytes = decrypt(master.bytes, payload, dataKeyBinding(row.id, row.scope));
  return bytes?.length === KEY_BYTES ? { id: row.id, bytes } : null;
}

const RETIRED = '#retired-';

/** What the scope of a data key becomes when another one takes its place; it stays bound to the plain one. */
export function retiredScope(row: { id: number | ''; scope: string }): string {
  return `${row.scope}${RETIRED}${row.id}`;
}

/** Whether another data key has taken the place of one with this scope. */
export function isRetiredScope(scope: string): boolean {
  return scope.includes(RETIRED);
}

function dataKeyBinding(id: number, scope: string): string[] {
  const [plain = ''] = scope.split(RETIRED);
  return ['data_key', String(id), plain];
}

/** JSON keeps the parts apart: ['a', 'bc'] and ['ab', 'c'] bind differently. */
function bindingOf(parts: readonly string[]): Buffer {
  return Buffer.from(JSON.stringify(parts));
}

function encrypt(key: Uint8Array, plaintext: string | Uint8Array, binding: readonly string[]): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(bindingOf(binding));
  const bytes = typeof plaintext === 'string' ? Buffer.from(plaintext) : plaintext;
  const parts = [nonce, cipher.update(bytes), cipher.final()];
  return Buffer.concat([...parts, cipher.getAuthTag()]).toString('base64url');
}

function decrypt(key: Uint8Array, payload: string, binding: readonly string[]): Uint8Array | null {
  const bytes = Buffer.from(payload, 'base64url');
  // The decoder passes over what is no base64url; only the one spelling that sealing writes counts.
  if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== payload) return null;
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(bindingOf(binding));
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    const start = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
    return Buffer.concat([start, decipher.final()]);
  } catch {
    return null;
  }
}

export type Argon2 = typeof import('@node-rs/argon2');

/**
 * Argon2id, by a native module, which a compiled executable unpacks into the temporary folder at first use. Throws AppError
 * `unavailable`, which names the setting, where it can't be unpacked there or run.
 */
export async function loadArgon2(load: () => Argon2 | Promise<Argon2> = requireArgon2): Promise<Argon2> {
  try {
    return await load();
  } catch (cause) {
    const message =
      'Passwords and passphrases need a folder for temporary files, and this one can not be used: set TMPDIR to a folder that exists, ' +
      'that the user of this process may write to, and whose files may be run (not mounted with noexec).';
    throw new AppError('unavailable', message, { cause });
  }
}

/** At once, and as root where root acts as another user: who may write to the file that is unpacked runs code in this process. */
function requireArgon2(): Argon2 {
  return asCaller(() => require('@node-rs/argon2'));
}
