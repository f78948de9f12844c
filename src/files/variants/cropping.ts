/** Cutting a piece out of an image, which the runtime's pipeline does not do: between two passes of it, rows are cut. */
import { createInflate, deflateSync } from 'node:zlib';

interface Piece {
  left: number;
  top: number;
  width: number;
  height: number;
}

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk (PNG, 5.3). */
const CHUNK_FRAME_BYTES = 12;
const BYTES_A_PIXEL = 4;

/**
 * A piece of a PNG as the pipeline writes it without compression: 8 bits of red, green, blue and alpha, rows without a filter.
 * Its colour profile stays. Throws for any other.
 */
export async function cropPng(png: Uint8Array, piece: Piece): Promise<Uint8Array> {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  const chunks = chunksOf(bytes);
  const header = Buffer.from(chunks.find(({ type }) => type === 'IHDR')?.data ?? []);
  if (header.subarray(8).toString('hex') !== '0806000000') throw new Error('not a PNG of the pipeline');
  const rows = await cutRows(chunks, header.readUInt32BE(0), piece);
  header.writeUInt32BE(piece.width, 0);
  header.writeUInt32BE(piece.height, 4);
  return Buffer.concat([
    bytes.subarray(0, SIGNATURE_BYTES),
    chunkOf('IHDR', header),
    ...chunks.filter(({ type }) => type === 'iCCP').map(({ type, data }) => chunkOf(type, data)),
    chunkOf('IDAT', deflateSync(rows, { level: 0 })),
    chunkOf('IEND', Buffer.alloc(0)),
  ]);
}

/** The piece's rows, each behind the byte that names its filter: none. The source is gone through as it is unpacked. */
async function cutRows(chunks: readonly Chunk[], source_width: number, piece: Piece): Promise<Buffer> {
  const source_row = 1 + source_width * BYTES_A_PIXEL;
  const row = 1 + piece.width * BYTES_A_PIXEL;
  const from = 1 + piece.left * BYTES_A_PIXEL;
  const end = from + piece.width * BYTES_A_PIXEL;
  const rows = Buffer.alloc(row * piece.height);
  const inflate = createInflate({ chunkSize: 256 * 1024 });
  for (const { type, data } of chunks) if (type === 'IDAT') inflate.write(data);
  inflate.end();
  let at = 0;
  for await (const unpacked of inflate as AsyncIterable<Buffer>) {
    for (let read = 0; read < unpacked.length; ) {
      const y = Math.floor(at / source_row) - piece.top;
      const x = at % source_row;
      const length = Math.min(source_row - x, unpacked.length - read);
      if (x === 0 && unpacked[read] !== 0) throw new Error('a row of the PNG has a filter');
      const [first, last] = [Math.max(x, from), Math.min(x + length, end)];
      if (y >= 0 && y < piece.height && first < last)
        unpacked.copy(rows, y * row + 1 + first - from, read + first - x, read + last - x);
      at += length;
      read += length;
    }
  }
  return rows;
}

interface Chunk {
  type: string;
  data: Buffer;
}

function chunksOf(png: Buffer): Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    chunks.push({
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    });
    at += CHUNK_FRAME_BYTES + length;
  }
  return chunks;
}

function chunkOf(type: string, data: Buffer): Buffer {
  const chunk = Buffer.alloc(CHUNK_FRAME_BYTES + data.length);
  chunk.writeUInt32BE(data.length, 0);
  chunk.write(type, 4, 'latin1');
  data.copy(chunk, 8);
  chunk.writeUInt32BE(Bun.hash.crc32(chunk.subarray(4, 8 + data.length)), 8 + data.length);
  return chunk;
}
