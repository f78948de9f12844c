/**
 * The files that a message brings, however they are packed: as they are, by gzip, in a zip of several, or packed twice in these. What they
 * may cost is bounded for the whole message.
 */
import { crc32, inflateRawSync } from 'node:zlib';

/** Contract: of a whole message. */
const MAX_UNPACKED_BYTES = 10 * 1024 * 1024;
const MAX_ROWS = 10_000;
const MAX_FILES = 50;
/** What is packed once more is refused. */
const MAX_LAYERS = 2;

/** Why nothing could be read. */
export const UNREAD_REASONS = ['too_large', 'doctype', 'encrypted', 'broken'] as const;
export type UnreadReason = (typeof UNREAD_REASONS)[number];

/** A file is no report that is read; `too_large` is one of the message's bounds. */
export class Refused extends Error {
  constructor(readonly reason: UnreadReason) {
    super(reason);
  }
}

/** What is left of a message's bounds. */
export class ReportBudget {
  #bytes = MAX_UNPACKED_BYTES;
  #rows = MAX_ROWS;
  #files = MAX_FILES;

  get bytes(): number {
    return this.#bytes;
  }

  takeBytes(n: number): void {
    this.#bytes = left(this.#bytes, n);
  }

  takeRows(n: number): void {
    this.#rows = left(this.#rows, n);
  }

  takeFile(): void {
    this.#files = left(this.#files, 1);
  }
}

function left(of: number, taken: number): number {
  if (taken > of) throw new Refused('too_large');
  return of - taken;
}

const is = (bytes: Buffer, magic: string, at = 0): boolean =>
  bytes.toString('latin1', at, at + magic.length) === magic;
const isGzip = (bytes: Buffer): boolean => is(bytes, '\x1f\x8b');
const isZip = (bytes: Buffer): boolean => is(bytes, 'PK\x03\x04') || is(bytes, 'PK\x05\x06');

/**
 * Hands each file on, or why one could not be had; other files count all the same. Throws Refused past a bound.
 */
export function eachFile(
  bytes: Buffer,
  budget: ReportBudget,
  on: { file(bytes: Buffer): void; refused(reason: UnreadReason): void },
  layer = 0,
): void {
  if (!isGzip(bytes) && !isZip(bytes)) {
    budget.takeFile();
    on.file(bytes);
    return;
  }
  if (layer === MAX_LAYERS) {
    on.refused('broken');
    return;
  }
  try {
    for (const unpack of isGzip(bytes) ? [() => gunzip(bytes, budget)] : entriesOf(bytes, budget)) {
      const inner = orRefused(unpack, on.refused);
      if (inner) eachFile(inner, budget, on, layer + 1);
    }
  } catch (error) {
    on.refused(reasonOf(error));
  }
}

/** A bound ends all of it; whatever else is wrong with a file is that file's. */
function orRefused(unpack: () => Buffer, refused: (reason: UnreadReason) => void): Buffer | null {
  try {
    return unpack();
  } catch (error) {
    refused(reasonOf(error));
    return null;
  }
}

function reasonOf(error: unknown): UnreadReason {
  const reason = error instanceof Refused ? error.reason : 'broken';
  if (reason === 'too_large') throw error;
  return reason;
}

/** RFC 1952: its members are one text; what stands behind the last is left. */
function gunzip(bytes: Buffer, budget: ReportBudget): Buffer {
  const texts: Buffer[] = [];
  for (let at = 0; at === 0 || is(bytes, '\x1f\x8b', at); ) {
    const start = endOfGzipHeader(bytes, at);
    const { text, end } = inflate(bytes.subarray(start), budget);
    at = start + end + 8;
    if (at > bytes.length || bytes.readUInt32LE(at - 8) !== crc32(text)) throw new Refused('broken');
    texts.push(text);
  }
  return Buffer.concat(texts);
}

function endOfGzipHeader(bytes: Buffer, at: number): number {
  const flags = bytes.readUInt8(at + 3);
  let end = at + 10;
  if (flags & 4) end += 2 + bytes.readUInt16LE(end);
  for (const flag of [8, 16]) if (flags & flag) end = bytes.indexOf(0, end) + 1 || bytes.length;
  return flags & 2 ? end + 2 : end;
}

/** Unpacks up to the end that the bytes have in themselves, and says where that is. */
function inflate(packed: Buffer, budget: ReportBudget): { text: Buffer; end: number } {
  const options = { info: true, maxOutputLength: budget.bytes + 1 };
  let inflated: unknown;
  try {
    inflated = inflateRawSync(packed, options);
  } catch (error) {
    throw new Refused(isTooLarge(error) ? 'too_large' : 'broken');
  }
  const { buffer, engine } = inflated as { buffer: Buffer; engine: { bytesWritten: number } }; // What `info` gives.
  budget.takeBytes(buffer.length);
  return { text: buffer, end: engine.bytesWritten };
}

const isTooLarge = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';

/** The files of a zip (APPNOTE 4.3), by its directory: a file's own header may lack its length. */
function* entriesOf(bytes: Buffer, budget: ReportBudget): Generator<() => Buffer> {
  const end = bytes.lastIndexOf('PK\x05\x06', bytes.length, 'latin1');
  if (end === -1) throw new Refused('broken');
  const count = bytes.readUInt16LE(end + 10);
  let at = bytes.readUInt32LE(end + 16);
  for (let n = 0; n < count; n += 1) {
    if (!is(bytes, 'PK\x01\x02', at)) throw new Refused('broken');
    const entry = bytes.subarray(at);
    const [name_length, ...others] = [28, 30, 32].map((place) => entry.readUInt16LE(place));
    const name = entry.toString('latin1', 46, 46 + (name_length ?? 0));
    at += 46 + (name_length ?? 0) + others.reduce((sum, length) => sum + length, 0);
    if (!name.endsWith('/') && !/(?:^|\/)__MACOSX\//.test(name)) yield () => unzip(bytes, entry, budget);
  }
}

function unzip(bytes: Buffer, entry: Buffer, budget: ReportBudget): Buffer {
  if ((entry.readUInt16LE(8) & 1) === 1) throw new Refused('encrypted');
  const [method, packed_bytes, file] = [
    entry.readUInt16LE(10),
    entry.readUInt32LE(20),
    entry.readUInt32LE(42),
  ];
  if (!is(bytes, 'PK\x03\x04', file)) throw new Refused('broken');
  const start = file + 30 + bytes.readUInt16LE(file + 26) + bytes.readUInt16LE(file + 28);
  const packed = bytes.subarray(start, start + packed_bytes);
  if (packed.length !== packed_bytes || (method !== 0 && method !== 8)) throw new Refused('broken');
  if (method === 8) return inflate(packed, budget).text;
  budget.takeBytes(packed.length);
  return packed;
}

/** A text by its bytes, whatever it says of itself: by its mark, as UTF-16, as UTF-8, else as Windows writes it. */
export function decode(bytes: Buffer): string {
  if (is(bytes, '\xff\xfe') || is(bytes, '<\0')) return bytes.toString('utf16le');
  if (is(bytes, '\xfe\xff') || is(bytes, '\0<'))
    return Buffer.from(bytes.subarray(0, bytes.length & ~1))
      .swap16()
      .toString('utf16le');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
