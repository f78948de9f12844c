/**
 * Return paths of one mail each (VERP): `bounces+<email id>.<code>@example.com`, whose code nobody makes without our key. A
 * report that has one is about that mail.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { MAX_REPORT_CANDIDATES } from '../../limits.ts';
import { type Database, mayPass, type Tx } from '../../platform/database/database.ts';
import { readMeta, writeMeta } from '../../platform/database/meta.ts';
import { isUlid } from '../../platform/host/ids.ts';
import { type KeyRing, PLATFORM_SCOPE } from '../../platform/secrets/key-ring.ts';

const KEY_NAME = 'return_path_key';
const KEY_BYTES = 32;
/** 80 bits in hex: each guess is a mail to us, and it is short enough for a local part. */
const CODE_CHARS = 20;

/** The first addresses in a text that look like return paths of one mail, whoever made them. */
export function returnPathsIn(text: string): string[] {
  const found = text.matchAll(/\+[0-9a-z]{26}\.[0-9a-f]{20}@[^\s<>,;:"()@]{1,255}/gi);
  return [...found.take(MAX_REPORT_CANDIDATES)].map(([address]) => address);
}

export class ReturnPaths {
  readonly #key_ring: Pick<KeyRing, 'seal' | 'open'>;
  /** Kept open: decrypting it for every mail would cost more than making the address. */
  #opened: { sealed: string; key: Uint8Array } | null = null;

  constructor(key_ring: Pick<KeyRing, 'seal' | 'open'>) {
    this.#key_ring = key_ring;
  }

  /**
   * The envelope sender of one mail, made from the address that bounces go to, whose local part has at most
   * MAX_VERP_LOCAL_PART_CHARS. Makes the key where there is none that opens; null where the disk does not take it at present.
   */
  async addressFor(database: Database, return_path: string, email_id: string): Promise<string | null> {
    const at = return_path.lastIndexOf('@');
    const key = this.#find(database.read) ?? (await this.#make(database));
    if (key === null) return null;
    const code = codeOf(key, email_id);
    return `${return_path.slice(0, at)}+${email_id.toLowerCase()}.${code}${return_path.slice(at)}`;
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
    const sealed = readMeta(read, KEY_NAME);
    if (sealed === null) return null;
    if (this.#opened?.sealed === sealed) return this.#opened.key;
    const key = this.#key_ring.open(read, sealed, [KEY_NAME]);
    this.#opened = key && { sealed, key };
    return key;
  }

  async #make(database: Database): Promise<Uint8Array | null> {
    try {
      return await database.write((tx) => {
        const known = this.#find(tx);
        if (known) return known;
        const key = randomBytes(KEY_BYTES);
        const value = this.#key_ring.seal(tx, PLATFORM_SCOPE, [KEY_NAME], key);
        writeMeta(tx, KEY_NAME, value);
        return key;
      });
    } catch (error) {
      if (mayPass(error)) return null;
      throw error;
    }
  }
}

function codeOf(key: Uint8Array, email_id: string): string {
  return new Bun.CryptoHasher('sha256', key)
    .update(`return_path\0${email_id.toLowerCase()}`)
    .digest('hex')
    .slice(0, CODE_CHARS);
}
