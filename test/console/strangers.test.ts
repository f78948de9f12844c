/** What strangers see: shown beside the settings while they are typed, and clicked through by a stranger. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { WORDS } from '../../src/platform/words/words.ts';
import { actor } from '../support/helpers.ts';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  openBrowser,
  openSignedIn,
  TIMEOUT_MS,
} from './browser.ts';
import { addSampleData, HOSTILE } from './sample-data.ts';

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

let on: ConsoleTest;

beforeAllInConsole(async (started) => {
  on = started;
  await addSampleData(on.app);
});

const open = async (path: string) => openSignedIn(on, `/projects/shop${path}`);
const shop = () => on.app.services.projects.require('shop');
const saved = () =>
  on.app.services.database.read.all(sql`SELECT * FROM marketing_settings, contact_lists, contacts`);
const makeList = async (name: string) => on.app.services.lists.create(shop().id, { name }, noNote);
const shows = (page: Page, text: string) =>
  page.frameLocator('.preview-frame').getByText(text).first().waitFor();
const choose = (page: Page, view: string) =>
  page.getByLabel('Page or mail', { exact: true }).selectOption({ label: view });

describe.skipIf(executable === null)('beside the settings', () => {
  test(
    'a newsletter, each page and each language are as typed; what can’t be is said; nothing is saved',
    async () => {
      const before = saved();
      const opened = await open('/marketing');
      const { page, complaints } = opened;
      await shows(page, 'Here stands what you write.');
      await shows(page, '{{ postal_address }}');
      await page.getByLabel('Postal address').fill('Typed Ltd\n1 High Street');
      await shows(page, '1 High Street');
      await page.getByRole('button', { name: 'Text', exact: true }).click();
      await page.locator('.strangers .mail-text', { hasText: '1 High Street' }).waitFor();
      await page.getByLabel('Brand name').fill('Söhne');
      for (const [view, texts] of [
        ['Sign-up page', ['Söhne']],
        ['Unsubscribe and choices', ['Söhne', WORDS.en.choices.pause]],
        ['After unsubscribing', [WORDS.en.unsubscribe.take_back]],
        ['Confirmation page', [WORDS.en.confirm.button]],
      ] as const) {
        await choose(page, view);
        for (const text of texts) await shows(page, text);
      }
      await page.getByLabel('Language of the reader').selectOption({ label: 'Deutsch' });
      await shows(page, WORDS.de.confirm.button);
      await page.getByRole('button', { name: 'Dark', exact: true }).click();
      await page.locator('.preview-frame.dark').waitFor();
      await shows(page, WORDS.de.confirm.button);
      await page.getByLabel('Brand colour').fill('#57');
      await page.getByText(/Not shown as it is typed: brand color must be a colour/).waitFor();
      await shows(page, WORDS.de.confirm.button);
      await page.getByLabel('Brand colour').fill('#ffee00');
      await page.getByText(/Not shown as it is typed/).waitFor({ state: 'detached' });
      expect(saved()).toEqual(before);
      await expectSound({ page, complaints: complaints.filter((told) => !told.includes('422')) });
    },
    TIMEOUT_MS,
  );

  test(
    'a list’s pages and its mail are as typed, in its language, also of what is made by a press',
    async () => {
      const { id } = await makeList('Readers');
      const { page } = await open(`/lists/${id}?tab=settings`);
      await shows(page, WORDS.en.join.title({ list: 'Readers' }));
      await page.getByLabel('Name', { exact: true }).fill('Typed');
      await shows(page, WORDS.en.join.title({ list: 'Typed' }));
      await page.getByText('Consent, language and where people go').click();
      await page.getByLabel('Language', { exact: true }).selectOption({ label: 'Français' });
      await shows(page, WORDS.fr.join.title({ list: 'Typed' }));
      await page.getByText('The list has a language').waitFor();
      await choose(page, 'After signing up');
      await shows(page, WORDS.fr.join.thanks_title);
      await page.getByLabel('After signing up, people go to').fill('https://shop.example.com/inbox');
      await page.getByText('People are led to your own page: https://shop.example.com/inbox').waitFor();
      await choose(page, 'Confirmation mail');
      await page.getByText('No mail asks to confirm yet').waitFor();
      await page.getByRole('button', { name: 'Make one for me' }).click();
      await page.getByText('Please confirm your sign-up to Typed').waitFor();
      await shows(page, 'One click, and you are on the list');
      expect(on.app.services.lists.get(shop().id, id)).toMatchObject({ name: 'Readers', language: null });
    },
    TIMEOUT_MS,
  );

  test(
    'a picture of a server without https is no logo, which its picker says first',
    async () => {
      const { plaintext_key: key } = await on.app.services.keys.create(actor, shop(), {
        ...{ name: 'pictures', can_write: true },
      });
      const body = new FormData();
      body.set('visibility', 'public');
      body.set('file', new File([Uint8Array.fromBase64(PIXEL)], 'logo.png', { type: 'image/png' }));
      expect((await on.app.call('POST', '/api/v1/objects', { key, body })).status).toBe(201);
      const { page } = await open('/marketing');
      await page.getByRole('button', { name: 'Choose from Files' }).click();
      await page.getByRole('dialog').getByText('A logo needs an https address').waitFor();
      expect(await page.getByRole('list', { name: 'Public pictures' }).count()).toBe(0);
      await page.keyboard.press('Escape');
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(executable === null)('a stranger', () => {
  test(
    'unsubscribes by a click, takes it back by another, and nothing is asked of a script',
    async () => {
      const { contacts, lists, subscriptions, database } = on.app.services;
      const { id } = await makeList(HOSTILE);
      const list = lists.require(shop().id, id);
      const evidence = {
        consent_basis: 'consent',
        consent_at: 0,
        consent_ip: null,
        consent_origin: null,
      } as const;
      const named = {
        email: 'stranger@example.org',
        first_name: null,
        last_name: null,
        source: null,
      } as const;
      const rest = { tags: [], custom: {}, reason: null, source_platform: 'api', is_test: false } as const;
      const { contact } = await contacts.add(
        shop(),
        list,
        { ...named, ...evidence, ...rest, tags: [] },
        noNote,
      );
      const url = await database.write((tx) =>
        subscriptions.unsubscribeLinks(tx, shop())({ public_id: contact.id }),
      );
      const context = await openBrowser(on, {});
      const page = await context.newPage();
      await page.goto(on.app.url + new URL(url).pathname);
      const words = WORDS.en.unsubscribe;
      await page.getByRole('button', { name: words.button, exact: true }).click();
      await page.getByRole('heading', { name: words.done_title }).waitFor();
      expect(contacts.get(shop().id, contact.id).status).toBe('unsubscribed');
      await page.getByRole('button', { name: words.take_back }).click();
      await page.getByRole('heading', { name: words.back_title }).waitFor();
      expect(contacts.get(shop().id, contact.id).status).toBe('active');
      await context.close();
    },
    TIMEOUT_MS,
  );
});
