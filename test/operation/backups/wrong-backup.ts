/** A backup that is whole as a file, and wrong in what it says: one row has no bytes in it, one has those of another. */
import { Database } from 'bun:sqlite';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { BackupWriter, DATABASE } from '../../../src/operation/backups/format.ts';
import { blobName } from '../../../src/platform/files/archive.ts';
import { blobPath } from '../../support/deployment.ts';

export async function backUpWith(
  data_dir: string,
  path: string,
): Promise<{ missing: string; other: string; gone: string; changed: string }> {
  const database = `${path}.db`;
  const sqlite = new Database(join(data_dir, 'satchel.db'), { readwrite: true, create: false });
  sqlite.query('VACUUM INTO ?').run(database);
  const ids = sqlite
    .query("SELECT public_id FROM objects WHERE store = 'local'")
    .values()
    .map(([id]) => String(id));
  sqlite.close();
  const copy = new Database(database, { readwrite: true, create: false });
  const [gone = '', changed = ''] = copy
    .query("SELECT public_id FROM objects WHERE store = 'database'")
    .values()
    .map(([id]) => String(id));
  const number = '(SELECT id FROM objects WHERE public_id = ?)';
  copy.query(`DELETE FROM object_contents WHERE object_id = ${number}`).run(gone);
  copy.query(`UPDATE object_contents SET bytes = x'00' WHERE object_id = ${number}`).run(changed);
  copy.close();
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
  return { missing, other, gone, changed };
}
