/** Bulk mail that waits for its mailbox's pace, its window or the disk: none of it leaves too early, and none waits for ever. */
import { afterEach, beforeEach, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { HOUR_MS, toIso } from '../../../src/platform/host/clock.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { addContacts } from '../../marketing/sequences/setup.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { rows } from '../emails/setup.ts';

const COUNT = 10;
const GREYLISTED = { code: 451, message: '4.2.0 Greylisted, try again later' };

let on: BroadcastApp;
let sink: SmtpSink;
beforeEach(async () => {
  on = await startBroadcastApp();
  sink = await startSmtpSink();
  await changeMailbox({ relay: parseRelay(`smtp://127.0.0.1:${sink.port}`) });
});
afterEach(() => sink.stop());

const changeMailbox = (changes: Parameters<typeof on.app.services.mailboxes.change>[2]) =>
  on.app.services.mailboxes.change(actor, 'hello@news.example.com', changes);

/** The id of a mail that waits. */
const waitingId = (): string =>
  on.app.services.database.read.$client
    .query<{ id: string }, []>("SELECT id FROM emails WHERE status = 'queued'")
    .get()?.id ?? '';

/** A broadcast to `COUNT` people, which begins. */
async function send(): Promise<void> {
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  await on.send(await on.broadcast(list));
}

/** Mail may go out from now on for an hour, each day. */
async function openForAnHour(): Promise<void> {
  const hour = new Date(on.app.clock.now()).getUTCHours();
  const at = (hours: number): string => `${String((hour + hours) % 24).padStart(2, '0')}:00`;
  const window = { send_window_start: at(0), send_window_end: at(1) };
  dataOf(await on.call('PATCH', '/email-marketing/settings', window));
}

test('what waits for the pace of its mailbox leaves in the window alone', async () => {
  await changeMailbox({ rate: '4/h' });
  await openForAnHour();
  await send();
  expect(sink.mails.length).toBe(4);
  await on.pass(2);
  expect(sink.mails.length).toBe(4);
  const opens_at = toIso(on.app.clock.now() + 22 * HOUR_MS);
  expect(on.app.services.deliveries.explain(waitingId()).story).toContain(
    `Next: The first attempt comes at ${opens_at}.`,
  );
  await on.pass(22);
  expect(sink.mails.length).toBe(8);
});

test('so does what is tried again', async () => {
  await openForAnHour();
  sink.behavior.data = GREYLISTED;
  await send();
  sink.behavior = {};
  await on.pass(2);
  expect(sink.mails.length).toBe(0);
  await on.pass(22);
  expect(sink.mails.length).toBe(COUNT);
});

test('a rate that is taken away, or a window that is opened, lets it go within a minute', async () => {
  await changeMailbox({ rate: '4/h' });
  await openForAnHour();
  await send();
  await changeMailbox({ rate: null });
  on.app.clock.advance(60_000);
  await on.pass();
  expect(sink.mails.length).toBe(COUNT);
  await on.pass(2);
  await changeMailbox({ rate: '4/h' });
  dataOf(
    await on.call('PATCH', '/email-marketing/settings', { send_window_start: null, send_window_end: null }),
  );
  await send();
  expect(sink.mails.length).toBe(COUNT + 4);
  await openForAnHour();
  await changeMailbox({ rate: null });
  await on.pass(2);
  expect(sink.mails.length).toBe(COUNT + 4);
  dataOf(
    await on.call('PATCH', '/email-marketing/settings', { send_window_start: null, send_window_end: null }),
  );
  on.app.clock.advance(60_000);
  await on.pass();
  expect(sink.mails.length).toBe(2 * COUNT);
});

test('none of it leaves while marketing is switched off', async () => {
  await changeMailbox({ rate: '4/h' });
  await send();
  await changeMailbox({ rate: null });
  dataOf(await on.call('PATCH', '/email-marketing/settings', { enabled: false }));
  await on.pass(1);
  expect(sink.mails.length).toBe(4);
  expect(on.app.services.deliveries.explain(waitingId()).story).toContain(
    'Next: it waits until marketing is enabled in the settings.',
  );
  dataOf(await on.call('PATCH', '/email-marketing/settings', { enabled: true }));
  on.app.clock.advance(60_000);
  await on.pass();
  expect(sink.mails.length).toBe(COUNT);
});

test('a clock that ran ahead and was set back strands none of it', async () => {
  await changeMailbox({ rate: '4/h' });
  await send();
  expect(sink.mails.length).toBe(4);
  await on.pass(-30 * 24);
  await on.app.services.deliveries.mendTimes();
  for (let hours = 0; hours < 2; hours += 1) await on.pass(2);
  expect(sink.mails.length).toBe(COUNT);
});

test('a stop that can not write what the relay has answered leaves it to the next start, as a crash does', async () => {
  const list = await on.list();
  await addContacts(on, list, { name: 'c', count: COUNT });
  sink.behavior.hang = 'rcpt';
  dataOf(await on.post(await on.broadcast(list), 'send'), 202);
  await until(() => sink.unanswered.length === COUNT);
  // The disk is full when the answers come, and no longer when the queue has ended.
  const { database } = on.app.services;
  const { writePiece } = database;
  let refused = 0;
  database.writePiece = () => {
    refused += 1;
    if (refused > 1) database.writePiece = writePiece;
    return Promise.reject(new AppError('unavailable', 'Nothing was stored: the disk is full.'));
  };
  delete sink.behavior.hang;
  for (const reply of sink.unanswered.splice(0)) reply();
  await until(() => refused === 1);
  await on.app.app.stop();
  expect(refused).toBe(2);
  expect(rows(on.app, 'SELECT status, count(*) AS n FROM emails GROUP BY 1')).toEqual([
    { status: 'sending', n: COUNT },
  ]);
  expect(rows(on.app, "SELECT status FROM jobs WHERE type = 'email.bulk'")).toEqual([
    { status: 'processing' },
  ]);
});
