/** An inactive project sends nothing, whatever is due and whoever asks for it; what fell due goes out once it is active. */
import { beforeAll, expect, test } from 'bun:test';
import { type BroadcastApp, dataOf, startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { runWith } from '../../support/command.ts';
import { sql } from '../../support/deployment.ts';
import { actor } from '../../support/helpers.ts';

let on: BroadcastApp;
let sending: string;
const ids: Record<string, string> = {};
const MAIL = { to: 'ann@example.com', subject: 'Hello', body_text: 'Text' };

/** Subjects of all that left, oldest first. */
const left = (): string[] =>
  on.app.services.database.read.$client
    .query<{ subject: string; to_email: string }, []>(
      "SELECT subject, to_email FROM emails WHERE status = 'sent' ORDER BY sent_at, id",
    )
    .all()
    .map(({ subject, to_email }) => `${subject} to ${to_email}`);

const setStatus = (status: 'active' | 'inactive') =>
  on.app.services.projects.update(actor, on.app.services.projects.require('shop'), { status });

beforeAll(async () => {
  on = await startBroadcastApp();
  const { app } = on;
  const id = (answer: Awaited<ReturnType<typeof on.call>>): string => String(answer.body.id);
  const post = (path: string, body: unknown) => app.call('POST', `/api/v1${path}`, { key: sending, body });
  sending = await on.project.key({ can_read: true, can_write: true, can_send_emails: true });
  await on.template('ask', {
    is_marketing: false,
    body_text: '{{ confirm_url }}',
    body_html: null,
    layout: null,
  });
  ids.list = await on.list({ double_opt_in: true, confirmation_template: 'ask', sign_up_page: true });
  await on.contact(ids.list, 'ann@example.com');
  const steps = [
    { key: 'a', template: 'news' },
    { key: 'b', template: 'news', delay_hours: 24, is_final: true },
  ];
  ids.sequence = await on.active(ids.list, steps, { name: 'Runs' });
  ids.paused = await on.active(ids.list, steps, { name: 'Rests' });
  dataOf(await on.call('POST', `/email-sequences/${ids.paused}/pause`));
  ids.draft = await on.draft(ids.list, steps);
  await on.enroll(ids.sequence);
  ids.bob = String((await on.contact(ids.list, 'bob@example.com')).id);
  await on.pass();

  ids.planned = await on.broadcast(ids.list, { name: 'Planned' });
  const send_at = new Date(app.clock.at_ms + 40 * 3_600_000).toISOString();
  dataOf(await on.post(ids.planned, 'send', { send_at }), 202);
  ids.broadcast = await on.broadcast(ids.list, { name: 'Draft' });
  ids.stopped = await on.broadcast(ids.list, { name: 'Stopped' });
  sql(
    app.data_dir,
    `UPDATE broadcasts SET status = 'paused', pause_reason = 'late' WHERE public_id = ?`,
    ids.stopped,
  );

  const cron = { recipients: [{ email: 'ann@example.com' }], subject: 'Daily', body_text: 'Text' };
  ids.daily = id(
    await post('/email-schedules', {
      ...cron,
      name: 'daily',
      cron_expression: '@daily',
      missed_runs: 'run_once',
    }),
  );
  ids.off = id(
    await post('/email-schedules', { ...cron, name: 'off', cron_expression: '@daily', is_active: false }),
  );
  ids.failed = id(await post('/emails/send', { ...MAIL, subject: 'Failed' }));
  await on.pass();
  sql(
    app.data_dir,
    "UPDATE emails SET status = 'failed', sent_at = NULL, failed_at = 5 WHERE id = ?",
    ids.failed,
  );
  ids.later = id(
    await post('/emails/send', {
      ...MAIL,
      subject: 'Later',
      scheduled_at: new Date(app.clock.at_ms + 3_600_000).toISOString(),
    }),
  );
  // Bulk mail that its relay has put off for an hour.
  const due_at = app.clock.at_ms + 3_600_000;
  const bulk = "source = 'sequence' AND to_email = 'ann@example.com'";
  sql(
    app.data_dir,
    `UPDATE emails SET status = 'queued', sent_at = NULL, taken = '[]', due_at = ? WHERE ${bulk}`,
    due_at,
  );
  const [[mailbox = 0] = []] = app.services.database.read.$client
    .query<unknown, []>(`SELECT mailbox_id FROM emails WHERE ${bulk}`)
    .values();
  await app.services.database.write((tx) => app.services.emails.wakeQueue(tx, Number(mailbox), due_at));
  await setStatus('inactive');
});

test('nothing of it leaves, however late it gets', async () => {
  for (let hours = 0; hours < 60; hours += 12) {
    await on.pass(12);
    await on.app.services.schedules.queueDueRuns();
    await on.pass();
  }
  expect(left()).toEqual([]);
});

test.each([
  ['POST', '/email-sequences/:draft/activate', null],
  ['POST', '/email-sequences/:paused/resume', null],
  ['POST', '/email-sequences/:sequence/steps/a/test', { to: 'me@example.com' }],
  ['POST', '/email-broadcasts/:broadcast/send', {}],
  ['POST', '/email-broadcasts/:stopped/resume', null],
  ['POST', '/email-broadcasts/:broadcast/test', { to: 'me@example.com' }],
  ['POST', '/email-schedules/:daily/run', null],
  ['PATCH', '/email-schedules/:off', { is_active: true }],
  ['POST', '/emails/send', MAIL],
  ['POST', '/emails/batch', { emails: [MAIL] }],
  ['POST', '/emails/:failed/retry', null],
] as const)('%s %s is refused on the management plane, and changes nothing', async (method, path, body) => {
  const { read } = on.app.services.database;
  const before = read.$client
    .query('SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM emails)')
    .values();
  const answer = await on.mirror(
    method,
    path.replace(/:(\w+)/, (_, name: string) => ids[name] ?? ''),
    body ?? undefined,
  );
  expect([answer.status, answer.body.error]).toEqual([
    409,
    {
      code: 'project_inactive',
      message: expect.stringContaining('satchel project change shop --status active'),
      remedy: { code: 'project', ref: 'shop', command: 'satchel project change shop --status active' },
    },
  ]);
  expect(
    read.$client.query('SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM emails)').values(),
  ).toEqual(before);
});

test.each([
  ['sequence activate :draft'],
  ['sequence resume :paused'],
  ['broadcast send :broadcast --yes'],
  ['broadcast resume :stopped'],
  ['schedule run :daily'],
  ['schedule resume :off'],
  ['email send --project shop --to ann@example.com --subject Hello --text Text'],
])('satchel %s is refused', async (words) => {
  const args = words.split(' ').map((word) => (word.startsWith(':') ? (ids[word.slice(1)] ?? '') : word));
  const env = { SATCHEL_DATA_DIR: on.app.data_dir, SATCHEL_DNS_SERVERS: on.dns.address };
  const { exit, stdout, stderr } = await runWith(env, ...args, '--json');
  expect([exit, JSON.parse(stdout || stderr).error?.code]).toEqual([1, 'project_inactive']);
});

test('what failed is not queued again, and its story and that of the sequence say what they wait for', async () => {
  const { deliveries, sequences, projects } = on.app.services;
  const { results, left_out } = await deliveries.requeueFailed(actor, 0);
  expect([results, left_out]).toEqual([[], [{ id: ids.failed ?? '', reason: 'its project is inactive' }]]);
  expect((await deliveries.requeue(actor, [ids.failed ?? '']))[0]).toMatchObject({
    refusal: 'its project is inactive',
  });
  expect(deliveries.explain(ids.later ?? '').story.at(-1)).toContain('waits until its project is active');
  const owner = projects.require('shop').id;
  expect((await sequences.explain(owner, ids.sequence ?? '')).join('\n')).toContain(
    'Its project is inactive',
  );
});

test('its sign-up page is none, and whoever wants to leave can', async () => {
  const { app } = on;
  expect((await app.call('GET', `/join/${ids.list}`)).status).toBe(404);
  const { read } = app.services.database;
  const owner = app.services.projects.require('shop');
  const contact = app.services.contacts.findByPublicId(ids.bob ?? '');
  if (!contact) throw new Error('no contact');
  const url = await app.services.database.write((tx) =>
    app.services.subscriptions.unsubscribeLinks(tx, owner)(contact),
  );
  expect((await app.call('POST', new URL(url).pathname)).status).toBe(200);
  expect(app.services.contacts.findById(contact.id, read)?.status).toBe('unsubscribed');
  expect((await app.call('POST', `/join/${ids.list}`)).status).toBe(404);
});

test('once it is active, all that fell due goes out, each once', async () => {
  await setStatus('active');
  await on.pass();
  await on.app.services.schedules.queueDueRuns();
  // Queues of bulk mail look again within a minute.
  await on.pass(1);
  const news = 'news for there to ann@example.com';
  expect(left().sort()).toEqual(
    ['Daily to ann@example.com', 'Later to ann@example.com', news, news, news].sort(),
  );
});
