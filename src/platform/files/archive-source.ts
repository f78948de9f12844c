/** Where archives are read from: files, and streams such as standard input. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AppError, messageOf } from '../../errors.ts';
import { asCaller } from '../host/ownership.ts';
import { explainDescriptors } from '../host/shortages.ts';

export interface ArchiveSource {
  /** What messages call it. */
  readonly name: string;
  /** Null where only its end tells. */
  readonly size_bytes: number | null;
  /** Reads what comes next and returns how many bytes that is, at once where they are there; 0 at the end. */
  read(into: Uint8Array): number | Promise<number>;
  close(): void;
}

/** What messages call a process's. */
export const STANDARD_INPUT = '(standard input)';
/** Its first bytes are there at once, whatever it is: what an archive says of itself is in them. */
const FIRST_BYTES = 8192;

export class ArchiveFile implements ArchiveSource {
  readonly size_bytes: number;
  readonly #fd: number;

  /**
   * Opens it; `what` says what it should be. Throws AppError `invalid` for what is no file that can be read,
   * `unavailable` without file descriptors.
   */
  constructor(
    path: string,
    what: string,
    readonly name = path,
  ) {
    try {
      this.#fd = asCaller(() => openSync(path, 'r'));
    } catch (error) {
      const explained = explainDescriptors(error);
      if (explained instanceof AppError) throw explained;
      throw new AppError('invalid', `The ${what} ${name} can't be read: ${messageOf(error)}`);
    }
    const stat = fstatSync(this.#fd);
    this.size_bytes = stat.size;
    if (stat.isFile()) return;
    this.close();
    throw new AppError('invalid', `${name} is not a file.`);
  }

  read(into: Uint8Array): number {
    return readSync(this.#fd, into, 0, into.length, null);
  }

  /** Whether its last bytes are zeros. */
  endsInZeros(count: number): boolean {
    const end = Buffer.alloc(count, 1);
    readSync(this.#fd, end, 0, count, this.size_bytes - count);
    return end.every((byte) => byte === 0);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

export class ArchiveStream implements ArchiveSource {
  readonly name = STANDARD_INPUT;
  readonly size_bytes = null;
  #ahead: Uint8Array = new Uint8Array();
  #is_over = false;

  private constructor(private readonly chunks: AsyncIterator<Uint8Array>) {}

  /** Waits for its first bytes. Throws AppError `invalid` where it can't be read. */
  static async begin(stream: AsyncIterable<Uint8Array>): Promise<ArchiveStream> {
    const source = new ArchiveStream(stream[Symbol.asyncIterator]());
    while (source.#ahead.length < FIRST_BYTES && !source.#is_over) await source.#lookAhead();
    return source;
  }

  read(into: Uint8Array): number | Promise<number> {
    if (this.#ahead.length > 0 || this.#is_over) return this.#give(into);
    return this.#lookAhead().then(() => this.read(into));
  }

  #give(into: Uint8Array): number {
    const part = this.#ahead.subarray(0, into.length);
    into.set(part);
    this.#ahead = this.#ahead.subarray(part.length);
    return part.length;
  }

  async #lookAhead(): Promise<void> {
    try {
      const { done, value } = await this.chunks.next();
      if (done) this.#is_over = true;
      else this.#ahead = this.#ahead.length === 0 ? value : Buffer.concat([this.#ahead, value]);
    } catch (cause) {
      throw new AppError('invalid', `${this.name} can't be read: ${messageOf(cause)}`, { cause });
    }
  }

  /** Reads no more of it. */
  close(): void {
    this.chunks.return?.().catch(() => {}); // What is not read any more may break off.
  }
}
