import { describe, expect, test } from 'bun:test';
import { openDatabase } from '../../../src/platform/database/database.ts';
import { ReadCache } from '../../../src/platform/database/read-cache.ts';
import { meta } from '../../../src/platform/database/tables.ts';
import { makeDatabase } from '../../temp.ts';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('the cache of reads', () => {
  const names = (cache: ReadCache<{ name: string }[]>) =>
    cache.get('all', (read) => read.select({ name: meta.name }).from(meta).all());

  test('reads once as long as nothing is committed, and anew after a commit of this process', async () => {
    const { database } = makeDatabase();
    const cache = new ReadCache<{ name: string }[]>(database);
    const first = names(cache);
    expect(names(cache)).toBe(first);
    await nextTurn();
    expect(names(cache)).toBe(first);
    await database.write((tx) => tx.insert(meta).values({ name: 'ours', value: '1' }).run());
    expect(names(cache)).toEqual([{ name: 'ours' }]);
    await database.close();
  });

  test('reads anew after a commit of another process', async () => {
    const { database, path } = makeDatabase();
    const cache = new ReadCache<{ name: string }[]>(database);
    expect(names(cache)).toEqual([]);
    const other = openDatabase(path, { create: false });
    await other.write((tx) => tx.insert(meta).values({ name: 'theirs', value: '1' }).run());
    await nextTurn();
    expect(names(cache)).toEqual([{ name: 'theirs' }]);
    await other.close();
    await database.close();
  });

  test('remembers no absence, and never more than it should', async () => {
    const { database } = makeDatabase();
    const cache = new ReadCache<{ key: string }>(database);
    let reads = 0;
    const find = (key: string, found = true) =>
      cache.get(key, () => {
        reads += 1;
        return found ? { key } : null;
      });
    find('missing', false);
    find('missing', false);
    expect(reads).toBe(2);
    find('first');
    for (let n = 0; n < 1_000; n += 1) find(`key ${n}`);
    find('first');
    expect(reads).toBe(2 + 1 + 1_000 + 1);
    await database.close();
  });
});
