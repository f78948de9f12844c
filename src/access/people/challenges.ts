/**
 * What an authenticator signs: good for five minutes, once, and for one purpose. A challenge carries when it ends and an HMAC, so that
 * strangers who ask for one leave no row; used ones are kept until they end.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { type Clock, MINUTE_MS } from '../../platform/host/clock.ts';
import { InstallationKey } from '../../platform/secrets/installation-key.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';
import * as store from './passkey-store.ts';

export const CHALLENGE_MS = 5 * MINUTE_MS;

const RANDOM_BYTES = 16;
const END_BYTES = 8;
const SIGNED_BYTES = RANDOM_BYTES + END_BYTES;
/** The length of SHA-256. */
const HMAC_BYTES = 32;

export class Challenges {
  readonly #key: InstallationKey;

  constructor(private readonly deps: { database: Database; clock: Clock; key_ring: KeyRing }) {
    this.#key = new InstallationKey(deps.key_ring, 'challenge_key');
  }

  /** Throws AppError `unavailable` where the disk is full before there is a key. */
  async make(purpose: string): Promise<Uint8Array<ArrayBuffer>> {
    const { database, clock } = this.deps;
    const key = await this.#key.obtain(database);
    if (!key) throw new AppError('unavailable', 'Nothing can be written at present. Try again later.');
    const ends_at = Buffer.alloc(END_BYTES);
    ends_at.writeBigUInt64BE(BigInt(clock.now() + CHALLENGE_MS));
    const signed = Buffer.concat([randomBytes(RANDOM_BYTES), ends_at]);
    return Uint8Array.from(Buffer.concat([signed, hmacOf(key, purpose, signed)]));
  }

  /** True of one that was made for this purpose and has not ended; it may have been used. */
  isGood(challenge: string, purpose: string): boolean {
    return this.#read(challenge, purpose) !== null;
  }

  /** Uses one up; false where it is not good any more. */
  take(tx: Tx, challenge: string, purpose: string): boolean {
    const found = this.#read(challenge, purpose);
    return found !== null && store.useChallenge(tx, found.text, found.ends_at) === 1;
  }

  #read(challenge: string, purpose: string): { text: string; ends_at: number } | null {
    const { database, clock } = this.deps;
    const key = this.#key.find(database.read);
    const bytes = Buffer.from(challenge, 'base64url');
    if (!key || bytes.length !== SIGNED_BYTES + HMAC_BYTES) return null;
    const signed = bytes.subarray(0, SIGNED_BYTES);
    if (!timingSafeEqual(bytes.subarray(SIGNED_BYTES), hmacOf(key, purpose, signed))) return null;
    const ends_at = Number(signed.readBigUInt64BE(RANDOM_BYTES));
    return clock.now() < ends_at ? { text: bytes.toString('base64url'), ends_at } : null;
  }
}

function hmacOf(key: Uint8Array, purpose: string, signed: Uint8Array): Uint8Array {
  return createHmac('sha256', key).update(signed).update(purpose).digest();
}
