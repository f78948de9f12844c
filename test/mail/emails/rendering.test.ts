/** Mail that is rendered as it is sent, and mail that is bound to mailboxes: what sequences and settings stand on. */
import { beforeEach, expect, test } from 'bun:test';
import PostalMime from 'postal-mime';
import { AppError } from '../../../src/errors.ts';
import type { NewEmail } from '../../../src/mail/emails/service.ts';
import { actor } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, addMailbox, RELAY_DOWN_PORT, rows, type Sender, startSender } from './setup.ts';

let sender: Sender;
let sink: SmtpSink;

beforeEach(async () => {
  sender = await startSender();
  sink = await startSmtpSink();
  await addDomain(sender.app, 'mail.example.com', sink);
});

async function accept(fields: Partial<NewEmail>): Promise<string> {
  const { database, emails } = sender.app.services;
  const { id } = await database.write((tx) =>
    emails.accept(tx, {
      ...{ project_id: Number(sender.project.id), api_key_id: null, is_test: false, source: 'confirmation' },
      ...{ to: 'ada@example.org', to_name: null, cc: [], bcc: [], reply_to: null, from_name: null },
      ...{ subject: 'Hello', content: { body_html: null, body_text: 'Hi' }, template: null },
      ...{ domain: null, attachments: [], scheduled_at: null, client: null },
      ...fields,
    }),
  );
  await sender.settle();
  return id;
}

test('a mail that is rendered as it is sent keeps what it is made from, and no body', async () => {
  const { emails, deliveries } = sender.app.services;
  emails.renderWith('confirmation', (_tx, merge) => ({
    frame: { key: 'greeting', html: null, text: ['Hi ', 0, ', r', 1] },
    values: [String(merge.name), String(merge.revision)],
  }));
  sink.behavior.data = { code: 451, message: '4.3.0 Later' };
  const id = await accept({ content: { merge: { revision: 7, name: 'Ada' } } });
  expect(rows(sender.app, 'SELECT email_id FROM email_bodies')).toEqual([]);
  delete sink.behavior.data;
  await sender.pass(15_000);
  const { text } = await PostalMime.parse(sink.mails[0]?.raw ?? '');
  expect(text).toBe('Hi Ada, r7\n');
  expect((await emails.readContent({ id: Number(sender.project.id) }, id)).body_text).toBe('Hi Ada, r7');
  expect(await sender.log(id)).toMatchObject({ status: 'sent', attempts: 2 });
  expect(deliveries.explain(id).story.join(' ')).not.toContain('no longer kept');
});

test('what its renderer refuses fails the mail, with the reason', async () => {
  sender.app.services.emails.renderWith('confirmation', () => {
    throw new AppError('invalid', 'The merge field first_name has no value.');
  });
  const id = await accept({ content: { merge: {} } });
  expect(await sender.log(id)).toMatchObject({
    status: 'failed',
    attempts: 1,
    error: expect.stringContaining('first_name has no value'),
  });
  expect(sink.mails).toEqual([]);
  const [mailbox] = sender.app.services.mailboxes.list();
  expect(mailbox).toMatchObject({ failures: 0, last_success_at: null });
});

test('the mailboxes that a mail may use bind each attempt, and stand in its story', async () => {
  const only = await addMailbox(sender.app, 'only@mail.example.com', RELAY_DOWN_PORT);
  const id = await accept({ allowed_mailboxes: [only] });
  expect(await sender.log(id)).toMatchObject({ status: 'queued', attempts: 1, from_email: only });
  await sender.app.services.mailboxes.setStatus(actor, only, 'paused');
  await sender.pass(15_000);
  await sender.pass(300_000);
  expect(await sender.log(id)).toMatchObject({ status: 'failed', attempts: 3, from_email: only });
  expect(sink.mails).toEqual([]);
  const { story } = sender.app.services.deliveries.explain(id);
  expect(story[0]).toContain(`from ${only} only`);
  // Bound to two, it goes out from the other of them.
  const free = await accept({ allowed_mailboxes: [only, 'hello@mail.example.com'] });
  expect(await sender.log(free)).toMatchObject({ status: 'sent', from_email: 'hello@mail.example.com' });
  expect(
    await accept({ allowed_mailboxes: ['gone@mail.example.com'] }).catch((error: unknown) => error),
  ).toMatchObject({ kind: 'unavailable' });
});
