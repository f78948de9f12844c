/** The first frame of a GIF or an animated WebP, and where it lies: the runtime's pipeline knows of neither. */
import { type Chunk, riffChunk, webpChunks } from './chunks.ts';
import type { Sides } from './plain-png.ts';
import type { Piece } from './repainting.ts';

/** An image that the pipeline reads, and the canvas that it lies on where it does not fill that. */
export interface Framed {
  bytes: Buffer;
  canvas: Piece | null;
}

/** What an ANMF chunk says of its frame before the frame itself. */
const FRAME_HEAD_BYTES = 16;
const CANVAS_BYTES = 10;
/** Flags of VP8X. */
const IS_ANIMATED = 0x02;
const HAS_PROFILE = 0x20;
const HAS_ALPHA = 0x10;
/** Of a GIF: its signature and the canvas; what begins a block; what follows in a frame's (GIF89a, 18, 20, 24). */
const GIF_HEAD_BYTES = 13;
const GIF_EXTENSION = 0x21;
const GIF_FRAME = 0x2c;
const GIF_FRAME_HEAD_BYTES = 9;

/** The file, or the first frame of an animated WebP. */
export function firstFrameOf(file: Buffer): Framed {
  if (file.toString('latin1', 0, 4) === 'GIF8') return { bytes: file, canvas: gifCanvas(file) };
  return firstOfWebp(file) ?? { bytes: file, canvas: null };
}

/**
 * The canvas as the frame sees it; null where that fills it. One that is lower or narrower than its frame is
 * taken for a mistake, as browsers do.
 */
function canvasAround(canvas: Sides, frame: Piece): Piece | null {
  if (canvas.width < frame.width || canvas.height < frame.height) return null;
  const fills = canvas.width === frame.width && canvas.height === frame.height;
  if (fills && frame.left === 0 && frame.top === 0) return null;
  return { left: -frame.left || 0, top: -frame.top || 0, ...canvas };
}

function firstOfWebp(file: Buffer): Framed | null {
  const found = new Map<string, Chunk>();
  for (const chunk of webpChunks(file)) {
    if (chunk.name === 'VP8X' || chunk.name === 'ICCP' || chunk.name === 'ANMF') found.set(chunk.name, chunk);
    // What is not animated begins with its image, or has it in place of frames.
    if (chunk.name === 'ANMF' || chunk.name.startsWith('VP8 ') || chunk.name === 'VP8L') break;
  }
  const canvas = found.get('VP8X')?.data;
  const frame = found.get('ANMF')?.data;
  if (!canvas || !frame || canvas.length < CANVAS_BYTES || frame.length < FRAME_HEAD_BYTES) return null;
  const flags = canvas[0] ?? 0;
  if ((flags & IS_ANIMATED) === 0) return null;
  const profile = found.get('ICCP')?.whole;
  const head = Buffer.alloc(CANVAS_BYTES);
  head[0] = HAS_ALPHA | (profile ? HAS_PROFILE : 0);
  frame.copy(head, 4, 6, 12);
  const parts = [riffChunk('VP8X', head), ...(profile ? [profile] : []), frame.subarray(FRAME_HEAD_BYTES)];
  return {
    bytes: riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...parts])),
    // Sides are written less one, and places in twos.
    canvas: canvasAround(
      { width: canvas.readUIntLE(4, 3) + 1, height: canvas.readUIntLE(7, 3) + 1 },
      {
        left: frame.readUIntLE(0, 3) * 2,
        top: frame.readUIntLE(3, 3) * 2,
        width: frame.readUIntLE(6, 3) + 1,
        height: frame.readUIntLE(9, 3) + 1,
      },
    ),
  };
}

/** The canvas around the first frame, which the pipeline reads as if it were all. Null where it is. */
function gifCanvas(file: Buffer): Piece | null {
  if (file.length < GIF_HEAD_BYTES) return null;
  const colours = file[10] ?? 0;
  let at = GIF_HEAD_BYTES + ((colours & 0x80) === 0 ? 0 : 3 * 2 ** ((colours & 0x07) + 1));
  while (file[at] === GIF_EXTENSION) {
    // Blocks of so many bytes; one of none ends it.
    for (at += 2; file[at]; ) at += 1 + (file[at] ?? 0);
    at += 1;
  }
  if (file[at] !== GIF_FRAME || at + 1 + GIF_FRAME_HEAD_BYTES > file.length) return null;
  const [left, top, width, height] = [1, 3, 5, 7].map((behind) => file.readUInt16LE(at + behind));
  return canvasAround(
    { width: file.readUInt16LE(6), height: file.readUInt16LE(8) },
    { left: left ?? 0, top: top ?? 0, width: width ?? 0, height: height ?? 0 },
  );
}
