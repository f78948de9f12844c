/** Bulk mail in pieces: what it leaves on record, who has their turn, and what a crash, a pause or a fault costs. */
import { Database } from 'bun:sqlite';
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test';
import { join } from 'node:path';
import { AppError } from '../../../src/errors.ts';
import { LEAST_IN_FLIGHT } from '../../../src/mail/deliveries/bulk-sending.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import {
  type BroadcastApp,
  dataOf,
  startBroadcastApp,
  startTestApp,
} from '../../marketing/broadcasts/setup.ts';
import { addContacts } from '../../marketing/sequences/setup.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { rows } from '../emails/setup.ts';

const MAILBOX = 'hello@news.example.com';
const COUNT = 40;
const GREYLISTED = { code: 451, message: '4.2.0 Greylisted, try again later' };

let on: BroadcastApp;
let sink: SmtpSink;
beforeEach(async () => {
  on = await startBroadcastApp();
  sink = await startSmtpSink();
  await useRelay(MAILBOX, sink.port);
});
afterEach(() => sink.stop());

const useRelay = (mailbox: string, port: number) =>
  on.app.services.mailboxes.change(actor, mailbox, { relay: parseRelay(`smtp://127.0.0.1:${port}`) });
const query = (sql: string) => rows(on.app, sql);
const statuses = () => query('SELECT status, count(*) AS n FROM emails GROUP BY 1 ORDER BY 1');
const idOf = (email: string) =>
  on.app.services.database.read.$client
    .query<{ id: string }, [string]>('SELECT id FROM emails WHERE to_email = ?')
    .get(email)?.id ?? '';
const recipients = () => sink.mails.flatMap(({ envelope }) => envelope.to);

/** Has the relay answer what it withheld, and lets all that is due happen. */
async function answer(): Promise<void> {
  delete sink.behavior.hang;
  for (const reply of sink.unanswered.splice(0)) reply();
  await on.pass();
}

/** Sends a broadcast to `COUNT` people while the relay says nothing, until it has as many in hand as it takes at first. */
async function sendIntoSilence(): Promise<string> {
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  sink.behavior.hang = 'rcpt';
  const id = await on.broadcast(list);
  dataOf(await on.post(id, 'send'), 202);
  const in_hand = [
    { status: 'queued', n: COUNT - LEAST_IN_FLIGHT },
    { status: 'sending', n: LEAST_IN_FLIGHT },
  ];
  await until(() => Bun.deepEquals(statuses(), in_hand));
  return id;
}

test('a mail that its relay takes has no job and no attempt of its own, and its story tells of the attempt', async () => {
  const list = await on.list();
  await on.contact(list, 'ann@example.com');
  await on.send(await on.broadcast(list));
  const email = idOf('ann@example.com');
  expect(query('SELECT status, job_id, attempts, due_at FROM emails')).toEqual([
    { status: 'sent', job_id: null, attempts: 1, due_at: null },
  ]);
  expect(query('SELECT id FROM email_attempts')).toEqual([]);
  expect(query("SELECT status, count(*) AS n FROM jobs WHERE type = 'email.bulk'")).toEqual([
    { status: 'completed', n: 1 },
  ]);
  const { story, events } = on.app.services.deliveries.explain(email);
  expect(events.map(({ kind, outcome, who }) => [kind, outcome, who])).toEqual([
    ['accepted', null, null],
    ['attempt', 'sent', MAILBOX],
  ]);
  expect(events[1]).toMatchObject({ tls: 'none', words: expect.stringContaining('250') });
  expect(story.join('\n')).toMatch(/Attempt 1, .* from hello@news\.example\.com was taken without TLS: 250/);
});

test('little is in hand while a relay is slow; a pause keeps the rest, which leaves at a resume', async () => {
  const id = await sendIntoSilence();
  dataOf(await on.post(id, 'pause'));
  await answer();
  expect(recipients()).toHaveLength(LEAST_IN_FLIGHT);
  expect(statuses()).toEqual([
    { status: 'queued', n: COUNT - LEAST_IN_FLIGHT },
    { status: 'sent', n: LEAST_IN_FLIGHT },
  ]);
  dataOf(await on.post(id, 'resume'));
  await on.pass();
  expect(new Set(recipients()).size).toBe(COUNT);
  expect(recipients()).toHaveLength(COUNT);
});

test('a stop puts back what it cut off, as a start does after a crash, and each cut attempt is on record', async () => {
  await sendIntoSilence();
  const { data_dir, clock } = on.app;
  await on.app.stop();
  const db = new Database(join(data_dir, 'satchel.db'));
  const left = db.query('SELECT status, due_at, count(*) AS n FROM emails GROUP BY 1, 2').all();
  expect(left).toEqual([{ status: 'queued', due_at: 0, n: COUNT }]);
  // As a server leaves it that was killed in the middle of five mails.
  db.run(`UPDATE emails SET status = 'sending', due_at = NULL, began_at = 1, attempts = 1
    WHERE id IN (SELECT id FROM emails WHERE attempts = 0 LIMIT 5)`);
  db.run("UPDATE jobs SET status = 'processing' WHERE type = 'email.bulk'");
  db.close();
  delete sink.behavior.hang;
  sink.mails.length = 0;
  const app = await startTestApp({ data_dir, clock, env: { SATCHEL_DNS_SERVERS: on.dns.address } });
  Object.assign(on.app, app);
  await on.pass();
  expect(statuses()).toEqual([{ status: 'sent', n: COUNT }]);
  expect(recipients()).toHaveLength(COUNT);
  expect(query('SELECT attempt, outcome, count(*) AS n FROM email_attempts GROUP BY 1, 2')).toEqual([
    { attempt: 1, outcome: 'interrupted', n: LEAST_IN_FLIGHT + 5 },
    { attempt: 2, outcome: 'sent', n: LEAST_IN_FLIGHT + 5 },
  ]);
});

test('whoever leaves while their mail is in hand, or behind what is, gets it no more unless the relay takes it now', async () => {
  const id = await sendIntoSilence();
  const list = String((await on.show(id)).list);
  const addresses = (where: string) =>
    on.app.services.database.read.$client
      .query<{ to_email: string }, []>(`SELECT to_email FROM emails WHERE ${where} ORDER BY to_email`)
      .all()
      .map(({ to_email }) => to_email);
  const [[in_hand = ''], [behind = '']] = [addresses("status = 'sending'"), addresses("status = 'queued'")];
  for (const email of [in_hand, behind]) {
    const found = await on.call('GET', `/email-lists/${list}/contacts?q=${email}`);
    const [contact] = found.body.data as { id: string }[];
    dataOf(await on.call('POST', `/email-contacts/${contact?.id}/unsubscribe`));
  }
  sink.behavior.data = GREYLISTED;
  await answer();
  delete sink.behavior.data;
  await on.pass(1);
  expect(recipients().toSorted()).toEqual(addresses(`to_email NOT IN ('${in_hand}', '${behind}')`));
  expect(await on.show(id)).toMatchObject({
    status: 'sent',
    stats: { sent: COUNT - 2, lost: 2, waiting: 0 },
  });
});

test('while nothing can be written, what the relay has answered waits, and is not sent again', async () => {
  const id = await sendIntoSilence();
  const { database } = on.app.services;
  const full = new AppError('unavailable', 'Nothing was stored: the disk is full.');
  const writing = spyOn(database, 'writePiece').mockImplementation(() => Promise.reject(full));
  delete sink.behavior.hang;
  for (const reply of sink.unanswered.splice(0)) reply();
  await until(() => recipients().length === LEAST_IN_FLIGHT && writing.mock.calls.length > 0);
  expect(statuses()).toContainEqual({ status: 'sending', n: LEAST_IN_FLIGHT });
  writing.mockRestore();
  await until(() => Bun.deepEquals(statuses(), [{ status: 'sent', n: COUNT }]));
  expect(new Set(recipients()).size).toBe(COUNT);
  expect(recipients()).toHaveLength(COUNT);
  expect(await on.show(id)).toMatchObject({ stats: { sent: COUNT, lost: 0, waiting: 0 } });
});

test('a mail that is deferred leaves its piece, and is tried again by itself', async () => {
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  sink.behavior.rcpt = { 'c7@example.com': GREYLISTED };
  await on.send(await on.broadcast(list));
  expect(statuses()).toEqual([
    { status: 'queued', n: 1 },
    { status: 'sent', n: COUNT - 1 },
  ]);
  const { story } = on.app.services.deliveries.explain(idOf('c7@example.com'));
  expect(story.join('\n')).toMatch(
    /was deferred.*451 4\.2\.0[\s\S]*another attempt comes at .*; it is tried until/,
  );
  sink.behavior.rcpt = {};
  await on.pass(1);
  expect(statuses()).toEqual([{ status: 'sent', n: COUNT }]);
  expect(query('SELECT attempt, outcome FROM email_attempts ORDER BY id')).toEqual([
    { attempt: 1, outcome: 'deferred' },
    { attempt: 2, outcome: 'sent' },
  ]);
});

test('a relay that can not be reached fails one attempt where there is no other mailbox', async () => {
  await useRelay(MAILBOX, 9);
  const list = await on.list();
  await on.contact(list, 'ann@example.com');
  await on.send(await on.broadcast(list));
  const { events } = on.app.services.deliveries.explain(idOf('ann@example.com'));
  expect(events.filter(({ kind }) => kind === 'attempt')).toMatchObject([
    { outcome: 'unreachable', who: MAILBOX },
  ]);
  expect(query('SELECT status, attempts FROM emails')).toEqual([{ status: 'queued', attempts: 1 }]);
});

const addSecond = () =>
  on.app.services.mailboxes.add(actor, {
    address: 'second@news.example.com',
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
    daily_limit: null,
    return_path: null,
    for_transactional: false,
    for_marketing: true,
  });

test('a relay that can not be reached has its mail go out from another mailbox', async () => {
  await useRelay(MAILBOX, 1);
  await addSecond();
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  await on.send(await on.broadcast(list));
  await until(() => Bun.deepEquals(statuses(), [{ status: 'sent', n: COUNT }]));
  expect(recipients()).toHaveLength(COUNT);
  const used = query(
    'SELECT m.address, u.n FROM mailbox_usage u JOIN mailboxes m ON m.id = u.mailbox_id WHERE u.n > 0',
  );
  expect(used).toEqual([{ address: 'second@news.example.com', n: COUNT }]);
  // The rest is not tried where ten have just failed: five that fail slow nothing, and twice as many may then be in flight.
  const failed = on.count("SELECT count(*) AS n FROM email_attempts WHERE outcome = 'unreachable'");
  expect(failed).toBeGreaterThanOrEqual(LEAST_IN_FLIGHT);
  expect(failed).toBeLessThanOrEqual(2 * LEAST_IN_FLIGHT + 5);
});

test('mail that only a mailbox may send which can not be reached waits for it, whatever others there are', async () => {
  await useRelay(MAILBOX, 1);
  await addSecond();
  dataOf(await on.mirror('PATCH', '/email-marketing/settings', { accounts: [MAILBOX] }));
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  await on.send(await on.broadcast(list));
  const attempts = () => on.count('SELECT sum(attempts) AS n FROM emails');
  const at_once = attempts();
  for (let n = 0; n < 30; n += 1) await on.pass(1 / 60);
  expect(statuses()).toEqual([{ status: 'queued', n: COUNT }]);
  // Some at once, and then one a wait.
  expect(attempts() - at_once).toBeLessThan(20);
  await useRelay(MAILBOX, sink.port);
  for (let n = 0; n < 60; n += 1) await on.pass(1 / 60);
  expect(new Set(recipients()).size).toBe(COUNT);
  expect(on.count('SELECT count(*) AS n FROM mailbox_usage WHERE n > 0')).toBe(1);
});

test('a mailbox’s daily limit is filled to the last mail, and no further', async () => {
  await on.app.services.mailboxes.change(actor, MAILBOX, { daily_limit: 25 });
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  await on.send(await on.broadcast(list));
  expect(statuses()).toEqual([{ status: 'sent', n: 25 }]);
  await on.pass(24);
  await until(() => Bun.deepEquals(statuses(), [{ status: 'sent', n: COUNT }]));
});

test('projects have their turns at one mailbox, and the mail of a deleted one stops nobody', async () => {
  const other = await makeProject(on.app, 'other');
  const key = await other.key({ can_read: true, can_write: true, can_manage_email_marketing: true });
  const of_other = {
    ...on,
    call: (method: string, path: string, body?: unknown) =>
      on.app.call(method, `/api/v1${path}`, { key, ...(body === undefined ? {} : { body }) }),
  };
  await of_other.call('PATCH', '/email-marketing/settings', {
    enabled: true,
    from_name: 'Other',
    postal_address: '2 High Street',
  });
  const template_key = await other.key({
    can_read: true,
    can_write: true,
    can_manage_email_marketing: true,
    permissions: { email_template: true },
  });
  await on.app.call('POST', '/api/v1/emails/templates', {
    key: template_key,
    body: {
      name: 'news',
      slug: 'news',
      category: 'marketing',
      is_marketing: true,
      layout: 'marketing',
      subject: 'Other',
      body_text: 'Text',
      body_html: '<p>Text</p>',
    },
  });
  const made = dataOf(
    await of_other.call('POST', '/email-lists', { name: 'l', default_consent_basis: 'consent' }),
    201,
  );
  const list = String(made.id);
  for (let n = 0; n < 5; n += 1)
    dataOf(
      await of_other.call('POST', `/email-lists/${list}/contacts`, { email: `other${n}@example.com` }),
      201,
    );
  const broadcast = dataOf(
    await of_other.call('POST', '/email-broadcasts', { name: 'June', list, template: 'news' }),
    201,
  );
  await sendIntoSilence();
  dataOf(await of_other.call('POST', `/email-broadcasts/${broadcast.id}/send`, {}), 202);
  await until(() => query("SELECT id FROM emails WHERE to_email LIKE 'other%'").length === 5);
  await answer();
  await until(() => recipients().length === COUNT + 5);
  const last_of_other = recipients().findLastIndex((to) => to.startsWith('other'));
  expect(last_of_other).toBeLessThan(COUNT);

  // Deleted while its mail is in hand.
  sink.behavior.hang = 'rcpt';
  const again = dataOf(await of_other.call('POST', `/email-broadcasts/${broadcast.id}/copy`), 201);
  dataOf(await of_other.call('POST', `/email-broadcasts/${again.id}/send`, {}), 202);
  await until(() => sink.unanswered.length === 5);
  await on.app.services.projects.remove(actor, 'other');
  await on.contact(await on.list({ name: 'later' }), 'later@example.com');
  await answer();
  expect(query("SELECT id FROM emails WHERE status NOT IN ('sent')")).toEqual([]);
  expect(on.app.logs()).not.toContain('unexpectedly');
});

test('a mail that can not be made fails by itself', async () => {
  await sendIntoSilence();
  await on.app.services.database.write((tx) => {
    tx.$client.run("UPDATE emails SET merge = '{' WHERE to_email = 'c39@example.com'");
  });
  await answer();
  expect(statuses()).toEqual([
    { status: 'failed', n: 1 },
    { status: 'sent', n: COUNT - 1 },
  ]);
  const { story } = on.app.services.deliveries.explain(idOf('c39@example.com'));
  expect(story.join('\n')).toMatch(/Attempt 1, .* was cut off by a crash or a stop/);
});

test('a failed one is queued again by hand without a job, and says where to look', async () => {
  const list = await on.list();
  await on.contact(list, 'ann@example.com');
  sink.behavior.rcpt = { 'ann@example.com': { code: 550, message: '5.7.1 relaying denied' } };
  await on.send(await on.broadcast(list));
  const id = idOf('ann@example.com');
  expect(statuses()).toEqual([{ status: 'failed', n: 1 }]);
  sink.behavior.rcpt = {};
  const { token } = await on.app.services.tokens.create(actor, {
    name: 'all',
    all_projects: true,
    projects: [],
    capabilities: ['can_administer'],
  });
  const path = `/api/public/v1/projects/${on.project.slug}/emails/${id}/retry`;
  const answered = dataOf(await on.app.call('POST', path, { token }), 202);
  expect(answered).toMatchObject({ id, job_id: null, status_url: expect.stringContaining(`/emails/${id}`) });
  await on.pass();
  expect(statuses()).toEqual([{ status: 'sent', n: 1 }]);
});

test('one that came back is queued again, and its story keeps the attempt that had no row', async () => {
  const list = await on.list();
  await on.contact(list, 'ann@example.com');
  await on.send(await on.broadcast(list));
  const id = idOf('ann@example.com');
  const { deliveries } = on.app.services;
  const before = deliveries.explain(id).events.filter(({ kind }) => kind === 'attempt');
  await deliveries.reportByHand(actor, id, { kind: 'soft_bounced' });
  await deliveries.requeueOne(actor, id);
  await on.pass();
  expect(recipients()).toEqual(['ann@example.com', 'ann@example.com']);
  const attempts = deliveries.explain(id).events.filter(({ kind }) => kind === 'attempt');
  expect(attempts.map(({ outcome }) => outcome)).toEqual(['sent', 'sent']);
  expect<unknown>(attempts[0]).toEqual(before[0]);
});

test('where nothing can be written of what is in hand, that fails and the rest goes on a minute later', async () => {
  await sendIntoSilence();
  const { database } = on.app.services;
  await database.write((tx) => {
    tx.$client.run(`CREATE TRIGGER broken BEFORE UPDATE OF sent_at ON emails WHEN NEW.sent_at IS NOT NULL
      BEGIN SELECT no_such_function(); END`);
  });
  delete sink.behavior.hang;
  for (const reply of sink.unanswered.splice(0)) reply();
  await until(() => statuses().some((row) => Bun.deepEquals(row, { status: 'failed', n: LEAST_IN_FLIGHT })));
  expect(on.app.logs()).toContain('sending bulk mail failed unexpectedly');
  await database.write((tx) => {
    tx.$client.run('DROP TRIGGER broken');
  });
  on.app.clock.advance(60_000);
  await on.pass();
  expect(statuses()).toEqual([
    { status: 'failed', n: LEAST_IN_FLIGHT },
    { status: 'sent', n: COUNT - LEAST_IN_FLIGHT },
  ]);
});
