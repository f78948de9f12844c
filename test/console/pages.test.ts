/** Every page of the console in a real browser: sound in light and dark, on a desk and on a telephone. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  NARROW,
  openPage,
  signIn,
  TIMEOUT_MS,
  WIDE,
} from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';
import { SAMPLE_PAGES } from './sample-pages.ts';

const LOOKS = [
  { scheme: 'light', viewport: NARROW },
  { scheme: 'dark', viewport: WIDE },
] as const;

let on: ConsoleTest;
let sample: Sample;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

test('every page has an address to be tested at', () => {
  const pages = readFileSync(join(import.meta.dir, '../../src/console/page/pages.ts'), 'utf8');
  const patterns = [...pages.matchAll(/^ {2}page\('([^']+)'/gm)].map(([, pattern]) => pattern);
  expect(patterns.length).toBeGreaterThan(5);
  const sampled = new Set<string | undefined>(SAMPLE_PAGES.map(({ pattern }) => pattern));
  expect(patterns.filter((pattern) => !sampled.has(pattern))).toEqual([]);
});

describe.skipIf(executable === null)('a page is sound', () => {
  for (const { name, path } of SAMPLE_PAGES) {
    test(
      name,
      async () => {
        // Both at once, as most of the time is spent waiting for the network to be idle.
        await Promise.all(
          LOOKS.map(async (look) => {
            const context = await signIn(on, look);
            await expectSound(await openPage(on, context, path(sample)));
            await context.close();
          }),
        );
      },
      TIMEOUT_MS,
    );
  }
});
