/**
 * The key of a project's marketing: what suppression hashes and the tokens of public pages are made with. It
 * is made at its first use and stored sealed, so that nobody with the database alone can try addresses
 * against the hashes.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError, toDo } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { type KeyRing, projectScope } from '../../platform/secrets/key-ring.ts';
import { findSealedKey, insertSealedKey } from './store.ts';

/** The project whose key it is. */
export interface KeyOwner {
  readonly id: number;
  readonly public_id: string;
}

/** What a keyed hash is for. A hash for one purpose can't be matched with one for another. */
export type HashPurpose = 'suppression' | 'unsubscribe' | 'taking_back' | 'click' | 'view' | 'return_path';

/** The keyed hash of a text, HMAC-SHA-256 in hex. */
export type KeyedHash = (text: string) => string;

const KEY_BYTES = 32;

export class MarketingKeys {
  constructor(private readonly key_ring: Pick<KeyRing, 'seal' | 'open'>) {}

  /**
   * The hash of a project's key, or null while it has none: then nothing was ever hashed with it. Opened once
   * for as many texts as the caller has. Throws AppError `unavailable` when the key does not open under the
   * master key.
   */
  find(read: Tx, owner: KeyOwner, purpose: HashPurpose): KeyedHash | null {
    const found = findSealedKey(read, owner.id);
    return found && hashWith(this.#open(read, owner, found.sealed_key), purpose);
  }

  /** As `find`, for a change: a project without a key gets one. */
  obtain(tx: Tx, owner: KeyOwner, purpose: HashPurpose, now_ms: number): KeyedHash {
    const found = this.find(tx, owner, purpose);
    if (found) return found;
    const key = randomBytes(KEY_BYTES);
    const sealed_key = this.key_ring.seal(tx, projectScope(owner.public_id), contextOf(owner), key);
    insertSealedKey(tx, { project_id: owner.id, sealed_key, created_at: now_ms });
    return hashWith(key, purpose);
  }

  /** True where a stored key opens, for `satchel doctor`. */
  opens(read: Tx, owner: KeyOwner): boolean {
    const found = findSealedKey(read, owner.id);
    return found === null || this.key_ring.open(read, found.sealed_key, contextOf(owner)) !== null;
  }

  #open(read: Tx, owner: KeyOwner, sealed: string): Uint8Array {
    const key = this.key_ring.open(read, sealed, contextOf(owner));
    if (key) return key;
    throw new AppError(
      'unavailable',
      "The project's marketing key does not open under the master key, so suppressions cannot be looked up: nothing was done. An admin finds more with:",
      { remedy: toDo('finding', 'satchel doctor') },
    );
  }
}

function contextOf(owner: KeyOwner): string[] {
  return ['marketing_key', owner.public_id];
}

/**
 * Bun's own hasher. That of `node:crypto` takes fifteen times as long, and each link of each mail is hashed.
 */
function hashWith(key: Uint8Array, purpose: HashPurpose): KeyedHash {
  return (text) => new Bun.CryptoHasher('sha256', key).update(`${purpose}\0${text}`).digest('hex');
}

/** Compares two hashes in constant time. */
export function sameHash(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
