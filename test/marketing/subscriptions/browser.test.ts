/** The sign-up form of the guide in a real browser, on a page of another origin, and the public pages that follow. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { ownFormOf } from '../../../src/marketing/lists/service.ts';
import { openChromium } from '../../support/chromium.ts';
import { blocksOf, guide, signUpForm } from '../../support/documents.ts';
import { actor, addCapturingMailbox } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

const executable = part('chromium');
setDefaultTimeout(60_000);
const FORM = signUpForm();

let on: MarketingApp;
let browser: Browser;
let list: string;
/** Of the web page with the form: not ours. */
let site: ReturnType<typeof Bun.serve>;
/** The form on it: that of the guide, unless a test puts another one there. */
let form = '';
let guide_form: string;

async function makeFormKey(): Promise<string> {
  const { keys, origins, projects } = on.app.services;
  const { id, plaintext_key } = await keys.create(actor, projects.require('shop'), {
    name: 'form',
    can_manage_email_marketing: true,
    restricted: true,
  });
  const value = `http://localhost:${site.port}`;
  await origins.add(actor, keys.require(String(id)), { type: 'domain', value });
  return plaintext_key;
}

const PAGE = (form: string) =>
  `<!doctype html><html lang="en"><head><title>A shop</title></head><body><main>${form}</main></body></html>`;

beforeAll(async () => {
  if (executable === null) return;
  on = await startMarketingApp({ env: { SATCHEL_PUBLIC_URL: 'http://127.0.0.1:8420' } });
  await addCapturingMailbox(on.app);
  const key = await on.project.key({ can_write: true, permissions: { email_template: true } });
  await on.app.call('POST', '/api/v1/emails/templates', {
    key,
    body: { name: 'C', slug: 'c', category: 'opt_in', subject: 'Confirm', body_text: '{{confirm_url}}' },
  });
  await on.call('PATCH', '/email-marketing/settings', {
    brand_name: 'Shop & Söhne',
    brand_color: '#ffee00',
    brand_logo_url: 'https://cdn.example.com/logo.png',
    brand_website_url: 'https://shop.example.com/',
  });
  list = await on.list({ double_opt_in: true, confirmation_template: 'c' });
  site = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => new Response(PAGE(form), { headers: { 'Content-Type': 'text/html; charset=utf-8' } }),
  });
  guide_form = FORM.replace('http://localhost:8420', on.app.url)
    .replace('LIST_ID', list)
    .replace('FORM_KEY', await makeFormKey());
  form = guide_form;
  browser = await openChromium();
});

afterAll(async () => {
  await site?.stop(true);
});

/** A page as wide as a small telephone; what it complains of goes to `complaints`. */
async function openPage(
  colorScheme: 'light' | 'dark' = 'light',
): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ viewport: { width: 360, height: 640 }, colorScheme });
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text());
  });
  await page.route('https://cdn.example.com/**', (route) =>
    route.fulfill({
      contentType: 'image/svg+xml',
      body: '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="30"/>',
    }),
  );
  return { page, complaints };
}

/** No barrier that can be found by rules, and nothing to scroll for sideways. */
async function expectAccessible(page: Page): Promise<void> {
  const wide = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect(wide).toBe(0);
  // Not as a script of the page: its Content-Security-Policy lets none run.
  await page.evaluate(axe.source);
  const found: unknown = await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]))',
  );
  expect(found).toEqual([]);
}

async function contactOf(email: string): Promise<Record<string, unknown> | undefined> {
  return rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`))[0];
}

/** The path of the link in the newest mail to an address. */
async function linkTo(email: string): Promise<string> {
  const { body } = await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key });
  const [mail] = body.data as { id: string }[];
  const { raw } = await on.app.services.deliveries.readCaptured(mail?.id ?? '');
  return /\/confirm\/[\w-]+/.exec(raw.replace(/=\r?\n/g, ''))?.[0] ?? '';
}

describe.skipIf(executable === null)('in a browser', () => {
  test.each(['light', 'dark'] as const)(
    'the archive of a list can be read by everybody: %s',
    async (scheme) => {
      const open = await on.list({ archive: true });
      const { page, complaints } = await openPage(scheme);
      await page.goto(`${on.app.url}/archive/${open}`);
      expect(await page.textContent('h1')).toBe('Past issues of News');
      await expectAccessible(page);
      expect(complaints).toEqual([]);
    },
  );

  test('a visitor signs up with the form of the guide, confirms, and leaves again', async () => {
    const { page, complaints } = await openPage();
    await page.goto(`http://localhost:${site.port}/`);
    await page.fill('[name=email]', 'Visitor@example.com');
    await page.fill('[name=first_name]', 'Vic');
    await page.click('button');
    await page.locator('[role=status]:not(:empty)').waitFor();
    expect(await page.textContent('[role=status]')).toContain('Thank you');
    await on.app.app.engine.whenIdle();
    expect(await contactOf('visitor@example.com')).toMatchObject({
      status: 'pending',
      first_name: 'Vic',
      consent_origin: `http://localhost:${site.port}`,
    });
    await page.goto(on.app.url + (await linkTo('visitor@example.com')));
    expect(await page.textContent('h1')).toBe('Confirm your subscription');
    expect(await page.getAttribute('.brand img', 'alt')).toBe('Shop & Söhne');
    await expectAccessible(page);
    expect(await contactOf('visitor@example.com')).toMatchObject({ status: 'pending' });
    await page.click('button');
    await page.getByRole('heading', { name: 'You are subscribed' }).waitFor();
    const contact = await contactOf('visitor@example.com');
    expect(contact).toMatchObject({ status: 'active', consent_basis: 'double_opt_in' });
    const { subscriptions, projects, database } = on.app.services;
    const url = await database.write((tx) =>
      subscriptions.unsubscribeLinks(tx, projects.require('shop'))({ public_id: String(contact?.id) }),
    );
    await page.goto(on.app.url + new URL(url).pathname);
    expect(await page.textContent('h1')).toBe('Unsubscribe');
    await expectAccessible(page);
    await page.focus('button');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor();
    await expectAccessible(page);
    expect(await contactOf('visitor@example.com')).toMatchObject({ status: 'unsubscribed' });
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('a visitor signs up at the page of the list, and by a form without a script on a page of another origin', async () => {
    await on.call('PATCH', `/email-lists/${list}`, { sign_up_page: true });
    const { page, complaints } = await openPage();
    await page.goto(`${on.app.url}/join/${list}`);
    expect(await page.textContent('h1')).toBe('Sign up for News');
    await expectAccessible(page);
    await page.fill('[name=email]', 'at-page@example.com');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await expectAccessible(page);
    form = ownFormOf(`${on.app.url}/join/${list}`, { asks_for_tracking: false });
    await page.goto(`http://localhost:${site.port}/`);
    await page.getByLabel('Email').fill('at-form@example.com');
    await page.getByLabel('First name').fill('Ann');
    await page.getByRole('button').click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await on.app.app.engine.whenIdle();
    expect(await contactOf('at-page@example.com')).toMatchObject({
      status: 'pending',
      consent_origin: `http://127.0.0.1:8420/join/${list}`,
    });
    expect(await contactOf('at-form@example.com')).toMatchObject({
      status: 'pending',
      first_name: 'Ann',
      consent_origin: `http://localhost:${site.port}`,
    });
    expect(complaints).toEqual([]);
    await page.close();
    form = guide_form;
  });

  test('a sign-up and a confirmation lead to pages of another origin, which the list names', async () => {
    const there = `http://localhost:${site.port}`;
    const urls = { signed_up_url: `${there}/thanks?a=1#top`, confirmed_url: `${there}/welcome` };
    await on.call('PATCH', `/email-lists/${list}`, { sign_up_page: true, ...urls });
    const { page, complaints } = await openPage();
    await page.goto(`${on.app.url}/join/${list}`);
    await page.fill('[name=email]', 'led-on@example.com');
    await page.click('button');
    await page.waitForURL(urls.signed_up_url);
    expect(await page.title()).toBe('A shop');
    await on.app.app.engine.whenIdle();
    await page.goto(on.app.url + (await linkTo('led-on@example.com')));
    await page.click('button');
    await page.waitForURL(urls.confirmed_url);
    expect(await contactOf('led-on@example.com')).toMatchObject({ status: 'active' });
    // Not even where it came from.
    expect(await page.evaluate('document.referrer')).toBe('');
    expect(complaints).toEqual([]);
    await page.close();
    await on.call('PATCH', `/email-lists/${list}`, { signed_up_url: null, confirmed_url: null });
  });

  test('the form tells a visitor what is wrong, and a page of another origin gets nowhere', async () => {
    const { page } = await openPage();
    await page.goto(`http://localhost:${site.port}/`);
    await page.fill('[name=email]', 'someone@localhost');
    await page.click('button');
    await page.locator('[role=status]:not(:empty)').waitFor();
    expect(await page.textContent('[role=status]')).not.toContain('Thank you');
    await page.goto(`http://127.0.0.1:${site.port}/`);
    await page.fill('[name=email]', 'stranger@example.com');
    await page.click('button');
    await page.locator('[role=status]:not(:empty)').waitFor();
    expect(await page.textContent('[role=status]')).not.toContain('Thank you');
    await on.app.app.engine.whenIdle();
    expect(await contactOf('stranger@example.com')).toBeUndefined();
    await page.close();
  });

  test('a reader chooses: leaves one list, pauses, is counted no more, and stays on the other lists', async () => {
    const [news, offers] = [
      await on.list({ name: 'Letters', is_public: true }),
      await on.list({ name: 'Offers', is_public: true }),
    ];
    const reader = await on.contact(news, 'chooser@example.com');
    await on.contact(offers, 'chooser@example.com');
    const { subscriptions, projects, database } = on.app.services;
    const url = await database.write((tx) =>
      subscriptions.unsubscribeLinks(tx, projects.require('shop'))({ public_id: String(reader.id) }),
    );
    const { page, complaints } = await openPage();
    await page.goto(`${on.app.url}${new URL(url).pathname}#choices`);
    await expectAccessible(page);
    await page.getByLabel('Offers').uncheck();
    await page.getByLabel('Pause for 30 days').check();
    await page.getByLabel('Count what I open and click').uncheck();
    await page.getByRole('button', { name: 'Save my choices' }).click();
    await page.getByRole('heading', { name: 'Your choices are saved' }).waitFor();
    await expectAccessible(page);
    const at = async (of: string) => rowsOf(await on.call('GET', `/email-lists/${of}/contacts?q=chooser`))[0];
    expect([await at(news), await at(offers)]).toMatchObject([
      { status: 'active', tracking: 'refused', paused_until: expect.stringMatching(/Z$/) },
      { status: 'unsubscribed' },
    ]);
    expect(complaints).toEqual([]);
    await page.close();
  });

  test('in the dark, with a name that is long and hostile, a page stays readable and runs nothing', async () => {
    const name = `<script>document.title='owned'</script>${'Wideword'.repeat(20)}`;
    await on.call('PATCH', '/email-marketing/settings', { brand_name: name, brand_logo_url: null });
    const contact = await on.contact(await on.list(), `${'long'.repeat(12)}@example.com`);
    const { subscriptions, projects, database } = on.app.services;
    const url = await database.write((tx) =>
      subscriptions.unsubscribeLinks(tx, projects.require('shop'))({ public_id: String(contact.id) }),
    );
    const { page, complaints } = await openPage('dark');
    await page.goto(on.app.url + new URL(url).pathname);
    expect(await page.title()).toBe('Unsubscribe');
    expect(await page.textContent('.brand')).toBe(name);
    await expectAccessible(page);
    await page.goto(`${on.app.url}/confirm/none`);
    expect(await page.textContent('h1')).toBe('This link no longer works');
    await expectAccessible(page);
    // The browser says of the 404 what it says of any.
    expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
    await page.close();
  });
});

test('the guide has one form, with the places that are to be filled in', () => {
  expect(blocksOf(guide('marketing'), 'html')).toHaveLength(1);
  for (const place of ['http://localhost:8420', 'LIST_ID', 'FORM_KEY']) expect(FORM).toContain(place);
});
