/** `satchel object`: what its verbs print, refuse and delete. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, runJson, runRecord, runWith, satchel } from '../../support/command.ts';
import { makeProject, moveToFiles, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';

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
  test('shows what the API lists, newest first, and where its bytes are', async () => {
    const { data } = (await app.call('GET', '/api/v1/objects', { key })).body;
    const listed = await runJson(dir, 'object', 'list', '--project', 'shop');
    const withoutUrl = (items: unknown) =>
      (Array.isArray(items) ? items : []).map((one) => ({ ...one, url: '' }));
    expect(withoutUrl(listed)).toEqual(withoutUrl(data).map((one) => ({ ...one, store: 'database' })));
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

describe('put', () => {
  test('stores a file under its own name, by its own type, and says where it is', async () => {
    const path = join(makeTempDir(), 'notes.txt');
    writeFileSync(path, 'from the shéll');
    const { exit, stdout } = await run(dir, 'object', 'put', path, '--project', 'shop', '--public');
    const [id = '', what, url = ''] = stdout.trimEnd().split('\n');
    expect([exit, what]).toEqual([0, 'notes.txt: 15 B, text/plain, public.']);
    expect(url).toEndWith(`/api/v1/objects/${id}`);
    const answer = await app.call('GET', `/api/v1/objects/${id}`);
    expect([answer.text, answer.headers.get('content-type')]).toEqual([
      'from the shéll',
      'text/plain; charset=utf-8',
    ]);
    const [newest] = app.services.audit.list(null, { page: 1, per_page: 1 }).data;
    expect(newest).toMatchObject({ event: 'object.uploaded', target: `object:${id}` });
  });

  test('takes standard input, a name, a type and an end', async () => {
    const args = [
      'object',
      'put',
      '-',
      '--project',
      'shop',
      '--name',
      '../a.csv',
      '--type',
      'text/csv',
      '--json',
    ];
    const { stdout } = await satchel([...args, '--expires-in-days', '2'], {
      env: { SATCHEL_DATA_DIR: dir },
      input: 'a,b\n',
    });
    const { public_id, ...rest } = JSON.parse(stdout);
    expect(rest).toMatchObject({ mime_type: 'text/csv', size_bytes: 4, visibility: 'private' });
    expect(await runRecord(dir, 'object', 'show', public_id)).toMatchObject({ original_filename: 'a.csv' });
    expect(rest.expires_at).not.toBeNull();
  });

  test.each([
    [['--expires-in-days', '0'], /--expires-in-days must be a whole number from 1/],
    [['--expires-at', 'soon'], /--expires-at must be an ISO 8601 date-time/],
    [['--type', 'nonsense'], /--type must be a media type/],
  ])('%p is refused by the name of the option, and nothing stays', async (more, message) => {
    const path = join(makeTempDir(), 'notes.txt');
    writeFileSync(path, 'from the shell');
    const before = await runJson(dir, 'object', 'list', '--project', 'shop');
    const { exit, stderr } = await run(dir, 'object', 'put', path, '--project', 'shop', ...more);
    expect([exit, stderr]).toEqual([1, expect.stringMatching(message)]);
    expect(await runJson(dir, 'object', 'list', '--project', 'shop')).toEqual(before);
  });

  test('a file that is too large or cannot be read is refused', async () => {
    const path = join(makeTempDir(), 'large');
    writeFileSync(path, new Uint8Array(2_000));
    const large = await runWith(
      { SATCHEL_DATA_DIR: dir, SATCHEL_MAX_UPLOAD_BYTES: '1999' },
      ...['object', 'put', path, '--project', 'shop'],
    );
    expect([large.exit, large.stderr]).toEqual([
      1,
      'satchel: the file must be at most 2 KiB (1999 bytes, SATCHEL_MAX_UPLOAD_BYTES)\n',
    ]);
    const missing = await run(dir, 'object', 'put', `${path}x`, '--project', 'shop');
    expect([missing.exit, missing.stderr]).toEqual([1, expect.stringContaining('The file cannot be read')]);
  });
});

describe('get', () => {
  test('writes the file whole, and replaces none that is there unless told', async () => {
    const folder = makeTempDir();
    const path = join(folder, 'copy.txt');
    const got = await run(dir, 'object', 'get', note, path);
    expect([got.exit, got.stdout]).toEqual([0, `${path}: 5 B, text/plain;charset=utf-8.\n`]);
    writeFileSync(path, 'mine');
    const again = await run(dir, 'object', 'get', note, path);
    expect([again.exit, again.stderr, readFileSync(path, 'utf8')]).toEqual([
      1,
      `satchel: ${path} is there already. Add --force to replace it.\n`,
      'mine',
    ]);
    expect((await run(dir, 'object', 'get', note, path, '--force')).exit).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe('hello');
    expect(readdirSync(folder)).toEqual(['copy.txt']);
  });

  test('writes standard output too', async () => {
    expect(await run(dir, 'object', 'get', note, '-')).toMatchObject({ exit: 0, stdout: 'hello' });
    expect((await run(dir, 'object', 'get', note, '-', '--json')).exit).toBe(2);
  });

  test('bytes that are not what was stored, or a place that is no file, leave nothing', async () => {
    const folder = makeTempDir();
    const broken = await upload('broken.txt', {});
    await moveToFiles(app);
    writeFileSync(app.services.blobs.path(broken), 'hullo');
    const { exit, stderr } = await run(dir, 'object', 'get', broken, join(folder, 'broken.txt'));
    expect([exit, stderr]).toEqual([1, expect.stringContaining('not those that were stored')]);
    for (const place of [folder, `${folder}/`, join(folder, 'no/such'), '/dev/null'])
      expect((await run(dir, 'object', 'get', note, place, '--force')).exit).toBe(1);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('link', () => {
  test('opens the file without a key until it ends', async () => {
    const { exit, stdout } = await run(dir, 'object', 'link', note, '--expires-in', '6h');
    const [url = ''] = stdout.split('\n');
    expect(exit).toBe(0);
    expect((await app.call('GET', new URL(url).pathname)).text).toBe('hello');
  });

  test.each([
    ['8d', 1, /--expires-in must be/],
    ['soon', 2, /--expires-in takes a span/],
  ])('of %s is refused', async (span, status, message) => {
    const { exit, stderr } = await run(dir, 'object', 'link', note, '--expires-in', span);
    expect([exit, stderr]).toEqual([status, expect.stringMatching(message)]);
  });
});

describe('delete', () => {
  test('asks for --yes and says what goes, and takes nothing before', async () => {
    const { exit, stderr } = await run(dir, 'object', 'delete', note);
    expect(exit).toBe(1);
    expect(stderr).toContain('deletes 1 file of 5 B, "note.txt" of the project shop, for good. Add --yes');
    expect(await get(note)).toBe(200);
  });

  test('removes record and bytes, which the running server sees at once', async () => {
    const path = app.services.blobs.path(note);
    expect(existsSync(path)).toBe(true);
    expect(await runRecord(dir, 'object', 'delete', note, '--yes')).toEqual({
      deleted: true,
      public_id: note,
    });
    expect([existsSync(path), await get(note), await get(page)]).toEqual([false, 404, 200]);
    expect((await run(dir, 'object', 'delete', note, '--yes')).exit).toBe(1);
  });
});
