/** A Satchel at work with something of every kind that goes on by itself, a backup of it, and what that is restored to. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { backUp } from '../../../src/operation/backups/making.ts';
import { restoreBackup } from '../../../src/operation/backups/restore.ts';
import { ArchiveStream } from '../../../src/platform/files/archive-source.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { atEnd } from '../../support/cleanup.ts';
import { sql } from '../../support/deployment.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';
import { startReceiver } from '../../webhooks/setup.ts';

const BACKED_UP = '2030-01-15T12:00:00Z';
/** Thirty hours later: the second step of the sequence was due six hours ago. */
export const RESTORED = '2030-01-16T18:00:00Z';
const HOUR_MS = 3_600_000;
const FULL = { can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true };

export type AtWork = Awaited<ReturnType<typeof startAtWork>>;
export type RestoredApp = Awaited<ReturnType<typeof restored>>;

export async function startAtWork() {
  const sink = await startSmtpSink();
  atEnd(() => sink.stop());
  const receiver = startReceiver();
  const env = { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' };
  const on = await startBroadcastApp({ env, clock: new TestClock(BACKED_UP) });
  const { services, data_dir } = on.app;
  const relay = parseRelay(`smtp://127.0.0.1:${sink.port}`);
  await services.mailboxes.change(actor, 'hello@news.example.com', { relay });
  const key = await on.project.key(FULL);
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await on.app.call('POST', `/api/v1${path}`, { key, body });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  const mail = { subject: 'Hello', body_text: 'Text' };
  const of_schedule = {
    name: 'daily',
    recipients: [{ email: 'run@example.com' }],
    cron_expression: '0 9 * * *',
  };
  const schedule = String(
    (await post('/email-schedules', { ...of_schedule, ...mail, missed_runs: 'run_once' })).id,
  );
  await post(`/email-schedules/${schedule}/run`, {});
  await on.pass();
  const ids = { schedule, ...(await campaigns(on)) };
  const webhook = {
    url: `${receiver.url}/hook`,
    types: ['object.created', 'sequence.completed', 'broadcast.sent'],
  };
  receiver.respond = () => new Response(null, { status: 500 });
  await services.webhooks.create(services.projects.require('shop'), webhook as never, () => {});

  // From now on nothing is answered: what is in the relay's hands is under way.
  await on.pass();
  sink.behavior = { hang: 'data' };
  const under_way = String((await post('/emails/send', { to: 'now@example.com', ...mail })).id);
  const later = String(
    (await post('/emails/send', { to: 'later@example.com', ...mail, scheduled_at: '2030-03-01T00:00:00Z' }))
      .id,
  );
  const missed = String(
    (await post('/emails/send', { to: 'missed@example.com', ...mail, scheduled_at: '2030-01-16T00:00:00Z' }))
      .id,
  );
  for (const one of [ids.waiting, ids.last]) await on.enroll(one);
  const sent = await on.broadcast(ids.list, { name: 'Sent' });
  dataOf(await on.post(sent, 'send'), 202);
  on.app.app.engine.wake();
  await sink.until(() => sink.unanswered.length >= 5);
  const other = await makeProject(on.app, 'other');
  await on.app.call('POST', '/api/v1/emails/send', {
    key: await other.key(FULL),
    body: { to: 'other@example.com', ...mail, scheduled_at: '2030-01-16T01:00:00Z' },
  });
  const { project } = on;
  const now = on.app.clock.now();
  sql(
    data_dir,
    "UPDATE jobs SET status = 'pending', run_at = 0, finished_at = NULL, payload = json_remove(payload, '$.progress') WHERE type = 'schedule.run'",
  );
  sql(
    data_dir,
    "INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, max_attempts, payload, queued_at) VALUES ('01J00000000000000000000001', ?, 'email.subscribe', 'pending', 0, 'email.subscribe', 0, 5, ?, ?)",
    project.id,
    JSON.stringify(await signUpTo(on, ids.list)),
    now,
  );
  const event =
    "INSERT INTO webhook_events (project_id, type, body, is_fanned_out, created_at) VALUES (?, 'object.created', '{}', ?, ?)";
  sql(data_dir, event, project.id, 1, now);
  sql(
    data_dir,
    "INSERT INTO webhook_deliveries SELECT '01J00000000000000000000002', (SELECT max(id) FROM webhooks), max(id), 'object.created', 'waiting', 1, ?, 500, 'HTTP 500', ? FROM webhook_events",
    now + 5_000,
    now,
  );
  sql(data_dir, event, project.id, 0, now);
  const file = join(makeTempDir(), 'work.tar');
  await backUp(data_dir, { file, clock: on.app.clock });
  // What was under way goes out, and the rest with the source.
  sql(data_dir, "UPDATE jobs SET status = 'completed' WHERE type IN ('schedule.run', 'email.subscribe')");
  sink.behavior = {};
  for (const answer of sink.unanswered.splice(0)) answer();
  await on.app.app.engine.whenIdle();
  await on.app.stop();
  receiver.got.length = 0;
  return {
    on,
    sink,
    receiver,
    file,
    env: { ...env, SATCHEL_DNS_SERVERS: on.dns.address },
    ids: { ...ids, under_way, later, missed, sent },
    key,
  };
}

/** A sequence whose first step was sent; broadcasts that are scheduled for before and after the restore, and one that tests an A/B. */
async function campaigns(on: BroadcastApp) {
  for (const slug of ['a', 'b', 'c', 'd']) await on.template(slug);
  const list = await on.list();
  await on.contact(list, 'ann@example.com');
  await on.contact(list, 'bob@example.com');
  const steps = [
    { key: 'a', template: 'a' },
    { key: 'b', template: 'b', delay_hours: 24 },
    { key: 'c', template: 'c', delay_hours: 2 },
    { key: 'd', template: 'd', delay_hours: 48, is_final: true },
  ];
  const sequence = await on.active(list, steps);
  await on.enroll(sequence);
  await on.pass();
  const past = await on.broadcast(list, { name: 'Past' });
  dataOf(await on.post(past, 'send', { send_at: '2030-01-16T00:00:00Z' }), 202);
  const coming = await on.broadcast(list, { name: 'Coming' });
  dataOf(await on.post(coming, 'send', { send_at: '2030-02-01T00:00:00Z' }), 202);
  const ab = { variants: [{ name: 'A' }, { name: 'B' }], share: 50, decide_by: 'manual' };
  const testing = await on.broadcast(list, { name: 'Testing', ab });
  await on.send(testing);
  const own = await on.list({ name: 'Own' });
  await on.contact(own, 'cy@example.com');
  const waiting = await on.active(own, [
    { key: 'x', template: 'a' },
    { key: 'y', template: 'b', delay_hours: 24, is_final: true },
  ]);
  const last = await on.active(own, [{ key: 'z', template: 'c', is_final: true }], { name: 'Last' });
  return { list, sequence, waiting, last, past, coming, testing };
}

async function signUpTo(on: BroadcastApp, list: string): Promise<Record<string, unknown>> {
  const id = on.count(`SELECT id AS n FROM contact_lists WHERE public_id = '${list}'`);
  const who = { email: 'new@example.com', first_name: null, last_name: null, ip: null, origin: null };
  return { list_id: id, ...who, is_test: false, tracking: false, is_of_mail: false, at: on.app.clock.now() };
}

/** The backup in a place of its own, with a server; `serves` false leaves it without. */
export async function restored(
  work: AtWork,
  how: { release?: boolean; at?: string; is_stream?: boolean } = {},
) {
  const { env, file, sink, on } = work;
  const data_dir = join(makeTempDir(), 'data');
  mkdirSync(data_dir, { mode: 0o700 });
  copyFileSync(join(on.app.data_dir, 'master.key'), join(data_dir, 'master.key'));
  const clock = new TestClock(how.at ?? RESTORED);
  const config = { ...on.app.config, data_dir };
  const { held, notes } = await restoreBackup(config, {
    file: how.is_stream ? await ArchiveStream.begin(Bun.file(file).stream()) : file,
    ...{ replace: false, release: how.release === true, actor, clock },
  });
  const before = sink.mails.length;
  let app: TestApp | null = null;
  const made = {
    data_dir,
    held,
    notes,
    clock,
    get app(): TestApp {
      if (!app) throw new Error('it is not started');
      return app;
    },
    async start(): Promise<TestApp> {
      app = await startTestApp({ data_dir, clock, env });
      return app;
    },
    /** Has all that is due happen, moving the clock first. */
    async pass(hours = 0): Promise<void> {
      clock.advance(hours * HOUR_MS);
      made.app.app.engine.wake();
      made.app.services.webhook_dispatcher.wake();
      await made.app.services.schedules.queueDueRuns();
      await made.app.app.engine.whenIdle();
    },
    /** To whom mail went since the restore, and its subjects. */
    sent: (): string[] =>
      sink.mails
        .slice(before)
        .map(
          ({ envelope, raw }) =>
            `${envelope.to.join()} ${/^Subject: (.*)$/m.exec(raw.toString())?.[1]?.trim()}`,
        )
        .sort(),
    async get(path: string): Promise<Record<string, unknown>> {
      const { body, status, text } = await made.app.call('GET', `/api/v1${path}`, { key: work.key });
      if (status !== 200) throw new Error(text);
      return (body.data ?? body) as Record<string, unknown>;
    },
    count: (text: string): number =>
      Number(made.app.services.database.read.$client.query<{ n: number }, []>(text).get()?.n),
  };
  return made;
}
