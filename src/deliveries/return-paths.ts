/**
 * Return paths of one mail each (VERP): `bounces+<email id>.<code>@example.com`, whose code nobody makes without our key. A
 * report that has one is about that mail.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { MAX_LOCAL_PART_CHARS } from '../limits.ts';
import type { Tx } from '../platform/database/database.ts';
import { meta } from '../platform/database/tables.ts';
import { isUlid } from '../platform/host/ids.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../platform/secrets/key-ring.ts';

const KEY_NAME = 'return_path_key';
const KEY_BYTES = 32;
/** 80 bits in hex: tried only by sending us mail, and short enough for a local part. */
const CODE_CHARS = 20;

export class ReturnPaths {
  readonly #key_ring: Pick<KeyRing, 'seal' | 'open'>;

  constructor(key_ring: Pick<KeyRing, 'seal' | 'open'>) {
    this.#key_ring = key_ring;
  }

  /**
   * The envelope sender of one mail, made from the address that bounces go to; null where its local part has no room left.
   * Makes the key where there is none that opens.
   */
  addressFor(tx: Tx, return_path: string, email_id: string): string | null {
    const at = return_path.lastIndexOf('@');
    const code = codeOf(this.#find(tx) ?? this.#make(tx), email_id);
    const local = `${return_path.slice(0, at)}+${email_id.toLowerCase()}.${code}`;
    return local.length > MAX_LOCAL_PART_CHARS ? null : `${local}${return_path.slice(at)}`;
  }

  /** The mail that an address was made for; null for any that we did not make. */
  emailOf(read: Tx, address: string): string | null {
    const [, email_id = '', code = ''] = /\+([0-9a-z]{26})\.([0-9a-f]{20})@[^@]+$/i.exec(address) ?? [];
    const key = isUlid(email_id) ? this.#find(read) : null;
    if (key === null) return null;
    const is_ours = timingSafeEqual(Buffer.from(codeOf(key, email_id)), Buffer.from(code.toLowerCase()));
    return is_ours ? email_id.toUpperCase() : null;
  }

  #find(read: Tx): Uint8Array | null {
    const sealed = read.select().from(meta).where(eq(meta.name, KEY_NAME)).get()?.value;
    const opened = sealed === undefined ? null : this.#key_ring.open(read, sealed, [KEY_NAME]);
    return opened?.ok ? opened.bytes : null;
  }

  #make(tx: Tx): Uint8Array {
    const key = randomBytes(KEY_BYTES);
    const value = this.#key_ring.seal(tx, PLATFORM_SCOPE, [KEY_NAME], key);
    const row = { name: KEY_NAME, value };
    tx.insert(meta).values(row).onConflictDoUpdate({ target: meta.name, set: { value } }).run();
    return key;
  }
}

function codeOf(key: Uint8Array, email_id: string): string {
  return createHmac('sha256', key)
    .update(`return_path\0${email_id.toLowerCase()}`)
    .digest('hex')
    .slice(0, CODE_CHARS);
}
