/** What a sequence of 50,000 mails that are due holds up: no urgent mail, and another sequence's no longer than the few that it has planned ahead. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { LANE_CONCURRENCY } from '../../../src/mail/deliveries/attempts.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { MAILS_AHEAD } from '../../../src/marketing/campaign-engine.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink, subjectOf, waitForSubjects } from '../../support/smtp-sink.ts';
import { until } from '../../support/until.ts';
import { addContacts, type SequenceApp, startSequenceApp } from './setup.ts';

setDefaultTimeout(120_000);
const MANY = 50_000;
const FEW = 5;

let on: SequenceApp;
let sink: SmtpSink;

beforeAll(async () => {
  on = await startSequenceApp();
  sink = await startSmtpSink();
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
});
afterAll(() => sink.stop());

/** A sequence of one mail to each of so many contacts, whose subject is `name` and a number. */
async function sequenceFor(name: string, count: number): Promise<string> {
  const list = await on.list();
  await addContacts(on, list, { name, count, custom: `'{"n":' || i || '}'` });
  await on.template(name, { subject: `${name}{{custom.n}}` });
  return on.active(list, [{ key: 'a', template: name, is_final: true }], { max_recipients: MANY });
}

const count = (query: string, ...names: string[]): number =>
  on.app.services.database.read.$client.query<{ n: number }, string[]>(query).get(...names)?.n ?? 0;
const accepted = (name: string): number => count('SELECT count(*) AS n FROM emails WHERE template = ?', name);
/** Jobs of sequences that wait for their next look. */
const jobsAsleep = (): number =>
  count(
    "SELECT count(*) AS n FROM jobs WHERE type = 'sequence.step' AND status = 'pending' AND run_at > ?",
    String(on.app.clock.now()),
  );

test('a sequence of 50,000 due mails lets urgent mail and other sequences through', async () => {
  const many = await sequenceFor('many', MANY);
  const few = await sequenceFor('few', FEW);
  const other = await makeProject(on.app, 'other');
  const key = await other.key({ can_send_emails: true, can_write: true });
  // No mail leaves until all of them wait.
  sink.behavior.hang = 'mail';
  expect(await on.enroll(many)).toMatchObject({ enrolled: MANY });
  await until(() => accepted('many') === MAILS_AHEAD);
  expect(await on.enroll(few)).toMatchObject({ enrolled: FEW });
  await until(() => accepted('few') === FEW);
  const urgent = await on.app.call('POST', '/api/v1/emails/send', {
    key,
    body: { to: 'ann@example.com', subject: 'urgent', body_text: 'Now' },
  });
  expect(urgent.status).toBe(202);
  // However long the relay takes, the sequence plans no more.
  on.app.clock.advance(60_000);
  on.app.app.engine.wake();
  await until(() => jobsAsleep() === 2);
  expect(accepted('many')).toBe(MAILS_AHEAD);

  delete sink.behavior.hang;
  for (const answer of sink.unanswered.splice(0)) answer();
  const few_mails = Array.from({ length: FEW }, (_, n) => `few${n}`);
  await waitForSubjects(sink, ['urgent', ...few_mails]);
  const order = sink.mails.map(subjectOf);
  // Before it are those that were being sent, and at most those taken up with it that were quicker; before the few, the planned.
  expect(order.indexOf('urgent')).toBeLessThan(2 * LANE_CONCURRENCY);
  expect(Math.max(...few_mails.map((subject) => order.indexOf(subject)))).toBeLessThanOrEqual(
    MAILS_AHEAD + LANE_CONCURRENCY + FEW,
  );
  // And then it goes on.
  on.app.clock.advance(1_000);
  on.app.app.engine.wake();
  await until(() => accepted('many') > MAILS_AHEAD);
});
