/**
 * The thread that writes and hashes large uploads, as the two together cost more time than receiving them. It answers each
 * `append` and `digest` in the order in which they come; `forget` has no answer.
 */
import { writeSync } from 'node:fs';
import type { BlobReply, BlobRequest } from './upload-thread.ts';

declare const self: Worker;

const hashers = new Map<number, Bun.CryptoHasher>();

function answer(reply: BlobReply): void {
  self.postMessage(reply);
}

function append(hasher: Bun.CryptoHasher, fd: number, bytes: Uint8Array): BlobReply {
  try {
    // A write may take only a part, as on a disk that is nearly full.
    for (let done = 0; done < bytes.byteLength; ) done += writeSync(fd, bytes, done);
    hasher.update(bytes);
    return { ok: true };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    return { ok: false, code, message: String(error) };
  }
}

self.onmessage = ({ data: request }: MessageEvent<BlobRequest>) => {
  const { op, upload } = request;
  const hasher = hashers.get(upload) ?? new Bun.CryptoHasher('sha256');
  if (op === 'append') {
    hashers.set(upload, hasher);
    answer(append(hasher, request.fd, new Uint8Array(request.buffer, 0, request.size_bytes)));
    return;
  }
  hashers.delete(upload);
  if (op === 'digest') answer({ ok: true, sha256: hasher.digest('hex') });
};
