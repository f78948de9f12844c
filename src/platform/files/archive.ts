/**
 * The form of Satchel's archives: a tar whose first file says what it is.
 *
 * There is one way to write an archive of given files: headers have one form (ustar), padding is zeros,
 * nothing follows the end. Each byte is fixed or covered by a hash, so a changed, missing, added or moved one
 * is found.
 */

import { basename } from 'node:path';
import { isUlid } from '../host/ids.ts';
import { blobPathOf } from './store.ts';

/** What an archive says of itself before anything else. */
export interface About {
  format: number;
  /** Version of the Satchel that made it. */
  version: string;
  created_at: string;
}

/** What an archive is of: a backup, or a project. */
export interface ArchiveKind {
  /** As messages call it. */
  what: string;
  format: number;
  /** The name of its first file. */
  about: string;
  /** That of its last one, which vouches for all others. */
  end: string;
}

/** Sizes and positions in a tar are whole blocks. */
export const BLOCK_BYTES = 512;
export const END_BYTES = 2 * BLOCK_BYTES;

/** As a line of SHA256SUMS, and as what an archive's end vouches for. */
export function sumLine(sha256: string, name: string): string {
  return `${sha256}  ${name}\n`;
}

export function paddingOf(size_bytes: number): number {
  return (BLOCK_BYTES - (size_bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

/** The name of an object's bytes in an archive. */
export function blobName(id: string): string {
  return blobPathOf('.', id);
}

/** The id of the object whose bytes have this name in an archive, or null for any other name. */
export function blobIdOf(name: string): string | null {
  const id = basename(name);
  return isUlid(id) && id === id.toUpperCase() && blobName(id) === name ? id : null;
}

/* --- Headers (POSIX.1-1988, ustar) ---------------------------------------------------------------------------- */

export interface TarEntry {
  name: string;
  size_bytes: number;
  mtime_s: number;
}

const NAME = { at: 0, length: 100 };
const SIZE = { at: 124, length: 12 };
const MTIME = { at: 136, length: 12 };
const CHECKSUM = { at: 148, length: 8 };
/** What eleven octal digits can say. Larger sizes are binary with the first bit set, as in GNU tar. */
const MAX_OCTAL_SIZE = 0o77777777777;

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}

/** The header of a file: its owner's alone, for whoever unpacks it. */
export function encodeHeader({ name, size_bytes, mtime_s }: TarEntry): Buffer {
  if (name.length > NAME.length) throw new Error('the name is too long for a tar');
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, NAME.at, 'latin1');
  header.write(`${octal(0o600, 7)}${octal(0, 7)}${octal(0, 7)}`, NAME.length, 'latin1');
  if (size_bytes <= MAX_OCTAL_SIZE) header.write(octal(size_bytes, 11), SIZE.at, 'latin1');
  else {
    header.writeUInt8(0x80, SIZE.at);
    header.writeBigUInt64BE(BigInt(size_bytes), SIZE.at + SIZE.length - 8);
  }
  header.write(octal(mtime_s, 11), MTIME.at, 'latin1');
  // The checksum counts its own place as blanks; then type `0`, a file, and the magic.
  header.write('        0', CHECKSUM.at, 'latin1');
  header.write('ustar\x0000', 257, 'latin1');
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)} `, CHECKSUM.at, 'latin1');
  return header;
}

/** What a header says, or null when it is not, byte for byte, as `encodeHeader` writes it. */
export function decodeHeader(header: Buffer): TarEntry | null {
  const field = ({ at, length }: { at: number; length: number }): string =>
    header.toString('latin1', at, at + length).replace(/\0.*$/s, '');
  const number = (of: { at: number; length: number }): number =>
    /^[0-7]{11}$/.test(field(of)) ? Number.parseInt(field(of), 8) : Number.NaN;
  const size_bytes =
    header.readUInt8(SIZE.at) === 0x80
      ? Number(header.readBigUInt64BE(SIZE.at + SIZE.length - 8))
      : number(SIZE);
  const entry = { name: field(NAME), size_bytes, mtime_s: number(MTIME) };
  if (!Number.isSafeInteger(size_bytes) || !Number.isSafeInteger(entry.mtime_s)) return null;
  return encodeHeader(entry).equals(header) ? entry : null;
}
