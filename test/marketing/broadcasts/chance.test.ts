/** How likely a variant is the best: against what other methods say, and at the ends. */
import { expect, test } from 'bun:test';
import { chancesOfBest } from '../../../src/marketing/broadcasts/ab.ts';

const of = (...counts: [clicked: number, tracked: number][]) =>
  chancesOfBest(counts.map(([clicked, tracked]) => ({ clicked, tracked })));

test('of two it is what the exact sum says', () => {
  // Miller's sum over the Beta function.
  expect(of([40, 500], [55, 500])).toEqual([0.05, 0.95]);
  expect(of([3, 5], [1, 5])).toEqual([0.88, 0.12]);
});

test('of three and five it is what 400,000 draws say', () => {
  expect(of([10, 200], [15, 200], [22, 200])).toEqual([0.01, 0.11, 0.88]);
  expect(of([30, 1000], [33, 1000], [41, 1000], [28, 1000], [39, 1000])).toEqual([
    ...[0.03, 0.08, 0.52, 0.02, 0.35],
  ]);
});

test('where nobody clicked, or nothing was sent, all are alike', () => {
  expect(of([0, 100], [0, 100])).toEqual([0.5, 0.5]);
  expect(of([0, 0], [0, 0], [0, 0])).toEqual([0.33, 0.33, 0.33]);
});

test('of everybody and nobody, of millions, and of more clicks than mails there are numbers', () => {
  expect(of([500_000, 500_000], [0, 500_000])).toEqual([1, 0]);
  expect(of([2, 1], [0, 1])).toEqual([expect.any(Number), expect.any(Number)]);
  const [first = 0, second = 0] = of([30_000, 1_000_000], [30_400, 1_000_000]);
  expect(first + second).toBeCloseTo(1, 2);
  expect(second).toBe(0.95);
});
