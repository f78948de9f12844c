/** How many items a piece takes: as many as a short time is enough for, by the clock of the last ones. */
import { expect, test } from 'bun:test';
import { PieceSize } from '../../../src/platform/host/waiting.ts';

/** Pieces of items that each take so long. */
const pieces = (size: PieceSize, item_ms: number, count: number): number[] =>
  Array.from({ length: count }, () => {
    const items = size.next;
    size.learn(
      () => Bun.sleepSync(item_ms * items),
      () => items,
    );
    return items;
  });

test('slow items make pieces smaller, down to one, and never larger than what any takes', () => {
  const size = new PieceSize(25, 50);
  expect(size.next).toBe(25);
  const slow = pieces(size, 10, 8);
  expect(slow.at(-1)).toBe(1);
  expect(slow).toEqual(slow.toSorted((a, b) => b - a));
  for (let n = 0; n < 40; n += 1)
    size.learn(
      () => {},
      () => 1_000,
    );
  expect(size.next).toBe(50);
});

test('a piece of nothing teaches nothing', () => {
  const size = new PieceSize(25, 50);
  size.learn(
    () => Bun.sleepSync(50),
    () => 0,
  );
  expect(size.next).toBe(25);
});
