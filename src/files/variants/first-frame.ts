/** The first frame of an animated WebP as a WebP: the runtime's pipeline reads none with several. */
import { type Chunk, riffChunk, webpChunks } from './chunks.ts';

/** What an ANMF chunk says of its frame before the frame itself. */
const FRAME_HEAD_BYTES = 16;
const CANVAS_BYTES = 10;
/** Flags of VP8X. */
const IS_ANIMATED = 0x02;
const HAS_PROFILE = 0x20;
const HAS_ALPHA = 0x10;

/** The file, or the first frame of an animated WebP that it fills, as encoders write it. */
export function firstFrameOf(file: Buffer): Buffer {
  const found = new Map<string, Chunk>();
  for (const chunk of webpChunks(file)) {
    if (chunk.name === 'VP8X' || chunk.name === 'ICCP' || chunk.name === 'ANMF') found.set(chunk.name, chunk);
    // What is not animated begins with its image, or has it in place of frames.
    if (chunk.name === 'ANMF' || chunk.name.startsWith('VP8 ') || chunk.name === 'VP8L') break;
  }
  const canvas = found.get('VP8X')?.data;
  const frame = found.get('ANMF')?.data;
  if (!canvas || !frame || canvas.length < CANVAS_BYTES || frame.length < FRAME_HEAD_BYTES) return file;
  const flags = canvas[0] ?? 0;
  const fills =
    frame.readUIntLE(0, 6) === 0 && frame.subarray(6, 12).equals(canvas.subarray(4, CANVAS_BYTES));
  if ((flags & IS_ANIMATED) === 0 || !fills) return file;
  const profile = found.get('ICCP')?.whole;
  const head = Buffer.from(canvas);
  head[0] = (flags & HAS_ALPHA) | (profile ? HAS_PROFILE : 0);
  const parts = [riffChunk('VP8X', head), ...(profile ? [profile] : []), frame.subarray(FRAME_HEAD_BYTES)];
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...parts]));
}
