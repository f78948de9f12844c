/** A restore holds what would go on by itself, until somebody says that it goes on, or counts as done. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { HELD_FROM } from '../../../src/platform/jobs/restore-hold.ts';
import { startSequenceApp } from '../../marketing/sequences/setup.ts';
import { run, runRecord } from '../../support/command.ts';
import { dumpRows } from '../../support/deployment.ts';
import { actor, type TestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';
import { exported, imported } from '../transfers/setup.ts';
import { type AtWork, type RestoredApp, restored, startAtWork } from './setup.ts';

let work: AtWork;
beforeAll(async () => {
  work = await startAtWork();
}, 60_000);

const ALL = { mails: 8, sequences: 3, broadcasts: 4, schedules: 1, deliveries: 2, jobs: 2 };
const NONE = { mails: 0, sequences: 0, broadcasts: 0, schedules: 0, deliveries: 0, jobs: 0 };
/** Of the project `other`. */
const OTHERS = { ...NONE, mails: 1 };
const BOTH_LINES = ['satchel release --yes', 'satchel release --drop --yes'];

async function tokenFor(app: TestApp, projects: string[]): Promise<string> {
  const is_admin = projects.length === 0;
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: is_admin, projects },
    capabilities: is_admin ? ['can_administer'] : [],
  });
  return token;
}

async function heldBy(there: RestoredApp, token: string): Promise<Record<string, unknown> | null> {
  const { body } = await there.app.call('GET', '/api/public/v1/overview', { token });
  return (body.data as { held: Record<string, unknown> | null }).held;
}

const release = (there: RestoredApp, token: string, body: object) =>
  there.app.call('POST', '/api/public/v1/release', { token, body });

/** The id of one that is held. */
function anySequenceMail(there: RestoredApp): string {
  const found = there.app.services.database.read.$client
    .query("SELECT id FROM emails WHERE source = 'sequence' AND status = 'queued'")
    .values()[0];
  return String(found?.[0]);
}

/** How all of it stands. */
async function standing(there: RestoredApp): Promise<Record<string, unknown>> {
  const { ids } = work;
  const of = async (path: string, field: string): Promise<unknown> => (await there.get(path))[field];
  const broadcast = (id: string) => of(`/email-broadcasts/${id}`, 'status');
  return {
    mails: [
      await of(`/emails/${ids.under_way}`, 'status'),
      await of(`/emails/${ids.missed}`, 'status'),
      await of(`/emails/${ids.later}`, 'status'),
    ],
    sequences: [
      await of(`/email-sequences/${ids.sequence}`, 'status'),
      await of(`/email-sequences/${ids.waiting}`, 'status'),
    ],
    broadcasts: [
      await broadcast(ids.sent),
      await broadcast(ids.testing),
      await broadcast(ids.past),
      await broadcast(ids.coming),
    ],
    schedule: await of(`/email-schedules/${ids.schedule}`, 'next_run_at'),
  };
}

const HELD = {
  mails: ['queued', 'scheduled', 'scheduled'],
  sequences: ['paused', 'paused'],
  broadcasts: ['paused', 'paused', 'paused', 'paused'],
  schedule: null,
};

describe('after a restore', () => {
  let there: RestoredApp;
  let admin: string;
  beforeAll(async () => {
    there = await restored(work);
    work.receiver.got.length = 0;
    await there.start();
    admin = await tokenFor(there.app, []);
    await there.pass();
    // Also later than any of it was due.
    await there.pass(17 * 24);
  }, 60_000);

  test('nothing of it goes on by itself, and it says so', async () => {
    expect(there.held).toEqual(ALL);
    expect([there.sent(), work.receiver.got]).toEqual([[], []]);
    expect(await standing(there)).toEqual(HELD);
    const backup = { file: 'work.tar', created_at: '2030-01-15T12:00:00.000Z' };
    expect(await heldBy(there, admin)).toEqual({ since: '2030-01-16T18:00:00.000Z', backup, ...ALL });
    const { mails, ...others } = ALL;
    expect(await heldBy(there, await tokenFor(there.app, ['shop']))).toMatchObject({
      mails: mails - 1,
      ...others,
    });
    expect(await heldBy(there, await tokenFor(there.app, ['other']))).toMatchObject(OTHERS);
  });

  test('doctor has a problem with both lines, and what is looked at says why it waits', async () => {
    const { findings } = JSON.parse((await run(there.data_dir, 'doctor', '--json')).stdout);
    const [finding] = findings.filter(({ check }: { check: string }) => check === 'restore');
    expect(finding).toMatchObject({
      status: 'problem',
      message: expect.stringContaining(
        '8 mails, 3 sequences, 4 broadcasts, 1 schedule, 2 deliveries of webhooks, 2 sign-ups and runs',
      ),
    });
    for (const line of BOTH_LINES) expect(finding.remedy).toContain(line);
    const about_campaigns = findings.filter(({ check }: { check: string }) =>
      /^(sequences|broadcasts)$/.test(check),
    );
    expect(about_campaigns.map(({ status }: { status: string }) => status)).toEqual(['ok', 'ok']);
    for (const args of [
      ['email', 'why', work.ids.under_way],
      ['email', 'why', work.ids.later],
      ['sequence', 'why', work.ids.sequence],
      ['broadcast', 'show', work.ids.coming],
    ]) {
      const { stdout } = await run(there.data_dir, ...args);
      expect(stdout).toContain(
        'a restore holds it at 2030-01-16T18:00:00.000Z, of the backup of 2030-01-15T12:00:00.000Z',
      );
      for (const line of BOTH_LINES) expect(stdout).toContain(line);
    }
    const bulk = there.count(
      `SELECT count(*) AS n FROM emails WHERE source = 'broadcast' AND status = 'queued'`,
    );
    expect(bulk).toBe(2);
    expect((await run(there.data_dir, 'email', 'why', anySequenceMail(there))).stdout).toContain(
      'a restore holds it',
    );
    // The attempt that was under way may have reached its relay.
    expect((await run(there.data_dir, 'email', 'why', work.ids.under_way)).stdout).toContain(
      'may have taken the message',
    );
  });

  test('deliveries that are held are due at no time', async () => {
    const { webhooks, projects } = there.app.services;
    const [hook] = webhooks.list(projects.require('shop').id);
    const row = webhooks.require(projects.require('shop').id, String(hook?.id));
    expect(webhooks.listDeliveries(row, {}).data.map(({ status, next_at }) => [status, next_at])).toEqual([
      ['waiting', null],
      ['waiting', null],
    ]);
    expect(webhooks.waitingSince(there.app.services.database.read)).toBeNull();
  });

  test('it is on the audit trail', async () => {
    const { body } = await there.app.call('GET', '/api/public/v1/audit?event=backup.restored', {
      token: admin,
    });
    expect(body.data).toMatchObject([
      {
        event: 'backup.restored',
        target: 'backup:work.tar',
        metadata: { made_at: '2030-01-15T12:00:00.000Z', ...ALL },
      },
    ]);
  });

  test('a clock that is set back, a pause of a contact and an export release nothing', async () => {
    const { services } = there.app;
    const due = (): number =>
      there.count(`SELECT run_at AS n FROM jobs WHERE payload ->> 'email_id' = '${work.ids.missed}'`);
    expect(due()).toBe(HELD_FROM + Date.parse('2030-01-16T00:00:00Z'));
    there.clock.at_ms -= 3_600_000;
    await there.pass();
    expect(due()).toBe(HELD_FROM + Date.parse('2030-01-16T00:00:00Z'));
    const id = there.count("SELECT id AS n FROM contacts WHERE email = 'cy@example.com'");
    const contact = services.contacts.findById(id);
    if (!contact) throw new Error('the contact is gone');
    await services.database.write((tx) =>
      services.sequence_life.onPause(tx, {
        contact: { ...contact, paused_until: there.clock.now() },
        was_until: null,
      }),
    );
    await there.pass(1);
    expect(await heldBy(there, admin)).toMatchObject(ALL);
  });

  test('what is new goes as ever', async () => {
    const body = { to: 'fresh@example.com', subject: 'Fresh', body_text: 'Text' };
    const answer = await there.app.call('POST', '/api/v1/emails/send', { key: work.key, body });
    expect(answer.status).toBe(202);
    await there.pass();
    expect(there.sent()).toEqual(['fresh@example.com Fresh']);
  });

  test('what somebody resumes goes on alone', async () => {
    const resumed = await there.app.call('POST', `/api/v1/email-sequences/${work.ids.waiting}/resume`, {
      key: work.key,
    });
    expect(resumed.status).toBe(200);
    await there.pass();
    expect(there.sent()).toEqual(['cy@example.com a for there', 'fresh@example.com Fresh']);
    const cancelled = await there.app.call('DELETE', `/api/v1/emails/${work.ids.later}/schedule`, {
      key: work.key,
    });
    expect(cancelled.text).toContain('canceled');
    expect(await heldBy(there, admin)).toMatchObject({ ...ALL, mails: 6, sequences: 2 });
  });
});

describe('released', () => {
  test('all goes on as if it had waited', async () => {
    const there = await restored(work);
    work.receiver.got.length = 0;
    await there.start();
    const token = await tokenFor(there.app, []);
    expect((await release(there, await tokenFor(there.app, ['shop']), {})).status).toBe(403);
    expect((await release(there, token, { project: 'nobody' })).status).toBe(404);
    const { body, status } = await release(there, token, {});
    const dropped = { mails: 0, broadcasts: 0, deliveries: 0, jobs: 0, enrollments: 0 };
    expect([status, body.data]).toEqual([200, { went_on: ALL, dropped }]);
    await there.pass();
    const both = (what: string): string[] => [`ann@example.com ${what}`, `bob@example.com ${what}`];
    expect(there.sent()).toEqual(
      [
        ...[
          'now@example.com Hello',
          'missed@example.com Hello',
          'other@example.com Hello',
          'run@example.com Hello',
        ],
        ...['cy@example.com a for there', 'cy@example.com c for there', ...both('b for there')],
        // A broadcast that was on its way, and one whose time was less than a day ago.
        ...[...both('news for there'), ...both('news for there')],
      ].sort(),
    );
    expect(await standing(there)).toEqual({
      mails: ['sent', 'sent', 'scheduled'],
      sequences: ['active', 'active'],
      broadcasts: ['sent', 'testing', 'sent', 'scheduled'],
      // The run of this morning is not made up for.
      schedule: '2030-01-17T09:00:00.000Z',
    });
    expect(there.count("SELECT count(*) AS n FROM contacts WHERE email = 'new@example.com'")).toBe(1);
    await work.receiver.await('/hook', 2);
    const told = work.receiver.got.map(({ body: of }) => JSON.parse(of).type ?? 'object.created');
    expect(told.filter((type) => type === 'object.created')).toHaveLength(2);
    expect(await heldBy(there, token)).toBeNull();
    expect(there.count("SELECT count(*) AS n FROM meta WHERE name = 'restore_hold'")).toBe(0);
    const trail = await there.app.call('GET', '/api/public/v1/audit?event=restore.released', { token });
    expect(trail.body.data).toMatchObject([{ metadata: { drop: false, ...ALL } }]);
    // What is due later comes then.
    await there.pass(24 * 15 + 8);
    expect((await standing(there)).broadcasts).toEqual(['sent', 'testing', 'sent', 'sent']);
    expect((await release(there, token, {})).body.data).toMatchObject({ went_on: NONE });
  }, 60_000);

  test('a broadcast more than a day late waits for somebody, and one project goes on without the others', async () => {
    const there = await restored(work, { at: '2030-01-18T00:00:00Z' });
    await there.start();
    const token = await tokenFor(there.app, []);
    const { body } = await release(there, token, { project: 'shop' });
    expect(body.data).toMatchObject({ went_on: { ...ALL, mails: 7 } });
    await there.pass();
    expect(await there.get(`/email-broadcasts/${work.ids.past}`)).toMatchObject({
      status: 'paused',
      pause_reason: 'late',
    });
    expect(there.sent().filter((one) => one.startsWith('other'))).toEqual([]);
    expect(await heldBy(there, token)).toMatchObject(OTHERS);
  }, 60_000);

  test('in an inactive project all waits until it is active', async () => {
    const there = await restored(work);
    await there.start();
    const { projects, holds } = there.app.services;
    const shop = projects.require('shop');
    await projects.update(actor, shop, { status: 'inactive' });
    expect((await run(there.data_dir, 'email', 'why', anySequenceMail(there))).stdout).toContain(
      'a restore holds it',
    );
    await holds.release(actor, { project: null, drop: false });
    await there.pass();
    expect(there.sent()).toEqual(['other@example.com Hello']);
    await projects.update(actor, shop, { status: 'active' });
    await there.pass();
    expect(there.sent()).toContain('ann@example.com b for there');
    expect((await standing(there)).sequences).toEqual(['active', 'active']);
  }, 60_000);

  test('a mail of a sequence that was paused again meanwhile waits for it', async () => {
    const there = await restored(work);
    await there.start();
    const { database, holds } = there.app.services;
    await database.write((tx) =>
      tx.$client.run("UPDATE sequences SET pause_reason = 'manual' WHERE public_id = ?", [work.ids.waiting]),
    );
    // It was never tried, so that nobody asks as it begins.
    await database.write((tx) =>
      tx.$client.run("UPDATE emails SET attempts = 0, began_at = NULL WHERE to_email = 'cy@example.com'"),
    );
    await holds.release(actor, { project: null, drop: false });
    await there.pass();
    expect(there.sent().filter((one) => one.includes('cy@example.com a'))).toEqual([]);
    await there.app.call('POST', `/api/v1/email-sequences/${work.ids.waiting}/resume`, { key: work.key });
    await there.pass();
    expect(there.sent().filter((one) => one.includes('cy@example.com a'))).toEqual([
      'cy@example.com a for there',
    ]);
  }, 60_000);
});

describe('dropped', () => {
  test('what was due before the restore counts as done, and what is due later goes on', async () => {
    const there = await restored(work);
    work.receiver.got.length = 0;
    const args = ['release', '--drop'];
    const before = dumpRows(there.data_dir);
    const asked = await run(there.data_dir, ...args);
    expect([asked.exit, dumpRows(there.data_dir)]).toEqual([1, before]);
    expect(asked.stderr).toContain(
      'counts as done: 7 mails, 3 broadcasts, 2 deliveries of webhooks, 2 sign-ups and runs, the steps of 2 contacts in sequences that were due; ' +
        'and lets go on: 1 mail, 3 sequences, 1 broadcast, 1 schedule. Add --yes to do it.',
    );
    await there.start();
    const { body: done } = await release(there, await tokenFor(there.app, []), { drop: true });
    expect(done.data).toEqual({
      went_on: { ...NONE, mails: 1, sequences: 3, broadcasts: 1, schedules: 1 },
      dropped: { mails: 7, broadcasts: 3, deliveries: 2, jobs: 2, enrollments: 3 },
    });
    await there.pass();
    expect([there.sent(), work.receiver.got]).toEqual([[], []]);
    expect(await standing(there)).toMatchObject({
      mails: ['canceled', 'canceled', 'scheduled'],
      sequences: ['active', 'active'],
      broadcasts: ['cancelled', 'cancelled', 'cancelled', 'scheduled'],
    });
    expect(there.count("SELECT count(*) AS n FROM webhook_deliveries WHERE status = 'failed'")).toBe(2);
    expect(
      there.count(
        "SELECT count(*) AS n FROM jobs WHERE type IN ('email.subscribe', 'schedule.run') AND status = 'failed'",
      ),
    ).toBe(2);
    expect(there.count("SELECT count(*) AS n FROM jobs WHERE payload LIKE '%new@example.com%'")).toBe(0);
    expect((await there.get(`/email-schedules/${work.ids.schedule}`)).last_status).toBe('skipped');
    // The second step was due 24 hours after the first, the third two hours later, the last one two days after that.
    const { body } = await there.app.call('GET', `/api/v1/email-sequences/${work.ids.sequence}/enrollments`, {
      key: work.key,
    });
    const due = { step: 'd', state: 'active', next_at: '2030-01-18T14:00:00.000Z' };
    expect(body.data).toMatchObject([due, due]);
    // Its mail was under way: its end counts from when that was due.
    const waited = await there.app.call('GET', `/api/v1/email-sequences/${work.ids.waiting}/enrollments`, {
      key: work.key,
    });
    expect(waited.body.data).toMatchObject([{ state: 'completed', ended_at: '2030-01-16T12:00:00.000Z' }]);
    const why = await run(
      there.data_dir,
      'sequence',
      'why',
      work.ids.sequence,
      '--contact',
      'ann@example.com',
    );
    expect(why.stdout).toContain('Step b: not sent, as what was due before a restore counts as done.');
    expect((await run(there.data_dir, 'email', 'why', work.ids.missed)).stdout).toContain(
      'it counts as done',
    );
    await there.pass(48);
    expect(there.sent().filter((one) => one.includes('d for'))).toEqual([
      'ann@example.com d for there',
      'bob@example.com d for there',
    ]);
  }, 60_000);
});

test('without a server the shell lets go, and a project is named as everywhere', async () => {
  const there = await restored(work);
  const asked = await run(there.data_dir, 'release', '--project', 'other');
  expect([asked.exit, asked.stderr]).toEqual([1, 'satchel: This lets go on: 1 mail. Add --yes to do it.\n']);
  const one = await run(there.data_dir, 'release', '--project', 'other', '--yes');
  expect([one.exit, one.stdout]).toEqual([0, 'It goes on: 1 mail.\n']);
  expect((await run(there.data_dir, 'release', '--project', 'nobody', '--yes')).exit).toBe(1);
  expect(await runRecord(there.data_dir, 'release', '--yes')).toMatchObject({
    went_on: { ...ALL, mails: 7 },
  });
  const none = await run(there.data_dir, 'release');
  expect([none.exit, none.stdout]).toEqual([0, 'Nothing is held.\n']);
  await there.start();
  await there.pass();
  expect(there.sent()).toContain('ann@example.com b for there');
}, 60_000);

test('with --release nothing is held', async () => {
  const there = await restored(work, { release: true });
  expect(there.held).toBeNull();
  expect(there.notes).toEqual([expect.stringContaining('waiting when the backup was made')]);
  await there.start();
  await there.pass();
  expect(there.sent()).toContain('ann@example.com b for there');
  expect(there.count("SELECT count(*) AS n FROM audit_events WHERE event = 'backup.restored'")).toBe(0);
});

test('a backup of what is held is held where it is restored, from then on', async () => {
  const there = await restored(work);
  const file = join(makeTempDir(), 'held.tar');
  await runRecord(there.data_dir, 'backup', file);
  const again = await restored({ ...work, file }, { at: '2030-02-16T18:00:00Z', is_stream: true });
  expect(again.held).toEqual(ALL);
  const told = await run(again.data_dir, 'email', 'why', work.ids.missed);
  expect(told.stdout).toContain('a restore holds it at 2030-02-16T18:00:00.000Z');
  // It came as a stream, which has no name.
  const token = await tokenFor(await again.start(), []);
  expect(await heldBy(again, token)).toMatchObject({ backup: { file: null } });
});

test('restore prints how much it holds, and the two ways on', async () => {
  const data_dir = join(makeTempDir(), 'data');
  const { exit, stdout } = await run(data_dir, 'restore', work.file);
  expect(exit).toBe(0);
  expect(stdout).toContain(
    '8 mails, 3 sequences, 4 broadcasts, 1 schedule, 2 deliveries of webhooks, 2 sign-ups and runs',
  );
  for (const line of BOTH_LINES) expect(stdout).toContain(line);
  expect(await runRecord(data_dir, 'restore', work.file, '--yes')).toMatchObject({ held: ALL });
  const none = await runRecord(data_dir, 'restore', work.file, '--yes', '--release');
  expect(none.held).toBeNull();
});

test('a project that moves from there arrives as one that moved', async () => {
  const there = await restored(work);
  const app = await there.start();
  const file = await exported(app);
  const { app: to } = await startSequenceApp({ env: work.env });
  const { public_id } = await imported(to, file);
  const project = to.services.projects.require(public_id);
  const counts = to.services.database.read.$client
    .query<Record<string, number>, []>(
      `SELECT (SELECT count(*) FROM sequences WHERE pause_reason = 'moved') AS sequences,
         (SELECT count(*) FROM broadcasts WHERE pause_reason = 'moved') AS broadcasts,
         (SELECT count(*) FROM email_schedules WHERE is_moved = 1 AND is_held = 0) AS schedules`,
    )
    .get();
  expect(counts).toEqual({ sequences: 3, broadcasts: 4, schedules: 1 });
  expect(await to.services.transfers.letGo(project, actor)).toMatchObject({
    sequences: 3,
    schedules: 1,
    jobs: 5,
  });
  // Letting the project go on where it was lets go nothing that the restore holds.
  const { transfers, projects } = app.services;
  expect(await transfers.letGo(projects.require('shop'), actor)).toMatchObject({ sequences: 0, jobs: 0 });
}, 60_000);
