/**
 * An upload on its way to its place: counted, looked at and handed on as it comes. Only its row, which is
 * written last, makes an object of it. Until then a sweep may remove it.
 */
import { ContentFacts } from './content-facts.ts';

/** Signatures of the formats people upload stand in the first 4 KiB. */
export const SNIFF_BYTES = 4_100;
const NO_BYTES = Buffer.alloc(0);

/** What takes the bytes of an upload, piece by piece. What it throws is for the client. */
export interface UploadSink {
  /** Bytes that it takes at once; the last piece may have fewer. */
  readonly piece_bytes: number;
  /** Takes a full piece. */
  append(piece: Uint8Array): Promise<void>;
  /** Takes the last piece, which may be empty, and makes all of it durable. */
  finish(piece: Uint8Array): Promise<void>;
  /** Takes back what it was given. */
  discard(): void;
}

/** Stores nothing before a piece is full or `commit` is called: most refused uploads never touch a disk. */
export class BlobUpload {
  readonly id: string;
  #is_told = false;
  #head: Buffer = NO_BYTES;
  #size_bytes = 0;
  /** The buffer that is being filled, and the spare one that the sink is done with. */
  #buffer: Buffer = NO_BYTES;
  #used = 0;
  #spare: Buffer | null = null;
  /** The piece under way; once one has failed, this stays the failure. */
  #writing: Promise<void> = Promise.resolve();
  #state: 'open' | 'ending' = 'open';
  #held: Uint8Array | null = null;

  /**
   * `facts` go on where an earlier part of the bytes ended; null are not asked. An upload of at most
   * `hold_bytes` never reaches the sink.
   */
  constructor(
    id: string,
    private readonly sink: UploadSink,
    private readonly facts: ContentFacts | null = new ContentFacts(),
    private readonly hold_bytes: number | null = null,
  ) {
    this.id = id;
  }

  /** After `commit`: the bytes that the caller is to store with the row; null where the sink stored them. */
  get held(): Uint8Array | null {
    return this.#held;
  }

  /** Bytes taken so far. */
  get size_bytes(): number {
    return this.#size_bytes;
  }

  /** The first bytes, at most `SNIFF_BYTES`. */
  get head(): Uint8Array {
    return this.#head;
  }

  /** SHA-256 in lower-case hex; nothing can be written after it. */
  sha256(): string {
    if (!this.facts) throw new Error('the upload is not hashed');
    this.#is_told = true;
    return this.facts.sha256();
  }

  /** Whether the bytes that came are UTF-8, and not ASCII alone. */
  get is_utf8(): boolean {
    return this.facts?.is_utf8 ?? false;
  }

  /**
   * Takes bytes. Await it: it waits while the sink is slower than the client. Throws AppError `unavailable`
   * where they can't be stored.
   */
  async write(chunk: Uint8Array): Promise<void> {
    if (this.#state !== 'open' || this.#is_told) throw new Error('the upload takes no more bytes');
    this.#size_bytes += chunk.byteLength;
    this.facts?.update(chunk);
    const wanted = SNIFF_BYTES - this.#head.byteLength;
    if (wanted > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, wanted)]);
    for (let at = 0; at < chunk.byteLength; ) {
      if (this.#used === this.sink.piece_bytes) await this.#handOn();
      this.#makeRoom(chunk.byteLength - at);
      const piece = chunk.subarray(at, at + this.#buffer.byteLength - this.#used);
      this.#buffer.set(piece, this.#used);
      this.#used += piece.byteLength;
      at += piece.byteLength;
    }
  }

  /**
   * Makes the bytes durable under the id; a power cut can then lose only what is `held`. Throws AppError
   * `unavailable` where they can't be stored, and then leaves nothing, as after any failure.
   */
  async commit(): Promise<void> {
    if (this.#state !== 'open') throw new Error('the upload has already ended');
    this.#state = 'ending';
    if (this.hold_bytes !== null && this.#size_bytes <= this.hold_bytes) {
      this.#held = this.#buffer.subarray(0, this.#used);
      return;
    }
    try {
      await this.#writing;
      await this.sink.finish(this.#buffer.subarray(0, this.#used));
    } catch (error) {
      this.sink.discard();
      throw error;
    }
  }

  /** Drops the bytes; does nothing after a commit or another abort. */
  async abort(): Promise<void> {
    if (this.#state !== 'open') return;
    this.#state = 'ending';
    await Promise.allSettled([this.#writing]);
    this.sink.discard();
  }

  /** Small uploads get a small buffer, and one that comes in single bytes none for each. */
  #makeRoom(bytes: number): void {
    const most = this.sink.piece_bytes;
    if (this.#used + bytes <= this.#buffer.byteLength || this.#buffer.byteLength === most) return;
    const size = Math.min(most, Math.max(this.#used + bytes, 2 * this.#buffer.byteLength));
    const larger = Buffer.allocUnsafeSlow(size);
    larger.set(this.#buffer.subarray(0, this.#used));
    this.#buffer = larger;
  }

  /** One buffer is written while the next one fills. */
  async #handOn(): Promise<void> {
    await this.#writing;
    const full = this.#buffer;
    this.#writing = this.sink.append(full.subarray(0, this.#used));
    this.#writing.catch(() => {}); // Whoever awaits it next gets the error.
    this.#buffer = this.#spare ?? NO_BYTES;
    this.#spare = full;
    this.#used = 0;
  }
}
