/**
 * Writes a text piece by piece, up to a bound. So a short Markdown text that refers to a long address many
 * times never becomes a huge body.
 */

export class TooLong extends Error {}

export class Writer {
  readonly #parts: string[] = [];
  #bytes_left: number;

  /** `max_bytes` are of UTF-8. */
  constructor(max_bytes: number) {
    this.#bytes_left = max_bytes;
  }

  /** Throws TooLong. */
  write(text: string): void {
    this.#bytes_left -= Buffer.byteLength(text);
    if (this.#bytes_left < 0) throw new TooLong();
    this.#parts.push(text);
  }

  toString(): string {
    return this.#parts.join('');
  }
}
