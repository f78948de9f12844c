/** The layout of marketing mail as a real browser lays it out on a phone: nothing wider than it, each script its own way. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { bodiesOf } from '../../../src/mail/templates/markdown.ts';
import { fillParts } from '../../../src/marketing/mails/merge-fields.ts';
import { composeSource } from '../../../src/marketing/mails/source.ts';
import { openChromium } from '../../support/chromium.ts';
import { part } from '../../support/parts.ts';

setDefaultTimeout(120_000);
const WIDTH = 360;
const LONG = 'Donaudampfschifffahrtsgesellschaft'.repeat(20);
const ADDRESS = `https://shop.example/${'a-long-path-'.repeat(40)}`;
const HOSTILE = [
  `# ${LONG}`,
  `${ADDRESS} [${LONG}](${ADDRESS}) {{first_name}} \`${'x'.repeat(900)}\``,
  `\`\`\`\n${'const line = 1; '.repeat(60)}\n${LONG}\n\`\`\``,
  `- ${LONG}\n- ${ADDRESS}\n\n> ${LONG}`,
  `| ${LONG} | b | c |\n|--|--|--:|\n| ${ADDRESS} | ${LONG} | \`${LONG}\` |`,
  '![A picture](https://shop.example/wide.svg)',
].join('\n\n');
const ARABIC =
  'مرحبا بكم في نشرتنا (2026).\n\n- واحد\n- اثنان\n\n> اقتباس\n\n| الاسم | السعر |\n|--|--|\n| كرسي | 12 |\n\nHello';
const HTML = `<div>${LONG}</div><table width="900"><tr><td width="900">${ADDRESS}</td></tr></table><pre>${LONG} ${LONG}</pre><img src="https://shop.example/wide.svg">`;

function mailOf(body_html: string | null): string {
  const { source } = composeSource({
    template: { subject: 's', body_html, body_text: null, variables: [], layout: 'marketing' },
    values: {},
    brand: { brand_name: LONG, brand_color: '#ffee00', brand_logo_url: null, brand_website_url: null },
    ...{ language: 'es', preheader: 'New chairs', token_hosts: [], public_url: 'https://mail.example' },
    ...{ track_opens: true, utm: null, is_tracked: false, view_link: true },
  });
  const values = { first_name: LONG, postal_address: LONG, unsubscribe_url: ADDRESS, view_url: ADDRESS };
  return fillParts(source.html ?? [], values, Bun.escapeHTML);
}

function ofMarkdown(markdown: string): string {
  const made = bodiesOf(markdown, 500_000);
  return mailOf(made.ok ? made.body_html : null);
}

describe.skipIf(part('chromium') === null)('a mail in its layout, on a phone', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openChromium();
  });

  async function show(
    html: string,
    with_pictures: boolean,
    color_scheme: 'light' | 'dark' = 'light',
  ): Promise<Page> {
    const page = await browser.newPage({
      viewport: { width: WIDTH, height: 640 },
      colorScheme: color_scheme,
    });
    const body = '<svg xmlns="http://www.w3.org/2000/svg" width="2000" height="20"></svg>';
    await page.route('**/*', (route) =>
      with_pictures ? route.fulfill({ contentType: 'image/svg+xml', body }) : route.abort(),
    );
    await page.setContent(html);
    return page;
  }

  test.each([
    ['Markdown', ofMarkdown(HOSTILE)],
    ['HTML', mailOf(HTML)],
    // As mail programs show it that take no <style> of a mail.
    ['Markdown without its styles', ofMarkdown(HOSTILE).replace(/<style>[\s\S]*?<\/style>/, '')],
  ])('is never wider than it: %s', async (_, html) => {
    for (const with_pictures of [true, false]) {
      const page = await show(html, with_pictures);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(WIDTH);
      await page.close();
    }
  });

  test('lets each block go the way of its script, and says its language', async () => {
    const page = await show(ofMarkdown(ARABIC), false);
    const ways = await page.evaluate(
      '[...document.querySelectorAll(".s-text :is(p, ul, li, table)")].map((block) => [block.tagName, getComputedStyle(block).direction].join(" "))',
    );
    expect(ways).toEqual(['P rtl', 'UL rtl', 'LI rtl', 'LI rtl', 'P rtl', 'TABLE rtl', 'P ltr']);
    expect(await page.evaluate('document.documentElement.lang')).toBe('es');
    await page.close();
  });

  test('hides its preheader, and can be read in the dark', async () => {
    const page = await show(mailOf('<p>Hello</p>'), false, 'dark');
    expect(await page.locator('body > div').isVisible()).toBe(false);
    expect(await page.evaluate('document.body.innerText')).not.toContain('New chairs');
    const colors = await page.evaluate(
      '[getComputedStyle(document.querySelector(".s-text p")).color, getComputedStyle(document.querySelector(".s-card")).backgroundColor]',
    );
    expect(colors).toEqual(['rgb(236, 236, 236)', 'rgb(35, 35, 37)']);
    await page.close();
  });
});
