/** What people do in the console, in a real browser, and what is in the database after it. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { actor } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  NARROW,
  openSignedIn,
  TIMEOUT_MS,
  WIDE,
  waitForTitle,
} from './browser.ts';
import { addProjects, HOSTILE, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Pick<Sample, 'project'>;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addProjects(on.app);
});

const open = async (path: string) => openSignedIn(on, path);
const secretOn = async (page: Page) => (await page.locator('.secret code').textContent()) ?? '';

describe.skipIf(executable === null)('in a browser', () => {
  test(
    'a project is made, changed and deleted by its name, and what the API refuses stands beside its field',
    async () => {
      const { page, complaints } = await open('/projects/new');
      await page.getByLabel('Name').fill('Atelier');
      await page.getByLabel('Slug').fill('shop');
      await page.getByRole('button', { name: 'Create the project' }).click();
      const slug = page.getByLabel('Slug');
      await page.locator('[aria-invalid=true]').waitFor();
      expect(await slug.getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBeNull();
      await slug.fill('atelier');
      await page.getByRole('button', { name: 'Create the project' }).click();
      await page.getByRole('heading', { name: 'Atelier', level: 1 }).waitFor();
      expect(on.app.services.projects.find('atelier')?.name).toBe('Atelier');

      await on.app.services.sending_domains.add(actor, { name: 'atelier.example.com', is_trusted: true });
      await page.getByRole('link', { name: 'Settings', exact: true }).click();
      await page.getByRole('checkbox', { name: 'atelier.example.com' }).check();
      await page.getByLabel('Sends from').selectOption('atelier.example.com');
      await page.getByLabel('Link domain').fill('links.nowhere.test');
      await page.getByLabel('Name').fill(HOSTILE);
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
      expect(on.app.services.projects.find('atelier')).toMatchObject({
        name: HOSTILE,
        sending_domain: 'atelier.example.com',
        sending_domains: ['atelier.example.com'],
        link_domain: 'links.nowhere.test',
        link_domain_status: 'pending',
      });

      await page.getByRole('link', { name: 'Settings', exact: true }).click();
      await page.getByRole('button', { name: 'Delete the project' }).click();
      const confirm = page.getByRole('dialog').getByRole('button', { name: 'Delete the project' });
      await page.getByLabel('Type atelier to go on').fill('ateli');
      expect(await confirm.isDisabled()).toBe(true);
      await page.getByLabel('Type atelier to go on').fill('atelier');
      await confirm.click();
      await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
      expect(on.app.services.projects.find('atelier')).toBeNull();
      // The one refusal is told by the browser, too, and that the project is gone, if it looks once more; nothing else is.
      expect(complaints.filter((told) => !/\b(404|409)\b/.test(told))).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'a key is made with an origin, works with the secret that is shown once, and is rotated',
    async () => {
      const { page, complaints } = await open(`/projects/${sample.project}/keys/new`);
      await page.getByLabel('Name').fill('kiosk');
      await page.getByLabel('Something else').check();
      await page.getByLabel('Read', { exact: true }).check();
      await page.getByLabel('Write', { exact: true }).check();
      await page.getByLabel('No deleting').check();
      await page.getByLabel('From certain origins only').check();
      await page.getByLabel('Origins', { exact: true }).fill('https://kiosk.example.com\nionic://localhost');
      await page.getByRole('button', { name: 'Create the key' }).click();
      await page.getByText('Every app that is made with Ionic may send ionic://localhost').waitFor();
      await page.getByRole('button', { name: 'Close this notice' }).click();
      const secret = await secretOn(page);
      await page.setViewportSize(NARROW);
      await expectSound({ page, complaints });
      await page.setViewportSize(WIDE);
      const list = (key: string) =>
        on.app.call('GET', '/api/v1/objects', { key, headers: { Origin: 'https://kiosk.example.com' } });
      expect((await list(secret)).status).toBe(200);
      const [made] = on.app.services.keys.list(on.app.services.projects.require(sample.project), {}).data;
      expect(made).toMatchObject({ name: 'kiosk', can_write: true, permissions: { delete: false } });

      await page.getByRole('link', { name: 'To the key' }).click();
      await page.getByLabel('Origin of a web page').fill('https://elsewhere.example.com');
      await page.getByRole('button', { name: 'Try it' }).click();
      await page.getByRole('status').getByText('Refused.').waitFor();
      await page.getByLabel('Origin of a web page').fill('https://kiosk.example.com');
      await page.getByRole('button', { name: 'Try it' }).click();
      await page.getByRole('status').getByText('Accepted.').waitFor();
      await page.getByRole('link', { name: 'Secret and deletion' }).click();
      await page.getByRole('button', { name: 'Show, on record: Secret' }).click();
      expect(await secretOn(page)).toBe(secret);
      await page.getByRole('button', { name: 'Hide now: Secret' }).click();
      await page.locator('.secret').waitFor({ state: 'detached' });
      expect(await page.content()).not.toContain(secret);
      await page.getByRole('button', { name: 'Rotate the key' }).click();
      await page.getByLabel('Type kiosk to go on').fill('kiosk');
      await page.getByRole('dialog').getByRole('button', { name: 'Rotate the key' }).click();
      const rotated = await secretOn(page);
      expect([(await list(secret)).status, (await list(rotated)).status]).toEqual([401, 200]);
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'search leads to a key by the keyboard alone, and the heading of what is opened has the focus',
    async () => {
      const { page } = await open('/');
      await page.keyboard.press('/');
      await page.keyboard.type('web sh');
      await page.getByRole('link', { name: /web shop/ }).waitFor();
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: 'web shop', level: 1 }).waitFor();
      await until(async () => (await page.evaluate('document.activeElement.tagName')) === 'H1');
      await waitForTitle(page, 'web shop');
    },
    TIMEOUT_MS,
  );

  test(
    'a filter stands in the address, and going back takes it away',
    async () => {
      const { page } = await open('/projects');
      await page.getByLabel('Status').selectOption('inactive');
      await page.getByRole('link', { name: HOSTILE }).waitFor();
      expect(new URL(page.url()).search).toBe('?status=inactive');
      await page.getByRole('link', { name: 'bakery' }).waitFor({ state: 'detached' });
      await page.goBack();
      await page.getByRole('link', { name: 'bakery' }).waitFor();
    },
    TIMEOUT_MS,
  );

  test(
    'a server that does not answer is a banner over what is shown, which goes once it answers again',
    async () => {
      const { page } = await open('/projects');
      const context = page.context();
      await context.route('**/api/**', (route) => route.abort());
      await page.getByRole('link', { name: 'Corner shop' }).click();
      await page.getByText('Satchel does not answer').waitFor();
      await context.unroute('**/api/**');
      await page.getByText('Satchel does not answer').waitFor({ state: 'detached' });
      await page.getByRole('heading', { name: 'Corner shop', level: 1 }).waitFor();
    },
    TIMEOUT_MS,
  );
});
