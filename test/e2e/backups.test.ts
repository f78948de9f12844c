/** Backups that the server makes, through the binary: its thread is there, and kill -9 in the middle leaves no half one. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, type Server, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);
const ROUNDS = 4;

type Data = Record<string, unknown>;

function caller(server: Server, token: string) {
  return async (method: string, path: string): Promise<{ status: number; data: unknown }> => {
    const response = await fetch(`${server.url}/api/public/v1${path}`, {
      ...{ method, headers: { Authorization: `Bearer ${token}` } },
    });
    const body: unknown = await response.json();
    return { status: response.status, data: isPlainObject(body) ? body.data : undefined };
  };
}

const record = (data: unknown): Data => (isPlainObject(data) ? data : {});
const list = (data: unknown): Data[] => (Array.isArray(data) ? data.filter(isPlainObject) : []);

async function makeToken(dir: string): Promise<string> {
  const fields = ['--name', 'a', '--all-projects', '--can', 'administer', '--json', '--data-dir', dir];
  return String((await satchel(['token', 'create', ...fields])).json.token);
}

test('kill -9 in the middle of one leaves a job that failed and nothing else, or a backup that is whole', async () => {
  const dir = makeTempDir();
  let server = await startServer(dir);
  const key = await makeKey(dir);
  const token = await makeToken(dir);
  for (let n = 0; n < 20; n += 1) await upload(server.url, key, `${n} `.repeat(100_000));
  const ends: unknown[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    let begun: { status: number; data: unknown } = { status: 0, data: null };
    // Names tell seconds: the last one may be of this.
    await until(async () => {
      begun = await caller(server, token)('POST', '/backups');
      return begun.status !== 409;
    });
    expect(begun.status).toBe(202);
    const { name, job_id } = record(begun.data);
    // At once, while its files are there, and later.
    const folder = join(dir, 'backups');
    if (round > 0) await until(() => readdirSync(folder).some((each) => each.includes(String(name))));
    await server.end('SIGKILL');
    server = await startServer(dir);
    const call = caller(server, token);
    const job = record((await call('GET', `/jobs/${job_id}`)).data);
    const listed = list((await call('GET', '/backups')).data).find((each) => each.name === name);
    expect([listed?.status, listed?.size_bytes === null]).toEqual([job.status, job.status === 'failed']);
    ends.push(job.status);
    expect(readdirSync(folder).filter((each) => each.includes(String(name)))).toEqual(
      job.status === 'completed' ? [String(name)] : [],
    );
    if (job.status === 'failed') expect(job.error).toBe('The server stopped before it was done.');
    else expect((await satchel(['verify', join(folder, String(name))])).exit).toBe(0);
  }
  expect(ends).toContain('failed');
  expect((await caller(server, token)('GET', '/findings?per_page=50')).data).toEqual(
    expect.arrayContaining([expect.objectContaining({ check: 'server', status: 'ok' })]),
  );
  expect(await server.end('SIGTERM')).toBe(0);
});
