/** Cuts a piece out of an image. The runtime's pipeline can't: between two passes of it, rows are cut. */
import { createInflate } from 'node:zlib';
import {
  bufferOf,
  type Chunk,
  PNG_CHUNK_FRAME_BYTES,
  PNG_CHUNK_HEAD_BYTES,
  PNG_SIGNATURE_BYTES,
  pngChunks,
} from './chunks.ts';

interface Piece {
  left: number;
  top: number;
  width: number;
  height: number;
}

const HEADER_BYTES = 13;
const BYTES_A_PIXEL = 4;
/** An uncompressed zlib stream (RFC 1950, 2.2; RFC 1951, 3.2.4): two bytes, blocks with heads, a checksum. */
const STREAM_HEAD = [0x78, 0x01];
const BLOCK_HEAD_BYTES = 5;
/** The largest prime below 2^16 (RFC 1950, 8.2). */
const ADLER_BASE = 65_521;

/**
 * A piece, at most 16,000 pixels wide, of a PNG as the pipeline writes it uncompressed: 8 bits of red, green,
 * blue and alpha, rows without a filter. Its colour profile stays. Throws for any other. Both may be large,
 * and neither is copied.
 */
export async function cropPng(png: Uint8Array, piece: Piece): Promise<Uint8Array> {
  const bytes = bufferOf(png);
  const chunks = [...pngChunks(bytes)];
  const header = Buffer.from(chunks.find(({ name }) => name === 'IHDR')?.data ?? []);
  if (header.subarray(8).toString('hex') !== '0806000000') throw new Error('not a PNG of the pipeline');
  const source_width = header.readUInt32BE(0);
  header.writeUInt32BE(piece.width, 0);
  header.writeUInt32BE(piece.height, 4);
  const profile = chunks.find(({ name }) => name === 'iCCP');
  const block_bytes = BLOCK_HEAD_BYTES + 1 + piece.width * BYTES_A_PIXEL;
  const data_bytes = STREAM_HEAD.length + piece.height * block_bytes + 4;
  const profile_bytes = profile ? PNG_CHUNK_FRAME_BYTES + profile.data.length : 0;
  const file = Buffer.alloc(
    PNG_SIGNATURE_BYTES + 3 * PNG_CHUNK_FRAME_BYTES + HEADER_BYTES + profile_bytes + data_bytes,
  );
  bytes.copy(file, 0, 0, PNG_SIGNATURE_BYTES);
  let at = PNG_SIGNATURE_BYTES;
  /** Lays out the next chunk; its data are to be written by the time that its checksum is. */
  const addChunk = async (
    type: string,
    length: number,
    fill: (data: Buffer) => Promise<void> | void,
  ): Promise<void> => {
    const data = file.subarray(at + PNG_CHUNK_HEAD_BYTES, at + PNG_CHUNK_HEAD_BYTES + length);
    file.writeUInt32BE(length, at);
    file.write(type, at + 4, 'latin1');
    await fill(data);
    file.writeUInt32BE(
      Bun.hash.crc32(file.subarray(at + 4, at + PNG_CHUNK_HEAD_BYTES + length)),
      at + PNG_CHUNK_HEAD_BYTES + length,
    );
    at += PNG_CHUNK_FRAME_BYTES + length;
  };
  await addChunk('IHDR', HEADER_BYTES, (data) => void header.copy(data));
  if (profile) await addChunk('iCCP', profile.data.length, (data) => void profile.data.copy(data));
  await addChunk('IDAT', data_bytes, async (data) => {
    data.set(STREAM_HEAD);
    const blocks = data.subarray(STREAM_HEAD.length, -4);
    await cutRows(chunks, source_width, { ...piece, blocks, block_bytes });
    data.writeUInt32BE(sealBlocks(blocks, block_bytes), data_bytes - 4);
  });
  await addChunk('IEND', 0, () => {});
  return file;
}

/** Puts the piece's rows into their blocks, each behind its filter's byte, as the source unpacks. */
async function cutRows(
  chunks: readonly Chunk[],
  source_width: number,
  piece: Piece & { blocks: Buffer; block_bytes: number },
): Promise<void> {
  const { blocks, block_bytes } = piece;
  const source_row = 1 + source_width * BYTES_A_PIXEL;
  const from = 1 + piece.left * BYTES_A_PIXEL;
  const end = from + piece.width * BYTES_A_PIXEL;
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  for (const { name, data } of chunks) if (name === 'IDAT') inflate.write(data);
  inflate.end();
  let at = 0;
  for await (const unpacked of inflate as AsyncIterable<Buffer>) {
    for (let read = 0; read < unpacked.length; ) {
      const y = Math.floor(at / source_row) - piece.top;
      const x = at % source_row;
      const length = Math.min(source_row - x, unpacked.length - read);
      if (x === 0 && unpacked[read] !== 0) throw new Error('a row of the PNG has a filter');
      const [first, last] = [Math.max(x, from), Math.min(x + length, end)];
      if (y >= 0 && y < piece.height && first < last) {
        const place = y * block_bytes + BLOCK_HEAD_BYTES + 1 + first - from;
        unpacked.copy(blocks, place, read + first - x, read + last - x);
      }
      at += length;
      read += length;
    }
  }
}

/** Writes the head of each block, which is a row. Returns the checksum (Adler-32) of all rows. */
function sealBlocks(blocks: Buffer, block_bytes: number): number {
  const length = block_bytes - BLOCK_HEAD_BYTES;
  let [a, b] = [1, 0];
  for (let at = 0; at < blocks.length; at += block_bytes) {
    blocks[at] = at + block_bytes === blocks.length ? 1 : 0;
    blocks.writeUInt16LE(length, at + 1);
    blocks.writeUInt16LE(0xffff - length, at + 3);
    const row = Bun.hash.adler32(blocks.subarray(at + BLOCK_HEAD_BYTES, at + block_bytes));
    b = (b + (row >>> 16) + length * (a - 1)) % ADLER_BASE;
    a = (a + (row & 0xffff) - 1) % ADLER_BASE;
  }
  return b * 65_536 + a;
}
