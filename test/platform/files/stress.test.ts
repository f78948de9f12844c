/** Many uploads at once, given up and failing at every stage: each that is stored has its own bytes, and nothing is left of the rest. */

import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BLOB_WRITE_BYTES } from '../../../src/platform/files/file-sink.ts';
import { BlobStore } from '../../../src/platform/files/store.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { makeTempDir } from '../../support/temp.ts';

/** The same numbers on each run (mulberry32), so that a failure can be had again. */
function makeRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const countDescriptors = () => (existsSync('/proc/self/fd') ? readdirSync('/proc/self/fd').length : 0);

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => path.slice(-26))
    .sort();
}

test('uploads that end in every way at once keep to their own bytes and descriptors', async () => {
  const dir = makeTempDir();
  const blobs = new BlobStore(dir);
  const random = makeRandom(7);
  let occupied = 0;
  const stored = new Map<string, { sha256: string; size: number }>();
  const before = countDescriptors();

  /** Bytes that no other upload has, in pieces of any size, ended by a hash, a commit, both or an abort. */
  const run = async (fill: number): Promise<void> => {
    const id = newId(1);
    const upload = blobs.openUpload(id);
    // Now and then something else stands where the file is to be.
    const is_occupied = random(5) === 0;
    if (is_occupied) mkdirSync(blobs.path(id), { recursive: true });
    const size = random(5 * BLOB_WRITE_BYTES);
    const given_up_at = random(3) === 0 ? random(size + 1) : null;
    try {
      for (let done = 0; done < size; ) {
        const piece = new Uint8Array(Math.min(size - done, 1 + random(BLOB_WRITE_BYTES * 1.5))).fill(fill);
        done += piece.byteLength;
        await upload.write(piece);
        if (given_up_at !== null && done >= given_up_at) return await upload.abort();
      }
      const sha256 = random(2) === 0 ? upload.sha256() : null;
      await upload.commit();
      const expected = new Bun.CryptoHasher('sha256').update(new Uint8Array(size).fill(fill)).digest('hex');
      if (sha256 !== null) expect(sha256).toBe(expected);
      stored.set(id, { sha256: expected, size });
    } catch (error) {
      expect([is_occupied, error]).toMatchObject([true, { code: 'EEXIST' }]);
      expect(existsSync(blobs.path(id))).toBe(true);
      occupied += 1;
      await upload.abort();
    }
  };

  for (let round = 0; round < 12; round += 1) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => run((round * 20 + n) % 251)));
  }

  expect(stored.size).toBeGreaterThan(50);
  expect(occupied).toBeGreaterThan(0);
  for (const [id, { sha256, size }] of stored) {
    const bytes = readFileSync(blobs.path(id));
    const got = new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
    expect([id, bytes.byteLength, got]).toEqual([id, size, sha256]);
  }
  expect(filesIn(join(dir, 'objects'))).toEqual([...stored.keys()].sort());
  // Fewer where something of an earlier test was closed meanwhile.
  expect(countDescriptors()).toBeLessThanOrEqual(before);
}, 60_000);
