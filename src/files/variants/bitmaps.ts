/** BMPs that the runtime's pipeline does not read: those with a palette, and those of 16 bits a pixel. */

import { MAX_VARIANT_SOURCE_PIXELS } from '../../limits.ts';
import { PlainPng, RGB, RGBA, type Sides } from './plain-png.ts';
import { RefusedImage } from './protocol.ts';

/** Of the file, before the header that says its own length first; OS/2's is the shortest. */
const FILE_HEAD_BYTES = 14;
const OS2_HEADER_BYTES = 12;
const HEADER_BYTES = 40;
/** Headers from this length on have a mask for alpha. */
const HEADER_WITH_ALPHA_BYTES = 56;
/** Where the masks of bit fields stand, within the header or behind it. */
const MASKS_AT = FILE_HEAD_BYTES + HEADER_BYTES;
/** Values of the field `compression`: none, and bit fields, the last of which have alpha always. */
const PLAIN = 0;
const BIT_FIELDS_WITH_ALPHA = 6;
const BIT_FIELDS = [3, BIT_FIELDS_WITH_ALPHA];
/** Red, green, blue and alpha of 16 bits where nothing else is said: 5-5-5. */
const MASKS_OF_16_BITS = [0x7c00, 0x03e0, 0x001f, 0];

/** How pixels of up to 8 bits stand in a PNG too: as numbers of colours, from a byte's highest bit on. */
const INDEXED = 3;

interface Bitmap extends Sides {
  bits: number;
  header_bytes: number;
  is_of_os2: boolean;
  compression: number;
  is_top_first: boolean;
}

/** Such a BMP as a PNG; null for any other file. Throws RefusedImage. */
export function plainBitmap(file: Buffer): Buffer | null {
  const bitmap = readHead(file);
  if (bitmap === null) return null;
  const { width, height, bits } = bitmap;
  if (width * height > MAX_VARIANT_SOURCE_PIXELS) throw new RefusedImage('too_many_pixels');
  const pixels_at = file.readUInt32LE(10);
  const row_bytes = Math.ceil((width * bits) / 32) * 4;
  if (pixels_at + row_bytes * height > file.length) throw new RefusedImage('broken');
  const { png, pixelsOf } = bits === 16 ? ofMasks(file, bitmap) : ofPalette(file, bitmap);
  for (let y = 0; y < height; y += 1) {
    const start = pixels_at + row_bytes * (bitmap.is_top_first ? y : height - 1 - y);
    png.addRow(pixelsOf(file.subarray(start, start + Math.ceil((width * bits) / 8))));
  }
  return png.finish();
}

function readHead(file: Buffer): Bitmap | null {
  if (file.toString('latin1', 0, 2) !== 'BM' || file.length < MASKS_AT) return null;
  const header_bytes = file.readUInt32LE(FILE_HEAD_BYTES);
  const is_of_os2 = header_bytes === OS2_HEADER_BYTES;
  const bits = file.readUInt16LE(is_of_os2 ? 24 : 28);
  if (![1, 4, 8, 16].includes(bits)) return null;
  const compression = is_of_os2 ? PLAIN : file.readUInt32LE(30);
  const width = is_of_os2 ? file.readUInt16LE(18) : file.readInt32LE(18);
  const height = is_of_os2 ? file.readUInt16LE(20) : file.readInt32LE(22);
  const is_known = is_of_os2 || header_bytes >= HEADER_BYTES;
  const is_readable = compression === PLAIN || (bits === 16 && BIT_FIELDS.includes(compression));
  if (!is_known || !is_readable || width <= 0 || height === 0) throw new RefusedImage('broken');
  const is_top_first = height < 0;
  return { width, height: Math.abs(height), bits, header_bytes, is_of_os2, compression, is_top_first };
}

interface Painting {
  png: PlainPng;
  /** Makes a row of the PNG of one of the file. */
  pixelsOf(row: Buffer): Uint8Array;
}

/** A PNG's palette is like a BMP's, but for the order of red, green and blue. What is missing is black. */
function ofPalette(file: Buffer, { bits, header_bytes, is_of_os2, ...sides }: Bitmap): Painting {
  const colours = Buffer.alloc(3 * 2 ** bits);
  const entry_bytes = is_of_os2 ? 3 : 4;
  const used = is_of_os2 ? 0 : file.readUInt32LE(46);
  const end = used === 0 ? colours.length : Math.min(colours.length, 3 * used);
  for (let to = 0, from = FILE_HEAD_BYTES + header_bytes; to < end; to += 3, from += entry_bytes)
    colours.set(file.subarray(from, from + 3).toReversed(), to);
  const png = new PlainPng(sides, { bits, depth: bits, type: INDEXED }, { PLTE: colours });
  return { png, pixelsOf: (row) => row };
}

function ofMasks(file: Buffer, { width, height, header_bytes, compression }: Bitmap): Painting {
  const masks = compression === PLAIN ? MASKS_OF_16_BITS : masksOf(file, header_bytes, compression);
  const is_opaque = masks[3] === 0;
  const parts = (is_opaque ? masks.slice(0, 3) : masks).map(valuesOf);
  const pixels = Buffer.alloc(width * parts.length);
  const pixelsOf = (row: Buffer): Buffer => {
    for (let x = 0, to = 0; x < width; x += 1) {
      const value = row.readUInt16LE(2 * x);
      for (const values of parts) {
        pixels[to] = values[value] ?? 0;
        to += 1;
      }
    }
    return pixels;
  };
  return { png: new PlainPng({ width, height }, is_opaque ? RGB : RGBA), pixelsOf };
}

function masksOf(file: Buffer, header_bytes: number, compression: number): readonly number[] {
  const has_alpha = compression === BIT_FIELDS_WITH_ALPHA || header_bytes >= HEADER_WITH_ALPHA_BYTES;
  if (file.length < MASKS_AT + 16) throw new RefusedImage('broken');
  const [red = 0, green = 0, blue = 0, alpha = 0] = [0, 4, 8, 12].map(
    (behind) => file.readUInt32LE(MASKS_AT + behind) & 0xffff,
  );
  return [red, green, blue, has_alpha ? alpha : 0];
}

/** What each number of 16 bits has under a mask, from 0 to 255. */
function valuesOf(mask: number): Uint8Array {
  const most = mask === 0 ? 1 : mask / (mask & -mask);
  const lowest = mask / most || 1;
  return Uint8Array.from({ length: 2 ** 16 }, (_, value) =>
    Math.round(((value & mask) / lowest / most) * 255),
  );
}
