/**
 * PNGs without compression, whose rows have no filter. That is how pixels come out of the runtime's pipeline,
 * with 8 bits of red, green, blue and alpha, and how they go in again.
 */
import { createInflate } from 'node:zlib';
import {
  bufferOf,
  PNG_CHUNK_FRAME_BYTES,
  PNG_CHUNK_HEAD_BYTES,
  PNG_SIGNATURE_BYTES,
  pngChunks,
} from './chunks.ts';

export interface Sides {
  width: number;
  height: number;
}

/** How a pixel is written: its bits in all, and depth and colour type in a PNG's header (PNG, 11.2.2). */
export interface Pixels {
  bits: number;
  depth: number;
  type: number;
}

export const RGB: Pixels = { bits: 24, depth: 8, type: 2 };
export const RGBA: Pixels = { bits: 32, depth: 8, type: 6 };
export const BYTES_A_PIXEL = 4;
const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const HEADER_BYTES = 13;
/** An uncompressed zlib stream (RFC 1950, 2.2; RFC 1951, 3.2.4): two bytes, blocks with heads, a checksum. */
const STREAM_HEAD = Buffer.from([0x78, 0x01]);
const BLOCK_HEAD_BYTES = 5;
const MAX_BLOCK_BYTES = 0xffff;
const CHECKSUM_BYTES = 4;
/** The largest prime below 2^16 (RFC 1950, 8.2). */
const ADLER_BASE = 65_521;
const NO_FILTER = Buffer.from([0]);

/** Writes one row by row. It may be large, and is never copied. */
export class PlainPng {
  readonly #file: Buffer;
  #at = 0;
  /** Where its data begin, and how many bytes of rows are to come. */
  readonly #data_at: number;
  #left: number;
  #left_in_block = 0;
  #adler = { a: 1, b: 0 };

  /** `before` are chunks that stand before the data, of one name each. */
  constructor({ width, height }: Sides, pixels: Pixels, before: Readonly<Record<string, Buffer>> = {}) {
    this.#left = height * (1 + Math.ceil((width * pixels.bits) / 8));
    const blocks = Math.ceil(this.#left / MAX_BLOCK_BYTES);
    const data_bytes = STREAM_HEAD.length + blocks * BLOCK_HEAD_BYTES + this.#left + CHECKSUM_BYTES;
    const chunks_bytes = [HEADER_BYTES, ...Object.values(before).map(({ length }) => length), data_bytes, 0];
    this.#file = Buffer.alloc(
      chunks_bytes.reduce((sum, length) => sum + PNG_CHUNK_FRAME_BYTES + length, SIGNATURE.length),
    );
    this.#put(SIGNATURE);
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt32BE(width, 0);
    header.writeUInt32BE(height, 4);
    header.set([pixels.depth, pixels.type], 8);
    this.#putChunk('IHDR', header);
    for (const [name, data] of Object.entries(before)) this.#putChunk(name, data);
    this.#data_at = this.#beginChunk('IDAT', data_bytes);
    this.#put(STREAM_HEAD);
  }

  /** The next row, whose last byte may not be full. */
  addRow(pixels: Uint8Array): void {
    this.#putBlocks(NO_FILTER);
    this.#putBlocks(pixels);
  }

  /** The file, once all rows are in it. */
  finish(): Buffer {
    const { a, b } = this.#adler;
    this.#at = this.#file.writeUInt32BE(b * 65_536 + a, this.#at);
    this.#endChunk(this.#data_at);
    this.#putChunk('IEND', Buffer.alloc(0));
    return this.#file;
  }

  #put(bytes: Uint8Array): void {
    this.#file.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  #putChunk(name: string, data: Uint8Array): void {
    const data_at = this.#beginChunk(name, data.length);
    this.#put(data);
    this.#endChunk(data_at);
  }

  #beginChunk(name: string, length: number): number {
    this.#file.writeUInt32BE(length, this.#at);
    this.#file.write(name, this.#at + 4, 'latin1');
    this.#at += PNG_CHUNK_HEAD_BYTES;
    return this.#at;
  }

  #endChunk(data_at: number): void {
    this.#at = this.#file.writeUInt32BE(Bun.hash.crc32(this.#file.subarray(data_at - 4, this.#at)), this.#at);
  }

  #putBlocks(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length; ) {
      if (this.#left_in_block === 0) {
        this.#left_in_block = Math.min(this.#left, MAX_BLOCK_BYTES);
        this.#file[this.#at] = this.#left_in_block === this.#left ? 1 : 0;
        this.#file.writeUInt16LE(this.#left_in_block, this.#at + 1);
        this.#file.writeUInt16LE(MAX_BLOCK_BYTES - this.#left_in_block, this.#at + 3);
        this.#at += BLOCK_HEAD_BYTES;
      }
      const part = bytes.subarray(from, from + this.#left_in_block);
      this.#put(part);
      from += part.length;
      this.#left -= part.length;
      this.#left_in_block -= part.length;
    }
    const { a, b } = this.#adler;
    const added = Bun.hash.adler32(bytes);
    this.#adler = {
      a: (a + (added & 0xffff) - 1) % ADLER_BASE,
      b: (b + (added >>> 16) + bytes.length * (a - 1)) % ADLER_BASE,
    };
  }
}

/** The sides and the colour profile of a PNG of the pipeline. Throws for any other. */
export function readPlainHead(png: Uint8Array): Sides & { profile: Buffer | null } {
  let profile: Buffer | null = null;
  const bytes = bufferOf(png);
  for (const { name, data } of pngChunks(bytes)) {
    if (name === 'iCCP') profile = data;
    if (name === 'IDAT') break;
  }
  const header = bytes.subarray(PNG_SIGNATURE_BYTES + PNG_CHUNK_HEAD_BYTES).subarray(0, HEADER_BYTES);
  if (header[8] !== RGBA.depth || header[9] !== RGBA.type) throw new Error('not a PNG of the pipeline');
  return { width: header.readUInt32BE(0), height: header.readUInt32BE(4), profile };
}

/** Calls `take` with the pixels of each row as it unpacks, which are its own until it returns. */
export async function eachPlainRow(
  png: Uint8Array,
  { width }: Sides,
  take: (pixels: Buffer, y: number) => void,
): Promise<void> {
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  for (const { name, data } of pngChunks(bufferOf(png))) if (name === 'IDAT') inflate.write(data);
  inflate.end();
  const row = Buffer.alloc(1 + width * BYTES_A_PIXEL);
  let filled = 0;
  let y = 0;
  for await (const unpacked of inflate as AsyncIterable<Buffer>) {
    for (let read = 0; read < unpacked.length; ) {
      const length = unpacked.copy(row, filled, read);
      filled += length;
      read += length;
      if (filled < row.length) continue;
      if (row[0] !== 0) throw new Error('a row of the PNG has a filter');
      take(row.subarray(1), y);
      filled = 0;
      y += 1;
    }
  }
}
