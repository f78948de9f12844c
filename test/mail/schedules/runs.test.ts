/** Runs of schedules: when one is queued, what it sends, and that nobody gets it twice whatever happens. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { SCHEDULE_RUN } from '../../../src/mail/schedules/service.ts';
import { listRunsQueuedAfter } from '../../../src/mail/schedules/store.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { jobs } from '../../../src/platform/database/tables.ts';
import { actor, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';
import { addMailbox, makeKey, PATH, type ScheduleApp, startScheduleApp, VALID } from './setup.ts';

let app: ScheduleApp;

beforeEach(async () => {
  // Each on a directory of its own; the clock starts on a Tuesday, 12:00 UTC.
  app = await startScheduleApp({ data_dir: makeTempDir(), clock: new TestClock() });
});

interface EmailFacts {
  id: string;
  to_email: string;
  is_test: number;
}

const emailsOf = (of: TestApp): EmailFacts[] =>
  of.services.database.read.all<EmailFacts>(sql`SELECT id, to_email, is_test FROM emails ORDER BY id`);
const addressesOf = (of: TestApp): string[] => emailsOf(of).map(({ to_email }) => to_email);
const runsOf = (of: TestApp) =>
  of.services.database.read.select().from(jobs).where(sql`type = 'schedule.run'`).orderBy(jobs.id).all();

async function create(fields: Record<string, unknown> = {}, key = 'full'): Promise<string> {
  const answer = await app.call('POST', PATH, { key: app.keys[key] ?? '', body: { ...VALID, ...fields } });
  expect(answer.status).toBe(201);
  return String(answer.body.id);
}

async function read(id: string, from: TestApp = app): Promise<Record<string, unknown>> {
  return (await from.call('GET', `${PATH}/${id}`, { key: app.keys.read ?? '' })).body;
}

/** Moves the clock to a moment and lets everything happen that is due then. */
async function goTo(moment: string, on: TestApp = app): Promise<void> {
  on.clock.at_ms = Date.parse(moment);
  await on.services.schedules.queueDueRuns();
  await on.app.engine.whenIdle();
}

/** The same data directory and keys in a new process, as far as a test can have one. */
async function restart(): Promise<ScheduleApp> {
  const { data_dir, clock, keys, project_id } = app;
  await app.stop();
  app = Object.assign(await startTestApp({ data_dir, clock }), { keys, project_id });
  return app;
}

describe('a run', () => {
  test('sends one email to each recipient, with the copies on every one', async () => {
    const id = await create({
      cc: ['cc@example.com'],
      bcc: ['bcc@example.com'],
      reply_to: 'r@example.com',
      from_name: 'Reports',
    });
    await goTo('2030-01-21T08:59:59Z');
    expect(emailsOf(app)).toEqual([]);
    await goTo('2030-01-21T09:00:00Z');
    const rows = app.services.database.read.all(
      sql`SELECT to_email, to_name, cc, bcc, reply_to, from_name, subject, source, is_test, body_text, template, headers
          FROM emails JOIN email_bodies ON email_id = id ORDER BY id`,
    );
    const common = {
      cc: '["cc@example.com"]',
      bcc: '["bcc@example.com"]',
      reply_to: 'r@example.com',
      from_name: 'Reports',
      subject: 'The week',
      source: 'schedule',
      is_test: 0,
      body_text: 'All is well.',
      template: null,
      headers: '{"Auto-Submitted":"auto-generated"}',
    };
    expect(rows).toEqual([
      { ...common, to_email: 'ann@example.com', to_name: 'Ann' },
      { ...common, to_email: 'ben@example.com', to_name: null },
    ]);
    const [job, ...others] = runsOf(app);
    expect(others).toEqual([]);
    expect(job).toMatchObject({
      status: 'completed',
      attempts: 1,
      error: null,
      result: {
        schedule_id: id,
        accepted: 2,
        email_ids: emailsOf(app).map((email) => email.id),
        refused: [],
      },
    });
    expect(await read(id)).toMatchObject({
      last_run_at: '2030-01-21T09:00:00.000Z',
      last_status: 'completed',
      next_run_at: '2030-01-28T09:00:00.000Z',
    });
  });

  test('is rendered from the template as it is then', async () => {
    const { templates } = app.services;
    const template = {
      name: 'T',
      slug: 't',
      category: 'other' as const,
      subject: 'Old {{ n }}',
      body_text: 'x',
    };
    await templates.create(app.project_id, template, noNote);
    await create({ template: 't', variables: { n: 7 } });
    await templates.update(app.project_id, 't', { subject: 'New {{ n }}' }, noNote);
    await goTo('2030-01-21T09:00:00Z');
    const rows = app.services.database.read.all(sql`SELECT DISTINCT subject, template FROM emails`);
    expect(rows).toEqual([{ subject: 'New 7', template: 't' }]);
  });

  test('follows the is_test of the key that created the schedule', async () => {
    await create({}, 'testing');
    await goTo('2030-01-21T09:00:00Z');
    expect(emailsOf(app).map(({ is_test }) => is_test)).toEqual([1, 1]);
  });

  test('whose template is gone is a failed job that sends nothing', async () => {
    const { templates } = app.services;
    await templates.create(
      app.project_id,
      {
        name: 'T',
        slug: 't',
        category: 'other',
        subject: 's',
        body_text: 'x',
      },
      noNote,
    );
    const id = await create({ template: 't' });
    await templates.remove(app.project_id, 't', noNote);
    await goTo('2030-01-21T09:00:00Z');
    expect(runsOf(app)).toMatchObject([{ status: 'failed', error: expect.stringContaining('template') }]);
    expect(emailsOf(app)).toEqual([]);
    expect(await read(id)).toMatchObject({ last_status: 'failed', next_run_at: '2030-01-28T09:00:00.000Z' });
  });

  test('of a schedule that is deleted meanwhile is a failed job', async () => {
    const id = await create();
    app.clock.at_ms = Date.parse('2030-01-21T09:00:00Z');
    await Promise.all([
      app.services.schedules.queueDueRuns(),
      app.services.schedules.remove(app.project_id, id, noNote),
    ]);
    await app.app.engine.whenIdle();
    expect(runsOf(app)).toMatchObject([{ status: 'failed', error: expect.stringContaining('deleted') }]);
    expect(emailsOf(app)).toEqual([]);
  });
});

describe('run now', () => {
  test('queues a run of a paused schedule and leaves its cadence alone', async () => {
    const paused = await create({ is_active: false });
    const answer = await app.call('POST', `${PATH}/${paused}/run`, { key: app.keys.testing ?? '' });
    const job_id = String(answer.body.job_id);
    expect([answer.status, answer.body]).toEqual([
      202,
      {
        message: expect.any(String),
        job_id,
        status_url: `http://satchel.test/api/v1/jobs/${job_id}`,
      },
    ]);
    await app.app.engine.whenIdle();
    expect(runsOf(app)).toMatchObject([{ id: job_id, status: 'completed' }]);
    // The caller's key is a test key, the creator's is not.
    expect(emailsOf(app).map(({ is_test }) => is_test)).toEqual([1, 1]);
    expect(await read(paused)).toMatchObject({
      is_active: false,
      next_run_at: null,
      last_run_at: '2030-01-15T12:00:00.000Z',
      last_status: 'completed',
    });
    const active = await create();
    await app.call('POST', `${PATH}/${active}/run`, { key: app.keys.write ?? '' });
    await app.app.engine.whenIdle();
    expect((await read(active)).next_run_at).toBe('2030-01-21T09:00:00.000Z');
    expect(emailsOf(app)).toHaveLength(4);
  });
});

describe('a tick', () => {
  test('is found by the look at the clock that the server takes each minute', async () => {
    await create();
    app.clock.at_ms = Date.parse('2030-01-21T09:00:00Z');
    await app.app.scheduler.tick();
    await app.app.engine.whenIdle();
    expect(addressesOf(app)).toEqual(['ann@example.com', 'ben@example.com']);
  });

  test('is run once, however often and from wherever it is looked at', async () => {
    await create();
    app.clock.at_ms = Date.parse('2030-01-21T09:00:10Z');
    const { schedules } = app.services;
    await Promise.all([schedules.queueDueRuns(), schedules.queueDueRuns(), schedules.queueDueRuns()]);
    await goTo('2030-01-21T09:00:20Z');
    expect(runsOf(app)).toHaveLength(1);
  });

  test('is not run again by a restart, nor by a clock that jumps back', async () => {
    const id = await create();
    await goTo('2030-01-21T09:00:00Z');
    await restart();
    await goTo('2030-01-21T09:00:30Z');
    await goTo('2030-01-21T08:30:00Z');
    await goTo('2030-01-21T09:00:00Z');
    expect(runsOf(app)).toHaveLength(1);
    expect(addressesOf(app)).toEqual(['ann@example.com', 'ben@example.com']);
    expect((await read(id)).next_run_at).toBe('2030-01-28T09:00:00.000Z');
  });

  test('of a paused schedule does not happen, and is not made up for at the resume', async () => {
    const id = await create({ missed_runs: 'run_once' });
    const patch = (body: unknown) => app.call('PATCH', `${PATH}/${id}`, { key: app.keys.full ?? '', body });
    await patch({ is_active: false });
    await goTo('2030-01-21T09:00:00Z');
    await patch({ is_active: true });
    await goTo('2030-01-21T09:01:00Z');
    expect(runsOf(app)).toEqual([]);
    expect((await read(id)).next_run_at).toBe('2030-01-28T09:00:00.000Z');
  });

  test.each([
    ['skip', { last_status: 'skipped', last_run_at: null }, 0],
    ['run_once', { last_status: 'completed', last_run_at: '2030-01-23T10:00:00.000Z' }, 1],
  ] as const)(
    'of an inactive project waits until it is active, and is late then: %s',
    async (missed_runs, ended, runs) => {
      const id = await create({ missed_runs });
      const { projects } = app.services;
      await projects.update(actor, projects.require('one'), { status: 'inactive' });
      await goTo('2030-01-21T09:00:00Z');
      const { schedules, tokens } = app.services;
      expect(schedules.get(app.project_id, id)).toMatchObject({
        last_status: null,
        next_run_at: '2030-01-21T09:00:00.000Z',
      });
      const run = `/api/public/v1/projects/one/email-schedules/${id}/run`;
      const all = { name: 'all', all_projects: true, projects: [], capabilities: [] };
      const { token } = await tokens.create(actor, all);
      const refused = await app.call('POST', run, { token });
      expect([refused.status, refused.body.error]).toMatchObject([409, { code: 'project_inactive' }]);
      await goTo('2030-01-23T10:00:00Z');
      expect(runsOf(app)).toEqual([]);
      await projects.update(actor, projects.require('one'), { status: 'active' });
      await goTo('2030-01-23T10:00:00Z');
      expect(runsOf(app)).toHaveLength(runs);
      expect(await read(id)).toMatchObject({ ...ended, next_run_at: '2030-01-28T09:00:00.000Z' });
    },
  );

  test('is found among hundreds that are due at once', async () => {
    const recipients = [{ email: 'one@example.com' }];
    await Promise.all(Array.from({ length: 230 }, () => create({ recipients })));
    await goTo('2030-01-21T09:00:00Z');
    expect(runsOf(app)).toHaveLength(230);
    expect(emailsOf(app)).toHaveLength(230);
  });
});

describe('after a downtime', () => {
  test('of up to five minutes a missed run is run', async () => {
    const id = await create();
    app.clock.at_ms = Date.parse('2030-01-21T09:05:00Z');
    await restart();
    await app.app.engine.whenIdle();
    await goTo('2030-01-21T09:05:00Z');
    expect(addressesOf(app)).toEqual(['ann@example.com', 'ben@example.com']);
    expect(await read(id)).toMatchObject({
      last_status: 'completed',
      next_run_at: '2030-01-28T09:00:00.000Z',
    });
  });

  test('of more a run is skipped and logged', async () => {
    const id = await create();
    await goTo('2030-01-21T09:05:01Z');
    expect(runsOf(app)).toEqual([]);
    expect(await read(id)).toMatchObject({
      last_status: 'skipped',
      last_run_at: null,
      next_run_at: '2030-01-28T09:00:00.000Z',
    });
    expect(app.logs()).toContain(`"schedule_id":"${id}"`);
  });

  test('of more a schedule with run_once runs once, however many runs were missed', async () => {
    await create({ missed_runs: 'run_once', recipients: [{ email: 'ann@example.com' }] });
    await goTo('2030-03-05T10:00:00Z');
    await goTo('2030-03-05T10:01:00Z');
    expect(addressesOf(app)).toEqual(['ann@example.com']);
  });

  test('a run that is due just now is not skipped because older ones are', async () => {
    const id = await create({ cron_expression: '* * * * *' });
    await goTo('2030-01-15T13:00:00Z');
    expect(runsOf(app)).toHaveLength(1);
    expect((await read(id)).next_run_at).toBe('2030-01-15T13:01:00.000Z');
  });
});

describe('a clock that was far ahead and is set right', () => {
  test('has no more runs looked through than those of the time it was ahead', async () => {
    const id = await create();
    const { database, clock } = app.services;
    const { project_id } = app;
    await database.write((tx) =>
      tx.$client
        .query(
          `WITH RECURSIVE old (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM old WHERE n < 60000)
           INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, max_attempts, payload, queued_at)
           SELECT printf('%026d', n), ?, '${SCHEDULE_RUN}', 'completed', 10, '${SCHEDULE_RUN}', 0, 1, ?, 1 FROM old`,
        )

        .run(project_id, JSON.stringify({ schedule_id: id, due_at: 1 })),
    );
    const look = (): number => {
      const from_ms = performance.now();
      listRunsQueuedAfter(database.read, { id, project_id }, { type: SCHEDULE_RUN, after_ms: clock.now() });
      return performance.now() - from_ms;
    };
    // The best of five. A look through all of them takes 7 ms, one at none of them a tenth.
    expect(Math.min(look(), look(), look(), look(), look())).toBeLessThan(2);
  });

  const nextOf = async (id: string): Promise<unknown> => (await read(id)).next_run_at;

  test('has a schedule run at its next time again, with the server running or not', async () => {
    const id = await create();
    await goTo('2031-03-01T00:00:00Z');
    expect(await nextOf(id)).toBe('2031-03-03T09:00:00.000Z');
    await goTo('2030-01-16T00:00:00Z');
    expect(await nextOf(id)).toBe('2030-01-21T09:00:00.000Z');
    expect(app.logs()).toContain('the clock was set back');

    const made_ahead = await create({ recipients: [{ email: 'eve@example.com' }] });
    await goTo('2031-03-01T00:00:00Z');
    app.clock.at_ms = Date.parse('2030-01-17T00:00:00Z');
    await restart();
    await goTo('2030-01-21T09:00:00Z');
    expect(addressesOf(app)).toEqual(['ann@example.com', 'ben@example.com', 'eve@example.com']);
    expect(await nextOf(made_ahead)).toBe('2030-01-28T09:00:00.000Z');
  });

  test('has no tick run twice', async () => {
    const id = await create({ cron_expression: '0 * * * *', recipients: [{ email: 'ann@example.com' }] });
    await goTo('2030-01-15T13:00:00Z');
    expect(runsOf(app)).toHaveLength(1);
    // Back before the tick that was run: the one after it is next, as it was.
    await goTo('2030-01-15T12:30:00Z');
    expect(await nextOf(id)).toBe('2030-01-15T14:00:00.000Z');
    await goTo('2030-01-15T13:00:30Z');
    expect(runsOf(app)).toHaveLength(1);
    // This run is late for 14:00 and stands for 15:00 as well.
    await goTo('2030-01-15T15:01:00Z');
    expect(runsOf(app)).toHaveLength(2);
    await goTo('2030-01-15T13:30:00Z');
    expect(await nextOf(id)).toBe('2030-01-15T16:00:00.000Z');
  });

  test('has the tick that a missed run was made up for stay run', async () => {
    const id = await create({ missed_runs: 'run_once' });
    await goTo('2031-03-01T00:00:00Z');
    expect(runsOf(app)).toHaveLength(1);
    await goTo('2030-01-16T00:00:00Z');
    expect(await nextOf(id)).toBe('2030-01-28T09:00:00.000Z');
  });

  test('finds every one of many schedules, and leaves a paused one paused', async () => {
    const ids = await Promise.all(Array.from({ length: 150 }, () => create()));
    const paused = await create({ is_active: false });
    await goTo('2031-03-01T00:00:00Z');
    await goTo('2030-01-16T00:00:00Z');
    const nexts = new Set(await Promise.all(ids.map(nextOf)));
    expect([...nexts, await nextOf(paused)]).toEqual(['2030-01-21T09:00:00.000Z', null]);
  });
});

describe('capacity', () => {
  const recipients = Array.from({ length: 5 }, (_, n) => ({ email: `r${n}@example.com` }));
  const all = recipients.map(({ email }) => email);

  /** Leaves the app with one mailbox of so many messages a day. */
  async function limitTo(daily_limit: number): Promise<void> {
    await app.services.mailboxes.remove(actor, 'hello@mail.test');
    await addMailbox(app, 'few@mail.test', daily_limit);
  }

  test('that lasts for some recipients only makes the others wait for the next day, and nobody get it twice', async () => {
    await limitTo(3);
    const id = await create({ recipients });
    await goTo('2030-01-21T09:00:00Z');
    expect(addressesOf(app)).toEqual(all.slice(0, 3));
    expect(runsOf(app)).toMatchObject([
      {
        status: 'pending',
        error: expect.stringContaining('2 of 5 recipients wait'),
        run_at: Date.parse('2030-01-22'),
      },
    ]);
    expect((await read(id)).last_status).toBe('queued');
    await restart();
    await goTo('2030-01-22T00:00:00Z');
    expect(addressesOf(app)).toEqual(all);
    expect(runsOf(app)).toMatchObject([
      { status: 'completed', error: null, result: { accepted: 5, refused: [] } },
    ]);
    expect((await read(id)).last_status).toBe('completed');
  });

  test('that never comes makes the run fail, naming who got nothing', async () => {
    await limitTo(3);
    const id = await create({ recipients });
    await goTo('2030-01-21T09:00:00Z');
    await app.services.mailboxes.remove(actor, 'few@mail.test');
    await goTo('2030-01-22T00:00:00Z');
    expect(runsOf(app)).toMatchObject([{ status: 'pending' }]);
    await goTo('2030-01-22T11:00:00Z');
    expect(runsOf(app)).toMatchObject([
      {
        status: 'failed',
        error: expect.stringContaining('2 of 5 recipients got no email'),
        result: {
          accepted: 3,
          refused: [{ email: all[3], reason: expect.any(String) }, { email: all[4] }],
        },
      },
    ]);
    expect(await read(id)).toMatchObject({ last_status: 'failed' });
  });

  test('is not waited for on behalf of who was taken off the schedule meanwhile', async () => {
    await limitTo(3);
    const id = await create({ recipients });
    await goTo('2030-01-21T09:00:00Z');
    // Addresses that differ in case only are one for a schedule.
    const body = { recipients: recipients.slice(1, 4).map(({ email }) => ({ email: email.toUpperCase() })) };
    expect((await app.call('PATCH', `${PATH}/${id}`, { key: app.keys.full ?? '', body })).status).toBe(200);
    await goTo('2030-01-22T00:00:00Z');
    expect(addressesOf(app)).toEqual(all.slice(0, 4));
    expect(runsOf(app)).toMatchObject([
      { status: 'completed', error: null, result: { accepted: 4, refused: [] } },
    ]);
  });

  test('is not waited for once the schedule is paused, unless the run was asked for', async () => {
    await limitTo(3);
    const id = await create({ recipients });
    await goTo('2030-01-21T09:00:00Z');
    const key = app.keys.full ?? '';
    await app.call('PATCH', `${PATH}/${id}`, { key, body: { is_active: false } });
    await app.call('POST', `${PATH}/${id}/run`, { key });
    await goTo('2030-01-22T00:00:00Z');
    expect(addressesOf(app)).toEqual(all.slice(0, 3).concat(all.slice(0, 3)));
    expect(runsOf(app)).toMatchObject([
      {
        status: 'failed',
        error: expect.stringContaining('paused'),
        result: { accepted: 3, refused: [{ email: all[3] }, { email: all[4] }] },
      },
      { status: 'pending', error: expect.stringContaining('2 of 5 recipients wait') },
    ]);
  });

  test('is waited for until the project is active again', async () => {
    await limitTo(3);
    await create({ recipients });
    await goTo('2030-01-21T09:00:00Z');
    const { projects } = app.services;
    await projects.update(actor, projects.require('one'), { status: 'inactive' });
    await goTo('2030-01-22T00:00:00Z');
    expect(addressesOf(app)).toEqual(all.slice(0, 3));
    expect(runsOf(app)).toMatchObject([{ status: 'pending' }]);
    await projects.update(actor, projects.require('one'), { status: 'active' });
    await app.app.engine.whenIdle();
    expect(addressesOf(app)).toEqual(all);
    expect(runsOf(app)).toMatchObject([{ status: 'completed' }]);
  });

  test('that an older run waited for leaves the last run as it ended', async () => {
    app.keys.limited = await makeKey(app, 'one', { can_write: true, email_daily_limit: 2 });
    const id = await create({ recipients }, 'limited');
    await goTo('2030-01-21T09:00:00Z');
    await goTo('2030-01-21T10:00:00Z');
    await app.call('POST', `${PATH}/${id}/run`, { key: app.keys.full ?? '' });
    await app.app.engine.whenIdle();
    const last_run = { last_run_at: '2030-01-21T10:00:00.000Z', last_status: 'completed' };
    expect(await read(id)).toMatchObject(last_run);
    await app.call('PATCH', `${PATH}/${id}`, { key: app.keys.full ?? '', body: { is_active: false } });
    await goTo('2030-01-22T00:00:00Z');
    expect(runsOf(app)).toMatchObject([{ status: 'failed' }, { status: 'completed' }]);
    expect(await read(id)).toMatchObject(last_run);
  });

  test("counts towards the creating key's daily limit", async () => {
    app.keys.limited = await makeKey(app, 'one', { can_write: true, email_daily_limit: 2 });
    await create({ recipients }, 'limited');
    await goTo('2030-01-21T09:00:00Z');
    expect(addressesOf(app)).toEqual(all.slice(0, 2));
    await goTo('2030-01-22T00:00:00Z');
    expect(addressesOf(app)).toEqual(all.slice(0, 4));
    await goTo('2030-01-23T00:00:00Z');
    expect(runsOf(app)).toMatchObject([{ status: 'completed' }]);
    expect(addressesOf(app)).toEqual(all);
  });
});

describe('a crash', () => {
  test('after the emails were accepted and before the run was recorded sends nobody a second one', async () => {
    const id = await create();
    const { database, schedules } = app.services;
    await app.app.engine.stop(1_000);
    app.clock.at_ms = Date.parse('2030-01-21T09:00:00Z');
    await schedules.queueDueRuns();
    // As the engine does, up to the moment of the crash.
    await database.write((tx) =>
      tx.run(sql`UPDATE jobs SET status = 'processing', attempts = 1 WHERE type = 'schedule.run'`),
    );
    const [job] = runsOf(app);
    if (!job) throw new Error('no run was queued');
    await schedules.runs.execute(job);
    expect(addressesOf(app)).toEqual(['ann@example.com', 'ben@example.com']);
    // Nor does a pause make a failure of a run that has served everybody.
    await schedules.update(app.project_id, id, { is_active: false }, noNote);
    await restart();
    await app.app.engine.whenIdle();
    expect(addressesOf(app)).toEqual(['ann@example.com', 'ben@example.com']);
    expect(runsOf(app)).toMatchObject([{ status: 'completed', attempts: 2, result: { accepted: 2 } }]);
    expect((await read(id)).last_status).toBe('completed');
  });

  test('before the emails were accepted loses none of them', async () => {
    await create();
    await app.app.engine.stop(1_000);
    app.clock.at_ms = Date.parse('2030-01-21T09:00:00Z');
    await app.services.schedules.queueDueRuns();
    await app.services.database.write((tx) =>
      tx.run(sql`UPDATE jobs SET status = 'processing', attempts = 1 WHERE type = 'schedule.run'`),
    );
    await restart();
    await app.app.engine.whenIdle();
    expect(addressesOf(app)).toEqual(['ann@example.com', 'ben@example.com']);
  });
});

test('many that are due at once are queued in small steps, so that other writes come between', async () => {
  for (let n = 0; n < 60; n += 1) await create();
  app.clock.at_ms = Date.parse('2030-01-21T09:00:00Z');
  const { database, schedules } = app.services;
  const queueing = schedules.queueDueRuns();
  const countDue = 'SELECT count(*) FROM email_schedules WHERE next_run_at <= ?';
  const left = await database.write((tx) => tx.$client.query(countDue).values(app.clock.now())[0]?.[0]);
  expect(left).toBeGreaterThan(0);
  await queueing;
  await app.app.engine.whenIdle();
  expect(runsOf(app)).toHaveLength(60);
});

describe('daylight saving in Berlin', () => {
  /** The moments a schedule runs at between two moments, found by following its next_run_at. */
  async function momentsOf(cron_expression: string, from: string, to: string): Promise<string[]> {
    app.clock.at_ms = Date.parse(from);
    const id = await create({ cron_expression, timezone: 'Europe/Berlin' });
    const moments: string[] = [];
    for (;;) {
      const next = String((await read(id)).next_run_at);
      if (next > to) return moments;
      moments.push(next);
      app.clock.at_ms = Date.parse(next);
      await app.services.schedules.queueDueRuns();
    }
  }

  test('runs at the next valid minute where its time is skipped', async () => {
    expect(await momentsOf('30 2 * * *', '2030-03-30T00:00:00Z', '2030-04-01T12:00:00Z')).toEqual([
      '2030-03-30T01:30:00.000Z',
      '2030-03-31T01:00:00.000Z',
      '2030-04-01T00:30:00.000Z',
    ]);
  });

  test('runs once, at the first instant, where its time comes twice', async () => {
    expect(await momentsOf('30 2 * * *', '2030-10-26T12:00:00Z', '2030-10-28T12:00:00Z')).toEqual([
      '2030-10-27T00:30:00.000Z',
      '2030-10-28T01:30:00.000Z',
    ]);
  });

  test('runs in real time through both where the hour is a wildcard', async () => {
    const hourly = async (day: string) =>
      (await momentsOf('0 * * * *', `${day}T00:00:00Z`, `${day}T03:30:00Z`)).length;
    expect(await hourly('2030-03-31')).toBe(3);
    expect(await hourly('2030-10-27')).toBe(3);
  });
});
