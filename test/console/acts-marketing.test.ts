/** What people do in the console with lists, contacts, imports, suppressions and marketing settings, and what is in the database after it. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { ownFormOf } from '../../src/marketing/lists/service.ts';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { actor } from '../support/helpers.ts';
import {
  askOnce,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  NARROW,
  openPage,
  openSignedIn,
  signIn,
  stopClock,
  TIMEOUT_MS,
} from './browser.ts';

import { addSampleData, HOSTILE, type Sample } from './sample-data.ts';

let on: ConsoleTest;
let sample: Sample;

beforeAllInConsole(async (started) => {
  on = started;
  sample = await addSampleData(on.app);
});

const open = async (path: string) => openSignedIn(on, `/projects/shop${path}`);
const shop = () => on.app.services.projects.require('shop');
const makeList = async (fields: Record<string, unknown> = {}): Promise<string> => {
  const made = await on.app.services.lists.create(shop().id, { name: 'Readers', ...fields }, noNote);
  return made.id;
};
const contactsOf = async (list: string) => {
  const { contacts, lists } = on.app.services;
  return (await contacts.list(lists.require(shop().id, list), {}, { per_page: 50 })).data;
};
const add = async (list: string, email: string, fields: Record<string, unknown> = {}) => {
  const { contacts, lists } = on.app.services;
  const { contact } = await contacts.add(
    shop(),
    lists.require(shop().id, list),
    {
      ...{ email, first_name: null, last_name: null, tags: [], custom: {}, source: null, reason: null },
      ...{ source_platform: 'api', consent_basis: 'consent', consent_at: 0, consent_ip: null },
      ...{ consent_origin: null, is_test: false, ...fields },
    },
    noNote,
  );
  return contact;
};
const csv = (text: string) => ({ name: 'visitors.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
const refusals = (complaints: readonly string[]) => complaints.filter((told) => !/\b(409|422)\b/.test(told));
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Where pictures would be, were this Satchel reached by TLS. */
const SECURE = 'https://files.example.com';
const dialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name });

describe.skipIf(executable === null)('a list', () => {
  test(
    'is given a sign-up page, and shows the form of another page as the shell prints it',
    async () => {
      const list = await makeList();
      // Behind its back: the sample's relay would mail the world links to this machine.
      await on.app.services.database.write((tx) =>
        tx.$client.run('UPDATE contact_lists SET double_opt_in = 1 WHERE public_id = ?', [list]),
      );
      const { page, complaints } = await open(`/lists/${list}?tab=settings`);
      await page.getByLabel('Sign-up page').check();
      await page.getByLabel('Double opt-in').uncheck();
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.locator('[name=sign_up_page][aria-invalid=true]').waitFor();
      await page.getByLabel('Double opt-in').check();
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.locator('[name=confirmation_template][aria-invalid=true]').waitFor();
      await page.getByRole('button', { name: 'Make one for me' }).click();
      await page.getByText('is made and chosen').waitFor();
      await page.getByRole('checkbox', { name: 'Archive' }).check();
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByText('The changes are saved').waitFor();
      await page.getByRole('link', { name: 'Sign-up', exact: true }).click();
      const { sign_up_url, archive_url } = on.app.services.lists.get(shop().id, list);
      await page.getByRole('link', { name: archive_url ?? 'none', exact: true }).waitFor();
      await page.getByRole('link', { name: sign_up_url ?? '' }).waitFor();
      expect(await page.locator('pre').textContent()).toBe(
        ownFormOf(sign_up_url ?? '', { asks_for_tracking: false }),
      );
      expect(refusals(complaints)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'is made, changed by what was read only, archived by its name, and taken up again',
    async () => {
      const { page, complaints } = await open('/lists/new');
      const name = `${HOSTILE} once more`;
      await page.getByLabel('Name').fill(name);
      await page.getByText('Consent, language and where people go').click();
      await page.getByLabel('Hosts that get the contact token').fill('https://shop.example.com/x');
      await page.getByRole('button', { name: 'Create the list' }).click();
      await page.locator('[aria-invalid=true]').waitFor();
      const hosts = page.getByLabel('Hosts that get the contact token');
      expect(await hosts.getAttribute('aria-invalid')).toBe('true');
      await hosts.fill('shop.example.com');
      await page.getByLabel('Basis of consent').selectOption('contract');
      await page.getByRole('button', { name: 'Create the list' }).click();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      const read = () => on.app.services.lists.get(shop().id, id);
      expect(read()).toMatchObject({
        ...{ name, default_consent_basis: 'contract', token_hosts: ['shop.example.com'] },
        ...{ description: null, double_opt_in: false },
      });

      await page.getByRole('link', { name: 'Settings', exact: true }).click();
      await on.app.services.lists.update(shop().id, id, { description: 'Of somebody else' }, noNote);
      await page.getByLabel('Name').fill('Customers');
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByText('This was changed since you read it').waitFor();
      expect(read()).toMatchObject({ name, description: 'Of somebody else' });

      await page.reload();
      await page.getByRole('button', { name: 'Archive the list' }).click();
      await page.getByLabel('Type').fill(name);
      await dialog(page, 'Archive the list').click();
      await page.getByRole('button', { name: 'Restore it' }).waitFor();
      expect(read().archived).toBe(true);
      await page.getByRole('button', { name: 'Restore it' }).click();
      await page.getByRole('button', { name: 'Archive the list' }).waitFor();
      expect(read().archived).toBe(false);
      expect(refusals(complaints)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(executable === null)('a contact', () => {
  test(
    'is added with the evidence of its consent, and refused in the words of the form without',
    async () => {
      const list = await makeList();
      const { page, complaints } = await open(`/contacts/new?list=${list}`);
      await page.getByLabel('Email').fill('new@example.org');
      await page.getByRole('button', { name: 'Add the contact' }).click();
      await page.getByText('There is no “Basis of consent”').first().waitFor();
      expect(await contactsOf(list)).toEqual([]);
      await page.getByLabel('Basis of consent').selectOption('consent');
      await page.getByLabel('Where it was given').fill('https://shop.example.com/sign-up');
      await page.getByLabel('Tags').fill('one, with a comma\ntwo');
      await page.getByRole('button', { name: 'Add the contact' }).click();
      await page.getByRole('heading', { name: 'new@example.org', level: 1 }).waitFor();
      expect(await contactsOf(list)).toMatchObject([
        {
          ...{
            email: 'new@example.org',
            status: 'active',
            consent_basis: 'consent',
            source_platform: 'manual',
          },
          ...{ consent_origin: 'https://shop.example.com/sign-up', tags: ['one, with a comma', 'two'] },
        },
      ]);
      expect(refusals(complaints)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'is changed with the kinds of its custom fields, tells why it is mailed, and leaves by its address',
    async () => {
      const list = await makeList();
      const { id } = await add(list, 'pat@example.org', {
        ...{ first_name: 'Pat', tags: ['a', 'b'], reason: 'Asked' },
        custom: { plan: 'pro', seats: 3, [HOSTILE]: HOSTILE },
      });
      const { page, complaints } = await open(`/contacts/${id}`);
      await page.getByText('It is not suppressed.').waitFor();
      await page.getByText('On the list Readers it is active').waitFor();
      await page.getByLabel('Value of seats').fill('many');
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByText('seats: is no number.', { exact: true }).waitFor();
      await page.getByLabel('Value of seats').fill('4');
      await page.getByRole('button', { name: 'Remove plan' }).click();
      await page.getByRole('button', { name: 'Add a field' }).click();
      await page.getByLabel('Name of the new field').fill('trial');
      await page.getByLabel('Kind of trial').selectOption('boolean');
      await page.getByLabel('Tags').fill('b\nc');
      await page.getByLabel('First name').fill('');
      await page.getByRole('button', { name: 'Save the changes' }).click();
      await page.getByText('The changes are saved').waitFor();
      const read = () => on.app.services.contacts.get(shop().id, id);
      expect(read()).toMatchObject({ first_name: null, tags: ['b', 'c'], reason: 'Asked', status: 'active' });
      expect(read().custom).toEqual({ seats: 4, trial: true, [HOSTILE]: HOSTILE });

      await page.getByRole('button', { name: 'Unsubscribe' }).click();
      await page.getByLabel('Type').fill('pat@example.org');
      await dialog(page, 'Unsubscribe').click();
      await page.getByText('It is suppressed (unsubscribed)').waitFor();
      expect(read().status).toBe('unsubscribed');
      expect(on.app.services.suppressions.find(shop(), 'pat@example.org')?.kind).toBe('unsubscribed');
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'tells what a sequence sent it, with the way to each mail, and what it waits for',
    async () => {
      const path = `/projects/${sample.magazine}/contacts/${sample.reader}`;
      const { page, complaints } = await openSignedIn(on, path);
      await page.getByText('In the sequence Welcome to the magazine since').waitFor();
      const mail = page.getByRole('listitem').filter({ hasText: 'Step welcome: sent' }).first();
      const magazine = on.app.services.projects.require(sample.magazine);
      const told = await on.app.services.privacy.explain(magazine, 'reader1@example.org');
      const id = /satchel email why ([0-9A-Z]{26})/.exec(
        told.find((line) => line.includes('Step welcome')) ?? '',
      );
      await mail.getByRole('link', { name: 'Its story' }).click();
      await page.waitForURL(`**/projects/${sample.magazine}/emails/${id?.[1]}`);
      await page.getByRole('heading', { name: 'Welcome, Reader 1', level: 1 }).waitFor();
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'is found by address, status and tag, and tagged with those picked or with all that match',
    async () => {
      const list = await makeList();
      for (const name of ['amy', 'bea', 'cat']) await add(list, `${name}@example.org`, { tags: ['fair'] });
      await add(list, 'dan@example.org');
      const { page, complaints } = await open(
        `/lists/${list}?filter=${encodeURIComponent(JSON.stringify({ tag: 'fair' }))}`,
      );
      const table = page.getByRole('table', { name: 'Contacts' });
      await table.getByRole('row').nth(3).waitFor();
      expect(await table.getByRole('row').count()).toBe(4);
      await page.getByRole('button', { name: 'Tag all' }).click();
      await page.getByLabel('Tags to add').fill('spring');
      await expectSound({ page, complaints });
      await dialog(page, 'Tag all 3 contacts below').click();
      await page.getByText('3 contacts changed').waitFor();
      const tags = async () =>
        Object.fromEntries((await contactsOf(list)).map((each) => [each.email.slice(0, 3), each.tags]));
      expect(await tags()).toEqual({
        ...{ amy: ['fair', 'spring'], bea: ['fair', 'spring'], cat: ['fair', 'spring'], dan: [] },
      });
      await page.getByLabel('Pick bea@example.org').check();
      await page.getByRole('button', { name: 'Tag 1 picked' }).click();
      await page.getByLabel('Tags to take away').fill('fair');
      await dialog(page, 'Tag 1 picked contact').click();
      await page.getByText('1 contact changed').waitFor();
      expect(await tags()).toMatchObject({ amy: ['fair', 'spring'], bea: ['spring'] });
      await page.getByRole('link', { name: 'bea@example.org' }).waitFor({ state: 'detached' });

      await page.getByLabel('Address or name begins with').fill('am');
      await page.getByRole('link', { name: 'cat@example.org' }).waitFor({ state: 'detached' });
      await page.getByLabel('Status').selectOption('bounced');
      await page.getByText('Nothing matches').waitFor();
      expect(new URL(page.url()).search).toBe('?filter=%7B%22tag%22%3A%22fair%22%7D&q=am&status=bounced');
      await page.getByRole('link', { name: 'Show everything' }).click();
      await page.getByRole('link', { name: 'dan@example.org' }).waitFor();

      for (const name of ['eve', 'fay']) await add(list, `${name}@example.org`);
      await page.reload();
      for (const name of ['eve', 'fay']) await page.getByLabel(`Pick ${name}@example.org`).check();
      await page.getByRole('button', { name: 'Unsubscribe those picked' }).click();
      await page.getByLabel('Type 2 contacts to go on').fill('2 contacts');
      await dialog(page, 'Unsubscribe those picked').click();
      await page.getByText('2 contacts unsubscribed').waitFor();
      const left = (await contactsOf(list)).filter(({ status }) => status === 'unsubscribed');
      expect(left.map(({ email }) => email).toSorted()).toEqual(['eve@example.org', 'fay@example.org']);
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

test.skipIf(executable === null)(
  'an address that was copied with a name or with what nobody sees is tidied in its field, and its name goes where it belongs',
  async () => {
    const list = await makeList({ default_consent_basis: 'consent' });
    const { page, complaints } = await open(`/contacts/new?list=${list}`);
    await page.getByLabel('Email').fill('\u200b"Lee, Ann Maria" <copied@example.org>\u00a0');
    await page.getByRole('button', { name: 'Add the contact' }).click();
    await page.getByText('copied@example.org is added').waitFor();
    expect(await contactsOf(list)).toMatchObject([{ first_name: 'Ann Maria', last_name: 'Lee' }]);

    await page.goto(page.url().replace(/contacts\/.*/, `contacts/new?list=${list}`));
    await page.getByLabel('First name').fill('Bob');
    await page.getByLabel('Email').fill('\u202aRobert Ray <other@example.org>');
    await page.getByLabel('Last name').focus();
    expect(await page.getByLabel('Email').inputValue()).toBe('other@example.org');
    expect(await page.getByLabel('Last name').inputValue()).toBe('');
    expect(complaints).toEqual([]);
  },
  TIMEOUT_MS,
);

describe.skipIf(executable === null)('people of a list', () => {
  test('are filtered by what one enters, told so, tagged as shown, and saved as a table', async () => {
    const list = await makeList();
    await add(list, 'amy@example.org', { tags: ['fair'], custom: { plan: 'pro' } });
    await add(list, 'bea@example.org', { tags: ['fair', 'press'] });
    await add(list, 'cat@example.org', { tags: ['fair'] });
    const opened = await open(`/lists/${list}`);
    const { page, complaints } = opened;
    await page.getByRole('link', { name: 'cat@example.org' }).waitFor();
    const filter = () => page.getByRole('button', { name: 'Conditions', exact: true }).click();
    const row = (n: number) => page.getByRole('group', { name: `Condition ${n}` });
    await filter();
    await row(1).getByLabel('What').selectOption('Clicks');
    await row(1).getByLabel('Days').fill('0');
    await dialog(page, 'Show them').click();
    await page.locator('[name="filter.clicked_within_days"][aria-invalid=true]').waitFor();
    await row(1).getByLabel('What').selectOption('Tag');
    await row(1).getByLabel('Tags').fill('fair, spring');
    await dialog(page, 'Add a condition').click();
    await row(2).getByLabel('How').selectOption('is none of');
    await row(2).getByLabel('Tags').fill('press');
    await dialog(page, 'Add a condition').click();
    await row(3).getByLabel('What').selectOption('Custom field');
    await row(3).getByLabel('Field').fill('plan');
    await row(3).getByLabel('Value').fill('pro');
    await page.getByText('1 person of the list').waitFor();
    await expectSound({ page, complaints: refusals(complaints) });
    await dialog(page, 'Show them').click();
    await page
      .getByText(
        'Those who have the tags “fair” or “spring”, do not have the tag “press” and have “pro” as plan.',
      )
      .waitFor();
    await page.getByRole('link', { name: 'cat@example.org' }).waitFor({ state: 'detached' });
    // The address has it: it can be sent on, and going back takes it away.
    await page.reload();
    await page.getByRole('link', { name: 'amy@example.org' }).waitFor();
    await filter();
    await page.getByRole('button', { name: 'Remove: Condition 3' }).click();
    await dialog(page, 'Show them').click();
    await page.getByRole('link', { name: 'cat@example.org' }).waitFor();

    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Save as CSV' }).click();
    const saved = readFileSync(await (await saving).path(), 'utf8');
    expect(saved.match(/\w+@example\.org/g)?.toSorted()).toEqual(['amy@example.org', 'cat@example.org']);
    await page.getByRole('button', { name: 'Tag all' }).click();
    await page.getByLabel('Tags to add').fill('summer');
    await dialog(page, 'Tag all 2 contacts below').click();
    await page.getByText('2 contacts changed').waitFor();
    const tagged = (await contactsOf(list)).filter(({ tags }) => tags.includes('summer'));
    expect(tagged.map(({ email }) => email).toSorted()).toEqual(['amy@example.org', 'cat@example.org']);
    await page.getByRole('link', { name: 'Show everybody' }).click();
    await page.getByRole('link', { name: 'bea@example.org' }).waitFor();
    expect(refusals(complaints)).toEqual([]);
  });

  test('are found by their address on every list; what is held about one is saved, and forgotten by its name', async () => {
    const [first, second] = [await makeList({ name: 'First' }), await makeList({ name: 'Second' })];
    for (const list of [first, second]) await add(list, 'zed@example.org');
    await add(second, 'zelda@example.org');
    const { page, complaints } = await open('/contacts');
    const address = page.getByLabel('Address begins with');
    await address.fill('ze');
    await page.getByRole('link', { name: 'zelda@example.org' }).waitFor();
    expect(await page.getByRole('link', { name: 'zed@example.org' }).count()).toBe(2);
    await page.getByRole('link', { name: 'zed@example.org' }).first().click();
    await page.getByRole('link', { name: 'All about the address' }).click();
    await page.getByRole('heading', { name: 'All about zed@example.org' }).waitFor();
    const table = page.getByRole('table', { name: 'Contacts' });
    await table.getByRole('link', { name: 'Second', exact: true }).waitFor();

    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save what is held' }).click();
    const saved = await saving;
    expect(saved.suggestedFilename()).toBe('zed@example.org.json');
    const held = JSON.parse(readFileSync(await saved.path(), 'utf8'));
    expect(held).toMatchObject({ email: 'zed@example.org', contacts: [{ list: first }, { list: second }] });
    await page.getByRole('button', { name: 'Forget the address' }).click();
    await page.getByLabel('Type zed@example.org to go on').fill('zed@example.org');
    await dialog(page, 'Forget the address').click();
    await page.getByText('Forgotten: contacts (2)').waitFor();
    await page.getByText('Nothing matches').waitFor();
    expect((await contactsOf(second)).map(({ email }) => email)).toEqual(['zelda@example.org']);
    expect(refusals(complaints)).toEqual([]);
  });
});

describe.skipIf(executable === null)('an import', () => {
  test(
    'takes the columns as they were mapped, and tells and gives out what it did not take',
    async () => {
      const list = await makeList();
      const { page, complaints } = await open(`/lists/${list}/import`);
      const header = `Contact,Prénom,${HOSTILE.replaceAll('"', '""').replace(/^(.*)$/, '"$1"')},Plan,Plan`;
      await page
        .getByLabel('File', { exact: true })
        .setInputFiles(
          csv(
            `${header}\r\nzoe@example.org,"Zoe, the first",x,pro,1\r\n=nobody,,,,\r\nyan@example.org,Yan,"a\nb",,\r\n`,
          ),
        );
      expect(await page.getByLabel('What Prénom becomes').inputValue()).toBe('first_name');
      await page.getByText('Another column has this name.').waitFor();
      await page.setViewportSize(NARROW);
      await expectSound({ page, complaints });
      await page.getByRole('button', { name: 'Import the file' }).click();
      await page.getByText('Say which column holds the email addresses.', { exact: true }).waitFor();
      const stored = async () =>
        (await on.app.services.objects.list(shop().id, { q: 'visitors.csv' })).meta.total;
      expect(await stored()).toBe(0);

      await page.getByLabel('What Contact becomes').selectOption('email');
      await page.getByLabel(`What ${HOSTILE} becomes`).selectOption('keep');
      await page.getByLabel('What Plan becomes').selectOption('keep');
      await page.getByRole('button', { name: 'Import the file' }).click();
      const basis = page.getByLabel('Basis of consent').and(page.locator('[aria-invalid=true]'));
      await basis.waitFor();
      expect(await stored()).toBe(0);
      await basis.selectOption('contract');
      await page.getByLabel('Source platform').fill('No Slug');
      await page.getByLabel('Tags for everybody').fill('fair');
      await page.getByRole('button', { name: 'Import the file' }).click();
      const slug = page.getByLabel('Source platform').and(page.locator('[aria-invalid=true]'));
      await slug.waitFor();
      await slug.fill('fair-2030');
      await page.getByRole('button', { name: 'Import the file' }).click();
      await page.getByRole('heading', { name: 'Import into Readers' }).waitFor();
      await page.getByText('completed', { exact: true }).waitFor();
      await page.getByText('Left out: another column has this name.').waitFor();
      // The file went up once, though the import was refused once.
      expect(await stored()).toBe(1);
      expect(await contactsOf(list)).toMatchObject([
        { email: 'yan@example.org', first_name: 'Yan', custom: { [HOSTILE]: 'a\nb' }, tags: ['fair'] },
        {
          ...{
            email: 'zoe@example.org',
            first_name: 'Zoe, the first',
            custom: { [HOSTILE]: 'x', Plan: 'pro' },
          },
          ...{ consent_basis: 'contract', source_platform: 'fair-2030' },
        },
      ]);

      const row = page.getByRole('table', { name: 'Rows that were not taken' }).getByRole('row').nth(1);
      await row.waitFor();
      expect(await row.getByRole('cell').allTextContents()).toEqual(['=nobody', '3', 'No email address']);
      const saving = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download rejected.csv' }).click();
      const saved = await saving;
      expect(saved.suggestedFilename()).toMatch(/^rejected-[0-9A-Z]{26}\.csv$/);
      expect(readFileSync(await saved.path(), 'utf8')).toMatch(
        /^row_number,email,reason,Prénom,.*,Plan,Plan\n3,'=nobody,invalid_syntax,,,,\n$/,
      );
      expect(refusals(complaints)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'of a long file with semicolons is previewed as it is, and cancelled for good',
    async () => {
      const list = await makeList({ default_consent_basis: 'consent' });
      const { page, complaints } = await open(`/lists/${list}/import`);
      const rows = Array.from({ length: 600 }, (_, n) => `"K, p";p${n}@example.org`).join('\n');
      await page.getByLabel('File', { exact: true }).setInputFiles(csv(`sep=;\nname;email\n${rows}\n`));
      await page.getByText('p0@example.org').waitFor();
      on.app.services.imports.rowsPerMinute = () => 500;
      await page.getByRole('button', { name: 'Import the file' }).click();
      await page.getByRole('heading', { name: 'Import into Readers' }).waitFor();
      await on.app.app.engine.whenIdle();
      await page.getByText('100 of 600 rows are done (16 %).').waitFor();
      await page.getByRole('button', { name: 'Cancel the import' }).click();
      await page.getByRole('button', { name: 'End it for good' }).click();
      await page.getByText('cancelled', { exact: true }).waitFor();
      await page.getByRole('button', { name: 'Cancel the import' }).waitFor({ state: 'detached' });
      const { contacts_count } = on.app.services.lists.get(shop().id, list);
      expect([contacts_count, complaints]).toEqual([100, []]);
    },
    TIMEOUT_MS,
  );

  test(
    'of a long file goes on over a reload and a night: asked for ever more rarely, not while hidden, and no more after its end',
    async () => {
      const list = await makeList({ default_consent_basis: 'consent' });
      // As one that an API key started: a person's would be done at once.
      on.app.services.imports.rowsPerMinute = () => 500;
      const context = await signIn(on);
      await context.clock.install();
      const { page, complaints } = await openPage(on, context, `/projects/shop/lists/${list}/import`);
      const rows = Array.from({ length: 600 }, (_, n) => `p${n}@example.org`).join('\n');
      await page.getByLabel('File', { exact: true }).setInputFiles(csv(`email\n${rows}\n`));
      await page.getByRole('button', { name: 'Import the file' }).click();
      await page.getByRole('heading', { name: 'Import into Readers' }).waitFor();
      await on.app.app.engine.whenIdle();
      await page.getByText('100 of 600 rows are done (16 %).').waitFor();
      await page.reload();
      await page.getByText('100 of 600 rows are done (16 %).').waitFor();

      let looks = 0;
      page.on('request', (request) => {
        if (request.url().includes('/email-imports/')) looks += 1;
      });
      /** What follows from an answer or a timer follows within a few frames. */
      const passFrames = async (): Promise<void> => {
        for (let turn = 0; turn < 3; turn += 1) await context.clock.runFor(200);
      };
      /** Looks within a time, counted once a later request has left. */
      const looksWithin = async (ms: number): Promise<number> => {
        await passFrames();
        const before = looks;
        await context.clock.fastForward(ms);
        await passFrames();
        await askOnce(page);
        return looks - before;
      };
      const lookIn = async (passTime: () => Promise<unknown>): Promise<void> => {
        const answer = page.waitForResponse((response) => response.url().includes('/email-imports/'));
        await passTime();
        await passFrames();
        await (await answer).finished();
        await askOnce(page);
        await passFrames();
      };
      await lookIn(() => stopClock(page));
      for (let turn = 0; turn < 8; turn += 1) await lookIn(() => context.clock.fastForward(61_000));
      expect(await looksWithin(30_000)).toBe(0);
      expect(await looksWithin(31_000)).toBe(1);

      const hide = (hidden: boolean) =>
        page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${hidden} });
          document.dispatchEvent(new Event('visibilitychange'))`);
      await hide(true);
      expect(await looksWithin(8 * 3_600_000)).toBe(0);
      // Meanwhile it fails, as when the server has run into something unforeseen.
      const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
      await on.app.services.database.write((tx) => on.app.services.imports.abandon(tx, id));
      await lookIn(() => hide(false));
      await page.getByText('Something went wrong on the server.').waitFor();
      expect(await looksWithin(8 * 3_600_000)).toBe(0);

      await context.clock.resume();
      await page.getByRole('button', { name: 'Go on with it' }).click();
      await page.getByText('Something went wrong on the server.').waitFor({ state: 'detached' });
      const status = () => on.app.services.imports.get(shop().id, id).status;
      for (let turn = 0; turn < 20 && status() !== 'completed'; turn += 1) {
        on.app.clock.advance(60_000);
        on.app.app.engine.wake();
        await on.app.app.engine.whenIdle();
      }
      await context.clock.fastForward(61_000);
      await page.getByText('completed', { exact: true }).waitFor();
      expect(on.app.services.imports.get(shop().id, id)).toMatchObject({ accepted: 600, duplicate: 0 });
      expect(await looksWithin(8 * 3_600_000)).toBe(0);
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'has rows that were not taken edited and taken in again, with the columns and defaults that they had',
    async () => {
      const list = await makeList({ default_consent_basis: 'consent' });
      const { page, complaints } = await open(`/lists/${list}/import`);
      const file = csv(
        'E-Mail;Vorname;Formel;Status\nann@;Ann;=1+1;\nnobody;Bob;;Lead\nida@example.org;Ida;;\n',
      );
      await page.getByLabel('File', { exact: true }).setInputFiles(file);
      await page.getByText('ida@example.org').waitFor();
      expect(await page.getByLabel('What Status becomes').inputValue()).toBe('status');
      await page.getByLabel('What Formel becomes').selectOption('source');
      await page.getByLabel('Tags for everybody').fill('fair');
      await page.getByRole('button', { name: 'Import the file' }).click();
      await page.getByText('2 rows not taken').waitFor();
      await page.getByRole('button', { name: 'Edit and import again' }).click();
      await expectSound({ page, complaints });
      await page.getByLabel('Email of row 2').fill('ann@example.org');
      await page.getByLabel('Email of row 3').fill('\u200bBob Ray <bob@example.org>');
      await page.getByLabel('First name of row 3').fill('');
      await page.getByLabel('Status of row 3').fill('active');
      expect(await page.getByLabel('Tags for everybody').inputValue()).toBe('fair');
      await page.getByRole('button', { name: 'Import these rows' }).click();
      await page.getByText('2 rows not taken').waitFor({ state: 'detached' });
      const people = await contactsOf(list);
      expect(
        people.map(({ email, first_name, last_name, source, tags }) => [
          email,
          first_name,
          last_name,
          source,
          tags,
        ]),
      ).toEqual([
        ['bob@example.org', 'Bob', 'Ray', null, ['fair']],
        ['ann@example.org', 'Ann', null, '=1+1', ['fair']],
        ['ida@example.org', 'Ida', null, null, ['fair']],
      ]);
      expect(refusals(complaints)).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'is pasted, and the list shows it',
    async () => {
      const list = await makeList({ default_consent_basis: 'consent' });
      const { page, complaints } = await open(`/lists/${list}/import?tab=paste`);
      await page
        .getByLabel('Addresses')
        .fill('Ida Blum <ida@example.org>\nida@example.org\nleft@example.org');
      await page.getByRole('button', { name: 'Import' }).click();
      await page.getByRole('heading', { name: 'Import into Readers' }).waitFor();
      await page.getByRole('cell', { name: 'Left, bounced or complained' }).waitFor();
      expect(await contactsOf(list)).toMatchObject([{ email: 'ida@example.org', last_name: 'Blum' }]);
      await page.getByRole('link', { name: 'Readers' }).click();
      await page.getByRole('link', { name: 'Imports' }).click();
      await page.getByRole('link', { name: 'Pasted addresses' }).waitFor();
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(executable === null)('a suppression', () => {
  test(
    'is added, looked up by its address, and lifted by it',
    async () => {
      const { page, complaints } = await open('/suppressions');
      await page.getByRole('button', { name: 'Suppress an address' }).click();
      await page.getByLabel('Email').fill('away@example.org');
      await page.getByRole('button', { name: 'Suppress', exact: true }).click();
      await page.getByText('away@example.org gets no more marketing mail').waitFor();
      const find = () => on.app.services.suppressions.find(shop(), 'away@example.org');
      expect(find()?.kind).toBe('manual');
      await page.getByLabel('Whole address').fill('away@');
      await page.getByRole('button', { name: 'Look up' }).click();
      await page.getByText('must be an email address').waitFor();
      await page.getByLabel('Whole address').fill('AWAY@example.org');
      await page.getByRole('button', { name: 'Look up' }).click();
      await page.getByRole('button', { name: 'Lift' }).click();
      await page.getByLabel('Type').fill('AWAY@example.org');
      await dialog(page, 'Lift').click();
      await page.getByText('Nothing matches').waitFor();
      expect(find()).toBeNull();
      const lifted = on.app.services.database.read.all(
        sql`SELECT actor_name FROM audit_events WHERE event = 'suppression.lifted'`,
      );
      expect(lifted).toEqual([{ actor_name: 'Ann Example' }]);
      expect(refusals(complaints)).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

describe.skipIf(executable === null)('the marketing settings', () => {
  test(
    'are changed field by field, and tell what is missing before a sequence can be activated',
    async () => {
      const { plaintext_key: key } = await on.app.services.keys.create(actor, shop(), {
        ...{ name: 'pictures', can_write: true },
      });
      const body = new FormData();
      body.set('visibility', 'public');
      body.set('file', new File([Uint8Array.fromBase64(PIXEL)], 'logo.png', { type: 'image/png' }));
      expect((await on.app.call('POST', '/api/v1/objects', { key, body })).status).toBe(201);
      const { page, complaints } = await open('/marketing');
      const read = () => on.app.services.marketing.settings(shop().id);
      const before = read();
      await page.getByText('There is no postal address.').waitFor();
      await page.getByText('No mailbox has SPF, DKIM and DMARC in place.').waitFor();
      await page.getByLabel('Window opens').fill('08:00');
      const colour = page.getByLabel('Brand colour');
      await colour.fill('reddish');
      await page.getByLabel('Window closes').fill('18:00');
      await page.getByLabel('Marketing is enabled').check();
      await page.getByLabel('Postal address').fill('Corner shop\n1 High Street');
      await page.getByText('Advanced', { exact: true }).click();
      await page.getByLabel('Daily cap').fill('');
      await page.getByLabel('Link to read it in the browser').uncheck();
      await page.getByRole('button', { name: 'Save the settings' }).click();
      await page.locator('[aria-invalid=true]').waitFor();
      expect(await colour.getAttribute('aria-invalid')).toBe('true');
      expect(read()).toEqual(before);
      await page.getByLabel('Choose by eye').fill('#aa3377');
      expect(await colour.inputValue()).toBe('#aa3377');
      await page.getByLabel('Time zone').fill('Europe/Lisbon');
      await page.getByRole('group', { name: 'Mailboxes' }).getByRole('checkbox').first().check();
      // Readers load it over TLS, which this Satchel is not reached by: as if it were.
      await page.route('**/projects/shop/objects?*', async (route) => {
        const response = await route.fetch();
        const told = (await response.text()).replaceAll('http://127.0.0.1:8420', SECURE);
        await route.fulfill({ response, body: told });
      });
      await page.route(`${SECURE}/**`, (route) => route.fulfill({ status: 204 }));
      await page.getByRole('button', { name: 'Choose from Files' }).click();
      await dialog(page, 'logo.png').waitFor();
      await expectSound({ page, complaints: refusals(complaints) });
      await dialog(page, 'logo.png').click();
      const logo = await page.getByLabel('Logo').inputValue();
      expect(logo).toStartWith(`${SECURE}/`);
      // The newsletter beside shows what was chosen.
      await page.frameLocator('.preview-frame').locator(`img[src="${logo}"]`).waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Save the settings' }).click();
      await page.getByText('There is no postal address.').waitFor({ state: 'detached' });
      expect(read()).toEqual({
        ...before,
        ...{ enabled: true, postal_address: 'Corner shop\n1 High Street', daily_cap: null },
        ...{ send_window_start: '08:00', send_window_end: '18:00', timezone: 'Europe/Lisbon' },
        ...{
          brand_color: '#aa3377',
          view_link: false,
          brand_logo_url: logo,
          accounts: [expect.stringContaining('@')],
        },
      });
      expect(await page.getByText('Marketing is not enabled.').count()).toBe(0);
      expect(refusals(complaints).filter((told) => !told.includes(SECURE))).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
