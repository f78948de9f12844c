/** A mailbox's rate in the compiled binary, over kill -9: what went before still counts. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { makeKey, satchel, startServer } from './binary.ts';

setDefaultTimeout(120_000);
const RATE = 14;
const MAILS = 60;
const KILLS = [5, 20, 40];

/** The most in any second. */
function most(times: readonly number[]): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 1_000).length));
}

test(`of ${RATE}/s no more go in any second, however often the server is killed`, async () => {
  const sink = await startSmtpSink();
  const dir = makeTempDir();
  let server = await startServer(dir);
  const key = await makeKey(dir, 'read,email');
  await satchel(['domain', 'add', 'mail.example.com', '--trust', '--data-dir', dir]);
  const relay = `smtp://127.0.0.1:${sink.port}`;
  const added = await satchel([
    ...['mailbox', 'add', 'shop@mail.example.com', '--smtp', relay, '--rate', `${RATE}/s`, '--data-dir', dir],
  ]);
  expect(added.stderr).toBe('');
  for (let n = 0; n < MAILS; n += 1) {
    const { status } = await fetch(`${server.url}/api/v1/emails/send`, {
      method: 'POST',
      headers: { 'X-API-Key': key },
      body: JSON.stringify({ to: `n${n}@example.org`, subject: 'Hello', body_text: 'Hi' }),
    });
    expect(status).toBe(202);
  }
  for (const taken of KILLS) {
    await sink.waitForMails(taken);
    await server.end('SIGKILL');
    server = await startServer(dir);
  }
  const recipients = () => new Set(sink.mails.flatMap(({ envelope }) => envelope.to));
  await sink.until(() => recipients().size === MAILS);
  await server.end('SIGTERM');
  const db = new Database(join(dir, 'satchel.db'), { readonly: true });
  const begun = db.query('SELECT started_at FROM email_attempts ORDER BY id').values().flat().map(Number);
  db.close();
  // What was under way at a kill is begun once more: on a busy machine as much as a second may hold.
  expect(begun.length).toBeWithin(MAILS, MAILS + KILLS.length * RATE);
  expect(most(begun)).toBeLessThanOrEqual(RATE);
  await sink.stop();
});
