/** The parts that PNG and WebP files consist of, one by one: a hostile file may have millions. */

export interface Chunk {
  name: string;
  data: Buffer;
  /** The data with all that frames them. */
  whole: Buffer;
}

/** Length and name before the data of a PNG's chunk, a checksum behind it (PNG, 5.3). */
export const PNG_SIGNATURE_BYTES = 8;
export const PNG_CHUNK_HEAD_BYTES = 8;
export const PNG_CHUNK_FRAME_BYTES = PNG_CHUNK_HEAD_BYTES + 4;

/** The chunks of a PNG; none where it is no PNG. */
export function* pngChunks(file: Buffer): Generator<Chunk> {
  if (nameAt(file, 1) !== 'PNG\r') return;
  for (let at = PNG_SIGNATURE_BYTES; at + PNG_CHUNK_FRAME_BYTES <= file.length; ) {
    const start = at + PNG_CHUNK_HEAD_BYTES;
    const end = start + file.readUInt32BE(at);
    const next = end + PNG_CHUNK_FRAME_BYTES - PNG_CHUNK_HEAD_BYTES;
    yield { name: nameAt(file, at + 4), data: file.subarray(start, end), whole: file.subarray(at, next) };
    at = next;
  }
}

/** `RIFF`, the length of all that follows, `WEBP`. */
const WEBP_HEAD_BYTES = 12;
/** An animation has some thousand frames at most. Millions of empty ones would take a gigabyte. */
const MAX_CHUNKS = 10_000;
/** Name and length. */
const RIFF_CHUNK_HEAD_BYTES = 8;

/** The first chunks of a WebP (developers.google.com/speed/webp/docs/riff_container), else none. */
export function* webpChunks(file: Buffer): Generator<Chunk> {
  if (nameAt(file, 0) !== 'RIFF' || nameAt(file, 8) !== 'WEBP') return;
  let left = MAX_CHUNKS;
  for (let at = WEBP_HEAD_BYTES; left > 0 && at + RIFF_CHUNK_HEAD_BYTES <= file.length; left -= 1) {
    const start = at + RIFF_CHUNK_HEAD_BYTES;
    const end = start + file.readUInt32LE(at + 4);
    // Filled up to an even length.
    const next = end + (end % 2);
    yield { name: nameAt(file, at), data: file.subarray(start, end), whole: file.subarray(at, next) };
    at = next;
  }
}

/** A chunk of a WebP, or the whole of one. */
export function riffChunk(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(RIFF_CHUNK_HEAD_BYTES);
  head.write(name, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data]);
}

/** The same bytes. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function nameAt(file: Buffer, at: number): string {
  return file.toString('latin1', at, at + 4);
}
