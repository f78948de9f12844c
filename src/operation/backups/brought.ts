/** A restore places the bytes of the object store that a backup brought along. */
import { createReadStream, existsSync, rmSync } from 'node:fs';
import { conflict } from '../../errors.ts';
import { connect, readMetaValue } from '../../platform/database/plain-connection.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { blobPathOf } from '../../platform/files/store.ts';
import { STORE_OWNED } from '../../platform/files/store-hold.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { listStoredObjects, takeAsLocal } from './store.ts';

/** As many are looked for in a store that the database did not own: single ones may be lost. */
const LOOKED_FOR = 8;
/** Uploads of a restore at once. */
const PUT_AT_ONCE = 8;

/**
 * Puts the bytes that a backup brought along into the data directory, whose rows say so from then on, or into
 * the store. Throws AppError `unavailable` where the store does not take them, `conflict` where it is
 * another's.
 */
export async function placeBrought(dir: string, store: S3Store | null): Promise<void> {
  const path = databasePathOf(dir);
  const sqlite = connect(path, { query_only: true });
  const brought: string[] = [];
  let place: string | null = null;
  try {
    place = readMetaValue(sqlite, STORE_OWNED);
    for (const { public_id } of listStoredObjects(sqlite))
      if (existsSync(blobPathOf(dir, public_id))) brought.push(public_id);
  } finally {
    sqlite.close();
  }
  if (store === null) {
    takeAsLocal(path, brought);
    return;
  }
  if (place !== store.place && (await store.hasKeys()) && !(await hasAny(store, brought)))
    throw conflict(
      `The object store ${store.place} holds files of another Satchel: name another prefix in SATCHEL_OBJECT_STORE, or leave --to s3 out.`,
    );
  const waiting = brought.values();
  const work = async (): Promise<void> => {
    for (const id of waiting) {
      const file = blobPathOf(dir, id);
      const upload = store.openUpload(id);
      try {
        for await (const chunk of createReadStream(file)) await upload.write(chunk);
        await upload.commit();
      } finally {
        await upload.abort(); // What was committed stays.
      }
      rmSync(file);
    }
  };
  await Promise.all(Array.from({ length: PUT_AT_ONCE }, work));
}

async function hasAny(store: S3Store, ids: readonly string[]): Promise<boolean> {
  for (const id of ids.slice(-LOOKED_FOR)) if ((await store.sizeOf(id)) !== null) return true;
  return false;
}
