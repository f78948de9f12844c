/** A random key of this installation, sealed in its database: nobody else can make what is made with it. */
import { randomBytes } from 'node:crypto';
import { type Database, mayPass, type Tx } from '../database/database.ts';
import { readMeta, writeMeta } from '../database/store.ts';
import { type KeyRing, PLATFORM_SCOPE } from './key-ring.ts';

const KEY_BYTES = 32;

export class InstallationKey {
  /** Kept open: some are used for every mail. */
  #opened: { sealed: string; key: Uint8Array } | null = null;

  constructor(
    private readonly key_ring: Pick<KeyRing, 'seal' | 'open'>,
    private readonly name: string,
  ) {}

  /** Null where there is none yet, and where it does not open. */
  find(read: Tx): Uint8Array | null {
    const sealed = readMeta(read, this.name);
    if (sealed === null) return null;
    if (this.#opened?.sealed === sealed) return this.#opened.key;
    const key = this.key_ring.open(read, sealed, [this.name]);
    this.#opened = key && { sealed, key };
    return key;
  }

  /** Makes the key where there is none that opens; null where the disk does not take it at present. */
  async obtain(database: Database): Promise<Uint8Array | null> {
    const known = this.find(database.read);
    if (known) return known;
    try {
      return await database.write((tx) => {
        const known = this.find(tx);
        if (known) return known;
        const key = randomBytes(KEY_BYTES);
        writeMeta(tx, this.name, this.key_ring.seal(tx, PLATFORM_SCOPE, [this.name], key));
        return key;
      });
    } catch (error) {
      if (mayPass(error)) return null;
      throw error;
    }
  }
}
