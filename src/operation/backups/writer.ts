/** Writes a backup file as a stream: one buffer, whatever the size of the files. The format is told in format.ts. */
import { fdatasync, ftruncateSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { BACKUP_BUFFER_BYTES, BACKUP_PACE_BYTES } from '../../limits.ts';
import { toIso } from '../../platform/host/clock.ts';
import { VERSION } from '../../version.ts';
import {
  ABOUT,
  type About,
  END_BYTES,
  encodeHeader,
  FORMAT_VERSION,
  paddingOf,
  SUMS,
  sumLine,
} from './format.ts';

const flushData: (fd: number) => Promise<void> = promisify(fdatasync);

export class BackupWriter {
  readonly #fd: number;
  readonly #mtime_s: number;
  readonly #buffer = Buffer.allocUnsafe(BACKUP_BUFFER_BYTES);
  #buffered = 0;
  /** Bytes of the file that are written; the buffer comes after them. */
  #written = 0;
  #unpaced = 0;
  #syncing: Promise<void> = Promise.resolve();
  /** A line of some 110 bytes for each file so far: SHA256SUMS stands at the end. */
  readonly #sums: string[] = [];

  /** Begins a backup in an empty file that is open for writing. */
  constructor(fd: number, created_ms: number) {
    this.#fd = fd;
    this.#mtime_s = Math.floor(created_ms / 1000);
    const about: About = { format: FORMAT_VERSION, version: VERSION, created_at: toIso(created_ms) };
    this.writeText(ABOUT, `${JSON.stringify(about)}\n`);
  }

  get position(): number {
    return this.#written + this.#buffered;
  }

  /**
   * Adds an open file's first `size_bytes` bytes. Where they are fewer, or not those of `sha256`, nothing is added, and the
   * answer is false.
   */
  async writeFile(
    name: string,
    file: { fd: number; size_bytes: number; sha256: string | null },
  ): Promise<boolean> {
    const start = this.position;
    this.#startEntry(name, file.size_bytes);
    const hasher = new Bun.CryptoHasher('sha256');
    for (let left = file.size_bytes; left > 0; ) {
      if (this.#buffered === this.#buffer.length) await this.#flushPaced();
      const room = Math.min(left, this.#buffer.length - this.#buffered);
      const count = readSync(file.fd, this.#buffer, this.#buffered, room, null);
      if (count === 0) return this.#undo(start);
      hasher.update(this.#buffer.subarray(this.#buffered, this.#buffered + count));
      this.#buffered += count;
      left -= count;
    }
    this.#append(Buffer.alloc(paddingOf(file.size_bytes)));
    const sha256 = hasher.digest('hex');
    if (file.sha256 !== null && file.sha256 !== sha256) return this.#undo(start);
    this.#sums.push(sumLine(sha256, name));
    return true;
  }

  /** Writes the hashes and the end, and makes everything durable. Returns the size of the file. */
  async finish(): Promise<number> {
    this.writeText(SUMS, this.#sums.join(''));
    this.#append(Buffer.alloc(END_BYTES));
    this.#flush();
    await this.#syncing;
    await flushData(this.#fd);
    return this.#written;
  }

  /** Takes back what was written since, as if it never had been. */
  #undo(start: number): false {
    if (start < this.#written) {
      ftruncateSync(this.#fd, start);
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
    this.#sums.push(sumLine(new Bun.CryptoHasher('sha256').update(bytes).digest('hex'), name));
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
      const count = writeSync(this.#fd, this.#buffer, done, this.#buffered - done, this.#written);
      done += count;
      this.#written += count;
      this.#unpaced += count;
    }
    this.#buffered = 0;
  }

  /** Lets the disk keep up, so that what a server commits meanwhile never waits behind a whole backup. */
  async #flushPaced(): Promise<void> {
    this.#flush();
    if (this.#unpaced < BACKUP_PACE_BYTES) return;
    this.#unpaced = 0;
    await this.#syncing;
    this.#syncing = flushData(this.#fd);
    this.#syncing.catch(() => {}); // Whoever awaits it next gets the error.
  }
}
