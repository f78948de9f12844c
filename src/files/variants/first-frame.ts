/** The first frame of an animated WebP as a WebP of its own: the runtime's pipeline reads none with several. */

const HEAD_BYTES = 12;
/** Name and length of a chunk. */
const CHUNK_HEAD_BYTES = 8;
/** What an ANMF chunk says of its frame before the frame itself. */
const FRAME_HEAD_BYTES = 16;
const IS_ANIMATED = 0x02;
const HAS_PROFILE = 0x20;
const HAS_ALPHA = 0x10;

/**
 * The bytes as they are, unless they are an animated WebP (the container's specification: developers.google.com/speed/webp/docs/riff_container)
 * whose first frame fills it, as those that encoders write do.
 */
export function firstFrameOf(bytes: Uint8Array): Uint8Array {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (nameAt(file, 0) !== 'RIFF' || nameAt(file, 8) !== 'WEBP') return bytes;
  const chunks = [...chunksOf(file.subarray(HEAD_BYTES))];
  const canvas = chunks.find(({ name }) => name === 'VP8X')?.data;
  const frame = chunks.find(({ name }) => name === 'ANMF')?.data;
  if (!canvas || !frame || canvas.length < 10 || frame.length < FRAME_HEAD_BYTES) return bytes;
  const fills = frame.readUIntLE(0, 6) === 0 && frame.subarray(6, 12).equals(canvas.subarray(4, 10));
  if (((canvas[0] ?? 0) & IS_ANIMATED) === 0 || !fills) return bytes;
  const profile = chunks.find(({ name }) => name === 'ICCP')?.whole;
  const head = Buffer.from(canvas);
  head[0] = ((canvas[0] ?? 0) & HAS_ALPHA) | (profile ? HAS_PROFILE : 0);
  const parts = [chunkOf('VP8X', head), ...(profile ? [profile] : []), frame.subarray(FRAME_HEAD_BYTES)];
  return chunkOf('RIFF', Buffer.concat([Buffer.from('WEBP'), ...parts]));
}

interface Chunk {
  name: string;
  data: Buffer;
  /** With its head, and the byte that fills it up to an even length. */
  whole: Buffer;
}

function* chunksOf(body: Buffer): Generator<Chunk> {
  for (let at = 0; at + CHUNK_HEAD_BYTES <= body.length; ) {
    const start = at + CHUNK_HEAD_BYTES;
    const end = start + body.readUInt32LE(at + 4);
    const next = end + (end % 2);
    yield { name: nameAt(body, at), data: body.subarray(start, end), whole: body.subarray(at, next) };
    at = next;
  }
}

function chunkOf(name: string, data: Buffer): Buffer {
  const head = Buffer.alloc(CHUNK_HEAD_BYTES);
  head.write(name, 'latin1');
  head.writeUInt32LE(data.length, 4);
  return Buffer.concat([head, data]);
}

function nameAt(file: Buffer, at: number): string {
  return file.toString('latin1', at, at + 4);
}
