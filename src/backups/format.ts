/**
 * The format of a backup file, its streaming writer and its streaming reader. Both need constant memory.
 *
 *   "satchel-backup 1\n"
 *   entry ...   each: length of the header (4 bytes, big-endian), the header (JSON), `size_bytes` bytes of content,
 *               SHA-256 of (the digest before, the length, the header, SHA-256 of the content)
 *
 * The digest before the first entry is that of the first line. So the last digest depends on every byte of the file, and
 * a flipped, missing, added or moved byte is found at the entry where it stands. The entries are one `about`, a `blob` for
 * each file, one `database` and one `end`; nothing follows.
 */
import { closeSync, fdatasync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import { AppError, messageOf } from '../errors.ts';
import {
  BACKUP_BUFFER_BYTES,
  BACKUP_PACE_BYTES,
  MAX_BACKUP_HEADER_BYTES,
  MAX_BACKUP_LINE_BYTES,
} from '../limits.ts';
import { isUlid } from '../platform/host/ids.ts';
import { isPlainObject } from '../platform/http/schema.ts';

const FORMAT_VERSION = 1;
const FIRST_LINE = `satchel-backup ${FORMAT_VERSION}\n`;
const LENGTH_BYTES = 4;
const DIGEST_BYTES = 32;

/** What a backup says of itself before anything else. No secret: the key is named, and a salt may be known. */
export interface About {
  /** Version of the Satchel that made it. */
  version: string;
  created_at: string;
  /** The master key that its sealed values need; null when nothing was ever sealed. */
  master_key_id: string | null;
  passphrase_salt: string | null;
}

/** What stands at the end: a second count, so that a program that loses entries is found out. */
export interface Totals {
  blobs: number;
  blob_bytes: number;
}

export type Entry =
  | ({ kind: 'about'; size_bytes: 0 } & About)
  | { kind: 'blob'; size_bytes: number; id: string }
  | { kind: 'database'; size_bytes: number }
  | ({ kind: 'end'; size_bytes: 0 } & Totals);

const flushData: (fd: number) => Promise<void> = promisify(fdatasync);

function sha256(...parts: (Uint8Array | string)[]): Buffer {
  const hasher = new Bun.CryptoHasher('sha256');
  for (const part of parts) hasher.update(part);
  return hasher.digest();
}

function encodeHeader(entry: Entry): Buffer {
  const json = Buffer.from(JSON.stringify(entry));
  const header = Buffer.alloc(LENGTH_BYTES + json.length);
  header.writeUInt32BE(json.length);
  json.copy(header, LENGTH_BYTES);
  return header;
}

/* --- Writing -------------------------------------------------------------------------------------------------- */

export class BackupWriter {
  readonly #fd: number;
  readonly #buffer = Buffer.allocUnsafe(BACKUP_BUFFER_BYTES);
  #buffered = 0;
  /** Bytes of the file that are written; the buffer comes after them. */
  #written = 0;
  #unpaced = 0;
  #syncing: Promise<void> = Promise.resolve();
  #digest: Uint8Array = sha256(FIRST_LINE);
  readonly #totals: Totals = { blobs: 0, blob_bytes: 0 };
  /** Where the last entry began, to take it back. */
  #before: { position: number; digest: Uint8Array; totals: Totals };

  /** Begins a backup in an empty file that is open for writing. */
  constructor(fd: number) {
    this.#fd = fd;
    this.#append(Buffer.from(FIRST_LINE));
    this.#before = this.#mark();
  }

  get totals(): Readonly<Totals> {
    return this.#totals;
  }

  writeAbout(about: About): void {
    this.#before = this.#mark();
    this.#endEntry(this.#startEntry({ kind: 'about', size_bytes: 0, ...about }), sha256());
  }

  /**
   * Adds an open file's first `size_bytes` bytes and returns their SHA-256, or null when the file is shorter; the entry
   * must then be taken back.
   */
  async writeFile(
    entry: { kind: 'blob'; id: string } | { kind: 'database' },
    file: { fd: number; size_bytes: number },
  ): Promise<string | null> {
    this.#before = this.#mark();
    const { fd, size_bytes } = file;
    const header = this.#startEntry({ ...entry, size_bytes });
    const hasher = new Bun.CryptoHasher('sha256');
    for (let left = size_bytes; left > 0; ) {
      if (this.#buffered === this.#buffer.length) await this.#flushPaced();
      const room = Math.min(left, this.#buffer.length - this.#buffered);
      const count = readSync(fd, this.#buffer, this.#buffered, room, null);
      if (count === 0) return null;
      hasher.update(this.#buffer.subarray(this.#buffered, this.#buffered + count));
      this.#buffered += count;
      left -= count;
    }
    const content = hasher.digest();
    this.#endEntry(header, content);
    if (entry.kind === 'blob') {
      this.#totals.blobs += 1;
      this.#totals.blob_bytes += size_bytes;
    }
    return content.toString('hex');
  }

  /** Takes the last entry back, as if it had never been written. */
  undo(): void {
    const { position, digest, totals } = this.#before;
    if (position >= this.#written) {
      this.#buffered = position - this.#written;
    } else {
      ftruncateSync(this.#fd, position);
      this.#written = position;
      this.#buffered = 0;
    }
    this.#digest = digest;
    Object.assign(this.#totals, totals);
  }

  /** Writes the end and makes everything durable. Returns the size of the file. */
  async finish(): Promise<number> {
    this.#endEntry(this.#startEntry({ kind: 'end', size_bytes: 0, ...this.#totals }), sha256());
    this.#flush();
    await this.#syncing;
    await flushData(this.#fd);
    return this.#written;
  }

  #mark(): { position: number; digest: Uint8Array; totals: Totals } {
    return {
      position: this.#written + this.#buffered,
      digest: this.#digest,
      totals: { ...this.#totals },
    };
  }

  #startEntry(entry: Entry): Buffer {
    const header = encodeHeader(entry);
    this.#append(header);
    return header;
  }

  #endEntry(header: Uint8Array, content: Uint8Array): void {
    this.#digest = sha256(this.#digest, header, content);
    this.#append(this.#digest);
  }

  #append(bytes: Uint8Array): void {
    if (this.#buffered + bytes.length > this.#buffer.length) this.#flush();
    this.#buffer.set(bytes, this.#buffered);
    this.#buffered += bytes.length;
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

/* --- Reading -------------------------------------------------------------------------------------------------- */

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
  #digest: Uint8Array = sha256(FIRST_LINE);
  #entry: { header: Buffer; entry: Entry; position: number } | null = null;
  #is_over = false;
  readonly #totals: Totals = { blobs: 0, blob_bytes: 0 };

  /** Opens a backup. Throws AppError `invalid` for a file that is missing, is none, or is of a newer Satchel. */
  constructor(path: string) {
    this.path = path;
    try {
      this.#fd = openSync(path, 'r');
    } catch (error) {
      throw new AppError('invalid', `The backup ${path} can't be read: ${messageOf(error)}`);
    }
    try {
      const stat = fstatSync(this.#fd);
      if (!stat.isFile()) throw new AppError('invalid', `${path} is not a file.`);
      this.size_bytes = stat.size;
      this.#checkFirstLine();
      const first = this.next();
      if (first?.kind !== 'about') throw this.#damage('it does not say what it is');
      this.#finishEntry(sha256());
      const { version, created_at, master_key_id, passphrase_salt } = first;
      this.about = { version, created_at, master_key_id, passphrase_salt };
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  close(): void {
    closeSync(this.#fd);
  }

  /** The next entry, whose content must be taken with `read`; null after the end. Throws AppError `invalid` for damage. */
  next(): Entry | null {
    if (this.#is_over) return null;
    const position = this.#position;
    const length = this.#take(LENGTH_BYTES).readUInt32BE();
    if (length > MAX_BACKUP_HEADER_BYTES)
      throw this.#damage('an entry has a header of impossible length', position);
    const json = Buffer.from(this.#take(length));
    const header = Buffer.alloc(LENGTH_BYTES + length);
    header.writeUInt32BE(length);
    json.copy(header, LENGTH_BYTES);
    const entry = decodeEntry(json.toString('utf8'));
    if (!entry) throw this.#damage('the header of an entry makes no sense', position);
    this.#entry = { header, entry, position };
    return entry;
  }

  /**
   * Takes the content of the entry that `next` gave, in chunks that are valid only during the call, and checks it.
   * Throws AppError `invalid` for damage: the chunks handed out until then must not be trusted.
   */
  async read(onChunk: (chunk: Uint8Array) => void): Promise<void> {
    const entry = this.#entry?.entry;
    if (!entry) throw new Error('there is no entry to read');
    const hasher = new Bun.CryptoHasher('sha256');
    let unpaced = 0;
    for (let left = entry.size_bytes; left > 0; ) {
      if (this.#start === this.#end && !this.#fill()) throw this.#cutOff();
      const count = Math.min(left, this.#end - this.#start);
      const chunk = this.#buffer.subarray(this.#start, this.#start + count);
      hasher.update(chunk);
      onChunk(chunk);
      this.#start += count;
      this.#position += count;
      left -= count;
      unpaced += count;
      if (unpaced < BACKUP_PACE_BYTES) continue;
      unpaced = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
    this.#finishEntry(hasher.digest());
    if (entry.kind === 'blob') {
      this.#totals.blobs += 1;
      this.#totals.blob_bytes += entry.size_bytes;
    }
    if (entry.kind === 'end') this.#checkEnd(entry);
  }

  #finishEntry(content: Uint8Array): void {
    if (!this.#entry) throw new Error('there is no entry to finish');
    const { header, entry, position } = this.#entry;
    const digest = sha256(this.#digest, header, content);
    if (!digest.equals(this.#take(DIGEST_BYTES))) {
      throw this.#damage(`the checksum of ${describe(entry)} does not fit`, position);
    }
    this.#digest = digest;
    this.#entry = null;
  }

  #checkEnd(end: Totals): void {
    this.#is_over = true;
    if (end.blobs !== this.#totals.blobs || end.blob_bytes !== this.#totals.blob_bytes) {
      throw this.#damage('it does not hold as many files as it says');
    }
    if (this.#start !== this.#end || this.#fill()) throw this.#damage('something follows its end');
  }

  #checkFirstLine(): void {
    this.#fill();
    const line = this.#buffer.subarray(0, Math.min(this.#end, MAX_BACKUP_LINE_BYTES)).toString('latin1');
    const version = /^satchel-backup ([1-9]\d{0,5})\n/.exec(line)?.[1];
    if (version === undefined) {
      throw new AppError(
        'invalid',
        `${this.path} is not a backup of Satchel, or its first bytes are damaged.`,
      );
    }
    if (Number(version) !== FORMAT_VERSION) {
      throw new AppError(
        'invalid',
        `${this.path} was made by a newer Satchel, in format ${version}; this one reads format ${FORMAT_VERSION}. ` +
          'Use the Satchel that made it, or a later one.',
      );
    }
    this.#take(FIRST_LINE.length);
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
      `The backup ${this.path} is damaged or cut off: it ends after ${this.size_bytes} bytes, in the middle of an entry.`,
    );
  }
}

function describe(entry: Entry): string {
  return entry.kind === 'blob' ? `the file ${entry.id}` : `the entry "${entry.kind}"`;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function textOrNull(value: unknown): string | null | undefined {
  return value === null || typeof value === 'string' ? value : undefined;
}

/** The entry of a header, or null when it is none: damage, or a backup that something else wrote. */
function decodeEntry(json: string): Entry | null {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return null;
  }
  if (!isPlainObject(value) || !isCount(value.size_bytes)) return null;
  const { kind, size_bytes } = value;
  if (kind === 'database') return { kind, size_bytes };
  if (kind === 'blob') {
    const { id } = value;
    return typeof id === 'string' && isUlid(id) && id === id.toUpperCase() ? { kind, size_bytes, id } : null;
  }
  if (size_bytes !== 0) return null;
  if (kind === 'end') {
    const { blobs, blob_bytes } = value;
    return isCount(blobs) && isCount(blob_bytes) ? { kind, size_bytes, blobs, blob_bytes } : null;
  }
  if (kind !== 'about') return null;
  const { version, created_at } = value;
  const master_key_id = textOrNull(value.master_key_id);
  const passphrase_salt = textOrNull(value.passphrase_salt);
  if (typeof version !== 'string' || typeof created_at !== 'string') return null;
  if (master_key_id === undefined || passphrase_salt === undefined) return null;
  return { kind, size_bytes, version, created_at, master_key_id, passphrase_salt };
}
