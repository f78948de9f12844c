/** Reads an archive as a stream and finds any damage of it. The form is told in archive.ts. */
import { AppError } from '../../errors.ts';
import { BACKUP_BUFFER_BYTES, BACKUP_PACE_BYTES } from '../../limits.ts';
import { letOthers } from '../host/waiting.ts';
import { isPlainObject } from '../http/schema.ts';
import {
  type About,
  type ArchiveKind,
  BLOCK_BYTES,
  decodeHeader,
  END_BYTES,
  paddingOf,
  sumLine,
  type TarEntry,
} from './archive.ts';
import { ArchiveFile, type ArchiveSource } from './archive-source.ts';

/** What an archive says of itself has some hundred bytes; more is damage, or another's archive. */
const MAX_ABOUT_BYTES = 4096;

export abstract class ArchiveReader {
  readonly about: About;
  /** All that it says of itself, `about` included. */
  readonly said: Readonly<Record<string, unknown>>;
  readonly #source: ArchiveSource;
  readonly #buffer = Buffer.allocUnsafe(BACKUP_BUFFER_BYTES);
  #start = 0;
  #end = 0;
  /** Bytes of the archive taken so far. */
  #position = 0;
  readonly #mtime_s: number;
  readonly #about_sum: string;
  #entry: TarEntry | null = null;

  /**
   * Opens an archive, in a file of this path or elsewhere. Throws AppError `invalid` for a file that is
   * missing, something else, or of a newer Satchel, `unavailable` without file descriptors.
   */
  constructor(
    from: ArchiveSource | string,
    private readonly kind: ArchiveKind,
  ) {
    this.#source = typeof from === 'string' ? new ArchiveFile(from, kind.what) : from;
    try {
      const block = this.#takeAtOnce(BLOCK_BYTES);
      const first = block && decodeHeader(block);
      if (first?.name !== kind.about || first.size_bytes > MAX_ABOUT_BYTES) {
        throw new AppError(
          'invalid',
          `${this.name} is not a ${kind.what} of Satchel, or its first bytes are damaged.`,
        );
      }
      this.#mtime_s = first.mtime_s;
      const read = this.#readAbout(first);
      this.about = read.about;
      this.said = read.said;
      this.#about_sum = read.sum;
    } catch (error) {
      this.close();
      throw error;
    }
  }

  /** What messages call it. */
  get name(): string {
    return this.#source.name;
  }

  /** Null for a stream. */
  get size_bytes(): number | null {
    return this.#source.size_bytes;
  }

  /** Told of each file that was read: its hash and name. */
  protected abstract noteSum(line: string): void;

  /** Reads the last file, at this position, which vouches for all others. Throws AppError `invalid`. */
  protected abstract readEnd(size_bytes: number, position: number): Promise<void>;

  /** Takes up what the archive says of itself, once the reader is made. */
  protected begin(): void {
    this.noteSum(this.#about_sum);
  }

  get position(): number {
    return this.#position;
  }

  close(): void {
    this.#source.close();
  }

  /**
   * The next file, whose content must be taken with `read`; null after the end of an undamaged archive.
   * Throws AppError `invalid` for damage: then nothing handed out before may be trusted.
   */
  async next(): Promise<TarEntry | null> {
    const position = this.#position;
    const entry = decodeHeader(await this.take(BLOCK_BYTES));
    if (entry?.mtime_s !== this.#mtime_s || entry.name === this.kind.about) {
      throw this.damage('this is no header as Satchel writes it', position);
    }
    if (entry.name !== this.kind.end) {
      this.#entry = entry;
      return entry;
    }
    await this.readEnd(entry.size_bytes, position);
    this.#expectZeros(await this.take(paddingOf(entry.size_bytes)));
    this.#expectZeros(await this.take(END_BYTES));
    if (this.#start !== this.#end || (await this.#fill())) throw this.damage('something follows its end');
    return null;
  }

  /** Takes the content of the file that `next` gave, in chunks that are valid only until the call is over. */
  async read(onChunk: (chunk: Uint8Array) => void | Promise<void>): Promise<void> {
    if (!this.#entry) throw new Error('there is no entry to read');
    const { name, size_bytes } = this.#entry;
    const hasher = new Bun.CryptoHasher('sha256');
    let unpaced = 0;
    for (let left = size_bytes; left > 0; ) {
      if (this.#start === this.#end && !(await this.#fill())) throw this.#cutOff();
      const chunk = this.#buffer.subarray(this.#start, Math.min(this.#start + left, this.#end));
      hasher.update(chunk);
      const taken = onChunk(chunk);
      if (taken) await taken;
      this.#start += chunk.length;
      this.#position += chunk.length;
      left -= chunk.length;
      unpaced += chunk.length;
      if (unpaced < BACKUP_PACE_BYTES) continue;
      unpaced = 0;
      await letOthers();
    }
    this.#expectZeros(await this.take(paddingOf(size_bytes)));
    this.noteSum(sumLine(hasher.digest('hex'), name));
    this.#entry = null;
  }

  #readAbout({ size_bytes, name }: TarEntry): { about: About; said: Record<string, unknown>; sum: string } {
    const { format } = this.kind;
    const text = this.#takeAtOnce(size_bytes)?.toString('utf8');
    const padding = this.#takeAtOnce(paddingOf(size_bytes));
    if (text === undefined || !padding) throw this.#cutOff();
    const sha256 = new Bun.CryptoHasher('sha256').update(text).digest('hex');
    this.#expectZeros(padding);
    const said = parseAbout(text);
    if (!said) throw this.damage('it does not say what it is', 0);
    const { about } = said;
    if (about.format !== format) {
      throw new AppError(
        'invalid',
        `${this.name} was made by ${about.format < format ? 'an older' : 'a newer'} build of Satchel (${about.version}), in ` +
          `format ${about.format}; this one reads format ${format}. Use the Satchel that made it.`,
      );
    }
    return { ...said, sum: sumLine(sha256, name) };
  }

  #expectZeros(bytes: Uint8Array): void {
    if (bytes.every((byte) => byte === 0)) return;
    throw this.damage('there are bytes between its files', this.#position - bytes.length);
  }

  /** The next bytes, for as long as nothing else is taken. */
  protected async take(count: number): Promise<Buffer> {
    while (this.#end - this.#start < count) if (!(await this.#fill())) throw this.#cutOff();
    return this.#taken(count);
  }

  /** As `take`, of the first bytes; null where they are too few. */
  #takeAtOnce(count: number): Buffer | null {
    while (this.#end - this.#start < count) if (this.#fill() !== true) return null;
    return this.#taken(count);
  }

  #taken(count: number): Buffer {
    const bytes = this.#buffer.subarray(this.#start, this.#start + count);
    this.#start += count;
    this.#position += count;
    return bytes;
  }

  /** Reads more into the buffer; false at the end. */
  #fill(): boolean | Promise<boolean> {
    if (this.#start > 0) {
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    const count = this.#source.read(this.#buffer.subarray(this.#end));
    return typeof count === 'number' ? this.#filled(count) : count.then((later) => this.#filled(later));
  }

  #filled(count: number): boolean {
    this.#end += count;
    return count > 0;
  }

  protected damage(what: string, position = this.#position): AppError {
    return new AppError(
      'invalid',
      `The ${this.kind.what} ${this.name} is damaged at byte ${position}: ${what}.`,
    );
  }

  #cutOff(): AppError {
    const came = this.#position + this.#end - this.#start;
    return new AppError(
      'invalid',
      `The ${this.kind.what} ${this.name} is damaged or cut off: it ends after ${came} bytes, in the middle of a file.`,
    );
  }
}

function parseAbout(json: string): { about: About; said: Record<string, unknown> } | null {
  let said: unknown;
  try {
    said = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isPlainObject(said)) return null;
  const { format, version, created_at } = said;
  if (typeof format !== 'number' || typeof version !== 'string' || typeof created_at !== 'string')
    return null;
  return { about: { format, version, created_at }, said };
}
