/** Clients of php-fpm's kind: twenty at a time, each of which connects anew for every mail. Nothing of them stays. */
import { heapStats } from 'bun:jsc';
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { SubmissionServer } from '../../../src/mail/submission/server.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { addDomain } from '../emails/setup.ts';
import { authPlain, GREETING, handIn, messageFrom, portOf, RawClient, startTaking } from './setup.ts';

const CLIENTS = 20;
const FROM = 'hello@shop.example.com';
/** What a connection that stayed takes at the least: some 20 KiB. What is compiled and cached meanwhile was 0.4 KiB for each. */
const KEPT_CONNECTION_BYTES = 4 * 1024;

/** Each of the clients hands in so many mails, over a connection for each; returns how many that were. */
async function visit(port: number, key: string, each: number): Promise<number> {
  const visits = Array.from({ length: CLIENTS }, async () => {
    for (let n = 0; n < each; n += 1) {
      const client = await RawClient.connect(port);
      expect(await client.sayAll(GREETING, authPlain(key))).toStartWith('235 ');
      expect(await handIn(client, messageFrom(FROM))).toStartWith('250 ');
      expect(await client.say('QUIT')).toStartWith('221 ');
      await client.over();
      client.close();
    }
  });
  await Promise.all(visits);
  return CLIENTS * each;
}

const countDescriptors = (): number => readdirSync('/proc/self/fd').length;

test('of a server that takes their mail no connection and no descriptor stays', async () => {
  const on = await startTaking();
  await addDomain(on.app, 'shop.example.com', null, { is_default: true });
  const key = await on.project.key({ can_send_emails: true, rate_limit_per_minute: 100_000 });
  const { submission, database } = on.app.services;
  const rest = async (): Promise<void> => {
    await on.settle();
    await until(() => submission.measures()?.connections === 0);
  };
  let mails = await visit(portOf(on), key, 2);
  await rest();
  const before = countDescriptors();
  mails += await visit(portOf(on), key, 8);
  await rest();
  await until(() => countDescriptors() <= before);
  // Its thread tells of them a little later.
  await until(() => submission.measures()?.taken === mails);
  expect(submission.measures()).toMatchObject({ taken: mails, put_off: 0, refused: 0, failed_sign_ins: 0 });
  const sent = "SELECT count(*) AS n FROM emails WHERE status = 'sent'";
  expect(database.read.$client.query<{ n: number }, []>(sent).get()?.n).toBe(mails);
}, 120_000);

/** Timers and sockets of this process, those of other tests among them, without what is to be collected. */
function countKept(): { timers: number; sockets: number } {
  Bun.gc(true);
  const { Timeout: timers = 0, TCPSocket: sockets = 0 } = heapStats().objectTypeCounts;
  return { timers, sockets };
}

test('in its thread no timer, no socket and no memory stays', async () => {
  const settings = {
    ...{ name: 'mail.example.com', host: '127.0.0.1', port: 0, tls_port: null, plain_from: [], pair: null },
    ...{ max_bytes: 1_000_000, data_dir: makeTempDir() },
  };
  // The main thread, which says yes to all, and that each message was taken before: its file goes.
  const server = new SubmissionServer(settings, async ({ op }) => ({
    ok: true,
    taken: op === 'take' ? { id: '01ARZ3NDEKTSV4RRFFQ69G5FAV', is_kept: false } : null,
  }));
  const { port } = await server.start();
  const others = countKept();
  /** The heap once what visits left is collected, which takes some turns; throws where it never is. */
  const rest = async (): Promise<number> => {
    await until(() => {
      const { timers, sockets } = countKept();
      const is_gone = timers < others.timers + CLIENTS && sockets < others.sockets + CLIENTS;
      return server.measures.connections === 0 && is_gone;
    });
    return heapStats().heapSize;
  };
  await visit(port ?? 0, 'key', 15);
  const before = await rest();
  const visits = await visit(port ?? 0, 'key', 15);
  expect(((await rest()) - before) / visits).toBeLessThan(KEPT_CONNECTION_BYTES);
  await server.stop(0);
}, 120_000);
