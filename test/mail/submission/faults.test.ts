/** What the SMTP server says where the server can't take a message: as it starts, as it stops, without a disk or a mailbox. */
import { describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Answer } from '../../../src/mail/submission/protocol.ts';
import { SubmissionThread } from '../../../src/mail/submission/thread.ts';
import { captureLog } from '../../support/captured-log.ts';
import { actor, startTestApp } from '../../support/helpers.ts';
import { SERVER_CERTIFICATES } from '../../support/smtp-certificates.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { addDomain, addMailbox, senderOf } from '../emails/setup.ts';
import {
  authPlain,
  GREETING,
  handIn,
  messageFrom,
  portOf,
  RawClient,
  signedIn,
  startTaking,
  storedFiles,
} from './setup.ts';

const FROM = 'hello@shop.example.com';
const TAKEN = /^250 2\.0\.0 queued as [0-9A-Z]{26}$/;

describe('a start', () => {
  const dir = makeTempDir();
  const cert = join(dir, 'cert.pem');
  const key = join(dir, 'key.pem');
  const other = join(dir, 'other.pem');
  writeFileSync(cert, SERVER_CERTIFICATES.localhost.cert);
  writeFileSync(key, SERVER_CERTIFICATES.localhost.key);
  writeFileSync(other, SERVER_CERTIFICATES.elsewhere.key);

  test.each([
    [
      'a certificate that is not there',
      '/none',
      key,
      "SATCHEL_SMTP_TLS_CERT names a file that can't be read",
    ],
    ['a key that is not there', cert, '/none', "SATCHEL_SMTP_TLS_KEY names a file that can't be read"],
    [
      'a key as its certificate',
      key,
      key,
      'SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY are no certificate',
    ],
    ['the key of another', cert, other, 'SATCHEL_SMTP_TLS_CERT and SATCHEL_SMTP_TLS_KEY are no certificate'],
  ])(
    'with %s ends with the name of the setting',
    async (_what, SATCHEL_SMTP_TLS_CERT, SATCHEL_SMTP_TLS_KEY, message) => {
      const env = { SATCHEL_SMTPS_PORT: '0', SATCHEL_SMTP_TLS_CERT, SATCHEL_SMTP_TLS_KEY };
      await expect(startTaking({ env })).rejects.toThrow(message);
    },
  );

  test('at a port that another has ends with the name of the setting', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const address = taken.address();
    const port = typeof address === 'object' ? address?.port : null;
    await expect(startTaking({ env: { SATCHEL_SMTP_PORT: String(port) } })).rejects.toThrow(
      /^No SMTP server could be started at 127\.0\.0\.1: .*EADDRINUSE.*SATCHEL_SMTP_PORT/,
    );
    taken.close();
  });
});

test('a thread that ends is started again at the same port, and answers to what the one before asked are not for it', async () => {
  const workers: Worker[] = [];
  const answers: ((answer: Answer) => void)[] = [];
  const { logger } = captureLog(new TestClock());
  const thread = new SubmissionThread(
    {
      ...{ name: 'localhost', host: '127.0.0.1', port: 0, tls_port: null, plain_from: [], pair: null },
      ...{ max_bytes: 1_000_000, data_dir: makeTempDir() },
    },
    {
      logger,
      answer: () => new Promise((resolve) => answers.push(resolve)),
      startWorker() {
        const url = new URL('../../../src/mail/submission/submission.worker.ts', import.meta.url);
        const worker = new Worker(url);
        workers.push(worker);
        return worker;
      },
    },
  );
  const { port } = await thread.start();
  const before = await RawClient.connect(port ?? 0);
  await before.say(GREETING);
  before.write(`${authPlain('good')}\r\n`);
  await until(() => answers.length === 1);
  workers[0]?.terminate();
  await before.over();
  let client = await RawClient.connect(port ?? 0);
  while (client.is_over) client = await RawClient.connect(port ?? 0);
  await client.say(GREETING);
  client.write(`${authPlain('bad')}\r\n`);
  await until(() => answers.length === 2);
  answers[0]?.({ ok: true, taken: null });
  answers[1]?.({ ok: false, reply: { code: 535, text: '5.7.8 No.' } });
  expect(await client.reply()).toBe('535 5.7.8 No.');
  client.close();
  await thread.stop(0);
  expect((await RawClient.connect(port ?? 0)).is_over).toBe(true);
});

test('a stop takes nothing new, and what was on its way comes to its end, once', async () => {
  const on = await startTaking();
  await addDomain(on.app, 'shop.example.com', null, { is_default: true });
  const idle = await signedIn(portOf(on), on.key);
  const busy = await signedIn(portOf(on), on.key);
  await busy.sayAll('MAIL FROM:<>', 'RCPT TO:<ada@example.org>', 'DATA');
  const message = messageFrom(FROM);
  busy.write(message.slice(0, 20));
  const stopped = on.app.stop();
  expect(await idle.reply()).toStartWith('421 4.3.2 ');
  await idle.over();
  busy.write(message.slice(20));
  const reply = await busy.say('.');
  expect(reply).toMatch(TAKEN);
  expect(await busy.reply()).toStartWith('421 4.3.2 ');
  await stopped;
  const again = await startTestApp({ data_dir: on.app.data_dir });
  const { log, settle } = senderOf(again, on.project, on.key);
  await settle();
  expect(await log(reply.slice(-26))).toMatchObject({
    status: 'sent',
    source: 'smtp',
    to: 'ada@example.org',
  });
});

test('a mailbox that is paused, and a file that is gone, before the mail is in the log: nothing is said to be taken, or kept', async () => {
  const on = await startTaking();
  await addDomain(on.app, 'shop.example.com', null, { is_default: true });
  await addMailbox(on.app, 'tired@shop.example.com', null);
  const client = await signedIn(portOf(on), on.key);
  const { mailboxes, database, blobs, internal_objects } = on.app.services;
  const setStatus = (status: 'active' | 'paused') =>
    mailboxes.setStatus(actor, 'tired@shop.example.com', status);
  const keep = internal_objects.keep.bind(internal_objects);
  const message = messageFrom('tired@shop.example.com');
  const count = () =>
    database.read.$client
      .query('SELECT (SELECT count(*) FROM emails) + (SELECT count(*) FROM objects) AS n')
      .get();
  for (const [meanwhile, reply] of [
    [() => setStatus('paused'), '550 5.7.1 '],
    [(public_id: string) => blobs.remove(public_id), '451 4.3.2 '],
  ] as const) {
    internal_objects.keep = async (files, within) => {
      await meanwhile(files[0]?.public_id ?? '');
      await keep(files, within);
    };
    expect(await handIn(client, message)).toStartWith(reply);
    expect([count(), storedFiles(on.app.data_dir)]).toEqual([{ n: 0 }, []]);
    await setStatus('active');
  }
  internal_objects.keep = keep;
  expect(await handIn(client, message)).toMatch(TAKEN);
  expect(storedFiles(on.app.data_dir)).toHaveLength(1);
  client.close();
});
