/** The nouns for looking at what apps made: emails, templates, schedules and jobs. */
import { beforeAll, expect, test } from 'bun:test';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { PATH, type ScheduleApp, startScheduleApp, VALID } from '../mail/schedules/setup.ts';
import { run, runJson, runRecord } from '../support/command.ts';
import { until } from '../support/until.ts';

let app: ScheduleApp;
let schedule_id: string;

beforeAll(async () => {
  app = await startScheduleApp();
  await app.services.templates.create(
    app.project_id,
    {
      ...{ name: 'Welcome', slug: 'welcome', category: 'welcome', subject: 'Hello {{ name }}' },
      ...{ body_text: 'Good day, {{ name }}.', variables: [{ name: 'name', required: true }] },
    },
    noNote,
  );
  const made = await app.call('POST', PATH, { key: app.keys.testing ?? '', body: VALID });
  schedule_id = String(made.body.id);
}, 60_000);

const records = async (...args: string[]): Promise<Record<string, unknown>[]> => {
  const list = await runJson(app.data_dir, ...args);
  return Array.isArray(list) ? list : [];
};

test('templates are listed and shown with their text', async () => {
  expect(await records('template', 'list', '--project', 'one')).toMatchObject([{ slug: 'welcome' }]);
  expect(await records('template', 'list', '--project', 'two')).toEqual([]);
  const words = { name: 'June', subject: 'June', body_text: 'News', is_marketing: true, is_own: true };
  await app.services.templates.create(app.project_id, { category: 'marketing', ...words }, noNote);
  expect(await records('template', 'list', '--project', 'one')).toHaveLength(1);
  expect(await records('template', 'list', '--project', 'one', '--with-own')).toHaveLength(2);
  const { stdout } = await run(app.data_dir, 'template', 'show', 'welcome', '--project', 'one');
  expect(stdout).toContain('Good day, {{ name }}.');
  expect((await run(app.data_dir, 'template', 'show', 'welcome', '--project', 'two')).exit).toBe(1);
});

test('a schedule is found by its id alone, paused, resumed and run; a run follows the schedule in being a test', async () => {
  expect(await records('schedule', 'list', '--project', 'one')).toMatchObject([{ id: schedule_id }]);
  expect(await runRecord(app.data_dir, 'schedule', 'show', schedule_id)).toMatchObject({ is_active: true });
  const paused = await runRecord(app.data_dir, 'schedule', 'pause', schedule_id);
  expect(paused).toMatchObject({ is_active: false, next_run_at: null });
  const resumed = await runRecord(app.data_dir, 'schedule', 'resume', schedule_id);
  expect(resumed).toMatchObject({ is_active: true, next_run_at: expect.any(String) });
  const { job_id } = await runRecord(app.data_dir, 'schedule', 'run', schedule_id);
  // The verb wrote beside the server, which sees that from its next turn on.
  const shown = () => runRecord(app.data_dir, 'job', 'show', String(job_id));
  await until(async () => {
    await app.app.engine.whenIdle();
    return (await shown()).finished_at !== null;
  });
  const job = await shown();
  expect([job.id, job.type, job.status]).toEqual([job_id, 'schedule.run', 'completed']);
  // Nobody's mail is delivered: the key that made the schedule is a test key.
  const mails = await records('email', 'list', '--project', 'one', '--to', 'ben@example.com');
  expect(mails.map(({ to, source, status }) => [to, source, status])).toEqual([
    ['ben@example.com', 'schedule', 'sent'],
  ]);
  expect(await records('email', 'list', '--project', 'one', '--status', 'failed')).toEqual([]);
  expect(app.services.deliveries.listCaptured({ per_page: 10 }).data).toHaveLength(2);
  expect(await records('job', 'list', '--project', 'one', '--type', 'schedule.run')).toMatchObject([
    { id: job_id },
  ]);
  expect(await records('job', 'list', '--project', 'two')).toEqual([]);
  expect((await run(app.data_dir, 'schedule', 'show', '01J00000000000000000000000')).exit).toBe(1);
});

test('a list of more than a page says which it shows, and what shows the next', async () => {
  for (let n = 0; n < 2; n += 1)
    await app.call('POST', PATH, { key: app.keys.full ?? '', body: { ...VALID, name: `More ${n}` } });
  const list = (...args: string[]) => run(app.data_dir, 'schedule', 'list', '--project', 'one', ...args);
  expect((await list('--limit', '2')).stdout).toContain('1 to 2 of 3. Next: --page 2.');
  const last = (await list('--limit', '2', '--page', '2')).stdout;
  expect(last).toEndWith('3 to 3 of 3.\n');
  expect((await list()).stdout).not.toContain(' of 3');
  expect((await list('--limit', '0')).exit).toBe(2);
});

test('a schedule is made and changed at the shell, refused by the names of its options', async () => {
  const made = await run(
    app.data_dir,
    ...[
      'schedule',
      'create',
      '--project',
      'one',
      '--name',
      'Daily',
      '--to',
      'ann@example.org,ben@example.org',
    ],
    ...['--cron', '@daily', '--template', 'welcome', '--set', 'name=Ann'],
  );
  const [id = '', what, next] = made.stdout.split('\n');
  expect([made.exit, what]).toEqual([0, 'The schedule Daily is made: 2 recipients, @daily (UTC).']);
  expect(next).toMatch(/^It runs next at .*T00:00:00\.000Z\.$/);
  const changed = await runRecord(
    app.data_dir,
    ...[
      'schedule',
      'change',
      'Daily',
      '--project',
      'one',
      '--template',
      '',
      '--subject',
      'Hi',
      '--text',
      'Hi',
    ],
    ...['--cron', '0 9 * * 1', '--timezone', 'Europe/Berlin'],
  );
  expect(changed).toMatchObject({ id, template: null, subject: 'Hi', timezone: 'Europe/Berlin' });
  const wrong = await run(
    app.data_dir,
    ...['schedule', 'create', '--project', 'one', '--name', 'X', '--to', 'ann', '--cron', '0 0 31 2 *'],
    ...['--timezone', 'Mars', '--reply-to', 'x'],
  );
  expect(wrong.exit).toBe(1);
  for (const option of ['to', 'timezone', 'reply-to', 'subject'])
    expect(wrong.stderr).toContain(`--${option}`);
  expect(wrong.stderr).not.toMatch(/recipients|body_/);
});
