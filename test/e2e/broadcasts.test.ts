/** A broadcast in the compiled binary, over kill -9 in each of its states: nobody is left out, and nobody gets it twice. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { parseRelay } from '../../src/mail/mailboxes/relay.ts';
import { systemClock, toIso } from '../../src/platform/host/clock.ts';
import { addContacts, startSequenceApp } from '../marketing/sequences/setup.ts';
import { dataOf } from '../marketing/settings/setup.ts';
import { actor } from '../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { TestClock } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { startServer } from './binary.ts';

setDefaultTimeout(120_000);
const CONTACTS = 400;
/** Every tenth has no value for a merge field. */
const LEFT_OUT = CONTACTS / 10;
const MAILS = CONTACTS - LEFT_OUT;
/** Kills as so many mails are at the relay: somewhere behind these. */
const KILLS = [0.001, 0.1, 0.3, 0.5, 0.8].map((part) => Math.ceil(part * MAILS));
const SOON_MS = 3_000;

/** A directory with two drafts to the same people. */
async function prepare(sink: SmtpSink) {
  const on = await startSequenceApp({ clock: new TestClock(toIso(systemClock.now())) });
  await on.app.services.mailboxes.change(actor, 'hello@news.example.com', {
    relay: parseRelay(`smtp://127.0.0.1:${sink.port}`),
    // So that a kill comes in the middle, and not behind one piece with all of them.
    rate: '150/s',
  });
  await on.template('news', { subject: '{{issue}}', body_text: '{{custom.plan}}' });
  const list = await on.list();
  const custom = `CASE WHEN i % 10 = 0 THEN '{}' ELSE '{"plan":"pro"}' END`;
  await addContacts(on, list, { name: 'c', count: CONTACTS, custom });
  const make = async (issue: string): Promise<string> => {
    const body = { name: issue, list, template: 'news', variables: { issue } };
    return String(dataOf(await on.call('POST', '/email-broadcasts', body), 201).id);
  };
  const [june, july] = [await make('june'), await make('july')];
  await on.app.stop();
  return { data_dir: on.app.data_dir, key: on.key, dns: on.dns.address, june, july };
}

test('kill -9 in each state of a broadcast leaves nobody out, and repeats only mails in flight', async () => {
  const sink = await startSmtpSink();
  const { data_dir, key, dns, june, july } = await prepare(sink);
  const count = (of: string): number => {
    const db = new Database(join(data_dir, 'satchel.db'), { readonly: true });
    try {
      return Number(db.query(`SELECT count(*) FROM ${of}`).values()[0]?.[0]);
    } finally {
      db.close();
    }
  };
  let in_flight = 0;
  let server = await startServer(data_dir, { SATCHEL_DNS_SERVERS: dns });
  const killAndStart = async (): Promise<void> => {
    await server.end('SIGKILL');
    in_flight += count("emails WHERE status = 'sending'");
    server = await startServer(data_dir, { SATCHEL_DNS_SERVERS: dns });
  };
  const show = async (id: string) => (await call('GET', `/${id}`)).data;
  const call = async (
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ data: Record<string, unknown> }> => {
    const response = await fetch(`${server.url}/api/v1/email-broadcasts${path}`, {
      ...{ method, headers: { 'X-API-Key': key } },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (response.status >= 300) throw new Error(await response.text());
    return (await response.json()) as { data: Record<string, unknown> };
  };
  const statusIs = (id: string, status: string): boolean =>
    count(`broadcasts WHERE public_id = '${id}' AND status = '${status}'`) === 1;

  // Scheduled.
  await call('POST', `/${june}/send`, { send_at: toIso(systemClock.now() + SOON_MS) });
  await killAndStart();
  // Sending, and paused in the middle of it.
  for (const taken of KILLS) {
    await sink.until(() => sink.mails.length >= taken);
    await killAndStart();
    if (taken !== KILLS[2]) continue;
    await call('POST', `/${june}/pause`);
    await killAndStart();
    expect(await show(june)).toMatchObject({ status: 'paused', pause_reason: 'manual' });
    await call('POST', `/${june}/resume`);
  }
  await until(() => statusIs(june, 'sent'));
  const got = sink.mails.flatMap(({ envelope }) => envelope.to);
  const expected = Array.from({ length: CONTACTS }, (_, n) => n)
    .filter((n) => n % 10 > 0)
    .map((n) => `c${n}@example.com`);
  expect([...new Set(got)].sort()).toEqual(expected.sort());
  expect(got.length - MAILS).toBeLessThanOrEqual(in_flight);
  const ids = sink.mails.map((mail) => /^Message-ID: (\S+)/im.exec(mail.raw.toString())?.[1]);
  expect(new Set(ids).size).toBe(MAILS);
  expect(await show(june)).toMatchObject({
    ...{
      status: 'sent',
      recipients: CONTACTS,
      left_out: { total: LEFT_OUT, by_reason: { no_value: LEFT_OUT } },
    },
    stats: { sent: MAILS, waiting: 0, lost: 0 },
  });
  // The counters are what the rows say.
  const of_june = `broadcast_recipients WHERE broadcast_id = (SELECT id FROM broadcasts WHERE public_id = '${june}')`;
  expect(count(`${of_june} AND sent_at IS NOT NULL`)).toBe(MAILS);
  expect(count(`${of_june} AND reason = 'no_value'`)).toBe(LEFT_OUT);

  // Cancelled in the middle.
  const before = sink.mails.length;
  await call('POST', `/${july}/send`, {});
  await sink.until(() => sink.mails.length > before);
  await call('POST', `/${july}/cancel`);
  await killAndStart();
  await until(() => count("emails WHERE status IN ('queued', 'sending')") === 0);
  const { status, stats } = await show(july);
  const numbers = stats as { sent: number; waiting: number; lost: number };
  expect([status, numbers.waiting]).toEqual(['cancelled', 0]);
  expect(numbers.sent + numbers.lost).toBe(count('emails') - MAILS);
  expect(sink.mails.length - before).toBeLessThan(MAILS);
  expect(await server.end('SIGTERM')).toBe(0);
  await sink.stop();
});
