/** Webhooks in the console, in a real browser, and what is stored and sent after it. */
import { describe, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { makeProject } from '../support/helpers.ts';
import { startReceiver } from '../webhooks/setup.ts';
import { beforeAllInConsole, type ConsoleTest, executable, openSignedIn } from './browser.ts';

let on: ConsoleTest;
beforeAllInConsole(async (started) => {
  on = started;
  await makeProject(on.app, 'shop');
});
const receiver = startReceiver();

describe.skipIf(executable === null)('a webhook in a browser', () => {
  test('is added, tested, told again, switched, changed, given a new secret and deleted', async () => {
    const opened = await openSignedIn(on, '/projects/shop/webhooks');
    const { page, complaints } = opened;
    await page.getByText('No webhook yet').waitFor();
    await page.getByRole('link', { name: 'Add a webhook' }).first().click();
    await page.getByLabel('URL').fill('http://hooks.example.org/');
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    await page.locator('[name=url][aria-invalid=true]').waitFor();
    await page.getByLabel('URL').fill(`${receiver.url}/console`);
    await page.getByLabel('Description').fill('The shop');
    await page.getByLabel('A mail came back').check();
    await page.getByRole('button', { name: 'Add the webhook' }).click();
    const secret = page.locator('.secret code');
    await secret.waitFor();
    const first = (await secret.textContent()) ?? '';
    expect(first).toStartWith('whsec_');
    const shop = on.app.services.projects.require('shop');
    const listed = () => on.app.services.webhooks.list(shop.id);
    expect(listed()).toMatchObject([{ description: 'The shop', types: ['email.bounced'] }]);

    await page.getByRole('link', { name: 'Go on to test it' }).click();
    await page.getByText('Nothing was told yet').waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('The test was taken: 204').waitFor();
    const [got] = await receiver.await('/console', 1);
    expect(got && new Webhook(first).verify(got.body, got.headers)).toMatchObject({ type: 'webhook.test' });
    await page.getByRole('button', { name: 'again' }).click();
    await page.getByText('It is sent again').waitFor();
    const [, again] = await receiver.await('/console', 2);
    expect(again?.headers['webhook-id']).toBe(got?.headers['webhook-id'] ?? '');

    receiver.respond = () => new Response('No such order', { status: 500 });
    await page.getByRole('link', { name: 'webhook.test' }).click();
    await page.getByRole('heading', { name: 'webhook.test', level: 1 }).waitFor();
    await page.getByText(`${receiver.url}/console`, { exact: true }).waitFor();
    expect(await page.getByText('"type": "webhook.test"').count()).toBe(1);
    await page
      .getByText(got?.headers['webhook-id'] ?? '')
      .first()
      .waitFor();
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('It answered 500.').waitFor();
    await page.getByText('No such order').waitFor();
    receiver.respond = () => new Response(null, { status: 204 });
    await page.getByRole('link', { name: new URL(receiver.url).host }).click();

    await page.getByRole('button', { name: 'Switch off' }).click();
    await page.getByText('It is told nothing more').waitFor();
    expect(listed()).toMatchObject([{ is_active: false }]);
    await page.getByRole('button', { name: 'Switch on' }).click();
    await page.getByText('It is told again').waitFor();

    await page.getByRole('link', { name: 'Settings' }).last().click();
    await page.getByLabel('A mail came back').uncheck();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('The changes are saved').waitFor();
    expect(listed()).toMatchObject([{ types: null, is_active: true }]);
    await page.getByRole('button', { name: 'Make a new secret' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click();
    await secret.waitFor();
    const second = (await secret.textContent()) ?? '';
    expect(second).not.toBe(first);
    // It was shown once.
    await page.reload();
    await page.getByRole('button', { name: 'Delete the webhook' }).waitFor();
    expect(await page.content()).not.toContain(second);

    const host = new URL(receiver.url).host;
    await page.getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByLabel(`Type ${host} to go on`).fill(host);
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByText('No webhook yet').waitFor();
    expect(listed()).toEqual([]);
    expect(complaints.filter((complaint) => !complaint.includes('422'))).toEqual([]);
  });
});
