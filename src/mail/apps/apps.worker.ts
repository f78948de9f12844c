/** The thread of apps: reads what they send, makes messages of it and writes them to the disk. */
import { BlobStore } from '../../platform/files/store.ts';
import { serve } from '../../platform/host/threads.ts';
import { type Made, make, type Piece, type Reader } from './composing.ts';
import { readMailgun } from './mailgun-reading.ts';
import { readResend } from './resend-reading.ts';
import type { AppSource } from './tables.ts';

const READERS: Record<AppSource, Reader> = { resend: readResend, mailgun: readMailgun };

const stores = new Map<string, BlobStore>();

function storeIn(data_dir: string): BlobStore {
  const store = stores.get(data_dir) ?? new BlobStore(data_dir);
  stores.set(data_dir, store);
  return store;
}

serve(async ({ data_dir, piece }: { data_dir: string; piece: Piece }): Promise<Made> => {
  return make(piece, READERS[piece.source], storeIn(data_dir));
});
