/** What a home page opens with: the present day and what is usual, shares of the mail, and what waits for whom. */
import { beforeEach, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { firstIdOf } from '../../../src/platform/host/ids.ts';
import { actor, addCapturingMailbox } from '../../support/helpers.ts';
import { dataOf, type Management, startManagement } from '../../support/management.ts';

const DAY_MS = 86_400_000;
let stage: Management;

beforeEach(async () => {
  stage = await startManagement();
});

const write = (statement: ReturnType<typeof sql>) =>
  stage.app.services.database.write((tx) => void tx.run(statement));
const hourOf = (days_ago: number) => Math.floor((stage.app.clock.now() - days_ago * DAY_MS) / 3_600_000);
const count = (project_id: number, days_ago: number, what: string, n: number) =>
  write(sql`INSERT INTO email_hours VALUES (${project_id}, ${hourOf(days_ago)}, ${what}, ${n})`);
const activity = async (ref = 'mine') =>
  dataOf(await stage.call('GET', `/projects/${ref}/activity`, stage.all));
const overview = async (token = stage.all) => dataOf(await stage.call('GET', '/overview', token));
const NONE = { sent: 0, failed: 0, bounced: 0, complained: 0, clicked: 0, uploads: 0 };

test('a day is compared with its weekday since anything happened', async () => {
  expect(await activity()).toMatchObject({ today: NONE, usual: null, rates: { d7: null, d30: null } });
  await count(stage.mine.id, 0, 'sent', 3);
  await count(stage.mine.id, 6, 'sent', 1);
  expect(await activity()).toMatchObject({ today: { ...NONE, sent: 3 }, usual: null });
  await count(stage.mine.id, 7, 'sent', 5);
  await count(stage.mine.id, 15, 'sent', 1);
  await count(stage.other.id, 0, 'sent', 9);
  // Two weeks ago nothing was sent, but something had happened before; three weeks ago nothing had.
  const home = { today: { ...NONE, sent: 3 }, usual: { ...NONE, sent: 2.5 } };
  expect(await activity()).toMatchObject(home);
  expect(await overview(stage.scoped)).toMatchObject(home);
  expect(await overview()).toMatchObject({ today: { sent: 12 }, usual: { sent: 2.5 } });
});

test('rates are shares of what was sent', async () => {
  await count(stage.mine.id, 0, 'sent', 6);
  await count(stage.mine.id, 6, 'bounced', 3);
  await count(stage.mine.id, 7, 'sent', 4);
  await count(stage.mine.id, 29, 'clicked', 2);
  const rates = {
    d7: { bounced: 0.5, complained: 0, clicked: 0 },
    d30: { bounced: 0.3, complained: 0, clicked: 0.2 },
  };
  expect([(await activity()).rates, (await overview(stage.scoped)).rates]).toEqual([rates, rates]);
});

test('what waits is told of the projects of the caller, and not once it is old or was done by hand', async () => {
  const now = stage.app.clock.now();
  const mail = (id: string, status: string, at: number, is_test = 0) =>
    write(sql`INSERT INTO emails (id, project_id, is_test, source, status, from_email, domain, to_email, subject, message_id, created_at, failed_at)
      VALUES (${id}, ${stage.mine.id}, ${is_test}, 'api', ${status}, 'f', 'd', 'a@example.org', 's', ${id}, ${at}, ${at})`);
  await mail('a', 'failed', now - 1000);
  await mail('b', 'failed', now - DAY_MS - 1000);
  await mail('c', 'failed', now - 1000, 1);
  await mail('d', 'unknown', now - 1000);
  const hook = (id: string, reason: string | null) =>
    write(sql`INSERT INTO webhooks (public_id, project_id, url, sealed_secret, is_active, disabled_reason, after_event, created_at, updated_at)
      VALUES (${id}, ${stage.other.id}, 'https://a.test', 's', 0, ${reason}, 0, 0, 0)`);
  await hook('w', 'failing');
  await hook('x', null);
  const list_id = 1;
  await write(sql`INSERT INTO contact_lists (id, public_id, project_id, name, created_at, updated_at)
    VALUES (${list_id}, 'L', ${stage.mine.id}, 'L', 0, 0)`);
  for (const days of [1, 8])
    await write(sql`INSERT INTO contact_imports (id, project_id, list_id, method, status, settings, position, created_at)
      VALUES (${firstIdOf(now - days * DAY_MS) + '0'.repeat(16)}, ${stage.mine.id}, ${list_id}, 'csv', 'failed', '{}', '{}', 0)`);
  for (const [at, reason] of ['bounce_threshold', 'manual'].entries()) {
    await write(sql`INSERT INTO sequences (public_id, project_id, list_id, name, status, max_recipients, created_at, updated_at, pause_reason)
      VALUES (${`s${at}`}, ${stage.mine.id}, ${list_id}, 's', 'paused', 1, 0, 0, ${reason})`);
    await write(sql`INSERT INTO broadcasts (public_id, project_id, list_id, name, status, created_at, updated_at, pause_reason)
      VALUES (${`b${at}`}, ${stage.mine.id}, ${list_id}, 'b', 'paused', 0, 0, ${reason})`);
  }
  const mine = [
    { kind: 'failed_mail', count: 1, where: '/console/projects/mine/emails?status=failed' },
    { kind: 'failed_mail', count: 1, where: '/console/projects/mine/emails?status=unknown' },
    { kind: 'paused_sequence', count: 1, where: '/console/projects/mine/sequences?status=paused' },
    { kind: 'paused_broadcast', count: 1, where: '/console/projects/mine/broadcasts?status=paused' },
    { kind: 'failed_import', count: 1, where: '/console/projects/mine/lists' },
  ];
  const other = [{ kind: 'disabled_webhook', count: 1, where: '/console/projects/other/webhooks' }];
  expect([(await activity()).todo, (await activity('other')).todo]).toEqual([mine, other]);
  expect([(await overview(stage.scoped)).todo, (await overview()).todo]).toEqual([mine, [...mine, ...other]]);
});

test('secrets that end within 14 days are told to who may read that vault', async () => {
  const now = stage.app.clock.now();
  const end = (environment: string, field: string, at: number | null) =>
    write(sql`INSERT INTO vault_values (project_id, environment, service, field, sealed, created_at, updated_at, expires_at)
      VALUES (${stage.mine.id}, ${environment}, 'env', ${field}, 's', 0, 0, ${at})`);
  await end('production', 'A', now + 13 * DAY_MS);
  await end('production', 'B', now + 15 * DAY_MS);
  await end('production', 'C', null);
  await end('staging', 'A', now - DAY_MS);
  const told = (count: number) => [{ kind: 'expiring_secret', count, where: '/console/projects/mine/vault' }];
  const reader = await stage.makeToken({ capabilities: ['can_read_vault'] });
  const { token: bound } = await stage.app.services.tokens.create(actor, {
    ...{ name: 'b', all_projects: true, projects: [], capabilities: ['can_read_vault'] },
    environments: ['staging'],
  });
  const elsewhere = await stage.makeToken({ capabilities: ['can_read_vault'], projects: ['other'] });
  expect([(await overview()).todo, (await overview(elsewhere)).todo]).toEqual([[], []]);
  expect([(await overview(reader)).todo, (await overview(bound)).todo]).toEqual([told(2), told(1)]);
});

test('findings are told to administrators alone', async () => {
  const { doctor } = stage.app.services;
  const finding = { check: 'c', message: 'm', remedy: null };
  Object.assign(doctor, {
    latest: () => [
      { ...finding, status: 'ok' },
      { ...finding, status: 'warning' },
    ],
  });
  expect((await overview()).todo).toEqual([]);
  const token = await stage.makeToken({ capabilities: ['can_administer'] });
  expect((await overview(token)).todo).toEqual([{ kind: 'finding', count: 1, where: '/console/findings' }]);
});

test('mail that is kept here waits for whoever may send it, while it goes nowhere', async () => {
  const { mine, other, app } = stage;
  const mail = (
    id: string,
    project_id: number,
    days_ago: number,
    fields: { is_captured?: number; is_test?: number },
  ) =>
    write(sql`INSERT INTO emails (id, project_id, is_test, is_captured, source, status, from_email, domain, to_email, subject, message_id, created_at, sent_at)
      VALUES (${id}, ${project_id}, ${fields.is_test ?? 0}, ${fields.is_captured ?? 1}, 'api', 'sent', 'f', 'd', 'a@example.org', 's', ${id},
        0, ${app.clock.now() - days_ago * DAY_MS})`);
  const admin = await stage.makeToken({ capabilities: ['can_administer'] });
  await mail('a', mine.id, 0, {});
  await mail('b', mine.id, 6, {});
  await mail('c', mine.id, 8, {});
  await mail('d', mine.id, 0, { is_test: 1 });
  await mail('e', mine.id, 0, { is_captured: 0 });
  await mail('f', other.id, 0, {});
  expect((await overview()).todo).toEqual([]);
  await addCapturingMailbox(app);
  const captured = (count: number, where: string) => ({
    kind: 'captured_mail',
    count,
    where: `/console/${where}`,
  });
  expect((await overview()).todo).toEqual([
    captured(2, 'projects/mine/emails'),
    captured(1, 'projects/other/emails'),
  ]);
  expect((await activity()).todo).toEqual([captured(2, 'projects/mine/emails')]);
  expect((await overview(admin)).todo).toEqual([captured(3, 'set-up-sending')]);
  const of_mine = await stage.call('GET', '/projects/mine/activity', admin);
  expect(dataOf(of_mine).todo).toEqual([captured(2, 'set-up-sending')]);
  await app.services.projects.update(actor, mine, { status: 'inactive' });
  expect((await overview(admin)).todo).toEqual([captured(1, 'set-up-sending')]);
  await app.services.mailboxes.change(actor, 'shop@mail.example.com', {
    relay: parseRelay('smtp://127.0.0.1:9'),
  });
  expect((await overview(admin)).todo).toEqual([]);
});
