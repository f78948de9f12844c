/** The processes in which variants are made: what they may take, what they know, and what becomes of the others meanwhile. */

import { afterEach, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../../src/errors.ts';
import { VARIANT_MEMORY_BYTES } from '../../../src/files/variants/processes.ts';
import { MAKER_VERB } from '../../../src/files/variants/protocol.ts';
import { variantChecks } from '../../../src/files/variants/service.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { makeProject, moveToFiles, startTestApp, type TestApp } from '../../support/helpers.ts';
import { png, quarters } from '../../support/images.ts';
import { until } from '../../support/until.ts';

const FIRST_FRAME = join(import.meta.dir, '../../../src/files/variants/first-frame.ts');

let app: TestApp;
let key = '';

async function start(env: Record<string, string> = {}): Promise<void> {
  app = await startTestApp({ env });
  // None but those that set it is about how long one takes, which a busy machine decides.
  app.services.variants.processes.limits.deadline_ms = 60_000;
  key = await (await makeProject(app)).key();
}
async function upload(bytes = png(64, 48, quarters)): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([bytes]), 'a.png');
  return String((await app.call('POST', '/api/v1/objects', { key, body: form })).body.public_id);
}
/** Somebody at an address of their own. */
const asker = (project_id: number) => {
  asked += 1;
  return { project_id, ip: `192.0.2.${asked}` };
};
let asked = 0;
const of = (id: string, query = 'w=32') => app.call('GET', `/api/v1/objects/${id}?${query}`, { key });
/** Ids of the processes that make variants for this one. */
const makers = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const is_ours = readFileSync(`/proc/${pid}/status`, 'utf8').includes(`PPid:\t${process.pid}\n`);
        return is_ours && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(MAKER_VERB);
      } catch {
        return false; // It has ended meanwhile.
      }
    });

afterEach(() => app.stop());

describe('an image that takes too much', () => {
  beforeEach(() => start());
  const cases = [
    ['time', { deadline_ms: 0 }],
    ['memory', { memory_bytes: 1 }],
  ] as const;
  test.each(cases)(
    '%s is 503, is not tried again for a minute, and keeps neither others of it nor anybody else waiting',
    async (_, less) => {
      const id = await upload();
      const { limits } = app.services.variants.processes;
      const usual = { ...limits };
      Object.assign(limits, less);
      const refused = await of(id);
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '60']);
      Object.assign(limits, usual);
      expect((await of(id)).status).toBe(503);
      expect((await of(id, 'w=33')).status).toBe(200);
      expect((await of(await upload())).status).toBe(200);
      expect(app.logs()).toContain('an image took too long or too much');
      expect(readdirSync(join(app.data_dir, 'variants/parts'))).toEqual([]);
      // The object itself goes out as ever.
      expect((await app.call('GET', `/api/v1/objects/${id}`, { key })).status).toBe(200);
    },
  );
});

test('twenty wait for the two that are made, and one more is 503; what is there already waits for nobody', async () => {
  await start();
  const there = await upload();
  const other = await upload();
  expect((await of(there)).status).toBe(200);
  const { processes } = app.services.variants;
  const gate = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  const turns = Array.from({ length: 22 }, () =>
    processes.inTurn(asker(1), async () => {
      running += 1;
      most = Math.max(most, running);
      await gate.promise;
      running -= 1;
    }),
  );
  const refused = await of(other);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2']);
  expect((await of(there)).status).toBe(200);
  gate.resolve();
  await Promise.all(turns);
  expect(most).toBe(2);
  expect((await of(other)).status).toBe(200);
});

test('one project keeps no other from its turn, however much it asks for', async () => {
  await start();
  const { processes } = app.services.variants;
  const gate = Promise.withResolvers<void>();
  const made: number[] = [];
  const turn = async (project_id: number): Promise<string> => {
    try {
      await processes.inTurn(asker(project_id), async () => {
        await gate.promise;
        made.push(project_id);
      });
      return 'made';
    } catch (error) {
      return error instanceof AppError ? error.kind : 'thrown';
    }
  };
  const many = Array.from({ length: 22 }, () => turn(1));
  const others = [turn(2), turn(2), turn(3)];
  gate.resolve();
  expect(await Promise.all(others)).toEqual(['made', 'made', 'made']);
  expect((await Promise.all(many)).filter((kind) => kind === 'unavailable')).toHaveLength(3);
  expect(made.slice(0, 8)).toEqual([1, 1, 1, 2, 3, 1, 2, 1]);
});

test('of one address two are made at once, one where others wait, and four wait; one more is 429', async () => {
  await start();
  const { processes } = app.services.variants;
  const there = await upload();
  expect((await of(there)).status).toBe(200);
  const gates = Array.from({ length: 7 }, () => Promise.withResolvers<void>());
  const begun: string[] = [];
  const turn = (ip: string | null, n: number) =>
    processes.inTurn({ project_id: 1, ip }, async () => {
      begun.push(`${ip} ${n}`);
      await gates[n]?.promise;
    });
  // Addresses of one /64, and one of nobody, as the requests of this test have.
  const theirs = [0, 1, 2, 3, 4, 5].map((n) => turn(`2001:db8::${n}`, n));
  expect(() => turn('2001:db8::f', 6)).toThrow(expect.objectContaining({ kind: 'rate_limited' }));
  const other = turn(null, 6);
  await until(() => begun.length === 2);
  gates[0]?.resolve();
  await until(() => begun.length === 3);
  gates[1]?.resolve();
  await until(() => begun.length === 4);
  expect(begun).toEqual(['2001:db8::0 0', '2001:db8::1 1', 'null 6', '2001:db8::2 2']);
  const more = [1, 2, 3, 4].map(() => turn(null, 6));
  const refused = await of(await upload());
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2']);
  expect((await of(there)).status).toBe(200);
  for (const gate of gates) gate.resolve();
  await Promise.all([...theirs, other, ...more]);
});

test('a stop ends what is made and tells those who wait', async () => {
  await start();
  const { processes } = app.services.variants;
  const gate = Promise.withResolvers<void>();
  const busy = [1, 2].map(() => processes.inTurn(asker(1), () => gate.promise));
  const waiting = processes.inTurn(asker(1), async () => {});
  processes.stop();
  await expect(waiting).rejects.toThrow('The server is stopping');
  gate.resolve();
  await Promise.all(busy);
  expect((await of(await upload())).status).toBe(503);
});

describe.skipIf(!existsSync('/proc/self/environ'))('a process', () => {
  test('knows nothing of the server, steps back for everybody, serves one image after the other, and is replaced once it is gone', async () => {
    await start();
    expect((await of(await upload())).status).toBe(200);
    // Those of the tests before are ended, if not gone yet.
    await until(() => makers().length === 1);
    const [pid = 0] = makers();
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8').replace(/NODE_CHANNEL\w+=\w+|\0/g, '')).toBe('');
    // The nineteenth field (proc(5)), counted behind the name.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    expect(fields[16]).toBe('10');
    expect((await of(await upload())).status).toBe(200);
    expect(makers()).toEqual([pid]);
    const image = await upload();
    await moveToFiles(app);
    const source = app.services.blobs.path(image);
    const target = join(app.data_dir, 'made');
    process.kill(pid, 'SIGKILL');
    // Nobody has been told yet that it is gone.
    const asked = { width: 32, height: 32, fit: 'inside', format: null, quality: 80 } as const;
    const { processes } = app.services.variants;
    const reply = await processes.inTurn(asker(1), (make) => make({ ...asked, source, target }));
    expect(reply).toEqual({ is: 'made', format: 'png' });
    expect(makers()).not.toContain(pid);
    await app.stop();
    await until(() => makers().length === 0);
  });
});

test('a process that ends as it is asked is replaced', async () => {
  await start();
  const spawn = spyOn(Bun, 'spawn');
  expect((await of(await upload())).status).toBe(200);
  const [kept] = spawn.mock.results.map(({ value }) => value as Bun.Subprocess);
  spawn.mockRestore();
  kept?.disconnect();
  expect((await of(await upload())).status).toBe(200);
});

test.if(process.platform === 'linux')(
  'an animated image of millions of empty parts is read in little memory',
  async () => {
    const script = `
    const { firstFrameOf } = await import(${JSON.stringify(FIRST_FRAME)});
    const file = Buffer.alloc(32 * 1024 * 1024);
    file.write('RIFF');
    file.write('WEBP', 8);
    firstFrameOf(file);
    // Of this program alone: what getrusage(2) tells is at least what its parent had.
    console.log(/VmHWM:\\s+(\\d+)/.exec(await Bun.file('/proc/self/status').text())[1]);`;
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' });
    expect(Number(await child.stdout.text()) * 1024).toBeLessThan(VARIANT_MEMORY_BYTES / 2);
  },
);

describe('what is kept', () => {
  const sizes = (): Map<string, number> => {
    const root = join(app.data_dir, 'variants');
    return new Map(
      readdirSync(root)
        .filter((shard) => shard !== 'parts')
        .flatMap((shard) => readdirSync(join(root, shard)).map((name) => join(root, shard, name)))
        .map((path) => [path, statSync(path).size]),
    );
  };
  const pathOf = (id: string): string => [...sizes().keys()].find((path) => path.includes(id)) ?? '';
  const age = (id: string, minutes: number): void => {
    const at = Date.now() / 1000 - minutes * 60;
    utimesSync(pathOf(id), at, at);
  };

  test('stays below the setting: those that were not asked for the longest go first, and come again', async () => {
    await start();
    const ids = [await upload(), await upload(), await upload()];
    for (const id of ids) expect((await of(id)).status).toBe(200);
    const [first = '', second = '', third = ''] = ids;
    age(first, 30);
    age(second, 20);
    age(third, 10);
    expect((await of(first)).status).toBe(200);
    await app.stop();
    app = await startTestApp({
      data_dir: app.data_dir,
      env: { SATCHEL_VARIANTS_MAX_BYTES: String(2.5 * 4096) },
    });
    await app.services.variants.sweep();
    expect([first, second, third].map((id) => pathOf(id) !== '')).toEqual([true, false, true]);
    expect((await of(second)).status).toBe(200);
  });

  test('is no more than the setting and a tenth at every moment, though all of it is read meanwhile', async () => {
    const most = 4 * 4096 * 1.1;
    await start({ SATCHEL_VARIANTS_MAX_BYTES: String(4 * 4096) });
    const ids: string[] = [];
    for (let n = 0; n < 8; n += 1) {
      const id = await upload();
      ids.push(id);
      const statuses = await Promise.all([of(id), ...ids.slice(-3).map((one) => of(one))]);
      for (const { status } of statuses) expect(status).toBe(200);
      expect([...sizes().values()].length * 4096).toBeLessThanOrEqual(most);
    }
  });

  test('makes room for others a few files at a time', async () => {
    await start({ SATCHEL_VARIANTS_MAX_BYTES: String(7_000 * 4096) });
    const ids = Array.from(
      { length: 8_000 },
      (_, n) => String(n).padStart(24, '0') + String(n % 40).padStart(2, '0'),
    );
    for (const id of ids) {
      const folder = join(app.data_dir, 'variants', id.slice(-2));
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, `${id}-32x32-inside-png-80-x.png`), 'x');
    }
    const there = spyOn(app.services.objects, 'listThere').mockImplementation((asked) => [...asked]);
    const turn_ms = await longestTurnMs(() => app.services.variants.sweep());
    there.mockRestore();
    expect(sizes().size).toBeWithin(6_000, 6_301);
    expect(turn_ms).toBeLessThan(20);
  });

  test('is nothing that is larger than all may be, which is not made again and again', async () => {
    await start({ SATCHEL_VARIANTS_MAX_BYTES: '0' });
    const id = await upload();
    const spawn = spyOn(Bun, 'spawn');
    for (const _ of [1, 2]) {
      const { status, headers, body } = await of(id);
      expect([status, headers.get('retry-after')]).toEqual([503, '60']);
      expect(body.message).toContain('Ask for a smaller one');
    }
    expect(spawn).toHaveBeenCalledTimes(1);
    spawn.mockRestore();
    expect(app.logs()).toContain('SATCHEL_VARIANTS_MAX_BYTES');
    expect(sizes().size).toBe(0);
  });

  test('is told by doctor', async () => {
    await start();
    const findings = async () => await variantChecks(app.services)[0]?.run();
    expect(await findings()).toEqual([]);
    expect((await of(await upload())).status).toBe(200);
    expect(await findings()).toMatchObject([
      { status: 'ok', message: expect.stringContaining('Kept: 1, 0 MiB of at most 1024.') },
    ]);
  });
});
