/** Where the console asks before it does what was said: with the number, and nothing done until somebody agrees. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { until } from '../support/until.ts';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  goTo,
  openSignedIn,
  settle,
} from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Sample;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

const open = async (path: string) => openSignedIn(on, path);
const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');

describe.skipIf(executable === null)('the console asks', () => {
  test('before an origin of a live key goes: by the keyboard, from Cancel on, and the focus comes back', async () => {
    const { origins, keys } = on.app.services;
    const key = keys.require(sample.key);
    const valuesLeft = () => origins.list(key).map(({ value }) => value);
    const before = valuesLeft();
    const opened = await open(`/projects/${sample.project}/keys/${sample.key}`);
    const { page, complaints } = opened;
    const remove = page.getByRole('button', { name: 'Remove https://shop.example.com' });
    await remove.focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Remove https://shop.example.com?' });
    await dialog.getByText('It keeps the other origin.').waitFor();
    await expectSound(opened);
    expect(await focused(page)).toBe('Cancel');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await until(async () => (await focused(page)) === 'Remove');
    expect(valuesLeft()).toEqual(before);
    expect(await page.locator('.toast').count()).toBe(0);

    await page.keyboard.press('Enter');
    await dialog.waitFor();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Enter');
    await remove.waitFor({ state: 'detached' });
    expect(valuesLeft()).toEqual(before.filter((value) => value !== 'https://shop.example.com'));
    expect(complaints).toEqual([]);
  });

  test('before many are enrolled, and whoever declines, or leaves, has enrolled nobody', async () => {
    const opened = await open(`/projects/${sample.magazine}/sequences`);
    const { page } = opened;
    await goTo(opened, `/projects/${sample.magazine}/sequences/${sample.running}?tab=enrollments`);
    const rows = () => on.app.services.database.read.$client.query('SELECT id FROM enrollments').all().length;
    const before = rows();
    await page.getByLabel('Whom').selectOption('all');
    const enroll = page.getByRole('button', { name: 'Enroll every active contact' });
    await enroll.click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: /^Enroll [1-9]\d* people$/ }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await enroll.click();
    await dialog.waitFor();
    await page.goBack();
    await dialog.waitFor({ state: 'detached' });
    expect(rows()).toBe(before);
  });

  test('before what was typed is left behind: by a link, back, Cancel, a reload; and not once it is saved', async () => {
    const opened = await open(`/projects/${sample.project}`);
    const { page } = opened;
    await page.getByRole('link', { name: 'Settings', exact: true }).first().click();
    await settle(page);
    const settings = page.url();
    const name = page.getByLabel('Name');
    await name.fill('Corner shop, renamed');
    const dialog = page.getByRole('dialog', { name: 'Leave without saving?' });
    const stay = async () => {
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await dialog.waitFor({ state: 'detached' });
      expect([page.url(), await name.inputValue()]).toEqual([settings, 'Corner shop, renamed']);
    };
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await stay();
    await page.evaluate('history.back()');
    await stay();
    const asked = page.waitForEvent('dialog');
    await Promise.all([asked.then((told) => told.dismiss()), page.evaluate('location.reload()')]);
    expect((await asked).type()).toBe('beforeunload');

    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('The changes are saved').waitFor();
    await settle(page);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();

    await page.getByRole('link', { name: 'New key' }).first().click();
    await page.getByLabel('Name').fill('never made');
    await page.evaluate('history.back()');
    await dialog.getByRole('button', { name: 'Leave without saving' }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await goTo(opened, `/projects/${sample.project}/keys/new`);
    await page.getByLabel('Name').fill('never made');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await dialog.getByRole('button', { name: 'Leave without saving' }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
  });
});
