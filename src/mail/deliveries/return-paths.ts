/**
 * Return paths of one mail each (VERP): `bounces+<email id>.<code>@example.com`, whose code nobody makes
 * without our key. A report that has one is about that mail, and so is a relay's event that has `<email id>-<code>`.
 */
import { timingSafeEqual } from 'node:crypto';
import { MAX_REPORT_CANDIDATES } from '../../limits.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { isUlid } from '../../platform/host/ids.ts';
import { InstallationKey } from '../../platform/secrets/installation-key.ts';
import type { KeyRing } from '../../platform/secrets/key-ring.ts';

/** 80 bits in hex: each guess is a mail to us, and it is short enough for a local part. */
const CODE_CHARS = 20;

/** The first addresses in a text that look like return paths of one mail, whoever made them. */
export function returnPathsIn(text: string): string[] {
  const found = text.matchAll(/\+[0-9a-z]{26}\.[0-9a-f]{20}@[^\s<>,;:"()@]{1,255}/gi);
  return [...found.take(MAX_REPORT_CANDIDATES)].map(([address]) => address);
}

export class ReturnPaths {
  readonly #key: InstallationKey;

  constructor(key_ring: Pick<KeyRing, 'seal' | 'open'>) {
    this.#key = new InstallationKey(key_ring, 'return_path_key');
  }

  /**
   * The envelope sender of one mail, made from the address that bounces go to, whose local part has at most
   * MAX_VERP_LOCAL_PART_CHARS. Makes the key where there is none that opens; null where the disk does not
   * take it at present.
   */
  async addressFor(database: Database, return_path: string, email_id: string): Promise<string | null> {
    const at = return_path.lastIndexOf('@');
    const key = await this.#key.obtain(database);
    if (key === null) return null;
    const code = codeOf(key, 'return_path', email_id);
    return `${return_path.slice(0, at)}+${email_id.toLowerCase()}.${code}${return_path.slice(at)}`;
  }

  /** The mail that an address was made for; null for any that we did not make. */
  emailOf(read: Tx, address: string): string | null {
    return this.#verified(read, 'return_path', /\+([0-9a-z]{26})\.([0-9a-f]{20})@[^@]+$/i.exec(address));
  }

  /** What a mail carries so that events of its relay name it; null as for `addressFor`. */
  async eventCodeFor(database: Database, email_id: string): Promise<string | null> {
    const key = await this.#key.obtain(database);
    return key && `${email_id.toLowerCase()}-${codeOf(key, 'relay_event', email_id)}`;
  }

  /** The mail that an event's code was made for; null for any that we did not make. */
  emailOfEvent(read: Tx, event_code: string): string | null {
    return this.#verified(read, 'relay_event', /^([0-9a-z]{26})-([0-9a-f]{20})$/i.exec(event_code));
  }

  #verified(read: Tx, use: CodeUse, found: RegExpExecArray | null): string | null {
    const [, email_id = '', code = ''] = found ?? [];
    const key = isUlid(email_id) ? this.#key.find(read) : null;
    if (key === null) return null;
    const is_ours = timingSafeEqual(Buffer.from(codeOf(key, use, email_id)), Buffer.from(code.toLowerCase()));
    return is_ours ? email_id.toUpperCase() : null;
  }
}

type CodeUse = 'return_path' | 'relay_event';

function codeOf(key: Uint8Array, use: CodeUse, email_id: string): string {
  return new Bun.CryptoHasher('sha256', key)
    .update(`${use}\0${email_id.toLowerCase()}`)
    .digest('hex')
    .slice(0, CODE_CHARS);
}
