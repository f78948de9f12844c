/** Opening a data directory that is somebody else's, or something else. */
import { describe, expect, test } from 'bun:test';
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { makeDataDirectory, openDataDirectory } from '../../../src/platform/host/data-directory.ts';
import { requireDatabase } from '../../../src/platform/host/database-file.ts';
import { makeDatabase, makeTempDir, TestClock } from '../../support/temp.ts';

const NOBODY = 65_534;

/** What a call does as a user who owns nothing here. Root loses its power for that long; others close the door themselves. */
function tryAsStranger(dir: string, call: () => unknown): unknown {
  const is_root = process.getuid?.() === 0;
  chmodSync(dir, is_root ? 0o700 : 0o000);
  if (is_root) process.seteuid?.(NOBODY);
  try {
    return call();
  } catch (error) {
    return error;
  } finally {
    if (is_root) process.seteuid?.(0);
    chmodSync(dir, 0o700);
  }
}

test("of a directory that is another user's it is not said that it holds no database", () => {
  const dir = makeTempDir();
  makeDatabase(dir);
  const refusal = tryAsStranger(dir, () => requireDatabase(dir));
  expect(String(refusal)).toContain(`The data directory ${dir} can't be looked into: EACCES`);
  expect(String(refusal)).toContain('Run this as');
  expect(requireDatabase(dir)).toBe(join(dir, 'satchel.db'));
});

test('a database that is none is named', async () => {
  const dir = makeTempDir();
  writeFileSync(join(dir, 'satchel.db'), 'x'.repeat(5000), { mode: 0o600 });
  const opening = openDataDirectory(loadConfig({ SATCHEL_DATA_DIR: dir }), { clock: new TestClock() });
  await expect(opening).rejects.toThrow(
    `The database ${join(dir, 'satchel.db')} can't be used: file is not a database`,
  );
});

describe('making a directory private', () => {
  test('is left alone where folders of something else stand, and says how to go on', () => {
    const dir = makeTempDir();
    chmodSync(dir, 0o755);
    mkdirSync(join(dir, 'public_html'));
    expect(() => makeDataDirectory(dir)).toThrow(
      /holds folders of something else \(public_html\).*a folder of its own/,
    );
    expect(statSync(dir).mode & 0o777).toBe(0o755);
    expect(readdirSync(dir)).toEqual(['public_html']);
    chmodSync(dir, 0o700);
    makeDataDirectory(dir);
  });

  test('is done where there is a database, or nothing but files and what belongs to any directory', () => {
    for (const [database, ...folders] of [
      [true, 'backups'],
      [false, 'objects', 'lost+found', '.snapshot'],
    ] as const) {
      const dir = makeTempDir();
      if (database) makeDatabase(dir);
      for (const folder of folders) mkdirSync(join(dir, folder));
      writeFileSync(join(dir, 'notes.txt'), 'x');
      chmodSync(dir, 0o755);
      makeDataDirectory(dir);
      expect(statSync(dir).mode & 0o777).toBe(0o700);
    }
  });
});
