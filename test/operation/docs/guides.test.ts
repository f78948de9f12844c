/** The handbook: its pages, and the search over guides and endpoints. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import axe from 'axe-core';
import { readGuides } from '../../../src/operation/docs/guides.ts';
import { openChromium } from '../../support/chromium.ts';
import { readme } from '../../support/documents.ts';
import { startTestApp, type TestApp } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';

const ROOT = join(import.meta.dir, '../../..');
const NAMES = readGuides().map(({ name }) => name);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});

const ask = (path: string) => app.call('GET', path);
/** What a search found: where each leads, in order. */
async function find(words: string): Promise<string[]> {
  const { text } = await ask(`/docs/search?q=${encodeURIComponent(words)}`);
  const [, list = ''] = text.split('<ol class="found">');
  return [...list.matchAll(/<li><a href="([^"]*)"/g)].map(([, href = '']) => href);
}

describe('a guide', () => {
  test('is a page of its own, which needs no script and asks no other host for anything', async () => {
    for (const name of NAMES) {
      const { status, text, headers } = await ask(`/docs/guide/${name}`);
      expect([name, status, headers.get('content-type')]).toEqual([name, 200, 'text/html; charset=utf-8']);
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(text).not.toContain('<script');
      expect(text.match(/(?:src|<link[^>]*href)="(?!data:|\/docs\/)[^"]*"/g)).toBe(null);
      expect(text.match(/<h1/g)).toHaveLength(1);
      expect(text).toContain(`<a href="/docs/guide/${name}" aria-current="page">`);
    }
    expect((await ask('/docs/guide.css')).headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  test('stands in the folder, in the list of each page and in the README', () => {
    const files = readdirSync(join(ROOT, 'handbook')).map((file) => file.replace(/\.md$/, ''));
    expect(files.toSorted()).toEqual(NAMES.toSorted());
    const named = [...readme().matchAll(/\(handbook\/([a-z-]+)\.md\)/g)].map(([, name]) => name);
    expect([...new Set(named)].toSorted()).toEqual(NAMES.toSorted());
  });

  test('leads to guides, sections and pages that there are', async () => {
    const ids = new Map(readGuides().map(({ name, html }) => [name, html.match(/(?<= id=")[^"]*/g) ?? []]));
    for (const { name, html } of readGuides()) {
      for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) {
        const [, guide = name, id] = /^(?:\/docs\/guide\/([a-z-]+))?(?:#(.*))?$/.exec(href) ?? [];
        if (href.startsWith('https://')) continue;
        if (href.startsWith('/') && !href.startsWith('/docs/guide/')) {
          expect([name, href, (await ask(href)).status]).toEqual([name, href, 200]);
          continue;
        }
        expect([name, href, ids.has(guide)]).toEqual([name, href, true]);
        if (id !== undefined) expect(ids.get(guide)).toContain(id);
      }
    }
  });

  test('that there is not is 404, with those that there are; /docs/guide leads to the first', async () => {
    const { status, text } = await ask('/docs/guide/nothing');
    expect(status).toBe(404);
    expect(text).toContain('There is no such guide');
    expect(text).toContain('href="/docs/guide/mail"');
    const first = await ask('/docs/guide');
    expect([first.status, first.headers.get('location')]).toEqual([302, '/docs/guide/start']);
  });
});

describe('the search', () => {
  test('finds sections of guides and endpoints, the nearest first', async () => {
    const sending = await find('send email');
    expect(sending[0]).toBe('/docs/guide/mail#send');
    expect(sending).toContain('/docs#/Emails/postEmailsSend');
    expect(await find('create a list')).toContain('/docs#/Contact%20lists/postEmailLists');
    expect((await find('rate limits'))[0]).toBe('/docs/guide/limits#rate-limits');
    expect((await find('pagination'))[0]).toBe('/docs/guide/limits#pagination');
    expect((await find('errors')).slice(0, 2)).toContain('/docs/guide/limits#errors');
    expect((await find('nginx'))[0]).toBe('/docs/guide/proxies#nginx');
    expect(await find('newsletters')).toContain('/docs/guide/marketing#newsletters');
    expect(await find('broadcast')).toContain('/docs/guide/marketing#newsletters');
  });

  test('takes the beginning of a word, and one that is misspelt a little', async () => {
    expect(await find('pagin')).toContain('/docs/guide/limits#pagination');
    expect(await find('paginaton')).toContain('/docs/guide/limits#pagination');
  });

  test('finds what has all of the words', async () => {
    const both = await find('backup master key');
    expect(both.length).toBeGreaterThan(0);
    expect(both.length).toBeLessThan((await find('backup')).length);
  });

  test('says so where there is nothing, and asks for words where there are none', async () => {
    expect((await ask('/docs/search?q=zebrafish')).text).toContain('Nothing in the guides');
    expect((await ask('/docs/search')).text).toContain('Type what you look for');
    expect((await ask('/docs/search?q=%20')).text).toContain('Type what you look for');
  });

  test('shows what was typed as text, and reads no more than 200 characters of it', async () => {
    const { text } = await ask(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(text).not.toContain('<script');
    expect(text).toContain('&lt;script&gt;');
    const long = await ask(`/docs/search?q=${'a'.repeat(5000)}`);
    expect(long.status).toBe(200);
    expect(long.text).not.toContain('a'.repeat(201));
  });

  test('looks for the first ten words, each once', async () => {
    const ten = 'mail mail mail a b c d e f g h i';
    expect((await find(`${ten} zebrafish`)).length).toBeGreaterThan(0);
    expect(await find(`${ten.slice(0, -2)} zebrafish`)).toEqual([]);
  });
});

test.if(part('chromium') !== null)(
  'the pages can be read by everybody, in light and in dark, at a desk and on a telephone',
  async () => {
    const browser = await openChromium();
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [390, 1280]) {
        const page = await browser.newPage({
          colorScheme,
          viewport: { width, height: 800 },
          bypassCSP: true,
        });
        for (const path of ['/docs/guide/limits', '/docs/search?q=mail', '/docs/guide/nothing']) {
          await page.goto(`${app.url}${path}`);
          expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
          await page.addScriptTag({ content: axe.source });
          const violations = await page.evaluate(
            'axe.run().then((found) => found.violations.map(({ id }) => id))',
          );
          expect([path, colorScheme, width, violations]).toEqual([path, colorScheme, width, []]);
        }
        await page.close();
      }
  },
  60_000,
);
