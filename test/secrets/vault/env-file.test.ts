/** .env files: read as dotenv reads them, and refused by the number of each line that dotenv would skip. */
import { describe, expect, test } from 'bun:test';
import { parse } from 'dotenv';
import { AppError } from '../../../src/errors.ts';
import { readEnvFile } from '../../../src/secrets/vault/env-file.ts';
import { naughtyValues } from './naughty-values.ts';

const read = (text: string): object => Object.fromEntries(readEnvFile(text, 'text'));

function refusalsOf(text: string): string[] {
  try {
    readEnvFile(text, 'text');
  } catch (error) {
    if (error instanceof AppError) return error.errors?.text ?? [];
  }
  return [];
}
/** The numbers of the lines that are refused. */
const linesOf = (text: string): number[] =>
  refusalsOf(text).flatMap((each) => Number(/^Line (\d+) /.exec(each)?.[1] ?? []));

const GOOD: string[] = [
  'A=1',
  '\ufeffA=1\r\nB=2\r\n',
  '\n\n  # a comment\n\texport A = 1 # and why\n\nB: 2\nC=\nD= \n',
  'A="two\nlines # no comment" # a comment\nB=\'three\n\nof\nthem\'\nC=`"\'`',
  'A=a\nA=again\nB="\\n\\r\\t\\""\n  C=it\'s  \n',
  'A="never closed\nB=2\n',
  ...naughtyValues().map((value) => `BEFORE=1\nA='${value}'\nAFTER="${value}"\nB=${value}`),
];

describe('a file is read as dotenv reads it', () => {
  test('whatever stands in it', () => {
    let read_count = 0;
    for (const text of GOOD) {
      const wanted = parse(text);
      if (linesOf(text).length > 0) continue;
      expect(read(text)).toEqual(wanted);
      read_count += 1;
    }
    expect(read_count).toBeGreaterThan(20);
    for (const text of GOOD.slice(0, 6)) expect(linesOf(text)).toEqual([]);
  });

  test('a file full of blank lines takes no longer than another', () => {
    expect(read(`${'\n'.repeat(900_000)}A=1`)).toEqual({ A: '1' });
    expect(linesOf(`A=1${'\n'.repeat(900_000)}!`)).toEqual([900_001]);
  });
});

describe('a # within a value', () => {
  test.each([
    ['URL=postgres://u:p#w@h/db?x=1', [1]],
    ['A=1\nCOLOUR=#ff0000\nB=2', [2]],
    ['A="x\ny"\nB=a#b # c\nC: d#', [3, 4]],
    ["A=it's#1", [1]],
    ['A="never closed#1', [1]],
    ['export A=1#2\r\nB=3', [1]],
  ])('without quotes and without a blank before it is refused: %j', (text, lines) => {
    expect(linesOf(text)).toEqual(lines);
    expect(refusalsOf(text)[0]).toMatch(/has a # at which dotenv would cut the value: put quotes/);
    expect(refusalsOf(text).join()).not.toContain('postgres');
  });

  test('in quotes stays, and behind a blank begins a comment, as dotenv has it', () => {
    for (const text of [
      'A="a#b"\nB=\'#c\'\nC=`d#`#e\nD="f"#g\n',
      'A=a # b\nB=c\t#d\nC= #e\nD=\n#f\nE=g\n# h\nF: i #j#k',
    ])
      expect(read(text)).toEqual(parse(text));
  });
});

describe('what dotenv would skip is refused', () => {
  const BAD: [string, number[]][] = [
    ['A=1\nB\nC=3', [2]],
    ['just text', [1]],
    ['A="x\ny"\n\n# fine\nB 2\nexport C\nD=1', [5, 6]],
    ['=1\nA=1\n$B=2\nA B=3', [1, 3, 4]],
    ['A=1\r\n\r\n!\r\n', [3]],
    ['A=1\n__proto__=2', [2]],
    ['A=1\nMY-NAME=2\nmy.name=3\n1ST=4', [2, 3, 4]],
    [`${'A'.repeat(129)}=1`, [1]],
  ];
  for (const [text, lines] of BAD)
    test(`${JSON.stringify(text.slice(0, 40))}: ${lines.join(', ')}`, () => {
      expect(linesOf(text)).toEqual(lines);
    });

  test('without a word of it, and no more than ten by number', () => {
    const refusals = refusalsOf('s3cret-canary\n'.repeat(12));
    expect([refusals.length, refusals.at(-1)]).toEqual([11, '2 more lines are wrong.']);
    expect(refusals.join()).not.toContain('canary');
    for (const empty of ['\n', '# nothing\n'])
      expect(refusalsOf(empty)).toEqual(['There is no NAME=value in it.']);
  });
});
