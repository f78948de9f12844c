/** Queueing many failed emails again, beside a server that goes on writing. */

import { expect, spyOn, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { EMAIL_RETRY_BATCH_ROWS } from '../../../src/mail/deliveries/requeue.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { actor } from '../../support/helpers.ts';
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
