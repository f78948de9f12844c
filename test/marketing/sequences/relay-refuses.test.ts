/** A sequence pauses by itself when relays refuse what comes from our mailbox, before it has used up its people. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { REFUSAL_WINDOW_MAILS, REFUSALS_TO_PAUSE } from '../../../src/limits.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { run } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { dataOf } from '../settings/setup.ts';
import { addContacts, type SequenceApp, startSequenceApp } from './setup.ts';

let on: SequenceApp;
let sink: SmtpSink;
let n = 0;

beforeAll(async () => {
  sink = await startSmtpSink();
  on = await startSequenceApp();
  const relay = parseRelay(`smtp://127.0.0.1:${sink.port}`);
  const of = { daily_limit: null, return_path: null, for_transactional: false, for_marketing: true };
  await on.app.services.mailboxes.add(actor, { address: 'out@news.example.com', relay, ...of });
  await on.call('PATCH', '/email-marketing/settings', { accounts: ['out@news.example.com'] });
  for (const slug of ['hello', 'bye']) await on.template(slug);
});
afterAll(() => sink.stop());
beforeEach(() => {
  sink.behavior = {};
});

const REFUSAL = { code: 550, message: 'JunkMail rejected - is in an RBL' };
const refuseAll = (): void => {
  sink.behavior = { sender: { like: /./, at: 'rcpt', reply: REFUSAL } };
};

/** A sequence of one mail with so many people in it. */
async function sequenceOf(count: number): Promise<{ id: string; name: string }> {
  const name = `r${n++}-`;
  const list = await on.list();
  await addContacts(on, list, { name, count });
  const id = await on.active(list, [{ key: 'a', template: 'hello', is_final: true }]);
  return { id, name };
}

const show = async (id: string) => dataOf(await on.call('GET', `/email-sequences/${id}`));
const count = (sql: string): number =>
  Number(on.app.services.database.read.$client.query<{ n: number }, []>(sql).get()?.n);
const statuses = (name: string, status: string): number =>
  count(`SELECT count(*) AS n FROM emails WHERE to_email LIKE '${name}%' AND status = '${status}'`);

async function reportRefused(name: string, how_many: number): Promise<void> {
  const { database, deliveries } = on.app.services;
  const sent = database.read.$client
    .query<{ id: string }, []>(
      `SELECT id FROM emails WHERE to_email LIKE '${name}%' AND status = 'sent' ORDER BY id`,
    )
    .all();
  for (const { id } of sent.slice(0, how_many))
    await database.write((tx) =>
      deliveries.report(tx, id, 'refused', { words: '554 5.7.1 Blocked', smtp_code: 554 }),
    );
}

test('after twenty refusals of few mails it pauses; nobody is suppressed, and the rest waits for the resume', async () => {
  refuseAll();
  const { id, name } = await sequenceOf(60);
  await on.enroll(id);
  await on.pass();
  expect(await show(id)).toMatchObject({ status: 'paused', pause_reason: 'relay_refuses' });
  const failed = statuses(name, 'failed');
  // Those that were in the relay's hands when it paused.
  expect(failed).toBeGreaterThanOrEqual(REFUSALS_TO_PAUSE);
  expect(failed).toBeLessThan(60);
  expect(count(`SELECT count(*) AS n FROM contacts WHERE email LIKE '${name}%' AND status <> 'active'`)).toBe(
    0,
  );
  expect(count('SELECT count(*) AS n FROM suppressions')).toBe(0);
  const said = (await show(id)).pause_words;
  expect(said).toMatch(/^5\d\d /);
  const words = `were refused because of the mailbox that they came from, not because of whom they were to. The last was told: ${said}`;
  expect((await run(on.app.data_dir, 'sequence', 'why', id)).stdout).toContain(words);
  const { findings } = JSON.parse((await run(on.app.data_dir, 'doctor', '--json')).stdout);
  const paused = findings.filter(({ check }: { check: string }) => check === 'sequences');
  expect(paused).toMatchObject([{ status: 'warning', message: expect.stringContaining(words) }]);
  sink.behavior = {};
  dataOf(await on.call('POST', `/email-sequences/${id}/resume`));
  await on.pass();
  expect(await show(id)).toMatchObject({ status: 'active', pause_reason: null, pause_words: null });
  expect(statuses(name, 'sent')).toBe(60 - failed);
  // What failed is tried again by hand, and counts as what it comes to then.
  await on.app.services.deliveries.requeueFailed(actor, on.app.clock.now() - 60_000);
  await on.pass();
  expect(statuses(name, 'sent')).toBe(60);
  expect(count('SELECT count(*) AS n FROM sequence_mails WHERE refused_at IS NOT NULL')).toBe(0);
}, 60_000);

test('nineteen pause nothing, wherever they are told, and it begins afresh at resume', async () => {
  const { id, name } = await sequenceOf(50);
  await on.enroll(id);
  await on.pass();
  expect(statuses(name, 'sent')).toBe(50);
  await reportRefused(name, REFUSALS_TO_PAUSE - 1);
  expect(await show(id)).toMatchObject({ status: 'active' });
  dataOf(await on.call('POST', `/email-sequences/${id}/pause`));
  on.app.clock.advance(1_000);
  dataOf(await on.call('POST', `/email-sequences/${id}/resume`));
  await reportRefused(name, REFUSALS_TO_PAUSE + 5);
  expect(await show(id)).toMatchObject({ status: 'active' });
}, 60_000);

test('twenty that come back so in reports pause it, the log keeps saying sent', async () => {
  const { id, name } = await sequenceOf(50);
  await on.enroll(id);
  await on.pass();
  await reportRefused(name, REFUSALS_TO_PAUSE);
  expect(await show(id)).toMatchObject({
    status: 'paused',
    pause_reason: 'relay_refuses',
    pause_words: '554 5.7.1 Blocked',
  });
  expect(statuses(name, 'sent')).toBe(50);
}, 60_000);

test('only the last hundred that ended count', async () => {
  const { id, name } = await sequenceOf(REFUSAL_WINDOW_MAILS + 10);
  await on.enroll(id);
  await on.pass();
  await on.app.services.database.write((tx) => {
    // The first of them ended before all others.
    tx.$client.run(
      `UPDATE sequence_mails SET ended_at = ended_at + 1000 * (SELECT count(*) FROM sequence_mails AS b
         WHERE b.email_id < sequence_mails.email_id AND b.sequence_id = sequence_mails.sequence_id)
       WHERE sequence_id = (SELECT id FROM sequences WHERE public_id = ?)`,
      [id],
    );
  });
  await reportRefused(name, REFUSALS_TO_PAUSE + 9);
  expect(await show(id)).toMatchObject({ status: 'active' });
  await reportRefused(name, REFUSALS_TO_PAUSE + 10);
  expect(await show(id)).toMatchObject({ status: 'paused', pause_reason: 'relay_refuses' });
}, 60_000);
