/** Whoever leaves while mails to them wait for a slow relay gets none of these, either. */
import { expect, test } from 'bun:test';
import { LANE_CONCURRENCY } from '../../src/limits.ts';
import { parseRelay } from '../../src/mailboxes/relay.ts';
import { actor } from '../helpers.ts';
import { rowsOf } from '../marketing/setup.ts';
import { startSmtpSink } from '../smtp-sink.ts';
import { until } from '../until.ts';
import { addContacts, startSequenceApp } from './setup.ts';

const COUNT = LANE_CONCURRENCY + 20;

test('a mail that was accepted does not leave any more once its recipient has unsubscribed or was suppressed', async () => {
  const on = await startSequenceApp();
  const sink = await startSmtpSink({ hang: 'mail' });
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
    daily_limit: COUNT,
  });
  const { $client } = on.app.services.database.read;
  const statuses = () =>
    $client
      .query<{ status: string; n: number }, []>(
        'SELECT status, count(*) AS n FROM emails GROUP BY 1 ORDER BY 1',
      )
      .all();
  await on.template('hello');
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  const id = await on.active(list, [{ key: 'a', template: 'hello', is_final: true }]);
  await on.enroll(id);
  const sending = { status: 'sending', n: LANE_CONCURRENCY };
  await until(() => Bun.deepEquals(statuses(), [{ status: 'queued', n: 20 }, sending]));

  const waiting = $client
    .query<{ to_email: string }, []>("SELECT to_email FROM emails WHERE status = 'queued' LIMIT 2")
    .all();
  const [left = '', suppressed = ''] = waiting.map(({ to_email }) => to_email);
  const [contact] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${left}`));
  await on.call('POST', `/email-contacts/${contact?.id}/unsubscribe`);
  await on.call('POST', '/email-suppressions', { email: suppressed });
  expect(statuses()).toEqual([{ status: 'queued', n: 18 }, sending, { status: 'suppressed', n: 2 }]);

  delete sink.behavior.hang;
  for (const answer of sink.unanswered.splice(0)) answer();
  await on.app.app.engine.whenIdle();
  expect(statuses()).toEqual([
    { status: 'sent', n: COUNT - 2 },
    { status: 'suppressed', n: 2 },
  ]);
  const got = new Set(sink.mails.flatMap(({ envelope }) => envelope.to));
  expect([got.size, got.has(left), got.has(suppressed)]).toEqual([COUNT - 2, false, false]);
  const { body } = await on.call('GET', `/email-sequences/${id}`);
  expect(body.data).toMatchObject({ stats: { sent: COUNT - 2, completed: COUNT } });
  // Their places in the mailbox's day are free again.
  expect($client.query('SELECT sum(n) AS n FROM mailbox_usage').get()).toEqual({ n: COUNT - 2 });
  await sink.stop();
});
