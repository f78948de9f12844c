/** Archives on the standard streams, through the executable: from one to another, cut off, given up, and ended in the middle. */
import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEveryEnd } from '../support/cleanup.ts';
import { dumpBlobs, dumpRows } from '../support/deployment.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { BINARY, makeKey, type Server, satchel, startServer, upload } from './binary.ts';
import { canMount } from './small-disk.ts';

setDefaultTimeout(60_000);

const dir = makeTempDir();
const archive = join(dir, 'piped.tar');
let server: Server;
let source = '';

/** More than pipes and buffers hold. */
const LARGE = 'hello '.repeat(700_000);

/** A pipe of which nobody reads. */
const pipe = join(dir, 'pipe');
Bun.spawnSync(['mkfifo', pipe]);
const unread = openSync(pipe, 'r+');

const env = () => ({
  PATH: process.env.PATH ?? '',
  SATCHEL_DATA_DIR: source,
  PASSPHRASE: 'correct horse battery staple',
  TMPDIR: dir,
});

/** Runs a line of bash, in which $S is the executable; its last words may be what a pipe's commands ended with. */
async function bash(line: string): Promise<{ stdout: string; stderr: string; exits: number[] }> {
  const script = `S=${BINARY}; cd ${dir}; ${line}; echo "\n\${PIPESTATUS[*]}"`;
  const child = Bun.spawn(['bash', '-c', script], { stdout: 'pipe', stderr: 'pipe', env: env() });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  await child.exited;
  const exits = stdout.trim().split('\n').at(-1)?.split(' ').map(Number) ?? [];
  return { stdout, stderr, exits };
}

beforeAll(async () => {
  source = join(makeTempDir(), 'data');
  server = await startServer(source);
  const key = await makeKey(source);
  for (const bytes of ['small', LARGE, `${LARGE}2`]) await upload(server.url, key, bytes);
});

const scratch = (data_dir: string): string[] =>
  ['backups', 'transfers'].flatMap((folder) =>
    existsSync(join(data_dir, folder)) ? readdirSync(join(data_dir, folder)) : [],
  );

test('a backup goes to standard output, with nothing else there, and comes back from standard input', async () => {
  const { exits, stdout, stderr } = await bash(`$S backup - > ${archive}`);
  expect([exits, stdout.trim()]).toEqual([[0], '0']);
  expect(stderr).toContain('(standard output)');
  expect(stderr).toContain('The master key');
  expect((await satchel(['verify', archive])).exit).toBe(0);
  expect(scratch(source)).toEqual([]);

  const verified = await bash(`cat ${archive} | $S verify - --json`);
  expect(JSON.parse(verified.stdout.slice(0, verified.stdout.lastIndexOf('}') + 1))).toMatchObject({
    ...{ ok: true, file: null, objects: 3 },
  });
  const restored = join(dir, 'restored');
  expect((await bash(`$S backup - | $S restore - --data-dir ${restored}`)).exits).toEqual([0, 0]);
  expect(dumpBlobs(restored)).toEqual(dumpBlobs(source));
  expect(dumpRows(restored).objects).toEqual(dumpRows(source).objects);
});

test('what breaks off is refused, and changes nothing', async () => {
  const bytes = readFileSync(archive);
  const cut = join(dir, 'cut');
  const [fresh, filled] = [join(dir, 'fresh'), join(dir, 'filled')];
  expect((await satchel(['restore', archive, '--data-dir', filled])).exit).toBe(0);
  const before = dumpRows(filled);
  for (const length of [0, 100, 600, 1_000_000, bytes.length - 1]) {
    writeFileSync(cut, bytes.subarray(0, length));
    const verified = await bash(`cat cut | $S verify -`);
    expect([length, verified.exits]).toEqual([length, [0, 1]]);
    expect(verified.stdout).toContain('NOT SOUND: (standard input)');
    expect((await bash(`cat cut | $S restore - --data-dir ${fresh}`)).exits).toEqual([0, 1]);
    expect(existsSync(fresh)).toBe(false);
    expect((await bash(`cat cut | $S restore - --yes --data-dir ${filled}`)).exits).toEqual([0, 1]);
  }
  expect(dumpRows(filled)).toEqual(before);
  expect(readdirSync(filled).filter((name) => /^(restoring|replaced)-/.test(name))).toEqual([]);
});

test('a reader that goes is exit 1, what came of it is refused, and no scratch file is left', async () => {
  const { exits, stderr } = await bash(`$S backup - | head -c 1000000 > cut`);
  expect(exits).toEqual([1, 0]);
  expect(stderr).toContain('nobody reads it any more. What came of it is not whole.');
  expect((await bash('$S verify cut')).exits).toEqual([1]);
  expect((await bash('$S backup - > /dev/full')).exits).toEqual([1]);
  expect(scratch(source)).toEqual([]);
});

/** Starts a verb on pipes that stall: `input` comes, and then nothing; nobody reads what it writes. */
function stalled(args: string[], input: Uint8Array | null) {
  const child = Bun.spawn([BINARY, ...args], {
    stdin: 'pipe',
    stdout: unread,
    stderr: 'ignore',
    env: env(),
  });
  atEveryEnd(async () => child.kill('SIGKILL'));
  if (input) child.stdin.write(input);
  void child.stdin.flush();
  return child;
}

test('while the other end is silent a verb can be ended, and leaves nothing', async () => {
  const child = stalled(['backup', '-'], null);
  await until(() => scratch(source).some((name) => name.endsWith('.partial')));
  child.kill('SIGTERM');
  expect(await child.exited).toBe(143);
  expect(scratch(source)).toEqual([]);

  const bytes = readFileSync(archive).subarray(0, 2_000_000);
  const elsewhere = join(dir, 'elsewhere');
  mkdirSync(elsewhere);
  for (const [more, folder] of [
    [[], dir],
    [['--scratch-dir', elsewhere], elsewhere],
  ] as const) {
    const verifying = stalled(['verify', '-', ...more], bytes);
    const here = (): string[] => readdirSync(folder).filter((name) => name.startsWith('.satchel-verify-'));
    await until(() => here().length > 0);
    verifying.kill('SIGTERM');
    expect(await verifying.exited).toBe(143);
    expect(here()).toEqual([]);
  }
});

test('the next start removes what kill -9 left of it', async () => {
  const child = stalled(['backup', '-'], null);
  await until(() => scratch(source).some((name) => name.endsWith('.partial')));
  child.kill('SIGKILL');
  await child.exited;
  expect(scratch(source).length).toBeGreaterThan(0);
  await server.end('SIGTERM');
  server = await startServer(source);
  await until(() => scratch(source).length === 0);
});

test.skipIf(!canMount)('without room to unpack it, verify asks for another place', async () => {
  const small = join(dir, 'small');
  mkdirSync(small);
  const line = `mount -t tmpfs -o size=1m none ${small} && TMPDIR=${small} ${BINARY} verify - < ${archive}`;
  const { exits, stderr } = await bash(`unshare -m sh -c '${line}'`);
  expect(exits).toEqual([1]);
  expect(stderr).toMatch(/no scratch folder in .*small: ENOSPC.* Choose another place with --scratch-dir/);
});

test('a project goes from one to another by a pipe, whole or not at all', async () => {
  const there = join(dir, 'there');
  const other = await startServer(there);
  const here = '--passphrase env:PASSPHRASE';
  const into = `$S project import - ${here} --data-dir ${there}`;
  // What is asked for wrongly is found before the project is set inactive.
  expect((await bash(`$S project export shop - ${here} --json`)).exits).toEqual([2]);
  expect((await bash(`$S project export shop - --copy ${here} | head -c 5000 > cut`)).exits).toEqual([1, 0]);
  const cut = await bash(`cat cut | ${into}`);
  expect(cut.exits).toEqual([0, 1]);
  expect(cut.stderr).toContain('(standard input)');
  expect((await bash(`$S project import - --go --data-dir ${there} < cut`)).exits).toEqual([2]);
  const wrong = await bash(`$S project export shop - --copy ${here} | PASSPHRASE=another-passphrase ${into}`);
  expect(wrong.exits).toEqual([0, 1]);
  expect(wrong.stderr).toContain('not the one that (standard input) was exported with');
  expect([...scratch(source), ...scratch(there)]).toEqual([]);

  const moved = await bash(`echo "$PASSPHRASE" | $S project export shop - --passphrase - | ${into}`);
  expect([moved.exits, moved.stderr]).toEqual([[0, 0, 0], expect.stringContaining('is inactive here')]);
  expect(moved.stdout).toContain('(shop) is here');
  expect(dumpBlobs(there)).toEqual(dumpBlobs(source));
  expect([...scratch(source), ...scratch(there)]).toEqual([]);
  await other.end('SIGTERM');
});
