/** Files in the console, in a real browser: uploaded, linked, changed and deleted, and what is stored after it. */
import { describe, expect, test } from 'bun:test';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { makeProject } from '../support/helpers.ts';
import { png, quarters } from '../support/images.ts';
import { until } from '../support/until.ts';
import { beforeAllInConsole, type ConsoleTest, executable, openSignedIn } from './browser.ts';

let on: ConsoleTest;
beforeAllInConsole(async (started) => {
  on = started;
  await makeProject(on.app, 'shop');
});

const open = async (path: string) => openSignedIn(on, path);
const stored = async () => {
  const { objects, projects } = on.app.services;
  return (await objects.list(projects.require('shop').id, { page: 1, per_page: 50 })).data;
};

describe.skipIf(executable === null)('files in a browser', () => {
  test('are uploaded with their visibility, found by name, opened by a link without a key until links are revoked, renamed and deleted', async () => {
    const { page, complaints } = await open('/projects/shop/files');
    await page.getByRole('button', { name: 'Upload files' }).first().click();
    await page.getByLabel('Choose files').setInputFiles([
      { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('one') },
      { name: 'other.txt', mimeType: 'text/plain', buffer: Buffer.from('two') },
    ]);
    await page.getByRole('button', { name: 'Leave out other.txt' }).click();
    await page.getByLabel('Days to keep').fill('0');
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.locator('[name=expires_in_days][aria-invalid=true]').waitFor();
    expect(await stored()).toEqual([]);
    await page.getByLabel('Days to keep').fill('5');
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('link', { name: 'note.txt' }).waitFor();
    expect(await stored()).toMatchObject([
      { original_filename: 'note.txt', visibility: 'private', size_bytes: 3 },
    ]);

    await page.getByLabel('File name').fill('nothing like it');
    await page.getByText('Nothing matches').waitFor();
    await page.getByLabel('File name').fill('NOTE');
    await page.getByRole('link', { name: 'note.txt' }).click();
    await page.getByRole('button', { name: 'Make a link' }).click();
    const { pathname } = new URL((await page.locator('.secret code').textContent()) ?? '');
    const follow = async () => (await fetch(`${on.app.url}${pathname}`)).status;
    expect(await follow()).toBe(200);

    await page.getByLabel('Name').fill('renamed.txt');
    await page.getByLabel('Visibility').selectOption('public');
    await page.getByLabel('Expiry').selectOption('never');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('heading', { name: 'renamed.txt', level: 1 }).waitFor();
    const [file] = await stored();
    expect(file).toMatchObject({ original_filename: 'renamed.txt', visibility: 'public' });
    const row = on.app.services.objects.requireAny(file?.public_id ?? '');
    expect(row.expires_at).toBeNull();

    await page.getByRole('link', { name: 'Files' }).first().click();
    await page.getByRole('button', { name: 'Revoke all links' }).click();
    await page.getByLabel('Type shop to go on').fill('shop');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke all links' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await follow()).toBe(404);

    await page.getByRole('link', { name: 'renamed.txt' }).click();
    await page.getByRole('button', { name: 'Delete the file' }).click();
    await page.getByLabel('Type renamed.txt to go on').fill('renamed.txt');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the file' }).click();
    await page.getByText('No file yet').waitFor();
    expect(await stored()).toEqual([]);
    // The one refusal is told by the browser, too.
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('that are dropped on the page are offered for upload, and what is refused stays with what the API said of it', async () => {
    const { page } = await open('/projects/shop/files');
    await page.evaluate(`{
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(['three'], 'dropped.txt', { type: 'text/plain' }));
        document.dispatchEvent(new DragEvent('drop', { dataTransfer, cancelable: true }));
      }`);
    await page.getByRole('dialog').getByText('dropped.txt').waitFor();
    await page.route('**/objects', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({
            status: 503,
            json: { error: { code: 'UNAVAILABLE', message: 'The disk is full.' } },
          })
        : route.continue(),
    );
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('dialog').getByText('The disk is full.').waitFor();
    expect(await stored()).toEqual([]);
    await page.unroute('**/objects');
    await page.getByRole('button', { name: 'Upload', exact: true }).click();
    await page.getByRole('link', { name: 'dropped.txt' }).waitFor();
    expect(await stored()).toMatchObject([{ original_filename: 'dropped.txt', size_bytes: 5 }]);
  });

  test('are picked and acted on together, four at a time; what fails stays picked, with its reason', async () => {
    const project = await makeProject(on.app, 'many');
    const key = await project.key();
    for (const number of [1, 2, 3, 4, 5, 6]) {
      const body = new FormData();
      body.set('file', new File([`file ${number}`], `${number}.txt`, { type: 'text/plain' }));
      expect((await on.app.call('POST', '/api/v1/objects', { key, body })).status).toBe(201);
    }
    const { objects, projects } = on.app.services;
    const files = async () =>
      (await objects.list(projects.require('many').id, { page: 1, per_page: 50 })).data;
    const { page } = await open('/projects/many/files');
    await page.getByLabel('Pick 1.txt').check();
    await page.getByText('1 file picked').waitFor();
    await page.getByRole('button', { name: 'Pick all shown' }).click();
    await page.getByText('6 files picked').waitFor();
    const gone = (await files()).find(({ original_filename }) => original_filename === '4.txt');
    await objects.remove(projects.require('many').id, gone?.public_id ?? '', noNote);

    let [under_way, most] = [0, 0];
    const filled = Promise.withResolvers<void>();
    await page.route('**/objects/*', async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue();
      under_way += 1;
      most = Math.max(most, under_way);
      if (under_way === 4) filled.resolve();
      await filled.promise;
      const answer = await route.fetch();
      under_way -= 1;
      await route.fulfill({ response: answer });
    });
    await page.getByRole('button', { name: 'Make public' }).click();
    await page.getByRole('dialog').getByText('Make 6 files public?').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Make public' }).click();
    await page.getByText('5 files public now').waitFor();
    expect(most).toBe(4);
    await page.getByText('1 file picked').waitFor();
    expect(await page.getByLabel('What is picked').getByRole('listitem').allTextContents()).toEqual([
      '4.txt: Object not found.',
    ]);
    expect((await files()).map(({ visibility }) => visibility)).toEqual(Array(5).fill('public'));
    expect(await page.getByRole('row', { name: '4.txt' }).count()).toBe(0);

    await page.getByRole('button', { name: 'Pick none' }).click();
    await page.getByLabel('Pick 2.txt').check();
    await page.getByLabel('Pick 3.txt').check();
    await page.getByRole('button', { name: 'Delete those picked' }).click();
    await page.getByLabel('Type 2 files to go on').fill('2 files');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete those picked' }).click();
    await page.getByText('2 files deleted').waitFor();
    expect((await files()).map(({ original_filename }) => original_filename).toSorted()).toEqual([
      ...['1.txt', '5.txt', '6.txt'],
    ]);
    await page.getByText(/picked/).waitFor({ state: 'detached' });
  });

  test('that are images are shown small in the list and on their page, made for it; what is no image after all has the icon', async () => {
    const key = await (await makeProject(on.app, 'album')).key();
    const store = async (name: string, bytes: string | Uint8Array): Promise<void> => {
      const body = new FormData();
      body.set('file', new File([Buffer.from(bytes)], name, { type: 'image/png' }));
      expect((await on.app.call('POST', '/api/v1/objects', { key, body })).status).toBe(201);
    };
    await store('photo.png', png(640, 480, quarters));
    await store('broken.png', 'no image');
    const { page, complaints } = await open('/projects/album/files');
    const row = (name: string) => page.getByRole('row', { name });
    await row('photo.png').locator('.thumbnail img').waitFor();
    const width = (selector: string) => page.evaluate(`document.querySelector('${selector}')?.naturalWidth`);
    await until(async () => (await width('.thumbnail img')) === 64);
    await row('broken.png').locator('.thumbnail svg').waitFor();
    await page.getByRole('link', { name: 'photo.png', exact: true }).click();
    await until(async () => (await width('img.picture')) === 640);
    expect(await page.getByAltText('photo.png').getAttribute('src')).toContain('/variant?w=');
    // The one refusal is told by the browser, too.
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });
});
