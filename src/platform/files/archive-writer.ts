/** Writes an archive as a stream, with one buffer for files of any size. archive.ts tells its form. */
import { fdatasync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { BACKUP_BUFFER_BYTES, BACKUP_PACE_BYTES } from '../../limits.ts';
import { VERSION } from '../../version.ts';
import { toIso } from '../host/clock.ts';
import { letOthers } from '../host/waiting.ts';
import { type About, type ArchiveKind, END_BYTES, encodeHeader, paddingOf, sumLine } from './archive.ts';

const flushData: (fd: number) => Promise<void> = promisify(fdatasync);

/** Where an archive goes as it is written, such as a pipe. */
export type Outlet = (bytes: Uint8Array) => Promise<void>;
/** What messages call the outlet of a process. */
export const STANDARD_OUTPUT = '(standard output)';

export abstract class ArchiveWriter {
  readonly #mtime_s: number;
  readonly #buffer = Buffer.allocUnsafe(BACKUP_BUFFER_BYTES);
  #buffered = 0;
  /** Bytes of the archive that are written; the buffer comes after them. */
  #written = 0;
  /** Of these, the bytes that the outlet has: they are not in the file any more. */
  #passed_on = 0;
  #unpaced = 0;
  #syncing: Promise<void> = Promise.resolve();

  /**
   * Begins an archive in an empty file that is open for writing. With an outlet it is open for reading too, and
   * holds no more than what may still be taken back.
   */
  constructor(
    private readonly fd: number,
    private readonly created_ms: number,
    private readonly outlet: Outlet | null = null,
  ) {
    this.#mtime_s = Math.floor(created_ms / 1000);
  }

  /** Told of each file that was added: its hash and name, which the archive's end vouches for. */
  protected abstract noteSum(line: string): void;

  /** Writes what the archive says of itself. */
  protected begin({ about, format }: ArchiveKind, more: Readonly<Record<string, unknown>> = {}): void {
    const said: About = { format, version: VERSION, created_at: toIso(this.created_ms), ...more };
    this.writeText(about, `${JSON.stringify(said)}\n`);
  }

  get position(): number {
    return this.#written + this.#buffered;
  }

  /**
   * Adds an open file's first `size_bytes` bytes. Answers false, adding nothing, where they are too few or
   * not those of `sha256`.
   */
  async writeFile(
    name: string,
    file: { fd: number; size_bytes: number; sha256: string | null },
  ): Promise<boolean> {
    const start = this.position;
    this.#startEntry(name, file.size_bytes);
    const hasher = new Bun.CryptoHasher('sha256');
    for (let left = file.size_bytes; left > 0; ) {
      if (this.#buffered === this.#buffer.length) {
        await this.#flushPaced();
        // A file that no hash is known of is as it is.
        if (file.sha256 === null) await this.passOn();
      }
      const room = Math.min(left, this.#buffer.length - this.#buffered);
      const count = readSync(file.fd, this.#buffer, this.#buffered, room, null);
      if (count === 0) return this.#undo(start);
      hasher.update(this.#buffer.subarray(this.#buffered, this.#buffered + count));
      this.#buffered += count;
      left -= count;
    }
    return await this.#endEntry(name, file, { start, hasher });
  }

  /** As `writeFile`, of bytes as they come. If they break off it adds nothing, and throws what they threw. */
  async writeStream(
    name: string,
    file: { bytes: AsyncIterable<Uint8Array>; size_bytes: number; sha256: string | null },
  ): Promise<boolean> {
    const start = this.position;
    this.#startEntry(name, file.size_bytes);
    const hasher = new Bun.CryptoHasher('sha256');
    let left = file.size_bytes;
    try {
      for await (const chunk of file.bytes) {
        left -= chunk.length;
        if (left < 0) break;
        hasher.update(chunk);
        this.#append(chunk);
        await this.#pace();
      }
    } catch (error) {
      this.#undo(start);
      throw error;
    }
    return left === 0 ? await this.#endEntry(name, file, { start, hasher }) : this.#undo(start);
  }

  async #endEntry(
    name: string,
    file: { size_bytes: number; sha256: string | null },
    { start, hasher }: { start: number; hasher: Bun.CryptoHasher },
  ): Promise<boolean> {
    this.#append(Buffer.alloc(paddingOf(file.size_bytes)));
    const sha256 = hasher.digest('hex');
    if (file.sha256 !== null && file.sha256 !== sha256) return this.#undo(start);
    this.noteSum(sumLine(sha256, name));
    await this.passOn();
    return true;
  }

  /** Writes the end, and makes everything durable, or has it with the outlet. Returns the size of the archive. */
  protected async end(): Promise<number> {
    this.#append(Buffer.alloc(END_BYTES));
    this.#flush();
    await this.passOn();
    await this.#syncing;
    if (!this.outlet) await flushData(this.fd);
    return this.#written;
  }

  /** Hands what is in the file to the outlet, where there is one. Nothing of it may be taken back then. */
  async passOn(): Promise<void> {
    if (!this.outlet || this.#passed_on === this.#written) return;
    const piece = Buffer.allocUnsafe(this.#buffer.length);
    for (let at = 0; this.#passed_on < this.#written; ) {
      const count = readSync(this.fd, piece, 0, piece.length, at);
      if (count === 0) throw new Error('what was written of the archive is gone');
      await this.outlet(piece.subarray(0, count));
      at += count;
      this.#passed_on += count;
    }
    ftruncateSync(this.fd, 0);
  }

  /** Takes back what was written since, as if it never had been. */
  #undo(start: number): false {
    if (start < this.#passed_on) throw new Error('a file became shorter while it was read');
    if (start < this.#written) {
      ftruncateSync(this.fd, start - this.#passed_on);
      this.#written = start;
    }
    this.#buffered = start - this.#written;
    return false;
  }

  /** Adds a file of this text. */
  writeText(name: string, text: string): void {
    const bytes = Buffer.from(text);
    this.#startEntry(name, bytes.length);
    this.#append(bytes);
    this.#append(Buffer.alloc(paddingOf(bytes.length)));
    this.noteSum(sumLine(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'), name));
  }

  #startEntry(name: string, size_bytes: number): void {
    this.#append(encodeHeader({ name, size_bytes, mtime_s: this.#mtime_s }));
  }

  #append(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) {
      if (this.#buffered === this.#buffer.length) this.#flush();
      const part = bytes.subarray(done, done + this.#buffer.length - this.#buffered);
      this.#buffer.set(part, this.#buffered);
      this.#buffered += part.length;
      done += part.length;
    }
  }

  #flush(): void {
    for (let done = 0; done < this.#buffered; ) {
      const count = writeSync(
        this.fd,
        this.#buffer,
        done,
        this.#buffered - done,
        this.#written - this.#passed_on,
      );
      done += count;
      this.#written += count;
      this.#unpaced += count;
    }
    this.#buffered = 0;
  }

  async #flushPaced(): Promise<void> {
    this.#flush();
    await this.#pace();
  }

  /** Lets the disk keep up, so that what a server commits meanwhile never waits behind a whole archive. */
  async #pace(): Promise<void> {
    if (this.#unpaced < BACKUP_PACE_BYTES) return;
    this.#unpaced = 0;
    if (this.outlet) return letOthers();
    await this.#syncing;
    this.#syncing = flushData(this.fd);
    this.#syncing.catch(() => {}); // Whoever awaits it next gets the error.
  }
}
