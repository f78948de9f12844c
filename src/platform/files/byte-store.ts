/** Where bytes of stored objects may be: what the local disk and a store reached over the network both do. */
import { AppError } from '../../errors.ts';
import type { BlobUpload } from './upload.ts';

/** The folder for files in the data directory, the database there, and an object store over the network. */
export type StoreName = 'local' | 'database' | 's3';

/** The largest object in the database: 64 KiB. A larger one costs the log more than its own file would. */
export const CONTENTS_MAX_BYTES = 64 * 1024;

/** Bytes from `start` up to and without `end`, of `size_bytes` in all. */
export interface Span {
  start: number;
  end: number;
  size_bytes: number;
}

/** Bytes by the id of their object. What can't be reached is AppError `unavailable`. */
export interface ByteStore {
  readonly name: StoreName;
  /** Starts an upload; end it with `commit` or `abort`. */
  openUpload(id: string): BlobUpload;
  /** Bytes, read as they are taken; null where there are none under the id. */
  read(id: string, span: Span): Promise<Blob | ReadableStream<Uint8Array> | null>;
  /** Removes what there is under an id. Missing bytes are no error. */
  remove(id: string): Promise<void>;
}

/** Bytes that should be there, and are not: `internal` where that is our fault alone. */
export function bytesMissing(kind: 'internal' | 'not_found'): AppError {
  return new AppError(kind, 'The bytes of the file are missing.', { code: 'bytes_missing' });
}
