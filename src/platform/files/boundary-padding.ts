/**
 * Spaces and tabs between a boundary and the end of its line mean nothing (RFC 2046, 5.1.1), and are not for
 * the parser, which would take them for a header.
 */

const SPACE = 0x20;
const TAB = 0x09;
const CR = 0x0d;

export class BoundaryPadding {
  readonly #boundary: Buffer;
  /** The bytes before those that come, as far as a boundary may begin in them. The body begins a line. */
  #before: Buffer = Buffer.from('\r\n');
  #is_behind_boundary = false;
  #is_padded = false;

  constructor(boundary: string) {
    this.#boundary = Buffer.from(`\r\n--${boundary}`);
  }

  /** The bytes of a body without that padding, as they come. */
  *without(bytes: Buffer): Generator<Buffer> {
    for (let rest = bytes; rest.length > 0; ) {
      if (this.#is_behind_boundary) {
        const padding = rest.findIndex((byte) => byte !== SPACE && byte !== TAB);
        if (padding !== 0) this.#is_padded = true;
        if (padding < 0) return;
        // Before anything else it is none, and the line is as wrong as it was.
        if (this.#is_padded && rest[padding] !== CR) yield Buffer.of(SPACE);
        rest = rest.subarray(padding);
        this.#is_behind_boundary = false;
        this.#is_padded = false;
      }
      const all = Buffer.concat([this.#before, rest]);
      const at = all.indexOf(this.#boundary);
      this.#is_behind_boundary = at >= 0;
      const end = at < 0 ? rest.length : at + this.#boundary.length - this.#before.length;
      this.#before = at < 0 ? all.subarray(1 - this.#boundary.length) : Buffer.alloc(0);
      yield rest.subarray(0, end);
      rest = rest.subarray(end);
    }
  }
}
