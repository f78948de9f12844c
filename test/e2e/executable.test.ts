/** The executable itself: what it weighs, and what a stack trace of it tells. */
import { Database } from 'bun:sqlite';
import { expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { BINARY, makeKey, satchel, startServer } from './binary.ts';

const ROOT = join(import.meta.dir, '../..');
/**
 * Of Satchel, without the runtime, Swagger UI among it: it was 57 MB with the app in it twice, in two bytes a character and with
 * maps.
 */
const MAX_BYTES_BESIDE_RUNTIME = 36_000_000;

test('it holds the app once, in one byte a character', () => {
  expect(statSync(BINARY).size - statSync(process.execPath).size).toBeLessThan(MAX_BYTES_BESIDE_RUNTIME);
  // What each file of a bundle begins with.
  const wide = Buffer.from('// @bun @bytecode', 'utf16le');
  expect(readFileSync(BINARY).includes(wide)).toBe(false);
});

test('a stack trace in the log names functions, and their places in the sources by scripts/trace.ts', async () => {
  const data_dir = makeTempDir();
  const server = await startServer(data_dir);
  const key = await makeKey(data_dir);
  const database = new Database(join(data_dir, 'satchel.db'));
  database.run('PRAGMA foreign_keys = OFF');
  database.run('ALTER TABLE objects RENAME TO lost');
  database.close();
  const { status } = await fetch(`${server.url}/api/v1/objects`, { headers: { 'X-API-Key': key } });
  expect(status).toBe(500);
  await until(() => server.stderr().includes('no such table: objects'));
  expect(server.stderr()).toMatch(/at countObjects \(\/\$bunfs\//);

  const { json } = await satchel(['version', '--json']);
  const trace = Bun.spawn([process.execPath, join(ROOT, 'scripts/trace.ts'), String(json.backend_version)], {
    stdin: new Blob([server.stderr()]),
    stdout: 'pipe',
  });
  const place = /at countObjects \(src\/files\/objects\/store\.ts:(\d+):/.exec(
    await new Response(trace.stdout).text(),
  );
  const source = readFileSync(join(ROOT, 'src/files/objects/store.ts'), 'utf8').split('\n');
  expect(source.slice(0, Number(place?.[1])).findLast((line) => line.includes('function '))).toContain(
    'countObjects',
  );
}, 60_000);
