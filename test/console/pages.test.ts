/** Every page of the console in a real browser: sound in light and dark, on a desk and on a telephone. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  goTo,
  NARROW,
  type OpenPage,
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
/** A page for each, which goes on from one address to the next: loading it anew would take as long as looking at it. */
let looks: OpenPage[];

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
  looks = await Promise.all(LOOKS.map(async (look) => openPage(on, await signIn(on, look), '/')));
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
        await Promise.all(
          looks.map(async (opened) => {
            await goTo(opened, path(sample));
            await expectSound(opened);
          }),
        );
      },
      TIMEOUT_MS,
    );
  }
});
