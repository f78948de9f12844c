/** A project moves between two servers that run, by the executable; kill -9 leaves nothing of half an export or import. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { BINARY, makeKey, satchel, startServer, storedFiles, upload } from './binary.ts';

const CONTACTS = 8_000;
const [here, there, folder] = [makeTempDir(), makeTempDir(), makeTempDir()];
const pass = join(folder, 'passphrase');
writeFileSync(pass, 'correct horse battery staple\n');

function read<T>(data_dir: string, sql: string): T {
  const sqlite = new Database(join(data_dir, 'satchel.db'), { readwrite: true, create: false });
  try {
    sqlite.run('PRAGMA busy_timeout = 5000');
    return sqlite.query(sql).values()[0]?.[0] as T;
  } finally {
    sqlite.close();
  }
}

const importing = (file: string): string[] => [
  'project',
  'import',
  file,
  '--passphrase',
  `@${pass}`,
  '--data-dir',
  there,
];
const exporting = (file: string): string[] => [
  'project',
  'export',
  'shop',
  file,
  '--passphrase',
  `@${pass}`,
  '--data-dir',
  here,
];

/** Runs a command and kills it as soon as `begun` says so; false where it came to its end before. */
async function killed(args: string[], begun: () => boolean): Promise<boolean> {
  const child = Bun.spawn([BINARY, ...args], { stdout: 'ignore', stderr: 'ignore' });
  while (!begun() && child.exitCode === null) await Bun.sleep(1);
  child.kill('SIGKILL');
  return (await child.exited) !== 0;
}

test('a project moves between servers that run, whole or not at all', async () => {
  const a = await startServer(here);
  let b = await startServer(there);
  const key = await makeKey(here, 'read,write,email,marketing');
  const stored = await upload(a.url, key, 'bytes of the shop');
  const list = await satchel(['list', 'create', '--project', 'shop', '--name', 'News', '--data-dir', here]);
  expect(list.exit, list.stderr).toBe(0);
  read(
    here,
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${CONTACTS - 1})
     INSERT INTO contacts (public_id, project_id, list_id, email, status, contact_token, consent_basis, consent_at,
       source_platform, status_changed_at, created_at, updated_at)
     SELECT printf('01ARZ3NDEKTSV4RRFF%08d', i), 1, 1, printf('c%d@example.com', i), 'active', printf('t%d', i),
       'consent', 1, 'api', 1, 1, 1 FROM n`,
  );

  // An export that is killed leaves no file of that name, and can be made again.
  const file = join(folder, 'shop.satchel');
  const partial = new Bun.Glob('.*.partial');
  const has_partial = (): boolean => [...partial.scanSync({ cwd: folder, dot: true })].length > 0;
  expect(await killed(exporting(file), has_partial)).toBe(true);
  expect(existsSync(file)).toBe(false);
  const exported = await satchel(exporting(file));
  expect(exported.exit, exported.stderr).toBe(0);
  expect((await fetch(`${a.url}/api/v1/objects`, { headers: { 'X-API-Key': key } })).status).toBe(401);

  // An import that is killed is seen by nobody; the next start takes it out.
  const half = (): boolean => (read<number>(there, 'SELECT count(*) FROM contacts') ?? 0) > 1000;
  expect(await killed(importing(file), half)).toBe(true);
  expect((await satchel(['project', 'list', '--json', '--data-dir', there])).stdout).not.toContain('Shop');
  await b.end('SIGKILL');
  b = await startServer(there);
  await until(() => read<number>(there, 'SELECT count(*) FROM projects') === 0);
  expect(
    read<number>(there, 'SELECT (SELECT count(*) FROM contacts) + (SELECT count(*) FROM api_keys)'),
  ).toBe(0);
  expect(storedFiles(there)).toEqual([]);

  const imported = await satchel([...importing(file), '--go', '--json']);
  expect(imported.exit, imported.stderr).toBe(0);
  expect(imported.json.slug).toBe('shop');
  const found = await fetch(`${b.url}/api/v1/objects/${stored?.public_id}`, {
    headers: { 'X-API-Key': key },
  });
  expect(await found.text()).toBe('bytes of the shop');
  expect(read<number>(there, 'SELECT count(*) FROM contacts')).toBe(CONTACTS);
  const again = await satchel(importing(file));
  expect([again.exit, again.stderr]).toEqual([1, expect.stringContaining('is here already')]);
  const doctor = await satchel(['doctor', '--data-dir', there]);
  expect(doctor.stdout).toContain('SQLite finds it sound');
  await Promise.all([a.end('SIGTERM'), b.end('SIGTERM')]);
}, 180_000);
