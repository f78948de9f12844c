/** What is typed into the search of the console, and the titles that it fits. */
import { expect, test } from 'bun:test';
import { fits } from '../../src/console/page/components/fits.ts';

test('first letters of words, in their order, find a title', () => {
  const found = (typed: string) =>
    ['New key', 'Send a mail', 'Pause Welcome', 'Marketing settings', 'Rotate web'].filter((title) =>
      fits(typed, title),
    );
  expect(['nk', 'new k', 'key', 'NEWKEY', 'pa wel', 'smai', 'ms', 'se ma'].map(found)).toEqual([
    ['New key'],
    ['New key'],
    ['New key'],
    ['New key'],
    ['Pause Welcome'],
    ['Send a mail'],
    ['Marketing settings'],
    ['Send a mail'],
  ]);
  expect(['', '  ', 'ey', 'kn', 'newx', 'n k s'].flatMap(found)).toEqual([]);
});

test('a name of many equal letters costs no more than another', () => {
  expect(fits(`${'a'.repeat(60)}b`, 'a '.repeat(100))).toBe(false);
});
