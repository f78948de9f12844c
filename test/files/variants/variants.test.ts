/** Image variants: what comes out for what is asked, who gets it, and what is refused. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeProject, moveToFiles, startTestApp } from '../../support/helpers.ts';
import {
  bmp,
  bomb,
  corners,
  look,
  png,
  quarters,
  sample,
  turnedPng,
  turnedWebp,
} from '../../support/images.ts';
import { invalidFieldsOf } from '../../support/management.ts';
import { startVariants } from './stage.ts';

const { on, app, key, upload, ask, of, errorsOf, shape } = await startVariants();

const filesOf = (id: string): string[] => {
  const folder = join(app.data_dir, 'variants', id.slice(-2));
  return existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(id)) : [];
};

describe('a variant', () => {
  test('fits into the box as a whole, or covers it and loses what lies beyond the middle', async () => {
    const id = await upload(png(64, 48, quarters));
    expect(await shape(id, 'w=32')).toBe('png 32x24');
    expect(await shape(id, 'h=16')).toBe('png 21x16');
    expect(await shape(id, 'w=32&h=16&format=webp')).toBe('webp 21x16');
    expect(await shape(id, 'w=16&h=32&fit=cover&format=jpeg')).toBe('jpeg 16x32');
    expect(await corners((await of(id, 'w=32&h=32&fit=cover')).bytes)).toBe('mbrk');
    // A column in the middle, and a row: what stood at the sides is gone.
    const striped = await upload(
      png(96, 32, (x) => (x < 32 ? [255, 0, 0] : x < 64 ? [0, 255, 0] : [0, 0, 255])),
    );
    const cut = await of(striped, 'w=32&h=32&fit=cover');
    expect(await corners(cut.bytes)).toBe('gggg');
    expect(await corners((await of(striped, 'w=96&h=16&fit=cover')).bytes)).toBe('rbrb');
    const tall = await upload(
      png(32, 96, (_, y) => (y < 32 ? [255, 0, 0] : y < 64 ? [0, 255, 0] : [0, 0, 255])),
    );
    expect(await corners((await of(tall, 'w=16&h=16&fit=cover&format=webp')).bytes)).toBe('gggg');
  });

  test('is never larger than its source: the box shrinks to it', async () => {
    const id = await upload(png(64, 48, quarters));
    expect(await shape(id, 'w=4096&h=4096')).toBe('png 64x48');
    expect(await shape(id, 'format=webp')).toBe('webp 64x48');
    expect(await shape(id, 'w=200&h=200&fit=cover')).toBe('png 64x48');
    expect(await shape(id, 'w=200&h=16&fit=cover')).toBe('png 64x16');
    expect(await corners((await of(id, 'w=32&h=200&fit=cover')).bytes)).toBe('mbrk');
    const thin = await upload(png(300, 1, quarters));
    expect(await shape(thin, 'w=100')).toBe('png 100x1');
  });

  test('is of the format that is asked for, else of the source’s, and PNG for GIF and BMP', async () => {
    const source = png(64, 48, quarters);
    const webp = await upload(await new Bun.Image(source).webp({ lossless: true }).bytes());
    const jpeg = await upload(await new Bun.Image(source).jpeg().bytes());
    const gif = await upload(sample('animated_gif'));
    const plain = await upload(bmp(64, 48, [0, 255, 0]));
    expect(await shape(webp, 'w=32')).toBe('webp 32x24');
    expect(await shape(jpeg, 'w=32')).toBe('jpeg 32x24');
    expect(await shape(gif, 'w=32')).toBe('png 32x24');
    expect(await shape(plain, 'w=32')).toBe('png 32x24');
    for (const format of ['webp', 'jpeg', 'png'])
      expect(await shape(plain, `w=32&format=${format}`)).toBe(`${format} 32x24`);
    expect(await corners((await of(plain, 'w=32&format=jpeg')).bytes)).toBe('gggg');
    const size = async (quality: number) => {
      const noise = png(64, 64, (x, y) => [(x * 37 + y * 91) % 256, (x * y) % 256, (x * 13) % 256]);
      return (await of(await upload(noise), `format=jpeg&quality=${quality}`)).bytes.length;
    };
    expect(await size(90)).toBeGreaterThan(2 * (await size(10)));
  });

  test('is upright and without metadata but for the colour profile', async () => {
    const id = await upload(sample('turned_jpeg'));
    for (const query of ['w=64', 'format=png', 'format=webp', 'w=40&h=40&fit=cover&format=png']) {
      const { bytes } = await of(id, query);
      const { width, height, has_profile } = await look(bytes);
      expect([query, width <= height, has_profile, await corners(bytes)]).toEqual([
        query,
        true,
        true,
        'rmkb',
      ]);
      expect(Buffer.from(bytes).includes('SECRET-EXIF')).toBe(false);
    }
  });

  test.each([
    [1, 'mbrk'],
    [2, 'bmkr'],
    [3, 'krbm'],
    [4, 'rkmb'],
    [5, 'mrbk'],
    [6, 'rmkb'],
    [7, 'kbrm'],
    [8, 'bkmr'],
  ])('of a PNG or a WebP of orientation %d is upright', async (orientation, upright) => {
    const plain = png(64, 48, quarters);
    for (const file of [turnedPng(plain, orientation), await turnedWebp(plain, orientation)]) {
      const id = await upload(file);
      const sides = orientation > 4 ? '24x32' : '32x24';
      expect(await shape(id, 'w=32&h=32&format=png')).toBe(`png ${sides}`);
      expect(await corners((await of(id, 'w=32&h=32&format=png')).bytes)).toBe(upright);
      expect(await corners((await of(id, 'w=20&h=20&fit=cover&format=png')).bytes)).toBe(upright);
    }
  });

  test('of an image whose EXIF is nonsense is as it lies', async () => {
    const plain = png(64, 48, quarters);
    for (const exif of ['', 'II*\0', 'II*\0\xff\xff\xff\xff', 'MM\0*\0\0\0\x08\xff\xff'])
      expect(await shape(await upload(turnedPng(plain, 6, Buffer.from(exif, 'latin1'))), 'w=32')).toBe(
        'png 32x24',
      );
    expect(await shape(await upload(turnedPng(plain, 9)), 'w=32')).toBe('png 32x24');
  });

  test('of an animated image is its first frame', async () => {
    for (const name of ['animated_gif', 'animated_webp'] as const)
      expect([name, await corners((await of(await upload(sample(name)), 'w=32&format=png')).bytes)]).toEqual([
        name,
        'mbrk',
      ]);
  });

  test('of CMYK has the colours that are meant', async () => {
    const id = await upload(sample('cmyk_jpeg'));
    expect(await corners((await of(id, 'w=32&format=png')).bytes)).toBe('mbrk');
  });

  test('of half a JPEG is what is left of it', async () => {
    const whole = await new Bun.Image(png(256, 256, () => [255, 0, 0])).jpeg({ quality: 100 }).bytes();
    const id = await upload(whole.subarray(0, Math.floor(whole.length / 2)));
    const { status, bytes } = await of(id, 'w=64&format=png');
    expect(status).toBe(200);
    expect((await look(bytes)).at(4, 4)).toEqual([254, 0, 0, 255]);
  });
});

describe('a variant is refused', () => {
  test('for what is asked, by field, after a file that is not there', async () => {
    const id = await upload(png(64, 48, quarters));
    const wrong = 'w=15&h=4097&fit=fill&format=avif&quality=0';
    expect(await errorsOf(id, wrong)).toEqual({
      w: ['must be a whole number from 16 to 4096'],
      h: ['must be a whole number from 16 to 4096'],
      fit: ['must be one of: inside, cover'],
      format: ['must be one of: webp, jpeg, png'],
      quality: ['must be a whole number from 1 to 100'],
    });
    expect(Object.keys((await errorsOf(id, 'w=1.5&quality=101&h=')) ?? {}).toSorted()).toEqual([
      'h',
      'quality',
      'w',
    ]);
    expect(await errorsOf(id, 'w=32&fit=cover')).toEqual({ fit: ['cover needs both w and h'] });
    expect((await of('01ARZ3NDEKTSV4RRFFQ69G5FAV', wrong)).status).toBe(404);
    expect((await of(id, wrong, {})).status).toBe(401);
    // As elsewhere: of what is said twice the last counts, and what nobody knows is ignored.
    expect(await shape(id, 'w=1&w=32&width=5')).toBe('png 32x24');
  });

  test('for what the file is: no image, of another kind, damaged, too large', async () => {
    const whole = png(64, 48, quarters);
    const refused: [Uint8Array, RegExp][] = [
      [Buffer.from('hello world, this is no image'), /no image/],
      [Buffer.alloc(0), /no image/],
      [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /no image/],
      [sample('avif'), /of no other/],
      [Buffer.from('49492a0008000000', 'hex'), /of no other|no image/],
      [whole.subarray(0, whole.length - 40), /damaged/],
      [whole.subarray(0, 20), /damaged|no image/],
      [sample('animated_webp').subarray(0, 150), /damaged/],
      [sample('turned_jpeg').subarray(0, 300), /damaged/],
      [bomb(64_000, 64_000), /more than 40 megapixels/],
      [bomb(8_000, 5_001), /more than 40 megapixels/],
      [bomb(8_000, 5_000), /damaged/],
    ];
    for (const [bytes, message] of refused) {
      const id = await upload(bytes);
      for (const query of ['w=32', 'w=32&h=32&fit=cover&format=webp']) {
        const errors = await errorsOf(id, query);
        expect(JSON.stringify(errors)).toMatch(message);
        expect(filesOf(id)).toEqual([]);
      }
    }
    expect(bomb(64_000, 64_000).length).toBeLessThan(100);
  });

  test('for more than 32 MiB, before a byte of it is read', async () => {
    const id = await upload(png(64, 48, quarters));
    const row = app.services.objects.requireAny(id);
    const wishes = { width: 32, height: 32, fit: 'inside', format: null, quality: 80 } as const;
    const large = { ...row, size_bytes: 32 * 1024 * 1024 + 1 };
    await expect(app.services.variants.get(large, wishes, null)).rejects.toThrow('at most 32 MiB');
  });
});

describe('a variant is sent', () => {
  let id = '';
  beforeEach(async () => {
    id = await upload(png(64, 48, quarters), 'my.holiday.png');
  });

  test('with a tag, a name and a policy of its own, and is cached as the file is', async () => {
    const plain = await ask(`/api/v1/objects/${id}`);
    const made = await of(id, 'w=32&format=webp');
    const { headers } = made;
    expect(headers.get('content-type')).toBe('image/webp');
    expect(headers.get('content-disposition')).toStartWith('inline; filename=my.holiday.webp;');
    for (const name of [
      'cache-control',
      'content-security-policy',
      'x-content-type-options',
      'last-modified',
    ])
      expect([name, headers.get(name)]).toEqual([name, plain.headers.get(name)]);
    const tags = [plain.headers.get('etag')];
    for (const query of [
      'w=32&format=webp',
      'w=32',
      'w=33',
      'w=32&h=32',
      'w=32&h=32&fit=cover',
      'w=32&format=webp&quality=70',
    ])
      tags.push((await of(id, query)).headers.get('etag'));
    expect(new Set(tags).size).toBe(tags.length);
    expect((await of(id, 'w=32&format=webp')).headers.get('etag')).toBe(headers.get('etag'));
    const attached = await of(id, 'w=32&format=jpeg&download=1');
    expect(attached.headers.get('content-disposition')).toStartWith('attachment; filename=my.holiday.jpg;');
    const open = await upload(png(64, 48, quarters), 'a', { visibility: 'public', expires_in_days: '1' });
    const anybodys = await of(open, 'w=32', {});
    expect(anybodys.headers.get('cache-control')).toBe('public, max-age=86400');
    expect(anybodys.headers.get('content-disposition')).toStartWith('inline; filename=a.png;');
  });

  test('in parts, on conditions, and as a HEAD', async () => {
    const auth = { 'X-API-Key': key };
    const whole = await of(id, 'w=32');
    const etag = whole.headers.get('etag') ?? '';
    const part = await of(id, 'w=32', { ...auth, Range: 'bytes=4-9', 'If-Range': etag });
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes 4-9/${whole.bytes.length}`,
    ]);
    expect(part.bytes).toEqual(whole.bytes.slice(4, 10));
    expect((await of(id, 'w=32', { ...auth, Range: 'bytes=999999-' })).status).toBe(416);
    expect((await of(id, 'w=32', { ...auth, 'If-None-Match': etag })).status).toBe(304);
    expect((await of(id, 'w=33', { ...auth, 'If-None-Match': etag })).status).toBe(200);
    expect((await of(id, 'w=32', { ...auth, 'If-Match': '"other"' })).status).toBe(412);
    const path = `${app.url}/api/v1/objects/${id}?w=40`;
    const head = await fetch(path, { headers: auth, method: 'HEAD' });
    expect([head.status, head.headers.get('content-type')]).toEqual([200, 'image/png']);
    const got = await fetch(path, { headers: auth });
    expect(head.headers.get('content-length')).toBe(String((await got.bytes()).length));
    expect(got.headers.get('content-length')).toBe(head.headers.get('content-length'));
  });

  test('to whoever may read the file: a key of the project, a link, and on the management plane its tokens', async () => {
    const foreign = await (await makeProject(app, 'foreign')).key();
    expect((await of(id, 'w=32', { 'X-API-Key': foreign })).status).toBe(404);
    expect((await of(id, 'w=32', {})).status).toBe(401);
    const link = await app.call('POST', `/api/v1/objects/${id}/links`, {
      key,
      body: { expires_in_seconds: 60 },
    });
    const { pathname } = new URL(String(link.body.url));
    const followed = await ask(`${pathname}?w=32&format=webp`, {});
    expect([followed.status, followed.headers.get('content-type')]).toEqual([200, 'image/webp']);
    expect(followed.headers.get('cache-control')).toBe('private');
    expect(followed.headers.get('referrer-policy')).toBe('no-referrer');
    expect((await ask(`${pathname.slice(0, -1)}?w=32`, {})).status).toBe(404);
    const path = `/projects/mine/objects/${id}/variant?w=32&format=webp`;
    const managed = await ask(`/api/public/v1${path}`, { Authorization: `Bearer ${on.scoped}` });
    expect(managed.bytes).toEqual(followed.bytes);
    expect((await on.call('GET', path.replace('mine', 'other'), on.scoped)).status).toBe(404);
    const wrong = await on.call('GET', path.replace('w=32', 'w=1'), on.scoped);
    expect([wrong.status, invalidFieldsOf(wrong)]).toEqual([422, ['w']]);
  });
});

describe('a variant is kept', () => {
  test('and made once, however many ask at once or later', async () => {
    const id = await upload(png(64, 48, quarters));
    const { processes } = app.services.variants;
    const inTurn = processes.inTurn.bind(processes);
    let made = 0;
    processes.inTurn = (asker, work) => {
      made += 1;
      return inTurn(asker, work);
    };
    const answers = await Promise.all(Array.from({ length: 50 }, () => of(id, 'w=32')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await of(id, 'w=32');
    expect([made, filesOf(id).length]).toEqual([1, 1]);
    await of(id, 'w=32&format=webp');
    expect([made, filesOf(id).length]).toEqual([2, 2]);
    // What is lost is made again.
    rmSync(join(app.data_dir, 'variants'), { recursive: true });
    expect((await of(id, 'w=32')).bytes).toEqual(answers[0]?.bytes ?? new Uint8Array());
    processes.inTurn = inTurn;
  });

  test('by a name that tells how it is made: what another way left is made anew', async () => {
    const id = await upload(png(64, 48, quarters));
    const made = await of(id, 'w=32');
    const [name = ''] = filesOf(id);
    const folder = join(app.data_dir, 'variants', id.slice(-2));
    rmSync(join(folder, name));
    await Bun.write(join(folder, name.replace(`-2-${Bun.version}`, `-1-${Bun.version}`)), 'an older one');
    expect((await of(id, 'w=32')).bytes).toEqual(made.bytes);
    expect(filesOf(id).length).toBe(2);
  });

  test('with a mode that is its owner’s alone, and leaves no part behind', async () => {
    const id = await upload(png(64, 48, quarters));
    await of(id, 'w=32');
    expect(readdirSync(join(app.data_dir, 'variants/parts'))).toEqual([]);
    const [name = ''] = filesOf(id);
    const path = join(app.data_dir, 'variants', id.slice(-2), name);
    expect((statSync(path).mode & 0o777).toString(8)).toBe('600');
    expect((statSync(join(app.data_dir, 'variants')).mode & 0o777).toString(8)).toBe('700');
  });

  test('no longer than its object: deleted, expired, or with its project', async () => {
    const [deleted, expiring, kept] = [
      await upload(png(64, 48, quarters)),
      await upload(png(64, 48, quarters), 'a.png', { expires_in_days: '1' }),
      await upload(png(64, 48, quarters)),
    ];
    const doomed = await makeProject(app, 'doomed');
    const doomed_key = await doomed.key();
    const form = new FormData();
    form.set('file', new Blob([png(64, 48, quarters)]), 'a.png');
    const theirs = String(
      (await app.call('POST', '/api/v1/objects', { key: doomed_key, body: form })).body.public_id,
    );
    for (const id of [deleted, expiring, kept]) await of(id, 'w=32');
    await of(theirs, 'w=32', { 'X-API-Key': doomed_key });
    expect([deleted, expiring, kept, theirs].map((id) => filesOf(id).length)).toEqual([1, 1, 1, 1]);
    await on.call('DELETE', `/projects/mine/objects/${deleted}`, on.all);
    expect((await of(deleted, 'w=32')).status).toBe(404);
    await app.services.projects.remove({ kind: 'shell', id: '0', name: 'tester', ip: null }, 'doomed');
    app.clock.advance(86_400_001);
    await app.services.objects.sweepExpired();
    expect([deleted, expiring, kept, theirs].map((id) => filesOf(id).length)).toEqual([0, 0, 1, 0]);
  });

  test('and is not there where the bytes of its object are not', async () => {
    const id = await upload(png(64, 48, quarters));
    await moveToFiles(app);
    rmSync(app.services.blobs.path(id));
    expect((await of(id, 'w=32')).status).toBe(404);
  });

  test('not, where its object goes while it is made', async () => {
    const id = await upload(png(64, 48, quarters));
    const { processes } = app.services.variants;
    const inTurn = processes.inTurn.bind(processes);
    processes.inTurn = (project_id, work) =>
      inTurn(project_id, (make) =>
        work(async (job) => {
          const reply = await make(job);
          await on.call('DELETE', `/projects/mine/objects/${id}`, on.all);
          return reply;
        }),
      );
    expect((await of(id, 'w=32')).status).toBe(404);
    expect(filesOf(id)).toEqual([]);
    processes.inTurn = inTurn;
  });
});

test('a start removes what a crash left half made, and variants of objects that are gone', async () => {
  const one = await startTestApp();
  const parts = join(one.data_dir, 'variants/parts');
  await Bun.write(join(parts, 'half'), 'half');
  const lost = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
  await Bun.write(join(one.data_dir, 'variants/AV', `${lost}-32x32-inside-webp-80-1-1.0.0-x64.webp`), 'x');
  await one.stop();
  const two = await startTestApp({ data_dir: one.data_dir });
  await two.services.variants.sweep();
  expect([existsSync(parts), readdirSync(join(one.data_dir, 'variants/AV'))]).toEqual([false, []]);
  await two.stop();
});
