/** Templates in the console, in a real browser: written beside how they look, saved as one types, and over the version that was read and no other. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { addCapturingMailbox, makeProject } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import {
  addPerson,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  NARROW,
  openPage,
  openSignedIn,
  signIn,
} from './browser.ts';

let on: ConsoleTest;
let key = '';
beforeAllInConsole(async (started) => {
  on = started;
  const shop = await makeProject(on.app, 'shop');
  key = await shop.key({ can_write: true, permissions: { email_template: true } });
});

const open = async (path: string) => openSignedIn(on, path);
const stored = (slug: string): unknown =>
  on.app.services.database.read.all(
    sql`SELECT name, subject, body_markdown, body_html, body_text, variables, is_active FROM email_templates WHERE slug = ${slug}`,
  )[0];
const make = (slug: string, fields: Record<string, unknown> = {}) =>
  on.app.call('POST', '/api/v1/emails/templates', {
    key,
    body: { slug, name: slug, category: 'other', subject: 'Old', body_html: '<p>old</p>', ...fields },
  });
const draftOf = (slug: string): unknown =>
  JSON.parse(
    Object(on.app.services.database.read.all(sql`SELECT draft FROM email_templates WHERE slug = ${slug}`)[0])
      .draft ?? 'null',
  );
const html = (page: Page) => page.getByLabel('HTML of the mail');
const markdownOf = (page: Page) => page.getByLabel('Markdown of the mail');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const shown = (page: Page, text: string) =>
  page.frameLocator('.preview-frame').getByText(text, { exact: true }).first().waitFor();
async function write(page: Page, text: string, into = html(page)): Promise<void> {
  await into.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}
async function publish(page: Page): Promise<void> {
  await button(page, 'Publish').click();
  await page.getByText('Published: the next mail has it').last().waitFor();
}
/** One pixel. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe.skipIf(executable === null)('a template in a browser', () => {
  test('is made, written with its look beside it, published, archived and deleted', async () => {
    const { page, complaints } = await open('/projects/shop/templates');
    await page.getByRole('link', { name: 'New template' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Order shipped');
    await button(page, 'Create the template').click();
    await page.locator('[name=subject][aria-invalid=true]').waitFor();
    await page.getByLabel('Subject').fill('Order {{ order_id }}');
    await button(page, 'Create the template').click();
    await page.getByRole('heading', { name: 'Order shipped', level: 1 }).waitFor();
    await shown(page, 'Hello Ann');
    const steps_back = await page.evaluate('history.length');

    await write(page, '<h1>Order {{ order_id }}</h1><p><a href="#">Dear</a> </p>');
    await shown(page, 'Order Sample order_id');
    await page.getByText('A link leads nowhere.').waitFor();
    await page.getByText('With whose values?').click();
    await page.getByLabel('order_id').fill('<17>');
    await shown(page, 'Order <17>');
    await page.locator('.inbox-line').getByText('Order <17>').waitFor();
    await html(page).click();
    await page.keyboard.press('Control+End');
    await page.locator('summary', { hasText: 'Merge field' }).click();
    await page.locator('.merge-menu').getByRole('button', { name: 'order_id' }).click();
    expect(await page.evaluate('history.length')).toBe(steps_back);
    await button(page, 'Declare order_id').click();
    await page.getByLabel('What it is').fill('Of the invoice');
    await page.getByLabel('Required').check();
    await publish(page);
    expect(stored('order-shipped')).toMatchObject({
      ...{ subject: 'Order {{ order_id }}', is_active: 1 },
      body_html: '<h1>Order {{ order_id }}</h1><p><a href="#">Dear</a> </p>{{ order_id }}',
      variables: JSON.stringify([{ name: 'order_id', description: 'Of the invoice', required: true }]),
    });

    await button(page, 'Archive the template').click();
    await button(page, 'Restore it').waitFor();
    expect(stored('order-shipped')).toMatchObject({ is_active: 0 });
    // A look at it that was asked for just before its end finds nothing.
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
    await button(page, 'Delete the template').click();
    await page.getByText('No schedule of the project sends it.').waitFor();
    await page.getByLabel('Type Order shipped to go on').fill('Order shipped');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the template' }).click();
    await page.getByText('No template yet').waitFor();
    expect(stored('order-shipped')).toBeUndefined();
  });

  test('is typed over where it is coloured: a letter takes the place of what is selected, a quote goes around it', async () => {
    await make('typed-over', { body_html: '<p>old</p>' });
    const { page, complaints } = await open('/projects/shop/templates/typed-over');
    await html(page).click();
    await page.keyboard.press('Control+a');
    await page.keyboard.press('"');
    await page.keyboard.press('x');
    await publish(page);
    expect(stored('typed-over')).toMatchObject({ body_html: '"x"' });
    expect(complaints).toEqual([]);
  });

  test('is saved as a draft as one types, by a toolbar and a dropped picture, too, and is in no mail before it is published', async () => {
    await make('letter', { subject: 'News', body_html: undefined, body_markdown: 'old' });
    const { page, complaints } = await open('/projects/shop/templates/letter');
    await markdownOf(page).waitFor();
    await write(page, '[Read *on*](https://example.com/) <b> ', markdownOf(page));
    await page.getByLabel('Bold (Ctrl+B)').click();
    await page.keyboard.insertText('now');
    await page.getByText('Draft saved').waitFor();
    const written = '[Read *on*](https://example.com/) <b> **now**';
    await until(() => Object(draftOf('letter')).body_markdown === written);
    expect(stored('letter')).toMatchObject({ body_markdown: 'old' });
    await page.getByLabel('Subject').fill(`${'Long '.repeat(9)}news`);
    await page.getByText('49 characters: telephones cut it after about 40.').waitFor();
    await page.keyboard.press('Control+s');
    await until(() => String(Object(draftOf('letter')).subject).startsWith('Long'));
    await page.reload();
    await shown(page, 'now');

    await markdownOf(page).click();
    await page.keyboard.press('Control+End');
    const dropped = await page.evaluateHandle(
      `(() => { const all = new DataTransfer(); const bytes = Uint8Array.from(atob('${PICTURE}'), (each) => each.charCodeAt(0));
        all.items.add(new File([bytes], 'dot.png', { type: 'image/png' })); return all; })()`,
    );
    await markdownOf(page).dispatchEvent('drop', { dataTransfer: dropped });
    await until(() => /!\[dot\]\(http.*\)/.test(String(Object(draftOf('letter')).body_markdown)));
    await page.getByLabel('Picture', { exact: true }).click();
    await page.getByRole('list', { name: 'Public pictures' }).getByText('dot.png').click();
    await until(() => /!\[\]\(http.*\)/.test(String(Object(draftOf('letter')).body_markdown)));
    await publish(page);
    expect(draftOf('letter')).toBeNull();
    expect(Object(stored('letter')).body_html).toContain('<strong>now</strong>');

    await page.getByLabel('Written in').selectOption('HTML and text');
    await html(page).getByText('<em>').first().waitFor();
    expect(await html(page).textContent()).toContain('Read <em>on</em>');
    await publish(page);
    expect(stored('letter')).toMatchObject({ body_markdown: null });
    await page.getByLabel('Written in').selectOption('Markdown');
    await write(page, 'Plain', markdownOf(page));
    await button(page, 'Give up the draft').click();
    await html(page).getByText('<em>').first().waitFor();
    await until(() => draftOf('letter') === null);
    // Where files are told to be, nothing listens here.
    expect(complaints.filter((told) => !/422|:8420|ERR_CONNECTION_REFUSED/.test(told))).toEqual([]);
  });

  test('is kept in the page where it cannot be saved, saved once it can, and sent as a test by a key', async () => {
    await addCapturingMailbox(on.app);
    await make('patient');
    const { page } = await open('/projects/shop/templates/patient');
    await page.route('**/email-templates/patient', (route) =>
      route.request().method() === 'PATCH' ? route.fulfill({ status: 503, body: '{}' }) : route.continue(),
    );
    await write(page, '<p>of a bad day</p>');
    await page.getByText('tried again by itself').waitFor();
    await page.unroute('**/email-templates/patient');
    await until(() => Object(draftOf('patient')).body_html === '<p>of a bad day</p>');
    await page.getByText('Draft saved').waitFor();
    await html(page).click();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').getByLabel('To').fill('me@example.org');
    await button(page, 'Send the test').click();
    await page.getByText('On its way to me@example.org').waitFor();
  });

  test('that two people write is saved by the first; the second is told, sees what was saved, and loses nothing', async () => {
    await make('welcome');
    const credentials = await addPerson(on.app, {
      email: 'ben@example.org',
      name: 'Ben',
      all_projects: true,
    });
    const { page: ben } = await openPage(
      on,
      await signIn(on, { credentials }),
      '/projects/shop/templates/welcome',
    );
    const { page: ann } = await open('/projects/shop/templates/welcome');
    await ben.getByLabel('Subject').fill('New');
    await write(ben, '<p>of Ben</p>');
    await publish(ben);

    await write(ann, '<p>of Ann</p>');
    await ann.getByText('Somebody else has changed this since you opened it').waitFor();
    await ann.getByText('Last saved by Ben').waitFor();
    expect(stored('welcome')).toMatchObject({ subject: 'New', body_html: '<p>of Ben</p>' });
    expect(draftOf('welcome')).toBeNull();
    expect(await html(ann).textContent()).toContain('of Ann');
    await ann.getByText('Look at their version').click();
    await ann.getByText('<p>of Ben</p>', { exact: true }).waitFor();
    // Nothing is lost by a reload either, and it is still a change of the version that was read.
    await ann.reload();
    await button(ann, 'Go on with mine').click();
    await publish(ann);
    // What only the other had changed stays as the other has it.
    expect(stored('welcome')).toMatchObject({ subject: 'New', body_html: '<p>of Ann</p>' });

    await write(ben, '<p>again of Ben</p>');
    await button(ben, 'Take theirs, give mine up').click();
    await shown(ben, 'of Ann');
    expect(await html(ben).textContent()).toContain('of Ann');
    expect(stored('welcome')).toMatchObject({ body_html: '<p>of Ann</p>' });
  });

  test('is shown on a telephone, and its texts run no script', async () => {
    await make('sly', { body_html: '<script>top.document.title = "pwned"</script><p>here</p>' });
    const context = await signIn(on, { viewport: NARROW });
    const { page } = await openPage(on, context, '/projects/shop/templates/sly');
    await shown(page, 'here');
    await button(page, 'Phone').click();
    expect(await page.title()).toBe('sly · Satchel');
  });
});
