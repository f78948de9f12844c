/** What people do with sequences in the console, in a real browser, and what the API tells of it afterwards. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { SequenceRecord } from '../../src/marketing/sequences/service.ts';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { actor, addCapturingMailbox } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import { beforeAllInConsole, type ConsoleTest, executable, openSignedIn, TIMEOUT_MS } from './browser.ts';
import { HOSTILE } from './sample-data.ts';
import { addSequences, type SequencesSample } from './sample-sequences.ts';
import { readStop, tabTo } from './stops.ts';

let on: ConsoleTest;
let sample: SequencesSample;
let project_id = 0;
let list = '';

beforeAllInConsole(async (started) => {
  on = started;
  await addCapturingMailbox(on.app);
  const now_ms = on.app.clock.at_ms;
  sample = await addSequences(on.app, now_ms, HOSTILE);
  on.app.clock.at_ms = now_ms;
  project_id = on.app.services.projects.require(sample.magazine).id;
  list = recordOf(sample.running).list;
});

const recordOf = (id: string): SequenceRecord => on.app.services.sequences.get(project_id, id);
const open = async (path: string) => openSignedIn(on, `/projects/${sample.magazine}/sequences${path}`);
const make = (fields: Partial<Parameters<typeof on.app.services.sequences.create>[1]>) =>
  on.app.services.sequences.create(
    project_id,
    { name: 'Made', list, max_recipients: 100, ...fields },
    noNote,
  );
const stepOf = (page: Page, key: string) => page.getByRole('group', { name: `Step ${key}`, exact: true });
const countMails = (): unknown =>
  on.app.services.database.read.$client.query('SELECT count(*) AS n FROM emails').get();
const TWO = [
  { key: 'a', template: 'welcome' },
  { key: 'b', template: 'offer', delay_hours: 24, is_final: true },
];
/** The DNS records without which nothing may start. */
async function publish(): Promise<void> {
  const { records } = await on.app.services.sending_domains.verify(actor, 'mail.example.com');
  for (const { name, value } of records) on.dns.set(name, { txt: [value] });
}
async function pass(hours = 0): Promise<void> {
  on.app.clock.at_ms += hours * 3_600_000;
  on.app.app.engine.wake();
  await on.app.app.engine.whenIdle();
}

describe.skipIf(executable === null)('in a browser', () => {
  test(
    'a sequence is written in its picture, step by step, with conditions and a second track, and what is refused stands at its step',
    async () => {
      const { page, complaints } = await open('/new');
      await page.getByLabel('Name').fill('Three letters');
      await page.getByLabel('List').selectOption({ label: 'Readers' });
      await page.locator('[name=max_recipients][value="1000"]').waitFor();
      await page.getByLabel('Maximum number of contacts').fill('50');
      await page.getByRole('button', { name: 'Create the draft' }).click();
      await page.getByRole('heading', { name: 'Three letters', level: 1 }).waitFor();

      const add = page.getByRole('button', { name: 'Add a step', exact: true });
      for (const key of ['step-1', 'step-2']) {
        await add.click();
        await stepOf(page, key).getByLabel('Words', { exact: true }).selectOption('welcome');
      }
      const second = stepOf(page, 'step-2');
      await second.getByLabel('Sent after').fill('3');
      await second.getByLabel('Sent if').selectOption('all');
      await second.getByRole('button', { name: 'Add a condition' }).click();
      await second.getByLabel('And this').selectOption('no_event');
      await second.getByLabel('Event', { exact: true }).fill('Bought It');
      await second.getByLabel('Otherwise').selectOption('route');
      // The picture says it, and draws it, as it is typed.
      await second.getByLabel('Track to go on in').fill('later');
      await page.getByText('3 days after the mail before was sent', { exact: true }).waitFor();
      await second
        .getByText(
          'Only if a link of the mail before was clicked, and Bought It did not happen since being enrolled. Otherwise they go on in the track later.',
        )
        .waitFor();
      await page.getByText('From step-2').waitFor();
      await page.locator('.route-lines > path').waitFor({ state: 'attached' });
      await page.getByRole('button', { name: 'Add a step to later' }).click();
      await stepOf(page, 'step-3').getByLabel('Words', { exact: true }).selectOption('offer');
      await stepOf(page, 'step-3').getByLabel('Key').fill('late');
      await page.getByRole('button', { name: 'Add a step before late' }).click();
      await stepOf(page, 'step-4').getByLabel('Words', { exact: true }).selectOption('welcome');
      await stepOf(page, 'step-4').getByLabel('Track', { exact: true }).selectOption('main');
      await page.getByRole('button', { name: 'Remove step-1' }).click();
      await second.getByRole('button', { name: 'Add a variable' }).click();
      await second.getByLabel('Name of variable 1').fill('issue');
      await second.getByLabel('Value of variable 1').fill('3');
      await second.locator('summary').click();
      expect(await second.getByLabel('Key').isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Activate' }).click();
      await page.getByText('Save the steps first').waitFor();
      await page.getByRole('button', { name: 'Save the steps' }).click();

      // Its card opens at the field.
      const event = second.getByLabel('Event', { exact: true });
      await second.locator('[aria-invalid=true]').waitFor();
      expect(await event.getAttribute('aria-invalid')).toBe('true');
      expect(await page.locator('[aria-invalid=true]').count()).toBe(1);
      // What is said stays with its step where the step moves.
      const down = page.getByRole('button', { name: 'Move step-2 down' });
      await down.focus();
      await page.keyboard.press('Enter');
      await page.getByText('step-2 is now step 2 of 2').waitFor({ state: 'attached' });
      // At the end the button has nowhere to go, and the keyboard is left at the one beside it.
      const focused = 'document.activeElement.getAttribute("aria-label")';
      await until(async () => (await page.evaluate(focused)) === 'Move step-2 up');
      expect(await event.getAttribute('aria-invalid')).toBe('true');
      await event.fill('bought');
      await page.getByRole('button', { name: 'Save the steps' }).click();
      await page.getByText('The steps are saved').waitFor();

      const id = page.url().split('/').at(-1) ?? '';
      expect(recordOf(id)).toMatchObject({
        name: 'Three letters',
        status: 'draft',
        max_recipients: 50,
        list,
      });
      expect(recordOf(id).steps).toMatchObject([
        { key: 'step-4', track: 'main', template: 'welcome', delay_hours: 24, is_final: false },
        {
          ...{ key: 'step-2', track: 'main', delay_hours: 72, variables: { issue: '3' }, is_final: true },
          condition: {
            ...{ type: 'all', of: [{ type: 'clicked' }, { type: 'no_event', event: 'bought' }] },
            else: { route_to: 'later' },
          },
        },
        { key: 'late', track: 'later', delay_hours: 0, is_final: true },
      ]);
      // Each track is a list of its own to who hears the page.
      const later = page.getByRole('list', { name: 'Track later' });
      expect(await later.getByRole('heading').allTextContents()).toEqual(['late']);
      expect(await page.locator('.route-lines > path').count()).toBe(1);
      expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
      // Nothing is left unsaved.
      await page.getByRole('link', { name: 'Preview', exact: true }).click();
      await page.getByRole('list', { name: 'What comes' }).waitFor();
    },
    TIMEOUT_MS,
  );

  test(
    'its steps are written by the keyboard alone, and what is not saved is not left behind unasked',
    async () => {
      const { id } = await make({ name: 'By keys', steps: TWO });
      const { page, complaints } = await open(`/${id}`);
      await tabTo(page, 'Add a step before b');
      await page.keyboard.press('Enter');
      // It opens, and begins with a field to fill.
      await until(async () => (await readStop(page)).name === 'Key');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('between');
      await tabTo(page, 'Words');
      await page.keyboard.type('offer');
      await tabTo(page, 'Sent after');
      await page.keyboard.press('Control+A');
      await page.keyboard.type('5');
      await page.getByText('5 days after the mail before was sent', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Lists', exact: true }).click();
      const leave = page.getByRole('dialog', { name: 'Leave without saving?' });
      await leave.waitFor();
      await page.keyboard.press('Escape');
      await leave.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Move b up' }).focus();
      await tabTo(page, 'Remove b');
      await page.keyboard.press('Enter');
      await page.getByText('b is removed').waitFor({ state: 'attached' });
      await tabTo(page, 'Save the steps');
      await page.keyboard.press('Enter');
      await page.getByText('The steps are saved').waitFor();
      expect(recordOf(id).steps).toMatchObject([
        { key: 'a', is_final: false },
        { key: 'between', template: 'offer', delay_hours: 120, is_final: true },
      ]);
      // To look at a test, or into a step, changes nothing.
      await page.getByRole('button', { name: 'Send a test of a' }).click();
      const dialog = page.getByRole('dialog', { name: 'Send a test of a' });
      await dialog.waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'Lists', exact: true }).click();
      await page.getByRole('heading', { name: 'Lists', level: 1 }).waitFor();
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'the settings of a draft are saved before the lists to choose from are there, and it keeps its own',
    async () => {
      const { id } = await make({ name: 'Hasty', steps: TWO });
      const { page } = await open(`/${id}`);
      await page.route('**/email-lists?*', () => {});
      await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
      await page.getByRole('textbox', { name: 'Name' }).fill('Hastier');
      await page.getByRole('button', { name: 'Save the settings' }).click();
      await page.getByRole('heading', { name: 'Hastier', level: 1, exact: true }).waitFor();
      expect(recordOf(id)).toMatchObject({ name: 'Hastier', list });
      expect(recordOf(id).steps).toHaveLength(2);
    },
    TIMEOUT_MS,
  );

  test(
    'a draft that lacks something is not activated and says where each thing is mended; then it starts, takes contacts, pauses and ends',
    async () => {
      const steps = [{ key: 'a', template: 'nowhere' }];
      const { id } = await make({ name: 'Journey', steps });
      const { page } = await open(`/${id}`);
      await page.getByRole('button', { name: 'Activate' }).click();
      await page.getByText('It cannot start yet').waitFor();
      expect(recordOf(id).status).toBe('draft');
      const missing = page.getByRole('list', { name: 'What is missing' });
      await missing.getByRole('listitem').first().waitFor();
      // Its mailboxes capture: their records are not asked for.
      expect(await missing.getByRole('listitem').count()).toBe(2);
      await page.getByText('a: Its track does not end with its last step').waitFor();
      await page.getByText('All mailboxes of its marketing capture').waitFor();
      await publish();
      await missing.getByRole('link', { name: 'Choose another' }).click();
      await until(async () => (await page.evaluate('document.activeElement.value')) === 'a');
      await stepOf(page, 'a').getByLabel('Words', { exact: true }).selectOption('welcome');
      await page.getByRole('button', { name: 'Save the steps' }).click();
      await page.getByText('Everything is in place').waitFor();
      await page.getByRole('button', { name: 'Activate' }).click();
      await page.getByRole('button', { name: 'Pause' }).waitFor();
      expect(recordOf(id)).toMatchObject({ status: 'active', stats: { enrolled: 0 } });

      await page.getByRole('link', { name: 'Enroll', exact: true }).click();
      await page.getByLabel('Whom').selectOption('contacts');
      await page.getByLabel('Address or name of a contact').fill('reader1@');
      await page.getByRole('button', { name: 'Take reader1@example.org' }).click();
      // Nothing is looked at again by itself where nobody looks.
      await page.evaluate("Object.defineProperty(document, 'hidden', { value: true, configurable: true })");
      await page.getByRole('button', { name: 'Enroll', exact: true }).click();
      await page.getByRole('status').getByText('1 contact enrolled.').waitFor();
      await page.getByRole('link', { name: 'reader1@example.org' }).waitFor();
      await page.evaluate('delete document.hidden');
      await page.getByLabel('Whom').selectOption('filter');
      await page.getByLabel('Tags').fill('balcony');
      await page.getByText(/1[0-9] people of the list/).waitFor();
      await page.getByRole('button', { name: 'Enroll', exact: true }).click();
      await page.getByRole('button', { name: /^Enroll 1[0-9] people$/ }).click();
      await page
        .getByRole('status')
        .getByText(/1[0-6] contacts enrolled/)
        .waitFor();
      const { enrolled } = recordOf(id).stats;
      expect(enrolled).toBeGreaterThan(10);
      await page.getByRole('link', { name: 'reader1@example.org' }).waitFor();
      await pass();
      await page.getByLabel('State').selectOption('completed');
      await page.getByRole('link', { name: 'reader1@example.org' }).waitFor();

      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      expect(recordOf(id)).toMatchObject({ status: 'paused', pause_reason: 'manual' });
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: 'Pause' }).waitFor();
      expect(recordOf(id).status).toBe('active');
      await page.getByRole('link', { name: 'Settings', exact: true }).last().click();
      await page.getByRole('button', { name: 'Finish the sequence' }).click();
      const confirm = page.getByRole('dialog').getByRole('button', { name: 'Finish the sequence' });
      await page.getByLabel('Type Journey to go on').fill('journey');
      expect(await confirm.isDisabled()).toBe(true);
      await page.getByLabel('Type Journey to go on').fill('Journey');
      await confirm.click();
      await page.getByText('finished', { exact: true }).waitFor();
      expect(recordOf(id)).toMatchObject({ status: 'finished', stats: { active: 0, enrolled } });
    },
    TIMEOUT_MS,
  );

  test(
    'numbers move on the page as mails go out, without reloading it',
    async () => {
      await publish();
      const { id } = await make({ name: 'Moving', steps: TWO });
      const project = on.app.services.projects.require(sample.magazine);
      await on.app.services.sequence_life.activate(actor, project, id);
      const { page, complaints } = await open(`/${id}`);
      const waiting = page.locator('[data-step=b] .under-way dd');
      expect(await waiting.count()).toBe(0);
      await on.app.services.sequence_life.enroll(project, id, { tags: ['balcony'] }, { note: noNote });
      await pass();
      const { active } = recordOf(id).stats;
      expect(active).toBeGreaterThan(5);
      await waiting.getByText(String(active), { exact: true }).waitFor();
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'in one that runs only template, delay and variables change, and who saves over another change is told and can save again',
    async () => {
      const { page } = await open(`/${sample.running}?step=tips`);
      const before = recordOf(sample.running);
      const tips = stepOf(page, 'tips');
      await page.getByText('It runs:').waitFor();
      await tips.getByLabel('Sent after').waitFor();
      expect(await tips.getByLabel('Key').count()).toBe(0);
      expect(await page.getByRole('button', { name: /^(Add a step|Move)/ }).count()).toBe(0);
      await tips.getByLabel('Sent after').fill('60');
      await tips.getByLabel('Unit').selectOption('hours');
      await on.app.services.sequences.update(project_id, sample.running, { max_recipients: 900 }, noNote);
      await page.getByRole('button', { name: 'Save the steps' }).click();
      await page.getByText('This was changed since you read it').waitFor();
      expect(recordOf(sample.running).steps).toEqual(before.steps);
      expect(await tips.getByLabel('Sent after').inputValue()).toBe('60');
      await page.getByRole('button', { name: 'Save the steps' }).click();
      await page.getByText('The steps are saved').waitFor();
      await page.getByText('60 hours after the mail before was sent', { exact: true }).waitFor();
      const after = recordOf(sample.running);
      expect(after.max_recipients).toBe(900);
      expect(after.steps.map(({ key, delay_hours }) => [key, delay_hours])).toEqual(
        before.steps.map(({ key, delay_hours }) => [key, key === 'tips' ? 60 : delay_hours]),
      );
    },
    TIMEOUT_MS,
  );

  test(
    'a look ahead follows the clicks and the contact that are imagined, and sends nothing; a test does',
    async () => {
      const mails = countMails();
      const { page, complaints } = await open(`/${sample.running}?tab=preview`);
      const timeline = page.getByRole('list', { name: 'What comes' });
      await timeline.getByText('A year of reading, half the price').waitFor();
      expect(await timeline.getByText('other track').count()).toBe(1);
      await page.getByLabel('tips', { exact: true }).check();
      await page.getByLabel('Address or name of a contact').fill('reader5@');
      await page.getByRole('button', { name: 'Take reader5@example.org' }).waitFor();
      await page.getByLabel('Address or name of a contact').press('Enter');
      await page.getByRole('button', { name: 'Add an event' }).click();
      await page.getByLabel('Event 1', { exact: true }).fill('purchased');
      await page.getByLabel('Hours after the enrollment of event 1').fill('130');
      await page.getByRole('button', { name: 'Show what comes' }).click();
      await timeline.getByText('Welcome, Reader 5').first().waitFor();
      expect(await timeline.getByText('other track').count()).toBe(0);
      expect(await timeline.getByText('sent', { exact: true }).count()).toBe(4);
      expect(countMails()).toEqual(mails);

      await page.getByRole('link', { name: 'Steps', exact: true }).click();
      await page.getByRole('button', { name: 'Send a test of offer' }).click();
      await page.getByRole('dialog').getByLabel('To').fill('editor@example.org');
      await page.getByRole('button', { name: 'Send the test' }).click();
      await page.getByRole('dialog').getByText('On its way to editor@example.org').waitFor();
      const [mail] = on.app.services.database.read.$client
        .query<{ subject: string }, []>("SELECT subject FROM emails WHERE to_email = 'editor@example.org'")
        .all();
      expect(mail?.subject).toBe('[Test] A year of reading, half the price');
      expect(recordOf(sample.running).stats.enrolled).toBe(48);
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'a step has words of its own, written in its place; of one that runs they are in the next mail once they are published',
    async () => {
      const { id } = await make({ name: 'Own words', steps: TWO });
      const { page, complaints } = await open(`/${id}`);
      await page.getByRole('button', { name: 'Add a step before a' }).click();
      await page.getByRole('button', { name: 'Save the steps' }).click();
      await page.getByText('The steps are saved').waitFor();
      const stepNamed = (key: string) => recordOf(id).steps.find((step) => step.key === key);
      const wordsOf = (key: string) =>
        on.app.services.templates.get(project_id, stepNamed(key)?.template ?? '');
      expect(wordsOf('step-3')).toMatchObject({ is_own: true, subject: 'Own words: step-3' });
      await stepOf(page, 'step-3').getByRole('link', { name: 'Own words: step-3' }).click();
      await page.getByLabel('Subject').fill('First of all');
      await page.getByLabel('Preheader').fill('Soon');
      await page.getByLabel('Markdown of the mail').click();
      await page.keyboard.press('Control+a');
      await page.keyboard.insertText('Words of its own');
      await until(() => wordsOf('step-3').body_markdown === 'Words of its own');
      await page.getByText('Saved', { exact: true }).waitFor();
      await until(() => wordsOf('step-3').subject === 'First of all');
      expect(stepNamed('step-3')?.preheader).toBe('Soon');

      const offer = on.app.services.templates.get(project_id, 'offer');
      await publish();
      const project = on.app.services.projects.require(sample.magazine);
      await on.app.services.sequence_life.activate(actor, project, id);
      await page.goto(`${on.app.url}/console/projects/${sample.magazine}/sequences/${id}/steps/b/write`);
      await page.getByLabel('Subject').fill('Half the price, really');
      await page.getByText('Draft saved').waitFor();
      await until(() => stepNamed('b')?.template !== 'offer');
      expect(wordsOf('b')).toMatchObject({ subject: offer.subject, body_html: offer.body_html });
      await page.getByRole('button', { name: 'Publish' }).click();
      await until(() => wordsOf('b').subject === 'Half the price, really');
      expect(on.app.services.templates.get(project_id, 'offer')).toEqual(offer);
      expect(complaints).toEqual([]);
    },
    TIMEOUT_MS,
  );

  test(
    'one that paused by its bounces says so, and what to look at',
    async () => {
      const { page } = await open(`/${sample.paused}`);
      await page.getByText('It paused by itself: too many of its mails came back.').waitFor();
      const sentence = page.getByText(/of its last \d+ mails \d+ bounced/);
      expect(await sentence.textContent()).toMatch(/ is \d+\.$/);
      await page.getByRole('button', { name: 'Resume' }).waitFor();
      // What else is wrong is said once, with the way to where it is mended.
      await on.app.services.templates.update(project_id, 'welcome', { is_active: false }, noNote);
      await page.getByRole('button', { name: 'Look again' }).click();
      const missing = page.getByRole('list', { name: 'What is missing' });
      await missing.getByRole('link', { name: 'The template' }).waitFor();
      expect(await page.getByText('The template welcome is inactive.').count()).toBe(1);
      const href = await page.getByRole('link', { name: 'the contacts that bounced' }).getAttribute('href');
      expect(href).toBe(`/console/projects/${sample.magazine}/lists/${list}?status=bounced`);
    },
    TIMEOUT_MS,
  );
});
