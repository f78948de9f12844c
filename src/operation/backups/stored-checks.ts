/** Asks the object store for what a backup lists: is it there, of its size, and on demand byte for byte? */

import { connect, connectAsOwner } from '../../platform/database/plain-connection.ts';
import { S3Store } from '../../platform/files/s3-store.ts';
import { databasePathOf, hasDatabase } from '../../platform/host/database-file.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import type { S3Settings } from '../../store-place.ts';
import { isNamed, listStoredObjects, type StoredObject, sumIn } from './store.ts';
import { describeIds } from './unpacking.ts';

/** Questions to the store at once. */
const ASKED_AT_ONCE = 8;

export interface StoreQuestion {
  settings: S3Settings;
  /** The directory that is served, whose rows tell what was deleted since. */
  data_dir: string;
  /** Reads and hashes the bytes. */
  is_deep: boolean;
}

export interface StoreAnswer {
  findings: string[];
  /** Counts objects that were deleted since the backup, and are in the store no more. */
  deleted_since: number;
}

/** Throws AppError `unavailable` where the store can't be asked. */
export async function checkStored(
  backup_path: string,
  { settings, data_dir, is_deep }: StoreQuestion,
  onProgress: OnProgress,
): Promise<StoreAnswer> {
  const store = new S3Store(settings);
  const backup = connect(backup_path, { query_only: true });
  const live = hasDatabase(data_dir) ? connectAsOwner(databasePathOf(data_dir), { query_only: true }) : null;
  try {
    const total = sumIn(backup, 's3').objects;
    const missing: string[] = [];
    const different: string[] = [];
    let deleted_since = 0;
    let done = 0;
    const objects = listStoredObjects(backup);
    const work = async (): Promise<void> => {
      for (const object of objects) {
        const found = is_deep ? await hashOf(store, object) : await sizeOf(store, object);
        if (found === 'missing' && live && !isNamed(live, object.public_id)) deleted_since += 1;
        else if (found === 'missing') missing.push(object.public_id);
        else if (found === 'different') different.push(object.public_id);
        done += 1;
        onProgress(done, total);
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, work));
    const findings = [
      ...describeIds(missing, 'has no bytes in the store', 'have no bytes in the store'),
      ...describeIds(
        different,
        'has other bytes in the store than its row tells of',
        'have other bytes in the store than their rows tell of',
      ),
    ];
    return { findings, deleted_since };
  } finally {
    backup.close();
    live?.close();
  }
}

type Found = 'whole' | 'missing' | 'different';

async function sizeOf(store: S3Store, { public_id, size_bytes }: StoredObject): Promise<Found> {
  const size = await store.sizeOf(public_id);
  return size === null ? 'missing' : size === size_bytes ? 'whole' : 'different';
}

async function hashOf(store: S3Store, object: StoredObject): Promise<Found> {
  const { public_id, size_bytes, sha256 } = object;
  const found = await sizeOf(store, object);
  if (found !== 'whole') return found;
  const bytes = await store.read(public_id, { start: 0, end: size_bytes, size_bytes });
  if (!bytes) return 'missing';
  const hasher = new Bun.CryptoHasher('sha256');
  for await (const chunk of bytes) hasher.update(chunk);
  return hasher.digest('hex') === sha256 ? 'whole' : 'different';
}
