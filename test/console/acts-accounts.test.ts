/** What people do with accounts at providers in the console, and whom those serve after it. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { CAPABILITIES } from '../../src/platform/http/callers.ts';
import { actor } from '../support/helpers.ts';
import {
  addPerson,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  openPage,
  openSignedIn,
  signIn,
} from './browser.ts';
import { addSampleData, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Sample;
let token: string;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
  const made = await on.app.services.tokens.create(actor, {
    ...{ name: 'looks', all_projects: true, projects: [], capabilities: [...CAPABILITIES] },
  });
  token = made.token;
});

const open = async (path: string) => openSignedIn(on, path);
const get = async (path: string): Promise<Record<string, unknown>> =>
  (await on.app.call('GET', `/api/public/v1${path}`, { token })).body;
const namesOf = ({ data }: Record<string, unknown>): unknown[] =>
  Array.isArray(data) ? data.map((each) => Object(each).name ?? null) : [];
const lastEvents = (): string =>
  JSON.stringify(
    on.app.services.database.read.all(
      sql.raw('SELECT event, actor_name FROM audit_events ORDER BY id DESC LIMIT 1'),
    ),
  );
const slugsServedBy = async (account: string): Promise<unknown[]> => {
  const { data } = await get(`/ai-accounts/${account}/projects`);
  return Array.isArray(data) ? data.map((each) => Object(each).slug) : [];
};

describe.skipIf(executable === null)('of accounts at providers', () => {
  test('one is added, serves its project, is given to another and taken away, with the others kept', async () => {
    const { page, complaints } = await open('/projects/bakery/accounts');
    await page.getByRole('button', { name: 'Add an account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Claude');
    await dialog.getByLabel('Provider').selectOption('anthropic');
    await dialog.getByRole('button', { name: 'Add the account' }).click();
    await dialog.locator('[aria-invalid=true]').waitFor();
    expect(await dialog.getByLabel('Key').getAttribute('aria-invalid')).toBe('true');
    await dialog.getByLabel('Key').fill('sk-ant-of-the-bakery');
    await dialog.getByRole('button', { name: 'Add the account' }).click();
    await page.getByRole('heading', { name: 'Claude', level: 1 }).waitFor();
    const account = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    expect(await slugsServedBy(account)).toEqual(['bakery']);

    await page.goto(`${on.app.url}/console/projects/${sample.project}/accounts`);
    await page.getByRole('button', { name: 'Assign one that there is' }).click();
    await dialog.getByLabel('Account').selectOption({ label: 'Claude (Anthropic)' });
    await dialog.getByRole('button', { name: 'Assign' }).click();
    await page.getByRole('button', { name: 'Take away Claude' }).waitFor();
    expect((await slugsServedBy(account)).toSorted()).toEqual(['bakery', sample.project]);
    await page.getByRole('button', { name: 'Take away Claude' }).click();
    await page.getByRole('button', { name: 'Take away Claude' }).waitFor({ state: 'detached' });
    expect(await slugsServedBy(account)).toEqual(['bakery']);
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('what is typed over what somebody else has changed is kept, and the change is told', async () => {
    for (const [kind, api, field, secret] of [
      ['ai', '/ai-accounts', 'organization_id', 'api_key'],
      ['database-accounts', '/database-accounts', 'organization_slug', 'access_token'],
    ] as const) {
      const body = { name: `Of ${kind}`, provider: 'openai', [secret]: 'sk-the-first-of-all' };
      const made = await on.app.call('POST', `/api/public/v1${api}`, { token, body });
      const { id } = Object(made.body.data);
      const { page } = await open(`/projects/bakery/accounts/${kind}/${id}`);
      const typed = page.locator(`[name=${secret}]`);
      await typed.fill('sk-typed-meanwhile');
      await on.app.call('PATCH', `/api/public/v1${api}/${id}`, { token, body: { [field]: 'theirs' } });
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByRole('alert').getByText('This was changed since you read it').waitFor();
      await page.locator(`[name=${field}]`).and(page.locator('[value=theirs]')).waitFor();
      expect(await typed.inputValue()).toBe('sk-typed-meanwhile');
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByText('The changes are saved').waitFor();
      await page.waitForFunction(`document.querySelector('[name=${secret}]').value === ''`);
      const revealed = await on.app.call('POST', `/api/public/v1${api}/${id}/reveal`, { token });
      expect(revealed.body).toMatchObject({ data: { [secret]: 'sk-typed-meanwhile' } });
      expect(await get(`${api}/${id}`)).toMatchObject({ data: { [field]: 'theirs' } });
      await on.app.call('DELETE', `/api/public/v1${api}/${id}`, { token });
    }
  });

  test('its key is shown on record, changed, and goes with it', async () => {
    const { page } = await open(`/projects/${sample.project}/accounts/ai/${sample.ai_account}`);
    await page.getByRole('button', { name: 'Show, on record: Key' }).click();
    await page.getByText('sk-of-the-shop-at-openai').waitFor();
    expect(lastEvents()).toContain('ai_account.revealed');
    await page.getByRole('button', { name: 'Hide now' }).click();
    await page.getByLabel('Key', { exact: true }).fill('sk-another-one-of-the-shop');
    await page.getByLabel('In use').uncheck();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('inactive', { exact: true }).first().waitFor();
    expect(await page.content()).not.toContain('sk-another-one');
    expect(await page.getByLabel('Key', { exact: true }).inputValue()).toBe('');
    const path = `/api/public/v1/ai-accounts/${sample.ai_account}/reveal`;
    const revealed = await on.app.call('POST', path, { token });
    expect(revealed.body).toEqual({ data: { api_key: 'sk-another-one-of-the-shop' } });
    await page.getByRole('button', { name: 'Delete the account' }).click();
    await page.getByText('1 project is served by it no more').waitFor();
    await page.getByLabel('Type OpenAI, shop to go on').fill('OpenAI, shop');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the account' }).click();
    await page.getByRole('heading', { name: 'Provider accounts', level: 1 }).waitFor();
    expect(namesOf(await get('/ai-accounts'))).not.toContain('OpenAI, shop');
  });

  test('a database is added and linked, one secret of it is shown at a time, and its account stays while it is in use', async () => {
    const { page } = await open('/projects/bakery/accounts?tab=databases');
    await page.getByRole('button', { name: 'Add a database' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Ovens');
    await dialog.getByLabel('Reference').fill('ovens-1');
    await dialog.getByRole('button', { name: 'Add the database' }).click();
    await page.getByRole('heading', { name: 'Ovens', level: 1 }).waitFor();
    const { data } = await get('/projects/bakery');
    expect(String(Object(data).database_project_id)).toBe(
      new URL(page.url()).pathname.split('/').at(-1) ?? '',
    );
    await page.getByLabel('Password', { exact: true }).fill('hot');
    await page.getByLabel('Connection string', { exact: true }).fill('postgres://hot@db.example.com/ovens');
    await page.getByLabel('Account', { exact: true }).selectOption({ label: 'Supabase' });
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('The changes are saved').waitFor();
    await page.getByRole('button', { name: 'Show, on record: Connection string' }).click();
    await page.locator('.secret code').waitFor();
    expect(await page.locator('.secret code').allTextContents()).toEqual([
      'postgres://hot@db.example.com/ovens',
    ]);
    await page.getByRole('button', { name: 'Show, on record: Password' }).click();
    await page.getByText('hot', { exact: true }).waitFor();
    expect(await page.locator('.secret code').allTextContents()).toEqual(['hot']);
    expect(await page.content()).not.toContain('postgres://hot');

    await page.goto(
      `${on.app.url}/console/projects/bakery/accounts/database-accounts/${sample.database_account}`,
    );
    await page.getByRole('button', { name: 'Delete the account' }).click();
    await page.getByLabel('Type Supabase to go on').fill('Supabase');
    await dialog.getByRole('button', { name: 'Delete the account' }).click();
    await dialog.getByText('The account is in use by 2 database projects').waitFor();
    expect(namesOf(await get('/database-accounts'))).toEqual(['Supabase']);
  });

  test('whoever lacks a capability is told which, and sees no button that the API would refuse', async () => {
    const reader = { email: 'reader@example.org', projects: ['bakery'], can_read_ai_accounts: true };
    const credentials = await addPerson(on.app, reader);
    const context = await signIn(on, { credentials });
    const { page, complaints } = await openPage(on, context, '/projects/bakery/accounts');
    await page.getByRole('link', { name: 'Claude' }).waitFor();
    for (const button of ['Add an account', 'Assign one that there is', 'Take away Claude'])
      expect(await page.getByRole('button', { name: button }).count()).toBe(0);
    await page.getByRole('link', { name: 'Databases', exact: true }).click();
    await page.getByText('can_manage_database').waitFor();
    expect(complaints).toEqual([]);
  });
});
