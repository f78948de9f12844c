/** What people enter in the console without knowing how the API writes it: choices instead of typing, and all or nothing. */
import { describe, expect, test } from 'bun:test';
import { expressionOf, readCadence, tellCadence } from '../../src/console/page/pages/schedules/cadence.ts';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  openPage,
  signIn,
} from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Sample;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

const open = async (path: string) => openPage(on, await signIn(on), `/projects/${sample.project}${path}`);
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
    await page.getByLabel('Made for').selectOption('page');
    await expectSound(opened);
    expect(await page.getByLabel('From certain origins only').isChecked()).toBe(true);
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
