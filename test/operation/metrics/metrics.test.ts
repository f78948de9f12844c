/** GET /metrics: who may read it, what it tells, and that it stays small. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { networkInterfaces } from 'node:os';
import { sql } from 'drizzle-orm';
import { MINUTE_MS } from '../../../src/platform/host/clock.ts';
import { insertJob, PRIORITY } from '../../../src/platform/jobs/store.ts';
import { addDomain, RELAY_DOWN_PORT, type Sender, startSender } from '../../mail/emails/setup.ts';
import { actor, LARGE_TEXT, startTestApp, type TestApp } from '../../support/helpers.ts';
import { startManagement } from '../../support/management.ts';
import { until } from '../../support/until.ts';
import { askMetrics, parseMetrics, readMetrics } from './setup.ts';

describe('who may read metrics', () => {
  let app: TestApp;
  let admin = '';
  let plain = '';
  beforeAll(async () => {
    const on = await startManagement();
    app = on.app;
    plain = on.all;
    admin = await on.makeToken({ capabilities: ['can_administer'] });
  });

  test('a program on this machine, without a credential', async () => {
    const answer = await askMetrics(app);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.text()).toStartWith('# HELP satchel_');
    for (const Host of ['localhost', `localhost:${new URL(app.url).port}`, '[::1]:9', 'satchel.localhost'])
      expect({ Host, status: (await askMetrics(app, { Host })).status }).toEqual({ Host, status: 200 });
  });

  test('nobody whom a proxy stands for, and no page of a site that leads here by its name', async () => {
    const passed_on = [
      { Forwarded: 'for=192.0.2.1' },
      { 'X-Forwarded-For': '127.0.0.1' },
      { 'X-Forwarded-For': '' },
      { Via: '1.1 proxy' },
      { Host: 'evil.example' },
      { Host: 'localhost.evil.example:8420' },
      { Host: '192.0.2.1' },
    ];
    for (const headers of passed_on) {
      const answer = await askMetrics(app, headers);
      expect({ headers, status: answer.status }).toEqual({ headers, status: 401 });
      expect(await answer.json()).toMatchObject({ error: { code: 'MISSING_ACCESS_TOKEN' } });
    }
  });

  test('nobody on another machine that names this one as its host', async () => {
    const local = new Request('http://localhost/metrics', { headers: { Host: 'localhost' } });
    // Nothing is known of where it comes from.
    expect((await app.app.handle(local)).status).toBe(401);
    const on_all = await startTestApp({ env: { SATCHEL_HOST: '0.0.0.0' } });
    const { port } = new URL(on_all.url);
    for (const { address } of Object.values(networkInterfaces()).flatMap((all) => all ?? [])) {
      if (address.includes(':')) continue;
      const { status } = await fetch(`http://${address}:${port}/metrics`, { headers: { Host: 'localhost' } });
      expect({ address, status }).toEqual({ address, status: address.startsWith('127.') ? 200 : 401 });
    }
  });

  test('from elsewhere whoever may administer', async () => {
    const answer = await app.call('GET', '/metrics', { token: admin });
    expect([answer.status, answer.text.slice(0, 6)]).toEqual([200, '# HELP']);
    const refused = await app.call('GET', '/metrics', { token: plain });
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({
      error: { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: 'can_administer' } },
    });
    expect((await app.call('GET', '/metrics')).status).toBe(401);
    const through_a_proxy = { Authorization: `Bearer ${admin}`, Via: '1.1 proxy' };
    expect((await askMetrics(app, through_a_proxy)).status).toBe(200);
    expect((await app.call('GET', '/metrics', { key: 'x' })).status).toBe(401);
  });
});

describe('what is told', () => {
  let on: Sender;
  beforeAll(async () => {
    on = await startSender();
    await addDomain(on.app, 'mail.example.com', null, { is_default: true });
  });

  test('requests by route and status, whatever paths were asked for', async () => {
    for (const path of ['/nothing/of/the/kind', '/api/v1/nowhere', '/%00', `/${'x'.repeat(3_000)}`])
      await on.app.call('GET', path);
    await on.app.call('PURGE', '/api/v1/objects');
    await on.get('/objects/01J00000000000000000000000');
    await on.get('/objects/01J00000000000000000000001');
    await on.app.call('HEAD', '/api/v1/objects', { key: on.key });
    // The scrapes themselves are requests.
    await readMetrics(on.app);
    const { values, text } = await readMetrics(on.app);
    const count = (method: string, route: string, status: number) =>
      values.get(
        `satchel_http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`,
      );
    expect(count('any', 'unknown', 404)).toBe(5);
    expect(count('GET', '/api/v1/objects/:public_id', 404)).toBe(2);
    expect(count('GET', '/api/v1/objects', 200)).toBe(1);
    expect(text).not.toContain('nowhere');
    const all = /_bucket\{method="any",route="unknown",status="404",le="\+Inf"\} 5\n/;
    expect(text).toMatch(all);
    expect(count('GET', '/metrics', 200)).toBeGreaterThan(0);
  });

  test('mail by outcome, of attempts and of deliveries', async () => {
    const before = (await readMetrics(on.app)).values;
    for (const to of ['ann@example.org', 'bounce@simulator.satchel.test', 'defer@simulator.satchel.test'])
      await on.send({ to });
    await on.settle();
    const after = (await readMetrics(on.app)).values;
    const grown = (metric: string) => (after.get(metric) ?? 0) - (before.get(metric) ?? 0);
    expect(grown('satchel_attempts_total{outcome="captured"}')).toBe(1);
    expect(grown('satchel_attempts_total{outcome="deferred"}')).toBe(1);
    expect(grown('satchel_deliveries_total{outcome="sent"}')).toBe(1);
    expect(grown('satchel_deliveries_total{outcome="bounced"}')).toBe(1);
    expect(after.get('satchel_emails{status="bounced"}')).toBe(1);
  });

  test('mail of a relay that is away', async () => {
    await addDomain(on.app, 'down.example.com', RELAY_DOWN_PORT);
    await on.send({ domain: 'down.example.com' });
    await on.settle();
    const { values } = await readMetrics(on.app);
    expect(values.get('satchel_attempts_total{outcome="unreachable"}')).toBe(1);
  });

  test('commits, and how long the disk took over them and over files', async () => {
    const commits = async () => (await readMetrics(on.app)).values;
    const before = await commits();
    await on.app.services.database.write((tx) => tx.run(sql`UPDATE meta SET value = value WHERE name = 'x'`));
    const form = new FormData();
    form.set('file', new Blob([LARGE_TEXT]), 'a.txt');
    expect((await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form })).status).toBe(201);
    const after = await commits();
    const grown = (metric: string) => (after.get(metric) ?? 0) - (before.get(metric) ?? 0);
    expect(grown('satchel_commits_total')).toBeGreaterThanOrEqual(2);
    expect(grown('satchel_changes_total')).toBeGreaterThanOrEqual(2);
    expect(grown('satchel_fsync_duration_seconds_count{of="log"}')).toBeGreaterThanOrEqual(2);
    expect(grown('satchel_fsync_duration_seconds_count{of="files"}')).toBe(1);
    expect(after.get('satchel_fsync_duration_seconds_sum{of="log"}')).toBeGreaterThan(0);
    expect(grown('satchel_rows{list="objects"}')).toBe(1);
    expect(grown('satchel_object_bytes')).toBe(LARGE_TEXT.length);
    expect(after.get('satchel_database_bytes{file="database"}')).toBeGreaterThan(100_000);
    expect(after.get('satchel_disk_free_bytes')).toBeGreaterThan(0);
  });

  test('how late the event loop was', async () => {
    const { event_loop } = on.app.services;
    const looks = () => event_loop.delays.cumulative().at(-1) ?? 0;
    event_loop.enter();
    const [before, sum] = [looks(), event_loop.delays.sum];
    await until(() => looks() > before);
    Bun.sleepSync(300);
    await until(() => event_loop.delays.sum > sum + 0.15);
    event_loop.leave();
    const { values } = await readMetrics(on.app);
    expect(values.get('satchel_event_loop_delay_seconds_sum')).toBeGreaterThan(0.15);
    expect(values.get('satchel_event_loop_delay_seconds_bucket{le="0.1"}')).toBeLessThan(
      values.get('satchel_event_loop_delay_seconds_count') ?? 0,
    );
  });

  test('and nobody looks while nothing is done', async () => {
    const { event_loop } = on.app.services;
    const looks = () => event_loop.delays.cumulative().at(-1) ?? 0;
    expect((await on.app.call('GET', '/api/health')).status).toBe(200);
    const before = looks();
    await until(() => looks() > before);
    await Bun.sleep(500);
    const rested = looks();
    await Bun.sleep(500);
    expect(looks()).toBe(rested);
  });

  test('when inboxes were read, and whether one fails', async () => {
    expect((await readMetrics(on.app)).names).not.toContain('satchel_inbox_lag_seconds');
    const now = on.app.clock.now();
    await on.app.services.database.write((tx) => {
      for (const [mailbox, look, error] of [
        ['hello@mail.example.com', now - 90_000, null],
        ['hello@down.example.com', now - 5_000, 'The log-in was refused.'],
      ] as const)
        tx.run(sql`INSERT INTO inboxes (mailbox_id, version, host, port, security, username, sealed_password, folder, last_uid,
            unflagged, reports, skipped, last_skipped, last_look_at, last_error)
          SELECT id, 'v', 'h', 1, 'tls', 'u', 's', 'INBOX', 0, '[]', 0, 0, '[]', ${look}, ${error} FROM mailboxes WHERE address = ${mailbox}`);
    });
    const { values } = await readMetrics(on.app);
    expect(Math.floor(values.get('satchel_inbox_lag_seconds') ?? 0)).toBe(90);
    expect(values.get('satchel_inboxes_failing')).toBe(1);
  });

  test('mailboxes by state, and the pace of the one that is slowed most', async () => {
    await on.app.services.mailboxes.setStatus(actor, 'hello@down.example.com', 'paused');
    await on.app.services.database.write((tx) => {
      tx.run(sql`INSERT OR REPLACE INTO mailbox_paces (mailbox_id, turn_at, sent, allowed, speed_at, waits, waits_until, is_probing,
        probed_at, ended_at, refused_at) SELECT id, 0, '[]', 0.5, 0, 1, 0, 0, 0, 0, ${on.app.clock.now()}
        FROM mailboxes WHERE address = 'hello@mail.example.com'`);
      tx.run(
        sql`UPDATE mailboxes SET resting_until = ${on.app.clock.now() + MINUTE_MS} WHERE address = 'hello@mail.example.com'`,
      );
    });
    const { values } = await readMetrics(on.app);
    const states = ['active', 'paused', 'resting', 'slowed'];
    expect(states.map((state) => values.get(`satchel_mailboxes{state="${state}"}`))).toEqual([1, 1, 1, 1]);
    expect(values.get('satchel_slowest_pace_mails_per_second')).toBe(0.5);
    // It was forgotten after ten minutes without a refusal.
    on.app.clock.advance(11 * MINUTE_MS);
    expect((await readMetrics(on.app)).values.get('satchel_mailboxes{state="slowed"}')).toBe(0);
  });

  test('how many backups are whole, and the age of the newest', async () => {
    const before = await readMetrics(on.app);
    expect(before.names).not.toContain('satchel_backup_age_seconds');
    expect(before.values.get('satchel_backups')).toBe(0);
    const { token } = await on.app.services.tokens.create(actor, {
      ...{ name: 'admin', all_projects: true, projects: [], capabilities: ['can_administer'] },
    });
    expect((await on.app.call('POST', '/api/public/v1/backups', { token })).status).toBe(202);
    await on.settle();
    on.app.clock.advance(5 * MINUTE_MS);
    const { values } = await readMetrics(on.app);
    expect(values.get('satchel_backups')).toBe(1);
    const age = values.get('satchel_backup_age_seconds');
    // Its time is that of the file, which the real clock gave it, or of the run.
    expect(age).toBeGreaterThanOrEqual(0);
  });

  test('every metric has a name, a kind and a sentence, once', async () => {
    const { names, text } = await readMetrics(on.app);
    expect(new Set(names).size).toBe(names.length);
    for (const name of names)
      expect(text).toMatch(new RegExp(`# HELP ${name} [A-Z][^\\n]+\\.\\n# TYPE ${name} `));
  });
});

describe('what waits', () => {
  const MANY = 12_345;

  test('is counted by kind of job and urgency, with the age of what has been due for longest', async () => {
    const on = await startSender();
    await addDomain(on.app, 'mail.example.com', null, { is_default: true });
    await on.app.app.engine.stop(0);
    const { database } = on.app.services;
    const empty = (await readMetrics(on.app)).values;
    expect(empty.get('satchel_queue_depth{lane="email.send:transactional"}')).toBe(0);
    expect(empty.get('satchel_queue_age_seconds{lane="email.bulk:marketing"}')).toBe(0);
    const now = on.app.clock.now();
    await database.write((tx) => {
      const job = { project_id: on.project.id, type: 'email.send', payload: {}, max_attempts: 1 };
      for (let n = 0; n < MANY; n += 1)
        insertJob(tx, { ...job, priority: PRIORITY.transactional, resource: 'transactional:1' }, now);
      insertJob(tx, { ...job, priority: PRIORITY.transactional, resource: 'transactional:2' }, now - 4_000);
      const later = { run_at: now + MINUTE_MS };
      insertJob(tx, { ...job, ...later, priority: PRIORITY.scheduled, resource: 'scheduled:1' }, now);
      insertJob(tx, { ...job, project_id: null, type: 'made.up', priority: PRIORITY.background }, now);
    });
    const fields = {
      project_id: on.project.id,
      api_key_id: null,
      is_test: false,
      source: 'sequence' as const,
    };
    const mail = { ...fields, to_name: null, cc: [], bcc: [], reply_to: null, from_name: null, subject: 's' };
    const bare = { ...mail, template: null, domain: null, attachments: [], scheduled_at: null, client: null };
    await database.write((tx) => tx.run(sql`UPDATE mailboxes SET for_marketing = 1`));
    await database.write((tx) =>
      on.app.services.emails.acceptBulk(tx, (accept) => {
        for (let n = 0; n < 3; n += 1) accept({ ...bare, to: `n${n}@example.org`, content: { merge: {} } });
      }),
    );
    on.app.clock.advance(MINUTE_MS + 30_000);
    const { values } = await readMetrics(on.app);
    const lane = (name: string) => [
      values.get(`satchel_queue_depth{lane="${name}"}`),
      Math.floor(values.get(`satchel_queue_age_seconds{lane="${name}"}`) ?? -1),
    ];
    expect(lane('email.send:transactional')).toEqual([MANY + 1, 94]);
    expect(lane('email.send:scheduled')).toEqual([1, 30]);
    expect(lane('made.up:background')).toEqual([1, 90]);
    expect(lane('email.bulk:marketing')).toEqual([3, 90]);
    await database.write((tx) => tx.run(sql`DELETE FROM jobs WHERE type = 'made.up'`));
    on.app.clock.advance(1);
    const left = (await readMetrics(on.app)).values;
    expect(left.get('satchel_queue_depth{lane="made.up:background"}')).toBe(0);
  });
});

test('no label grows with what is stored, sent or asked for', async () => {
  const on = await startSender();
  await addDomain(on.app, 'mail.example.com', null);
  const seriesOf = async (): Promise<string[]> => [...(await readMetrics(on.app)).values.keys()].toSorted();
  const use = async (n: number): Promise<void> => {
    const { body } = await on.send({ to: `n${n}@example.org` });
    await on.get(`/emails/${body.id}`);
    await on.get(`/nowhere/${n}`);
    await on.settle();
  };
  await use(0);
  await seriesOf();
  const before = await seriesOf();
  for (let n = 1; n < 5; n += 1) {
    await addDomain(on.app, `mail${n}.example.com`, null);
    await on.app.services.projects.create(actor, { name: `p${n}`, slug: `p${n}` });
    await on.project.key({});
    await use(n);
  }
  expect(await seriesOf()).toEqual(before);
});

test('who asks while much is counted is told at once what was counted before', async () => {
  const app = await startTestApp();
  const first = await readMetrics(app);
  app.clock.advance(MINUTE_MS);
  const asked = await Promise.all(Array.from({ length: 5 }, () => askMetrics(app)));
  const told = await Promise.all(asked.map(async (answer) => parseMetrics(await answer.text())));
  const moments = told.map(({ values }) => values.get('satchel_counted_timestamp_seconds') ?? 0);
  const earlier = first.values.get('satchel_counted_timestamp_seconds') ?? 0;
  for (const moment of moments) expect([earlier, earlier + 60]).toContain(moment);
});
