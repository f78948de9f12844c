/** Each env block, read back by the loader it is for: the real one, in every runtime at hand, and by shells. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'dotenv';
import {
  buildEnvBlock,
  ENV_TARGETS,
  type EnvEntry,
  quoteValue,
} from '../../../src/secrets/vault/env-blocks.ts';
import { makeTempDir } from '../../support/temp.ts';
import { naughtyValues } from './naughty-values.ts';

const PREFIX = { server: '', nextjs: 'NEXT_PUBLIC_', vite: 'VITE_', expo: 'EXPO_PUBLIC_' };
const VALUES = naughtyValues();
const dir = makeTempDir();

function entriesOf(prefix: string): EnvEntry[] {
  return VALUES.map((value, index) => {
    const name = `${prefix}K${index}`;
    return { service: 'env', field: name, env_key: name, free_form: true, client_safe: true, value };
  });
}

/** What the block of a target must give back: all but what it says it can't carry. */
function expectedOf(target: (typeof ENV_TARGETS)[number]): Record<string, string> {
  const entries = entriesOf(PREFIX[target]);
  const lost = new Set(buildEnvBlock(entries, target).unquotable.map(({ name }) => name));
  return Object.fromEntries(
    entries.filter(({ env_key }) => !lost.has(env_key)).map(({ env_key, value }) => [env_key, value ?? '']),
  );
}

/** Reads the four files with the loaders, as a build does; what they print goes to stderr. */
const LOADERS = `
  import dotenv from 'dotenv';
  import next from '@next/env';
  import expo from '@expo/env';
  import { loadEnv } from 'vite';
  import { readFileSync } from 'node:fs';
  const dir = process.argv.at(-1);
  console.log(JSON.stringify({
    server: dotenv.parse(readFileSync(dir + '/server/.env')),
    server_fast: dotenv.parse(readFileSync(dir + '/server/.env'), { fast: true }),
    vite: loadEnv('production', dir + '/vite'),
    expo: expo.parseProjectEnv(dir + '/expo', { mode: 'production', silent: true }).env,
    nextjs: next.loadEnvConfig(dir + '/nextjs', false, console).parsedEnv,
  }));
`;

/** Vite and Expo run in Node, where the parser they use is another one; wherever there is a Node, it is asked too. */
const RUNTIMES: [name: string, command: string[]][] = [
  ['Bun', [process.execPath, '--no-env-file']],
  ...(Bun.which('node') ? [['Node', ['node', '--input-type=module']] satisfies [string, string[]]] : []),
];

beforeAll(() => {
  for (const target of ENV_TARGETS) {
    mkdirSync(join(dir, target));
    writeFileSync(join(dir, target, '.env'), buildEnvBlock(entriesOf(PREFIX[target]), target).text ?? '');
  }
});

describe.each(RUNTIMES)('loaders in %s', (_, command) => {
  test('give every value back as it went in, or the block said that it can hold it not', async () => {
    const child = Bun.spawn([...command, '-e', LOADERS, '--', dir], {
      cwd: join(import.meta.dir, '../../..'),
      // What a reference that is expanded would pull into the bundle.
      env: { PATH: process.env.PATH ?? '', HOME: '/decoy', a: 'decoy', b: 'decoy', B: 'decoy' },
      stderr: 'inherit',
    });
    const loaded: unknown = JSON.parse(await new Response(child.stdout).text());
    expect(loaded).toEqual({
      server: expectedOf('server'),
      server_fast: expectedOf('server'),
      vite: expectedOf('vite'),
      expo: expectedOf('expo'),
      nextjs: expectedOf('nextjs'),
    });
  });
});

describe('values that a loader cannot carry', () => {
  test('are few', () => {
    const lost = (target: (typeof ENV_TARGETS)[number]): number =>
      VALUES.length - Object.keys(expectedOf(target)).length;
    expect(VALUES.length).toBeGreaterThan(1_200);
    expect(lost('server')).toBeLessThan(VALUES.length / 25);
    expect(lost('nextjs')).toBeLessThan(VALUES.length / 25);
    expect(lost('vite')).toBeLessThan(VALUES.length / 5);
    expect(lost('expo')).toBeLessThan(VALUES.length / 5);
  });

  test('have no spelling at all that dotenv would read', () => {
    const lost = VALUES.filter((value) => quoteValue('server', value) === null);
    const escaped = (value: string): string => value.replaceAll('\n', '\\n').replaceAll('\r', '\\r');
    const spellings = (value: string): string[] =>
      [value, escaped(value)].flatMap((text) => [
        text,
        ...["'", '"', '`'].flatMap((quote) => [quote + text + quote, `${quote}${text}${quote} # ${quote}.`]),
      ]);
    const readable = lost.filter((value) =>
      spellings(value).some((spelled) => {
        const read = parse(`K=${spelled}\nNEXT='#x'\n`);
        return read.K === value && read.NEXT === '#x';
      }),
    );
    expect({ lost: lost.length > 0, readable }).toEqual({ lost: true, readable: [] });
  });

  test.each([
    ['a carriage return, which Node drops', 'a\rb', ['vite', 'expo']],
    ['edges that need quotes and a backslash that breaks them', ' a\\', ['vite', 'expo']],
    ['all three quotes and a #', '\' " ` #', ['server', 'nextjs', 'vite', 'expo']],
    ['all three quotes and a line break', '\' " `\n', ['vite', 'expo']],
    ['an escaped dollar behind a default with braces', '$' + '{a:-$' + '{b}}\\$c', ['expo']],
    ['nothing of the kind', "it's $1 `a\\b` ünï\n", []],
  ])('are those with %s', (_, value, targets) => {
    expect(ENV_TARGETS.filter((target) => quoteValue(target, value) === null).map(String)).toEqual(targets);
  });
});

describe.each(['sh', 'dash', 'bash'].filter((shell) => Bun.which(shell)))('%s', (shell) => {
  test('sources every value of a shell block as it went in', async () => {
    const { text, unquotable } = buildEnvBlock(entriesOf(''), 'shell');
    expect(unquotable).toEqual([]);
    const file = join(dir, `${shell}.sh`);
    const names = VALUES.map((_, index) => `"$K${index}"`).join(' ');
    writeFileSync(file, `${text}printf '%s\\0' ${names}\n`);
    const child = Bun.spawn([shell, '-c', `. ${file}`], {
      env: { PATH: process.env.PATH ?? '' },
      stderr: 'pipe',
    });
    const [out, err] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    expect([err, await child.exited]).toEqual(['', 0]);
    expect(out.split('\0').slice(0, -1)).toEqual(VALUES);
  });

  test('is given no name that it keeps to itself, such as one whose value bash would calculate', async () => {
    const own = [
      '_',
      'BASHOPTS',
      'BASH_VERSINFO',
      'EUID',
      'HISTCMD',
      'OPTIND',
      'PPID',
      'RANDOM',
      'SRANDOM',
      'UID',
    ];
    const marker = join(dir, `made-by-${shell}`);
    const entries = [...own, 'LAST'].map((name) => ({
      ...{ service: 'env', field: name, env_key: name, free_form: true, client_safe: false },
      value: `a[$(touch ${marker})]`,
    }));
    const { text, unquotable } = buildEnvBlock(entries, 'shell');
    expect(unquotable).toEqual(own.map((name) => ({ target: 'shell', name })));
    const child = Bun.spawn([shell, '-c', `${text}exec printenv LAST`], { stderr: 'pipe' });
    expect(await new Response(child.stderr).text()).toBe('');
    expect(await new Response(child.stdout).text()).toBe(`a[$(touch ${marker})]\n`);
    expect(existsSync(marker)).toBe(false);
  });
});

test('a value of the largest size is quoted in no time, however it is made up', () => {
  // A regular expression that backtracks would take hours over these.
  for (const part of ['$a-' + '$' + '{', '$' + '{a:-', "\\'", '$' + '{a}', '\\$a', '\\']) {
    const value = part.repeat(Math.floor(65_536 / part.length));
    const started = performance.now();
    for (const target of [...ENV_TARGETS, 'shell'] as const) quoteValue(target, value);
    expect(performance.now() - started).toBeLessThan(5_000);
  }
});
