/** `satchel backup --keep`: dated files in a folder, of which the newest stay, and nothing else is touched. */
import { expect, test } from 'bun:test';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { backUpInto } from '../../../src/operation/backups/rotation.ts';
import { run, runRecord } from '../../support/command.ts';
import { namesIn } from '../../support/deployment.ts';
import { makeDataDir, makeTempDir, TestClock } from '../../support/temp.ts';

async function makeShop(): Promise<string> {
  const data_dir = makeDataDir();
  await runRecord(data_dir, 'project', 'create', '--name', 'Shop');
  return data_dir;
}

test('the newest backups stay, and whatever is no whole backup is neither counted nor removed', async () => {
  const data_dir = await makeShop();
  const dir = makeTempDir();
  const clock = new TestClock('2030-01-15T12:00:00Z');
  const made: string[] = [];
  const backUp = async (keep: number) => {
    clock.advance(60_000);
    const result = await backUpInto(data_dir, { dir, keep, clock });
    made.push(result.file);
    return result;
  };
  expect(await backUp(2)).toMatchObject({ removed: [], unsound: [] });
  expect(namesIn(dir)).toEqual(['satchel-20300115T120100.000Z.tar']);
  // Someone's own files, a backup under another name, one that a full disk cut off, and a later one of somebody else's.
  const whole = readFileSync(made[0] ?? '');
  const others = {
    'notes.txt': 'mine',
    'satchel-before-0.1.0-20300101T000000Z.tar': whole,
    'satchel-20300115T120130Z.tar': whole.subarray(0, whole.length - 512),
    'satchel-20991231T000000Z.tar': 'not ours',
  };
  for (const [name, bytes] of Object.entries(others)) writeFileSync(join(dir, name), bytes);
  symlinkSync('/nowhere', join(dir, 'satchel-20300101T000000Z.tar'));
  await backUp(2);
  const third = await backUp(2);
  expect(third.removed).toEqual(made.slice(0, 1));
  expect(third.unsound.map((path) => path.slice(dir.length + 1))).toEqual([
    'satchel-20991231T000000Z.tar',
    'satchel-20300115T120130Z.tar',
    'satchel-20300101T000000Z.tar',
  ]);
  const kept = made.slice(1).map((path) => path.slice(dir.length + 1));
  expect(namesIn(dir)).toEqual([...Object.keys(others), 'satchel-20300101T000000Z.tar', ...kept].sort());
  // A clock that was set back never makes the backup of today the one that goes.
  clock.advance(-86_400_000);
  const earlier = await backUp(1);
  expect(earlier.removed).toHaveLength(1);
  expect(namesIn(dir)).toContain('satchel-20300114T120400.000Z.tar');
});

test('a backup that can not be made removes nothing', async () => {
  const data_dir = await makeShop();
  const dir = makeTempDir();
  await runRecord(data_dir, 'backup', '--keep', '1', dir);
  const before = namesIn(dir);
  const { exit, stderr } = await run(makeTempDir(), 'backup', '--keep', '1', dir);
  expect([exit, stderr, namesIn(dir)]).toEqual([1, expect.stringContaining('no database'), before]);
  const nowhere = await run(data_dir, 'backup', '--keep', '1', join(dir, 'missing'));
  expect([nowhere.exit, nowhere.stderr]).toEqual([1, expect.stringContaining('does not exist')]);
});

test('the command says what it removed, and takes no number below one', async () => {
  const data_dir = await makeShop();
  const dir = makeTempDir();
  const older = 'satchel-20200101T000000Z.tar';
  await runRecord(data_dir, 'backup', join(dir, older));
  const { exit, stdout } = await run(data_dir, 'backup', '--keep', '1', dir);
  expect([exit, stdout]).toEqual([0, expect.stringContaining(older)]);
  expect(namesIn(dir)).toHaveLength(1);
  expect((await run(data_dir, 'backup', '--keep', '0', dir)).exit).toBe(2);
});
