/** The API reference, page by page; and what a browser makes of all pages of the documentation. */
import { beforeAll, describe, expect, test } from 'bun:test';
import axe from 'axe-core';
import { referenceHref } from '../../../src/operation/docs/reference.ts';
import { openChromium } from '../../support/chromium.ts';
import { startTestApp, type TestApp } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';

/** What a telephone has loaded after half a second behind a line of 400 kbit/s: the page with all that it shows. */
const MOST_PAGE_BYTES = 20 * 1024;

let app: TestApp;
let paths: [string, Record<string, { operationId: string; tags: string[]; summary: string }>][];
beforeAll(async () => {
  app = await startTestApp();
  paths = Object.entries((await ask('/docs/openapi.json')).body.paths ?? {});
});

const ask = (path: string) => app.call('GET', path);

describe('the reference', () => {
  test('tells of every endpoint on the page of its group, under its id and with its address', async () => {
    const pages = new Map<string, string>();
    for (const [path, methods] of paths)
      for (const [method, { operationId, tags, summary }] of Object.entries(methods)) {
        const [page = '', id] = referenceHref(String(tags[0]), operationId).split('#');
        if (!pages.has(page)) pages.set(page, (await ask(page)).text);
        const text = pages.get(page) ?? '';
        expect([page, operationId, text.includes(` id="${id}">`)]).toEqual([page, operationId, true]);
        expect(text).toContain(`>${method.toUpperCase()}</b><code>${path}</code>`);
        expect(text).toContain(Bun.escapeHTML(summary));
      }
    expect(pages.size).toBe(33);
    for (const [page, text] of pages) {
      const ids = [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
      expect([page, ids.length - new Set(ids).size]).toEqual([page, 0]);
      const leads = [...text.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id);
      expect([page, leads.filter((id) => !ids.includes(id))]).toEqual([page, []]);
      expect(text).not.toMatch(/undefined|\[object|NaN/);
    }
  });

  test('tells once what both planes do alike, with what each asks for', async () => {
    const { text } = await ask('/docs/api/emails');
    const [, sending = ''] = /<h2 id="postEmailsSend">(.*?)<\/section>/s.exec(text) ?? [];
    expect(sending).toContain('<i id="postProjectsByProjectEmailsSend"></i>');
    expect(sending).toContain('<code>/api/v1/emails/send</code><span>API key, needs <code>email</code>');
    expect(sending).toContain('<code>/api/public/v1/projects/{project}/emails/send</code><span>Access token');
    expect(sending).toContain('<dt><code>to</code> <span>address</span> <b>required</b></dt>');
    expect(sending).toContain('<code>202</code> <span><a href="#SendResult">SendResult</a>');
    expect(text).toContain('<h3 id="SendResult">SendResult</h3>');
  });

  test('has a line of curl that works as it is pasted, once the key is in KEY', async () => {
    const { text } = await ask('/docs/api/contact-lists');
    const [, block = ''] = /<h2 id="postEmailLists">.*?<code>(curl.*?)<\/code>/s.exec(text) ?? [];
    const line = new HTMLRewriter().transform(new Response(block));
    const said = (await line.text()).replaceAll('&quot;', '"').replaceAll('&#x27;', "'");
    expect(said).toStartWith(
      `curl -X POST ${app.config.public_url}/api/v1/email-lists \\\n  -H "X-API-Key: $KEY" \\\n`,
    );
    const [, body = ''] = /-d '(.*)'$/s.exec(said) ?? [];
    expect(JSON.parse(body)).toMatchObject({ name: expect.any(String) });
  });

  test('that there is not is 404, with those that there are', async () => {
    const { status, text } = await ask('/docs/api/nothing');
    expect([status, text.includes('There is no such group of endpoints')]).toEqual([404, true]);
    const first = await ask('/docs/api');
    expect([first.status, first.headers.get('location')]).toEqual([302, '/docs']);
  });

  test('keeps on its first page the anchor of each link from the time of one long page', async () => {
    const { text } = await ask('/docs');
    for (const [, methods] of paths)
      for (const { operationId, tags } of Object.values(methods)) {
        const [tag = ''] = tags;
        expect(text).toContain(`id="/${encodeURIComponent(tag)}/${operationId}"`);
        expect(text).toContain(`id="/${encodeURIComponent(tag)}"`);
      }
  });
});

describe.if(part('chromium') !== null)('in a browser', () => {
  test('every page is small, and comes whole in one request: nothing that it shows is waited for besides', async () => {
    const browser = await openChromium();
    const page = await browser.newPage();
    for (const path of ['/docs', '/docs/api/broadcasts', '/docs/guide/marketing', '/docs/search?q=mail']) {
      const asked: string[] = [];
      let bytes = 0;
      page.on('requestfinished', async (request) => {
        asked.push(new URL(request.url()).pathname);
        bytes += (await request.sizes()).responseBodySize;
      });
      await page.goto(`${app.url}${path}`, { waitUntil: 'networkidle' });
      expect(asked.toSorted()).toEqual([path.replace(/\?.*/, ''), '/docs/docs.js'].toSorted());
      expect([path, bytes < MOST_PAGE_BYTES]).toEqual([path, true]);
      page.removeAllListeners('requestfinished');
    }
    await page.close();
  }, 60_000);

  test.each([true, false])(
    'a link of old leads to the operation, with a script or without (%p)',
    async (has_script) => {
      const browser = await openChromium();
      const page = await browser.newPage({ javaScriptEnabled: has_script });
      await page.goto(`${app.url}/docs#/Contact%20lists/postProjectsByProjectEmailLists`);
      // Without a script the line of the endpoint is in sight, and marked.
      if (!has_script) await page.locator('li:has(:target) a').click();
      await page.waitForURL(`${app.url}/docs/api/contact-lists#postEmailLists`);
      expect(await page.locator('h2:target').textContent()).toBe('Create a list');
      await page.close();
    },
    60_000,
  );

  test('a block of code is copied by its button', async () => {
    const browser = await openChromium();
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const page = await context.newPage();
    await page.goto(`${app.url}/docs/guide/backups`);
    const block = page.locator('.code').first();
    await block.getByRole('button', { name: 'Copy' }).click();
    await block.getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    expect(copied).toStartWith('satchel backup tour/backup.tar ');
    expect(copied).not.toEndWith('\n');
    await context.close();
  }, 60_000);

  test('on a telephone the list of all pages opens and closes, without a script', async () => {
    const browser = await openChromium();
    const page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 390, height: 800 } });
    await page.goto(`${app.url}/docs/guide/mail`);
    const all = page.getByRole('navigation', { name: 'All pages' });
    expect(await all.isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Menu' }).click();
    await all.getByRole('link', { name: 'Broadcasts' }).click();
    await page.waitForURL(`${app.url}/docs/api/broadcasts`);
    expect(await all.isVisible()).toBe(false);
    await page.close();
  }, 60_000);

  test('the pages can be read by everybody, in light and in dark, at a desk and on a telephone', async () => {
    const browser = await openChromium();
    for (const colorScheme of ['light', 'dark'] as const)
      for (const width of [390, 1440]) {
        const page = await browser.newPage({
          ...{ colorScheme, viewport: { width, height: 900 }, bypassCSP: true },
        });
        for (const path of ['/docs', '/docs/api/objects', '/docs/guide/limits', '/docs/search?q=mail']) {
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
  }, 120_000);
});
