/** A sequence in the compiled binary, over kill -9: whatever was cut off, each contact gets each step once. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { parseRelay } from '../../src/mail/mailboxes/relay.ts';
import { systemClock, toIso } from '../../src/platform/host/clock.ts';
import { addContacts, startSequenceApp } from '../marketing/sequences/setup.ts';
import { actor } from '../support/helpers.ts';
import { type SmtpSink, startSmtpSink, subjectOf } from '../support/smtp-sink.ts';
import { TestClock } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { startServer } from './binary.ts';

setDefaultTimeout(120_000);
const CONTACTS = 200;
/** Every tenth has no value for a merge field of the second step. */
const FAILING = CONTACTS / 10;
const MAILS = CONTACTS + 2 * (CONTACTS - FAILING);
/** Kills as somebody is enrolled (they come in pieces), and then as so many mails are at the relay: somewhere behind these. */
const KILLS_ENROLLING = [1];
const KILLS_SENDING = [0.001, 0.5].map((part) => Math.ceil(part * MAILS));

/** A directory with an active sequence of three steps that follow at once, and everybody to enroll. */
async function prepare(sink: SmtpSink) {
  const on = await startSequenceApp({ clock: new TestClock(toIso(systemClock.now())) });
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
  });
  const subject = '{{step}}:{{email}}';
  await on.template('plain', { subject });
  await on.template('planned', { subject, body_text: '{{custom.plan}}' });
  const list = await on.list();
  const custom = `CASE WHEN i % 10 = 0 THEN '{}' ELSE '{"plan":"pro"}' END`;
  await addContacts(on, list, { name: 'c', count: CONTACTS, custom });
  const sequence = await on.active(list, [
    { key: 'a', template: 'plain', variables: { step: 'a' } },
    { key: 'b', template: 'planned', variables: { step: 'b' } },
    { key: 'c', template: 'plain', variables: { step: 'c' }, is_final: true },
  ]);
  await on.app.stop();
  return { data_dir: on.app.data_dir, key: on.key, sequence };
}

test('kill -9 while a sequence enrolls, plans and sends skips no step, and repeats only mails in flight', async () => {
  const sink = await startSmtpSink();
  const { data_dir, key, sequence } = await prepare(sink);
  const count = (of: string): number => {
    const db = new Database(join(data_dir, 'satchel.db'), { readonly: true });
    try {
      return Number(db.query(`SELECT count(*) FROM ${of}`).values()[0]?.[0]);
    } finally {
      db.close();
    }
  };
  const call = async (url: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${url}/api/v1/email-sequences/${sequence}${path}`, {
      headers: { 'X-API-Key': key },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });

  for (const enrolled of KILLS_ENROLLING) {
    const server = await startServer(data_dir);
    const asked = call(server.url, '/enroll', { all: true }).catch(() => null);
    await until(() => count('enrollments') >= enrolled);
    await server.end('SIGKILL');
    await asked;
  }
  let in_flight_at_kills = count("emails WHERE status = 'sending'");
  for (const taken of KILLS_SENDING) {
    const server = await startServer(data_dir);
    // What a kill left undone, the same call does.
    if (taken === KILLS_SENDING[0])
      expect((await call(server.url, '/enroll', { all: true })).status).toBe(200);
    await sink.until(() => sink.mails.length >= taken);
    await server.end('SIGKILL');
    in_flight_at_kills += count("emails WHERE status = 'sending'");
  }
  const server = await startServer(data_dir);
  await until(() => count("enrollments WHERE state = 'active'") === 0);
  await until(() => count("emails WHERE status <> 'sent'") === 0);

  const got = sink.mails.map(subjectOf).sort();
  const expected = Array.from({ length: CONTACTS }, (_, n) =>
    (n % 10 === 0 ? ['a'] : ['a', 'b', 'c']).map((step) => `${step}:c${n}@example.com`),
  ).flat();
  expect([...new Set(got)]).toEqual(expected.sort());
  // What was in flight at a kill came twice; no step came before the one ahead of it.
  for (let n = 0; n < CONTACTS; n += 1) {
    const order = sink.mails.map(subjectOf).filter((subject) => subject.endsWith(`:c${n}@example.com`));
    expect(order).toEqual(order.toSorted());
  }
  expect(got.length - MAILS).toBeLessThanOrEqual(in_flight_at_kills);
  expect(count('emails')).toBe(MAILS);
  const ids = sink.mails.map((mail) => /^Message-ID: (\S+)/im.exec(mail.raw.toString())?.[1]);
  expect(new Set(ids).size).toBe(MAILS);
  const { data } = (await (await call(server.url, '')).json()) as {
    data: { stats: object; steps: { key: string; stats: { sent: number } }[] };
  };
  expect(data.stats).toMatchObject({
    ...{ enrolled: CONTACTS, active: 0, exited: 0, failed: FAILING, completed: CONTACTS - FAILING },
    sent: MAILS,
  });
  expect(data.steps.map(({ key: step, stats }) => [step, stats.sent])).toEqual([
    ['a', CONTACTS],
    ['b', CONTACTS - FAILING],
    ['c', CONTACTS - FAILING],
  ]);
  expect(await server.end('SIGTERM')).toBe(0);
  await sink.stop();
});
