/** A project moves from one Satchel to another by the console alone, by what is clicked and typed. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { upload } from '../support/deployment.ts';
import { makeProject } from '../support/helpers.ts';
import { makeTempDir } from '../support/temp.ts';
import {
  addPerson,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  openPage,
  openSignedIn,
  signIn,
  startConsole,
  TIMEOUT_MS,
} from './browser.ts';

let on: ConsoleTest;
beforeAllInConsole(async (started) => {
  on = started;
  const shop = await makeProject(on.app, 'shop');
  await upload(on.app, await shop.key(), 'bytes of the shop');
});

const passphrase = 'correct horse battery staple';

describe.skipIf(executable === null)('a project that moves', () => {
  test(
    'is exported, downloaded, taken in elsewhere under another slug, and goes on',
    async () => {
      const { page, complaints } = await openSignedIn(on, '/projects/shop/settings');
      await page.getByRole('link', { name: 'Export the project' }).click();
      await page.getByLabel('Passphrase').fill('short');
      await page.getByRole('button', { name: 'Export the project' }).click();
      await page.locator('[name=passphrase][aria-invalid=true]').waitFor();
      expect(on.app.services.projects.require('shop').status).toBe('active');
      await page.getByLabel('Passphrase').fill(passphrase);
      await page.getByRole('button', { name: 'Export the project' }).click();
      await page.getByRole('heading', { name: 'The file is ready' }).waitFor();
      await page.getByRole('heading', { name: 'shop is inactive here' }).waitFor();
      // The refusal was asked for.
      complaints.length = 0;
      await expectSound({ page, complaints });
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download' }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(/^shop-\d{4}-\d\d-\d\d\.satchel$/);
      const file = join(makeTempDir(), download.suggestedFilename());
      await download.saveAs(file);

      const there = await startConsole();
      await makeProject(there.app, 'store');
      const other = await openPage(there, await signIn(there), '/projects');
      const { page: arriving } = other;
      await arriving.getByRole('link', { name: 'Import a project' }).click();
      await arriving.getByLabel('File', { exact: true }).setInputFiles(file);
      await arriving.getByRole('button', { name: 'Send the file' }).click();
      await arriving.getByRole('heading', { name: 'The file of shop' }).waitFor();
      await arriving.getByLabel('Passphrase').fill(`${passphrase}r`);
      await arriving.getByRole('button', { name: 'Look into it' }).click();
      await arriving.getByText('is not the one that the file was exported with').waitFor();
      await arriving.getByLabel('Passphrase').fill(passphrase);
      await arriving.getByRole('button', { name: 'Look into it' }).click();
      await arriving.getByRole('heading', { name: 'What comes' }).waitFor();
      await arriving.getByText('Nothing: all that it uses is here.').waitFor();
      other.complaints.length = 0;
      await expectSound(other);
      await arriving.getByLabel('Slug').fill('store');
      await arriving.getByRole('button', { name: 'Import the project' }).click();
      await arriving.getByRole('heading', { name: 'shop is here' }).waitFor();
      await arriving.getByRole('button', { name: 'Let it go on' }).click();
      await arriving.getByText('It goes on: 0 schedules').waitFor();
      await arriving.getByRole('link', { name: 'Open shop' }).click();
      await arriving.waitForURL(`${there.app.url}/console/projects/store-2`);
      const moved = there.app.services.projects.require('store-2');
      expect([moved.name, moved.status]).toEqual(['shop', 'active']);

      await page.getByRole('button', { name: 'Let it go on here' }).click();
      await page.getByText('shop goes on here').waitFor();
      expect(on.app.services.projects.require('shop').status).toBe('active');
    },
    TIMEOUT_MS,
  );

  test(
    'is not to be seen by who may not administer; a file that is none is told',
    async () => {
      const credentials = await addPerson(on.app, {
        ...{ email: 'eve@example.org', name: 'Eve', all_projects: true, can_administer: false },
      });
      const context = await signIn(on, { credentials });
      const { page } = await openPage(on, context, '/projects/shop/settings');
      await page.getByRole('heading', { name: 'About the project' }).waitFor();
      expect(await page.getByText('Export the project').count()).toBe(0);
      await context.close();

      const { page: mine } = await openSignedIn(on, '/projects/import');
      const none = { name: 'a.satchel', mimeType: 'text/plain', buffer: Buffer.from('no project') };
      await mine.getByLabel('File', { exact: true }).setInputFiles(none);
      await mine.getByRole('button', { name: 'Send the file' }).click();
      await mine.getByText('This is no project file').waitFor();
      expect(on.app.services.transfers.files.under_way).toEqual({ work: null, percent: null });
    },
    TIMEOUT_MS,
  );
});
