/** Completion: what `__complete` offers for a line, and that the glue of each shell asks it and hands on what it says. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { complete, SHELLS } from '../../../src/platform/cli/completion.ts';
import { run, runRecord, satchel } from '../../support/command.ts';
import { satchelCommand } from '../../support/executable.ts';
import { makeDataDir, makeTempDir } from '../../support/temp.ts';

const dir = makeTempDir();

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

describe('values that the data directory has', () => {
  let data_dir = '';
  let web = '';
  const completed = async (...line: string[]) => {
    const ran = await satchel(['__complete', '--', ...line], { env: { SATCHEL_DATA_DIR: data_dir } });
    expect([ran.exit, ran.stderr]).toEqual([0, '']);
    return ran.stdout.trimEnd().split('\n').slice(1);
  };
  beforeAll(async () => {
    data_dir = makeDataDir();
    await run(data_dir, 'project', 'create', '--name', 'Shop', '--slug', 'shop');
    await run(data_dir, 'project', 'create', '--name', 'A\tbooth', '--slug', 'shed');
    await run(data_dir, 'project', 'create', '--name', 'Club', '--slug', 'club');
    const key = (name: string, project: string) =>
      runRecord(data_dir, 'key', 'create', '--project', project, '--name', name);
    web = String((await key('web', 'shop')).id);
    await key('web shop', 'shop');
    await key('web of the club', 'club');
  });

  test('projects are completed by slug, as options and as arguments', async () => {
    expect(await completed('key', 'list', '--project', 'sh')).toEqual(['shed\tA booth', 'shop\tShop']);
    expect(await completed('project', 'show', 'c')).toEqual(['club\tClub']);
    expect(await completed('key', 'list', '--project', "sh'")).toEqual([]);
  });

  test('keys by number, beside a project by name', async () => {
    expect(await completed('key', 'change', web)).toEqual([
      expect.stringMatching(new RegExp(`^${web}\tweb, sat_live_`)),
    ]);
    const of_shop = await completed('key', 'origin', 'add', '--project', 'shop', 'we');
    expect(of_shop.map((line) => line.split('\t')[0])).toEqual(['web shop', 'web']);
    expect(await completed('key', 'change', '--project', 'nobody', 'we')).toEqual([]);
  });

  test('where there is no database, or what is none, nothing is said', async () => {
    data_dir = join(data_dir, 'nowhere');
    expect(await completed('project', 'show', '')).toEqual([]);
    mkdirSync(data_dir);
    writeFileSync(join(data_dir, 'satchel.db'), 'no database');
    expect(await completed('project', 'show', '')).toEqual([]);
    const wrong = { SATCHEL_DATA_DIR: data_dir, SATCHEL_PORT: 'x' };
    const ran = await satchel(['__complete', '--', 'project', 'show', ''], { env: wrong });
    expect([ran.exit, ran.stdout, ran.stderr]).toEqual([0, 'words\n', '']);
  });
});

test('capabilities and what keys may do are completed one after another', async () => {
  expect(await offered('token', 'create', '--can', 're')).toEqual([
    ...['words', 'read_vault', 'reveal_vault', 'read_database_tokens', 'read_ai_accounts'],
  ]);
  expect(await offered('key', 'create', '--can', 'read,write,ca')).toEqual(['words', 'read,write,captcha']);
  expect(await offered('key', 'change', '--can', 'read,re')).toEqual(['words']);
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
    writeFileSync(join(dir, 'satchel'), `#!/bin/sh\nexec ${satchelCommand().join(' ')} "$@"\n`);
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
    const data_dir = makeDataDir();
    expect(await inBash('key', 'cr')).toEqual(['create']);
    writeFileSync(join(dir, 'night 1.tar'), '');
    expect(await inBash('verify', 'nig')).toEqual(['night 1.tar']);
    expect(await inBash('doctor', '--data-dir', 'nig')).toEqual([]);
    expect(await inBash('restore', '--y')).toEqual(['--yes']);
    await run(data_dir, 'project', 'create', '--name', 'Shop');
    await run(data_dir, 'key', 'create', '--project', 'shop', '--name', "Ann's web");
    const with_data = ['--data-dir', data_dir, '--project', 'shop', ''];
    expect(await inBash('key', 'change', ...with_data)).toEqual(["Ann\\'s\\ web"]);
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
