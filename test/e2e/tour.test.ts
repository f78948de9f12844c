/** The tour of the README, pasted word for word: in an empty folder, and in a checkout after `install.sh --try`. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { atEnd } from '../support/cleanup.ts';
import { makeTempDir } from '../support/temp.ts';
import { BINARY } from './binary.ts';
import { freePort, paste } from './paste.ts';

const ROOT = join(import.meta.dir, '../..');
setDefaultTimeout(120_000);

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const [, TOUR = ''] = /^## A tour$(.*?)^## /ms.exec(README) ?? [];
const BLOCKS = [...TOUR.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);

function expectTaken({ stdout, stderr }: { stdout: string; stderr: string }): void {
  // curl without -s draws its progress there.
  expect(stderr.split('\n').filter((line) => /^(ended with|satchel:|error:)/.test(line))).toEqual([]);
  for (const told of [
    '"visibility":"public"',
    '\nHello from Satchel\n',
    'ann@example.org',
    'was captured',
    '\nsk_test_4242\n',
    'Accepted.',
    '"slug":"shop"',
  ])
    expect(stdout).toContain(told);
}

test('there is a tour', () => {
  expect(BLOCKS.length).toBeGreaterThan(6);
  expect(BLOCKS.filter((block) => block.includes('satchel serve'))).toEqual([BLOCKS[0] ?? '']);
});

test('in an empty folder every line of the tour works', async () => {
  expectTaken(await paste(BLOCKS, { cwd: makeTempDir(), port: freePort() }));
});

test('after --try the doctor finds nothing wrong, and every line of the tour works but for the start of the server', async () => {
  const cwd = makeTempDir();
  const port = freePort();
  for (const part of ['install.sh', 'package.json', 'bun.lock', 'scripts', 'src'])
    cpSync(join(ROOT, part), join(cwd, part), { recursive: true });
  mkdirSync(join(cwd, 'dist'));
  copyFileSync(BINARY, join(cwd, 'dist/satchel'));
  // As the repository has it.
  mkdirSync(join(cwd, 'data'));
  writeFileSync(join(cwd, 'data/.gitkeep'), '', { mode: 0o644 });
  const env = {
    ...{ PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: makeTempDir() },
    SATCHEL_PORT: port,
  };
  const tried = Bun.spawnSync(['./install.sh', '--try'], { cwd, env });
  expect([tried.exitCode, tried.stderr.toString()]).toEqual([0, '']);
  const pid = Number(readFileSync(join(cwd, 'data/server.pid'), 'utf8'));
  atEnd(async () => process.kill(pid, 'SIGKILL'));
  const doctor = Bun.spawnSync([BINARY, 'doctor'], { cwd, env: {} });
  const findings = doctor.stdout.toString().split('\n');
  expect([doctor.exitCode, findings.filter((line) => !/^(ok |$)/.test(line))]).toEqual([0, []]);
  expect(findings.length).toBeGreaterThan(10);
  expectTaken(await paste(BLOCKS.slice(1), { cwd, port }));
});
