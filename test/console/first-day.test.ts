/** A project from its first step to its first week: what its home says is to be done, and what has happened since. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { addCapturingMailbox, makeProject } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  goTo,
  type OpenPage,
  openPage,
  settle,
  signIn,
} from './browser.ts';

let on: ConsoleTest;
let opened: OpenPage;
let page: Page;

beforeAllInConsole(async (started) => {
  on = started;
  await makeProject(on.app, 'shop');
  await addCapturingMailbox(on.app);
  opened = await openPage(on, await signIn(on), '/projects/shop');
  page = opened.page;
});

const commandOf = async (step: string): Promise<string> =>
  (await page.getByRole('listitem').filter({ hasText: step }).locator('.command code').textContent()) ?? '';

/** As somebody pastes it. */
async function paste(line: string): Promise<string> {
  const shell = Bun.spawn(['sh', '-c', line], { stdout: 'pipe', stderr: 'ignore' });
  return new Response(shell.stdout).text();
}

describe.skipIf(executable === null)('the home of a project', () => {
  test('leads from a key to a file and a mail by lines that do what they say, and then is rid of them', async () => {
    await page.getByRole('link', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('web');
    await page.getByRole('button', { name: 'Create the key' }).click();
    await page.getByText('Try it in a shell').waitFor();
    const key = (await page.locator('.secret code').textContent()) ?? '';
    const line = (await page.locator('.command code').textContent()) ?? '';
    expect(JSON.parse(await paste(line))).toMatchObject({ mime_type: 'text/plain', size_bytes: 6 });

    await goTo(opened, '/projects/shop');
    await page.getByText('done: Store a file').waitFor();
    await page.getByRole('table', { name: 'Keys' }).getByText('just now').waitFor();
    const answer = await paste((await commandOf('Send a mail')).replace('YOUR_KEY', key));
    expect(JSON.parse(answer)).toMatchObject({ status: 'queued' });
    await on.app.app.engine.whenIdle();
    await page.reload();
    await settle(page);
    expect(await page.getByText('First steps').count()).toBe(0);
  });

  test('is one of several: the switcher leads to the same part of another, by name and by arrow', async () => {
    await makeProject(on.app, 'bakery');
    await goTo(opened, '/projects/shop/keys');
    const switcher = page.getByLabel('Project shop: choose another');
    await switcher.press('Enter');
    const field = page.getByRole('searchbox', { name: 'Find a project' });
    await field.and(page.locator(':focus')).waitFor();
    await settle(page);
    await expectSound(opened);
    await page.keyboard.press('Escape');
    expect(await field.isVisible()).toBe(false);
    await switcher.and(page.locator(':focus')).press('Enter');
    await field.fill('bak');
    await page.getByText('1 found').waitFor({ state: 'attached' });
    await page.keyboard.press('ArrowDown');
    await page.getByRole('link', { name: 'bakery', exact: true }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await page.getByLabel('Project bakery: choose another').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/projects/bakery/keys');
  });

  test('draws mails by day, of a week or of a month, and names what failed last', async () => {
    const failing = { to: 'bounce@simulator.satchel.test', subject: 'Hello', body_text: 'It works.' };
    const key = await (await makeProject(on.app, 'atelier')).key({ can_send_emails: true });
    await on.app.call('POST', '/api/v1/emails/send', { key, body: failing });
    await on.app.app.engine.whenIdle();
    await goTo(opened, '/projects/atelier');
    // One spike is no line.
    await page.getByText(/ \d+ \w+: 0 sent, 1 failed or came back$/).waitFor();
    expect(await page.getByRole('table', { name: 'Mails by day' }).count()).toBe(0);
    const { id } = on.app.services.projects.require('atelier');
    const hour = Math.floor(on.app.clock.now() / 3_600_000);
    await on.app.services.database.write((tx) => {
      for (const ago of [1, 2, 24, 48])
        tx.run(sql`INSERT INTO email_hours VALUES (${id}, ${hour - ago}, 'sent', 2)`);
    });
    await page.reload();
    await page.getByRole('table', { name: 'Mails by day' }).waitFor({ state: 'attached' });
    const days = page.getByRole('table', { name: 'Mails by day' }).getByRole('row');
    expect(await days.count()).toBe(8);
    await page.getByRole('button', { name: '30 days' }).click();
    await until(async () => (await days.count()) === 31);
    expect(new URL(page.url()).search).toBe('?days=30');
    const failed = page.getByRole('table', { name: 'What failed last' });
    await failed.getByRole('link', { name: failing.to }).click();
    await page.getByRole('heading', { name: 'Hello', level: 1 }).waitFor();

    await goTo(opened, '/?days=7');
    expect(await days.count()).toBe(8);
    await page.getByRole('button', { name: '24 hours' }).click();
    await page.getByRole('table', { name: 'Mails by hour' }).waitFor({ state: 'attached' });
    await settle(page);
    await expectSound(opened);
  });
});
