/** The README's section on email marketing, pasted word for word after the tour. */
import { afterAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startDnsServer } from '../support/dns-server.ts';
import { makeTempDir } from '../support/temp.ts';
import { freePort, paste } from './paste.ts';

const README = readFileSync(join(import.meta.dir, '../../README.md'), 'utf8');
const blocksOf = (title: string): string[] => {
  const [, section = ''] = new RegExp(`^## ${title}$(.*?)^## `, 'ms').exec(README) ?? [];
  return [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block);
};
const MARKETING = blocksOf('Email marketing');
/** What of the tour comes before: the server, the project, and a mailbox that captures. */
const BEFORE = blocksOf('A tour').filter((block) =>
  /serve &|project create|mailbox add .* --capture/.test(block),
);

/** Nothing of the tour exists: a project that captures asks for none of it. */
const dns = await startDnsServer({});
afterAll(() => dns.stop());

test('every line of it works', async () => {
  expect([BEFORE.length, MARKETING.length]).toEqual([3, 5]);
  const { stdout, stderr } = await paste([...BEFORE, ...MARKETING], {
    cwd: makeTempDir(),
    port: freePort(),
    env: { SATCHEL_DNS_SERVERS: dns.address },
  });
  expect(stderr.split('\n').filter((line) => /^(ended with|satchel:|error:)/.test(line))).toEqual([]);
  for (const told of [
    '"email":"ann@example.org"',
    /accepted +1/,
    /suppressed +1/,
    'bob@example.org',
    'It is suppressed (manual)',
    '"brand_name":"Shop"',
    '"slug":"confirm"',
    /hello +main +send +Your hello, Ann/,
    /offer +main +skip/,
    'No active mailbox is for marketing',
  ])
    expect(stdout).toMatch(told);
  expect(stdout).not.toContain('"success":false');
}, 120_000);
