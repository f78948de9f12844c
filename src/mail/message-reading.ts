/**
 * Reads a message as it comes, a line at a time and each once: refuses what none may have, and takes out of its header what is for
 * this server alone. The bytes that it gives back are those that are kept and sent.
 */
import { BrokenMessage, boundaryOf, type Field, readFields } from './header-section.ts';

/** Decision: what one section of header fields may have, that of the message or of a part. */
const SMTP_HEADER_BYTES = 256 * 1024;
/** RFC 5322, 2.1.1: octets of a line without its CRLF. */
const SMTP_LINE_BYTES = 998;
/** Decision: MIME parts of a message, and how deep they may stand in one another. */
const SMTP_PARTS = 500;
const SMTP_PART_DEPTH = 20;

const CR = 0x0d;
const LF = 0x0a;
const DASH = 0x2d;
const NOTHING = Buffer.alloc(0);
const CRLF = Buffer.from('\r\n');

/** A part that has no parts: its header, and from and up to where its body stands in the message. */
export interface Leaf {
  fields: Field[];
  from: number;
  to: number;
}

/** Fields that are for this server, and for nobody behind it. */
function isOurs({ name }: Field): boolean {
  return name === 'bcc' || name === 'resent-bcc' || name === 'return-path' || name.startsWith('x-satchel-');
}

interface ReaderOptions {
  /** What fields are added to those of the message, as they stand in a header. */
  complete?: (fields: readonly Field[]) => string;
  /** Whether it is asked for `leaves`, whose headers can be all of a message. */
  keeps_leaves?: boolean;
}

export class MessageReader {
  /** Of the message, once its header is over. */
  fields: Field[] | null = null;
  /** In their order; a message without parts is one. */
  readonly leaves: Leaf[] = [];
  /** The beginning of a line whose end is yet to come. */
  #carry: Buffer = NOTHING;
  /** What lines are part of; `between` is before, behind and around parts. */
  #place: 'header' | 'body' | 'between' = 'header';
  #section: Buffer[] = [];
  #section_bytes = 0;
  #parts = 0;
  /** What delimits the multiparts that are open, the outermost first. */
  #open: string[] = [];
  /** How long the shortest of these is. */
  #shortest = Number.POSITIVE_INFINITY;
  /** Where the next line begins in the message. */
  #offset = 0;

  constructor(private readonly options: ReaderOptions = {}) {}

  /** Takes more of the message, and gives back what of it is to be kept by now. Throws BrokenMessage. */
  take(chunk: Buffer): Buffer {
    if (chunk.includes(0)) throw new BrokenMessage('it has a NUL');
    const data = this.#carry.length > 0 ? Buffer.concat([this.#carry, chunk]) : chunk;
    let header: Buffer = NOTHING;
    let kept_from = 0;
    let from = 0;
    for (let lf = indexOf(data, LF, 0); lf >= 0; lf = indexOf(data, LF, from)) {
      if (lf - 1 - from > SMTP_LINE_BYTES) throw tooLong();
      if (lf === from || indexOf(data, CR, from) !== lf - 1)
        throw new BrokenMessage('it has a CR or an LF that is no CRLF');
      const was_in_header = this.fields === null;
      this.#takeLine(data, from, lf - 1);
      from = lf + 1;
      if (!was_in_header || this.fields === null) continue;
      header = this.#keptHeader(this.fields);
      kept_from = from;
    }
    this.#carry = data.subarray(from);
    if (this.#carry.length > SMTP_LINE_BYTES + 1) throw tooLong();
    if (this.fields === null) return NOTHING;
    const body = data.subarray(kept_from, from);
    return header.length > 0 ? Buffer.concat([header, body]) : body;
  }

  /** The message is over. Gives back what is left of it to be kept; throws as `take` does. */
  end(): Buffer {
    if (this.#carry.length > 0) throw new BrokenMessage('its last line has no CRLF');
    const is_header_alone = this.fields === null;
    if (this.#place === 'header') this.#endSection();
    this.#endLeaf(this.#offset);
    return is_header_alone && this.fields ? this.#keptHeader(this.fields) : NOTHING;
  }

  #keptHeader(fields: readonly Field[]): Buffer {
    const kept = fields.filter((field) => !isOurs(field)).map(({ bytes }) => bytes);
    return Buffer.concat([...kept, Buffer.from(this.options.complete?.(fields) ?? ''), CRLF]);
  }

  #takeLine(data: Buffer, from: number, to: number): void {
    const began = this.#offset;
    this.#offset += to - from + 2;
    const is_long = to - from >= this.#shortest;
    const may_delimit = is_long && data[from] === DASH && data[from + 1] === DASH;
    if (may_delimit && this.#isDelimiter(data.toString('latin1', from, to).trimEnd(), began)) return;
    if (this.#place !== 'header') return;
    if (from === to) {
      this.#endSection();
      return;
    }
    this.#section.push(data.subarray(from, to + 2));
    this.#section_bytes += to - from + 2;
    if (this.#section_bytes > SMTP_HEADER_BYTES)
      throw new BrokenMessage(`a header section has more than ${SMTP_HEADER_BYTES} bytes`);
  }

  /** Takes a line that stands between parts, or ends the last one; that of an outer multipart ends those within it too. */
  #isDelimiter(line: string, began: number): boolean {
    const level = this.#open.findLastIndex(
      (one) => line.startsWith(one) && (line.length === one.length || line.slice(one.length) === '--'),
    );
    const delimiter = this.#open[level];
    if (delimiter === undefined) return false;
    if (this.#place === 'header') this.#endSection();
    // The line break before it is its own.
    this.#endLeaf(began - 2);
    const is_last = line.length > delimiter.length;
    this.#open.length = is_last ? level : level + 1;
    this.#shortest = Math.min(...this.#open.map(({ length }) => length));
    this.#place = is_last ? 'between' : 'header';
    if (!is_last) this.#parts += 1;
    if (this.#parts > SMTP_PARTS) throw new BrokenMessage(`it has more than ${SMTP_PARTS} parts`);
    return true;
  }

  #endSection(): void {
    const fields = readFields(Buffer.concat(this.#section));
    this.#section = [];
    this.#section_bytes = 0;
    this.fields ??= fields;
    const boundary = boundaryOf(fields);
    this.#place = boundary === null ? 'body' : 'between';
    if (boundary !== null) {
      this.#open.push(`--${boundary}`);
      this.#shortest = Math.min(this.#shortest, boundary.length + 2);
    } else if (this.options.keeps_leaves) this.leaves.push({ fields, from: this.#offset, to: -1 });
    if (this.#open.length > SMTP_PART_DEPTH)
      throw new BrokenMessage(`its parts stand deeper than ${SMTP_PART_DEPTH} in one another`);
  }

  #endLeaf(at: number): void {
    const leaf = this.leaves.at(-1);
    if (leaf?.to === -1) leaf.to = Math.max(leaf.from, at);
  }
}

/** Short lines are read without a call of the library, which takes longer than to look at some bytes. */
const NEAR_BYTES = 16;

function indexOf(data: Buffer, byte: number, from: number): number {
  const near = Math.min(from + NEAR_BYTES, data.length);
  for (let at = from; at < near; at += 1) if (data[at] === byte) return at;
  return near < data.length ? data.indexOf(byte, near) : -1;
}

function tooLong(): BrokenMessage {
  return new BrokenMessage(`a line has more than ${SMTP_LINE_BYTES} characters`);
}
