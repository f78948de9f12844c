/** What waits for a slow relay when its recipient leaves, its sequence pauses or ends, or an event ends an enrollment. */
import { expect, test } from 'bun:test';
import { LEAST_IN_FLIGHT } from '../../../src/mail/deliveries/bulk-sending.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { actor } from '../../support/helpers.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { rowsOf } from '../settings/setup.ts';
import { addContacts, startSequenceApp } from './setup.ts';

const COUNT = LEAST_IN_FLIGHT + 20;

/** A sequence of which LEAST_IN_FLIGHT mails are being sent to a relay that does not answer, and 20 wait. */
async function startWaiting(fields: Record<string, unknown> = {}) {
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
  await on.template('later');
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  const steps = [
    { key: 'a', template: 'hello' },
    { key: 'b', template: 'later', delay_hours: 100, is_final: true },
  ];
  const id = await on.active(list, steps, fields);
  await on.enroll(id);
  const sending = { status: 'sending', n: LEAST_IN_FLIGHT };
  await until(() => Bun.deepEquals(statuses(), [{ status: 'queued', n: 20 }, sending]));
  const waiting = $client
    .query<{ to_email: string }, []>("SELECT to_email FROM emails WHERE status = 'queued'")
    .all()
    .map(({ to_email }) => to_email);
  const answer = async () => {
    delete sink.behavior.hang;
    for (const reply of sink.unanswered.splice(0)) reply();
    on.app.app.engine.wake();
    await on.app.app.engine.whenIdle();
    return new Set(sink.mails.flatMap(({ envelope }) => envelope.to));
  };
  const post = async (verb: string) =>
    expect((await on.call('POST', `/email-sequences/${id}/${verb}`)).status).toBe(200);
  return { on, sink, $client, list, id, sending, statuses, waiting, answer, post };
}

test('a pause holds what waits for the relay until it is resumed', async () => {
  const { sink, statuses, waiting, answer, post, sending } = await startWaiting();
  await post('pause');
  expect(statuses()).toEqual([{ status: 'queued', n: 20 }, sending]);
  const got = await answer();
  expect([got.size, waiting.some((to) => got.has(to))]).toEqual([COUNT - 20, false]);
  expect(statuses()).toEqual([
    { status: 'queued', n: 20 },
    { status: 'sent', n: COUNT - 20 },
  ]);
  await post('resume');
  expect((await answer()).size).toBe(COUNT);
  expect(statuses()).toEqual([{ status: 'sent', n: COUNT }]);
  await sink.stop();
});

test('what is held says so, and leaves in the window alone where its sequence is resumed outside it', async () => {
  const { on, sink, waiting, answer, post, $client } = await startWaiting();
  await post('pause');
  await answer();
  const [held] = $client.query<{ id: string }, []>("SELECT id FROM emails WHERE status = 'queued'").all();
  const { story } = on.app.services.deliveries.explain(held?.id ?? '');
  expect(story.at(-1)).toBe('Next: it waits until its sequence is resumed.');

  const hour = new Date(on.app.clock.now()).getUTCHours();
  const at = (offset: number) => `${String((hour + offset) % 24).padStart(2, '0')}:00`;
  await on.call('PATCH', '/email-marketing/settings', { send_window_start: at(3), send_window_end: at(5) });
  await post('resume');
  const before = await answer();
  expect(waiting.filter((to) => before.has(to))).toEqual([]);
  on.app.clock.advance(3 * 3_600_000);
  expect((await answer()).size).toBe(COUNT);
  await sink.stop();
});

test('what follows a mail that a pause held counts from its sending', async () => {
  const { on, sink, id, waiting, answer, post } = await startWaiting();
  const [held = ''] = waiting;
  await post('pause');
  await answer();
  on.app.clock.advance(150 * 3_600_000);
  await post('resume');
  await answer();
  expect((await on.got(held)).length).toBe(1);
  const next_at = String((await on.enrollment(id, held))?.next_at);
  expect(Date.parse(next_at)).toBe(on.app.clock.now() + 100 * 3_600_000);
  // The others got the first one before, so that the second was due.
  expect(sink.mails).toHaveLength(COUNT + COUNT - 20);
  await sink.stop();
});

test('a mail that is queued again while its sequence is paused leaves once it is resumed', async () => {
  const { on, sink, $client, waiting, answer, post } = await startWaiting();
  const [failed = ''] = waiting;
  sink.behavior.rcpt = { [failed]: { code: 554, message: '5.7.1 Not from you' } };
  expect((await answer()).size).toBe(COUNT - 1);
  await post('pause');
  delete sink.behavior.rcpt;
  const idOf = "SELECT id FROM emails WHERE status = 'failed'";
  const [{ id = '' } = {}] = $client.query<{ id: string }, []>(idOf).all();
  await on.app.services.deliveries.requeue(actor, [id]);
  expect((await answer()).size).toBe(COUNT - 1);
  await post('resume');
  expect((await answer()).has(failed)).toBe(true);
  await sink.stop();
});

test('a mail that failed is not queued again for whoever is to get nothing more, and stays as it was', async () => {
  const { on, sink, $client, list, waiting, answer } = await startWaiting();
  const [failed = ''] = waiting;
  sink.behavior.rcpt = { [failed]: { code: 554, message: '5.7.1 Not from you' } };
  await answer();
  const found = () => $client.query<{ id: string }, []>("SELECT * FROM emails WHERE status = 'failed'").all();
  const before = found();
  const [contact] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${failed}`));
  await on.call('POST', `/email-contacts/${contact?.id}/unsubscribe`);
  const [{ id = '' } = {}] = before;
  expect(await on.app.services.deliveries.requeue(actor, [id])).toEqual([
    { id, refusal: 'its recipient is to get nothing more of its sequence or broadcast' },
  ]);
  expect(found()).toEqual(before);
  await sink.stop();
});

test('an event also takes back a last mail that waits, at whose end the enrollment would be complete', async () => {
  const { on, sink, id, list, waiting, answer, $client } = await startWaiting({
    exit_events: ['paid'],
    steps: [{ key: 'a', template: 'hello', is_final: true }],
  });
  const [email = ''] = waiting;
  expect(await on.enrollment(id, email)).toMatchObject({ state: 'active', next_at: null });
  const sending = "SELECT to_email FROM emails WHERE status = 'sending' LIMIT 1";
  const [{ to_email: in_hand = '' } = {}] = $client.query<{ to_email: string }, []>(sending).all();
  sink.behavior.rcpt = { [in_hand]: { code: 451, message: '4.2.0 Later' } };
  for (const who of [email, in_hand])
    await on.call('POST', '/email-contacts/events', { email: who, list, event: 'paid' });
  await answer();
  delete sink.behavior.rcpt;
  on.app.clock.advance(3_600_000);
  const got = await answer();
  expect([got.has(email), got.has(in_hand), got.size]).toEqual([false, false, COUNT - 2]);
  expect(await on.enrollment(id, email)).toMatchObject({ state: 'exited', exit_reason: 'event' });
  // Whoever has it already has completed the sequence.
  const other = [...got].at(-1) ?? '';
  await on.call('POST', '/email-contacts/events', { email: other, list, event: 'paid' });
  expect(await on.enrollment(id, other)).toMatchObject({ state: 'completed' });
  await sink.stop();
});

test('the end of a sequence takes back what waits for the relay', async () => {
  const { sink, statuses, answer, post } = await startWaiting();
  await post('finish');
  expect((await answer()).size).toBe(COUNT - 20);
  expect(statuses()).toEqual([
    { status: 'canceled', n: 20 },
    { status: 'sent', n: COUNT - 20 },
  ]);
  await sink.stop();
});

test('an event that ends an enrollment takes back its mail that waits', async () => {
  const { on, sink, list, waiting, answer } = await startWaiting({ exit_events: ['paid'] });
  const [email] = waiting;
  const event = { email, list, event: 'paid' };
  expect((await on.call('POST', '/email-contacts/events', event)).status).toBe(201);
  const got = await answer();
  expect([got.size, got.has(String(email))]).toEqual([COUNT - 1, false]);
  await sink.stop();
});

test('a mail that was accepted does not leave any more once its recipient has unsubscribed or was suppressed', async () => {
  const { on, sink, $client, list, id, sending, statuses, waiting, answer } = await startWaiting();
  const [left = '', suppressed = ''] = waiting;
  const [contact] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${left}`));
  await on.call('POST', `/email-contacts/${contact?.id}/unsubscribe`);
  await on.call('POST', '/email-suppressions', { email: suppressed });
  expect(statuses()).toEqual([{ status: 'canceled', n: 2 }, { status: 'queued', n: 18 }, sending]);

  const got = await answer();
  expect(statuses()).toEqual([
    { status: 'canceled', n: 2 },
    { status: 'sent', n: COUNT - 2 },
  ]);
  expect([got.size, got.has(left), got.has(suppressed)]).toEqual([COUNT - 2, false, false]);
  const { body } = await on.call('GET', `/email-sequences/${id}`);
  // Nobody left over a mail that they never got.
  expect(body.data).toMatchObject({ stats: { sent: COUNT - 2, exited: 2, unsubscribed: 0 } });
  const taken_back = $client
    .query<{ id: string }, []>("SELECT id FROM emails WHERE status = 'canceled'")
    .get();
  const { story } = on.app.services.deliveries.explain(taken_back?.id ?? '');
  expect(story.slice(-2)).toEqual([
    expect.stringMatching(/^Its status is canceled since .* Its recipient is to get nothing more\.$/),
    'Next: nothing more.',
  ]);
  // Their places in the mailbox's day are free again.
  expect($client.query('SELECT sum(n) AS n FROM mailbox_usage').get()).toEqual({ n: COUNT - 2 });
  await sink.stop();
});

/** The same, and two of those in the relay's hands, which it will take later only. */
async function startDeferring(fields: Record<string, unknown> = {}) {
  const waiting = await startWaiting(fields);
  const { on, sink, $client, answer } = waiting;
  const [left = '', stays = ''] = $client
    .query<{ to_email: string }, []>("SELECT to_email FROM emails WHERE status = 'sending' LIMIT 2")
    .all()
    .map(({ to_email }) => to_email);
  const later = { code: 451, message: '4.2.0 Later' };
  sink.behavior.rcpt = { [left]: later, [stays]: later };
  /** Whom the relay has taken a mail for once it takes those two, and their time has come. */
  const retry = async () => {
    delete sink.behavior.rcpt;
    on.app.clock.advance(3_600_000);
    return answer();
  };
  const statusOf = (email: string) =>
    $client.query<{ status: string }, [string]>('SELECT status FROM emails WHERE to_email = ?').get(email)
      ?.status;
  return { ...waiting, left, stays, retry, statusOf };
}

test('a pause also holds what was in the hands of the relay, which did not take it; also over a clock that is set back', async () => {
  const { on, $client, sink, left, stays, answer, retry, statusOf, post } = await startDeferring();
  await post('pause');
  expect((await answer()).size).toBe(COUNT - 22);
  expect((await retry()).size).toBe(COUNT - 22);
  expect([statusOf(left), statusOf(stays)]).toEqual(['queued', 'queued']);
  on.app.clock.advance(-600_000);
  await answer();
  const held = $client.query<{ id: string }, [string]>('SELECT id FROM emails WHERE to_email = ?').get(left);
  expect(on.app.services.deliveries.explain(held?.id ?? '').story.at(-1)).toContain(
    'waits until its sequence is resumed',
  );
  await post('resume');
  expect((await answer()).size).toBe(COUNT);
  expect(sink.mails.filter(({ envelope }) => envelope.to[0] === left)).toHaveLength(1);
  await sink.stop();
});

for (const [how, leave] of [
  [
    'has unsubscribed',
    async ({ on, list }, email) => {
      const [contact] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`));
      await on.call('POST', `/email-contacts/${contact?.id}/unsubscribe`);
    },
  ],
  ['was suppressed', ({ on }, email) => on.call('POST', '/email-suppressions', { email })],
  [
    'has done what ends the enrollment',
    ({ on, list }, email) => on.call('POST', '/email-contacts/events', { email, list, event: 'paid' }),
  ],
] satisfies [string, (on: Awaited<ReturnType<typeof startDeferring>>, email: string) => Promise<unknown>][])
  test(`a mail that the relay would take later only is not tried again once its recipient ${how}`, async () => {
    const started = await startDeferring({ exit_events: ['paid'] });
    const { left, stays, sink, answer, retry, statusOf } = started;
    await leave(started, left);
    await answer();
    expect([statusOf(left), statusOf(stays)]).toEqual(['queued', 'queued']);
    const got = await retry();
    expect([got.has(left), got.has(stays), got.size]).toEqual([false, true, COUNT - 1]);
    expect([statusOf(left), statusOf(stays)]).toEqual(['canceled', 'sent']);
    await sink.stop();
  });

test('the end of a sequence also takes back what the relay would take later only', async () => {
  const { left, stays, sink, answer, retry, statusOf, post } = await startDeferring();
  await post('finish');
  await answer();
  expect((await retry()).size).toBe(COUNT - 22);
  expect([statusOf(left), statusOf(stays)]).toEqual(['canceled', 'canceled']);
  await sink.stop();
});
