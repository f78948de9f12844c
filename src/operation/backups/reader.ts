/** Reads a backup file as a stream and finds any damage of it. The format is told in format.ts. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AppError, messageOf } from '../../errors.ts';
import { BACKUP_BUFFER_BYTES, BACKUP_PACE_BYTES } from '../../limits.ts';
import { explainDescriptors } from '../../platform/host/descriptors.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import {
  ABOUT,
  type About,
  BLOCK_BYTES,
  decodeHeader,
  END_BYTES,
  FORMAT_VERSION,
  paddingOf,
  SUMS,
  sumLine,
  type TarEntry,
} from './format.ts';

/** What a backup says of itself has some 80 bytes; more is damage, or another's archive. */
const MAX_BACKUP_ABOUT_BYTES = 4096;

export class BackupReader {
  readonly path: string;
  readonly size_bytes: number;
  readonly about: About;
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(BACKUP_BUFFER_BYTES);
  #start = 0;
  #end = 0;
  /** Bytes of the file taken so far. */
  #position = 0;
  readonly #mtime_s: number;
  /** What SHA256SUMS must say. */
  readonly #sums: string[] = [];
  #entry: TarEntry | null = null;

  /**
   * Opens a backup. Throws AppError `invalid` for a file that is missing, is none, or is of a newer Satchel, `unavailable`
   * where there is no file descriptor left.
   */
  constructor(path: string) {
    this.path = path;
    try {
      this.#fd = openSync(path, 'r');
    } catch (error) {
      const explained = explainDescriptors(error);
      if (explained instanceof AppError) throw explained;
      throw new AppError('invalid', `The backup ${path} can't be read: ${messageOf(error)}`);
    }
    try {
      const stat = fstatSync(this.#fd);
      if (!stat.isFile()) throw new AppError('invalid', `${path} is not a file.`);
      this.size_bytes = stat.size;
      const first = this.size_bytes < BLOCK_BYTES ? null : decodeHeader(this.#take(BLOCK_BYTES));
      if (first?.name !== ABOUT || first.size_bytes > MAX_BACKUP_ABOUT_BYTES) {
        throw new AppError('invalid', `${path} is not a backup of Satchel, or its first bytes are damaged.`);
      }
      this.#mtime_s = first.mtime_s;
      this.about = this.#readAbout(first);
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  get position(): number {
    return this.#position;
  }

  close(): void {
    closeSync(this.#fd);
  }

  endsInZeros(): boolean {
    const end = Buffer.alloc(END_BYTES, 1);
    readSync(this.#fd, end, 0, END_BYTES, this.size_bytes - END_BYTES);
    return end.every((byte) => byte === 0);
  }

  /**
   * The next file, whose content must be taken with `read`; null after the end, when all of it proved to be whole. Throws
   * AppError `invalid` for damage: nothing that was handed out until then must be trusted.
   */
  next(): TarEntry | null {
    const position = this.#position;
    const entry = decodeHeader(this.#take(BLOCK_BYTES));
    if (entry?.mtime_s !== this.#mtime_s || entry.name === ABOUT) {
      throw this.#damage('this is no header as Satchel writes it', position);
    }
    if (entry.name !== SUMS) {
      this.#entry = entry;
      return entry;
    }
    this.#readSums(entry);
    this.#expectZeros(END_BYTES);
    if (this.#start !== this.#end || this.#fill()) throw this.#damage('something follows its end');
    return null;
  }

  /** Takes the content of the file that `next` gave, in chunks that are valid only during the call. */
  async read(onChunk: (chunk: Uint8Array) => void): Promise<void> {
    if (!this.#entry) throw new Error('there is no entry to read');
    const { name, size_bytes } = this.#entry;
    const hasher = new Bun.CryptoHasher('sha256');
    let unpaced = 0;
    for (let left = size_bytes; left > 0; ) {
      if (this.#start === this.#end && !this.#fill()) throw this.#cutOff();
      const chunk = this.#buffer.subarray(this.#start, Math.min(this.#start + left, this.#end));
      hasher.update(chunk);
      onChunk(chunk);
      this.#start += chunk.length;
      this.#position += chunk.length;
      left -= chunk.length;
      unpaced += chunk.length;
      if (unpaced < BACKUP_PACE_BYTES) continue;
      unpaced = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#expectZeros(paddingOf(size_bytes));
    this.#sums.push(sumLine(hasher.digest('hex'), name));
    this.#entry = null;
  }

  #readAbout({ size_bytes }: TarEntry): About {
    const text = this.#take(size_bytes).toString('utf8');
    const sha256 = new Bun.CryptoHasher('sha256').update(text).digest('hex');
    this.#sums.push(sumLine(sha256, ABOUT));
    this.#expectZeros(paddingOf(size_bytes));
    const about = parseAbout(text);
    if (!about) throw this.#damage('it does not say what it is', 0);
    if (about.format !== FORMAT_VERSION) {
      throw new AppError(
        'invalid',
        `${this.path} was made by ${about.format < FORMAT_VERSION ? 'an older' : 'a newer'} build of Satchel (${about.version}), in ` +
          `format ${about.format}; this one reads format ${FORMAT_VERSION}. Use the Satchel that made it.`,
      );
    }
    return about;
  }

  /** Compares SHA256SUMS with what was read, line by line, so that a damaged file is named. */
  #readSums({ size_bytes }: TarEntry): void {
    const position = this.#position - BLOCK_BYTES;
    for (const expected of this.#sums) {
      if (this.#take(Buffer.byteLength(expected)).equals(Buffer.from(expected))) continue;
      const name = expected.slice(expected.indexOf('  ') + 2).trimEnd();
      throw this.#damage(`the file ${name} and what ${SUMS} tells of it differ`, position);
    }
    const length = this.#position - position - BLOCK_BYTES;
    if (length !== size_bytes) throw this.#damage('it does not hold as many files as it says', position);
    this.#expectZeros(paddingOf(length));
  }

  #expectZeros(count: number): void {
    const position = this.#position;
    if (this.#take(count).some((byte) => byte !== 0)) {
      throw this.#damage('there are bytes between its files', position);
    }
  }

  /** The next bytes, for as long as nothing else is taken. */
  #take(count: number): Buffer {
    while (this.#end - this.#start < count) if (!this.#fill()) throw this.#cutOff();
    const bytes = this.#buffer.subarray(this.#start, this.#start + count);
    this.#start += count;
    this.#position += count;
    return bytes;
  }

  /** Reads more into the buffer; false at the end of the file. */
  #fill(): boolean {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    const count = readSync(this.#fd, this.#buffer, this.#end, this.#buffer.length - this.#end, null);
    this.#end += count;
    return count > 0;
  }

  #damage(what: string, position = this.#position): AppError {
    return new AppError('invalid', `The backup ${this.path} is damaged at byte ${position}: ${what}.`);
  }

  #cutOff(): AppError {
    return new AppError(
      'invalid',
      `The backup ${this.path} is damaged or cut off: it ends after ${this.size_bytes} bytes, in the middle of a file.`,
    );
  }
}

/** Whether a file begins and ends as a backup does: a quick look, which sees what is another's or was cut off. */
export function looksWhole(path: string): boolean {
  try {
    const reader = new BackupReader(path);
    try {
      return reader.endsInZeros();
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return false;
    throw error;
  }
}

function parseAbout(json: string): About | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isPlainObject(value)) return null;
  const { format, version, created_at } = value;
  if (typeof format !== 'number' || typeof version !== 'string' || typeof created_at !== 'string')
    return null;
  return { format, version, created_at };
}
