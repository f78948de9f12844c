/**
 * Gives a stream of the store a length that the answer tells: of a stream Bun sends none, whatever the
 * headers say (oven-sh/bun#10507). Small ones are read into memory, larger ones into a file that is unlinked
 * once it is open.
 */
import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { diskErrorOf } from '../../platform/files/file-sink.ts';

/** A client with the usual patience waits for as much from a store nearby. */
const SPOOL_MAX_BYTES = 64 * 1024 * 1024;
const HELD_BYTES = 1024 * 1024;
/** Whoever fetches slowly keeps such a file: so much of the disk is left to others. */
const FREE_DISK_BYTES = 1024 ** 3;
/** An answer opens its file in the turn in which it is given. */
const OPENED_WITHIN_MS = 10_000;

/**
 * All bytes, read at once; or the stream itself beyond 64 MiB or on a full disk. Throws what the stream does,
 * and AppError `unavailable` where the disk fails.
 */
export async function spool(
  bytes: ReadableStream<Uint8Array>,
  { size_bytes, folder }: { size_bytes: number; folder: string },
): Promise<Blob | ReadableStream<Uint8Array>> {
  if (size_bytes <= HELD_BYTES) return new Response(bytes).blob();
  if (size_bytes > SPOOL_MAX_BYTES) return bytes;
  const { bavail, bsize } = statfsSync(dirname(folder));
  if (bavail * bsize < size_bytes + FREE_DISK_BYTES) return bytes;
  const path = join(folder, randomUUID());
  try {
    await writeStream(path, bytes);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  }
  setTimeout(() => rmSync(path, { force: true }), OPENED_WITHIN_MS).unref();
  return Bun.file(path);
}

/** Writes a new private file. Throws what the bytes do, and AppError `unavailable` where the disk fails. */
export async function writeStream(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const chunk of bytes) await file.writeFile(chunk);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw diskErrorOf(error);
  }
}
