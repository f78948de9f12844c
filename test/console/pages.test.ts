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
        for (const options of [
          { scheme: 'light', viewport: NARROW },
          { scheme: 'dark', viewport: WIDE },
        ] as const) {
          const context = await signIn(on, options);
          await expectSound(await openPage(on, context, path(sample)));
          await context.close();
        }
      },
      TIMEOUT_MS,
    );
  }
});
