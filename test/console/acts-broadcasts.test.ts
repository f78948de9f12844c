/** What people do with broadcasts in the console, in a real browser and with a real relay, and what the API tells of it afterwards. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { parseRelay } from '../../src/mail/mailboxes/relay.ts';
import type { BroadcastRecord } from '../../src/marketing/broadcasts/schemas.ts';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { BROWSER } from '../marketing/mails/setup.ts';
import { actor, addCapturingMailbox, makeProject } from '../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { until } from '../support/until.ts';
import {
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  expectSound,
  NARROW,
  openSignedIn,
} from './browser.ts';
import { readStop, tabTo } from './stops.ts';

const PEOPLE = ['ada', 'ben', 'cleo', 'dora', 'emil'];

let on: ConsoleTest;
let sink: SmtpSink;
let list = '';
beforeAll(async () => {
  sink = await startSmtpSink();
});
afterAll(() => sink.stop());
beforeAllInConsole(async (started) => {
  on = started;
  await addCapturingMailbox(on.app);
  await on.app.services.mailboxes.add(actor, {
    ...{ address: 'letters@mail.example.com', relay: parseRelay(`smtp://127.0.0.1:${sink.port}`) },
    ...{ daily_limit: null, return_path: null, for_transactional: false, for_marketing: true },
  });
  const { records } = await on.app.services.sending_domains.verify(actor, 'mail.example.com');
  for (const { name, value } of records) on.dns.set(name, { txt: [value] });
  await makeProject(on.app, 'magazine');
  await setMarketing({ enabled: true, from_name: 'Magazine', postal_address: '1 High Street, Springfield' });
  await on.app.services.templates.create(
    magazine().id,
    {
      ...{ name: 'Letter', slug: 'letter', subject: 'A letter', body_markdown: 'Dear {{ first_name }}' },
      ...{ category: 'marketing', is_marketing: true, layout: 'marketing' },
    },
    noNote,
  );
  list = await makeList(PEOPLE);
});
beforeEach(() => {
  sink.behavior = {};
});

const magazine = () => on.app.services.projects.require('magazine');
const setMarketing = (changes: Parameters<typeof on.app.services.marketing.change>[1]) =>
  on.app.services.marketing.change(magazine().id, changes, noNote);
async function makeList(people: readonly string[]): Promise<string> {
  const { lists, contacts } = on.app.services;
  const { id } = await lists.create(magazine().id, { name: 'Readers' }, noNote);
  for (const first_name of people)
    await contacts.add(
      magazine(),
      lists.require(magazine().id, id),
      {
        ...{ email: `${first_name}@example.org`, first_name, last_name: null, custom: {}, source: null },
        ...{ tags: ['ada', 'ben'].includes(first_name) ? ['vip'] : [], reason: null, is_test: false },
        ...{ source_platform: 'api', consent_basis: 'consent', consent_at: 0, consent_ip: null },
        consent_origin: null,
      },
      noNote,
    );
  return id;
}
/** Slugs of the words that broadcasts have of their own. */
const wordsIn = () =>
  on.app.services.templates
    .list(magazine().id, { with_own: true })
    .flatMap(({ is_own, slug }) => (is_own ? [slug] : []));
/** Of the broadcast whose mail is written. */
const idOf = (page: Page): string => page.url().split('/').at(-2) ?? '';
const recordOf = (id: string): BroadcastRecord => on.app.services.broadcasts.get(magazine().id, id);
const draft = async (name: string, fields: object = {}): Promise<string> =>
  (
    await on.app.services.broadcasts.create(
      magazine().id,
      { name, list, template: 'letter', ...fields },
      noNote,
    )
  ).id;
const open = async (path: string) => openSignedIn(on, `/projects/magazine/broadcasts${path}`);
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name, exact: true });
/** In place of what a new mail starts with. */
async function writeWords(page: Page, words: string): Promise<void> {
  await page.getByLabel('Markdown of the mail').focus();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(words);
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).waitFor();
}
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const refusals = (complaints: readonly string[]) => complaints.filter((told) => !/\b(409|422)\b/.test(told));
/** Lets happen what is due by then. */
async function pass(hours = 0): Promise<void> {
  on.app.clock.at_ms += hours * 3_600_000;
  on.app.app.engine.wake();
  await on.app.app.engine.whenIdle();
}
/** What a relay that is busy leaves for later. */
const BUSY = { data: { code: 451, message: '4.2.0 Try later' } };

describe.skipIf(executable === null)('a broadcast', () => {
  test('is written, tested, sent to the number that was agreed to, watched, and read', async () => {
    const { page, complaints } = await open('/new');
    await page.getByLabel('Name', { exact: true }).fill('June news');
    await button(page, 'Write the mail').click();
    // Nothing is made of it before all is there.
    await page.locator('[name=list][aria-invalid=true]').waitFor();
    expect(wordsIn()).toEqual([]);
    await page.getByLabel('List', { exact: true }).selectOption({ label: 'Readers' });
    await page.getByText('5 people of the list, as it is now').waitFor();
    await button(page, 'Write the mail').click();
    await page.getByRole('heading', { name: 'June news', level: 1 }).waitFor();
    const id = idOf(page);
    const template = String(recordOf(id).template);
    expect(recordOf(id)).toMatchObject({ status: 'draft', list, filter: null });
    expect(wordsIn()).toEqual([template]);

    await page.getByLabel('Subject').fill('News for {{ first_name }}');
    await page.getByLabel('Preheader').fill('Of June');
    await page.getByLabel('Markdown of the mail').click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('Hello\n\n[Read on](https://magazine.example.com/june)');
    const mail = page.frameLocator('iframe');
    await mail.getByRole('link', { name: 'Read on' }).waitFor();
    await mail.getByText('1 High Street, Springfield').waitFor();
    await page.locator('.inbox-line').getByText('News for there').waitFor();
    await page.getByText('With whose values?').click();
    await button(page, 'A contact').click();
    await page.getByLabel('Address or name of a contact').fill('ada@');
    await page.getByRole('button', { name: 'Take ada@example.org' }).click();
    await page.locator('.inbox-line').getByText('News for ada').waitFor();
    await page.locator('summary', { hasText: 'Merge field' }).click();
    await page.getByRole('button', { name: 'unsubscribe_url' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByText('Saved', { exact: true }).waitFor();
    await until(() => recordOf(id).preheader === 'Of June');
    await page.getByRole('link', { name: 'Review and send' }).click();
    await mail.getByRole('link', { name: 'Read on' }).waitFor();
    await button(page, 'Send a test').click();
    await page.getByRole('dialog').getByLabel('To').fill('editor@example.org');
    await button(page, 'Send the test').click();
    await page.getByText('On its way to editor@example.org').waitFor();
    await pass();
    expect(sink.mails.map(({ envelope }) => envelope.to)).toEqual([['editor@example.org']]);
    await page.keyboard.press('Escape');

    await page.getByText('Everything is in place').waitFor();
    await page.setViewportSize(NARROW);
    await expectSound({ page, complaints: refusals(complaints) });
    sink.behavior = BUSY;
    await button(page, 'Send it now').click();
    const asked = dialog(page, 'Mail 5 people now?');
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(recordOf(id).status).toBe('draft');
    await button(page, 'Send it now').click();
    await asked.getByRole('button', { name: 'Mail 5 people' }).click();
    await page.getByText('sending', { exact: true }).waitFor();
    await pass();
    await page.getByText('5 waiting').waitFor();
    sink.behavior = {};
    await pass(1);
    // It is looked at by itself.
    await page.getByText('sent', { exact: true }).waitFor();
    expect(recordOf(id)).toMatchObject({ status: 'sent', recipients: 5, stats: { sent: 5 } });

    const raw = sink.mails.at(-1)?.raw.toString().replace(/=\r\n/g, '').replace(/=3D/g, '=') ?? '';
    const [link = ''] = raw.match(/http:\/\/127\.0\.0\.1:8420\/c\/[0-9a-z.-]+/) ?? [];
    const { pathname } = new URL(link);
    await on.app.call('GET', pathname, { headers: { 'User-Agent': BROWSER } });
    on.app.clock.advance(11_000);
    await on.app.services.clicks.settle();
    await page.reload();
    const row = page.getByRole('table', { name: 'Links' }).getByRole('row').nth(1);
    await row.waitFor();
    expect(await row.getByRole('cell').allTextContents()).toEqual([
      ...['https://magazine.example.com/june', '1', '20.0%', '1'],
    ]);
    await page.getByText('The same in numbers').click();
    const hours = page.getByRole('table', { name: 'When it was sent, clicked and opened' });
    await hours.getByRole('row').nth(1).waitFor();
    expect(await hours.getByRole('cell').allTextContents()).toEqual(['5', '1']);
    await page.getByRole('link', { name: 'Recipients' }).click();
    await page.getByRole('link', { name: 'ada@example.org' }).waitFor();
    expect(await page.getByRole('link', { name: 'Its story' }).count()).toBe(5);
    await page.goto(`${on.app.url}/console/projects/magazine/audit`);
    await page
      .getByRole('link', { name: /the broadcast June news/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'June news', level: 1 }).waitFor();
    expect(refusals(complaints)).toEqual([]);
  });

  test('goes to those whom its filter fits, and a second of its name is not made unasked', async () => {
    await draft('July news');
    const { page, complaints } = await open('/new');
    await page.getByLabel('Name', { exact: true }).fill('July news');
    await page.getByLabel('List', { exact: true }).selectOption({ label: 'Readers' });
    await page.getByLabel('Begin with').selectOption('letter');
    await page.getByText('Only some of the list').click();
    await page.getByLabel('Tags').fill('vip, press');
    await page.getByText('2 people of the list').waitFor();
    await button(page, 'Add a condition').click();
    const second = page.getByRole('group', { name: 'Condition 2' });
    await second.getByLabel('What').selectOption('Clicks');
    await second.getByLabel('Days').fill('0');
    await page.locator('p.wrong[role=status]').waitFor();
    await second.getByLabel('What').selectOption('Custom field');
    await second.getByLabel('Field').fill('plan');
    await second.getByLabel('Value').fill('pro');
    await page.getByText('0 people of the list').waitFor();
    await button(page, 'Remove: Condition 2').click();
    await page.getByText('2 people of the list').waitFor();
    await button(page, 'Write the mail').click();
    const asked = dialog(page, 'A second broadcast named July news?');
    await asked.getByRole('button', { name: 'Make a second broadcast' }).click();
    await page.getByRole('heading', { name: 'July news', level: 1 }).waitFor();
    const id = idOf(page);
    await page.getByRole('link', { name: 'Review and send' }).click();
    expect(recordOf(id).filter).toEqual({ tags_any: ['vip', 'press'] });
    await page.getByText('3 others would be left out').waitFor();
    await page.getByText('does not fit the filter').waitFor();
    await button(page, 'Send it now').click();
    await dialog(page, 'Mail 2 people now?').getByRole('button', { name: 'Mail 2 people' }).click();
    await until(() => recordOf(id).status !== 'draft');
    await pass();
    expect(recordOf(id)).toMatchObject({ stats: { sent: 2 }, left_out: { by_reason: { filter: 3 } } });
    // What went to some alone is in the archive only once somebody says so.
    await on.app.services.lists.update(magazine().id, list, { archive: true }, noNote);
    await page.getByRole('link', { name: 'About', exact: true }).click();
    await page.getByText('Nobody reads it in the archive').waitFor();
    await button(page, 'Put it into the archive').click();
    const { archive_url } = on.app.services.lists.get(magazine().id, list);
    await page.getByRole('link', { name: `${archive_url}/${id}` }).waitFor();
    expect(recordOf(id).in_archive).toBe(true);
    await button(page, 'Keep it out').click();
    await page.getByText('Nobody reads it in the archive').waitFor();
    expect(recordOf(id).in_archive).toBe(false);
    await on.app.services.lists.update(magazine().id, list, { archive: false }, noNote);
    expect(refusals(complaints)).toEqual([]);
  });

  test('tries two subjects on a part of its people, tells them side by side, and sends the chosen one to the rest', async () => {
    const { page, complaints } = await open('/new');
    await page.getByLabel('Name', { exact: true }).fill('Two subjects');
    await page.getByLabel('List', { exact: true }).selectOption({ label: 'Readers' });
    await page.getByLabel('Begin with').selectOption('letter');
    await page.getByLabel('Try several variants first').check();
    await page.getByLabel('Subject of variant B').fill('Another word');
    await page.getByLabel('Percent of the people who try them').fill('60');
    await page.getByLabel('The rest gets').selectOption('manual');
    await page.getByText('UTM parameters of its links').click();
    await page.getByLabel('UTM source').fill('news');
    await button(page, 'Write the mail').click();
    await page
      .getByRole('alert')
      .filter({ hasText: /Percent|share|Not accepted/ })
      .waitFor();
    await page.getByLabel('Percent of the people who try them').fill('50');
    await button(page, 'Write the mail').click();
    await page.getByRole('heading', { name: 'Two subjects', level: 1 }).waitFor();
    const id = idOf(page);
    await page.getByRole('link', { name: 'Review and send' }).click();
    expect(recordOf(id).utm).toEqual({ source: 'news' });
    expect(recordOf(id).ab).toMatchObject({
      variants: [{ name: 'A' }, { name: 'B', subject: 'Another word' }],
      share: 50,
      decide_by: 'manual',
    });
    await button(page, 'Send it now').click();
    await dialog(page, 'Mail 5 people now?').getByRole('button', { name: 'Mail 5 people' }).click();
    await until(async () => {
      await pass();
      return recordOf(id).status === 'testing';
    });
    await page.reload();
    const variants = page.getByRole('table', { name: 'Variants' });
    await variants.getByText('Another word').waitFor();
    await page.getByText('Nobody has clicked yet').waitFor();
    await expectSound({ page, complaints: refusals(complaints) });
    await button(page, 'Send B to the rest').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Send B' }).click();
    await variants.getByText('chosen').waitFor();
    expect(recordOf(id).ab?.winner).toBe('B');
  });

  test('goes to a segment of its list in place of a filter', async () => {
    const { segments } = on.app.services;
    const filter = { tags_any: ['vip', 'press'] };
    const kept = await segments.create(magazine().id, { name: 'Friends', list, filter }, noNote);
    const { page, complaints } = await open('/new');
    await page.getByLabel('Name', { exact: true }).fill('To friends');
    await page.getByLabel('List', { exact: true }).selectOption({ label: 'Readers' });
    await page.getByLabel('Begin with').selectOption('letter');
    await page.getByLabel('Segment').selectOption({ label: 'Friends' });
    await page.getByText('2 people of the list').waitFor();
    expect(await page.getByText('Only some of the list').count()).toBe(0);
    await button(page, 'Write the mail').click();
    await page.getByRole('heading', { name: 'To friends', level: 1 }).waitFor();
    const id = idOf(page);
    await page.getByRole('link', { name: 'Review and send' }).click();
    expect(recordOf(id)).toMatchObject({ segment: kept.id, filter: null });
    await page.getByText('3 others would be left out').waitFor();
    await page.goto(`${on.app.url}/console/projects/magazine/broadcasts/${id}/edit`);
    await page.getByText('2 people of the list').waitFor();
    await page.getByLabel('Segment').selectOption('');
    await page.getByText('5 people of the list').waitFor();
    await button(page, 'Save the broadcast').click();
    await page.getByText('The broadcast is saved').waitFor();
    expect(recordOf(id)).toMatchObject({ segment: null, filter: null });
    expect(refusals(complaints)).toEqual([]);
  });

  test('is scheduled for a time to come, taken back, changed under somebody, and sent when its time comes', async () => {
    const id = await draft('August news');
    const { page, complaints } = await open(`/${id}`);
    const schedule = async (at: string): Promise<void> => {
      await page.getByLabel('When', { exact: true }).selectOption('later');
      await page.getByLabel('Date and time').fill(at);
      await button(page, 'Schedule it').click();
    };
    const agree = async (): Promise<void> => {
      await dialog(page, 'Mail 5 people at that time?').getByRole('button', { name: 'Schedule it' }).click();
    };
    await schedule('2020-01-01T09:00');
    await page.locator('[name=send_at][aria-invalid=true]').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    const soon = await page.evaluate<string>(`(() => {
      const at = new Date(Date.now() + 48 * 3600000);
      return new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
    })()`);
    await schedule(soon);
    await agree();
    await page.getByText('It goes out').waitFor();
    expect(recordOf(id)).toMatchObject({ status: 'scheduled', started_at: null });
    await button(page, 'Make it a draft again').click();
    await page.getByText('draft', { exact: true }).waitFor();
    expect(recordOf(id)).toMatchObject({ status: 'draft', send_at: null });

    await page.getByRole('link', { name: 'Edit', exact: true }).click();
    await page.getByLabel('Name', { exact: true }).fill('Late news');
    const changes = { filter: { tags_any: ['vip'] }, track_opens: true };
    await on.app.services.broadcast_life.change(magazine().id, id, changes, noNote);
    await button(page, 'Save the broadcast').click();
    await page.getByText('This was changed since you read it').waitFor();
    expect(recordOf(id).name).toBe('August news');
    await until(async () => (await page.getByLabel('Tags').inputValue()) === 'vip');
    await button(page, 'Save the broadcast').click();
    await page.getByRole('heading', { name: 'Late news', level: 1, exact: true }).waitFor();
    expect(recordOf(id)).toMatchObject({
      name: 'Late news',
      filter: { tags_any: ['vip'] },
      track_opens: true,
    });

    await on.app.services.broadcast_life.change(magazine().id, id, { filter: null }, noNote);
    await schedule(soon);
    await agree();
    await page.getByText('It goes out').waitFor();
    await pass(49);
    expect(recordOf(id)).toMatchObject({ status: 'sent', stats: { sent: 5 } });
    expect(refusals(complaints)).toEqual([]);
  });

  test('that is on its way pauses, goes on, and is cancelled for good and deleted by its name', async () => {
    sink.behavior = BUSY;
    const id = await draft('Slow news');
    await on.app.services.broadcast_life.send(actor, magazine(), id, { is_test: false });
    await pass();
    const { page, complaints } = await open(`/${id}`);
    await page.getByText('0 of 5 mails are done').waitFor();
    await button(page, 'Pause').click();
    await page.getByText('Paused by hand.').waitFor();
    expect(recordOf(id)).toMatchObject({ status: 'paused', pause_reason: 'manual' });
    await setMarketing({ enabled: false });
    await button(page, 'Resume').click();
    await page.getByText('It paused by itself: something was missing when its time came.').waitFor();
    const missing = page.getByRole('list', { name: 'What is missing' });
    await missing.getByText('Marketing is not enabled.', { exact: true }).waitFor();
    await expectSound({ page, complaints: refusals(complaints) });
    await setMarketing({ enabled: true });
    await button(page, 'Resume').click();
    await page.getByText('sending', { exact: true }).waitFor();
    expect(recordOf(id).status).toBe('sending');

    await button(page, 'Cancel the broadcast').click();
    const asked = dialog(page, 'Cancel Slow news for good?');
    await asked.getByText('0 mails went out').waitFor();
    await asked.getByRole('button', { name: 'Keep it' }).click();
    await asked.waitFor({ state: 'detached' });
    expect(recordOf(id).status).toBe('sending');
    await button(page, 'Cancel the broadcast').click();
    await asked.getByRole('button', { name: 'Cancel the broadcast' }).click();
    await page.getByText('cancelled', { exact: true }).waitFor();
    expect(recordOf(id)).toMatchObject({ status: 'cancelled', stats: { sent: 0, waiting: 0 } });
    await button(page, 'Copy').click();
    await page.getByRole('heading', { name: 'Slow news (copy)', level: 1 }).waitFor();
    await page.goBack();
    await button(page, 'Copy').click();
    await dialog(page, 'A second broadcast named Slow news (copy)?')
      .getByRole('button', { name: 'Cancel' })
      .click();
    await page.getByRole('link', { name: 'About' }).click();
    await button(page, 'Delete the broadcast').click();
    await page.getByLabel('Type Slow news to go on').fill('Slow news');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the broadcast' }).click();
    await page.getByRole('heading', { name: 'Broadcasts', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Slow news (copy)' }).waitFor();
    expect(() => recordOf(id)).toThrow('not found');
    expect(refusals(complaints)).toEqual([]);
  });

  test('that lacks something says so in the words of the fields, with the way to where it is mended', async () => {
    await setMarketing({ postal_address: null, from_name: null });
    const id = await draft('Empty news', { template: undefined });
    const { page, complaints } = await open(`/${id}`);
    const missing = page.getByRole('list', { name: 'What is missing' });
    await missing.getByRole('listitem').first().waitFor();
    expect(await missing.getByRole('listitem').allTextContents()).toEqual([
      'There is no from name.Marketing settings',
      'There is no postal address.Marketing settings',
      'There is no mail yet.Write the mail',
    ]);
    await setMarketing({ postal_address: '1 High Street, Springfield', from_name: 'Magazine' });
    await button(page, 'Send it now').click();
    await page.getByText('It cannot be sent yet: see above what is missing.').waitFor();
    await until(async () => (await missing.getByRole('listitem').count()) === 1);
    expect(recordOf(id).status).toBe('draft');
    await missing.getByRole('link', { name: 'Write the mail' }).click();
    await page.getByLabel('Subject').fill('A subject at last');
    await page.getByText('Saved', { exact: true }).waitFor();
    await until(() => recordOf(id).template !== null);
    await page.getByRole('link', { name: 'Review and send' }).click();
    await missing.getByText('The mail still says “Write here what the mail is about.”').waitFor();
    await missing.getByRole('link', { name: 'Write the mail' }).click();
    await writeWords(page, 'Words at last');
    await page.getByRole('link', { name: 'Review and send' }).click();
    await page.getByText('Everything is in place').waitFor();
    const { templates } = on.app.services;
    expect(templates.get(magazine().id, String(recordOf(id).template))).toMatchObject({
      ...{ subject: 'A subject at last', layout: 'marketing', is_own: true },
    });
    expect(refusals(complaints)).toEqual([]);
  });

  test('that takes a template has words of its own once it is written, and one that waits for its time keeps them until they are published', async () => {
    const id = await draft('Shared news');
    const { templates } = on.app.services;
    const letter = templates.get(magazine().id, 'letter');
    const { page, complaints } = await open(`/${id}/write`);
    await page.getByLabel('Subject').fill('Not that letter');
    await until(() => recordOf(id).template !== 'letter');
    const own = () => templates.get(magazine().id, String(recordOf(id).template));
    expect(own()).toMatchObject({ subject: 'Not that letter', body_markdown: letter.body_markdown });
    expect(templates.get(magazine().id, 'letter')).toEqual(letter);

    const send_at = new Date(on.app.clock.now() + 86_400_000).toISOString();
    await on.app.services.broadcast_life.send(actor, magazine(), id, { send_at, is_test: false });
    await page.reload();
    await page.getByLabel('Subject').fill('Later');
    await page.getByText('Draft saved').waitFor();
    await until(() => own().draft?.subject === 'Later');
    expect(own().subject).toBe('Not that letter');
    await page.getByRole('button', { name: 'Start from a template' }).click();
    await button(page, 'Take its words').click();
    await until(() => own().draft?.subject === 'A letter');
    await button(page, 'Publish').click();
    await until(() => own().subject === 'A letter');
    expect(refusals(complaints)).toEqual([]);
  });

  test('is written, tested and sent by the keyboard alone, and what was entered is not left behind unasked', async () => {
    const { page, complaints } = await open('');
    await tabTo(page, 'New broadcast');
    await page.keyboard.press('Enter');
    await until(async () => (await readStop(page)).name === 'Name');
    await page.keyboard.type('Keys');
    await tabTo(page, 'List');
    await page.locator('option', { hasText: 'Readers' }).waitFor({ state: 'attached' });
    await page.keyboard.type('Readers');
    await page.getByText('5 people of the list').waitFor();
    await tabTo(page, 'Only some of the list');
    await page.keyboard.press('Enter');
    await tabTo(page, 'Tags');
    await page.keyboard.type('vip');
    await page.getByText('2 people of the list').waitFor();

    await page.getByRole('link', { name: 'Lists', exact: true }).click();
    const leave = dialog(page, 'Leave without saving?');
    await leave.waitFor();
    await page.keyboard.press('Escape');
    await leave.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Keys');
    await page.getByLabel('Tags').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    const id = idOf(page);
    await tabTo(page, 'Subject');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('By keys');
    await writeWords(page, 'Written by keys');
    await page.getByRole('link', { name: 'Review and send' }).focus();
    await page.keyboard.press('Enter');

    await page.getByText('Everything is in place').waitFor();
    await tabTo(page, 'Send a test');
    await page.keyboard.press('Enter');
    await until(async () => (await readStop(page)).name === 'To');
    await page.keyboard.press('Enter');
    await page.getByText('On its way to ann@example.org').waitFor();
    await page.keyboard.press('Escape');
    await until(async () => (await readStop(page)).name === 'Send a test');
    // Past the mail, which is a page of its own.
    await button(page, 'Check again').focus();
    await tabTo(page, 'Send it now');
    await page.keyboard.press('Enter');
    await dialog(page, 'Mail 2 people now?').waitFor();
    // Whoever presses Enter twice has sent nothing.
    expect(await readStop(page)).toMatchObject({ name: 'Cancel', place: 'dialog' });
    await page.keyboard.press('Enter');
    await dialog(page, 'Mail 2 people now?').waitFor({ state: 'detached' });
    expect(recordOf(id).status).toBe('draft');
    await until(async () => (await readStop(page)).name === 'Send it now');
    await page.keyboard.press('Enter');
    await dialog(page, 'Mail 2 people now?').waitFor();
    await page.keyboard.press('Shift+Tab');
    expect((await readStop(page)).name).toBe('Mail 2 people');
    await page.keyboard.press('Enter');
    await page.getByText('It is on its way').waitFor();
    await pass();
    expect(recordOf(id)).toMatchObject({ status: 'sent', stats: { sent: 2 } });
    expect(refusals(complaints)).toEqual([]);
  });
});
