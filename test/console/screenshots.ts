/** Run by scripts/screenshots: a picture of every page with sample data, light, dark and on a telephone. */
import { expect, test } from 'bun:test';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NARROW, openPage, signIn, startConsole, TIMEOUT_MS, WIDE } from './browser.ts';
import { addSampleData } from './sample-data.ts';
import { SAMPLE_PAGES } from './sample-pages.ts';

const KINDS = {
  light: { scheme: 'light', viewport: WIDE },
  dark: { scheme: 'dark', viewport: WIDE },
  narrow: { scheme: 'light', viewport: NARROW },
} as const;

test(
  'pictures',
  async () => {
    const dir = process.env.SCREENSHOTS ?? '';
    const only = process.env.SCREENSHOTS_ONLY ?? '';
    expect(dir).not.toBe('');
    mkdirSync(dir, { recursive: true });
    const on = await startConsole();
    const sample = await addSampleData(on.app);
    for (const [kind, options] of Object.entries(KINDS)) {
      const context = await signIn(on, options);
      for (const { name, path } of SAMPLE_PAGES.filter((each) =>
        only.split(',').some((one) => each.name.includes(one)),
      )) {
        const { page } = await openPage(on, context, path(sample));
        await page.screenshot({ path: join(dir, `${name}-${kind}.png`), fullPage: true });
        await page.close();
      }
      await context.close();
    }
  },
  10 * TIMEOUT_MS,
);
