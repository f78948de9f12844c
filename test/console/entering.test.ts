/** What people enter in the console without knowing how the API writes it: choices instead of typing, and all or nothing. */
import { describe, expect, test } from 'bun:test';
import { expressionOf, readCadence, tellCadence } from '../../src/console/page/pages/schedules/cadence.ts';
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

const open = async (path: string) => openSignedIn(on, `/projects/${sample.project}${path}`);
const shop = () => on.app.services.projects.require(sample.project);

test('a cron expression is told as people say it, and stays what it was where nobody would say it so', () => {
  const told = {
    '0 9 * * 1': 'Every Monday at 9:00',
    '30 7 * * 1-5': 'Every weekday at 7:30',
    '0 0 * * 0,3': 'Every Wednesday and Sunday at 0:00',
    '@daily': 'Every day at 0:00',
    '5 * * * *': 'Every hour at :05',
    '15 10 31 * *': 'On day 31 of every month at 10:15',
  };
  for (const [expression, sentence] of Object.entries(told)) {
    expect(tellCadence(expression)).toBe(sentence);
    const again = expressionOf(readCadence(expression));
    expect(tellCadence(again)).toBe(sentence);
  }
  for (const other of [
    '*/5 * * * *',
    '0 9 1 * 1',
    '0 9 * 2 *',
    '0 9 * * MON',
    '0 * 1 * *',
    'nonsense',
    '99 9 * * 1',
  ]) {
    expect(tellCadence(other)).toBeNull();
    expect(expressionOf(readCadence(other))).toBe(other);
  }
});

describe.skipIf(executable === null)('a key', () => {
  const named = (name: string) =>
    on.app.services.keys.list(shop(), {}).data.filter((key) => key.name === name);

  test('is made for what it is for, not before every origin is one, and a second of its name not unasked', async () => {
    const opened = await open('/keys/new');
    const { page } = opened;
    const make = page.getByRole('button', { name: 'Create the key' });
    await page.getByLabel('Name').fill('landing page');
    expect(await page.getByLabel('Origins', { exact: true }).count()).toBe(0);
    await page.getByLabel('A web page or an app').check();
    await expectSound(opened);
    expect(await page.getByLabel('From certain origins only').isChecked()).toBe(true);
    // A key that visitors can read is made without an origin by a second press alone, which says what it means.
    await make.click();
    const without = page.getByRole('dialog', { name: 'Without an origin?' });
    await without.getByText('refused to every page and app').waitFor();
    await without.getByRole('button', { name: 'Name one first' }).click();
    await page.getByText('Advanced').click();
    await page.getByLabel('From certain origins only').uncheck();
    await make.click();
    const anywhere = page.getByRole('dialog', { name: 'From anywhere?' });
    await anywhere.getByRole('button', { name: 'Restrict it' }).click();
    expect(named('landing page')).toEqual([]);
    await page.getByLabel('From certain origins only').check();
    await page.getByLabel('Origins', { exact: true }).fill('https://landing.example.com\nnot an origin');
    await make.click();
    const wrong = page.locator('.wrong', { hasText: 'No. 2' });
    await wrong.waitFor();
    expect(named('landing page')).toEqual([]);
    await page
      .getByLabel('Origins', { exact: true })
      .fill('https://landing.example.com\nHTTPS://landing.example.com');
    await make.click();
    await page.getByRole('heading', { name: 'Key landing page' }).waitFor();
    const [made] = named('landing page');
    expect(made).toMatchObject({
      restricted: true,
      can_read: false,
      permissions: { upload: true, captcha: true },
    });
    expect(made).toMatchObject({ origins_count: 1 });
    await page.getByRole('link', { name: 'To the key' }).click();
    await page
      .getByText('Public: uploads files and checks captchas from landing.example.com. Never used.')
      .waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).first().click();
    const row = page.getByRole('row', { name: /landing page/ });
    await row.getByText('never used').waitFor();

    await open('/keys/new').then(async ({ page: bare }) => {
      await bare.getByLabel('Name').fill('not yet placed');
      await bare.getByLabel('A sign-up form').check();
      await bare.getByRole('button', { name: 'Create the key' }).click();
      await bare.getByRole('button', { name: 'Create it without an origin' }).click();
      await bare.getByRole('heading', { name: 'Key not yet placed' }).waitFor();
    });
    expect(named('not yet placed')).toMatchObject([
      { purpose: 'Public: sign-ups only from the global origins only', origins_count: 0 },
    ]);

    const second = await open('/keys/new');
    await second.page.getByLabel('Name').fill('landing page');
    await second.page.getByRole('button', { name: 'Create the key' }).click();
    const dialog = second.page.getByRole('dialog', { name: 'A second key named landing page?' });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(named('landing page')).toHaveLength(1);
    await second.page.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByRole('button', { name: 'Make a second key' }).click();
    await second.page.getByRole('heading', { name: 'Key landing page' }).waitFor();
    expect(named('landing page')).toHaveLength(2);
  });
});

describe.skipIf(executable === null)('a .env file that is pasted', () => {
  test('is refused by its line with nothing stored, then tells its names and what they replace, and is stored as a whole', async () => {
    const values = () => on.app.services.vault.readSecretFor(shop(), 'env').values;
    const before = values();
    const { page, complaints } = await open('/vault/env');
    await page.getByRole('button', { name: 'Paste a .env file' }).click();
    const file = page.getByLabel('The file');
    const look = page.getByRole('button', { name: 'Look at its names' });
    await file.fill('SESSION_KEY=another\nno line of it\nNEW_NAME="two words"');
    await look.click();
    await page.locator('.wrong', { hasText: /line 2/i }).waitFor();
    await file.fill('SESSION_KEY=another\nNEW_NAME=two#words');
    await look.click();
    await page.locator('.wrong', { hasText: /line 2 has a #/i }).waitFor();
    await file.fill('SESSION_KEY=another\nNEW_NAME="two words"\nVITE_NEW=dark');
    await look.click();
    const dialog = page.getByRole('dialog', { name: 'Store 3 variables?' });
    await dialog.waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
      'SESSION_KEYreplaces',
      'NEW_NAMEnew',
      'VITE_NEWnewno secret',
    ]);
    await expectSound({ page, complaints: complaints.filter((told) => !told.includes('422')) });
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(values()).toEqual(before);

    // What was pasted is not lost by a slip, either.
    await page.keyboard.press('Escape');
    await page
      .getByRole('dialog', { name: 'Leave without saving?' })
      .getByRole('button', { name: 'Cancel' })
      .click();
    await look.click();
    await dialog.getByRole('button', { name: 'Store 3 variables' }).click();
    await page.getByText('3 variables are stored').waitFor();
    expect(values()).toEqual({
      ...before,
      SESSION_KEY: 'another',
      NEW_NAME: 'two words',
      VITE_NEW: 'dark',
    });
    expect(await page.getByRole('dialog').count()).toBe(0);
  });
});

describe.skipIf(executable === null)('what the API writes for machines', () => {
  test('is told as people say it: things by name with the way there, moments by the clock, delays by what they count from', async () => {
    const opened = await openSignedIn(on, '/audit');
    const { page } = opened;
    const shown = async () => (await page.locator('main').textContent()) ?? '';
    for (const event of ['token.created', 'api_key.created', 'person.created']) {
      await goTo(opened, `/audit?event=${event}`);
      await page.getByRole('cell').first().waitFor();
      expect(await shown()).not.toMatch(/\b[a-z_]+:\d|\d{4}-\d\d-\d\dT/);
    }
    const person = page.getByRole('link', { name: / added / }).first();
    expect(await person.getAttribute('href')).toMatch(/^\/console\/people\/\d+$/);
    await goTo(opened, `/projects/${sample.magazine}/sequences/${sample.running}`);
    for (const told of [
      'At once after being enrolled',
      '2 days after the mail before was sent',
      '1 day after coming to this track',
    ])
      await page.getByText(told, { exact: true }).first().waitFor();
  });
});

describe.skipIf(executable === null)('a list that asks whoever signs up', () => {
  test('gets the mail that asks from one click, chosen and ready', async () => {
    const { page, complaints } = await open('/lists/new');
    await page.getByLabel('Name').fill('With confirmation');
    await page.getByText('Consent, language and where people go').click();
    await page.getByLabel('After confirming, people go to').fill('https://shop.example.com/welcome');
    await page.getByRole('button', { name: 'Make one for me' }).click();
    await page.getByText('is made and chosen').waitFor();
    await settle(page);
    expect(await page.getByLabel('Confirmation mail').inputValue()).toBe('confirm-the-sign-up');
    await expectSound({ page, complaints });
    await page.getByRole('button', { name: 'Create the list' }).click();
    await page.getByRole('heading', { name: 'With confirmation', level: 1 }).waitFor();
    const { data } = on.app.services.lists.list(shop().id, {});
    expect(data.find(({ name }) => name === 'With confirmation')).toMatchObject({
      confirmation_template: 'confirm-the-sign-up',
      confirmed_url: 'https://shop.example.com/welcome',
      signed_up_url: null,
    });
  });
});
