/** Long work that lets others go first: one piece a turn, whoever does it. */
import { expect, test } from 'bun:test';
import { letOthers } from '../../../src/platform/host/waiting.ts';

test('of eight that do long work one goes on in each turn, in their order', async () => {
  const done: number[] = [];
  let pieces = 0;
  let most = 0;
  let is_over = false;
  const look = (): void => {
    most = Math.max(most, pieces);
    pieces = 0;
    if (!is_over) setImmediate(look);
  };
  look();
  const work = async (who: number): Promise<void> => {
    for (let piece = 0; piece < 5; piece += 1) {
      await letOthers();
      pieces += 1;
      done.push(who);
    }
  };
  const eight = [0, 1, 2, 3, 4, 5, 6, 7];
  await Promise.all(eight.map(work));
  is_over = true;
  expect(most).toBe(1);
  expect(done).toEqual([0, 1, 2, 3, 4].flatMap(() => eight));
  await letOthers();
});
