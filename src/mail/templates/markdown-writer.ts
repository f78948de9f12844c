/**
 * A text that is written piece by piece and may not outgrow its bound: what refers to one address many times
 * is never built.
 */

export class TooLong extends Error {}

export class Writer {
  readonly #parts: string[] = [];
  #bytes_left: number;

  /** Of at most so many bytes of UTF-8. */
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
