/** Which blobs are kept in memory, for how long, and that they are the right bytes. */
import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { MAX_CACHED_BLOB_BYTES, MAX_CACHED_BLOBS_BYTES } from '../../../src/limits.ts';
import { BlobCache } from '../../../src/platform/files/cache.ts';

/** Blobs by id, and how often each was read from disk. */
function disk() {
  const blobs = new Map<string, Buffer<ArrayBuffer>>();
  const reads: string[] = [];
  const read = (id: string): Blob => {
    reads.push(id);
    const bytes = blobs.get(id);
    return bytes ? new Blob([bytes]) : Bun.file('/nonexistent');
  };
  return { blobs, reads, cache: new BlobCache({ read }) };
}

describe('a blob', () => {
  test('is kept from its second request on and then read no more', async () => {
    const { blobs, reads, cache } = disk();
    const bytes = randomBytes(1_000);
    blobs.set('a', bytes);
    expect(await cache.get('a', 1_000)).toBeNull();
    expect(reads).toEqual([]);
    for (let n = 0; n < 3; n += 1) {
      const blob = await cache.get('a', 1_000);
      expect(Buffer.from((await blob?.bytes()) ?? []).equals(bytes)).toBe(true);
    }
    expect(reads).toEqual(['a']);
  });

  test('that is large, missing or of another size than its row says is never kept', async () => {
    const { blobs, cache } = disk();
    blobs.set('large', randomBytes(MAX_CACHED_BLOB_BYTES + 1));
    blobs.set('cut', randomBytes(10));
    for (let n = 0; n < 4; n += 1) {
      expect(await cache.get('large', MAX_CACHED_BLOB_BYTES + 1)).toBeNull();
      expect(await cache.get('missing', 5)).toBeNull();
      expect(await cache.get('cut', 11)).toBeNull();
    }
  });

  test('makes way, the least recently used first, when the whole grows too large', async () => {
    const { blobs, reads, cache } = disk();
    const fits = MAX_CACHED_BLOBS_BYTES / MAX_CACHED_BLOB_BYTES;
    for (let n = 0; n <= fits; n += 1) {
      blobs.set(`b${n}`, randomBytes(MAX_CACHED_BLOB_BYTES));
      await cache.get(`b${n}`, MAX_CACHED_BLOB_BYTES);
      await cache.get(`b${n}`, MAX_CACHED_BLOB_BYTES);
      await cache.get('b0', MAX_CACHED_BLOB_BYTES);
    }
    reads.length = 0;
    expect(await cache.get('b0', MAX_CACHED_BLOB_BYTES)).not.toBeNull();
    expect(await cache.get(`b${fits}`, MAX_CACHED_BLOB_BYTES)).not.toBeNull();
    expect(await cache.get('b1', MAX_CACHED_BLOB_BYTES)).toBeNull();
    expect(reads).toEqual([]);
  });
});
