/** What a crash cuts off: the attempt counts and is on record, the mail goes out all the same. */
import { describe, expect, test } from 'bun:test';
import { startTestApp } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, rows, type Sender, senderOf, startSender } from '../emails/setup.ts';

/** Starts again on the directory of an app that is made to look as if it had died in the middle of an attempt. */
async function crash(sender: Sender, ids: { id: unknown; job_id: unknown }): Promise<Sender> {
  const { database } = sender.app.services;
  await database.write((tx) => {
    const run = (query: string, id: unknown) => tx.$client.query(query).run(String(id));
    run(
      "UPDATE jobs SET status = 'processing', attempts = attempts + 1, started_at = 1 WHERE id = ?",
      ids.job_id,
    );
    run("UPDATE emails SET status = 'sending', attempts = attempts + 1 WHERE id = ?", ids.id);
    run(
      "INSERT INTO email_attempts (email_id, attempt, mailbox, choice, started_at) VALUES (?, 1, 'm', 'c', 1)",
      ids.id,
    );
  });
  const { data_dir, clock } = sender.app;
  await sender.app.stop();
  const app = await startTestApp({ data_dir, clock });
  return senderOf(app, sender.project, sender.key);
}

async function accept(sender: Sender): Promise<{ id: unknown; job_id: unknown }> {
  const { body } = await sender.send({ scheduled_at: '2030-01-15T13:00:00Z' });
  return { id: body.id, job_id: body.job_id };
}

describe('an attempt that a crash cut off', () => {
  test('is marked interrupted, and the next one sends the mail at once', async () => {
    const sink = await startSmtpSink();
    const sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', sink);
    const ids = await accept(sender);
    const restarted = await crash(sender, ids);
    await restarted.settle();
    expect(await restarted.log(ids.id)).toMatchObject({ status: 'sent', attempts: 2 });
    expect(await restarted.job(ids.job_id)).toMatchObject({ status: 'completed', attempts: 2 });
    expect(rows(restarted.app, 'SELECT outcome FROM email_attempts ORDER BY id')).toEqual([
      { outcome: 'interrupted' },
      { outcome: 'sent' },
    ]);
    expect(sink.mails.length).toBe(1);
    await restarted.app.stop();
    await sink.stop();
  });

  test('takes none of the three attempts away, however often it happens', async () => {
    let sender = await startSender();
    await addDomain(sender.app, 'mail.example.com', null);
    const { body } = await sender.send({
      to: 'defer@simulator.satchel.test',
      scheduled_at: '2030-01-15T13:00:00Z',
    });
    for (let n = 0; n < 3; n++) {
      sender = await crash(sender, { id: body.id, job_id: body.job_id });
      await sender.settle();
    }
    // Each restart also made one real attempt, as its mail was put back to be due at once.
    expect(await sender.job(body.job_id)).toMatchObject({ status: 'failed', attempts: 6 });
    expect(await sender.log(body.id)).toMatchObject({ status: 'failed', attempts: 6 });
    await sender.app.stop();
  });
});

test('a stop in the middle of a hanging relay costs the mail nothing', async () => {
  const sink = await startSmtpSink({ hang: 'rcpt' });
  const sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', sink);
  const { body } = await sender.send();
  await sink.until(() => sink.unanswered.length > 0);
  await sender.app.stop();
  delete sink.behavior.hang;
  const { data_dir, clock } = sender.app;
  const restarted = senderOf(await startTestApp({ data_dir, clock }), sender.project, sender.key);
  await restarted.settle();
  expect(await restarted.log(body.id)).toMatchObject({ status: 'sent', attempts: 2 });
  expect(sink.mails.length).toBe(1);
  await restarted.app.stop();
  await sink.stop();
});

test('a stop waits for a mail whose content is out, and the log knows that it was sent', async () => {
  const sink = await startSmtpSink({ hang: 'data' });
  const sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', sink);
  const { body } = await sender.send();
  await sink.until(() => sink.unanswered.length > 0);
  const stopped = sender.app.stop();
  await Bun.sleep(20);
  for (const answer of sink.unanswered) answer();
  await stopped;
  const { data_dir, clock } = sender.app;
  const restarted = senderOf(await startTestApp({ data_dir, clock }), sender.project, sender.key);
  await restarted.settle();
  expect(await restarted.log(body.id)).toMatchObject({ status: 'sent', attempts: 1 });
  await restarted.app.stop();
  await sink.stop();
});
