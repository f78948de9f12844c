/** What providers of relays tell of mail: each event of each, what it makes of the log and of contacts, and whose it is. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { parseRelay } from '../../../src/mail/mailboxes/relay.ts';
import { EVENT_PROVIDERS, type EventProvider } from '../../../src/mail/relay-events/service.ts';
import { actor } from '../../support/helpers.ts';
import { fill, type Means, samplesOf } from '../../support/relay-events.ts';
import { until } from '../../support/until.ts';
import { headersOf } from '../emails/setup.ts';
import { type EventsApp, NEWS, startEventsApp } from './setup.ts';

let on: EventsApp;
beforeAll(async () => {
  on = await startEventsApp();
});
beforeEach(() => {
  on.sink.behavior = {};
  on.sink.unanswered.splice(0).forEach((reply) => void reply());
});

const MADE: Record<Means, { log: object; contact: string; reports: string[] }> = {
  bounced: { log: { status: 'bounced', bounce_type: 'permanent' }, contact: 'bounced', reports: ['bounced'] },
  soft_bounced: {
    log: { status: 'bounced', bounce_type: 'transient' },
    contact: 'active',
    reports: ['soft_bounced'],
  },
  refused: { log: { status: 'sent' }, contact: 'active', reports: ['refused'] },
  complained: { log: { status: 'complained' }, contact: 'complained', reports: ['complained'] },
  delivered: { log: { status: 'delivered' }, contact: 'active', reports: ['delivered'] },
  unsubscribed: { log: { status: 'sent' }, contact: 'unsubscribed', reports: ['unsubscribed'] },
  nothing: { log: { status: 'sent' }, contact: 'active', reports: [] },
};

/** Ready to be told; SNS has its topic confirmed. */
async function listen(provider: EventProvider, more?: { key?: string | null }): Promise<string> {
  const path = await on.hear(provider, more);
  if (provider === 'ses')
    expect((await on.post(path, provider, on.sns('SubscriptionConfirmation'))).status).toBe(200);
  return path;
}

describe.each([...EVENT_PROVIDERS])('an event of %s', (provider) => {
  test.each(samplesOf(provider).map((sample) => [sample.case, sample.means] as const))(
    '%s: %s',
    async (name, means) => {
      const path = await listen(provider);
      const mail = await on.mail();
      const answer = await on.tell(path, provider, name, mail);
      expect([answer.status, answer.text]).toEqual([200, '{}']);
      const { log, contact, reports } = MADE[means];
      expect(await on.log(mail.id)).toMatchObject(log);
      expect(on.statusOf(mail.to)).toBe(contact);
      expect(on.reportsOf(mail.id)).toEqual(reports);
      // A repeat changes nothing.
      await on.tell(path, provider, name, mail);
      expect(on.reportsOf(mail.id)).toEqual(reports);
    },
  );
});

test('the story names the provider, with its time, which is never ahead of now', async () => {
  const path = await listen('postmark');
  const mail = await on.mail();
  const earlier = mail.at - 3_600_000;
  await on.tell(path, 'postmark', 'block', { ...mail, at: earlier });
  await on.tell(path, 'postmark', 'delivered', { ...mail, at: mail.at + 86_400_000 });
  const { story } = on.app.services.deliveries.explain(mail.id);
  const time = (ms: number): string => new Date(ms).toISOString();
  const [said] = story.filter((line) => line.includes('was not taken because of the mailbox'));
  expect(said).toBe(
    `Reported ${time(earlier)}: for ${mail.to} it was not taken because of the mailbox that it came from, ` +
      'which says nothing of the recipient: 554 5.7.1 rejected by local policy (reported by Postmark)',
  );
  const [delivered] = story.filter((line) => line.includes('was delivered'));
  expect(delivered).toStartWith(`Reported ${time(on.app.clock.now())}`);
});

test('five soft bounces on days that the provider tells are a hard one, in any order', async () => {
  const path = await listen('mailjet');
  const first = await on.mail();
  for (const day of [3, 0, 4, 1, 2]) {
    const mail = await on.mail({ to: first.to });
    const told = { ...mail, to: first.to, at: mail.at - day * 86_400_000 };
    await on.tell(path, 'mailjet', 'soft', told);
  }
  expect(on.statusOf(first.to)).toBe('bounced');
});

test('in any order, and however often each is told, the status is the most that was told', async () => {
  const path = await listen('sendgrid');
  const names = ['delivered', 'soft', 'hard', 'complaint'];
  const orders = [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [2, 0, 3, 1, 0, 2],
    [1, 3, 0, 2],
  ];
  for (const order of orders) {
    const mail = await on.mail();
    for (const index of order) await on.tell(path, 'sendgrid', names[index] ?? '', mail);
    expect(await on.log(mail.id)).toMatchObject({ status: 'complained' });
    expect(on.reportsOf(mail.id).toSorted()).toEqual(['bounced', 'complained', 'delivered', 'soft_bounced']);
  }
  const mail = await on.mail();
  for (const name of ['hard', 'delivered', 'soft']) await on.tell(path, 'sendgrid', name, mail);
  expect(await on.log(mail.id)).toMatchObject({ status: 'bounced', bounce_type: 'permanent' });
});

describe('our code', () => {
  test('stands on top, in the provider’s field, and is signed by no DKIM', async () => {
    const first: [EventProvider, RegExp][] = [
      ['ses', /^X-SES-MESSAGE-TAGS: satchel=([0-9a-z]{26}-[0-9a-f]{20})\r\nDKIM-Signature/],
      ['sendgrid', /^X-SMTPAPI: \{"unique_args":\{"satchel":"[0-9a-z]{26}-[0-9a-f]{20}"\}\}\r\n/],
      ['mailgun', /^X-Mailgun-Variables: \{"satchel":"[0-9a-z]{26}-[0-9a-f]{20}"\}\r\n/],
      ['postmark', /^X-PM-Metadata-satchel: [0-9a-z]{26}-[0-9a-f]{20}\r\n/],
      ['brevo', /^X-Mailin-custom: [0-9a-z]{26}-[0-9a-f]{20}\r\n/],
      ['mailjet', /^X-MJ-CustomID: [0-9a-z]{26}-[0-9a-f]{20}\r\n/],
      ['resend', /^DKIM-Signature:/],
    ];
    for (const [provider, top] of first) {
      await listen(provider);
      await on.mail();
      const raw = String(on.sink.mails.at(-1)?.raw);
      expect(raw).toMatch(top);
      expect(/h=([^;]*)/.exec(headersOf(raw))?.[1]).not.toMatch(/x-/i);
    }
  });

  test('goes with a configuration set, where one is given', async () => {
    await on.app.services.mailboxes.change(actor, NEWS, {
      events: { provider: 'ses', configuration_set: 'satchel-1' },
    });
    await on.mail();
    const raw = String(on.sink.mails.at(-1)?.raw);
    expect(raw).toMatch(/^X-SES-MESSAGE-TAGS: satchel=\S+\r\nX-SES-CONFIGURATION-SET: satchel-1\r\n/);
  });

  test('is of each attempt, in no log, and there is none without events', async () => {
    await listen('brevo');
    const mail = await on.mail();
    expect(JSON.stringify(await on.log(mail.id))).not.toContain(mail.code);
    const story = JSON.stringify(on.app.services.deliveries.explain(mail.id));
    expect(story).not.toContain(mail.code.slice(27));
    await on.app.services.mailboxes.change(actor, NEWS, { events: null });
    const plain = await on.mail();
    expect(plain.code).toBe('');
    expect(String(on.sink.mails.at(-1)?.raw)).not.toMatch(/x-mailin/i);
  });
});

describe('whose mail it is', () => {
  const hard = (mail: Parameters<EventsApp['tell']>[3]) =>
    fill(samplesOf('sendgrid').find((each) => each.case === 'hard')?.event, mail);

  test('is told by a code alone that is ours, and by somebody whom the mail went to', async () => {
    const path = await listen('sendgrid', { key: null });
    const mail = await on.mail({ cc: ['copy@example.org'] });
    const forged = mail.code.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    const strangers = [
      { ...mail, code: forged },
      { ...mail, code: '' },
      { ...mail, to: 'stranger@example.org' },
      { ...mail, code: `${mail.code}x` },
      { ...mail, code: '01j00000000000000000000000-00000000000000000000' },
    ];
    for (const told of strangers) expect((await on.post(path, 'sendgrid', hard(told))).status).toBe(200);
    expect(on.reportsOf(mail.id)).toEqual([]);
    // Of a copy it is kept, and the log speaks of the mail itself.
    await on.post(path, 'sendgrid', hard({ ...mail, to: 'COPY@Example.org' }));
    expect([on.reportsOf(mail.id), await on.log(mail.id)]).toMatchObject([['bounced'], { status: 'sent' }]);
  });

  test('the address of one mailbox stands for that of another of the same provider', async () => {
    const { mailboxes } = on.app.services;
    const relay = parseRelay(`smtp://127.0.0.1:${on.sink.port}`);
    await mailboxes.add(actor, { address: 'second@news.example.com', relay });
    const second = await mailboxes.change(actor, 'second@news.example.com', {
      events: { provider: 'sendgrid' },
    });
    await listen('sendgrid');
    const mail = await on.mail();
    const { pathname } = new URL(second.events?.url ?? '');
    await on.post(pathname, 'sendgrid', hard(mail));
    expect(on.reportsOf(mail.id)).toEqual(['bounced']);
    await mailboxes.remove(actor, 'second@news.example.com');
    expect((await on.post(pathname, 'sendgrid', hard(mail))).status).toBe(404);
  });

  test('without a code the Message-ID says so, where a key has signed', async () => {
    const mail = await on.mail();
    const signed_path = await listen('sendgrid');
    await on.post(signed_path, 'sendgrid', hard({ ...mail, code: '' }));
    expect(on.reportsOf(mail.id)).toEqual(['bounced']);
  });

  test('mail of a mailbox without events of this provider is nobody’s here, whatever the code', async () => {
    const { mailboxes } = on.app.services;
    await listen('mailgun');
    const mail = await on.mail();
    const path = await listen('sendgrid', { key: null });
    // The only mailbox hears of SendGrid now, and so it may tell of what went before.
    await mailboxes.change(actor, NEWS, { events: { provider: 'brevo' } });
    expect((await on.post(path, 'brevo', { event: 'hard_bounce', email: mail.to })).status).toBe(200);
    expect(on.reportsOf(mail.id)).toEqual([]);
    await mailboxes.add(actor, {
      address: 'other@news.example.com',
      relay: null,
    });
    const sent = await on.mail();
    await on.app.services.database.write((tx) =>
      tx.$client.run(
        `UPDATE emails SET mailbox_id = (SELECT max(id) FROM mailboxes) WHERE id = '${sent.id}'`,
      ),
    );
    await on.tell(path, 'brevo', 'hard', sent);
    expect(on.reportsOf(sent.id)).toEqual([]);
  });
});

describe('Resend', () => {
  test('is told apart by what its relay answered, then by the subject, and only for one recipient', async () => {
    const path = await listen('resend');
    const older = await on.mail();
    const newer = await on.mail({ to: older.to, subject: older.subject });
    await on.tell(path, 'resend', 'hard', older);
    expect([on.reportsOf(older.id), on.reportsOf(newer.id)]).toEqual([['bounced'], []]);
    // What the relay answered is known still, though the words of the bounce stand in the log.
    await on.tell(path, 'resend', 'complaint', older);
    expect([on.reportsOf(older.id), on.reportsOf(newer.id)]).toEqual([['bounced', 'complained'], []]);
    await on.tell(path, 'resend', 'delivered', { ...older, answer_id: crypto.randomUUID() });
    expect(on.reportsOf(newer.id)).toEqual(['delivered']);
    const copied = await on.mail({ cc: ['copy@example.org'] });
    await on.tell(path, 'resend', 'hard', copied);
    expect(on.reportsOf(copied.id)).toEqual([]);
  });

  test('what is under way may be meant, and is waited for', async () => {
    const path = await listen('resend');
    const older = await on.mail();
    const answer_id = crypto.randomUUID();
    on.sink.behavior = { hang: 'data', data: { code: 250, message: `Ok ${answer_id}` } };
    const key = await on.project.key({ can_send_emails: true });
    const body = { to: older.to, subject: older.subject, body_text: 'Again' };
    const { body: sent } = await on.app.call('POST', '/api/v1/emails/send', { key, body });
    await on.sink.until(() => on.sink.unanswered.length > 0);
    const told = on.tell(path, 'resend', 'delivered', { ...older, answer_id });
    expect(await Promise.race([told, Bun.sleep(300)])).toBeUndefined();
    on.sink.unanswered.splice(0).forEach((reply) => void reply());
    expect((await told).status).toBe(200);
    expect([on.reportsOf(String(sent.id)), on.reportsOf(older.id)]).toEqual([['delivered'], []]);
    on.sink.behavior = {};
  });
});

describe('an attempt that is not settled', () => {
  test('is waited for; after five seconds the event is to come again', async () => {
    const path = await listen('postmark');
    on.sink.behavior = { hang: 'data' };
    const key = await on.project.key({ can_send_emails: true });
    const body = { to: 'late@example.org', subject: 'Late', body_text: 'Hi' };
    const { body: sent } = await on.app.call('POST', '/api/v1/emails/send', { key, body });
    await on.sink.until(() => on.sink.unanswered.length > 0);
    const { database, deliveries } = on.app.services;
    const code = (await deliveries.return_paths.eventCodeFor(database, String(sent.id))) ?? '';
    const mail = { ...{ to: 'late@example.org', code, message_id: '', subject: '' }, answer_id: '', at: 0 };
    const refused = await on.tell(path, 'postmark', 'delivered', mail);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    const again = on.tell(path, 'postmark', 'delivered', mail);
    on.sink.unanswered.splice(0).forEach((reply) => void reply());
    expect((await again).status).toBe(200);
    expect(on.reportsOf(String(sent.id))).toEqual(['delivered']);
    on.sink.behavior = {};
  }, 30_000);
});

test('a thousand in one request are all taken, and mail that is sent meanwhile does not wait for them', async () => {
  const path = await listen('sendgrid');
  const mail = await on.mail();
  const event = { event: 'bounce', email: mail.to, reason: '452 4.2.2 mailbox full', satchel: mail.code };
  const others = Array.from({ length: 999 }, (_, index) => ({
    ...event,
    email: `someone${index}@example.org`,
    event: 'delivered',
  }));
  const ended: string[] = [];
  const posted = on.post(path, 'sendgrid', [...others, event]).then(() => ended.push('events'));
  const key = await on.project.key({ can_send_emails: true });
  const body = { to: 'quick@example.org', subject: 'Now', body_text: 'Hi', queue: false };
  await on.app.call('POST', '/api/v1/emails/send', { key, body }).then(() => ended.push('mail'));
  await posted;
  expect(ended).toEqual(['mail', 'events']);
  expect(on.reportsOf(mail.id)).toEqual(['soft_bounced']);
});

test('where nothing can be written, all are to come again, and nothing is half told', async () => {
  const path = await listen('mailgun');
  const mail = await on.mail();
  const { deliveries } = on.app.services;
  const own = deliveries.takeEvent;
  deliveries.takeEvent = () => {
    throw new AppError('unavailable', 'Nothing was stored: the disk is full.', { retry_after_s: 30 });
  };
  const refused = await on.tell(path, 'mailgun', 'hard', mail);
  deliveries.takeEvent = own;
  expect([refused.status, refused.headers.get('retry-after'), refused.body.message]).toEqual([
    ...[429, '30'],
    expect.stringContaining('disk'),
  ]);
  expect(on.reportsOf(mail.id)).toEqual([]);
  await on.tell(path, 'mailgun', 'hard', mail);
  await until(() => on.reportsOf(mail.id).length === 1);
});
