/** What who may administer does in the console, in a real browser: findings, backups, jobs, the audit trail, settings. */
import { describe, expect, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { newId } from '../../src/platform/host/ids.ts';
import { HELD_FROM, RESTORE_HOLD } from '../../src/platform/jobs/restore-hold.ts';
import { sql } from '../support/deployment.ts';
import { actor, makeProject } from '../support/helpers.ts';
import {
  addPerson,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  openPage,
  openSignedIn,
  settle,
  signIn,
} from './browser.ts';
import { HOSTILE } from './sample-data.ts';

let on: ConsoleTest;

beforeAllInConsole(async (started) => {
  on = started;
  const shop = await makeProject(on.app, 'shop');
  // A backup that comes in many parts, no two of them alike.
  const body = new FormData();
  body.set('file', new File([randomBytes(8_000_000)], 'film.bin'));
  const key = await shop.key({ can_write: true });
  expect((await on.app.call('POST', '/api/v1/objects', { key, body })).status).toBe(201);
});

const open = async (path: string) => openSignedIn(on, path);

async function confirm(page: Page, title: string, name: string): Promise<void> {
  await page.getByRole('button', { name: title }).click();
  await page.getByLabel(`Type ${name} to go on`).fill(name);
  await page.getByRole('dialog').getByRole('button', { name: title }).click();
}

describe.skipIf(executable === null)('in a browser', () => {
  test('a finding on the overview leads to the page that mends it, and is gone when it was looked at again', async () => {
    const { sending_domains } = on.app.services;
    await sending_domains.add(actor, { name: 'mail.example.com' });
    const { page, complaints } = await open('/');
    await page.getByRole('link', { name: '1 problem' }).waitFor();
    await page.getByText('mail.example.com is not verified: nothing is sent from it.').waitFor();
    expect(await page.getByText('satchel domain verify').count()).toBe(0);
    // The line and the panel have asked once between them.
    const asked = `performance.getEntriesByType('resource').filter(({ name }) => name.includes('/findings')).length`;
    expect(await page.evaluate(asked)).toBe(1);
    await page.getByRole('button', { name: 'Look the records up' }).click();
    await page.getByText('mail.example.com is not verified: not all is found').waitFor();
    await page.getByRole('link', { name: 'The domain', exact: true }).click();
    await page.getByRole('heading', { name: 'mail.example.com', level: 1 }).waitFor();
    // What the page is still asking of the domain would not be found.
    await settle(page);
    await sending_domains.remove(actor, 'mail.example.com');
    await page.getByRole('link', { name: 'Findings' }).click();
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.getByText('All is well').waitFor();
    expect(complaints).toEqual([]);
  });

  test('what doctor advises is done by a button, and is gone then', async () => {
    const { webhooks, projects, mailboxes, sending_domains } = on.app.services;
    const shop = projects.require('shop');
    const { id } = await webhooks.create(shop, { url: 'https://hooks.example.org/' }, noNote);
    await sending_domains.add(actor, { name: 'capture.test', is_trusted: true });
    await mailboxes.add(actor, { address: 'hello@capture.test', relay: null });
    const list = await on.app.services.lists.create(shop.id, { name: 'News' }, noNote);
    const of_list = { list: list.id, max_recipients: 10 };
    const sequence = await on.app.services.sequences.create(shop.id, { name: 'Welcome', ...of_list }, noNote);
    const at = on.app.clock.now();
    sql(on.app.data_dir, "UPDATE webhooks SET is_active = 0, disabled_reason = 'failing'");
    sql(on.app.data_dir, "UPDATE sequences SET status = 'paused', pause_reason = 'bounce_threshold'");
    const mail = newId(at);
    sql(
      on.app.data_dir,
      `INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, subject, message_id, created_at, failed_at)
       VALUES (?, ?, 'api', 'failed', 'f', 'd', 'ann@example.org', 'Once more', 'm', ?, ?)`,
      ...[mail, shop.id, at, at],
    );
    sql(on.app.data_dir, "INSERT INTO email_bodies (email_id, body_text) VALUES (?, 'Hi')", mail);
    const { page, complaints } = await open('/findings');
    await page.getByRole('button', { name: 'Look again' }).click();
    const finding = (words: string | RegExp) =>
      page.getByRole('list', { name: 'Needs attention' }).getByRole('listitem').filter({ hasText: words });
    const gone = (words: string | RegExp) => finding(words).waitFor({ state: 'detached' });
    await finding('hooks.example.org').getByRole('button', { name: 'Switch it on' }).click();
    await gone('hooks.example.org');
    expect(webhooks.get(shop.id, id)).toMatchObject({ is_active: true, disabled_reason: null });
    await finding('The sequence Welcome').getByRole('link', { name: 'Look at it' }).waitFor();
    await finding('The sequence Welcome').getByRole('button', { name: 'Resume it' }).click();
    await page.getByText('Welcome is resumed').waitFor();
    await gone('The sequence Welcome');
    expect(on.app.services.sequences.get(shop.id, sequence.id).status).toBe('active');
    await finding('1 failed in the last 24 hours').getByRole('button', { name: 'Try all again' }).click();
    await page
      .getByRole('dialog', { name: 'Try 1 mail again?' })
      .getByRole('button', { name: 'Try them again' })
      .click();
    await page.getByText('All is well').waitFor();
    await on.app.app.engine.whenIdle();
    expect(on.app.services.deliveries.explain(mail).email.status).toBe('sent');
    await sending_domains.remove(actor, 'capture.test');
    expect(complaints).toEqual([]);
  });

  test('who may not administer is shown no findings, and asks for none', async () => {
    const credentials = await addPerson(on.app, {
      ...{ email: 'plain@example.org', name: 'Plain', all_projects: true },
    });
    const context = await signIn(on, { credentials });
    const asked: string[] = [];
    context.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const { page, complaints } = await openPage(on, context, '/');
    expect(await page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents()).toEqual([
      'Satchel',
      'Home',
      'Projects',
    ]);
    expect(asked.filter((path) => path.endsWith('/findings'))).toEqual([]);
    expect(asked.filter((path) => path.endsWith('/overview'))).not.toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('a backup is made, verified, downloaded byte for byte, and deleted by its name', async () => {
    const { backups, audit } = on.app.services;
    const { page, complaints } = await open('/backups');
    await page.getByRole('button', { name: 'Make a backup' }).first().click();
    await page.getByText('completed', { exact: true }).waitFor();
    const [made] = backups.list();
    const name = made?.name ?? '';
    expect(made).toMatchObject({ status: 'completed', size_bytes: expect.any(Number) });

    await page.getByText(`satchel restore ${join(on.app.data_dir, 'backups', name)} --yes`).waitFor();
    await page.getByRole('button', { name: 'Verify' }).click();
    await page.getByText('The backup is sound.').waitFor();

    const begun = page.waitForEvent('download');
    await page.getByRole('link', { name: /^Download/ }).click();
    const download = await begun;
    expect(download.suggestedFilename()).toBe(name);
    const file = join(on.app.data_dir, 'backups', name);
    expect(readFileSync(await download.path()).equals(readFileSync(file))).toBe(true);
    expect(audit.listNewest({ event: 'backup.downloaded' }, 2)).toMatchObject([
      { target: `backup:${name}`, actor_kind: 'person', actor_name: 'Ann Example' },
    ]);

    await confirm(page, 'Delete the backup', name);
    await page.getByRole('heading', { name: 'Backups', level: 1 }).waitFor();
    expect([backups.list(), existsSync(file)]).toEqual([[], false]);
    expect(complaints).toEqual([]);
  });

  test('the server is told to back up each day, and to stop that; where the key comes from and the way back are shown', async () => {
    const { backup_schedule, backups } = on.app.services;
    const { page, complaints } = await open('/backups');
    const of = backup_schedule.show();
    await page.getByText(of.master_key.id).waitFor();
    await page.getByText('None was made here yet').or(page.getByText('Last backup')).first().waitFor();
    await page.getByLabel('Time', { exact: true }).fill('04:15');
    await page.getByLabel('Time zone').fill('Mars/Base');
    await page.getByLabel('How many of these stay').fill('9');
    await page.getByRole('button', { name: 'Back up each day' }).click();
    await page.getByText(/must be an IANA time zone/i).waitFor();
    await page.getByLabel('Time zone').fill('Europe/Berlin');
    await page.getByRole('button', { name: 'Back up each day' }).click();
    await page.getByRole('button', { name: 'Make none by itself' }).waitFor();
    expect(backup_schedule.show()).toMatchObject({ at: '04:15', timezone: 'Europe/Berlin', keep: 9 });
    const made = await backups.make(actor);
    await on.app.app.engine.whenIdle();
    await page.reload();
    await page.getByText(`satchel restore ${join(on.app.data_dir, 'backups', made.name)} --yes`).waitFor();
    await page.getByRole('button', { name: 'Make none by itself' }).click();
    await page.getByRole('button', { name: 'Back up each day' }).waitFor();
    expect(backup_schedule.show()).toMatchObject({ at: null, timezone: 'Europe/Berlin', keep: 9 });
    await backups.remove(actor, backups.require(made.name));
    on.app.clock.advance(1_000);
    // The zone that there is none of.
    expect(complaints).toEqual([expect.stringContaining('422')]);
  });

  test('alerts are set, tried and taken back; what is wrong with a URL stands beside it, and it is never shown', async () => {
    const { alerts } = on.app.services;
    const { page, complaints } = await open('/alerts');
    await page.getByLabel('Mail to').fill('ops@example.com, second@example.com');
    await page.getByLabel('URL', { exact: true }).fill('http://10.0.0.7/topic-secret');
    await page.getByLabel('What stands behind the URL').selectOption('ntfy');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(/must begin with https/i).waitFor();
    await page.getByLabel('URL', { exact: true }).fill('https://ntfy.invalid/topic-secret');
    await page.getByLabel('Miss backups').uncheck();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('At present at https://ntfy.invalid.').waitFor();
    expect(alerts.show()).toMatchObject({
      email: ['ops@example.com', 'second@example.com'],
      url: 'https://ntfy.invalid',
      format: 'ntfy',
      backups_here: false,
    });
    expect(await page.content()).not.toContain('topic-secret');
    await page.getByRole('button', { name: 'Send a test' }).click();
    await page.getByText('second@example.com: not taken.').waitFor();
    await page.getByText('Alerts do not arrive.').waitFor();
    await page.getByRole('button', { name: 'Forget the URL' }).click();
    await page.getByText('Told by POST.').waitFor();
    await page.getByLabel('Mail to').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Whether it arrives').waitFor({ state: 'detached' });
    expect(alerts.show()).toMatchObject({ email: [], url: null, problem: null });
    await alerts.set(actor, { backups_here: true });
    // The address that it must not be.
    expect(complaints).toEqual([expect.stringContaining('422')]);
  });

  test('the trail is filtered by event and day, and shows hostile names as the text they are', async () => {
    const { origins } = on.app.services;
    await origins.addGlobal({ ...actor, name: HOSTILE }, { type: 'ios', value: 'com.example.audited' });
    const { page, complaints } = await open('/audit?event=global_origin.added');
    await page.getByText('com.example.audited').waitFor();
    await page.getByText(HOSTILE).waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByLabel('To', { exact: true }).fill('2020-01-01');
    await page.getByText('Nothing matches').waitFor();
    expect(new URL(page.url()).searchParams.get('until')).toMatch(/^20(19-12-31|20-01-0[12])T/);
    expect(await page.getByLabel('To', { exact: true }).inputValue()).toBe('2020-01-01');
    await page.getByRole('link', { name: 'Show everything' }).click();
    await page.getByText('person.signed_in').first().waitFor();
    expect(complaints).toEqual([]);
  });

  test('a global origin is added and removed by its name, with what it may have been relied on for', async () => {
    const { origins } = on.app.services;
    const before = origins.listGlobal().length;
    const { page, complaints } = await open('/settings');
    await page.getByRole('button', { name: 'Add an origin' }).click();
    await page.getByLabel('Origin', { exact: true }).fill('not an origin/');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('[aria-invalid=true]').waitFor();
    expect(origins.listGlobal().length).toBe(before);
    await page.getByLabel('Origin', { exact: true }).fill('Tauri://localhost/');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText('Every app that is made with Tauri may send tauri://localhost').waitFor();
    expect(origins.listGlobal()[0]?.value).toBe('tauri://localhost');
    await origins.removeGlobal(actor, Number(origins.listGlobal()[0]?.id));
    await page.getByRole('button', { name: 'Close this notice' }).click();
    await page.getByRole('button', { name: 'Add an origin' }).click();
    await page.getByLabel('Origin', { exact: true }).fill('http://localhost:*');
    await page.getByLabel('Note').fill(HOSTILE);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: 'http://localhost:*' });
    await row.getByText(HOSTILE).waitFor();
    expect(origins.listGlobal()).toContainEqual(
      expect.objectContaining({ value: 'http://localhost:*', note: HOSTILE }),
    );
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByLabel('Type http://localhost:* to go on').fill('http://localhost:*');
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByText('0 restricted keys may have relied on it').waitFor();
    expect(origins.listGlobal().length).toBe(before);
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);
  });

  test('a job is found by its id, and one that there is none of is said to be none', async () => {
    const { job_id } = await on.app.services.backups.make(actor);
    await on.app.app.engine.whenIdle();
    const { page } = await open('/jobs');
    await page.getByLabel('Id of the job').fill(job_id ?? '');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Backup', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Jobs' }).first().click();
    await page.getByLabel('Id of the job').fill('nothing');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('alert').getByText('Job not found').waitFor();
    await settle(page);
  });

  test('what a restore holds is let go on Home, or dropped, once somebody says so', async () => {
    const { services, clock, data_dir } = on.app;
    const hold = (): void => {
      const key = services.projects.require('shop').id;
      sql(
        data_dir,
        "INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, max_attempts, payload, queued_at) VALUES (?, ?, 'email.subscribe', 'pending', 0, 'email.subscribe', ?, 1, '{}', 0)",
        newId(clock.now()),
        key,
        HELD_FROM,
      );
      const backup = { file: 'a.tar', created_at: new Date(clock.now()).toISOString() };
      sql(
        data_dir,
        'INSERT INTO meta (name, value) VALUES (?, ?)',
        RESTORE_HOLD,
        JSON.stringify({ since_ms: clock.now(), backup }),
      );
    };
    const statusOf = () =>
      services.database.read.$client
        .query("SELECT status FROM jobs WHERE type = 'email.subscribe' ORDER BY id DESC")
        .values()[0]?.[0];
    hold();
    const { page, complaints } = await open('/');
    await page.getByText('A restore holds 1 sign-up or run.').waitFor();
    await page.getByRole('button', { name: 'Drop what was due' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    expect(statusOf()).toBe('pending');
    await page.getByRole('button', { name: 'Drop what was due' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Drop what was due' }).click();
    await page.getByText('A restore holds').waitFor({ state: 'detached' });
    expect(statusOf()).toBe('failed');
    hold();
    await page.reload();
    await page.getByRole('button', { name: 'Let all go on' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Let all go on' }).click();
    await page.getByText('A restore holds').waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });
});
