/** What the bytes of a file tell as they pass by: their hash, and whether they are text in UTF-8. */
import { isAscii, isUtf8 } from 'node:buffer';

/** A character of UTF-8 has up to four bytes, so that this many may wait for the next piece. */
const MAX_BYTES_WAITING = 3;

export class ContentFacts {
  readonly #hasher: Bun.CryptoHasher;
  #sha256: string | null = null;
  #is_ascii = true;
  #is_valid = true;
  /** The beginning of a character whose end is to come. */
  #waiting: Buffer = Buffer.alloc(0);

  constructor(of?: ContentFacts) {
    this.#hasher = of ? of.#hasher.copy() : new Bun.CryptoHasher('sha256');
    if (!of) return;
    this.#is_ascii = of.#is_ascii;
    this.#is_valid = of.#is_valid;
    this.#waiting = of.#waiting;
  }

  /** The same so far; what either is told from here on, the other does not know. */
  copy(): ContentFacts {
    return new ContentFacts(this);
  }

  update(chunk: Uint8Array): void {
    this.#hasher.update(chunk);
    if (!this.#is_valid || (this.#waiting.length === 0 && isAscii(chunk))) return;
    this.#is_ascii = false;
    const bytes = Buffer.concat([this.#waiting, chunk]);
    const end = bytes.length - cutOff(bytes);
    this.#is_valid = isUtf8(bytes.subarray(0, end));
    this.#waiting = bytes.subarray(end);
  }

  /** SHA-256 in lower-case hex; nothing can be told after it. */
  sha256(): string {
    this.#sha256 ??= this.#hasher.digest('hex');
    return this.#sha256;
  }

  /** Whether all of it is UTF-8, and not ASCII alone. */
  get is_utf8(): boolean {
    return this.#is_valid && !this.#is_ascii && this.#waiting.length === 0;
  }
}

/** How many bytes at the end begin a character that they don't complete. */
function cutOff(bytes: Buffer): number {
  for (let length = 1; length <= Math.min(MAX_BYTES_WAITING, bytes.length); length += 1) {
    const byte = bytes[bytes.length - length] ?? 0;
    // What goes on a character tells nothing; its first byte tells how long it is.
    if (byte >> 6 === 0b10) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needed > length ? length : 0;
  }
  return 0;
}

/** Of a file that is there. It takes about two seconds for each gigabyte: for threads and commands. */
export async function factsOfFile(path: string): Promise<{ sha256: string; is_utf8: boolean }> {
  const facts = new ContentFacts();
  for await (const chunk of Bun.file(path).stream()) facts.update(chunk);
  return { sha256: facts.sha256(), is_utf8: facts.is_utf8 };
}
