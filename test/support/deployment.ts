/** What tests of backups compare: every row and every byte of a data directory. */
import { Database } from 'bun:sqlite';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_HOLD } from '../../src/platform/files/store-hold.ts';
import { moveToFiles, type TestApp } from './helpers.ts';

/** Every row of every table, as JSON, table by table. */
export function dumpRows(data_dir: string): Record<string, string[]> {
  const sqlite = new Database(join(data_dir, 'satchel.db'), { readwrite: true, create: false });
  try {
    const tables = sqlite.query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").values();
    return Object.fromEntries(
      tables.map(([table]) => [
        String(table),
        sqlite
          .query(`SELECT * FROM "${String(table)}"`)
          .values()
          // A restore adds that nothing is removed from an object store for a while.
          .filter((row) => row[0] !== STORE_HOLD)
          .map((row) =>
            JSON.stringify(row, (_, value) => (value instanceof Uint8Array ? hashOf(value) : value)),
          )
          .sort(),
      ]),
    );
  } finally {
    sqlite.close();
  }
}

/** Path below `objects/` -> SHA-256 of the bytes. */
export function dumpBlobs(data_dir: string): Record<string, string> {
  const root = join(data_dir, 'objects');
  if (!existsSync(root)) return {};
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(root, name)).isFile(),
  );
  return Object.fromEntries(files.sort().map((name) => [name, hashOf(readFileSync(join(root, name)))]));
}

function hashOf(bytes: Uint8Array): string {
  return new Bun.CryptoHasher('sha256').update(bytes).digest('hex');
}

/** Runs one statement on the database of a directory, beside whoever has it open. */
export function sql(data_dir: string, statement: string, ...values: (string | number)[]): void {
  const sqlite = new Database(join(data_dir, 'satchel.db'), { readwrite: true, create: false });
  try {
    sqlite.run('PRAGMA busy_timeout = 5000');
    sqlite.query(statement).run(...values);
  } finally {
    sqlite.close();
  }
}

/** As `upload`, of bytes that are to stand in a file however few they are. */
export async function uploadFile(app: TestApp, key: string, bytes: string): Promise<string> {
  const id = await upload(app, key, bytes);
  await moveToFiles(app);
  return id;
}

/** The bytes of an object as text, from its file or from the database; null where neither has any. */
export function readObject(data_dir: string, id: string): string | null {
  const sqlite = new Database(join(data_dir, 'satchel.db'), { readwrite: true, create: false });
  try {
    const held = sqlite
      .query('SELECT bytes FROM object_contents JOIN objects ON id = object_id WHERE public_id = ?')
      .values(id)[0]?.[0];
    if (held instanceof Uint8Array) return Buffer.from(held).toString();
    const path = blobPath(data_dir, id);
    return existsSync(path) ? readFileSync(path, 'utf8') : null;
  } finally {
    sqlite.close();
  }
}

/** Uploads bytes and returns the new object's id. */
export async function upload(app: TestApp, key: string, bytes: string | Uint8Array): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'application/x-test' }), 'a.bin');
  const { status, body, text } = await app.call('POST', '/api/v1/objects', { key, body: form });
  if (status !== 201) throw new Error(text);
  return String(body.public_id);
}

export function blobPath(data_dir: string, id: string): string {
  return join(data_dir, 'objects', id.slice(-2), id);
}

/** Names in a folder, hidden ones too. */
export function namesIn(folder: string): string[] {
  return readdirSync(folder).sort();
}

export function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}
