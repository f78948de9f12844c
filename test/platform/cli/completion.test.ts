/** Completion: what `__complete` offers for a line, and that the glue of each shell asks it and hands on what it says. */
import { describe, expect, test } from 'bun:test';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { complete, SHELLS } from '../../../src/platform/cli/completion.ts';
import { run, satchel } from '../../support/command.ts';
import { makeTempDir } from '../../support/temp.ts';

const dir = makeTempDir();
const MAIN = join(import.meta.dir, '../../../src/main.ts');

/** The kind, and the words that are offered for a line whose last word is being typed. */
async function offered(...line: string[]): Promise<string[]> {
  const { exit, stdout, stderr } = await satchel(['__complete', '--', ...line]);
  expect([exit, stderr]).toEqual([0, '']);
  return stdout
    .trim()
    .split('\n')
    .map((each) => each.replace(/\t.*/, ''));
}

test('nouns and verbs are completed as deep as they go, and what is hidden is not', async () => {
  expect(await offered('mas')).toEqual(['words', 'master-key']);
  expect(await offered('key', 're')).toEqual(['words', 'reveal']);
  expect(await offered('key', 'origin', '')).toEqual(
    expect.arrayContaining(['words', 'add', 'list', 'remove']),
  );
  expect(await offered('')).not.toContain('__complete');
});

test('the options of the command that is typed are completed, those of every command among them', async () => {
  expect(await offered('restore', '--y')).toEqual(['words', '--yes']);
  expect(await offered('doctor', '--y')).toEqual(['words']);
  expect(await offered('key', 'create', '--rate')).toEqual(['words', '--rate-limit']);
  expect(await offered('doctor', '--data')).toEqual(['words', '--data-dir']);
  expect(await offered('doctor', '-')).toEqual(expect.arrayContaining(['-h', '--help', '--json']));
});

test('where a value is due the shell is told of what kind', async () => {
  expect(await offered('verify', 'nig')).toEqual(['files']);
  expect(await offered('doctor', '--data-dir', 'nig')).toEqual(['folders']);
  expect(await offered('completion', 'f')).toEqual(['words', 'fish']);
  expect(await offered('key', 'create', '--name', '')).toEqual(['words']);
});

test('the verb is found behind an option and its value', async () => {
  expect(await offered('--data-dir', 'key', 'master-key', '')).toContain('rotate');
});

test('descriptions go along on the same line', () => {
  const program = new Command('satchel');
  program.command('odd').description('it\'s "odd": $(touch hacked)');
  expect(complete(program, ['o'])).toEqual({
    kind: 'words',
    words: [{ word: 'odd', description: 'it\'s "odd": $(touch hacked)' }],
  });
});

describe('bash', () => {
  /** What bash offers, with the executable in its path. */
  async function inBash(...line: string[]): Promise<string[]> {
    const script = join(dir, 'completion.bash');
    writeFileSync(script, (await run(dir, 'completion', 'bash')).stdout);
    writeFileSync(join(dir, 'satchel'), `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
    chmodSync(join(dir, 'satchel'), 0o755);
    const words = ['satchel', ...line].map((word) => `'${word}'`).join(' ');
    const command = `. '${script}'; COMP_WORDS=(${words}); COMP_CWORD=${line.length}; _satchel; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const child = Bun.spawn(['bash', '--norc', '-c', command], {
      ...{ stdout: 'pipe', stderr: 'inherit', cwd: dir },
      env: { PATH: `${dir}:${process.env.PATH}` },
    });
    const text = await new Response(child.stdout).text();
    return text.split('\n').filter((word) => word !== '');
  }

  test('offers what satchel says, and its own files', async () => {
    expect(await inBash('key', 'cr')).toEqual(['create']);
    writeFileSync(join(dir, 'night 1.tar'), '');
    expect(await inBash('verify', 'nig')).toEqual(['night 1.tar']);
    expect(await inBash('doctor', '--data-dir', 'nig')).toEqual([]);
    expect(await inBash('restore', '--y')).toEqual(['--yes']);
  }, 60_000);
});

test("each shell that is there accepts its script, and only a shell's name has one", async () => {
  for (const shell of SHELLS) {
    const { exit, stdout } = await run(dir, 'completion', shell);
    expect([exit, stdout]).toEqual([0, expect.stringContaining('satchel __complete -- ')]);
    if (Bun.which(shell) === null) continue;
    const path = join(dir, `script.${shell}`);
    writeFileSync(path, stdout);
    expect(await Bun.spawn([shell, '-n', path]).exited).toBe(0);
  }
  const { exit, stderr } = await run(dir, 'completion', 'tcsh');
  expect([exit, stderr]).toEqual([2, expect.stringContaining('bash, zsh, fish')]);
});
