/** Parts of uploads as they come: flushed, hashed, and then told of by the row. */
import { AppError, notFound } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { readPatiently } from '../../platform/files/patient-reading.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import type { BlobUpload } from '../../platform/files/upload.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import type { Checksum } from './protocol.ts';
import { setOffset } from './store.ts';
import type { UploadRow } from './tables.ts';
import { cutShort, type Writing } from './writing.ts';

/** What came is kept each time so much of it has come, and so often: a crash takes no more than that back. */
const KEEP_EVERY_BYTES = 16 * 1024 * 1024;
const KEEP_EVERY_MS = 5_000;
/** Hashes of uploads under way that are held in memory: each takes some hundred bytes. */
const HELD_HASHES = 1_000;

export interface Part {
  offset_bytes: number;
  /** As announced; null where it was not. */
  size_bytes: number | null;
  checksum: Checksum | null;
  body: ReadableStream<Uint8Array> | null;
  /** Throws where the caller has lost access meanwhile. */
  acceptAgain(): unknown;
}

export class Intake {
  /** The hash of what the row of an upload tells of. A restart takes them away. */
  readonly #hashes = new Map<string, { offset_bytes: number; hasher: Bun.CryptoHasher }>();

  constructor(private readonly deps: { database: Database; blobs: BlobStore }) {}

  /** SHA-256 of all that came so far; null where it is not known any more. */
  hashAt({ id, offset_bytes }: UploadRow): Bun.CryptoHasher | null {
    if (offset_bytes === 0) return new Bun.CryptoHasher('sha256');
    const held = this.#hashes.get(id);
    return held?.offset_bytes === offset_bytes ? held.hasher : null;
  }

  forget(id: string): void {
    this.#hashes.delete(id);
  }

  /**
   * Reads a part to its end and keeps it. What came of a broken-off part is kept, unless it has a checksum.
   * Any other failure leaves what was kept before.
   */
  async take(upload: UploadRow, part: Part, writing: Writing): Promise<void> {
    const adding = new Adding(upload, this.hashAt(upload)?.copy() ?? null, {
      open: (from, hasher) => this.deps.blobs.continueUpload(upload.id, { from, hasher }),
      record: (offset_bytes, hasher) => this.#record(upload.id, offset_bytes, hasher),
    });
    const { checksum, body } = part;
    const hasher = checksum && new Bun.CryptoHasher(checksum.algorithm);
    const chunks = body && readPatiently(body, { signal: writing.signal, refuse: cutShort });
    let cut: unknown = null;
    try {
      for (;;) {
        writing.waits();
        const next = await chunks?.next().catch((error: unknown) => {
          cut = error;
        });
        writing.works();
        if (!next || next.done) break;
        hasher?.update(next.value);
        await adding.write(next.value);
        if (!checksum && adding.isDue()) await adding.keep();
      }
      if (cut === null) part.acceptAgain();
      else if (checksum) throw cut;
      if (checksum && hasher?.digest('base64') !== checksum.base64)
        throw new AppError('checksum_mismatch', 'The part does not have this checksum. It was not kept.');
      await adding.keep();
    } finally {
      await chunks?.return(undefined);
      await adding.drop();
    }
    if (cut !== null) throw cut;
  }

  async #record(id: string, offset_bytes: number, hasher: Bun.CryptoHasher | null): Promise<void> {
    const is_there = await this.deps.database.write((tx) => setOffset(tx, id, offset_bytes));
    if (!is_there) throw notFound('Upload');
    this.#hashes.delete(id);
    if (!hasher) return;
    this.#hashes.set(id, { offset_bytes, hasher: hasher.copy() });
    const [oldest] = this.#hashes.keys();
    if (this.#hashes.size > HELD_HASHES && oldest !== undefined) this.#hashes.delete(oldest);
  }
}

interface AddingTo {
  open(from: number, hasher: Bun.CryptoHasher | null): BlobUpload;
  /** Has the row tell of what is durable. */
  record(offset_bytes: number, hasher: Bun.CryptoHasher | null): Promise<void>;
}

/** What one part adds to an upload. */
class Adding {
  #offset_bytes: number;
  /** What came since something was kept. */
  #fresh: BlobUpload | null = null;
  #began_ms = 0;

  constructor(
    private readonly upload: UploadRow,
    private readonly hasher: Bun.CryptoHasher | null,
    private readonly to: AddingTo,
  ) {
    this.#offset_bytes = upload.offset_bytes;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#fresh === null) {
      this.#fresh = this.to.open(this.#offset_bytes, this.hasher);
      this.#began_ms = monotonicMs();
    }
    const size_bytes = this.#offset_bytes + this.#fresh.size_bytes + chunk.byteLength;
    if (size_bytes > this.upload.size_bytes) throw tooLong();
    await this.#fresh.write(chunk);
  }

  isDue(): boolean {
    if (this.#fresh === null) return false;
    return this.#fresh.size_bytes >= KEEP_EVERY_BYTES || monotonicMs() - this.#began_ms >= KEEP_EVERY_MS;
  }

  async keep(): Promise<void> {
    const fresh = this.#fresh;
    if (fresh === null) return;
    this.#fresh = null;
    await fresh.commit();
    this.#offset_bytes += fresh.size_bytes;
    await this.to.record(this.#offset_bytes, this.hasher);
  }

  /** Takes back what is not kept. */
  async drop(): Promise<void> {
    await this.#fresh?.abort();
  }
}

export function tooLong(): AppError {
  return new AppError('too_large', 'The part goes beyond the Upload-Length of the upload.');
}
