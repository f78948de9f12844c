/** What people do with environments of a vault in the console, with what a field has held, and with reminders. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { actor } from '../support/helpers.ts';
import { beforeAllInConsole, type ConsoleTest, executable, openSignedIn } from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Sample;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

const open = async (path: string) => openSignedIn(on, `/projects/${sample.project}/vault${path}`);
const at = (environment?: string) =>
  on.app.services.vault.environments.at(on.app.services.projects.require(sample.project), environment, null);
/** What is stored there, as an app would get it. */
const stored = (service: string, environment?: string) =>
  on.app.services.vault.readSecretFor(at(environment), service).values;

describe.skipIf(executable === null)('in a vault with environments', () => {
  test('one is added, chosen and filled, and production stays as it is', async () => {
    const before = stored('stripe');
    const { page, complaints } = await open('?tab=environments');
    await page.getByRole('button', { name: 'Add an environment' }).click();
    await page.getByLabel('Name').fill('Staging!');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('must be a name such as staging').waitFor();
    await page.getByLabel('Name').fill('staging');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('cell', { name: 'staging', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Services', exact: true }).click();
    await page.getByRole('button', { name: 'staging', exact: true }).click();
    await page.getByText('Nothing is stored in this environment').waitFor();
    await page.getByRole('button', { name: 'Store a secret' }).click();
    await page.getByLabel('What it is of').selectOption('stripe');
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByLabel('Secret key').fill('sk_test_of_staging');
    await page.getByRole('button', { name: 'Store', exact: true }).click();
    await page.getByText('Stored in the vault: secret_key').waitFor();
    expect([stored('stripe', 'staging'), stored('stripe')]).toEqual([
      { secret_key: 'sk_test_of_staging' },
      before,
    ]);
    // The page it leads back to shows the same environment.
    await page.getByRole('button', { name: 'Show, on record: Secret key' }).click();
    await page.getByText('sk_test_of_staging').waitFor();
    await page.getByRole('button', { name: 'production', exact: true }).click();
    await page.getByText('sk_test_of_staging').waitFor({ state: 'detached' });
    // The form's first refusal is the only complaint.
    expect(complaints.filter((each) => !each.includes('422'))).toEqual([]);
  });

  test('its file is downloaded, and two are compared', async () => {
    const { page, complaints } = await open('?tab=files&environment=staging');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download it, on record' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('shop-staging-server.env');
    expect(readFileSync(await download.path(), 'utf8')).toBe("STRIPE_SECRET_KEY='sk_test_of_staging'\n");
    await page.getByRole('link', { name: 'Environments', exact: true }).click();
    await page.getByLabel('Of', { exact: true }).selectOption('staging');
    await page.getByLabel('And of').selectOption('production');
    await page.getByRole('button', { name: 'Compare' }).click();
    await page.getByRole('region', { name: 'With other values' }).getByText('stripe.secret_key').waitFor();
    await page.getByRole('region', { name: 'Only in production' }).getByText('env.SESSION_KEY').waitFor();
    expect(complaints).toEqual([]);
  });

  test('what it inherits is marked, and is not removed there', async () => {
    const { page, complaints } = await open('?tab=environments');
    await page.getByRole('button', { name: 'Have staging inherit from production' }).click();
    await page.getByRole('button', { name: 'Have staging inherit nothing' }).waitFor();
    await page.goto(`${on.app.url}/console/projects/${sample.project}/vault/env?environment=staging`);
    await page.getByRole('button', { name: 'Change VITE_THEME' }).waitFor();
    expect(await page.getByText('production’s').count()).toBe(Object.keys(stored('env')).length);
    expect(await page.getByRole('button', { name: 'Remove VITE_THEME' }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test('what a field has held is shown by itself, on record, and stored again', async () => {
    const service = requireVaultService('stripe');
    const first = stored('stripe', 'staging').secret_key ?? '';
    await on.app.services.vault.set(actor, at('staging'), service, { secret_key: 'sk_second' });
    const { page, complaints } = await open('/stripe?environment=staging');
    await page.getByRole('button', { name: 'History of Secret key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByRole('button', { name: /^Show, on record/ })
      .nth(1)
      .click();
    await dialog.getByText(first).waitFor();
    const [reveal] = on.app.services.audit.listNewest({}, 1);
    expect(reveal).toMatchObject({
      event: 'vault.revealed',
      metadata: { how: 'version', environment: 'staging' },
    });
    await dialog.getByRole('button', { name: /^Restore that of/ }).click();
    await page.getByRole('button', { name: 'Restore it' }).click();
    await page.getByText('secret_key is restored').waitFor();
    expect(stored('stripe', 'staging')).toMatchObject({ secret_key: first });
    expect(complaints).toEqual([]);
  });

  test('when a value ends, and a note, are said of it and shown', async () => {
    const { page, complaints } = await open('/stripe?environment=staging');
    await page.getByRole('button', { name: 'Remind of Secret key' }).click();
    await page.getByLabel('Ends').fill('2041-03-01');
    await page.getByRole('textbox', { name: 'Note' }).fill('Ann renews it');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Ann renews it').waitFor();
    const { vault } = on.app.services;
    const about = () => vault.describeService(at('staging'), requireVaultService('stripe')).about.secret_key;
    expect(about()).toEqual({ expires_at: '2041-03-01T23:59:59.999Z', note: 'Ann renews it' });
    expect(stored('stripe', 'staging').secret_key).toBe('sk_test_of_staging');
    expect(complaints).toEqual([]);
  });

  test('one is removed by its name, with its values', async () => {
    const { page, complaints } = await open('?tab=environments');
    await page.getByRole('button', { name: 'Remove staging' }).click();
    await page.getByRole('dialog').getByRole('textbox').fill('staging');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove staging' }).click();
    await page.getByText('staging is removed').waitFor();
    expect(() => at('staging')).toThrow('Environment not found');
    expect(complaints).toEqual([]);
  });
});
