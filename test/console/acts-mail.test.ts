/** Mail in the console, in a real browser: sent by hand, read as its recipient sees it, tried again, and what is stored after it. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import type { Page } from 'playwright-core';
import { newId } from '../../src/platform/host/ids.ts';
import { addCapturingMailbox, makeProject } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import { beforeAllInConsole, type ConsoleTest, executable, openSignedIn } from './browser.ts';
import { HOSTILE } from './sample-data.ts';

let on: ConsoleTest;
let key = '';
beforeAllInConsole(async (started) => {
  on = started;
  const shop = await makeProject(on.app, 'shop');
  await addCapturingMailbox(on.app);
  key = await shop.key({ can_send_emails: true, can_write: true, permissions: { email_template: true } });
});

const open = async (path: string) => openSignedIn(on, path);
const rows = (query: string): unknown[] => on.app.services.database.read.all(sql.raw(query));
const idIn = (page: Page): string => new URL(page.url()).pathname.split('/').at(-1) ?? '';

describe.skipIf(executable === null)('mail in a browser', () => {
  test('without an SMTP server a key says which setting opens one', async () => {
    const { page, complaints } = await open('/projects/shop/keys/1?tab=secret');
    await page.getByText('No SMTP server is set: SATCHEL_SMTP_PORT or SATCHEL_SMTPS_PORT').waitFor();
    expect(complaints).toEqual([]);
  });

  test('is sent from a template by hand, once all of its fields have values, and called off before it is due', async () => {
    const template = {
      ...{ name: 'Shipped', category: 'transactional', subject: 'Order {{ order.id }}' },
      ...{ body_text: 'Dear {{ name }}', variables: [{ name: 'name', description: 'First name' }] },
    };
    await on.app.call('POST', '/api/v1/emails/templates', { key, body: template });
    const { page, complaints } = await open('/projects/shop/emails/new');
    await page.getByLabel('Content').selectOption('shipped');
    await page.getByLabel('order.id').waitFor();
    await page.getByLabel('name (optional)').fill('Ann');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.locator('[name=to][aria-invalid=true]').waitFor();
    await page.locator('[name="variables.order.id"][aria-invalid=true]').waitFor();
    expect(rows('SELECT id FROM emails')).toEqual([]);
    await page.getByLabel('To', { exact: true }).fill('ann@example.org');
    await page.getByLabel('order.id').fill('17');
    await page.getByLabel('Send at').fill('2050-01-01T09:00');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: 'Order 17', level: 1 }).waitFor();
    expect(rows('SELECT to_email, subject, template, status FROM emails')).toEqual([
      { to_email: 'ann@example.org', subject: 'Order 17', template: 'shipped', status: 'scheduled' },
    ]);
    await page.getByRole('button', { name: 'Do not send it' }).click();
    await page.getByText('canceled', { exact: true }).waitFor();
    expect(rows('SELECT status FROM emails')).toEqual([{ status: 'canceled' }]);
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('is read as its reader sees it, without its scripts running, and tells its story; a bounced one is tried again', async () => {
    const body = { to: 'bounce@simulator.satchel.test', subject: HOSTILE, queue: false };
    const content = { body_html: `<h1>Hello</h1>${HOSTILE}`, body_text: HOSTILE };
    await on.app.call('POST', '/api/v1/emails/send', { key, body: { ...body, ...content } });
    const { page, complaints } = await open('/projects/shop/emails');
    // Found as one types, with the focus where it was, and in the address.
    const to = page.getByLabel('To', { exact: true });
    await to.pressSequentially('nobody');
    await page.getByText('Nothing matches').waitFor();
    expect(await to.evaluate((field) => field.matches(':focus'))).toBe(true);
    await to.fill('bounce@sim');
    await page.getByRole('link', { name: HOSTILE }).waitFor();
    expect(new URL(page.url()).searchParams.get('to')).toBe('bounce@sim');
    expect(await to.inputValue()).toBe('bounce@sim');
    await page.getByLabel('Status').selectOption('bounced');
    const mail = page.getByRole('link', { name: HOSTILE });
    await mail.waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Save as CSV' }).click();
    const [, ...saved] = readFileSync(await (await saving).path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(saved).toEqual([expect.stringContaining('bounce@simulator.satchel.test')]);
    await mail.click();
    await page.getByRole('heading', { name: HOSTILE, level: 1 }).waitFor();
    await page.frameLocator('.preview-frame').getByRole('heading', { name: 'Hello' }).waitFor();
    await page.getByRole('button', { name: 'Dark' }).click();
    await page.locator('.preview-frame.dark').waitFor();
    await page.getByRole('button', { name: 'Phone' }).click();
    await until(async () => (await page.locator('.preview-frame.phone').boundingBox())?.width === 375);
    await page.getByRole('button', { name: 'Text' }).click();
    expect(await page.locator('.mail-text').textContent()).toBe(HOSTILE);
    await page.getByRole('button', { name: 'Headers' }).click();
    await page.getByText('Message-ID').last().waitFor();
    await page.getByText('550 5.1.1 Simulated bounce: no such mailbox').first().waitFor();
    expect(await page.title()).toBe(`${HOSTILE} · Satchel`);

    const id = idIn(page);
    await page.getByRole('button', { name: 'Try it again' }).click();
    await page.getByText('Queued again by Ann Example').waitFor();
    await on.app.app.engine.whenIdle();
    expect(rows(`SELECT attempts FROM emails WHERE id = '${id}'`)).toEqual([{ attempts: 2 }]);
    // Chromium tells of each script that it does not run, and of the picture that is not there.
    const others = complaints.filter(
      (told) =>
        !/Blocked script execution|inline event handler|Failed to load resource|Refused|violates/.test(told),
    );
    expect(others).toEqual([]);
  });

  test('what failed is tried again together, by the filters, once its number was seen', async () => {
    const { database, clock } = on.app.services;
    await database.write((tx) => {
      for (const [id, to, has_body] of [
        ['a', 'ann@example.org', 1],
        ['b', 'ann@example.org', 1],
        ['c', 'ann@example.org', 0],
        ['d', 'bob@example.org', 1],
      ] as const) {
        const at = clock.now();
        tx.run(sql`INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, subject, message_id, created_at, failed_at)
          VALUES (${newId(at)}, 1, 'api', 'failed', 'f', 'd', ${to}, ${`Failed ${id}`}, 'm', ${at}, ${at})`);
        if (has_body)
          tx.run(
            sql`INSERT INTO email_bodies (email_id, body_text) SELECT id, 'Hi' FROM emails WHERE subject = ${`Failed ${id}`}`,
          );
      }
    });
    const { page, complaints } = await open('/projects/shop/emails?to=ann');
    await page.getByText('Failed a').waitFor();
    expect(await page.getByRole('button', { name: 'Try all again' }).count()).toBe(0);
    await page.getByLabel('Status').selectOption('failed');
    await page.getByRole('button', { name: 'Try all again' }).click();
    const asked = page.getByRole('dialog', { name: 'Try 2 mails again?' });
    await asked.getByText('1 mail that can’t: the content or an attachment is no longer kept.').waitFor();
    const states = "SELECT subject, status FROM emails WHERE subject LIKE 'Failed%' ORDER BY subject";
    const before = rows(states);
    await asked.getByRole('button', { name: 'Cancel' }).click();
    expect(rows(states)).toEqual(before);
    await page.getByRole('button', { name: 'Try all again' }).click();
    await asked.getByRole('button', { name: 'Try them again' }).click();
    await page.getByText('2 mails are queued again').waitFor();
    await on.app.app.engine.whenIdle();
    expect(rows(states)).toEqual([
      { subject: 'Failed a', status: 'sent' },
      { subject: 'Failed b', status: 'sent' },
      { subject: 'Failed c', status: 'failed' },
      { subject: 'Failed d', status: 'failed' },
    ]);
    await page.getByRole('button', { name: 'Try all again' }).click();
    await page.getByText('None of them can be tried again together.').waitFor();
    expect(complaints).toEqual([]);
  });
});
