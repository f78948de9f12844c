/**
 * Small blobs that are asked for again and again, kept in memory. The bytes of an id never change, so nothing here grows
 * stale: whether somebody may still have them is for the row to say, which is read on every request.
 */
import { MAX_CACHED_BLOB_BYTES, MAX_CACHED_BLOBS_BYTES, MAX_REMEMBERED_BLOB_IDS } from '../../limits.ts';
import type { BlobStore } from './store.ts';

export class BlobCache {
  readonly #blobs: Pick<BlobStore, 'read'>;
  /** Least recently used first. */
  readonly #kept = new Map<string, Blob>();
  #kept_bytes = 0;
  /** Asked for once lately: only a second request shows that keeping the bytes is worth it. */
  readonly #asked = new Set<string>();

  constructor(blobs: Pick<BlobStore, 'read'>) {
    this.#blobs = blobs;
  }

  /** The bytes where they are in memory, now or already; null where they are to be read from disk. */
  async get(id: string, size_bytes: number): Promise<Blob | null> {
    const kept = this.#kept.get(id);
    if (kept) {
      this.#kept.delete(id);
      this.#kept.set(id, kept);
      return kept;
    }
    if (size_bytes > MAX_CACHED_BLOB_BYTES || !this.#wasAsked(id)) return null;
    const bytes = await this.#blobs
      .read(id)
      .bytes()
      .catch(() => null);
    if (bytes?.byteLength !== size_bytes) return null;
    const blob = new Blob([bytes]);
    this.#keep(id, blob);
    return blob;
  }

  #wasAsked(id: string): boolean {
    if (this.#asked.delete(id)) return true;
    this.#asked.add(id);
    if (this.#asked.size > MAX_REMEMBERED_BLOB_IDS) {
      for (const oldest of this.#asked) {
        this.#asked.delete(oldest);
        break;
      }
    }
    return false;
  }

  #keep(id: string, blob: Blob): void {
    if (this.#kept.has(id)) return;
    this.#kept.set(id, blob);
    this.#kept_bytes += blob.size;
    for (const [oldest, { size }] of this.#kept) {
      if (this.#kept_bytes <= MAX_CACHED_BLOBS_BYTES) break;
      this.#kept.delete(oldest);
      this.#kept_bytes -= size;
    }
  }
}
