/** A backup that is whole as a file, and wrong in what it says: one row has no bytes in it, one has those of another. */
import { Database } from 'bun:sqlite';
import { closeSync, fstatSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { BackupWriter } from '../../src/backups/format.ts';
import { blobPath } from '../deployment.ts';

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
  const writer = new BackupWriter(fd);
  writer.writeAbout({ version: '0', created_at: 'x', master_key_id: null, passphrase_salt: null });
  const add = async (from: string, entry: Parameters<BackupWriter['writeFile']>[0]): Promise<void> => {
    const source = openSync(from, 'r');
    await writer.writeFile(entry, { fd: source, size_bytes: fstatSync(source).size });
    closeSync(source);
  };
  for (const id of rest) await add(blobPath(data_dir, id), { kind: 'blob', id });
  await add(blobPath(data_dir, missing), { kind: 'blob', id: other });
  await add(database, { kind: 'database' });
  await writer.finish();
  closeSync(fd);
  return { missing, other };
}
