/** The handbook, pasted word for word in an empty folder, and the README's tour in a checkout after `install.sh --try`. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readGuides } from '../../src/operation/docs/guides.ts';
import { atEnd } from '../support/cleanup.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { blocksOf, guide, readme } from '../support/documents.ts';
import { makeTempDir } from '../support/temp.ts';
import { BINARY } from './binary.ts';
import { freePort, paste } from './paste.ts';

const ROOT = join(import.meta.dir, '../..');
setDefaultTimeout(120_000);

const [, AFTER_START = ''] = readme().split(/^## A tour$/m);
const TOUR = blocksOf(AFTER_START, 'sh');
/** In the order in which one reads them: each goes on from those before. */
const HANDBOOK = readGuides().flatMap(({ name }) => blocksOf(guide(name), 'sh'));
/** It knows no name: whatever is tried out must need none. */
const dns = await startDnsServer();
afterAll(() => dns.stop());

/** What warns on purpose: links are for this machine alone, and the origin of an app is that of each. */
const EXPECTED = /^satchel: (Links in mails would begin with|Every app that is made with)/;

function expectTaken(
  { stdout, stderr }: { stdout: string; stderr: string },
  told: (string | RegExp)[],
): void {
  // curl without -s draws its progress there.
  const wrong = stderr.split('\n').filter((line) => /^(ended with|satchel:|error:)/.test(line));
  expect(wrong.filter((line) => !EXPECTED.test(line))).toEqual([]);
  // The guide to errors shows one.
  expect(stdout.match(/"success":false(?!,"message":"name: is required")/g)).toBe(null);
  for (const each of told) expect(stdout).toMatch(each);
}

const TOLD_BY_TOUR = [
  '"visibility":"public"',
  '\nHello from Satchel\n',
  'ann@example.org',
  'was captured',
  '\nsk_test_4242\n',
  'Accepted.',
  '"slug":"shop"',
  'Sound: every byte was read',
];
const TOLD_BY_README = [...TOLD_BY_TOUR, 'eve@example.org got A file for you'];
const TOLD_BY_HANDBOOK = [
  ...TOLD_BY_TOUR,
  'ben@example.org',
  'shipped',
  'The email is bounced.',
  'ben@example.org is no longer suppressed',
  '"email":"ann@example.org"',
  'eve@example.org is active on Newsletter',
  '1 accepted, 1 suppressed',
  'It is suppressed (manual)',
  /hello +main +send +Your hello, Ann/,
  /offer +main +skip/,
  'The sequence Welcome is active.',
  '3 enrolled',
  'June news is sending to 3 people',
  /captcha +secret_key +\*+/,
  '/console/welcome/',
  'data keys wrapped anew',
];

test('there is much to paste, and both begin with the same start of a server', () => {
  expect(TOUR.length).toBeGreaterThan(6);
  expect(HANDBOOK.length).toBeGreaterThan(TOUR.length + 8);
  for (const blocks of [TOUR, HANDBOOK])
    expect(blocks.filter((block) => block.includes('satchel serve'))).toEqual([TOUR[0] ?? '']);
});

test('in an empty folder every line of the handbook works, on a machine without DNS, and leaves nothing beside data and tour', async () => {
  const cwd = makeTempDir();
  const env = { SATCHEL_DNS_SERVERS: dns.address };
  expectTaken(await paste(HANDBOOK, { cwd, port: freePort(), env }), TOLD_BY_HANDBOOK);
  expect(readdirSync(cwd).toSorted()).toEqual(['data', 'tour']);
  expect(readFileSync(join(ROOT, '.gitignore'), 'utf8')).toMatch(/^\/tour\n\/data\/\*$/m);
});

test('after --try the doctor finds nothing wrong, and every line of the tour works but for the start of the server', async () => {
  const cwd = makeTempDir();
  const port = freePort();
  for (const part of ['install.sh', 'package.json', 'bun.lock', 'handbook', 'scripts', 'src'])
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
  const before = readdirSync(cwd);
  expectTaken(await paste(TOUR.slice(1), { cwd, port }), TOLD_BY_README);
  expect(readdirSync(cwd).toSorted()).toEqual([...before, 'tour'].toSorted());
});
