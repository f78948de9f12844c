/** Environment files: read as systemd reads them, for what it ignores too, and what a shell made of them. */
import { describe, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnvFile, readEnvFile, variablesOf } from '../../../src/platform/host/env-file.ts';
import { linesShellsReadOtherwise } from '../../../src/platform/host/shell-reading.ts';
import { makeTempDir } from '../../support/temp.ts';

/** Values as systemd 252 has them: its own load_env_file said so of each. */
const READ: Readonly<Record<string, Record<string, string>>> = {
  'A=1\n\n  # B=2\n;C=3\n  D = 4  \n': { A: '1', D: '4' },
  'A=$HOME `id` $(id) & x\n': { A: '$HOME `id` $(id) & x' },
  'A= # no comment\nB=x#y\n': { A: '# no comment', B: 'x#y' },
  'A="two\nlines" \nB=\'$x\n\\y\'\n': { A: 'two\nlines', B: '$x\n\\y' },
  'A="a\\"b\\\\c\\$d\\`e\\nf\\\ng"\n': { A: 'a"b\\c$d`e\\nfg' },
  'A="a" \'b\' c  \n': { A: 'abc' },
  'A=it\'s "so"\n': { A: 'it\'s "so"' },
  'A=a\\ \\\n  b\\t\n': { A: 'a   bt' },
  'A="a " \nB=b \\  \n': { A: 'a ', B: 'b  ' },
  'A=1\nA=2\n': { A: '2' },
  'A=\nB=""\n': { A: '', B: '' },
  'A="open\nB=2\n': { A: 'open\nB=2\n' },
  'A=1\rB=2': { A: '1', B: '2' },
};

test.each(Object.entries(READ))('%j', (text, expected) => {
  expect(variablesOf(text, 'f')).toEqual(expected);
});

test('CR LF and a byte order mark are no matter, but as systemd has them where it reads', () => {
  const text = '\uFEFFA=1\r\nB="x\r\ny"\r\nC=a\\\r\nb\r\n';
  expect(variablesOf(text, 'f')).toEqual({ A: '1', B: 'x\ny', C: 'ab' });
  const { assignments, ignored } = parseEnvFile(text);
  expect(assignments.map(({ name, value }) => [name, value])).toEqual([['C', 'a']]);
  expect(ignored.map(({ line }) => line)).toEqual([1, 2, 5]);
});

test.each([
  ['A=1\nB 2 secret\n', 2],
  ['A="x\ny"\n\nexport B=secret', 4],
  ['1A=secret', 1],
  ['# c\n=secret=', 2],
  ['A="secret\x07"', 1],
])('%j stops whoever reads it by itself, and only its line is told', (text, line) => {
  const reading = () => variablesOf(text, '/etc/x.env');
  expect(reading).toThrow(`/etc/x.env, line ${line}: `);
  expect(reading).not.toThrow('secret');
  const { assignments, ignored } = parseEnvFile(text);
  expect([
    ignored.map((each) => each.line),
    assignments.some(({ value }) => value.includes('secret')),
  ]).toEqual([[line], false]);
});

test('a line behind a comment that ends in a backslash is doubtful, and counts', () => {
  const { assignments, doubtful } = parseEnvFile('# one \\\nA=1\n');
  expect([assignments.map(({ name }) => name), doubtful.map(({ line }) => line)]).toEqual([['A'], [2]]);
});

test('what is no text is refused by its name', () => {
  const path = join(makeTempDir(), 'x.env');
  for (const bytes of [Buffer.from([0x41, 0x3d, 0xff]), Buffer.from('A=\0')]) {
    writeFileSync(path, bytes);
    expect(() => readEnvFile(path)).toThrow(`${path} must be text in UTF-8`);
  }
  expect(() => readEnvFile(`${path}-none`)).toThrow(`${path}-none can't be read: ENOENT`);
});

describe('what a shell reads otherwise', () => {
  const LINES = [
    'A=1',
    "A='$x `y` & z'",
    'A="a\\$b c"',
    'A=a\\ b',
    'A=http://x/#y  # why',
    'A=s3://files/x?endpoint=u&style=path',
    'A=$HOME',
    'A="`id`"',
    'export A=1',
    'A=a b',
    'A =1',
    'A=~/x',
    "A=it's",
    'A=a\\tb',
    'A="a"b',
  ];

  test('is told by the numbers of its lines, and a shell agrees', () => {
    const dir = makeTempDir();
    const shellOf = (line: string): string | null => {
      const file = join(mkdtempSync(join(dir, 'f-')), 'env');
      writeFileSync(file, `${line}\n`);
      const ran = Bun.spawnSync(['sh', '-euc', `. ${file}; printf %s "$A"`], {
        env: { HOME: '/home/x' },
        stderr: 'ignore',
      });
      return ran.success ? ran.stdout.toString() : null;
    };
    const expected = LINES.flatMap((line, n) => {
      const ours = parseEnvFile(line).assignments[0]?.value ?? null;
      return ours !== null && ours === shellOf(line) ? [] : [n + 1];
    });
    expect(linesShellsReadOtherwise(LINES.join('\n'))).toEqual(expected);
    expect(expected).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
  });
});
