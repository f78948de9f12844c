/** What people do with a project's vault in the console, and what is stored, recorded, and left in the page after it. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import type { NewPersonInput } from '../../src/access/people/schemas.ts';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { actor } from '../support/helpers.ts';
import {
  addPerson,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  openPage,
  openSignedIn,
  settle,
  signIn,
  stopClock,
} from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Sample;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

const open = async (path: string) => openSignedIn(on, `/projects/${sample.project}/vault${path}`);
/** What is stored, as the app would get it. */
const stored = (service: string) =>
  on.app.services.vault.readSecretFor(on.app.services.projects.require(sample.project), service).values;
const reveals = (): unknown[] =>
  on.app.services.database.read.all(
    sql.raw('SELECT how, service, field, actor_name FROM vault_reveals ORDER BY id'),
  );
/** Whether a text is anywhere in the page: in what is shown, in a field, in an attribute, or kept by the browser. */
const holds = (page: Page, text: string): Promise<boolean> =>
  page.evaluate(
    `[document.documentElement.outerHTML, location.href, JSON.stringify({ ...localStorage }), JSON.stringify({ ...sessionStorage }), ...[...document.querySelectorAll('input, textarea')].map((field) => field.value)].some((place) => place.includes(${JSON.stringify(text)}))`,
  );

describe.skipIf(executable === null)('in a vault', () => {
  test('one secret is shown at a time, on record, until another one is, it is hidden, or the page is left', async () => {
    const { page, complaints } = await open('/captcha');
    const secret = stored('captcha').secret_key ?? '';
    expect(await holds(page, secret)).toBe(false);
    const before = reveals().length;
    await page.getByRole('button', { name: 'Show, on record: Secret key' }).click();
    await page.getByText(secret).waitFor();
    expect(reveals().slice(before)).toEqual([
      { how: 'reveal', service: 'captcha', field: 'secret_key', actor_name: 'Ann Example' },
    ]);
    await page.getByRole('button', { name: 'Hide now: Secret key' }).click();
    await page.getByText(secret).waitFor({ state: 'detached' });
    expect(await holds(page, secret)).toBe(false);

    await page.goto(`${on.app.url}/console/projects/${sample.project}/vault/env`);
    const [session, stripe] = [stored('env').SESSION_KEY ?? '', stored('env').STRIPE_SECRET_KEY ?? ''];
    await page.getByRole('button', { name: 'Show, on record: SESSION_KEY' }).click();
    await page.getByText(session).waitFor();
    await page.getByRole('button', { name: 'Show, on record: STRIPE_SECRET_KEY' }).click();
    await page.getByText(session).waitFor({ state: 'detached' });
    expect(await page.locator('.secret code').textContent()).toBe(stripe);
    expect(await holds(page, session)).toBe(false);
    // As a browser does that keeps the page for whoever goes back to it.
    await page.evaluate("dispatchEvent(new Event('pagehide'))");
    await page.locator('.secret').waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Show, on record: SESSION_KEY' }).click();
    await page.getByText(session).waitFor();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    expect(await holds(page, session)).toBe(false);
    await page.goBack();
    await settle(page);
    expect(await holds(page, session)).toBe(false);
    expect(complaints).toEqual([]);
  });

  test('what is shown hides by itself after a while, even where the clock was set back', async () => {
    const context = await signIn(on);
    await context.clock.install();
    const { page } = await openPage(on, context, `/projects/${sample.project}/vault/stripe`);
    await stopClock(page);
    const secret = stored('stripe').secret_key ?? '';
    const reveal = page.getByRole('button', { name: 'Show, on record: Secret key' });
    await reveal.click();
    await page.getByText(secret).waitFor();
    await context.clock.runFor(40_000);
    expect(await holds(page, secret)).toBe(true);
    await context.clock.runFor(6000);
    await reveal.waitFor();
    expect(await holds(page, secret)).toBe(false);
    await reveal.click();
    await page.getByText(secret).waitFor();
    await context.clock.runFor(500);
    await context.clock.setSystemTime(Date.now() - 86_400_000);
    await context.clock.runFor(1000);
    await reveal.waitFor();
    expect(await holds(page, secret)).toBe(false);
  });

  test('values are stored as they were entered, a wrong one is told beside its field, and none of a refusal is', async () => {
    const { page, complaints } = await open('/captcha?tab=set');
    const before = stored('captcha');
    await page.getByLabel('Widget mode').fill('sideways');
    await page.getByLabel('Secret key').fill('another-secret\n');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.locator('[aria-invalid=true]').waitFor();
    expect(await page.getByLabel('Widget mode').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Secret key').getAttribute('aria-invalid')).toBeNull();
    expect(stored('captcha')).toEqual(before);
    await page.getByLabel('Widget mode').fill('');
    await page.getByRole('button', { name: 'Store' }).click();
    await page.getByRole('heading', { name: 'Values', exact: true }).waitFor();
    const { widget_mode: _, ...rest } = before;
    expect(stored('captcha')).toEqual({ ...rest, secret_key: 'another-secret' });
    expect(await holds(page, 'another-secret')).toBe(false);

    await page.goto(`${on.app.url}/console/projects/${sample.project}/vault/google_play?tab=set`);
    const bytes = Buffer.from([0, 1, 2, 253, 254, 255]);
    const file = { name: 'play ü.json', mimeType: 'application/json', buffer: bytes };
    await page.getByLabel('Service account').setInputFiles(file);
    await page.getByRole('button', { name: 'Store' }).click();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download, on record: Service account' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('play ü.json');
    expect([...(await Bun.file(await download.path()).bytes())]).toEqual([...bytes]);
    expect(reveals().at(-1)).toMatchObject({
      how: 'file',
      service: 'google_play',
      field: 'service_account',
    });
    // The one refusal is told by the browser, too; nothing else is.
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('a variable is set, made plain and removed; a name that is none is told beside the name', async () => {
    const { page } = await open('/env');
    await page.getByRole('button', { name: 'Set a variable' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('1ST');
    await dialog.getByLabel('Value').fill('two\n lines $HERE');
    await dialog.getByRole('button', { name: 'Store' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    expect(await dialog.getByLabel('Name').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Name').fill('FIRST');
    await dialog.getByRole('button', { name: 'Store' }).click();
    await page.getByRole('button', { name: 'Change FIRST' }).waitFor();
    expect(stored('env').FIRST).toBe('two\n lines $HERE');
    expect(await holds(page, 'two\n lines')).toBe(false);

    await page.getByRole('button', { name: 'Change FIRST' }).click();
    await dialog.getByLabel('Value').fill('for everybody');
    await dialog.getByLabel('No secret').check();
    await dialog.getByRole('button', { name: 'Store' }).click();
    await page.getByText('for everybody').waitFor();
    await page.getByRole('button', { name: 'Remove FIRST' }).click();
    await dialog.getByText('Its history keeps the value').waitFor();
    await dialog.getByRole('button', { name: 'Remove FIRST' }).click();
    await page.getByText('for everybody').waitFor({ state: 'detached' });
    expect(Object.keys(stored('env'))).not.toContain('FIRST');
    expect(await page.getByRole('dialog').count()).toBe(0);
  });

  test('an environment file is shown for its target, tells what it hides and leaves out, and goes with another target', async () => {
    const { vault, projects } = on.app.services;
    const shop = projects.require(sample.project);
    const env = requireVaultService('env');
    const plain = ['VITE_LINES', 'VITE_THEME', 'NOTE'];
    await vault.set(actor, shop, env, { VITE_LINES: 'a carriage\rreturn' }, { plain });
    const { page } = await open('?tab=files');
    const before = reveals().length;
    await page.getByRole('button', { name: 'Show the file, on record' }).click();
    await page.getByText('SESSION_KEY=').waitFor();
    expect(reveals().length).toBe(before + 1);
    await page.getByText('secret_key of stripe, which has the same name, is not in the file.').waitFor();
    expect(await page.getByText('VITE_LINES is left out').count()).toBe(0);
    await page.getByLabel('For').selectOption('vite');
    await page.locator('.secret').waitFor({ state: 'detached' });
    expect(await holds(page, stored('env').SESSION_KEY ?? '')).toBe(false);
    await page.getByRole('button', { name: 'Show the file, on record' }).click();
    await page.getByText('VITE_THEME=').waitFor();
    await page.getByText('VITE_LINES is left out').waitFor();
    expect(await holds(page, stored('env').SESSION_KEY ?? '')).toBe(false);

    await page.getByLabel('For').selectOption('server');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download it, on record' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe(`${sample.project}-server.env`);
    const { env: files } = await vault.reveal(actor, shop, { how: 'reveal' });
    expect(readFileSync(await saved.path(), 'utf8')).toBe(files.server ?? '');
    expect(await holds(page, stored('env').SESSION_KEY ?? '')).toBe(false);
    await page.getByText('secret_key of stripe, which has the same name, is not in the file.').waitFor();
    expect(reveals().length).toBe(before + 4);
  });

  test('an empty one is a sentence and two buttons, which store a first secret', async () => {
    const { page, complaints } = await openSignedIn(on, '/projects/bakery/vault');
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual([
      'Paste a .env file',
      'Store a secret',
    ]);
    expect(await page.getByRole('table').count()).toBe(0);
    await page.getByRole('button', { name: 'Store a secret' }).click();
    await page.getByLabel('What it is of').selectOption('Stripe');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByLabel('Secret key').fill('sk_test_of_the_bakery');
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByRole('heading', { name: 'Values', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Vault', exact: true }).first().click();
    await page.getByRole('row', { name: /Stripe/ }).waitFor();
    await page.getByRole('button', { name: 'Store a secret' }).click();
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('dialog', { name: 'Set a variable' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Vault', exact: true }).first().click();
    await page.getByRole('link', { name: 'Environment files' }).click();
    await page.getByLabel('For').selectOption('expo');
    await page.getByRole('button', { name: 'Download it, on record' }).click();
    await page.getByText('Nothing is stored that this file would hold.').waitFor();
    expect(complaints).toEqual([]);
    const { vault, projects } = on.app.services;
    await vault.remove(actor, projects.require('bakery'), requireVaultService('stripe'));
  });

  test('everything of a service is removed by its name, and nothing else', async () => {
    const { page } = await open('/firebase');
    const env = stored('env');
    await page.getByRole('button', { name: 'Remove Firebase' }).click();
    await page.getByText('With it go 2 stored values').waitFor();
    await page.getByLabel('Type firebase to go on').fill('firebase');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove Firebase' }).click();
    await page.getByRole('heading', { name: 'Vault', level: 1 }).waitFor();
    expect(stored('firebase')).toEqual({});
    expect(stored('env')).toEqual(env);
  });

  const someone = (email: string, powers: Partial<NewPersonInput>) =>
    addPerson(on.app, { email, projects: [sample.project], ...powers });
  const openAs = async (email: string, powers: Partial<NewPersonInput>, path = '/stripe') => {
    const context = await signIn(on, { credentials: await someone(email, powers) });
    return openPage(on, context, `/projects/${sample.project}/vault${path}`);
  };

  test('whoever may read sees what is stored and can neither show nor change it; whoever may write sees nothing of it', async () => {
    const reader = await openAs('reader@example.org', { can_read_vault: true });
    await reader.page.getByText('pk_live_51HsQk2eZvKYlo2C').waitFor();
    for (const button of ['Show, on record', 'Remove', 'Set values'])
      expect(await reader.page.getByText(button).count()).toBe(0);
    expect(reader.complaints).toEqual([]);

    const writer = await openAs('writer@example.org', { can_write_vault: true }, '/stripe?tab=set');
    expect(await holds(writer.page, 'pk_live_51HsQk2eZvKYlo2C')).toBe(false);
    await writer.page.getByLabel('Webhook secret').fill('whsec_of_the_shop');
    await writer.page.getByRole('button', { name: 'Store' }).click();
    await writer.page.getByRole('heading', { name: 'Values', exact: true }).waitFor();
    expect(stored('stripe').webhook_secret).toBe('whsec_of_the_shop');
    expect(stored('stripe').publishable_key).toBe('pk_live_51HsQk2eZvKYlo2C');
    expect(writer.complaints).toEqual([]);

    const nobody = await openAs('nobody@example.org', {}, '');
    await nobody.page.getByText('You may not look into vaults').waitFor();
    expect(await nobody.page.getByRole('link', { name: 'Vault', exact: true }).count()).toBe(0);
    expect(nobody.complaints).toEqual([]);
  });
});
