/** Completion scripts: every command is in them, a shell accepts them, and bash completes with them without running satchel. */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command } from 'commander';
import { completionScript, SHELLS } from '../../../src/platform/cli/completion.ts';
import { run } from '../../command.ts';
import { makeTempDir } from '../../temp.ts';

const dir = makeTempDir();
const script = (await run(dir, 'completion', 'bash')).stdout;

/** What bash offers for a line whose last word is being typed. */
async function complete(line: string[], from = script): Promise<string[]> {
  const path = join(dir, 'completion.bash');
  writeFileSync(path, from);
  const words = ['satchel', ...line].map((word) => `'${word}'`).join(' ');
  const child = Bun.spawn(
    [
      'bash',
      '--norc',
      '-c',
      `satchel() { echo RAN; }; . '${path}'; COMP_WORDS=(${words}); COMP_CWORD=${line.length}; _satchel; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ],
    { stdout: 'pipe', stderr: 'inherit', cwd: dir },
  );
  const text = await new Response(child.stdout).text();
  return text
    .split('\n')
    .filter((word) => word !== '')
    .sort();
}

describe('bash', () => {
  test('completes nouns and verbs as deep as they go', async () => {
    expect(await complete(['mas'])).toEqual(['master-key']);
    expect(await complete(['key', 'origin', ''])).toEqual(expect.arrayContaining(['add', 'list', 'remove']));
    expect(await complete(['key', 're'])).toEqual(['reveal']);
  });

  test('completes the options of the command that is typed', async () => {
    expect(await complete(['restore', '--y'])).toEqual(['--yes']);
    expect(await complete(['doctor', '--y'])).toEqual([]);
    expect(await complete(['key', 'create', '--rate'])).toEqual(['--rate-limit']);
  });

  test('completes files, folders and fixed choices where a value is due', async () => {
    writeFileSync(join(dir, 'night.backup'), '');
    expect(await complete(['verify', 'nig'])).toEqual(['night.backup']);
    expect(await complete(['doctor', '--data-dir', 'nig'])).toEqual([]);
    expect(await complete(['completion', 'f'])).toEqual(['fish']);
  });

  test('finds the verb behind an option and its value', async () => {
    expect(await complete(['--data-dir', '/x', 'master-key', ''])).toContain('rotate');
  });
});

test('descriptions with quotes, colons and dollars stay text in every shell', async () => {
  const program = new Command('satchel');
  program
    .command('odd')
    .description('it\'s "odd": $(touch hacked) `x` \\ back')
    .option('-k, --kind <kind>', "what's: it")
    .addArgument(new Argument('<x>', 'x').choices(["it's", 'plain']));
  const bash = completionScript(program, 'bash');
  expect(await complete(['odd', '--ki'], bash)).toEqual(['--kind']);
  expect(completionScript(program, 'zsh')).toContain(
    `'odd:it'\\''s "odd"\\: $(touch hacked) \`x\` \\ back'`.replace('\\:', ':'),
  );
  expect(completionScript(program, 'fish')).toContain("-s k -l kind -x -d 'what\\'s: it'");
});

test('each shell has a script that names every command', async () => {
  for (const shell of SHELLS) {
    const { exit, stdout } = await run(dir, 'completion', shell);
    expect(exit).toBe(0);
    for (const command of ['backup', 'master-key rotate', 'key origin add', 'vault run'])
      expect(stdout).toContain(command);
    if (Bun.which(shell) === null) continue;
    const path = join(dir, `script.${shell}`);
    writeFileSync(path, stdout);
    expect(await Bun.spawn([shell, '-n', path]).exited).toBe(0);
  }
});

test('another shell is wrong usage', async () => {
  const { exit, stderr } = await run(dir, 'completion', 'tcsh');
  expect([exit, stderr]).toEqual([2, expect.stringContaining('bash, zsh, fish')]);
});
