/** How a PNG or a WebP is to be turned, by its EXIF: the runtime's pipeline looks at that of JPEGs alone. */
import { pngChunks, webpChunks } from './chunks.ts';

/** Some writers put it before the EXIF, as it stands in a JPEG. */
const PREFIX = 'Exif\0\0';
const ORIENTATION_TAG = 0x0112;
const ENTRY_BYTES = 12;

/** What makes the image of an orientation upright (EXIF 2.32, 4.6.4): clockwise first, then mirrored. */
export interface Turn {
  degrees: 0 | 90 | 180 | 270;
  mirror: 'flip' | 'flop' | null;
}

const TURNS: readonly Turn[] = [
  { degrees: 0, mirror: null },
  { degrees: 0, mirror: 'flop' },
  { degrees: 180, mirror: null },
  { degrees: 0, mirror: 'flip' },
  { degrees: 90, mirror: 'flop' },
  { degrees: 90, mirror: null },
  { degrees: 90, mirror: 'flip' },
  { degrees: 270, mirror: null },
];
const NO_TURN: Turn = { degrees: 0, mirror: null };

/** None for a file of another kind, or one that says nothing of it, or nonsense. */
export function turnOf(file: Buffer): Turn {
  const exif = exifOf(file);
  try {
    return (exif && TURNS[orientationIn(exif) - 1]) ?? NO_TURN;
  } catch (error) {
    if (error instanceof RangeError) return NO_TURN; // It points beyond its end.
    throw error;
  }
}

function exifOf(file: Buffer): Buffer | null {
  for (const { name, data } of pngChunks(file)) if (name === 'eXIf') return data;
  for (const { name, data } of webpChunks(file))
    if (name === 'EXIF')
      return data.subarray(data.toString('latin1', 0, PREFIX.length) === PREFIX ? PREFIX.length : 0);
  return null;
}

/** The entry of the first directory (TIFF 6.0, 2); 0 where it has none. */
function orientationIn(exif: Buffer): number {
  const is_little = exif.toString('latin1', 0, 2) === 'II';
  const short = (at: number): number => (is_little ? exif.readUInt16LE(at) : exif.readUInt16BE(at));
  const directory = is_little ? exif.readUInt32LE(4) : exif.readUInt32BE(4);
  const count = short(directory);
  for (let n = 0; n < count; n += 1) {
    const entry = directory + 2 + n * ENTRY_BYTES;
    if (short(entry) === ORIENTATION_TAG) return short(entry + 8);
  }
  return 0;
}
