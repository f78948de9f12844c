/** Queueing many failed emails again, beside a server that goes on writing. */
import { expect, test } from 'bun:test';
import { newId } from '../../src/platform/ids.ts';
import { actor } from '../helpers.ts';
import { addDomain, rows, type Sender, startSender } from './setup.ts';

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
  const { database, emails, clock } = sender.app.services;
  const retrying = emails.retryFailed(actor, clock.now());
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
