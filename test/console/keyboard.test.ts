/** The console by the keyboard alone: through navigation, search, lists, forms, dialogs and the drawer of a narrow screen. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { actor, addCapturingMailbox, makeProject } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  NARROW,
  openPage,
  openSignedIn,
  settle,
  signIn,
  waitForTitle,
} from './browser.ts';
import { readStop, tabTo } from './stops.ts';

let on: ConsoleTest;
beforeAllInConsole(async (started) => {
  on = started;
  for (const slug of ['bakery', 'shop']) await makeProject(on.app, slug);
  await addCapturingMailbox(on.app);
  const { projects, lists, sequences, database } = on.app.services;
  const { id } = projects.require('shop');
  const list = (await lists.create(id, { name: 'News' }, noNote)).id;
  await sequences.create(id, { name: 'Welcome', list, max_recipients: 100 }, noNote);
  await database.write((tx) => void tx.run(sql`UPDATE sequences SET status = 'active'`));
});

const expectHeading = async (page: Page, name: string): Promise<void> => {
  await page.getByRole('heading', { name, level: 1 }).waitFor();
  await settle(page);
  // The file of the page may come after its title.
  await until(async () => (await page.evaluate('document.activeElement.tagName')) === 'H1');
  expect((await readStop(page)).name).toBe(name);
  await waitForTitle(page, name);
};

describe.skipIf(executable === null)('by the keyboard alone', () => {
  test('one skips to the page, goes by navigation and table to a project, fills in a form and comes back to what is wrong', async () => {
    const { page, complaints } = await openSignedIn(on, '/');
    expect(await tabTo(page, 'Skip to the page')).toEqual(['Skip to the page']);
    await page.keyboard.press('Enter');
    await until(async () => (await page.evaluate('document.activeElement.id')) === 'main');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(`document.activeElement.closest('main') !== null`)).toBe(true);

    await page.goto(`${on.app.url}/console`);
    await settle(page);
    await tabTo(page, 'Projects');
    await page.keyboard.press('Enter');
    await expectHeading(page, 'Projects');
    await tabTo(page, 'shop');
    await page.keyboard.press('ArrowDown');
    expect(await readStop(page)).toMatchObject({ name: 'bakery', is_seen: true });
    await page.keyboard.press('Enter');
    await expectHeading(page, 'bakery');
    await page.goBack();
    await expectHeading(page, 'Projects');

    await tabTo(page, 'New project');
    await page.keyboard.press('Enter');
    // It begins with a field to fill.
    await until(async () => (await readStop(page)).name === 'Name');
    await waitForTitle(page, 'New project');
    await page.keyboard.type('Second shop');
    await tabTo(page, 'Slug');
    await page.keyboard.type('shop');
    await page.keyboard.press('Enter');
    await page.locator('[name=slug][aria-invalid=true]').waitFor();
    await until(async () => (await readStop(page)).name === 'Slug');
    expect(await readStop(page)).toMatchObject({ name: 'Slug', is_seen: true });
    await page.keyboard.press('Control+A');
    await page.keyboard.type('second');
    await tabTo(page, 'Create the project');
    await page.keyboard.press('Space');
    await expectHeading(page, 'Second shop');
    expect(on.app.services.projects.find('second')?.name).toBe('Second shop');
    expect(complaints.filter((told) => !told.includes('409'))).toEqual([]);
  });

  test('a dialog keeps the focus until Escape gives it back to the button that opened it', async () => {
    const { page } = await openSignedIn(on, '/projects/shop/settings');
    await tabTo(page, 'Delete the project');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    expect(await readStop(page)).toMatchObject({ name: 'Type shop to go on', place: 'dialog' });
    for (let turn = 0; turn < 8; turn += 1) {
      await page.keyboard.press('Tab');
      // Between its last stop and its first the browser itself has its turn.
      expect(['dialog', 'BODY']).toContain((await readStop(page)).place);
    }
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await until(async () => (await readStop(page)).place === 'BUTTON');
    expect(await readStop(page)).toMatchObject({ name: 'Delete the project', is_seen: true });
    expect(on.app.services.projects.find('shop')).not.toBeNull();
  });

  test('search is left as it was entered, and the menu of the account gives the focus back', async () => {
    const { page } = await openSignedIn(on, '/projects');
    await page.keyboard.press('/');
    await page.keyboard.type('bak');
    await page
      .locator('.search-panel')
      .getByRole('link', { name: /bakery/ })
      .waitFor();
    await page.keyboard.press('ArrowDown');
    expect((await readStop(page)).name).toContain('bakery');
    await page.keyboard.press('Escape');
    expect((await readStop(page)).name).toContain('Search everything');
    await tabTo(page, 'Account of Ann Example');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Account and security');
    await page.keyboard.press('Escape');
    expect((await readStop(page)).name).toBe('Account of Ann Example');
  });

  test('Ctrl+K does and goes by the first letters of words, from anywhere, and ? shows the keys', async () => {
    const { page, complaints } = await openSignedIn(on, '/projects/shop/files');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('nk');
    const found = page.locator('.search-panel');
    await found.getByRole('link', { name: /^New key/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'New key', level: 1 }).waitFor();
    await until(async () => (await readStop(page)).name === 'Name');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('send te');
    await found.getByRole('link', { name: /^Send a test from shop@/ }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.keyboard.type('pa wel');
    await found.getByRole('link', { name: /^Pause Welcome/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await expectHeading(page, 'Welcome');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).getByText('is New key').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goto(`${on.app.url}/console/projects`);
    await settle(page);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('au');
    await page.keyboard.press('Enter');
    await expectHeading(page, 'Audit');
    expect(complaints).toEqual([]);
  });

  test('Ctrl+K finds by any part of a name from everywhere, knows other words, and offers where one was', async () => {
    const { projects, lists, segments, people } = on.app.services;
    const { id } = projects.require('bakery');
    const list = await lists.create(id, { name: 'Bread readers' }, noNote);
    await segments.create(id, { name: 'Rye lovers', list: list.id, filter: { tag: 'rye' } }, noNote);
    await people.add(actor, null, { email: 'zoe@example.org', name: 'Zoë Baker', all_projects: true });
    const { page, complaints } = await openSignedIn(on, '/jobs');
    const found = page.locator('.search-panel');
    const look = async (typed: string, ...names: RegExp[]): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(typed);
      for (const name of names) await found.getByRole('link', { name }).first().waitFor();
      await page.keyboard.press('Escape');
    };
    await look('eaders', /^Bread readers/, /^Rye lovers of Bread readers · bakery/);
    await look('lcome', /^Welcome active · shop/);
    await look('zoë', /^Zoë Baker zoe@example.org/);
    await look('mail.exam', /^mail.example.com/, /^shop@mail.example.com/);
    await look('invite', /^Add a person/, /^People/);
    await look('smtp', /^Mailboxes/, /^Set up sending/);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('rye');
    await found.getByRole('link', { name: /^Rye lovers/ }).waitFor();
    await page.keyboard.press('Enter');
    await expectHeading(page, 'Rye lovers');
    await look('unsubscribe', /^Suppressions/);
    await page.goto(`${on.app.url}/console/audit`);
    await settle(page);
    expect(await found.count()).toBe(0);
    await page.keyboard.press('Control+k');
    await found.getByText('Where you were').waitFor();
    const names = await found.getByRole('link').allTextContents();
    expect(names.slice(0, 2)).toEqual(['Rye loversSegment · bakery', 'Jobs']);
    await page.keyboard.press('Escape');
    await found.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await page.keyboard.press('Enter');
    await expectHeading(page, 'Rye lovers');
    expect(complaints).toEqual([]);
    await page.keyboard.press('Control+k');
    await page.keyboard.type('sign ou');
    await found.getByRole('button', { name: /^Sign out/ }).waitFor();
    await page.keyboard.press('ArrowDown');
    expect((await readStop(page)).name).toContain('Sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor();
    expect(
      await page.evaluate(`Object.keys(localStorage).filter((name) => name.includes('places'))`),
    ).toEqual([]);
  });

  test('the drawer of a narrow screen takes the focus, keeps it, and gives it back or to the page that was chosen', async () => {
    const { page } = await openPage(on, await signIn(on, { viewport: NARROW }), '/');
    expect(await tabTo(page, 'Navigation')).toEqual(['Skip to the page', 'Navigation']);
    await page.keyboard.press('Enter');
    await page.locator('.drawer-open').waitFor();
    await until(async () => (await readStop(page)).place === 'navigation');
    for (let turn = 0; turn < 12; turn += 1) {
      await page.keyboard.press('Tab');
      const { name, place } = await readStop(page);
      expect([place, name]).not.toEqual(['BUTTON', 'Navigation']);
      expect(await page.evaluate(`document.activeElement.closest('.body') === null`)).toBe(true);
    }
    await page.keyboard.press('Escape');
    await page.locator('.drawer-open').waitFor({ state: 'detached' });
    await until(async () => (await readStop(page)).name === 'Navigation');
    await page.keyboard.press('Enter');
    await until(async () => (await readStop(page)).place === 'navigation');
    await tabTo(page, 'Projects');
    await page.keyboard.press('Enter');
    await page.locator('.drawer-open').waitFor({ state: 'detached' });
    await expectHeading(page, 'Projects');
  });
});
