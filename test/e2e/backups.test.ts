/** Backups that the server makes, through the binary: its thread is there, and kill -9 in the middle leaves no half one. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, makeToken, type Server, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);
const ROUNDS = 2;

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

test('a backup that kill -9 cuts off is made again by the next start, and is whole', async () => {
  const dir = makeTempDir();
  let server = await startServer(dir);
  const key = await makeKey(dir);
  const token = await makeToken(dir);
  for (let n = 0; n < 20; n += 1) await upload(server.url, key, `${n} `.repeat(100_000));
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
    if (round > 0)
      await until(
        () => existsSync(folder) && readdirSync(folder).some((each) => each.includes(String(name))),
      );
    await server.end('SIGKILL');
    server = await startServer(dir);
    const call = caller(server, token);
    let status: unknown;
    await until(async () => {
      ({ status } = record((await call('GET', `/jobs/${job_id}`)).data));
      return status !== 'pending' && status !== 'processing';
    });
    const listed = list((await call('GET', '/backups')).data).find((each) => each.name === name);
    expect([status, listed?.status, typeof listed?.size_bytes]).toEqual(['completed', 'completed', 'number']);
    expect(readdirSync(folder).filter((each) => each.includes(String(name)))).toEqual([String(name)]);
    expect((await satchel(['verify', join(folder, String(name))])).exit).toBe(0);
  }
  expect((await caller(server, token)('GET', '/findings?per_page=50')).data).toEqual(
    expect.arrayContaining([expect.objectContaining({ check: 'server', status: 'ok' })]),
  );
  expect(await server.end('SIGTERM')).toBe(0);
});
