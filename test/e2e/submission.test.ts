/** Mail by SMTP to the compiled executable: kill -9 and a stop at each step of a message, a full disk, a port that another has. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { authPlain, GREETING, handIn, messageFrom, RawClient, signedIn } from '../mail/submission/setup.ts';
import { type SmtpSink, startSmtpSink, subjectOf, waitForSubjects } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { addMailbox, freePort, makeKey, type Server, satchel, startServer, storedFiles } from './binary.ts';
import { canMount, fillDisk, freeDisk, startOnSmallDisk } from './small-disk.ts';

setDefaultTimeout(120_000);
const FROM = 'shop@mail.example.com';
const TAKEN = /^250 2\.0\.0 queued as /;
const ROUNDS = 3;
const SENDERS = 6;

const PORT = freePort();
const ENV = { SATCHEL_SMTP_PORT: PORT };
const port = Number(PORT);

let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
});
afterAll(() => sink.stop());

/** Says what a message takes up to a step, and no more. */
const ENVELOPE = ['MAIL FROM:<>', 'RCPT TO:<ann@example.org>', 'DATA'];
async function standAt(step: number, key: string): Promise<RawClient> {
  const client = await RawClient.connect(port);
  const said = [GREETING, authPlain(key), ...ENVELOPE].slice(0, step);
  if (said.length > 0) expect(await client.sayAll(...said)).toMatch(/^[23]/);
  const message = messageFrom(FROM, { subject: `unfinished-${step}`, body: 'x'.repeat(900) });
  if (step === 6) client.write(message.slice(0, 60));
  if (step === 7) client.write(`${message}\r\n`);
  if (step === 8) client.write(`${message}\r\n.`);
  return client;
}
const STEPS = Array.from({ length: 9 }, (_, step) => step);

/** Hands in one message after the other until the server goes away. Those that it said it has are noted. */
async function keepHandingIn(key: string, name: string, acknowledged: Set<string>): Promise<void> {
  const client = await signedIn(port, key).catch(() => null);
  for (let n = 0; client; n += 1) {
    const subject = `${name}-${n}`;
    const reply = await handIn(client, messageFrom(FROM, { subject })).catch(() => '');
    if (TAKEN.test(reply)) acknowledged.add(subject);
    else return client.close();
  }
}

function rowsOf(dir: string, query: string): string[] {
  const db = new Database(join(dir, 'satchel.db'), { readonly: true });
  try {
    return db
      .query(query)
      .values()
      .map(([value]) => String(value));
  } finally {
    db.close();
  }
}

test('kill -9 at each step of a message: what got 250 is sent, what did not leaves nothing, and a stop lets nobody wait', async () => {
  const dir = makeTempDir();
  let server: Server = await startServer(dir, ENV);
  const key = await makeKey(dir);
  await addMailbox(dir, sink.port);
  const acknowledged = new Set<string>();
  let in_flight_at_kills = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const standing = await Promise.all(STEPS.map((step) => standAt(step, key)));
    const enough = acknowledged.size + 20 * (round + 1);
    const senders = Array.from({ length: SENDERS }, (_, n) =>
      keepHandingIn(key, `mail-${round}-${n}`, acknowledged),
    );
    await until(() => acknowledged.size >= enough);
    await server.end('SIGKILL');
    await Promise.all(senders);
    for (const client of standing) client.close();
    in_flight_at_kills += rowsOf(dir, "SELECT id FROM jobs WHERE status = 'processing'").length;
    server = await startServer(dir, ENV);
  }
  await waitForSubjects(sink, acknowledged);
  const subjects = sink.mails.map(subjectOf);
  expect(subjects.filter((subject) => subject.startsWith('unfinished'))).toEqual([]);
  // Of what was in their hands nobody was told; that it went out is harmless.
  expect(new Set(subjects).size - acknowledged.size).toBeLessThanOrEqual(ROUNDS * SENDERS);
  expect(subjects.length - new Set(subjects).size).toBeLessThanOrEqual(in_flight_at_kills);
  const rows = () => rowsOf(dir, 'SELECT public_id FROM objects ORDER BY public_id');
  await until(() => storedFiles(dir).join() === rows().join());

  const before = readdirSync(`/proc/${server.pid}/fd`).length;
  const idle = await Promise.all([0, 1, 2, 3, 4].map((step) => standAt(step, key)));
  const busy = await standAt(7, key);
  server.signal('SIGTERM');
  for (const client of idle) expect(await client.reply()).toStartWith('421 4.3.2 ');
  expect(readdirSync(`/proc/${server.pid}/fd`).length).toBeLessThan(before + STEPS.length);
  expect(await busy.say('.')).toMatch(TAKEN);
  expect(await server.exited).toBe(0);
  server = await startServer(dir, ENV);
  await waitForSubjects(sink, new Set(['unfinished-7']));
  expect(sink.mails.map(subjectOf).filter((subject) => subject === 'unfinished-7')).toHaveLength(1);
  expect(await server.end('SIGTERM')).toBe(0);
});

test('kill -9 as apps send by the API of Resend: what got its id is sent, once, and what did not leaves nothing', async () => {
  const dir = makeTempDir();
  let server: Server = await startServer(dir);
  const key = await makeKey(dir);
  await addMailbox(dir, sink.port);
  const acknowledged = new Set<string>();
  const sendOn = async (name: string): Promise<void> => {
    for (let n = 0; ; n += 1) {
      const subject = `${name}-${n}`;
      const response = await fetch(`${server.url}/resend/emails`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}` },
        body: JSON.stringify({ from: FROM, to: ['ann@example.org', 'bob@example.org'], subject, text: 'Hi' }),
      }).catch(() => null);
      if (response?.status !== 200) return;
      if ((await response.text().catch(() => '')) !== '') acknowledged.add(subject);
    }
  };
  for (let round = 0; round < ROUNDS; round += 1) {
    const enough = acknowledged.size + 20;
    const senders = Array.from({ length: SENDERS }, (_, n) => sendOn(`app-${round}-${n}`));
    await until(() => acknowledged.size >= enough);
    await server.end('SIGKILL');
    await Promise.all(senders);
    server = await startServer(dir);
  }
  await waitForSubjects(sink, acknowledged);
  const twos = rowsOf(dir, 'SELECT count(*) FROM emails GROUP BY call_id');
  expect(twos.length - acknowledged.size).toBeLessThanOrEqual(ROUNDS * SENDERS);
  expect(new Set(twos)).toEqual(new Set(['2']));
  const rows = () => rowsOf(dir, 'SELECT public_id FROM objects ORDER BY public_id');
  await until(() => storedFiles(dir).join() === rows().join());
  expect(rows()).toEqual(rowsOf(dir, 'SELECT id FROM app_calls ORDER BY id'));
  expect(await server.end('SIGTERM')).toBe(0);
});

test('a port that another has ends the start, which says what to set', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
  const { exit, stderr } = await satchel(['serve', '--port', '0', '--data-dir', makeTempDir()], { env: ENV });
  expect([exit, stderr]).toEqual([
    1,
    expect.stringMatching(/No SMTP server could be started.*SATCHEL_SMTP_PORT/),
  ]);
  taken.close();
});

describe.skipIf(!canMount)('a full disk', () => {
  test('is 452 4.3.1, leaves nothing behind, and heals by itself', async () => {
    const { server, dir, key, addMailbox } = await startOnSmallDisk(ENV);
    await addMailbox(sink.port);
    const client = await signedIn(port, key);
    const large = messageFrom(FROM, { subject: 'large', body: `${'x'.repeat(998)}\r\n`.repeat(4_000) });
    expect(await handIn(client, large)).toMatch(TAKEN);
    await waitForSubjects(sink, new Set(['large']));
    fillDisk(dir);
    for (const message of [large, messageFrom(FROM, { subject: 'small' })])
      expect(await handIn(client, message)).toStartWith('452 4.3.1 ');
    expect(storedFiles(dir)).toHaveLength(1);
    freeDisk(dir);
    await until(async () => TAKEN.test(await handIn(client, messageFrom(FROM, { subject: 'after' }))));
    await waitForSubjects(sink, new Set(['after']));
    expect(sink.mails.map(subjectOf)).not.toContain('small');
    client.close();
    await server.end('SIGTERM');
  });
});
