/** Image variants by the compiled executable: made by processes of its own, which end with it, and kept over a restart. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { MAKER_VERB } from '../../src/files/variants/protocol.ts';
import { look, png, quarters } from '../support/images.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);

/** Processes that make variants for this one: ids, and their environment. */
const makersOf = (server: number): { pid: number; environment: string }[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const read = (what: string): string => readFileSync(`/proc/${pid}/${what}`, 'utf8');
        const is_one = read('cmdline').includes(MAKER_VERB) && read('status').includes(`PPid:\t${server}\n`);
        return is_one ? [{ pid: Number(pid), environment: read('environ') }] : [];
      } catch {
        return []; // It has ended meanwhile.
      }
    });

test.skipIf(!existsSync('/proc/self/environ'))(
  'outlast kill -9 of the server, though its processes do not, are in no backup, and go with their object',
  async () => {
    const dir = makeTempDir();
    let server = await startServer(dir, { SATCHEL_ENV: 'secretive' });
    const key = await makeKey(dir);
    const stored = await upload(server.url, key, png(640, 480, quarters));
    const id = stored?.public_id ?? '';
    const ask = () => fetch(`${server.url}/api/v1/objects/${id}?w=64&format=webp`);
    const made = await (await ask()).bytes();
    expect(await look(made)).toMatchObject({ format: 'webp', width: 64, height: 48 });
    const [maker, ...more] = makersOf(server.pid);
    expect([more, maker?.environment.includes('secretive')]).toEqual([[], false]);
    const folder = join(dir, 'variants', id.slice(-2));
    const inodes = () => readdirSync(folder).map((name) => statSync(join(folder, name)).ino);
    const before = inodes();
    expect(before.length).toBe(1);

    await server.end('SIGKILL');
    await until(() => !existsSync(`/proc/${maker?.pid}`));
    server = await startServer(dir);
    expect(await (await ask()).bytes()).toEqual(made);
    expect([inodes(), makersOf(server.pid)]).toEqual([before, []]);
    const backup = join(makeTempDir(), 'backup.tar');
    expect((await satchel(['backup', backup, '--data-dir', dir])).exit).toBe(0);
    expect(readFileSync(backup).includes(readdirSync(folder)[0] ?? '?')).toBe(false);
    const deleted = await satchel(['object', 'delete', id, '--yes', '--data-dir', dir]);
    expect([deleted.exit, inodes(), (await ask()).status]).toEqual([0, [], 404]);
    await server.end('SIGTERM');
  },
);
