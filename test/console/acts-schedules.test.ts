/** Schedules, jobs and the audit trail of a project in the console, in a real browser, and what is stored after it. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { actor, addCapturingMailbox, makeProject } from '../support/helpers.ts';
import { beforeAllInConsole, type ConsoleTest, executable, openSignedIn } from './browser.ts';

let on: ConsoleTest;
beforeAllInConsole(async (started) => {
  on = started;
  await makeProject(on.app, 'shop');
  await addCapturingMailbox(on.app);
});

const rows = (query: string): unknown[] => on.app.services.database.read.all(sql.raw(query));

describe.skipIf(executable === null)('a schedule in a browser', () => {
  test('is made, tells its next runs, runs now to a job and its mail, is changed, paused and deleted, all on the audit trail', async () => {
    const { page, complaints } = await openSignedIn(on, '/projects/shop/schedules/new');
    await page.getByLabel('Name', { exact: true }).fill('Weekly report');
    const status = page.getByRole('status');
    await status.getByText('Every Monday at 9:00').waitFor();
    await page.getByLabel('It runs').selectOption('custom');
    expect(await page.getByLabel('Cron expression').inputValue()).toBe('0 9 * * 1');
    await page.getByLabel('Cron expression').fill('99 9 * * 1');
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await status.getByText('has a bad minute').waitFor();
    await page.getByLabel('Recipients').fill('Ann Example <ann@example.org>\nnobody');
    await page.getByLabel('Subject').fill('Your week');
    await page.getByLabel('Text').fill('Nothing broke.');
    await page.getByRole('button', { name: 'Create the schedule' }).click();
    await page.locator('[name=recipients][aria-invalid=true]').waitFor();
    await page.locator('[name=cron_expression][aria-invalid=true]').waitFor();
    expect(rows('SELECT id FROM email_schedules')).toEqual([]);
    await page.getByLabel('It runs').selectOption('week');
    await page.getByLabel('Wednesday').check();
    await page.getByLabel('At', { exact: true }).fill('07:30');
    await status.getByText('Every Monday and Wednesday at 7:30').waitFor();
    await page
      .locator('.runs li', { hasText: /^Wednesday.* 07:30/ })
      .first()
      .waitFor();
    await page.getByText('No. 2: must be an email address').waitFor();
    await page.getByLabel('Recipients').fill('Ann Example <ann@example.org>\nben@example.org');
    await page.getByRole('button', { name: 'Create the schedule' }).click();
    await page.getByRole('heading', { name: 'Weekly report', level: 1 }).waitFor();
    await page.locator('.runs li').last().waitFor();
    expect(await page.locator('.runs li').allTextContents()).toEqual(
      Array.from({ length: 5 }, () => expect.stringMatching(/^(Monday|Wednesday).* 07:30/)),
    );
    expect(rows('SELECT recipients, timezone, is_active FROM email_schedules')).toEqual([
      {
        recipients: JSON.stringify([
          { email: 'ann@example.org', name: 'Ann Example' },
          { email: 'ben@example.org', name: null },
        ]),
        ...{ timezone: 'Europe/Berlin', is_active: 1 },
      },
    ]);

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('None while it is paused.').waitFor();
    expect(rows('SELECT is_active, next_run_at FROM email_schedules')).toEqual([
      { is_active: 0, next_run_at: null },
    ]);
    await page.getByRole('link', { name: 'Change' }).click();
    await page.getByLabel('Subject').fill('Your days');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('The changes are saved').waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await page.getByRole('dialog').getByRole('heading', { name: 'Mail 2 people now?' }).waitFor();
    expect(rows('SELECT id FROM emails')).toEqual([]);
    await page.getByRole('button', { name: 'Mail 2 people' }).click();
    await page.getByText('completed', { exact: true }).waitFor();
    expect(rows('SELECT to_email, subject FROM emails ORDER BY to_email')).toEqual([
      { to_email: 'ann@example.org', subject: 'Your days' },
      { to_email: 'ben@example.org', subject: 'Your days' },
    ]);
    const [ran] = rows("SELECT id FROM emails WHERE to_email = 'ann@example.org'") as { id: string }[];
    await page.getByRole('link', { name: ran?.id ?? '' }).click();
    await page.getByText('Accepted for a run of a schedule').waitFor();

    await page.getByRole('link', { name: 'Schedules' }).click();
    await page.getByRole('link', { name: 'Weekly report' }).click();
    await page.getByRole('button', { name: 'Delete the schedule' }).click();
    await page.getByLabel('Type Weekly report to go on').fill('Weekly report');
    await page.getByRole('dialog').getByRole('button', { name: 'Delete the schedule' }).click();
    await page.getByText('No schedule yet').waitFor();
    expect(rows('SELECT id FROM email_schedules')).toEqual([]);

    await page.getByRole('link', { name: 'Audit' }).click();
    await page.getByLabel('Event, in full').fill('schedule.run');
    await page.getByText('1–1 of 1').waitFor();
    expect(new URL(page.url()).search).toBe('?event=schedule.run');
    await page.getByRole('cell', { name: 'Ann Example' }).waitFor();
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('is not saved before the fields of its template are there, as if they had been emptied', async () => {
    const project = on.app.services.projects.require('shop');
    const { plaintext_key: key } = await on.app.services.keys.create(actor, project, {
      ...{ name: 'app', can_send_emails: true, can_write: true, permissions: { email_template: true } },
    });
    const template = {
      name: 'Report',
      slug: 'report',
      category: 'transactional',
      subject: 'Week {{ week }}',
    };
    await on.app.call('POST', '/api/v1/emails/templates', {
      key,
      body: { ...template, body_text: 'Hello' },
    });
    const schedule = {
      ...{ name: 'Report', cron_expression: '0 9 * * 1', recipients: [{ email: 'ann@example.org' }] },
      ...{ template: 'report', variables: { week: '7' } },
    };
    const made = await on.app.call('POST', '/api/v1/email-schedules', { key, body: schedule });
    expect(made.status).toBe(201);
    const stored = `SELECT name, template, variables FROM email_schedules WHERE id = '${made.body.id}'`;
    const { page } = await openSignedIn(on, `/projects/shop/schedules/${made.body.id}`);
    const answer = Promise.withResolvers<void>();
    await page.route(/email-templates/, async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.getByRole('link', { name: 'Change' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Weekly');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('Not all of the form is there yet').waitFor();
    expect(rows(stored)).toMatchObject([{ name: 'Report' }]);
    answer.resolve();
    await page.getByLabel('week').waitFor();
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('The changes are saved').waitFor();
    expect(rows(stored)).toEqual([{ name: 'Weekly', template: 'report', variables: '{"week":"7"}' }]);
  });
});
