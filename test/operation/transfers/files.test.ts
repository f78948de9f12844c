/** Moving a project over HTTP: its file made, downloaded, sent elsewhere, looked into and imported; and what is refused. */
import { beforeAll, expect, test } from 'bun:test';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ADMINISTER } from '../../../src/platform/http/callers.ts';
import { upload } from '../../support/deployment.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';

const passphrase = 'correct horse battery staple';
const API = '/api/public/v1';
const DAY_MS = 24 * 3_600_000;

let from: TestApp;
let there: TestApp;
let key = '';
const tokens = new Map<TestApp, string>();
beforeAll(async () => {
  from = await startTestApp();
  there = await startTestApp();
  for (const app of [from, there]) {
    const fields = { name: 't', all_projects: true, projects: [], expires_in_days: 30 };
    const { token } = await app.services.tokens.create(actor, {
      ...fields,
      capabilities: [ADMINISTER, 'can_reveal_vault'],
    });
    tokens.set(app, token);
  }
  const shop = await makeProject(from, 'shop');
  key = await shop.key();
  await upload(from, key, 'bytes of the shop');
});

const call = (app: TestApp, method: string, path: string, body?: unknown, headers = {}) =>
  app.call(method, `${API}${path}`, {
    token: tokens.get(app) ?? '',
    ...(body === undefined ? {} : { body }),
    headers,
  });
const download = async (app: TestApp, id: unknown) => {
  const headers = { Authorization: `Bearer ${tokens.get(app)}` };
  return app.app.handle(new Request(`http://satchel.test${API}/project-files/${id}`, { headers }));
};
const send = async (app: TestApp, body: string | Blob) => {
  const headers = { Authorization: `Bearer ${tokens.get(app)}`, 'Content-Type': 'application/octet-stream' };
  const response = await app.app.handle(
    new Request(`http://satchel.test${API}/project-files`, { method: 'POST', headers, body }),
  );
  return { status: response.status, text: await response.text() };
};
const filesOf = (app: TestApp) => {
  const folder = join(app.data_dir, 'transfers');
  return existsSync(folder) ? readdirSync(folder) : [];
};

test('a project moves from one Satchel to another under another slug, and goes on there', async () => {
  const made = await call(from, 'POST', '/projects/shop/export', { passphrase });
  expect(made.status).toBe(201);
  expect(made.body.data).toMatchObject({
    project: { slug: 'shop' },
    objects: 1,
    object_bytes: 17,
    stored_objects: 0,
    left_out: [],
  });
  expect(from.services.projects.require('shop').status).toBe('inactive');
  const { id, created_at, expires_at } = made.body.data as Record<string, string>;
  expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).toBe(DAY_MS);
  const listed = await call(from, 'GET', '/project-files');
  expect(listed.body.data).toMatchObject({ files: [{ id }], under_way: { work: null, percent: null } });

  const file = await download(from, id);
  expect(file.headers.get('content-disposition')).toBe(
    `attachment; filename="shop-${String(created_at).slice(0, 10)}.satchel"`,
  );
  const bytes = await file.bytes();
  expect(bytes.length).toBe(Number(file.headers.get('content-length')));

  const sent = await send(there, new Blob([Uint8Array.from(bytes)]));
  expect(sent.status).toBe(201);
  const { data } = JSON.parse(sent.text);
  expect(data).toMatchObject({ size_bytes: bytes.length, project: { slug: 'shop' } });
  const looked = await call(there, 'POST', `/project-files/${data.id}/check`, { passphrase });
  expect(looked.body.data).toMatchObject({
    slug: 'shop',
    objects: 1,
    missing: { mailboxes: [], people: [] },
  });
  expect((await call(there, 'GET', '/projects/shop')).status).toBe(404);

  const imported = await call(there, 'POST', `/project-files/${data.id}/import`, {
    passphrase,
    slug: 'Store 2',
  });
  expect([imported.status, imported.body.data]).toMatchObject([201, { slug: 'store-2', objects: 1 }]);
  const { text } = await there.call('GET', '/api/v1/objects', { key });
  expect(text).toContain('"total":1');
  // Its file is forgotten once it is here.
  expect(filesOf(there)).toEqual([]);
  const went = await call(there, 'POST', '/projects/store-2/let-go');
  expect(went.body.data).toEqual({ schedules: 0, sequences: 0, broadcasts: 0, jobs: 0, stayed: [] });

  const again = await call(from, 'POST', '/projects/shop/let-go');
  expect([again.status, from.services.projects.require('shop').status]).toEqual([200, 'active']);
});

test('a wrong passphrase, a file that is none, a damaged one and a project that is here are told, and leave nothing', async () => {
  const made = await call(from, 'POST', '/projects/shop/export', { passphrase, copy: true });
  const { id } = made.body.data as { id: string };
  expect(from.services.projects.require('shop').status).toBe('active');
  const short = await call(from, 'POST', '/projects/shop/export', { passphrase: 'short' });
  expect([short.status, short.text.includes('passphrase')]).toEqual([422, true]);
  const here = await call(from, 'POST', `/project-files/${id}/check`, { passphrase });
  expect([here.status, here.text.includes('is here already')]).toEqual([409, true]);

  const bytes = await (await download(from, id)).bytes();
  const none = await send(there, 'no project file');
  expect([none.status, none.text.includes('This is no project file')]).toEqual([422, true]);
  expect(filesOf(there)).toEqual([]);
  const other = await startTestApp();
  tokens.set(other, tokens.get(there) ?? '');
  const fields = { name: 't', all_projects: true, projects: [], expires_in_days: 30 };
  const { token } = await other.services.tokens.create(actor, { ...fields, capabilities: [ADMINISTER] });
  tokens.set(other, token);
  const damaged = Uint8Array.from(bytes);
  const middle = Math.floor(damaged.length / 2);
  damaged[middle] = (damaged[middle] ?? 0) ^ 1;
  const { data } = JSON.parse((await send(other, new Blob([damaged]))).text);
  const wrong = await call(other, 'POST', `/project-files/${data.id}/import`, {
    passphrase: `${passphrase}r`,
  });
  expect([wrong.status, wrong.text]).toMatchObject([
    422,
    expect.stringContaining('"passphrase":["is not the one'),
  ]);
  const refused = await call(other, 'POST', `/project-files/${data.id}/import`, { passphrase });
  expect(refused.status).toBe(422);
  expect(refused.text).toContain(`${data.id}.satchel`);
  expect(refused.text).not.toContain(other.data_dir);
  expect((await call(other, 'GET', '/projects')).body.data).toEqual([]);
  expect((await call(other, 'DELETE', `/project-files/${data.id}`)).status).toBe(200);
  expect([filesOf(other), (await call(other, 'GET', `/project-files/${data.id}`)).status]).toEqual([[], 404]);
});

test('one is made, looked into or imported at a time', async () => {
  const both = await Promise.all(
    ['shop', 'shop'].map((slug) =>
      call(from, 'POST', `/projects/${slug}/export`, { passphrase, copy: true }),
    ),
  );
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
});

test('a file that the disk has damaged is in nobody’s way: the others are listed', async () => {
  const make = () => call(from, 'POST', '/projects/shop/export', { passphrase, copy: true });
  const [hurt, whole] = [
    (await make()).body.data as { id: string },
    (await make()).body.data as { id: string },
  ];
  writeFileSync(join(from.data_dir, 'transfers', `${hurt.id}.satchel`), 'no project file');
  const { status, body } = await call(from, 'GET', '/project-files');
  const listed = (body.data as { files: { id: string }[] }).files.map(({ id }) => id);
  expect([status, listed.includes(whole.id), listed.includes(hurt.id)]).toEqual([200, true, false]);
  expect((await call(from, 'GET', `/project-files/${hurt.id}`)).status).toBe(404);
});

test('a file is kept for a day', async () => {
  expect(filesOf(from).length).toBeGreaterThan(0);
  const [newest] = from.services.transfers.files.list();
  from.clock.advance(Date.parse(String(newest?.expires_at)) - from.clock.now() - 1);
  from.services.transfers.files.sweep();
  expect(filesOf(from).length).toBeGreaterThan(0);
  from.clock.advance(1);
  // Not over HTTP: the day of an id that follows those of other clocks in this process may be one after the token's end.
  expect(from.services.transfers.files.list()).toEqual([]);
  from.services.transfers.files.sweep();
  expect(filesOf(from)).toEqual([]);
});

test('whoever may not open the vault exports none: they would know the passphrase', async () => {
  const fields = { name: 'a', all_projects: true, projects: [], expires_in_days: 30 };
  const { token } = await from.services.tokens.create(actor, { ...fields, capabilities: [ADMINISTER] });
  const before = filesOf(from);
  const answer = await from.call('POST', `${API}/projects/shop/export`, { token, body: { passphrase } });
  expect([answer.status, answer.body]).toMatchObject([
    403,
    { error: { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: 'can_reveal_vault' } } },
  ]);
  expect(filesOf(from)).toEqual(before);
});

test('who may not administer is told so, and a read-only person too', async () => {
  const fields = { name: 'r', all_projects: true, projects: [], expires_in_days: 30 };
  const { token } = await from.services.tokens.create(actor, { ...fields, capabilities: [] });
  for (const [method, path] of [
    ['POST', '/projects/shop/export'],
    ['GET', '/project-files'],
    ['POST', '/project-files'],
  ] as const)
    expect((await from.call(method, `${API}${path}`, { token, body: { passphrase } })).status).toBe(403);
});
