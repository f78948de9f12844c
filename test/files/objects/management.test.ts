/** Files on the management plane: the data plane's acts in another envelope, on the audit trail, with a search of names. */
import { Database as Sqlite } from 'bun:sqlite';
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { actor, makeProject } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

let on: Management;

beforeAll(async () => {
  on = await startManagement();
});

function form(name: string, fields: Record<string, string> = {}): FormData {
  const data = new FormData();
  for (const [field, value] of Object.entries(fields)) data.set(field, value);
  data.set('file', new Blob([`bytes of ${name}`], { type: 'text/plain' }), name);
  return data;
}

const PATH = '/projects/mine/objects';
const upload = async (name: string, fields: Record<string, string> = {}): Promise<string> => {
  const answer = await on.call('POST', PATH, on.scoped, form(name, fields));
  expect([name, answer.status]).toEqual([name, 201]);
  return String(dataOf(answer).public_id);
};
const rows = (): unknown[] => on.app.services.database.read.values(sql`SELECT * FROM objects ORDER BY id`);
/** What has bytes, in a file or in the database. */
const files = (): unknown[] => [
  ...readdirSync(join(on.app.data_dir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name),
  ...on.app.services.database.read
    .values(sql`SELECT public_id FROM object_contents JOIN objects ON id = object_id`)
    .flat(),
];

test('an upload is stored, listed, read, changed and deleted, and each change names who made it', async () => {
  const stored = await on.call('POST', PATH, on.scoped, form('a.txt', { expires_in_days: '2' }));
  expect(stored.status).toBe(201);
  const id = String(dataOf(stored).public_id);
  expect(dataOf(stored)).toMatchObject({
    project_id: on.mine.public_id,
    visibility: 'private',
    size_bytes: 14,
  });
  expect(on.lastEvent()).toEqual({
    ...{ event: 'object.uploaded', target: `object:${id}`, actor_name: 'test token' },
    metadata: { name: 'a.txt' },
  });
  expect(files()).toContain(id);
  expect(listOf(await on.call('GET', PATH, on.scoped))).toMatchObject([{ public_id: id }]);
  const record = await on.call('GET', `${PATH}/${id.toLowerCase()}`, on.scoped);
  expect([record.status, dataOf(record)]).toMatchObject([
    200,
    {
      public_id: id,
      project_id: on.mine.public_id,
      original_filename: 'a.txt',
      sha256: expect.stringMatching(/^[\da-f]{64}$/),
    },
  ]);
  expect(Object.keys(dataOf(record))).not.toContain('id');
  const changed = await on.call('PATCH', `${PATH}/${id}`, on.scoped, {
    ...{ visibility: 'public', original_filename: 'b.txt', expires_in_days: null },
  });
  expect(dataOf(changed)).toMatchObject({
    visibility: 'public',
    original_filename: 'b.txt',
    expires_at: null,
  });
  expect(on.lastEvent()).toMatchObject({
    event: 'object.changed',
    changes: {
      visibility: { from: 'private', to: 'public' },
      original_filename: { from: 'a.txt', to: 'b.txt' },
    },
  });
  const deleted = await on.call('DELETE', `${PATH}/${id}`, on.scoped);
  expect([deleted.status, dataOf(deleted)]).toEqual([200, { success: true, message: 'Object deleted.' }]);
  expect(on.lastEvent()).toMatchObject({ event: 'object.deleted', target: `object:${id}` });
  expect([rows(), files()]).toEqual([[], []]);
});

test('what a key does is not put on the audit trail', async () => {
  const { plaintext_key } = await on.app.services.keys.create(
    { kind: 'shell', id: '0', name: 'tester', ip: null },
    on.mine,
    { name: 'k', can_read: true, can_write: true },
  );
  const before = on.lastEvent();
  const stored = await on.app.call('POST', '/api/v1/objects', { key: plaintext_key, body: form('k.txt') });
  expect(stored.status).toBe(201);
  expect(on.lastEvent()).toEqual(before);
  await on.call('DELETE', `${PATH}/${stored.body.public_id}`, on.scoped);
});

test('an Idempotency-Key is the caller\u2019s in one project: neither another token nor another project meets it', async () => {
  const send = (token: string, project: string, name = 'i.txt') =>
    on.app.call('POST', `/api/public/v1/projects/${project}/objects`, {
      ...{ token, body: form(name), headers: { 'Idempotency-Key': 'one' } },
    });
  const first = await send(on.all, 'mine');
  const again = await send(on.all, 'mine');
  expect([again.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([
    201,
    'true',
    first.text,
  ]);
  const others = [await send(on.scoped, 'mine'), await send(on.all, 'other')];
  const ids = [first, ...others].map((answer) => dataOf(answer).public_id);
  expect(new Set(ids).size).toBe(3);
  const conflicting = await send(on.all, 'mine', 'j.txt');
  expect([conflicting.status, codeOf(conflicting)]).toEqual([409, 'CONFLICT']);
  expect(rows().length).toBe(3);
});

describe('a search of names', () => {
  beforeEach(() => on.app.services.database.write((tx) => tx.run(sql`DELETE FROM objects`)));
  const found = async (query: string): Promise<unknown[]> =>
    listOf(await on.call('GET', `${PATH}?${query}`, on.scoped)).map((one) => one.original_filename);

  test('finds any part of a name, newest first, and nothing as a pattern', async () => {
    for (const name of ['Report 2030.pdf', 'photo.png', 'my-report.txt', '100%.txt', 'a_b.txt'])
      await upload(name);
    expect(await found('q=report')).toEqual(['my-report.txt', 'Report 2030.pdf']);
    expect(await found('q=%25')).toEqual(['100%.txt']);
    expect(await found('q=_')).toEqual(['a_b.txt']);
    expect(await found('q=!')).toEqual([]);
    expect((await found('q=')).length).toBe(5);
    const page = await on.call('GET', `${PATH}?q=t&per_page=2&page=2`, on.scoped);
    expect(page.body.meta).toMatchObject({ total: 5, count: 2, last_page: 3, has_more: true });
    expect(page.body.message).toContain('q=t');
  });

  test('finds it whatever its case, in any script, and however its accents are composed; an accent counts', async () => {
    const names = [
      'Übersicht STRASSE.pdf',
      'ΛΟΓΟΣ.txt',
      'Отчёт.pdf',
      'İstanbul.jpg',
      'ﬁnal.txt',
      'resume.txt',
    ];
    const mac = 'Résumé 제목.txt'.normalize('NFD');
    for (const name of [...names, mac]) await upload(name);
    for (const [q, name] of [
      ['ÜBERSICHT', names[0]],
      ['übersicht'.normalize('NFD'), names[0]],
      ['straße', names[0]],
      ['λογος', names[1]],
      ['ΛΟΓΟΣ', names[1]],
      ['λογοσ.', names[1]],
      ['ОТЧЁТ', names[2]],
      ['отчё', names[2]],
      ['istanbul', names[3]],
      ['ISTANBUL', names[3]],
      ['final', names[4]],
      ['RÉSUMÉ', mac],
      ['sumé', mac],
      ['제목', mac],
    ])
      expect([q, await found(`q=${encodeURIComponent(q ?? '')}`)]).toEqual([q, [name]]);
    expect(await found('q=resume')).toEqual(['resume.txt']);
    expect(await found(`q=${encodeURIComponent('Ubersicht')}`)).toEqual([]);
  });

  test('knows a new name of a file, and its old one no more', async () => {
    const id = await upload('Früher.txt');
    await on.call('PATCH', `${PATH}/${id}`, on.all, { original_filename: 'SPÄTER.txt' });
    expect([await found('q=sp%C3%A4ter'), await found('q=fr%C3%BCher')]).toEqual([['SPÄTER.txt'], []]);
  });

  test('goes with the visibility, and shows neither what has expired nor what is another project\u2019s', async () => {
    await upload('old.txt', { expires_in_days: '1' });
    await upload('open.txt', { visibility: 'public' });
    await upload('other.txt');
    await on.call('POST', '/projects/other/objects', on.all, form('o-foreign.txt'));
    on.app.clock.advance(2 * 86_400_000);
    expect(await found('q=o')).toEqual(['other.txt', 'open.txt']);
    expect(await found('q=o&visibility=public')).toEqual(['open.txt']);
  });

  test('walks an index only, however many files there are', () => {
    const sqlite = new Sqlite(join(on.app.data_dir, 'satchel.db'), { readonly: true });
    const plan = sqlite
      .query(
        `EXPLAIN QUERY PLAN SELECT id FROM objects INDEXED BY objects_searched WHERE project_id = 1 AND visibility <> 'internal'
         AND id < 9 AND id >= 1 AND instr(sought_name, 'a') AND (expires_at IS NULL OR expires_at > 1) ORDER BY id DESC`,
      )
      .values();
    sqlite.close();
    expect(JSON.stringify(plan)).toContain('USING COVERING INDEX objects_searched');
  });
});

test('refusals change nothing', async () => {
  const id = await upload('kept.txt');
  const foreign = await on.call('POST', '/projects/other/objects', on.all, form('foreign.txt'));
  const foreign_id = String(dataOf(foreign).public_id);
  const before = [rows(), files().toSorted(), on.snapshot()];
  const acts: [string, string, unknown?][] = [
    ['GET', ''],
    ['POST', '', form('x.txt')],
    ['GET', `/${id}`],
    ['PATCH', `/${id}`, { visibility: 'public' }],
    ['DELETE', `/${id}`],
  ];
  for (const [method, path, body] of acts) {
    const nobody = await on.call(method, `${PATH}${path}`, null, body);
    expect([method, path, nobody.status]).toEqual([method, path, 401]);
    const outside = await on.call(method, `/projects/other/objects${path}`, on.scoped, body);
    expect([method, path, outside.status, codeOf(outside)]).toEqual([method, path, 404, 'NOT_FOUND']);
    if (path === '') continue;
    // Its own project, with the id of another one's file.
    const elsewhere = await on.call(method, `${PATH}/${foreign_id}`, on.scoped, body);
    const missing = await on.call(method, `${PATH}/01ARZ3NDEKTSV4RRFFQ69G5FAV`, on.scoped, body);
    expect([elsewhere.status, elsewhere.text]).toEqual([404, missing.text]);
  }
  const bad = await on.call('PATCH', `${PATH}/${id}`, on.scoped, {
    visibility: 'secret',
    expires_in_days: 0,
  });
  expect([bad.status, invalidFieldsOf(bad).toSorted()]).toEqual([422, ['expires_in_days', 'visibility']]);
  const no_file = new FormData();
  no_file.set('visibility', 'public');
  const empty = await on.call('POST', PATH, on.scoped, no_file);
  expect([empty.status, invalidFieldsOf(empty)]).toEqual([422, ['file']]);
  expect((await on.call('GET', `${PATH}?visibility=secret`, on.scoped)).status).toBe(422);
  expect([rows(), files().toSorted(), on.snapshot()]).toEqual(before);
});

test('uploads of a token are counted by themselves, as those of a key are', async () => {
  const { app } = on;
  await makeProject(app, 'third');
  const limit = app.config.uploads_per_minute;
  const token = await on.makeToken({ projects: ['third'] });
  const empty = (): FormData => new FormData();
  for (let n = 0; n < limit; n += 1)
    expect((await on.call('POST', '/projects/third/objects', token, empty())).status).toBe(422);
  const refused = await on.call('POST', '/projects/third/objects', token, form('late.txt'));
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
  const other = await on.makeToken({ projects: ['third'] });
  expect((await on.call('POST', '/projects/third/objects', other, form('fine.txt'))).status).toBe(201);
});

/** The status of an upload whose bytes are asked for only once the caller was accepted, and come after `meanwhile`. */
async function uploadLate(
  path: string,
  headers: Record<string, string>,
  meanwhile: () => unknown,
): Promise<number> {
  const encoded = new Response(form('late.txt'));
  const type = encoded.headers.get('content-type') ?? '';
  const bytes = await encoded.bytes();
  const body = new ReadableStream(
    {
      async pull(controller) {
        await meanwhile();
        controller.enqueue(bytes);
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  const request = new Request(`http://satchel.test${path}`, {
    ...{ method: 'POST', headers: { 'Content-Type': type, ...headers }, body },
  });
  return (await on.app.app.handle(request)).status;
}

test('a file whose project is deleted while it arrives is not found by whoever sees all, and no key brings it', async () => {
  for (const [slug, status] of [
    ['going', 404],
    ['gone', 401],
  ] as const) {
    const project = await makeProject(on.app, slug);
    const key = await project.key();
    const before = files();
    const path = status === 404 ? `/api/public/v1/projects/${project.id}/objects` : '/api/v1/objects';
    const who: Record<string, string> =
      status === 404 ? { Authorization: `Bearer ${on.all}` } : { 'X-API-Key': key };
    const remove = () => on.app.services.projects.remove(actor, slug);
    expect([slug, await uploadLate(path, who, remove)]).toEqual([slug, status]);
    expect(files()).toEqual(before);
  }
});

describe('whoever is let go while their upload is on its way', () => {
  const UPLOADS = `/api/public/v1${PATH}`;
  const makeToken = () =>
    on.app.services.tokens.create(actor, {
      ...{ name: 'ends', all_projects: true, projects: [], capabilities: [] },
    });
  const state = () => JSON.stringify([rows(), files(), on.snapshot()]);

  test('stores nothing, whether a token ended or an API key lost its permission', async () => {
    const { tokens, keys } = on.app.services;
    const { token, record } = await makeToken();
    const made = await keys.create(actor, on.mine, { name: 'ends', can_write: true });
    let before = '';
    const revoke = async () => {
      await tokens.revoke(actor, record.id);
      before = state();
    };
    expect(await uploadLate(UPLOADS, { Authorization: `Bearer ${token}` }, revoke)).toBe(401);
    expect(state()).toBe(before);
    const narrow = async () => {
      await keys.update(actor, keys.require(String(made.id)), { can_write: false });
      before = state();
    };
    expect(await uploadLate('/api/v1/objects', { 'X-API-Key': made.plaintext_key }, narrow)).toBe(403);
    expect(state()).toBe(before);
  });

  test('has nothing sent that waits behind it for its Idempotency-Key', async () => {
    const { tokens, database } = on.app.services;
    const { token, record } = await makeToken();
    const headers = { Authorization: `Bearer ${token}`, 'Idempotency-Key': 'one' };
    const body = { to: 'ann@example.org', subject: 's', body_text: 'b' };
    let behind: Promise<{ status: number }> | undefined;
    const upload = uploadLate(UPLOADS, headers, async () => {
      behind = on.app.call('POST', '/api/public/v1/projects/mine/emails/send', { headers, body });
      // Accepted, it waits by the time that this is on disk.
      await database.write(() => {});
      await tokens.revoke(actor, record.id);
    });
    expect(await upload).toBe(401);
    expect((await behind)?.status).toBe(401);
    expect(database.read.values(sql`SELECT * FROM emails`)).toEqual([]);
  });
});
