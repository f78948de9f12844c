/** Parts of uploads as they come: flushed, looked at, and then told of by the row. A request can be told to stop. */
import { AppError, notFound } from '../../errors.ts';
import type { Database } from '../../platform/database/database.ts';
import { ContentFacts } from '../../platform/files/content-facts.ts';
import { readPatiently } from '../../platform/files/patient-reading.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import type { BlobUpload } from '../../platform/files/upload.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import type { Checksum } from './protocol.ts';
import { setOffset } from './store.ts';
import type { UploadRow } from './tables.ts';

/** What came is kept each time so much of it has come, and so often: a crash takes no more than that back. */
const KEEP_EVERY_BYTES = 16 * 1024 * 1024;
const KEEP_EVERY_MS = 5_000;
/** Facts of uploads under way that are held in memory: each takes some hundred bytes. */
const HELD_FACTS = 1_000;

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
  /** Facts of the bytes that the row of an upload tells of. A restart takes them away. */
  readonly #known = new Map<string, { offset_bytes: number; facts: ContentFacts }>();

  constructor(private readonly deps: { database: Database; blobs: BlobStore }) {}

  /** The facts of all that came so far; null where they are not known any more. */
  factsAt({ id, offset_bytes }: UploadRow): ContentFacts | null {
    if (offset_bytes === 0) return new ContentFacts();
    const known = this.#known.get(id);
    return known?.offset_bytes === offset_bytes ? known.facts : null;
  }

  forget(id: string): void {
    this.#known.delete(id);
  }

  /**
   * Reads a part to its end and keeps it. What came of a broken-off part is kept, unless it has a checksum.
   * Any other failure leaves what was kept before.
   */
  async take(upload: UploadRow, part: Part, writing: Writing): Promise<void> {
    const adding = new Adding(upload, this.factsAt(upload)?.copy() ?? null, {
      open: (from, facts) => this.deps.blobs.continueUpload(upload.id, { from, facts }),
      record: (offset_bytes, facts) => this.#record(upload.id, offset_bytes, facts),
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

  async #record(id: string, offset_bytes: number, facts: ContentFacts | null): Promise<void> {
    const noted = await this.deps.database.write((tx) => setOffset(tx, { id, offset_bytes }));
    if (noted === 0) throw notFound('Upload');
    this.#known.delete(id);
    if (!facts) return;
    this.#known.set(id, { offset_bytes, facts: facts.copy() });
    const [oldest] = this.#known.keys();
    if (this.#known.size > HELD_FACTS && oldest !== undefined) this.#known.delete(oldest);
  }
}

interface AddingTo {
  open(from: number, facts: ContentFacts | null): BlobUpload;
  /** Has the row tell of what is durable. */
  record(offset_bytes: number, facts: ContentFacts | null): Promise<void>;
}

/** What one part adds to an upload. */
class Adding {
  #offset_bytes: number;
  /** What came since something was kept. */
  #fresh: BlobUpload | null = null;
  #began_ms = 0;

  constructor(
    private readonly upload: UploadRow,
    private readonly facts: ContentFacts | null,
    private readonly to: AddingTo,
  ) {
    this.#offset_bytes = upload.offset_bytes;
  }

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#fresh === null) {
      this.#fresh = this.to.open(this.#offset_bytes, this.facts);
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
    await this.to.record(this.#offset_bytes, this.facts);
  }

  /** Takes back what is not kept. */
  async drop(): Promise<void> {
    await this.#fresh?.abort();
  }
}

export function tooLong(): AppError {
  return new AppError('too_large', 'The part goes beyond the Upload-Length of the upload.');
}

export class Writing {
  readonly #stop = new AbortController();
  readonly #ended = Promise.withResolvers<void>();
  /** Since when it waits for its client; null while it works. */
  #waits_since_ms: number | null = monotonicMs();

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** How long its client has sent nothing. */
  get silence_ms(): number {
    return this.#waits_since_ms === null ? 0 : monotonicMs() - this.#waits_since_ms;
  }

  works(): void {
    this.#waits_since_ms = null;
  }

  waits(): void {
    this.#waits_since_ms = monotonicMs();
  }

  /** Has it keep what came and answer this; resolves when it has ended. */
  stop(refusal: AppError): Promise<void> {
    this.#stop.abort(refusal);
    return this.#ended.promise;
  }

  end(): void {
    this.#ended.resolve();
  }
}

/** The refusal of a request that ended before its body did: clients ask for the offset then, and go on. */
export function cutShort(why: string, cause?: unknown): AppError {
  const message = `The request ended early: ${why}. Ask for the offset of the upload, and go on from there.`;
  return new AppError('unavailable', message, { retry_after_s: 1, cause });
}
