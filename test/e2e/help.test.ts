/** The examples of every help text, pasted into a shell. */
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { satchel as runHere } from '../support/command.ts';
import { makeTempDir } from '../support/temp.ts';
import { allVerbs, examplesIn, examplesOf } from '../support/verbs.ts';
import { BINARY, satchel } from './binary.ts';

/** What an example names need not be there; it must be a thing that could be. */
const NOT_THERE =
  /not found|Several keys fit|There is no|already|can't be read|PROBLEM|^Refused|could not find out|ECONNREFUSED|is not queued/;
/** There is one master key to rotate, and it comes from a file or not. */
const OF_ANOTHER_SETTING = /The key file gets a random key; none can be given/;

test('every example can be pasted', async () => {
  const dir = makeTempDir();
  const data_dir = join(dir, 'data');
  writeFileSync(join(dir, 'relay-url.txt'), 'smtp://127.0.0.1:1');
  writeFileSync(join(dir, 'password.txt'), 'secret');
  writeFileSync(join(dir, '.env'), 'LOG_LEVEL=info');
  writeFileSync(join(dir, 'service-account.json'), '{}');
  writeFileSync(join(dir, 'logo.png'), 'a picture');
  writeFileSync(join(dir, 'cert.pem'), 'a certificate');
  for (const args of [
    ['project', 'create', '--name', 'Shop'],
    ...Array.from({ length: 12 }, () => ['key', 'create', '--project', 'shop', '--name', 'web']),
  ])
    await satchel(args, { env: { SATCHEL_DATA_DIR: data_dir } });
  const env = {
    PATH: `${dirname(BINARY)}${delimiter}${process.env.PATH}`,
    SATCHEL_DATA_DIR: data_dir,
    SATCHEL_DNS_SERVERS: '127.0.0.1:1',
    STRIPE_SECRET_KEY: 'sk',
    SES_PASSWORD: 'secret',
  };
  const wrong: unknown[] = [];
  for (const example of await listExamples()) {
    const script = example.replaceAll('/var/backups', dir);
    const { exit, output } = await paste(script, { cwd: dir, env });
    const is_fine = NOT_THERE.test(output) || OF_ANOTHER_SETTING.test(output);
    if (exit !== 0 && !(exit === 1 && is_fine)) wrong.push([example, output]);
  }
  expect(wrong).toEqual([]);
}, 300_000);

/** Words that mean the same without a shell; what runs another command needs a process of its own. */
const PLAIN = /^satchel(?: (?!-- )(?:[\w@%+=:,./-]+|'[^']*'|"[^"$`\\]*"))+$/;

/** Runs a line as a shell does: here, where it is one command of plain words, as a process for each takes a minute in all. */
async function paste(
  script: string,
  { cwd, env }: { cwd: string; env: Record<string, string> },
): Promise<{ exit: number; output: string }> {
  if (!PLAIN.test(script)) {
    const child = Bun.spawnSync(['sh', '-c', script], { cwd, env, stdin: Buffer.from('secret') });
    return { exit: child.exitCode, output: child.stdout.toString() + child.stderr.toString() };
  }
  const words = script.match(/'[^']*'|"[^"]*"|[^ ]+/g) ?? [];
  const home = process.cwd();
  process.chdir(cwd);
  try {
    const args = words.slice(1).map((word) => word.replaceAll(/^['"]|['"]$/g, ''));
    const { exit, stdout, stderr } = await runHere(args, { env, input: 'secret' });
    return { exit, output: stdout + stderr };
  } finally {
    process.chdir(home);
  }
}

/** Those that remove things come last. */
async function listExamples(): Promise<string[]> {
  const root = (await satchel(['--help'])).stdout;
  const examples = [...examplesIn(root), ...(await allVerbs()).flatMap(examplesOf)]
    // A server stays, a completion script goes where shells look for it, and npm and psql are no programs of ours.
    .filter((example) => !/^satchel serve|^satchel completion|npm start$|psql/.test(example));
  expect(examples.length).toBeGreaterThan(60);
  const removes = (example: string): boolean => / (delete|remove|revoke) /.test(example);
  return [...examples.filter((each) => !removes(each)), ...examples.filter(removes)];
}
