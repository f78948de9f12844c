/** A project moves: all of it, once, and nothing of it goes on by itself until that is said. */

import { expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { GOING } from '../../../src/operation/transfers/inventory-tables.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { HELD } from '../../../src/platform/jobs/store.ts';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
import { startSequenceApp } from '../../marketing/sequences/setup.ts';
import { runWith } from '../../support/command.ts';
import { dumpBlobs, sql } from '../../support/deployment.ts';
import { actor } from '../../support/helpers.ts';
import { contentsOf, countFrom, exported, imported, startFilled } from './setup.ts';

const from = await startFilled();
const { ids, links, plain_key, token } = from;
for (const email of ['known@example.com', 'unknown@example.com'])
  await from.app.services.people.add(actor, null, { email, all_projects: false, projects: ['shop'] });
const copy = await exported(from.app, { is_copy: true });
const was_active = from.app.services.projects.require('shop').status;
const moved = await exported(from.app);
// It has a project of that slug, the same mailbox, and rows of its own, so that numbers differ.
const there = await startSequenceApp();
const { app } = there;
await there.contact(await there.list(), 'somebody@example.com');
await app.services.people.add(actor, null, {
  email: 'known@example.com',
  all_projects: false,
  projects: ['shop'],
});
countFrom(app, 1000);
const result = await imported(app, moved);
const again = await exported(app, { is_copy: true, ref: result.public_id });

const here = (path: string, how: { key?: string; token?: string } = { key: plain_key }) =>
  app.call('GET', path, how);
const data = async (path: string): Promise<Record<string, unknown>> => {
  const { body, text, status } = await here(`/api/v1${path}`);
  if (status !== 200) throw new Error(text);
  return (body.data ?? body) as Record<string, unknown>;
};

test('the project that is moved has a row in every table that goes', async () => {
  const contents = await contentsOf(moved);
  expect(GOING.filter((table) => contents[table] === undefined)).toEqual([]);
});

test('what arrives is what left, row by row and byte by byte, but for what stands for the move itself', async () => {
  const left = await contentsOf(moved);
  const arrived = await contentsOf(again);
  const unlike = Object.keys({ ...left, ...arrived }).filter(
    (name) => JSON.stringify(left[name]) !== JSON.stringify(arrived[name]),
  );
  expect(unlike.sort()).toEqual([
    ...['audit_events', 'email_schedules', 'emails', 'jobs', 'merge_source_names'],
  ]);
  const fresh = (table: string): string[] =>
    (arrived[table] ?? []).filter((row) => !left[table]?.includes(row));
  const lost = (table: string): string[] =>
    (left[table] ?? []).filter((row) => !arrived[table]?.includes(row));
  expect(lost('audit_events')).toEqual([]);
  expect(
    fresh('audit_events')
      .map((row) => /project\.\w+/.exec(row)?.[0])
      .sort(),
  ).toEqual(['project.exported', 'project.imported']);
  // A mail that waits gets its mailbox, and its place in that one's quota, as it goes out here.
  const [waiting = '', ...more] = lost('emails');
  expect(more).toEqual([]);
  expect(fresh('emails')).toEqual([
    waiting
      .replace(/"mailbox_id",\d+/, '"mailbox_id",null')
      .replace(/"quota_day","[^"]+"/, '"quota_day",null'),
  ]);
  expect(lost('merge_source_names')).toEqual([]);
  // Where it was, its being inactive keeps them; here it is active.
  expect(fresh('email_schedules')).toEqual(
    lost('email_schedules').map((row) =>
      row
        .replace('["is_active",1]', '["is_active",0]')
        .replace('["is_moved",0]', '["is_moved",1]')
        .replace(/"next_run_at",\d+/, '"next_run_at",null'),
    ),
  );
  const standingOf = (row: string): unknown[] =>
    ['type', 'status', 'run_at'].map((name) => new Map<string, unknown>(JSON.parse(row)).get(name));
  expect(fresh('jobs').map(standingOf).sort()).toEqual([
    ['broadcast.send', 'completed', expect.any(Number)],
    ['email.send', 'pending', HELD],
    ['sequence.step', 'completed', expect.any(Number)],
  ]);
});

test('what the move stopped says so, on both sides', async () => {
  const reasonsOf = (on: typeof app) =>
    on.services.database.read.$client
      .query<{ status: string; pause_reason: string }, []>(
        `SELECT status, pause_reason FROM sequences WHERE public_id = '${ids.sequence}'
         UNION ALL SELECT status, pause_reason FROM broadcasts WHERE public_id = '${ids.planned}'`,
      )
      .all();
  const moved = { status: 'paused', pause_reason: 'moved' };
  expect(reasonsOf(from.app)).toEqual([moved, moved]);
  expect(reasonsOf(app)).toEqual([moved, moved]);
  const { services } = from.app;
  expect(services.sequences.listPausedByThemselves()).toEqual([]);
  const owner = services.projects.require('shop');
  const resumed = services.sequence_life.resume(actor, owner, String(ids.sequence));
  await expect(resumed).rejects.toMatchObject({ code: 'project_inactive' });
  const why = await services.sequences.explain(owner.id, String(ids.sequence));
  expect(why.join('\n')).toContain('as its project moved');
});

test('the file of a copy holds what the project is, at work, and leaves it so', async () => {
  expect(was_active).toBe('active');
  const [schedule = ''] = (await contentsOf(copy)).email_schedules ?? [];
  expect(schedule).toContain('["is_active",1]');
});

test('where it was, it is inactive, and its keys answer 401', async () => {
  expect(from.app.services.projects.require('shop').status).toBe('inactive');
  expect((await from.app.call('GET', '/api/v1/objects', { key: plain_key })).status).toBe(401);
});

test('the file has no secret in clear, and is its owner’s alone', () => {
  for (const secret of ['canary-hidden', plain_key, token, 'correct horse'])
    expect(readFileSync(moved).includes(secret), secret).toBe(false);
  expect((statSync(moved).mode & 0o777).toString(8)).toBe('600');
});

test('a taken slug gets a number, and the public id stays', () => {
  expect(result.slug).toBe('shop-2');
  expect(result.public_id).toBe(from.project.public_id);
  expect(app.services.projects.require('shop-2').status).toBe('active');
});

test('keys, tokens, links of files, revealed copies and the vault are the same', async () => {
  expect(await data(`/objects/${ids.object}`)).toBeDefined();
  expect((await here(links.file, {})).text).toBe('bytes of the shop');
  const revealed = await app.call('POST', '/api/public/v1/projects/shop-2/vault/reveal', { token });
  expect(revealed.text).toContain('canary-hidden');
  const vault = '/api/public/v1/projects/shop-2/vault';
  const staging = await app.call('POST', `${vault}/reveal?environment=staging`, { token });
  expect(staging.body.data).toMatchObject({
    services: { captcha: { secret_key: 'canary-hidden' }, stripe: { secret_key: 'canary-staging' } },
    inherited: [
      { service: 'captcha', field: 'site_key' },
      { service: 'captcha', field: 'secret_key' },
    ],
  });
  const about = { secret_key: { expires_at: '2040-01-31T23:59:59.999Z', note: 'Ann renews it' } };
  const shown = await here(`${vault}/stripe?environment=staging`, { token });
  expect(shown.body.data).toMatchObject({ about });
  const stripe = requireVaultService('stripe');
  const at = app.services.vault.environments.at(app.services.projects.require('shop-2'), 'staging', null);
  const [, past] = app.services.vault_versions.list(at, { service: stripe }, {}).data;
  expect(past?.by).toMatchObject({ kind: 'token', name: 'vault' });
  expect(await app.services.vault_versions.reveal(actor, at, stripe, past?.version ?? '')).toMatchObject({
    value: 'canary-past',
  });
  const key = app.services.database.read.$client
    .query<{ id: number }, []>(`SELECT id FROM api_keys WHERE key_prefix = '${plain_key.slice(0, 15)}'`)
    .get();
  const row = app.services.keys.require(String(key?.id));
  expect(await app.services.keys.reveal(actor, row)).toEqual({ plaintext_key: plain_key });
});

test('a token of other projects too reaches this one alone', async () => {
  const projects = await here('/api/public/v1/projects', { token });
  expect((projects.body.data as { slug: string }[]).map(({ slug }) => slug)).toEqual(['shop-2']);
});

test('bytes that a waiting mail keeps of a deleted file come along', () => {
  const names = Object.keys(dumpBlobs(app.data_dir)).map((path) => path.slice(-26));
  expect(names.sort()).toEqual([String(ids.object), String(ids.pinned)].sort());
});

test('links in mails that were sent before lead where they led, and unsubscribe', async () => {
  const followed = await here(links.clicked, {});
  expect([followed.status, followed.headers.get('location')]).toEqual([
    302,
    'https://shop.example.com/new?utm_source=news',
  ]);
  expect((await here(links.unsubscribe, {})).status).toBe(200);
  expect(
    (
      await here(
        links.clicked.replace(/.$/, (end) => (end === '0' ? '1' : '0')),
        {},
      )
    ).status,
  ).toBe(404);
});

test('suppressions match', async () => {
  const added = await app.call('POST', `/api/v1/email-lists/${ids.list}/contacts`, {
    key: plain_key,
    body: { email: 'left@example.com', consent_basis: 'consent' },
  });
  expect([added.status, added.text.includes('suppress')]).toEqual([422, true]);
});

test('an Idempotency-Key answers what it answered', async () => {
  const body = { to: 'ann@example.com', subject: 'Hello', body_text: 'Text' };
  const answer = await app.call('POST', '/api/v1/emails/send', {
    ...{ key: plain_key, body },
    headers: { 'Idempotency-Key': 'once' },
  });
  expect([answer.body.id, answer.headers.get('idempotent-replayed')]).toEqual([ids.sent, 'true']);
});

test('people are granted it by their address, and those who are not there are listed', async () => {
  expect(result.missing).toEqual({
    ...{ people: ['unknown@example.com'], domains: ['spare.example.com'], mailboxes: [] },
    ...{ link_domains: [], ai_accounts: [], database_projects: [] },
  });
  const people = app.services.people.list({}).data.map(({ email, projects }) => [email, projects?.length]);
  expect(people).toEqual([['known@example.com', 2]]);
});

test('it is refused where it is, and that changes nothing', async () => {
  await expect(imported(app, moved)).rejects.toThrow('is here already');
  await expect(imported(app, copy)).rejects.toThrow('is here already');
});

test('sequences, schedules and broadcasts arrive paused, and what waits is withheld, until all goes on where it was', async () => {
  const story = async (): Promise<unknown[]> => [
    (await data(`/email-sequences/${ids.sequence}`)).status,
    (await data(`/email-broadcasts/${ids.broadcast}`)).status,
    (await data(`/email-broadcasts/${ids.planned}`)).status,
    (await data(`/email-schedules/${ids.schedule}`)).is_active,
    (await data(`/emails/${ids.later}`)).status,
  ];
  expect(await data(`/email-lists/${ids.list}`)).toMatchObject({
    signed_up_url: 'https://shop.example/next',
    confirmed_url: 'https://shop.example/done',
  });
  for (const path of [`/email-sequences/${ids.sequence}`, `/email-broadcasts/${ids.broadcast}`])
    expect((await data(path)).utm).toEqual({ source: 'news' });
  await there.pass();
  expect(await story()).toEqual(['paused', 'sent', 'paused', false, 'scheduled']);
  expect(await data(`/email-broadcasts/${ids.planned}`)).toMatchObject({
    segment: ids.segment,
    filter: null,
  });
  expect(await data(`/email-segments/${ids.segment}`)).toMatchObject({
    filter: { received: ids.broadcast },
    contacts_count: 2,
  });
  const told = await app.services.deliveries.explain(String(ids.later));
  expect(JSON.stringify(told)).toContain('satchel project import --go');

  const project = app.services.projects.require('shop-2');
  const went = await app.services.transfers.letGo(project, actor);
  expect(went).toEqual({ schedules: 1, sequences: 1, broadcasts: 2, jobs: 1, stayed: [] });
  const tested = from.app.services.broadcasts.get(from.project.id, String(ids.testing)).ab;
  expect(tested?.results).toHaveLength(2);
  expect(await data(`/email-broadcasts/${ids.testing}`)).toMatchObject({
    status: 'testing',
    ab: { ...tested },
  });
  expect(await story()).toEqual(['active', 'sent', 'scheduled', true, 'scheduled']);
  // A second time there is nothing to let go.
  expect(await app.services.transfers.letGo(project, actor)).toMatchObject({ schedules: 0, jobs: 0 });

  await there.pass(24);
  expect((await there.app.call('GET', '/api/v1/emails?per_page=50', { key: plain_key })).text).toContain(
    '"sequence"',
  );
  await there.pass(24 * 16);
  await there.pass(24 * 30);
  expect(await story()).toEqual(['active', 'sent', 'sent', true, 'sent']);
});

test('what was at work as a copy was made arrives paused too, and goes on once it is let go', async () => {
  const other = await startSequenceApp();
  await other.app.services.projects.remove(actor, 'shop');
  const { id } = await imported(other.app, copy);
  const { services } = other.app;
  const standing = (): unknown[] => {
    const { read } = services.database;
    const status = (table: string, public_id: string): unknown =>
      read.$client.query(`SELECT status FROM ${table} WHERE public_id = '${public_id}'`).values()[0]?.[0];
    return [
      status('sequences', String(ids.sequence)),
      status('broadcasts', String(ids.broadcast)),
      status('broadcasts', String(ids.planned)),
      services.schedules.get(id, String(ids.schedule)).is_active,
    ];
  };
  await other.pass();
  expect(standing()).toEqual(['paused', 'sent', 'paused', false]);

  // What can't go on stays, and is told; the rest does not wait for it.
  sql(other.app.data_dir, 'UPDATE contact_lists SET archived_at = 1');
  const cut = await runWith(
    { SATCHEL_DATA_DIR: other.app.data_dir, SATCHEL_DNS_SERVERS: other.dns.address },
    ...['project', 'import', '--go', 'shop'],
  );
  expect([cut.exit, cut.stdout]).toEqual([
    1,
    expect.stringContaining(`The sequence ${ids.sequence} stays paused`),
  ]);
  expect(standing().slice(2)).toEqual(['scheduled', true]);
  sql(other.app.data_dir, 'UPDATE contact_lists SET archived_at = NULL');

  const went = await services.transfers.letGo(services.projects.require('shop'), actor);
  expect(went).toEqual({ schedules: 0, sequences: 1, broadcasts: 0, jobs: 0, stayed: [] });
  expect(standing()).toEqual(['active', 'sent', 'scheduled', true]);

  // What people stop after it went on stays so.
  await services.schedules.update(id, String(ids.schedule), { is_active: false }, noNote);
  await services.transfers.letGo(services.projects.require('shop'), actor);
  expect(standing()[3]).toBe(false);
});
