/** Relay events as the compiled binary hears them: SNS by an authority of its own, and kill -9 after the answer. */
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventProvider } from '../../src/mail/relay-events/service.ts';
import { addDomain, type Sender, startSender } from '../mail/emails/setup.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { actor } from '../support/helpers.ts';
import { fill, samplesOf, type ToldMail } from '../support/relay-events.ts';
import { type SmtpSink, startSmtpSink } from '../support/smtp-sink.ts';
import { envelope, makeAuthority, makeRsaCertificate, SNS_HOST } from '../support/sns.ts';
import { startServer } from './binary.ts';

const HELLO = 'hello@shop.example.com';
/** No other test listens there: an URL of SNS names no port. */
const AMAZON = '127.7.7.44';

let sink: SmtpSink;
beforeAll(async () => {
  sink = await startSmtpSink();
});
afterAll(() => sink.stop());

/** A directory from which a mail was sent, not served any more; the path of its URL, and what an event may say. */
async function prepare(
  provider: EventProvider,
): Promise<{ dir: string; path: string; mail: ToldMail & { id: string } }> {
  const sender: Sender = await startSender();
  await addDomain(sender.app, 'shop.example.com', sink);
  const { events } = await sender.app.services.mailboxes.change(actor, HELLO, { events: { provider } });
  const { body } = await sender.send({ to: 'ann@example.org' });
  await sender.settle();
  const code = /[0-9a-z]{26}-[0-9a-f]{20}/.exec(String(sink.mails.at(-1)?.raw))?.[0] ?? '';
  await sender.app.stop();
  const mail = { to: 'ann@example.org', code, message_id: '', subject: '', answer_id: '', at: Date.now() };
  return {
    dir: sender.app.data_dir,
    path: new URL(events?.url ?? '').pathname,
    mail: { ...mail, id: String(body.id) },
  };
}

function statusIn(dir: string): unknown {
  const db = new Database(join(dir, 'satchel.db'), { readonly: true });
  try {
    return db.query('SELECT status FROM emails').values()[0]?.[0];
  } finally {
    db.close();
  }
}

test('what was answered is on disk, whatever happens then', async () => {
  const { dir, path, mail } = await prepare('postmark');
  const server = await startServer(dir);
  const event = samplesOf('postmark').find((each) => each.case === 'hard')?.event;
  const body = JSON.stringify(fill(event, mail));
  const answer = await fetch(server.url + path, { method: 'POST', body });
  await server.end('SIGKILL');
  expect([answer.status, statusIn(dir)]).toEqual([200, 'bounced']);
  const again = await startServer(dir);
  expect((await fetch(again.url + path, { method: 'POST', body })).status).toBe(200);
  expect(await again.end('SIGTERM')).toBe(0);
  expect(statusIn(dir)).toBe('bounced');
}, 60_000);

/** Where nobody else may, root alone listens at 443. */
const rootTest = test.skipIf(process.getuid?.() !== 0);

rootTest(
  'SNS is confirmed and verified over TLS, by an authority that NODE_EXTRA_CA_CERTS names, and only then',
  async () => {
    const { dir, path, mail } = await prepare('ses');
    const [tls, signing] = [makeAuthority(SNS_HOST), makeRsaCertificate('sns.amazonaws.com')];
    const asked: string[] = [];
    const amazon = Bun.serve({
      hostname: AMAZON,
      port: 443,
      tls: { cert: tls.cert, key: tls.key },
      fetch(request) {
        const { pathname, searchParams } = new URL(request.url);
        asked.push(searchParams.get('Action') ?? pathname);
        return new Response(pathname.endsWith('.pem') ? signing.cert : '<ConfirmSubscriptionResponse/>');
      },
    });
    const dns = await startDnsServer({ [SNS_HOST]: { a: [AMAZON] } });
    const ca = join(dir, 'ca.pem');
    writeFileSync(ca, tls.ca);
    const env = { SATCHEL_DNS_SERVERS: dns.address, SATCHEL_WEBHOOK_ALLOW: SNS_HOST };
    const post = (url: string, body: object) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'text/plain; charset=UTF-8' },
        body: JSON.stringify(body),
      }).then(({ status }) => status);
    try {
      const distrusting = await startServer(dir, env);
      expect(await post(distrusting.url, envelope(signing.key, 'SubscriptionConfirmation'))).toBe(429);
      expect(asked).toEqual([]);
      await distrusting.end('SIGKILL');
      const server = await startServer(dir, { ...env, NODE_EXTRA_CA_CERTS: ca });
      const event = samplesOf('ses').find((each) => each.case === 'hard')?.event;
      const Message = JSON.stringify(fill(event, mail));
      expect(await post(server.url, envelope(signing.key, 'Notification', { Message }))).toBe(401);
      expect(await post(server.url, envelope(signing.key, 'SubscriptionConfirmation'))).toBe(200);
      expect(asked).toEqual(['/SimpleNotificationService-1.pem', 'ConfirmSubscription']);
      expect(await post(server.url, envelope(signing.key, 'Notification', { Message }))).toBe(200);
      await server.end('SIGKILL');
      expect(statusIn(dir)).toBe('bounced');
    } finally {
      await amazon.stop(true);
      await dns.stop();
    }
  },
  60_000,
);
