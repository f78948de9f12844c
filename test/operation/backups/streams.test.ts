/** `-` in place of an archive's file: what is wrong usage, before anything is opened. What goes through is in test/e2e/streams.test.ts. */
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type RunOptions, satchel } from '../../support/command.ts';
import { makeTempDir } from '../../support/temp.ts';

const of_project = ['--passphrase', 'env:PASSPHRASE'];
const out = [
  ['backup', '-'],
  ['project', 'export', 'shop', '-', ...of_project],
];
const into = [
  ['verify', '-'],
  ['restore', '-', '--yes'],
  ['project', 'import', '-', ...of_project],
];

/** Where no data directory is, each other failure would be exit 1. */
async function refused(args: string[], options: RunOptions = {}): Promise<string> {
  const data_dir = join(makeTempDir(), 'none');
  const env = { SATCHEL_DATA_DIR: data_dir, PASSPHRASE: 'correct horse battery staple' };
  const { exit, stdout, stderr } = await satchel(args, { ...options, env });
  expect([args, exit, stdout, existsSync(data_dir)]).toEqual([args, 2, '', false]);
  return stderr;
}

test.each(out)('%s %s %s is no archive for a terminal, nor beside --json', async (...args) => {
  expect(await refused(args, { in_terminal: true })).toContain('standard output is a terminal');
  expect(await refused([...args, '--json'])).toContain('--json prints its document where the archive goes');
});

test('--keep goes with a folder', async () => {
  expect(await refused(['backup', '-', '--keep', '7'])).toContain('--keep writes files into a folder');
});

test.each(into)('%s %s %s reads no archive from a terminal', async (...args) => {
  expect(await refused(args, { in_terminal: true })).toContain('standard input is a terminal');
});

test('a passphrase and a project do not both come on standard input', async () => {
  const args = ['project', 'import', '-', '--passphrase', '-'];
  expect(await refused(args)).toContain('--passphrase - reads standard input, where the archive comes from');
});
