/** Templates in the console, in a real browser: written beside how they look, and saved over the version that was read and no other. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { makeProject } from '../support/helpers.ts';
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
const html = (page: Page) => page.getByLabel('HTML of the template');
const shown = (page: Page, text: string) =>
  page.frameLocator('.preview-frame').getByText(text, { exact: true }).waitFor();
async function write(page: Page, text: string, into = html(page)): Promise<void> {
  await into.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(text);
}

describe.skipIf(executable === null)('a template in a browser', () => {
  test('is made, written with its look beside it, saved, archived and deleted', async () => {
    const { page, complaints } = await open('/projects/shop/templates');
    await page.getByRole('link', { name: 'New template' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('Order shipped');
    await page.getByRole('button', { name: 'Create the template' }).click();
    await page.locator('[name=subject][aria-invalid=true]').waitFor();
    await page.getByLabel('Subject').fill('Order {{ order_id }}');
    await page.getByRole('button', { name: 'Create the template' }).click();
    await page.getByRole('heading', { name: 'Order shipped', level: 1 }).waitFor();
    await shown(page, 'Hello Ann');
    const steps_back = await page.evaluate('history.length');

    await write(page, '<h1>Order {{ order_id }}</h1><p>Dear </p>');
    await shown(page, 'Order [order_id]');
    await page.getByLabel('order_id').fill('<17>');
    await shown(page, 'Order <17>');
    await page.getByText('Order <17>').first().waitFor();
    await html(page).click();
    await page.keyboard.press('Control+End');
    await page.getByRole('button', { name: 'first_name', exact: true }).click();
    expect(await page.evaluate('history.length')).toBe(steps_back);
    await page.getByRole('button', { name: 'Fields', exact: true }).click();
    await page.getByRole('button', { name: 'Declare order_id' }).click();
    await page.getByLabel('What it is').fill('Of the invoice');
    await page.getByLabel('Required').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The template is saved').waitFor();
    expect(stored('order-shipped')).toMatchObject({
      ...{ subject: 'Order {{ order_id }}', is_active: 1 },
      body_html: '<h1>Order {{ order_id }}</h1><p>Dear </p>{{ first_name }}',
      variables: JSON.stringify([{ name: 'order_id', description: 'Of the invoice', required: true }]),
    });

    await page.getByRole('button', { name: 'Archive the template' }).click();
    await page.getByRole('button', { name: 'Restore it' }).waitFor();
    expect(stored('order-shipped')).toMatchObject({ is_active: 0 });
    // A look at it that was asked for just before its end finds nothing.
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
    await page.getByRole('button', { name: 'Delete the template' }).click();
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
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The template is saved').waitFor();
    expect(stored('typed-over')).toMatchObject({ body_html: '"x"' });
    expect(complaints).toEqual([]);
  });

  test('is written in Markdown, seen as its readers see it, and taken over into HTML', async () => {
    const { page, complaints } = await open('/projects/shop/templates/new');
    await page.getByLabel('Name', { exact: true }).fill('Letter');
    await page.getByLabel('Subject').fill('News');
    await page.getByLabel('Written in').selectOption('Markdown');
    await page.getByRole('button', { name: 'Create the template' }).click();
    const markdown = page.getByLabel('Markdown of the template');
    await markdown.waitFor();
    await shown(page, 'Hello Ann');
    await markdown.click();
    await page.keyboard.press('Control+a');
    await page.keyboard.insertText('[Read *on*]({{ url }}) <b>');
    await page.getByLabel('url').fill('https://example.com/');
    await shown(page, 'on');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The template is saved').waitFor();
    const made = { body_html: '<p><a href="{{url}}">Read <em>on</em></a> &lt;b&gt;</p>\n' };
    expect(stored('letter')).toMatchObject({
      ...made,
      ...{ body_markdown: '[Read *on*]({{ url }}) <b>', body_text: 'Read on <{{url}}> <b>' },
    });
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);

    await page.getByLabel('Written in').selectOption('HTML and text');
    expect(await html(page).textContent()).toContain('<em>on</em>');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('The template is saved').last().waitFor();
    expect(stored('letter')).toMatchObject({ ...made, body_markdown: null });

    await page.getByLabel('Written in').selectOption('Markdown');
    expect(await markdown.textContent()).toContain('Read on');
    await write(page, 'Plain', markdown);
    await shown(page, 'Plain');
    await page.getByRole('button', { name: 'Save' }).click();
    await until(() => Object(stored('letter')).body_markdown === 'Plain');
    expect(stored('letter')).toMatchObject({ body_html: '<p>Plain</p>\n', body_text: 'Plain' });
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
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
    await write(ann, '<p>of Ann</p>');
    await write(ben, '<p>of Ben</p>');
    await ben.getByLabel('Subject').fill('New');
    await ben.getByRole('button', { name: 'Save' }).click();
    await ben.getByText('The template is saved').waitFor();

    await ann.getByRole('button', { name: 'Save' }).click();
    await ann.getByText('Somebody else has changed this template').waitFor();
    await ann.getByText('Last saved by Ben').waitFor();
    expect(stored('welcome')).toMatchObject({ subject: 'New', body_html: '<p>of Ben</p>' });
    expect(await html(ann).textContent()).toContain('of Ann');
    await ann.getByText('Look at their version').click();
    await ann.getByText('<p>of Ben</p>', { exact: true }).waitFor();
    // Nothing is lost by a reload either, and it is still a change of the version that was read.
    await ann.reload();
    await ann.getByText('These are your changes from before').waitFor();
    await ann.getByRole('button', { name: 'Save' }).click();
    await ann.getByRole('button', { name: 'Go on with mine' }).click();
    expect(await html(ann).textContent()).toContain('of Ann');
    await ann.getByRole('button', { name: 'Save' }).click();
    await ann.getByText('The template is saved').waitFor();
    // What only the other had changed stays as the other has it.
    expect(stored('welcome')).toMatchObject({ subject: 'New', body_html: '<p>of Ann</p>' });

    await write(ben, '<p>again of Ben</p>');
    await ben.getByRole('button', { name: 'Save' }).click();
    await ben.getByRole('button', { name: 'Take theirs, give mine up' }).click();
    await shown(ben, 'of Ann');
    expect(await html(ben).textContent()).toContain('of Ann');
    expect(stored('welcome')).toMatchObject({ body_html: '<p>of Ann</p>' });
  });

  test('is shown on a telephone, and its texts run no script', async () => {
    await make('sly', { body_html: '<script>top.document.title = "pwned"</script><p>here</p>' });
    const context = await signIn(on, { viewport: NARROW });
    const { page } = await openPage(on, context, '/projects/shop/templates/sly');
    await shown(page, 'here');
    await page.getByRole('button', { name: 'Phone' }).click();
    expect(await page.title()).toBe('sly · Satchel');
  });
});
