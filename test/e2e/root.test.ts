/** Root in a data directory of another user, who may put anything there: links above all. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { type Outcome, satchel, startServer } from './binary.ts';

setDefaultTimeout(120_000);

/** Only root can make a directory another user's. */
const test_as_root = test.if(process.getuid?.() === 0);
const OWNER = { uid: 65_534, gid: 65_533 };
/** More than what is kept in the database. */
const LARGE = 'x'.repeat(200_000);

interface Service {
  data_dir: string;
  /** A folder that only root may enter. */
  home: string;
  /** A path in it. */
  named(name: string): string;
  run(...args: string[]): Promise<Outcome>;
}

/** The data directory of another user, in which a project is; they may be unable to reach it. */
async function makeService({ is_reachable = true } = {}): Promise<Service> {
  const data_dir = makeTempDir();
  if (is_reachable) chmodSync(dirname(data_dir), 0o711);
  chownSync(data_dir, OWNER.uid, OWNER.gid);
  const server = await startServer(data_dir);
  await server.end('SIGTERM');
  const run = (...args: string[]) => satchel([...args, '--data-dir', data_dir]);
  expect((await run('project', 'create', '--name', 'Shop', '--slug', 'shop')).exit).toBe(0);
  const home = makeTempDir();
  chmodSync(home, 0o700);
  const named = (name: string): string => join(home, name);
  writeFileSync(named('large.txt'), LARGE, { mode: 0o600 });
  writeFileSync(named('secret'), 'a passphrase', { mode: 0o600 });
  return { data_dir, home, named, run };
}

function foreignIn(data_dir: string): string[] {
  return readdirSync(data_dir, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const { uid, gid } = lstatSync(join(data_dir, name));
    return uid !== OWNER.uid || gid !== OWNER.gid;
  });
}

/** What must not change of a file, however it is reached. */
function stateOf(path: string): unknown {
  const { uid, gid, mode, mtimeMs } = lstatSync(path);
  return { uid, gid, mode, mtimeMs, text: readFileSync(path, 'utf8') };
}

test_as_root("what root makes in it is its owner's, and what root names elsewhere is root's", async () => {
  const { data_dir, home, named, run } = await makeService();
  const put = await run('object', 'put', named('large.txt'), '--project', 'shop', '--json');
  expect([put.exit, put.stderr]).toEqual([0, '']);
  const got = await run('object', 'get', String(put.json.public_id), named('copy.txt'));
  expect([got.exit, readFileSync(named('copy.txt'), 'utf8') === LARGE]).toEqual([0, true]);
  const ways = [
    ['vault', 'set', '--project', 'shop', 'stripe', `secret_key=@${named('secret')}`],
    ['project', 'export', 'shop', named('shop.satchel'), '--passphrase', `@${named('secret')}`, '--copy'],
    ['backup', named('whole.tar')],
    ['backup', join(data_dir, 'within.tar')],
    ['verify', named('whole.tar')],
    ['verify', join(data_dir, 'within.tar')],
    ['restore', named('whole.tar'), '--yes'],
    ['master-key', 'rotate'],
    ['doctor'],
  ];
  for (const args of ways) {
    const { exit, stdout, stderr } = await run(...args);
    expect([args, exit, exit === 0 ? '' : stdout + stderr]).toEqual([args, 0, '']);
  }
  expect(foreignIn(data_dir)).toEqual([]);
  for (const name of readdirSync(home)) {
    const { uid, mode } = lstatSync(named(name));
    expect([name, uid, mode & 0o777]).toEqual([name, 0, 0o600]);
  }
  const ran = await satchel(
    ['vault', 'run', '--project', 'shop', '--data-dir', data_dir, '--'].concat(
      'sh',
      '-c',
      'id -u; cat "$0"',
      named('secret'),
    ),
  );
  expect([ran.stderr, ran.stdout]).toEqual(['', '0\na passphrase']);
});

for (const is_reachable of [true, false]) {
  const whose = is_reachable ? 'its owner' : 'an owner who can not reach it';
  test_as_root(`a link of ${whose} where a file of ours belongs is refused by its name`, async () => {
    const { data_dir, named, run } = await makeService({ is_reachable });
    const victim = named('victim.conf');
    writeFileSync(victim, 'root keeps this\n', { mode: 0o644 });
    const before = stateOf(victim);
    mkdirSync(join(data_dir, 'tls'));
    const add = ['project', 'create', '--name', 'Other'];
    const ways = [
      ...['server.lock', 'server.pid', 'instance', 'tls/certificate.json.new'].map((place) => [
        place,
        ...add,
      ]),
      ['server.json.new', 'serve', '--port', '0'],
      ['import.lock', 'restore', named('none.tar'), '--yes'],
      ['wake', 'doctor'],
      ['wake', 'backup', named('b.tar')],
      ['wake', ...add],
    ];
    for (const [place = '', ...args] of ways) {
      const path = join(data_dir, place);
      rmSync(path, { force: true });
      symlinkSync(victim, path);
      const { exit, stderr } = await run(...args);
      expect([place, exit, stderr]).toEqual([
        place,
        1,
        expect.stringContaining(`${path} is a symbolic link`),
      ]);
      rmSync(path);
    }
    // The same file by another name is no link to look at: what it is tells.
    for (const [place, ...args] of [
      ['wake', ...add],
      ['server.lock', 'migrate'],
      ['server.pid', 'serve', '--port', '0'],
    ] as const) {
      linkSync(victim, join(data_dir, place));
      const { exit } = await run(...args);
      expect([place, exit]).toEqual([place, place === 'server.lock' ? 0 : 1]);
      rmSync(join(data_dir, place));
    }
    expect(stateOf(victim)).toEqual(before);
    expect(existsSync(named('b.tar'))).toBe(false);
    expect((await run(...add)).exit).toBe(0);
    const { uid, gid } = lstatSync(join(data_dir, 'wake'));
    expect({ uid, gid }).toEqual(OWNER);
  });
}

test_as_root('a folder that its owner put a link for is as far as they get themselves', async () => {
  const { data_dir, named, run } = await makeService();
  const home_of_others = named('objects');
  mkdirSync(home_of_others, { mode: 0o700 });
  for (let n = 0; n < 1024; n += 1) {
    const digits = [...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'];
    const folder = join(data_dir, 'objects', `${digits[n >> 5]}${digits[n & 31]}`);
    rmSync(folder, { recursive: true, force: true });
    symlinkSync(home_of_others, folder);
    lchownSync(folder, OWNER.uid, OWNER.gid);
  }
  const put = await run('object', 'put', named('large.txt'), '--project', 'shop');
  expect([put.exit, readdirSync(home_of_others)]).toEqual([1, []]);
  // Where root has moved a folder it says so by its own link.
  const elsewhere = makeTempDir();
  renameSync(join(data_dir, 'objects'), named('linked'));
  chownSync(elsewhere, OWNER.uid, OWNER.gid);
  symlinkSync(elsewhere, join(data_dir, 'objects'));
  expect((await run('object', 'put', named('large.txt'), '--project', 'shop')).exit).toBe(0);
  lchownSync(join(data_dir, 'objects'), OWNER.uid, OWNER.gid);
  const refused = await run('object', 'put', named('large.txt'), '--project', 'shop');
  expect(refused.stderr).toContain(`${join(data_dir, 'objects')} is a symbolic link`);
});

test_as_root(
  'a server that root starts there is its owner from then on, and its note opens nothing of root',
  async () => {
    const { data_dir, named, run } = await makeService();
    const server = await startServer(data_dir, { SATCHEL_LOG_LEVEL: 'info' });
    const ids = /^Uid:\s+(.*)$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1];
    expect(ids?.split(/\s+/)).toEqual(['65534', '65534', '65534', '65534']);
    expect(foreignIn(data_dir)).toEqual([]);
    const asked: string[] = [];
    const store = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked.push(JSON.stringify(request.headers));
        return new Response('', { status: 403 });
      },
    });
    const note = join(data_dir, 'server.json');
    const told = JSON.parse(readFileSync(note, 'utf8'));
    const [url, file] = [`http://127.0.0.1:${store.port}`, named('secret')];
    const given = (path: string) => ({
      ...told,
      settings: {
        ...told.settings,
        SATCHEL_OBJECT_STORE: `s3://bucket?endpoint=${encodeURIComponent(url)}&style=path`,
        SATCHEL_S3_ACCESS_KEY_ID_FILE: path,
        SATCHEL_S3_SECRET_ACCESS_KEY_FILE: path,
      },
    });
    const theirs = join(data_dir, '.key');
    writeFileSync(theirs, 'their-own-key');
    for (const path of [theirs, file]) {
      writeFileSync(note, JSON.stringify(given(path)));
      await run('object', 'put', named('large.txt'), '--project', 'shop');
    }
    await store.stop(true);
    expect(asked.some((headers) => headers.includes('their-own-key'))).toBe(true);
    expect(asked.join()).not.toContain('passphrase');
    await server.end('SIGTERM');
  },
);
