/** A backup that is whole as a file, and wrong in what it says: one row has no bytes in it, one has those of another. */
import { Database } from 'bun:sqlite';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from '../../../src/operation/backups/format.ts';
import { BackupWriter } from '../../../src/operation/backups/writer.ts';
import { blobName } from '../../../src/platform/files/archive.ts';
import { blobPath } from '../../support/deployment.ts';

export async function backUpWith(
  data_dir: string,
  path: string,
): Promise<{ missing: string; other: string }> {
  const database = `${path}.db`;
  const sqlite = new Database(join(data_dir, 'satchel.db'), { readwrite: true, create: false });
  sqlite.query('VACUUM INTO ?').run(database);
  const ids = sqlite
    .query('SELECT public_id FROM objects')
    .values()
    .map(([id]) => String(id));
  sqlite.close();
  const [missing = '', other = '', ...rest] = ids;
  const fd = openSync(path, 'w');
  const writer = new BackupWriter(fd, 0);
  const add = async (from: string, name: string): Promise<void> => {
    const source = openSync(from, 'r');
    await writer.writeFile(name, { fd: source, size_bytes: fstatSync(source).size, sha256: null });
    closeSync(source);
  };
  for (const id of rest) await add(blobPath(data_dir, id), blobName(id));
  await add(blobPath(data_dir, missing), blobName(other));
  await add(database, DATABASE);
  await writer.finish();
  closeSync(fd);
  return { missing, other };
}
