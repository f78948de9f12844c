/** Variants of objects whose bytes are in an S3 store. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { png, quarters } from '../../support/images.ts';
import { part } from '../../support/parts.ts';
import { type S3Server, startS3Server } from '../../support/s3-server.ts';

const skip = part('versitygw') === null;

let server: S3Server;
let app: TestApp;
let key = '';

beforeAll(async () => {
  if (skip) return;
  server = await startS3Server();
  app = await startTestApp({ env: { ...server.env('variants'), SATCHEL_OBJECT_REDIRECT: '0' } });
  key = await (await makeProject(app)).key();
});

async function upload(): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([png(64, 48, quarters)]), 'a.png');
  return String((await app.call('POST', '/api/v1/objects', { key, body: form })).body.public_id);
}
const of = (id: string, query: string) => app.call('GET', `/api/v1/objects/${id}${query}`, { key });
const filesIn = (folder: string) => {
  const path = join(app.data_dir, folder);
  return existsSync(path) ? readdirSync(path) : [];
};

describe.skipIf(skip)('a variant of an object in a store', () => {
  test('is made and kept here, without a redirect, of a copy that does not stay', async () => {
    const id = await upload();
    expect((await of(id, '')).status).toBe(302);
    const made = await of(id, '?w=32&format=webp');
    expect([made.status, made.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect([filesIn('fetched'), filesIn(`variants/${id.slice(-2)}`).length]).toEqual([[], 1]);
  });

  test('is 503 while the store is away, unless it is there already, and is made once the store is back', async () => {
    const id = await upload();
    expect((await of(id, '?w=32')).status).toBe(200);
    server.proxy.hold = /./;
    server.proxy.answer = Buffer.from(
      'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n',
    );
    const away = await of(id, '?w=33');
    expect([away.status, away.headers.has('retry-after')]).toEqual([503, true]);
    expect((await of(id, '?w=32')).status).toBe(200);
    server.proxy.hold = null;
    server.proxy.answer = null;
    await app.services.bytes.tend();
    expect((await of(id, '?w=33')).status).toBe(200);
  });

  test('is made though its bytes are moved as it begins', async () => {
    const id = await upload();
    const { object_moves, variants } = app.services;
    const { processes } = variants;
    const inTurn = processes.inTurn.bind(processes);
    const move = (to: 'local' | 's3') =>
      object_moves.move(to, { project_id: null, note: () => {}, onProgress() {} });
    await move('local');
    let tries = 0;
    processes.inTurn = (project_id, work) =>
      inTurn(project_id, (make) =>
        work(async (job) => {
          tries += 1;
          if (tries === 1) await move('s3');
          return make(job);
        }),
      );
    expect((await of(id, '?w=32')).status).toBe(200);
    expect(tries).toBe(2);
    processes.inTurn = inTurn;
  });
});
