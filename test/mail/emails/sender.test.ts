/** The mailbox that a client asks for with `from`: it goes out from that one or not at all. */
import { beforeEach, expect, test } from 'bun:test';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, addMailbox, errorsOf, RELAY_DOWN_PORT, rows, type Sender, startSender } from './setup.ts';

const SHOP = 'shop@mail.example.com';

let sender: Sender;
let sink: SmtpSink;

beforeEach(async () => {
  sender = await startSender();
  sink = await startSmtpSink();
  await addDomain(sender.app, 'mail.example.com', sink);
  await addMailbox(sender.app, SHOP, sink);
  await addDomain(sender.app, 'other.example.com', sink);
});

test('a mail goes out from the mailbox that it names, whatever the case, queued and at once', async () => {
  for (const queue of [true, false]) {
    const { body } = await sender.send({ from: 'Shop@MAIL.example.com', queue });
    expect(body).toMatchObject({ from_email: SHOP, domain: 'mail.example.com' });
    await sender.settle();
    expect(await sender.log(body.id)).toMatchObject({ status: 'sent', from_email: SHOP });
  }
  expect(sink.mails.map((mail) => mail.envelope.from)).toEqual([SHOP, SHOP]);
  const with_domain = await sender.send({ from: SHOP, domain: 'MAIL.example.com' });
  expect([with_domain.status, with_domain.body.from_email]).toEqual([202, SHOP]);
});

test('one that is unknown, paused, of an unused domain or for other mail is 422 under from, and nothing is kept', async () => {
  const { mailboxes, sending_domains } = sender.app.services;
  const refused = async (from: string): Promise<void> => {
    const answer = await sender.send({ from });
    expect([answer.status, errorsOf(answer, from)]).toEqual([422, ['from']]);
  };
  await refused('nobody@mail.example.com');
  await refused('no address');
  await mailboxes.setStatus(actor, SHOP, 'paused');
  await refused(SHOP);
  await mailboxes.setStatus(actor, SHOP, 'active');
  await mailboxes.change(actor, SHOP, { for_transactional: false, for_marketing: true });
  await refused(SHOP);
  await sending_domains.change(actor, 'other.example.com', { is_active: false });
  await refused('hello@other.example.com');
  expect(rows(sender.app, 'SELECT id FROM emails')).toEqual([]);
  expect(rows(sender.app, 'SELECT mailbox_id FROM mailbox_usage')).toEqual([]);
});

test('together with another domain it is 422 under domain', async () => {
  const answer = await sender.send({ from: SHOP, domain: 'other.example.com' });
  expect([answer.status, errorsOf(answer)]).toEqual([422, ['domain']]);
});

test('all that is wrong with a mail is told at once', async () => {
  const answer = await sender.send({
    ...{ subject: undefined, body_text: undefined, template: 'none', domain: 'gone.example.com' },
    ...{ from: 'nobody@mail.example.com', scheduled_at: '2020-01-01T00:00:00Z' },
    attachments: ['01J00000000000000000000000'],
  });
  expect(answer.status).toBe(422);
  expect(errorsOf(answer).sort()).toEqual(['attachments', 'domain', 'from', 'scheduled_at', 'template']);
});

test('there is no other one: used up it is 429, not connecting 503, and a queued mail waits for it', async () => {
  const { mailboxes } = sender.app.services;
  await mailboxes.change(actor, SHOP, { daily_limit: 1 });
  expect((await sender.send({ from: SHOP })).status).toBe(202);
  const used_up = await sender.send({ from: SHOP });
  expect(used_up.status).toBe(429);
  expect(Number(used_up.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await sender.send({ from: SHOP, domain: 'mail.example.com' })).status).toBe(429);
  const down = await addMailbox(sender.app, 'down@mail.example.com', RELAY_DOWN_PORT);
  const at_once = await sender.send({ from: down, queue: false });
  expect(at_once.status).toBe(503);
  expect(await sender.log(at_once.body.email_id)).toMatchObject({ status: 'failed', from_email: down });
  const { body } = await sender.send({ from: down });
  await sender.settle();
  expect(await sender.log(body.id)).toMatchObject({ status: 'queued', attempts: 1, from_email: down });
  expect(
    rows(sender.app, `SELECT DISTINCT mailbox FROM email_attempts WHERE email_id = '${body.id}'`),
  ).toEqual([{ mailbox: down }]);
});

test('one that captures is taken where it is named, beside a relay of its domain', async () => {
  const kept = await addMailbox(sender.app, 'kept@other.example.com', null);
  const { body } = await sender.send({ from: kept, queue: false });
  expect(body).toMatchObject({ status: 'sent', from_email: kept });
  expect(sink.mails).toEqual([]);
  expect(sender.app.services.deliveries.listCaptured({ per_page: 5 }).data).toMatchObject([
    { email_id: body.id, mailbox: kept },
  ]);
});
