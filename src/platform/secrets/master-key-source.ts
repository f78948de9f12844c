/**
 * Where the master key comes from: a setting, a passphrase, or a file; and making and replacing that file so
 * that no crash loses it. `key-ring.ts` knows which key a database is bound to, and changes it.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config.ts';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { syncFolder } from '../host/folders.ts';
import { asCaller, asCallerAt } from '../host/ownership.ts';
import { shellWord } from '../words/phrases.ts';
import { createMasterKey, KEY_BYTES, loadArgon2, type MasterKey, masterKeyOf } from './sealing.ts';

/** RFC 9106, 4: the second recommended argon2id setting. Part of a passphrase's meaning: never change it. */
const ARGON2_MEMORY_KIB = 64 * 1024;
const ARGON2_PASSES = 3;
const ARGON2_LANES = 4;
/** RFC 9106, 3.1: 16 bytes of salt are enough for every use. */
const PASSPHRASE_SALT_BYTES = 16;

export type MasterKeySource =
  | { kind: 'key'; text: string }
  | { kind: 'passphrase'; passphrase: string }
  /** `is_default`: the file in the data directory, which Satchel makes; operators make any other. */
  | { kind: 'file'; path: string; is_default: boolean };

export type KeyFileSource = Extract<MasterKeySource, { kind: 'file' }>;

type KeySettings = Pick<Config, 'data_dir' | 'master_key' | 'master_key_file' | 'passphrase'>;

const KEY_TEXT = /^[A-Za-z0-9+/]{43}=$/;
const HOW_TO_MAKE = 'openssl rand -base64 32';

/** The source that the settings choose; at most one of the three is set, which config.ts makes sure of. */
export function masterKeySourceOf(config: KeySettings): MasterKeySource {
  if (config.master_key !== null) return { kind: 'key', text: config.master_key };
  if (config.passphrase !== null) return { kind: 'passphrase', passphrase: config.passphrase };
  if (config.master_key_file !== null) {
    return { kind: 'file', path: config.master_key_file, is_default: false };
  }
  return { kind: 'file', path: join(config.data_dir, 'master.key'), is_default: true };
}

/** How messages name the setting in use. */
export function settingOf(source: MasterKeySource): string {
  if (source.kind === 'key') return 'SATCHEL_MASTER_KEY';
  if (source.kind === 'passphrase') return 'SATCHEL_PASSPHRASE';
  const name = source.is_default ? 'no SATCHEL_MASTER_KEY_FILE is set' : 'SATCHEL_MASTER_KEY_FILE';
  return `The master key file ${source.path} (${name})`;
}

/** The key of its text form, exactly 32 bytes in base64, or null. */
function decodeKey(text: string): MasterKey | null {
  const bytes = Buffer.from(text, 'base64');
  const is_exact = KEY_TEXT.test(text) && bytes.length === KEY_BYTES && bytes.toString('base64') === text;
  return is_exact ? masterKeyOf(bytes) : null;
}

function encodeKey(key: MasterKey): string {
  return Buffer.from(key.bytes).toString('base64');
}

/** The key in a setting. Throws AppError `invalid` with its name unless it is 32 bytes in base64. */
export function parseMasterKey(text: string, setting = 'SATCHEL_MASTER_KEY'): MasterKey {
  const key = decodeKey(text);
  if (key) return key;
  throw new AppError(
    'invalid',
    `${setting} must be exactly 32 bytes in base64 (44 characters), as this prints: ${HOW_TO_MAKE}`,
  );
}

/** A new salt for a passphrase, base64. It is no secret. */
export function createSalt(): string {
  return randomBytes(PASSPHRASE_SALT_BYTES).toString('base64');
}

/** The master key of a passphrase and its salt, by argon2id: a quarter of a second and 64 MiB, on purpose. */
export async function deriveMasterKey(passphrase: string, salt: string): Promise<MasterKey> {
  // Loaded here, because few deployments need it.
  const { hashRaw } = await loadArgon2();
  // Keyboards differ in how they compose accented letters; the passphrase is the same.
  const bytes = await hashRaw(passphrase.normalize('NFC'), {
    algorithm: 2,
    version: 1,
    memoryCost: ARGON2_MEMORY_KIB,
    timeCost: ARGON2_PASSES,
    parallelism: ARGON2_LANES,
    outputLen: KEY_BYTES,
    salt: Buffer.from(salt, 'base64'),
  });
  return masterKeyOf(bytes);
}

/* --- The file ------------------------------------------------------------------------------------------------- */

/** The key, or null without a file. Throws AppError `invalid` when it is unreadable or holds no key. */
export function readKeyFile(source: KeyFileSource): MasterKey | null {
  const text = asCaller(() => readText(source.path));
  if (text === null) return null;
  const key = decodeKey(text.trim());
  if (key) return key;
  throw new AppError(
    'invalid',
    `${settingOf(source)} does not hold a master key: its content must be exactly 32 bytes in base64 (44 characters). ` +
      'Restore it from where you keep a copy.',
  );
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null;
    throw new AppError('invalid', `The master key file ${path} can't be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/**
 * Makes the default file with a new key, 0600, whole or not at all, and durable before it returns. Nothing
 * may be sealed yet; the caller makes sure. Throws AppError `conflict` when the path is taken: a key file is
 * never overwritten.
 */
export function createKeyFile(path: string): MasterKey {
  if (lstatSync(path, { throwIfNoEntry: false })) {
    throw new AppError('conflict', `${path} exists already; a master key file is never overwritten.`);
  }
  const key = createMasterKey();
  const temporary = `${path}.new`;
  rmSync(temporary, { force: true });
  writeDurably(temporary, key, null);
  renameSync(temporary, path);
  syncFolder(dirname(path));
  return key;
}

/** What others than the owner may do with the file, as a sentence, or null when it is the owner's alone. */
export function warnOfKeyFileMode(source: KeyFileSource): string | null {
  const mode = asCaller(() => statSync(source.path)).mode & 0o777;
  if ((mode & 0o077) === 0) return null;
  return (
    `${settingOf(source)} has mode 0${mode.toString(8)}, so that other users may get at the key. ` +
    `Run: chmod 600 ${shellWord(source.path)}`
  );
}

/** A link is followed: the file itself is replaced, not the link to it. */
function placesOf(path: string): { current: string; next: string } {
  const current = followed(path);
  return { current, next: `${current}.next` };
}

/** Looks once: a second look could find the file gone while it is replaced. */
function followed(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return path;
    throw error;
  }
}

/** Whether a rotation left its new key beside the file. */
export function hasNextKeyFile(path: string): boolean {
  return asCaller(() => existsSync(placesOf(path).next));
}

/** Puts a new key beside the file, durably and with its owner. The database decides which one counts. */
export function writeNextKeyFile(path: string, key: MasterKey): void {
  asCallerAt(path, () => {
    const { current, next } = placesOf(path);
    rmSync(next, { force: true });
    writeDurably(next, key, statSync(current));
    syncFolder(dirname(next));
  });
}

/**
 * Finds the key with this id in the file or in the one that a rotation left beside it, or null. Changes
 * nothing, so a server may call it during a rotation.
 */
export function findKeyInFiles(path: string, master_key_id: string): MasterKey | null {
  return asCaller(() => findIn(placesOf(path), master_key_id));
}

function findIn({ current, next }: ReturnType<typeof placesOf>, master_key_id: string): MasterKey | null {
  // This order misses no rotation that ends between the looks: the new key only moves from next to current.
  for (const place of [next, current]) {
    const key = decodeKey(readText(place)?.trim() ?? '');
    if (key?.id === master_key_id) return key;
  }
  return null;
}

/**
 * Ends a rotation, finished or killed: a new key that counts takes the file's place; otherwise it goes. If
 * neither fits, nothing is touched. Returns the key that counts, or null. Call it only within a write to the
 * database, whose lock keeps rotations apart.
 */
export function settleKeyFiles(path: string, master_key_id: string): MasterKey | null {
  return asCallerAt(path, () => settle(placesOf(path), master_key_id));
}

function settle(places: ReturnType<typeof placesOf>, master_key_id: string): MasterKey | null {
  const { current, next } = places;
  const key = findIn(places, master_key_id);
  if (!key || !existsSync(next)) return key;
  const is_in_place = decodeKey(readText(current)?.trim() ?? '')?.id === master_key_id;
  if (is_in_place) rmSync(next);
  else renameSync(next, current);
  syncFolder(dirname(current));
  return key;
}

function writeDurably(path: string, key: MasterKey, owner: { uid: number; gid: number } | null): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    // A rotation run by root must leave a key that the service's own user can read.
    if (owner && process.geteuid?.() === 0) fchownSync(file, owner.uid, owner.gid);
    writeSync(file, `${encodeKey(key)}\n`);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** `missing`: no key is at hand, so nothing is known. */
type MasterKeyFit =
  | { fit: 'fits'; key: MasterKey }
  | { fit: 'missing'; message: string }
  | { fit: 'differs'; message: string };

/** What a database says of its key. */
export interface KeyDemand {
  master_key_id: string;
  passphrase_salt: string | null;
}

/** Compares the key of the settings with the demand of a database or a backup. */
export async function judgeMasterKey(config: Config, demand: KeyDemand): Promise<MasterKeyFit> {
  const source = masterKeySourceOf(config);
  const setting = settingOf(source);
  const needed = `the key ${demand.master_key_id} is needed`;
  try {
    let key: MasterKey | null;
    if (source.kind === 'key') key = parseMasterKey(source.text);
    else if (source.kind === 'file')
      // A rotation that was cut off leaves two keys; the database says which of them counts.
      key = findKeyInFiles(source.path, demand.master_key_id) ?? readKeyFile(source);
    else if (demand.passphrase_salt !== null)
      key = await deriveMasterKey(source.passphrase, demand.passphrase_salt);
    else
      return {
        fit: 'differs',
        message: `${setting} is set, but ${needed}, and it comes from no passphrase.`,
      };
    if (key === null) return { fit: 'missing', message: `${setting} is missing; ${needed}.` };
    if (key.id === demand.master_key_id) return { fit: 'fits', key };
    return { fit: 'differs', message: `${setting} gives the key ${key.id}, but ${needed}.` };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { fit: 'differs', message: `${messageOf(error)} (${needed}.)` };
  }
}
