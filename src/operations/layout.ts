/** What stands where in a data directory, for commands that work on its files themselves rather than through the services. */
import { existsSync, readdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { AppError } from '../errors.ts';
import { databasePathOf } from '../platform/data-directory.ts';

/** The database of a directory. Throws AppError `not_found` when there is none. */
export function requireDatabase(data_dir: string): string {
  const path = databasePathOf(data_dir);
  if (existsSync(path)) return path;
  throw new AppError(
    'not_found',
    `There is no database in ${data_dir}. Name the data directory with --data-dir or SATCHEL_DATA_DIR.`,
  );
}

/** Where the bytes of an object are, as `platform/blobs.ts` lays them out; making a store would make its folders. */
export function blobPathOf(data_dir: string, public_id: string): string {
  return join(data_dir, 'objects', public_id.slice(-2), public_id);
}

/** Every file below `objects/` that stands in a folder for bytes. */
export function* listBlobFiles(data_dir: string): Generator<{ folder: string; id: string }> {
  const root = join(data_dir, 'objects');
  if (!existsSync(root)) return;
  for (const folder of readdirSync(root)) {
    if (!/^[0-9A-HJKMNP-TV-Z]{2}$/.test(folder)) continue;
    for (const id of readdirSync(join(root, folder))) yield { folder, id };
  }
}

/** Flushes a folder, so that the names in it survive a power cut. */
export async function flushFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
