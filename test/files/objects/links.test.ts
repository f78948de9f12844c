/** Signed links: what they open, for how long, and what takes them away. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { run, runRecord } from '../../support/command.ts';
import { type Answer, makeProject } from '../../support/helpers.ts';
import { dataOf, invalidFieldsOf, type Management, startManagement } from '../../support/management.ts';

let on: Management;
let key = '';
let id = '';

async function upload(name: string, fields: Record<string, string> = {}): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob(['hello world'], { type: 'text/plain' }), name);
  return String(dataOf(await on.call('POST', '/projects/mine/objects', on.all, form)).public_id);
}

async function makeKey(fields: Record<string, boolean>): Promise<string> {
  const tester = { kind: 'shell', id: '0', name: 'tester', ip: null } as const;
  return (await on.app.services.keys.create(tester, on.mine, { name: 'k', ...fields })).plaintext_key;
}

beforeAll(async () => {
  on = await startManagement();
  key = await makeKey({ can_read: true });
});
beforeEach(async () => {
  id = await upload('note.txt');
});

const link = (body: unknown, of = id) => on.app.call('POST', `/api/v1/objects/${of}/links`, { key, body });
async function urlOf(body: Record<string, unknown> = {}, of = id): Promise<string> {
  const answer = await link({ expires_in_seconds: 60, ...body }, of);
  expect(answer.status).toBe(201);
  return String(answer.body.url);
}
const follow = (url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> =>
  on.app.call(method, url.replace('http://satchel.test', ''), { headers });
const revoke = () => on.call('POST', '/projects/mine/object-links/revoke', on.scoped);

describe('a link', () => {
  test('opens a private file without a key, with its headers, and is kept by no shared cache', async () => {
    const made = await link({ expires_in_seconds: 60 });
    expect([made.status, made.body.expires_at]).toEqual([
      201,
      new Date(on.app.clock.now() + 60_000).toISOString(),
    ]);
    const url = String(made.body.url);
    expect(Object.keys(made.body).toSorted()).toEqual(['expires_at', 'url']);
    const plain = await on.app.call('GET', `/api/v1/objects/${id}`, { key });
    const followed = await follow(url);
    expect([followed.status, followed.text]).toEqual([200, 'hello world']);
    for (const name of [
      'content-type',
      'content-disposition',
      'content-security-policy',
      'etag',
      'last-modified',
    ])
      expect([name, followed.headers.get(name)]).toEqual([name, plain.headers.get(name)]);
    expect(followed.headers.get('cache-control')).toBe('private');
    expect(followed.headers.get('x-content-type-options')).toBe('nosniff');
    expect(followed.headers.get('referrer-policy')).toBe('no-referrer');
  });

  test('has ranges, conditions and HEAD', async () => {
    const url = await urlOf();
    const part = await follow(url, { Range: 'bytes=6-' });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([
      206,
      'world',
      'bytes 6-10/11',
    ]);
    const etag = part.headers.get('etag') ?? '';
    expect((await follow(url, { 'If-None-Match': etag })).status).toBe(304);
    expect((await follow(url, { Range: 'bytes=99-' })).status).toBe(416);
    expect((await follow(url, {}, 'HEAD')).status).toBe(200);
  });

  test('downloads where that was asked for', async () => {
    const disposition = async (url: string) => (await follow(url)).headers.get('content-disposition');
    expect(await disposition(await urlOf())).toStartWith('inline');
    expect(await disposition(await urlOf({ download: true }))).toStartWith('attachment');
  });

  test('is made on the management plane too, where it says on the audit trail that it was, not what it is', async () => {
    const made = await on.call('POST', `/projects/mine/objects/${id}/links`, on.scoped, {
      expires_in_seconds: 5,
    });
    expect(made.status).toBe(201);
    const url = String(dataOf(made).url);
    expect((await follow(url)).text).toBe('hello world');
    expect(on.lastEvent()).toEqual({
      ...{ event: 'object_link.created', target: `object:${id}`, actor_name: 'test token' },
      metadata: { expires_at: dataOf(made).expires_at },
    });
  });
});

describe('is 404', () => {
  const gone = async (url: string): Promise<void> => {
    const answer = await follow(url);
    expect([answer.status, answer.body]).toMatchObject([404, { success: false }]);
    // A key makes no good link of it.
    expect((await on.app.call('GET', url.replace('http://satchel.test', ''), { key })).status).toBe(404);
  };

  test('once it has expired, and not before', async () => {
    const url = await urlOf({ expires_in_seconds: 60 });
    on.app.clock.advance(59_999);
    expect((await follow(url)).status).toBe(200);
    on.app.clock.advance(1);
    await gone(url);
  });

  test('once anything of it is changed', async () => {
    const other = await upload('other.txt');
    const url = await urlOf();
    const [said, signature] = [url.slice(0, -43), url.slice(-43)];
    const later = said.replace(/\.(\d+)\.i\.$/, (_, at: string) => `.${Number(at) + 1}.i.`);
    const flipped = `${signature.slice(0, -1)}${signature.endsWith('A') ? 'B' : 'A'}`;
    for (const changed of [
      `${later}${signature}`,
      `${said.replace('.i.', '.d.')}${signature}`,
      `${said.replace(id, other)}${signature}`,
      `${said.replace(id, id.toLowerCase())}${signature}`,
      `${said}${flipped}`,
      `${said}${signature.slice(1)}`,
      said,
      `${url}x`,
      url.replace(/[^/]+$/, 'x'),
    ])
      await gone(changed);
    expect((await follow(url)).status).toBe(200);
  });

  test('once the file is deleted or has expired', async () => {
    const url = await urlOf();
    await on.call('DELETE', `/projects/mine/objects/${id}`, on.scoped);
    await gone(url);
    const short = await upload('short.txt', { expires_in_days: '1' });
    const long = await urlOf({ expires_in_seconds: 604_800 }, short);
    on.app.clock.advance(86_400_000);
    await gone(long);
  });

  test('once links are revoked, which takes one row and leaves other projects and new links alone', async () => {
    const url = await urlOf();
    const form = new FormData();
    form.set('file', new Blob(['x']), 'x.txt');
    const foreign = String(dataOf(await on.call('POST', '/projects/other/objects', on.all, form)).public_id);
    const made = await on.call('POST', `/projects/other/objects/${foreign}/links`, on.all, {
      expires_in_seconds: 60,
    });
    const revoked = await revoke();
    expect([revoked.status, dataOf(revoked)]).toEqual([200, { revoked: true }]);
    expect(on.lastEvent()).toMatchObject({ event: 'object_links.revoked', target: `project:${on.mine.id}` });
    await gone(url);
    expect((await follow(String(dataOf(made).url))).status).toBe(200);
    expect((await follow(await urlOf())).status).toBe(200);
    await gone(url);
    expect(
      on.app.services.database.read.values(sql`SELECT project_id FROM object_link_keys ORDER BY 1`),
    ).toEqual([[on.mine.id], [on.other.id]]);
  });

  test('once the command line has revoked it, at once, and without --yes', async () => {
    const url = await urlOf();
    expect(await runRecord(on.app.data_dir, 'object', 'revoke-links', '--project', 'mine')).toEqual({
      ...{ revoked: true, project: 'mine' },
    });
    await gone(url);
    expect(on.lastEvent()).toMatchObject({ event: 'object_links.revoked' });
    expect((await run(on.app.data_dir, 'object', 'revoke-links', '--project', 'absent')).exit).toBe(1);
  });

  test('where its key does not open, and a new link takes a new key', async () => {
    const url = await urlOf();
    await on.app.services.database.write((tx) =>
      tx.run(sql`UPDATE object_link_keys SET sealed_key = 'spoilt'`),
    );
    await gone(url);
    expect((await follow(await urlOf())).status).toBe(200);
  });
});

test('no link and no signature stands in the log or in the database', async () => {
  const url = await urlOf();
  const signature = url.slice(-43);
  await follow(url);
  await follow(`${url}x`);
  await follow(url.replace('/object-links/', '/object-links/!'));
  await follow(url.replace('/object-links/', '/object-link/'));
  expect(on.app.logs()).toContain('/api/v1/object-links/');
  expect(on.app.logs()).not.toContain(signature);
  const audit = on.app.services.database.read.values(sql`SELECT * FROM audit_events`);
  expect(JSON.stringify(audit)).not.toContain(signature);
});

test('making one needs a key that may read, of the file\u2019s project, and a time of a second to a week', async () => {
  const post = (credential: { key?: string; token?: string }, body: unknown, of = id) =>
    on.app.call('POST', `/api/v1/objects/${of}/links`, { ...credential, body });
  const good = { expires_in_seconds: 60 };
  const statusOf = async (answer: Promise<Answer>) => (await answer).status;
  const writer = await makeKey({ can_write: true });
  const stranger = await (await makeProject(on.app, 'stranger')).key({ can_read: true });
  const before = on.snapshot();
  expect(await statusOf(post({}, good))).toBe(401);
  expect(await statusOf(post({ key: writer }, good))).toBe(403);
  expect(await statusOf(post({ key: stranger }, good))).toBe(404);
  expect(await statusOf(post({ key }, good, '01ARZ3NDEKTSV4RRFFQ69G5FAV'))).toBe(404);
  for (const expires_in_seconds of [0, -1, 604_801, 1.5, '60', null, undefined]) {
    const answer = await post({ key }, { expires_in_seconds });
    expect([expires_in_seconds, answer.status, Object.keys(Object(answer.body.errors))]).toEqual([
      ...[expires_in_seconds, 422],
      ['expires_in_seconds'],
    ]);
  }
  const path = `objects/${id}/links`;
  expect(await statusOf(on.call('POST', `/projects/mine/${path}`, null, good))).toBe(401);
  expect(await statusOf(on.call('POST', `/projects/other/${path}`, on.scoped, good))).toBe(404);
  expect(await statusOf(on.call('POST', `/projects/other/${path}`, on.all, good))).toBe(404);
  expect(await statusOf(on.call('POST', '/projects/other/object-links/revoke', on.scoped))).toBe(404);
  expect(await statusOf(on.call('POST', '/projects/mine/object-links/revoke', null))).toBe(401);
  const bad = await on.call('POST', `/projects/mine/${path}`, on.scoped, { ...good, download: 'yes' });
  expect([bad.status, invalidFieldsOf(bad)]).toEqual([422, ['download']]);
  expect(on.snapshot()).toBe(before);
});
