/** How far off a moment is, in the words of the console. */
import { expect, test } from 'bun:test';
import { tellRelative } from '../../src/console/page/time.ts';

const HOUR_MS = 3_600_000;

test.each([
  [48 * HOUR_MS - 60_000, 'in 2 days'],
  [47 * HOUR_MS, 'in 2 days'],
  [25 * HOUR_MS, 'in 1 day'],
  [-47 * HOUR_MS, '2 days ago'],
  [-HOUR_MS, '1 hour ago'],
  [89 * 24 * HOUR_MS, 'in 3 months'],
  [0, 'just now'],
])('%d ms off is %s', (off_ms, told) => {
  expect(tellRelative(Date.now() + off_ms)).toBe(told);
});
