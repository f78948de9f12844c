/** `satchel object`: what its verbs print, refuse and delete. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { run, runJson, runRecord } from '../../support/command.ts';
import { makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';

let app: TestApp;
let dir = '';
let key = '';
let page = '';
let note = '';

async function upload(name: string, fields: Record<string, string>): Promise<string> {
  const form = new FormData();
  for (const [field, value] of Object.entries(fields)) form.set(field, value);
  form.set('file', new Blob(['hello'], { type: 'text/plain' }), name);
  return String((await app.call('POST', '/api/v1/objects', { key, body: form })).body.public_id);
}

beforeAll(async () => {
  // The verbs go by the real clock, beside the running server.
  app = await startTestApp();
  app.clock.advance(Date.now() - app.clock.now());
  dir = app.data_dir;
  key = await (await makeProject(app, 'shop')).key();
  page = await upload('page.html', { visibility: 'public', expires_in_days: '1' });
  note = await upload('note.txt', {});
});

const get = async (id: string) => (await app.call('GET', `/api/v1/objects/${id}`, { key })).status;

describe('list', () => {
  test('shows what the API lists, newest first', async () => {
    const { data } = (await app.call('GET', '/api/v1/objects', { key })).body;
    const listed = await runJson(dir, 'object', 'list', '--project', 'shop');
    const withoutUrl = (items: unknown) =>
      (Array.isArray(items) ? items : []).map((one) => ({ ...one, url: '' }));
    expect(withoutUrl(listed)).toEqual(withoutUrl(data));
    expect(listed).toMatchObject([{ public_id: note }, { public_id: page }]);
    const { exit, stdout } = await run(dir, 'object', 'list', '--project', 'shop');
    expect([exit, stdout.split('\n')[1]]).toEqual([0, expect.stringContaining(`${note}  note.txt   5 B`)]);
  });

  test('by visibility, and no more than asked for', async () => {
    const list = (...more: string[]) => runJson(dir, 'object', 'list', '--project', 'shop', ...more);
    expect(await list('--visibility', 'public')).toMatchObject([{ public_id: page }]);
    expect(await list('--limit', '1')).toMatchObject([{ public_id: note }]);
    expect((await run(dir, 'object', 'list', '--project', 'shop', '--visibility', 'secret')).exit).toBe(2);
    expect((await run(dir, 'object', 'list', '--project', 'nope')).exit).toBe(1);
    expect((await run(dir, 'object', 'list', '--project', 'shop', '--limit', '0')).exit).toBe(2);
  });

  test('of an empty project says so', async () => {
    await makeProject(app, 'empty');
    const { stdout } = await run(dir, 'object', 'list', '--project', 'empty');
    expect(stdout).toContain('There are no files in empty');
    expect(await runJson(dir, 'object', 'list', '--project', 'empty')).toEqual([]);
  });
});

describe('show', () => {
  test('tells all of one file, whatever the case of its id', async () => {
    const shown = await runRecord(dir, 'object', 'show', page.toLowerCase());
    expect(shown).toMatchObject({
      public_id: page,
      project_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      original_filename: 'page.html',
      visibility: 'public',
      size_bytes: 5,
      sha256: new Bun.CryptoHasher('sha256').update('hello').digest('hex'),
    });
    expect(Date.parse(String(shown.expires_at))).toBeGreaterThan(Date.now());
  });

  test.each(['01ARZ3NDEKTSV4RRFFQ69G5FAV', '1', '../../x'])(
    '%p is refused, with where to look',
    async (id) => {
      const { exit, stderr } = await run(dir, 'object', 'show', id);
      expect([exit, stderr]).toEqual([1, expect.stringContaining('satchel object list --project REF')]);
    },
  );
});

describe('delete', () => {
  test('asks for --yes and says what goes, and takes nothing before', async () => {
    const { exit, stderr } = await run(dir, 'object', 'delete', note);
    expect(exit).toBe(1);
    expect(stderr).toContain('deletes 1 file of 5 B, "note.txt" of the project shop, for good. Add --yes');
    expect(await get(note)).toBe(200);
  });

  test('removes record and bytes, which the running server sees at once', async () => {
    const path = app.services.objects.pathOf(note);
    expect(existsSync(path)).toBe(true);
    expect(await runRecord(dir, 'object', 'delete', note, '--yes')).toEqual({
      deleted: true,
      public_id: note,
    });
    expect([existsSync(path), await get(note), await get(page)]).toEqual([false, 404, 200]);
    expect((await run(dir, 'object', 'delete', note, '--yes')).exit).toBe(1);
  });
});
