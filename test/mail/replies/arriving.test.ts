/** Replies that arrive in an inbox of a real IMAP server: what they change, whom they are told to, and who may write them. */
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { parseInbox } from '../../../src/mail/inboxes/service.ts';
import { MAX_REPLIES_PER_EMAIL, REPLY_RETENTION_MS } from '../../../src/mail/replies/service.ts';
import { type SequenceApp, startSequenceApp } from '../../marketing/sequences/setup.ts';
import { heldOf } from '../../support/addresses.ts';
import { DOVECOT, type Dovecot, startDovecot } from '../../support/dovecot.ts';
import { actor } from '../../support/helpers.ts';
import { until } from '../../support/until.ts';
import { rows as rowsOf } from '../emails/setup.ts';

const HELLO = 'hello@news.example.com';
const imapTest = test.skipIf(DOVECOT === null);

let on: SequenceApp;
let dovecot: Dovecot;
let user = '';
let n = 0;
let delivered = 0;
if (DOVECOT !== null) {
  [on, dovecot] = await Promise.all([startSequenceApp(), startDovecot()]);
  on.app.services.inbox_readers.start();
}
afterAll(async () => {
  if (DOVECOT === null) return;
  await on.app.services.inbox_readers.stop();
  await dovecot.stop();
});

beforeEach(async () => {
  if (DOVECOT === null) return;
  n += 1;
  [user, delivered] = [`user${n}`, 0];
  const inbox = parseInbox(`imap://${dovecot.log_in(user)}@127.0.0.1:${dovecot.port}`);
  await on.app.services.mailboxes.change(actor, HELLO, { inbox });
  on.app.services.inbox_readers.refresh();
});

/** A mail by the API to this address, with its Message-ID. */
async function sent(to: string): Promise<{ id: string; message_id: string }> {
  const key = await on.project.key({ can_send_emails: true });
  const body = { to, subject: 'Your order', body_text: 'When shall it come?' };
  const { body: answer } = await on.app.call('POST', '/api/v1/emails/send', { key, body });
  await on.app.app.engine.whenIdle();
  return known(String(answer.id));
}
const known = (id: string) => ({ id, message_id: `<${id.toLowerCase()}@news.example.com>` });

/** Delivers a reply, and waits until the next message was looked at too. */
async function deliver(fields: Record<string, string>, text = 'On Tuesday.'): Promise<void> {
  const head = { Subject: 'Re: Your order', ...fields };
  const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\n`);
  dovecot.deliver(user, `${lines.join('')}\n${text}\n`);
  dovecot.deliver(user, 'Subject: nothing\n\nnothing\n');
  delivered += 2;
  await until(() => rows(`SELECT 1 FROM inboxes WHERE last_uid = ${delivered}`).length > 0);
}

const rows = (query: string) => rowsOf(on.app, query) as Record<string, unknown>[];
const owner = () => ({ id: Number(on.project.id), public_id: on.project.public_id });
const repliesTo = async (id: string) => (await on.mirror('GET', `/emails/${id}/replies`)).body.data;
const logOf = async (id: string) =>
  (await on.mirror('GET', `/emails/${id}`)).body.data as Record<string, unknown>;
const storyOf = (id: string) => on.app.services.deliveries.explain(id);
const flags = async () => [...(await dovecot.flagsOf(user)).values()];

imapTest(
  'a reply stands in log, story and list, is flagged and stays unread; once, whatever comes twice',
  async () => {
    const mail = await sent('bob@example.org');
    const fields = { From: 'Bob <bob@example.org>', 'Message-ID': '<1@x>', 'In-Reply-To': mail.message_id };
    await deliver(
      fields,
      'On Tuesday.\n\nOn 23 Nov 2026, at 15:04, Hello <hello@news.example.com> wrote:\n\n> When?',
    );
    await until(async () => (await flags())[0]?.length === 1);
    expect(await flags()).toEqual([['$Satchel'], []]);
    const reply = { email: mail.id, from: 'bob@example.org', subject: 'Re: Your order', text: 'On Tuesday.' };
    expect(await repliesTo(mail.id)).toEqual([{ ...reply, received_at: expect.any(String) }]);
    const { replied_at, status } = await logOf(mail.id);
    expect(replied_at).toBeString();
    expect(status).toBe('sent');
    const { events, story } = storyOf(mail.id);
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'reply',
        who: 'bob@example.org',
        words: 'Re: Your order',
        outcome: null,
      }),
    );
    expect(story).toContain(`Answered ${String(replied_at)} by bob@example.org: Re: Your order`);
    await deliver(fields);
    expect(await repliesTo(mail.id)).toHaveLength(1);
    await deliver({
      ...fields,
      'Message-ID': '<2@x>',
      'In-Reply-To': '<other@x>',
      References: `${mail.message_id} <other@x>`,
    });
    expect(await repliesTo(mail.id)).toHaveLength(2);
    expect((await logOf(mail.id)).replied_at).toBe(replied_at);
  },
);

imapTest('an automatic answer is noted in the story, and nothing else', async () => {
  const mail = await sent('bob@example.org');
  await deliver({
    From: 'bob@example.org',
    'In-Reply-To': mail.message_id,
    'Auto-Submitted': 'auto-replied',
  });
  await deliver({
    From: 'bob@example.org',
    'In-Reply-To': mail.message_id,
    'Content-Type': 'multipart/report; report-type=disposition-notification; boundary=x',
  });
  await until(async () => (await flags())[2]?.length === 1);
  expect(await repliesTo(mail.id)).toEqual([]);
  expect((await logOf(mail.id)).replied_at).toBeNull();
  expect(storyOf(mail.id).events.filter(({ outcome }) => outcome === 'automatic')).toHaveLength(2);
  expect(storyOf(mail.id).story.join('\n')).toContain('An automatic answer of bob@example.org came');
});

imapTest(
  'what answers no mail of the domain, is our own mail or our own answer is left untouched',
  async () => {
    const mail = await sent('bob@example.org');
    const from = 'bob@example.org';
    await deliver({ From: from, 'In-Reply-To': '<nobody@news.example.com>' });
    await deliver({
      From: from,
      'In-Reply-To': mail.message_id.replace('news.example.com', 'other.example'),
    });
    await deliver({ From: HELLO, 'In-Reply-To': mail.message_id });
    // A mailing list's echo.
    const echo = { 'Message-ID': mail.message_id, 'List-Id': '<all.example.org>', Precedence: 'list' };
    await deliver({ From: HELLO, ...echo });
    await deliver({ From: from, ...echo, 'In-Reply-To': mail.message_id });
    // One of a domain whose inbox this is not.
    await on.app.services.sending_domains.add(actor, {
      name: 'shop.example.com',
      is_default: false,
      is_trusted: true,
    });
    await on.app.services.database.write((tx) =>
      tx.$client.run(`UPDATE emails SET domain = 'shop.example.com' WHERE id = '${mail.id}'`),
    );
    await deliver({ From: from, 'In-Reply-To': mail.message_id });
    expect(await repliesTo(mail.id)).toEqual([]);
    expect(storyOf(mail.id).events.filter(({ kind }) => kind === 'reply')).toEqual([]);
    expect((await flags()).flat()).toEqual([]);
  },
);

imapTest(
  'export shows them, and forgetting whom the mail was for, or who wrote, takes them along',
  async () => {
    const { privacy } = on.app.services;
    const [to_ann, to_eve] = [await sent('ann@example.org'), await sent('eve@example.org')];
    await deliver({ From: 'ann@work.example', 'In-Reply-To': to_ann.message_id, Subject: 'one' });
    await deliver({ From: 'ann@example.org', 'In-Reply-To': to_eve.message_id, Subject: 'two' });
    await deliver({ From: 'eve@example.org', 'In-Reply-To': to_eve.message_id, Subject: 'three' });
    const { replies } = await heldOf(on.app.services, owner(), 'ann@example.org');
    expect(replies).toMatchObject([{ subject: 'two' }, { subject: 'one' }]);
    expect(await privacy.forget(actor, owner(), 'ann@example.org')).toMatchObject({ replies: 2 });
    expect(await repliesTo(to_eve.id)).toMatchObject([{ subject: 'three' }]);
    await deliver({ From: 'ann@example.org', 'In-Reply-To': to_ann.message_id });
    expect(rows(`SELECT 1 FROM email_replies WHERE email_id = '${to_ann.id}'`)).toEqual([]);
  },
);

imapTest('webhooks are told of a person’s', async () => {
  const { database } = on.app.services;
  const mail = await sent('bob@example.org');
  await database.write((tx) =>
    tx.$client.run(
      `INSERT INTO webhooks (public_id, project_id, url, sealed_secret, is_active, after_event, created_at, updated_at)
       VALUES ('01J00000000000000000000000', ${Number(on.project.id)}, 'https://hooks.example.com/', 'sealed', 1, 0, 1, 1)`,
    ),
  );
  await deliver({ From: 'bob@example.org', 'In-Reply-To': mail.message_id, Precedence: 'bulk' });
  await deliver({ From: 'bob@example.org', 'In-Reply-To': mail.message_id, Subject: 'Re: x' }, 'Yes.');
  const told = rows("SELECT body, address FROM webhook_events WHERE type = 'email.replied'");
  expect(told.map(({ body, address }) => [JSON.parse(String(body)).data, address])).toEqual([
    [
      {
        email: mail.id,
        from: 'bob@example.org',
        subject: 'Re: x',
        text: 'Yes.',
        received_at: expect.any(String),
      },
      'bob@example.org',
    ],
  ]);
});

imapTest(
  'an answer to a sequence ends it where it says so, and only one of the address that it went to',
  async () => {
    const list = await on.list({ name: 'Replies' });
    await on.template('one');
    await on.template('two');
    for (const name of ['cy', 'di']) await on.contact(list, `${name}@example.org`);
    const steps = ['one', 'two'].map((key, k) => ({
      key,
      template: key,
      delay_hours: k * 24,
      is_final: k === 1,
    }));
    const sequence = await on.active(list, steps, { exit_events: ['replied'] });
    await on.enroll(sequence);
    await on.pass();
    const mailTo = (to: string) =>
      known(String(rows(`SELECT id FROM emails WHERE to_email = '${to}' AND source = 'sequence'`)[0]?.id));
    const states = () =>
      rows(
        `SELECT c.email, e.state, e.exit_reason FROM enrollments e JOIN contacts c ON c.id = e.contact_id ORDER BY c.email`,
      );
    await deliver({ From: 'mallory@example.org', 'In-Reply-To': mailTo('di@example.org').message_id });
    await deliver({
      From: 'di@example.org',
      'In-Reply-To': mailTo('di@example.org').message_id,
      'X-Autoreply': 'yes',
    });
    expect(states()).toMatchObject([{ state: 'active' }, { state: 'active' }]);
    await deliver({ From: 'CY@example.org', 'In-Reply-To': mailTo('cy@example.org').message_id });
    expect(states()).toEqual([
      { email: 'cy@example.org', state: 'exited', exit_reason: 'event' },
      { email: 'di@example.org', state: 'active', exit_reason: null },
    ]);
    expect((await on.call('GET', `/email-sequences/${sequence}`)).body.data).toMatchObject({
      steps: [{ stats: { replied: 1 } }, { stats: { replied: 0 } }],
    });
    expect(rows('SELECT event FROM contact_events')).toEqual([{ event: 'replied' }]);
    const why = await on.app.services.privacy.explain(owner(), 'cy@example.org');
    expect(why.join('\n')).toMatch(/Step one: sent \S+, answered \S+\./);
    const event = { list, email: 'di@example.org', event: 'replied' };
    const refused = await on.call('POST', '/email-contacts/events', event);
    expect(refused.status).toBe(422);
  },
);

imapTest('so many are kept of one mail, and each goes after its time; that there was one stays', async () => {
  const mail = await sent('bob@example.org');
  for (let i = 0; i < MAX_REPLIES_PER_EMAIL; i += 1)
    dovecot.deliver(
      user,
      `From: m${i}@x.example\nMessage-ID: <${i}@x>\nIn-Reply-To: ${mail.message_id}\n\nHi\n`,
    );
  delivered = MAX_REPLIES_PER_EMAIL;
  await deliver({ From: 'bob@example.org', 'In-Reply-To': mail.message_id });
  const { replies } = on.app.services;
  expect(replies.list(owner(), mail.id, {}).meta.total).toBe(MAX_REPLIES_PER_EMAIL);
  on.app.clock.advance(REPLY_RETENTION_MS + 60_000);
  await replies.sweep();
  expect(replies.list(owner(), mail.id, {}).meta.total).toBe(0);
  expect(storyOf(mail.id).story.filter((line) => line.startsWith('Answered '))).toHaveLength(1);
});
