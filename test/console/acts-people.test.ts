/** What who may administer does with people and tokens in the console, and what those may do after it. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { parseRelay } from '../../src/mail/mailboxes/relay.ts';
import { actor } from '../support/helpers.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import {
  addPerson,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  goTo,
  openPage,
  openSignedIn,
  settle,
  signIn,
} from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';
import { SAMPLE_PAGES } from './sample-pages.ts';

let on: ConsoleTest;
let sample: Sample;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

const open = async (path: string) => openSignedIn(on, path);
const personOf = (email: string) => {
  const { people } = on.app.services;
  return people.present(people.require(email));
};
const secretOn = async (page: Page) => (await page.locator('.secret code').textContent()) ?? '';
const headers = { 'X-Satchel-Console': '1', 'Content-Type': 'application/json' };
const post = (path: string, body: object) =>
  fetch(`${on.app.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
/** Of buttons: what shows, copies, leafs and asks. */
const HARMLESS =
  /^(Copy|Show|Hide|Try it|Look|Check again|Next page|\d+ days|HTML|Text|Headers|Light|Dark|Desk|Phone|A sample|A contact|Conditions|Add a condition|Add “|Remove: |Add an event|Save as CSV|Save what is held|Download rejected|History of)/;
const password = 'a horse of another colour';

describe.skipIf(executable === null)('of people and tokens', () => {
  test('a person is added with one project, signs in by the link that is shown once, is changed, reset and removed', async () => {
    const { page, complaints } = await open('/people/new');
    await page.getByLabel('Address').fill('cleo@example.org');
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByLabel('Read vaults').check();
    await page.getByRole('button', { name: 'Add the person' }).click();
    await page.locator('.wrong', { hasText: 'name at least one project, or all projects' }).waitFor();
    await page.getByLabel('Corner shop').check();
    await page.getByLabel('Administer').check();
    await page.getByRole('button', { name: 'Add the person' }).click();
    await page.locator('.wrong', { hasText: 'goes with all projects only' }).waitFor();
    expect(await page.getByLabel('Administer').getAttribute('aria-invalid')).toBe('true');
    await page.getByLabel('Administer').uncheck();
    await page.getByRole('button', { name: 'Add the person' }).click();
    const link = await secretOn(page);
    expect(personOf('cleo@example.org')).toMatchObject({
      ...{ all_projects: false, can_read_vault: true, can_reveal_vault: false, can_administer: false },
      projects: [{ slug: 'shop' }],
    });
    expect((await post(new URL(link).pathname, { password })).status).toBe(204);
    const credentials = { email: 'cleo@example.org', password };
    expect((await post('/console/session', credentials)).status).toBe(204);
    await page.getByRole('link', { name: 'To the person' }).click();
    await page.getByLabel('Address').waitFor();
    expect(await page.content()).not.toContain(link);

    await page.getByLabel('Read vaults').uncheck();
    await page.getByLabel('All projects').check();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('hold from their next request').waitFor();
    expect(personOf('cleo@example.org')).toMatchObject({ all_projects: true, can_read_vault: false });

    await page.getByRole('link', { name: 'Signing in' }).click();
    await page.getByRole('button', { name: 'Deactivate' }).click();
    await page.getByRole('button', { name: 'Activate', exact: true }).waitFor();
    expect((await post('/console/session', credentials)).status).toBe(401);
    await page.getByRole('button', { name: 'Activate', exact: true }).click();
    await page.getByRole('button', { name: 'Deactivate' }).waitFor();
    expect((await post('/console/session', credentials)).status).toBe(204);

    const dialog = page.getByRole('dialog');
    await page.getByRole('button', { name: 'Reset the password' }).click();
    await page.getByLabel('Type cleo@example.org to go on').fill('cleo@example.org');
    await dialog.getByRole('button', { name: 'Reset the password' }).click();
    const next = await secretOn(page);
    expect((await post('/console/session', credentials)).status).toBe(401);
    expect((await post(new URL(next).pathname, { password })).status).toBe(204);

    const { people, tokens } = on.app.services;
    const caller = people.callerOf(people.require('cleo@example.org'));
    const input = { name: 'of Cleo', all_projects: false, projects: ['shop'], capabilities: [] };
    const { record } = await tokens.create(actor, input, caller);
    await page.getByRole('button', { name: 'Remove the person' }).click();
    await dialog.getByLabel('End the tokens that they made, too').check();
    await page.getByLabel('Type cleo@example.org to go on').fill('cleo@example.org');
    await dialog.getByRole('button', { name: 'Remove the person' }).click();
    await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
    expect(() => personOf('cleo@example.org')).toThrow();
    expect(tokens.list().find(({ id }) => id === record.id)?.revoked_at).toBeString();
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('the form offers only what whoever fills it in has, and takes nothing from somebody who has more', async () => {
    const credentials = await addPerson(on.app, {
      ...{ email: 'clerk@example.org', all_projects: true, can_administer: true, can_read_vault: true },
    });
    const context = await signIn(on, { credentials });
    const { page } = await openPage(on, context, '/people/new');
    expect(await page.getByRole('radio').count()).toBe(3);
    await page.getByLabel('Something else').check();
    await page.getByLabel('Read vaults').waitFor();
    const offered = await page.locator('details .check label').allTextContents();
    expect(offered.filter((label) => /vault|Administer|AI|databases/i.test(label))).toEqual([
      'Read vaults',
      'Administer',
    ]);
    await page.goto(
      `${on.app.url}/console/people/${personOf('bob.with.a.rather.long.address@bakery.example.org').id}`,
    );
    // A form of which something is still on its way sends nothing.
    await page.getByLabel('Corner shop').waitFor();
    await page.getByLabel('Write vaults').uncheck();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('alert').filter({ hasText: 'lacks the capability “Write vaults”' }).waitFor();
    const bob = personOf('bob.with.a.rather.long.address@bakery.example.org');
    expect(bob).toMatchObject({ can_read_vault: true, can_write_vault: true });
    expect(bob.projects?.map(({ slug }) => slug).toSorted()).toEqual(['bakery', 'shop']);
  });

  test('an invitation is mailed once there is a mailbox that sends, and what stands in its way leads on', async () => {
    const { mailboxes, people } = on.app.services;
    const { page, complaints } = await open('/people/new');
    await page.getByLabel('Address').fill('dora@example.org');
    await page.getByLabel('Looks on').check();
    await page.getByLabel('Corner shop').check();
    expect(await page.getByLabel('Send the invitation by mail').isChecked()).toBe(false);
    await page.getByLabel('Send the invitation by mail').check();
    const add = page.getByRole('button', { name: 'Add the person' });
    await add.click();
    await page.locator('.wrong', { hasText: 'mail.example.com' }).waitFor();
    const way = page.getByRole('link', { name: /^Set up sending/ });
    expect(await way.getAttribute('href')).toBe('/console/set-up-sending');
    const far = { address: 'far@mail.example.com', relay: parseRelay('smtps://a:b@smtp.example.com:465') };
    await mailboxes.add(actor, far);
    await add.click();
    await page.locator('.wrong', { hasText: 'which nobody else can reach' }).waitFor();
    await page.getByRole('link', { name: /^Settings of this server/ }).waitFor();
    expect(() => people.require('dora@example.org')).toThrow();
    await mailboxes.remove(actor, far.address);

    const sink = await startSmtpSink();
    const near = { address: 'office@mail.example.com', relay: parseRelay(`smtp://127.0.0.1:${sink.port}`) };
    await mailboxes.add(actor, near);
    await add.click();
    await page.getByText('The invitation is on its way to dora@example.org').waitFor();
    const [mail] = await sink.waitForMails(1);
    const link =
      /\/console\/welcome\/\S+/.exec(mail?.raw.toString().replaceAll('=\r\n', '') ?? '')?.[0] ?? '';
    expect((await post(link, { password })).status).toBe(204);
    await page.getByRole('link', { name: 'To the person' }).click();
    await page.getByRole('link', { name: 'Signing in' }).click();
    await page.getByRole('button', { name: 'Reset the password' }).click();
    const dialog = page.getByRole('dialog');
    // There is a mailbox that sends: mailed, unless somebody says otherwise.
    await dialog.locator('[name=send]:checked').waitFor();
    await page.getByLabel('Type dora@example.org to go on').fill('dora@example.org');
    await dialog.getByRole('button', { name: 'Reset the password' }).click();
    await page.getByText('The invitation is on its way to dora@example.org').waitFor();
    await sink.waitForMails(2);
    await mailboxes.remove(actor, near.address);
    await sink.stop();
    expect(complaints.filter((told) => !told.includes('409'))).toEqual([]);
  });

  test('of two who change a person at once, the second is told, changes nothing, and then only what they touched', async () => {
    const { page } = await open(`/people/${personOf('eve@example.org').id}`);
    const { people } = on.app.services;
    await people.change(actor, null, people.require('eve@example.org'), { can_read_vault: true });
    await page.getByLabel('Name').fill('Eve');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('alert').waitFor();
    expect(personOf('eve@example.org')).toMatchObject({ can_read_vault: true });
    expect(personOf('eve@example.org').name).not.toBe('Eve');
    // Told so, they save again: over what they have read now.
    await page.locator('[name=can_read_vault]:checked').waitFor();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('heading', { name: 'Eve', level: 1 }).waitFor();
    expect(personOf('eve@example.org')).toMatchObject({ name: 'Eve', can_read_vault: true });
  });

  test('who looks on is told so once, and sees no button that would be refused', async () => {
    const credentials = await addPerson(on.app, {
      ...{ email: 'reader@example.org', all_projects: true, read_only: true, can_read_vault: true },
    });
    const opened = await openPage(on, await signIn(on, { credentials }), '/');
    const { page } = opened;
    await page.getByText('You may look, and change nothing.').waitFor();
    await expectSound(opened);
    await page.getByRole('button', { name: 'Understood' }).click();
    await page.reload();
    await settle(page);
    expect(await page.getByText('You may look, and change nothing.').count()).toBe(0);
    const pages = SAMPLE_PAGES.filter(
      ({ pattern, name }) => pattern.startsWith('/projects') && !/empty|hostile|account/.test(name),
    );
    expect(pages.length).toBeGreaterThan(60);
    const found: string[] = [];
    for (const { path, name } of pages) {
      await goTo(opened, path(sample));
      const told: string[] = await page.evaluate(
        `[...document.querySelectorAll('main button:enabled, main a.button:is([href$="/new"], [href$="/import"], [href$="/edit"])')].map((each) => each.ariaLabel ?? each.textContent.trim())`,
      );
      found.push(...told.filter((each) => !HARMLESS.test(each)).map((each) => `${name}: ${each}`));
    }
    expect(found).toEqual([]);
    await goTo(opened, '/projects/shop/keys/new');
    await page.getByText('You may look, and change nothing').waitFor();
    await goTo(opened, '/account');
    await page.getByRole('button', { name: 'Change the password' }).waitFor();
  });

  test('a token is made, works with the secret that is shown once, and is revoked by its name', async () => {
    const { page, complaints } = await open('/tokens/new');
    await page.getByLabel('Name').fill('backups');
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByLabel('Days until it expires').fill('0');
    await page.getByText('Advanced', { exact: true }).click();
    await page.getByLabel('bakery').check();
    await page.getByRole('button', { name: 'Create the token' }).click();
    await page.locator('[aria-invalid=true]').waitFor();
    await page.getByLabel('Days until it expires').fill('7');
    await page.getByLabel('Environments of vaults').fill('staging, preview');
    await page.getByRole('button', { name: 'Create the token' }).click();
    const token = await secretOn(page);
    const ask = () => on.app.call('GET', '/api/public/v1/token', { token });
    const { body } = await ask();
    expect(body).toMatchObject({
      data: {
        name: 'backups',
        all_projects: false,
        projects: [{ slug: 'bakery' }],
        environments: ['staging', 'preview'],
      },
    });
    await page.getByRole('link', { name: 'Done' }).click();
    await page.getByRole('heading', { name: 'Tokens', level: 1 }).waitFor();
    await page.getByText('of vaults staging, preview alone').waitFor();
    expect(await page.content()).not.toContain(token);
    await page.getByRole('button', { name: 'Revoke backups' }).click();
    await page.getByLabel('Type backups to go on').fill('backups');
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke backups' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Revoke backups' }).waitFor({ state: 'detached' });
    expect((await ask()).status).toBe(401);
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('whoever may not administer has neither page in the navigation, and is told what they lack at its address', async () => {
    const credentials = await addPerson(on.app, { email: 'guest@example.org', projects: ['shop'] });
    const { page } = await openPage(on, await signIn(on, { credentials }), '/people');
    await page.getByText('lacks the capability can administer').waitFor();
    expect(await page.getByRole('link', { name: 'Tokens' }).count()).toBe(0);
  });
});
