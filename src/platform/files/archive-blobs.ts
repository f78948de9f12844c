/** Adds the bytes of objects to an archive, but not where they are gone or are not what a row tells of. */
import { closeSync, fstatSync } from 'node:fs';
import { asOwner } from '../host/ownership.ts';
import { blobName } from './archive.ts';
import type { ArchiveWriter } from './archive-writer.ts';
import type { S3Store } from './s3-store.ts';
import { openBlob } from './store.ts';

/** What rows tell of bytes. Size and hash are null where no object stands for them any more. */
export interface NamedBytes {
  public_id: string;
  size_bytes: number | null;
  sha256: string | null;
}

/** Adds a file of a data directory. Returns its size, or null where it was left out. */
export async function addBlob(
  writer: ArchiveWriter,
  data_dir: string,
  { public_id, sha256, ...told }: NamedBytes,
): Promise<number | null> {
  const fd = asOwner(data_dir, () => openBlob(data_dir, public_id));
  if (fd === null) return null;
  try {
    const size_bytes = fstatSync(fd).size;
    if (told.size_bytes !== null && told.size_bytes !== size_bytes) return null;
    return (await writer.writeFile(blobName(public_id), { fd, size_bytes, sha256 })) ? size_bytes : null;
  } finally {
    closeSync(fd);
  }
}

/** As `addBlob`, of bytes in an object store. */
export async function addStored(
  writer: ArchiveWriter,
  store: S3Store,
  { public_id, sha256, ...told }: NamedBytes,
): Promise<number | null> {
  const size_bytes = told.size_bytes ?? (await store.sizeOf(public_id));
  if (size_bytes === null) return null;
  const bytes = await store.read(public_id, { start: 0, end: size_bytes, size_bytes });
  if (bytes === null) return null;
  return (await writer.writeStream(blobName(public_id), { bytes, size_bytes, sha256 })) ? size_bytes : null;
}
