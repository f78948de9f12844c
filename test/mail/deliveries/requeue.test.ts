/** Queueing many failed emails again, beside a server that goes on writing. */

import { expect, spyOn, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { EMAIL_RETRY_BATCH_ROWS } from '../../../src/mail/deliveries/requeue.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { actor } from '../../support/helpers.ts';
import { codeOf } from '../../support/management.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, rows, type Sender, startSender } from '../emails/setup.ts';

const COUNT = 120;

/** Emails that failed just now, as a relay that is down leaves them. */
async function addFailed(sender: Sender): Promise<void> {
  const { database, clock } = sender.app.services;
  const now = clock.now();
  await database.write((tx) => {
    const email = tx.$client.query(
      `INSERT INTO emails (id, project_id, source, status, from_email, domain, to_email, subject, message_id, created_at,
        failed_at) VALUES (?, ?, 'api', 'failed', 'f', 'd', 'ada@example.org', 'Hello', '<m@d>', ?, ?)`,
    );
    const body = tx.$client.query("INSERT INTO email_bodies (email_id, body_text) VALUES (?, 'Hi')");
    for (let n = 0; n < COUNT; n += 1) {
      const id = newId(now);
      email.run(id, Number(sender.project.id), now, now);
      body.run(id);
    }
  });
}

test('many are queued in small steps, so that other writes come between', async () => {
  const sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', null);
  await addFailed(sender);
  const { database, deliveries, clock } = sender.app.services;
  const retrying = deliveries.requeueFailed(actor, clock.now());
  const left = await database.write(
    (tx) => tx.$client.query("SELECT count(*) FROM emails WHERE status = 'failed'").values()[0]?.[0],
  );
  expect(left).toBeGreaterThan(COUNT / 2);
  const { results } = await retrying;
  expect(results.filter((result) => 'job_id' in result)).toHaveLength(COUNT);
  await sender.settle();
  expect(rows(sender.app, 'SELECT status, count(*) AS n FROM emails GROUP BY status')).toEqual([
    { status: 'sent', n: COUNT },
  ]);
  await sender.app.stop();
});

test('a mail that a relay took and that came back is sent again to its own recipient alone', async () => {
  const sender = await startSender();
  const sink = await startSmtpSink();
  await addDomain(sender.app, 'mail.example.com', sink);
  const { deliveries } = sender.app.services;
  const { body } = await sender.send({ cc: ['cid@example.org'] });
  await sender.settle();
  await deliveries.reportByHand(actor, String(body.id), { kind: 'bounced' });
  await deliveries.requeueOne(actor, String(body.id));
  await sender.settle();
  expect(await sender.log(body.id)).toMatchObject({ status: 'sent', attempts: 2, bounced_at: null });
  expect(sink.mails.map(({ envelope }) => envelope.to)).toEqual([
    ['ada@example.org', 'cid@example.org'],
    ['ada@example.org'],
  ]);
  await sink.stop();
  await sender.app.stop();
});

test('what was queued before the database was busy is told all the same', async () => {
  const sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', null);
  await addFailed(sender);
  const { database, deliveries, clock } = sender.app.services;
  const retrying = deliveries.requeueFailed(actor, clock.now());
  const writing = spyOn(database, 'write').mockImplementation(() =>
    Promise.reject(new AppError('unavailable', 'The database is busy.')),
  );
  const { results } = await retrying;
  writing.mockRestore();
  const queued = results.filter((result) => 'job_id' in result);
  const refused = results.filter((result) => 'refusal' in result);
  expect(queued).toHaveLength(EMAIL_RETRY_BATCH_ROWS);
  expect(refused).toHaveLength(COUNT - EMAIL_RETRY_BATCH_ROWS);
  expect(refused[0]).toMatchObject({ refusal: 'The database is busy.' });
  const failed = "SELECT count(*) AS n FROM emails WHERE status = 'failed'";
  expect(rows(sender.app, failed)).toEqual([{ n: COUNT - EMAIL_RETRY_BATCH_ROWS }]);
  await sender.app.stop();
});

test('what failed in a project is queued again as the log has it, oldest first and a thousand at most', async () => {
  const sender = await startSender();
  const sink = await startSmtpSink();
  await addDomain(sender.app, 'mail.example.com', sink);
  const { database, clock, projects, tokens } = sender.app.services;
  const foreign = await projects.create(actor, { name: 'Other', slug: 'other' });
  const { token } = await tokens.create(actor, {
    name: 't',
    all_projects: true,
    projects: [],
    capabilities: [],
  });
  const retry = async (body: object, project = 'shop') => {
    const path = `/api/public/v1/projects/${project}/emails/retry`;
    const answer = await sender.app.call('POST', path, { token, body });
    return answer.status === 200 ? answer.body.data : [answer.status, codeOf(answer)];
  };
  const begun = clock.now();
  const add = (count: number, fields: Record<string, string | number> = {}, has_body = true) =>
    database.write((tx) => {
      for (let n = 0; n < count; n += 1) {
        sender.app.clock.advance(1);
        const now = clock.now();
        const row = {
          ...{
            id: newId(now),
            project_id: sender.project.id,
            source: 'api',
            status: 'failed',
            from_email: 'f',
            domain: 'd',
          },
          ...{
            to_email: 'ada@example.org',
            subject: 'Hello',
            message_id: '<m@d>',
            created_at: now,
            failed_at: now,
            ...fields,
          },
        };
        const names = Object.keys(row);
        tx.$client
          .query(`INSERT INTO emails (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`)
          .run(...Object.values(row));
        if (has_body)
          tx.$client.query("INSERT INTO email_bodies (email_id, body_text) VALUES (?, 'Hi')").run(row.id);
      }
    });
  await add(3, { template: 'welcome' });
  await add(2, { template: 'welcome', to_email: 'Bob@example.org' });
  await add(1, { template: 'welcome', is_test: 1 });
  await add(1, { template: 'welcome' }, false);
  await add(1, { template: 'welcome', status: 'unknown' });
  await add(1, { template: 'welcome', status: 'bounced' });
  await add(1, { project_id: foreign.id });
  const later = clock.now();
  const all = { matching: 7, queued: 0, refused: 1, left_out: 1 };
  expect(await retry({ dry_run: true })).toEqual(all);
  expect(await retry({ dry_run: true, date_from: new Date(begun).toISOString() })).toEqual(all);
  expect(await retry({ dry_run: true, date_to: new Date(begun + 4).toISOString() })).toEqual({
    ...{ matching: 3, queued: 0, refused: 0, left_out: 0 },
  });
  expect(await retry({ dry_run: true, to: 'bob@' })).toEqual({
    matching: 2,
    queued: 0,
    refused: 0,
    left_out: 0,
  });
  expect(await retry({ templat: 'other' })).toEqual([422, 'VALIDATION_FAILED']);
  expect(await retry({ template: 'other' })).toEqual({ matching: 0, queued: 0, refused: 0, left_out: 0 });
  expect(rows(sender.app, 'SELECT count(*) AS n FROM jobs')).toEqual([{ n: 0 }]);
  expect(await retry({ to: 'bob@example.org' })).toEqual({ matching: 2, queued: 2, refused: 0, left_out: 0 });
  await sender.settle();
  expect(sink.mails.map(({ envelope }) => envelope.to)).toEqual([['Bob@example.org'], ['Bob@example.org']]);
  expect(await retry({ dry_run: true })).toEqual({ ...all, matching: 5 });

  // Those that no mailbox can send are told, and stay.
  await sender.app.services.mailboxes.setStatus(actor, 'hello@mail.example.com', 'paused');
  expect(await retry({})).toEqual({ matching: 5, queued: 0, refused: 4, left_out: 1 });
  await sender.app.services.mailboxes.setStatus(actor, 'hello@mail.example.com', 'active');
  expect(await retry({ date_from: new Date(later + 1).toISOString() })).toMatchObject({ matching: 0 });
  await add(1_010, { template: 'many' });
  expect(await retry({ template: 'many' })).toEqual({
    matching: 1_010,
    queued: 1_000,
    refused: 0,
    left_out: 0,
  });
  const left = rows(
    sender.app,
    "SELECT created_at FROM emails WHERE status = 'failed' AND template = 'many'",
  );
  expect(left).toEqual(Array.from({ length: 10 }, (_, n) => ({ created_at: later + 1_001 + n })));
  expect(await retry({ template: 'many' })).toMatchObject({ queued: 10 });
  const told = "SELECT count(*) AS n FROM audit_events WHERE event = 'email.retried' AND actor_name = 't'";
  expect(rows(sender.app, told)).toEqual([{ n: 1_012 }]);

  await projects.update(actor, projects.require('shop'), { status: 'inactive' });
  for (const dry_run of [true, false]) expect(await retry({ dry_run })).toEqual([409, 'project_inactive']);
  expect(await retry({}, 'nowhere')).toEqual([404, 'NOT_FOUND']);
});
