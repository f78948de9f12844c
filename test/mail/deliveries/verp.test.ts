/** Return paths of one mail each, from the envelope to the report that comes back to one, and relays that refuse them. */

import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { InboxReader } from '../../../src/mail/inboxes/reader.ts';
import { parseInbox } from '../../../src/mail/inboxes/service.ts';
import { MAX_VERP_LOCAL_PART_CHARS } from '../../../src/mail/mailboxes/outlets.ts';
import { type MailApp, startMailApp } from '../../marketing/mails/setup.ts';
import { run, runJson } from '../../support/command.ts';
import { DOVECOT, type Dovecot, startDovecot } from '../../support/dovecot.ts';
import { actor } from '../../support/helpers.ts';
import { readSample } from '../../support/mail-reports.ts';
import { until } from '../../support/until.ts';
import { headersOf } from '../emails/setup.ts';

const NEWS = 'news@news.example.com';
const OWN = /^bounces\+([0-9a-z]{26})\.[0-9a-f]{20}@news\.example\.com$/;
const INBOX = 'imap://user:secret@127.0.0.1:1';

const on: MailApp = await startMailApp();
const { mailboxes, deliveries } = on.app.services;
let dovecot: Dovecot | null = null;
afterAll(() => dovecot?.stop());

beforeEach(async () => {
  on.sink.mails.length = 0;
  on.sink.behavior = {};
  await change({ return_path: 'bounces@news.example.com', inbox: parseInbox(INBOX), verp: null });
});

const change = (changes: Parameters<typeof mailboxes.change>[2]) => mailboxes.change(actor, NEWS, changes);
const mailbox = () => mailboxes.list()[0];
const froms = (): string[] => on.sink.mails.map(({ envelope }) => envelope.from);
const emailOf = (address: string) => deliveries.return_paths.emailOf(on.app.services.database.read, address);

let n = 0;
/** Sends one mail of marketing to somebody new, and returns the address and the mail's id. */
async function send(): Promise<{ id: string; to: string }> {
  n += 1;
  const to = `reader${n}@example.org`;
  await on.contact(on.list_id, to);
  return { id: (await on.send(to)).id, to };
}

/** What a server writes that returns nothing of the mail. */
function reportTo(address: string, recipient: string): string {
  return readSample('exim-unknown-user')
    .replace(/^To: .*$/m, `To: <${address}>`)
    .replaceAll('nobody.here@exim.example', recipient)
    .replace(/^(Final-Recipient: rfc822;).*$/m, `$1${recipient}`);
}

/** What qmail writes. */
function qmailTo(address: string, recipient: string): string {
  return readSample('qmail')
    .replace(/^To: .*$/m, `To: <${address}>`)
    .replaceAll('b-qmail@remote.example', recipient);
}

await on.template({ body_text: 'Hello', body_html: '<p>Hello</p>', layout: 'marketing' });

describe('the envelope sender', () => {
  test('is each mail’s own where the mailbox has an inbox, of marketing and of transactional mail', async () => {
    const sent = [await send(), await send()];
    const key = await on.project.key({ can_send_emails: true });
    const body = { to: 'ann@example.org', subject: 'Receipt', body_text: 'Thanks' };
    const answer = await on.app.call('POST', '/api/v1/emails/send', { key, body });
    await on.app.app.engine.whenIdle();
    const ids = [...sent.map(({ id }) => id), String(answer.body.id)];
    expect(froms().map((from) => OWN.exec(from)?.[1]?.toUpperCase())).toEqual(ids);
    expect(froms().map(emailOf)).toEqual(ids);
    // Who reads the mail sees the mailbox.
    for (const { raw } of on.sink.mails)
      expect(headersOf(raw)).toMatch(/^From: .*<?news@news\.example\.com>?$/m);
  });

  test('stays the same over the attempts at one mail', async () => {
    on.sink.behavior = { data: { code: 451, message: '4.2.0 later' } };
    const { id } = await send();
    const seen = on.sink.mails.length;
    on.sink.behavior = {};
    on.app.clock.advance(3_600_000);
    on.app.app.engine.wake();
    await on.app.app.engine.whenIdle();
    expect(on.sink.mails.slice(seen).map(({ envelope }) => emailOf(envelope.from))).toEqual([id]);
  });

  test('is the plain one without an inbox, and with --no-verp; --verp needs no inbox', async () => {
    await change({ inbox: null });
    await send();
    await change({ inbox: parseInbox(INBOX), verp: false });
    await send();
    await change({ inbox: null, verp: true });
    await send();
    expect(froms().slice(0, 2)).toEqual(Array(2).fill('bounces@news.example.com'));
    expect(froms()[2]).toMatch(OWN);
  });

  test('is made from the address itself where there is no return path', async () => {
    await change({ return_path: null });
    const { id } = await send();
    expect(froms()[0]).toStartWith(`news+${id.toLowerCase()}.`);
  });
});

describe('a report to it, without anything of the mail', () => {
  const rowsOf = (email: string) =>
    on.rows(`SELECT c.status, (SELECT count(*) FROM email_reports r WHERE r.address = c.email) AS reports
      FROM contacts c WHERE c.email = '${email}'`);

  test.skipIf(DOVECOT === null)(
    'suppresses its recipient and nobody else; with a changed code nobody',
    async () => {
      dovecot = await startDovecot();
      const inbox = parseInbox(`imap://${dovecot.log_in('news')}@127.0.0.1:${dovecot.port}`);
      await change({ inbox });
      const [bounced, forged, other, by_qmail] = [await send(), await send(), await send(), await send()];
      const [own = '', theirs = '', third = '', fourth = ''] = froms();
      const wrong = theirs.replace(/.@/, (end) => (end === '0@' ? '1@' : '0@'));
      // The code of one mail with the id of another.
      const mixed = third.replace(other.id.toLowerCase(), forged.id.toLowerCase());
      dovecot.deliver('news', reportTo(wrong, forged.to));
      dovecot.deliver('news', reportTo(mixed, forged.to));
      // It names one who never got that mail.
      dovecot.deliver('news', reportTo(third, forged.to));
      dovecot.deliver('news', reportTo(own.toUpperCase(), bounced.to));
      dovecot.deliver('news', qmailTo(wrong, forged.to));
      dovecot.deliver('news', qmailTo('news@news.example.com', forged.to));
      dovecot.deliver('news', qmailTo(fourth, by_qmail.to));
      const [row] = on.app.services.inboxes.listRows();
      if (!row) throw new Error('no inbox was set');
      const reader = new InboxReader(row, {
        ...on.app.services,
      });
      const ended = reader.run();
      await until(async () => (await dovecot?.flagsOf('news'))?.get(7)?.includes('$Satchel') ?? false);
      reader.stop();
      await ended;
      expect(rowsOf(bounced.to)).toEqual([{ status: 'bounced', reports: 1 }]);
      expect(rowsOf(forged.to)).toEqual([{ status: 'active', reports: 0 }]);
      expect(rowsOf(other.to)).toEqual([{ status: 'active', reports: 0 }]);
      expect(rowsOf(by_qmail.to)).toEqual([{ status: 'bounced', reports: 1 }]);
      expect(on.rows('SELECT kind FROM suppressions')).toEqual(Array(2).fill({ kind: 'hard_bounce' }));
      expect((await on.plan(forged.to)).ok).toBe(true);
    },
  );
});

describe('a relay that refuses such a sender', () => {
  const REFUSED = '553 5.1.8 sender not owned';
  for (const at of ['mail', 'rcpt'] as const)
    test(`at ${at.toUpperCase()} gets the mail with the plain one at once, and further mails as well`, async () => {
      on.sink.behavior = {
        sender: { like: /\+/, reply: { code: 553, message: '5.1.8 sender not owned' }, at },
      };
      const { id } = await send();
      expect(froms()).toEqual(['bounces@news.example.com']);
      expect(on.rows(`SELECT status, attempts FROM emails WHERE id = '${id}'`)).toEqual([
        { status: 'sent', attempts: 1 },
      ]);
      expect(mailbox()).toMatchObject({
        verp: false,
        verp_problem: `its relay refused one: ${REFUSED}`,
        refusal: null,
      });
      // It would take one again by now, and is not asked.
      on.sink.behavior = {};
      await send();
      expect(froms()).toEqual(Array(2).fill('bounces@news.example.com'));
      const doctor = await run(on.app.data_dir, 'doctor');
      expect(doctor.stdout).toContain(
        `WARNING  mailboxes: ${NEWS} gives its mails no return path of their own: its relay refused one: ${REFUSED}`,
      );
      expect(doctor.stdout).toContain(`satchel mailbox change ${NEWS} --no-verp`);
      await runJson(on.app.data_dir, 'mailbox', 'change', NEWS, '--no-verp');
      expect((await run(on.app.data_dir, 'doctor')).stdout).not.toContain('return path of their own');
      await runJson(on.app.data_dir, 'mailbox', 'change', NEWS, '--verp');
      await send();
      expect(froms()[2]).toMatch(OWN);
    });

  test('for now gets the mail with the plain one, and is asked again with the next', async () => {
    on.sink.behavior = { sender: { like: /\+/, reply: { code: 451, message: '4.1.8 later' }, at: 'mail' } };
    const { id } = await send();
    expect(froms()).toEqual(['bounces@news.example.com']);
    expect(on.rows(`SELECT status, attempts FROM emails WHERE id = '${id}'`)).toEqual([
      { status: 'sent', attempts: 1 },
    ]);
    expect(mailbox()).toMatchObject({ verp: true, verp_problem: null });
    on.sink.behavior = {};
    await send();
    expect(froms()[1]).toMatch(OWN);
  });

  test('and the plain one too is the mailbox’s problem, as ever', async () => {
    on.sink.behavior = { mail: { code: 550, message: '5.7.1 not allowed' } };
    const { id } = await send();
    expect(on.rows(`SELECT status FROM emails WHERE id = '${id}'`)).toEqual([{ status: 'failed' }]);
    expect(mailbox()).toMatchObject({ verp: true, verp_problem: null, refusal: '550 5.7.1 not allowed' });
  });

  test('is not blamed for what it says of a recipient', async () => {
    const to = `reader${n + 1}@example.org`;
    on.sink.behavior = { rcpt: { [to]: { code: 550, message: '5.1.1 unknown' } } };
    const { id } = await send();
    expect(on.rows(`SELECT status FROM emails WHERE id = '${id}'`)).toEqual([{ status: 'bounced' }]);
    expect(mailbox()).toMatchObject({ verp: true });
  });
});

describe('a return path without room for more', () => {
  const LONG = `${'b'.repeat(MAX_VERP_LOCAL_PART_CHARS + 1)}@news.example.com`;

  test('is used as it is, which doctor tells', async () => {
    await change({ return_path: LONG });
    await send();
    expect(froms()).toEqual([LONG]);
    expect(mailbox()).toMatchObject({ verp: false });
    expect((await run(on.app.data_dir, 'doctor')).stdout).toContain('at most 16 characters before the @');
  });

  test('is refused together with --verp, and nothing is changed', async () => {
    const before = on.rows('SELECT return_path, verp, revision FROM mailboxes');
    const refused = await run(on.app.data_dir, 'mailbox', 'change', NEWS, '--verp', '--return-path', LONG);
    expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('at most 16 characters')]);
    expect(on.rows('SELECT return_path, verp, revision FROM mailboxes')).toEqual(before);
  });
});
