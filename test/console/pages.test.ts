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
  settle,
  signIn,
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
/** It goes on from one address to the next, and from one look to the other: loading would take as long as looking. */
let opened: OpenPage;
/** Which of the looks it has. */
let look = 0;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
  opened = await openPage(on, await signIn(on, { ...LOOKS[0], still: true }), '/');
});

/** Looks at a path in both ways. Every second page is opened in the second. */
async function expectSoundInBoth(path: string, options: { around: boolean }): Promise<void> {
  await goTo(opened, path);
  await expectSound(opened, options);
  look = 1 - look;
  const { scheme, viewport } = LOOKS[look] ?? LOOKS[0];
  await opened.page.emulateMedia({ colorScheme: scheme });
  await opened.page.setViewportSize(viewport);
  await settle(opened.page);
  await expectSound(opened, options);
}

test('every page has an address to be tested at', () => {
  const pages = readFileSync(join(import.meta.dir, '../../src/console/page/pages.ts'), 'utf8');
  const patterns = [...pages.matchAll(/^ {2}(?:[a-z]+\(|\{ path: )'([^']+)'/gm)].map(
    ([, pattern]) => pattern,
  );
  expect(patterns.length).toBeGreaterThan(5);
  const sampled = new Set<string | undefined>(SAMPLE_PAGES.map(({ pattern }) => pattern));
  expect(patterns.filter((pattern) => !sampled.has(pattern))).toEqual([]);
});

describe.skipIf(executable === null)('a page is sound', () => {
  for (const path of ['/', '/projects/hostile', '/projects/shop/emails/new'])
    test(`with what stands around it at ${path}`, () => expectSoundInBoth(path, { around: true }));

  for (const { name, path } of SAMPLE_PAGES)
    test(name, () => expectSoundInBoth(path(sample), { around: false }));
});
