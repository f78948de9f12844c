/** Inboxes as the compiled binary reads them: over TLS, and over kill -9. */

import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseInbox } from '../../src/mail/inboxes/service.ts';
import { addDomain, addMailbox, type Sender, startSender } from '../mail/emails/setup.ts';
import { DOVECOT, type Dovecot, startDovecot } from '../support/dovecot.ts';
import { actor } from '../support/helpers.ts';
import { reportOn } from '../support/mail-reports.ts';
import { TEST_CA_PEM } from '../support/smtp-certificates.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { until } from '../support/until.ts';
import { type Server, startServer } from './binary.ts';

const HELLO = 'hello@shop.example.com';
const ANN = 'ann@example.org';
const imapTest = test.skipIf(DOVECOT === null);

let dovecot: Dovecot;
let sink: SmtpSink;

beforeAll(async () => {
  if (DOVECOT !== null) [dovecot, sink] = await Promise.all([startDovecot(), startSmtpSink()]);
});
afterAll(async () => {
  if (DOVECOT !== null) await Promise.all([dovecot.stop(), sink.stop()]);
});

/** A directory whose mail was sent, and a report about it; not served any more. */
async function prepare(user: string, set: (sender: Sender) => Promise<void>): Promise<string> {
  const sender = await startSender();
  await addDomain(sender.app, 'shop.example.com', sink);
  await sender.send({ to: ANN });
  await sender.settle();
  dovecot.deliver(
    user,
    reportOn('postfix-remote-550', { raw: sink.mails.at(-1)?.raw ?? '', recipients: [ANN] }),
  );
  await set(sender);
  await sender.app.stop();
  return sender.app.data_dir;
}

/** The binary on a directory, trusting the tests' authority. */
async function serve(data_dir: string): Promise<Server & { rows(query: string): unknown[] }> {
  const ca = join(data_dir, 'ca.pem');
  writeFileSync(ca, TEST_CA_PEM);
  const server = await startServer(data_dir, { NODE_EXTRA_CA_CERTS: ca });
  const rows = (query: string): unknown[] => {
    const db = new Database(join(data_dir, 'satchel.db'), { readonly: true });
    try {
      return db.query(query).all();
    } finally {
      db.close();
    }
  };
  return { ...server, rows };
}

imapTest(
  'killed between a report and its flag, it takes effect once and gets its flag later',
  async () => {
    const proxy = await startTcpProxy(dovecot.port);
    const dir = await prepare('kill', async ({ app }) => {
      const inbox = parseInbox(`imap://${dovecot.log_in('kill')}@127.0.0.1:${proxy.port}`);
      await app.services.mailboxes.change(actor, HELLO, { inbox });
    });
    proxy.hold = / STORE /;
    const first = await serve(dir);
    await until(() => proxy.held === 1);
    await first.end('SIGKILL');
    expect(first.rows('SELECT kind, address FROM email_reports')).toEqual([
      { kind: 'bounced', address: ANN },
    ]);
    expect(first.rows('SELECT last_uid, unflagged, reports FROM inboxes')).toEqual([
      { last_uid: 1, unflagged: '[1]', reports: 1 },
    ]);
    expect((await dovecot.flagsOf('kill')).get(1)).toEqual([]);
    proxy.hold = null;
    const second = await serve(dir);
    await until(async () => (await dovecot.flagsOf('kill')).get(1)?.includes('$Satchel') ?? false);
    await until(
      () => second.rows("SELECT 1 FROM inboxes WHERE unflagged = '[]' AND reports = 1").length === 1,
    );
    expect(await second.end('SIGTERM')).toBe(0);
    expect(second.rows('SELECT count(*) AS n FROM email_reports')).toEqual([{ n: 1 }]);
    await proxy.stop();
  },
  90_000,
);

imapTest(
  'TLS from the first byte and STARTTLS, by name and by address, with an authority of its own',
  async () => {
    const hosts = ['localhost', '127.0.0.1', '127.0.0.2'];
    const dir = await prepare('tls', async ({ app }) => {
      const { mailboxes, database } = app.services;
      const log_in = dovecot.log_in('tls');
      for (const host of hosts)
        for (const [scheme, port] of [
          ['imaps', dovecot.tls_port],
          ['imap', dovecot.port],
        ]) {
          const address = await addMailbox(app, `${scheme}.${host}@shop.example.com`, sink);
          await mailboxes.change(actor, address, {
            inbox: parseInbox(`${scheme}://${log_in}@${host}:${port}`),
          });
        }
      // To this very machine nothing has to be encrypted; here it is, as to any other.
      await database.write((tx) =>
        tx.$client.run("UPDATE inboxes SET security = 'starttls' WHERE security = 'none'"),
      );
    });
    const server = await serve(dir);
    const query =
      'SELECT host, security, last_look_at IS NOT NULL AS is_read, last_error FROM inboxes ORDER BY mailbox_id';
    const unread = 'SELECT 1 FROM inboxes WHERE last_look_at IS NULL AND last_error IS NULL';
    await until(() => server.rows(unread).length === 0);
    const read = { is_read: 1, last_error: null };
    // The certificate is for the first two.
    const refused = { is_read: 0, last_error: expect.stringMatching(/certificate|altname/i) };
    expect(server.rows(query)).toEqual(
      hosts.flatMap((host) =>
        ['tls', 'starttls'].map((security) => ({
          host,
          security,
          ...(host === '127.0.0.2' ? refused : read),
        })),
      ),
    );
    expect(await server.end('SIGTERM')).toBe(0);
    expect(server.rows('SELECT count(*) AS n FROM email_reports')).toEqual([{ n: 1 }]);
  },
  90_000,
);
