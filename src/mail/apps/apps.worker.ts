/** The thread of apps: reads what they send, makes messages of it and writes them to the disk. */
import { BlobStore } from '../../platform/files/store.ts';
import { serve } from '../../platform/host/threads.ts';
import { type Made, make, type Piece, type Reader } from './composing.ts';
import { readResend } from './resend-reading.ts';
import type { AppSource } from './tables.ts';

const READERS: Partial<Record<AppSource, Reader>> = { resend: readResend };

const stores = new Map<string, BlobStore>();

function storeIn(data_dir: string): BlobStore {
  const store = stores.get(data_dir) ?? new BlobStore(data_dir);
  stores.set(data_dir, store);
  return store;
}

serve(async ({ data_dir, piece }: { data_dir: string; piece: Piece }): Promise<Made> => {
  const read = READERS[piece.source];
  if (!read) throw new Error(`nobody reads ${piece.source}`);
  return make(piece, read, storeIn(data_dir));
});
