/** Messages that come by SMTP: what is taken, what each becomes, and what leaves for the relay. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { addDomain, type Sender } from '../emails/setup.ts';
import { handIn, messageFrom, portOf, type RawClient, signedIn, startTaking } from './setup.ts';

let on: Sender;
let sink: SmtpSink;
let client: RawClient;
const FROM = 'hello@shop.example.com';

beforeAll(async () => {
  on = await startTaking();
  sink = await startSmtpSink();
  await addDomain(on.app, 'shop.example.com', sink, { is_default: true });
  client = await signedIn(portOf(on), on.key);
});
afterAll(async () => {
  client.close();
  await sink.stop();
});

const idOf = (reply: string): string => /^250 2\.0\.0 queued as ([0-9A-Z]{26})$/.exec(reply)?.[1] ?? reply;

test('a message is a mail of the log, and its relay gets it byte for byte under our signature', async () => {
  const message = messageFrom(`Shop <${FROM}>`, {
    fields: [
      'Date: Fri, 27 Nov 2026 10:00:00 +0000',
      'Message-ID: <1@client.example>',
      'X-Odd:   kept  as\r\n\t it is ',
    ],
    body: '.one dot\r\n..two\r\n\r\n  \r\nend\r\n',
  });
  const id = idOf(await handIn(client, message.replace(/^\./gm, '..')));
  expect(await on.log(id)).toMatchObject({
    ...{ id, source: 'smtp', from_email: FROM, from_name: 'Shop', to: 'ada@example.org', cc: [], bcc: [] },
    ...{ subject: 'Hello', message_id: '<1@client.example>', attachments: [] },
  });
  const [mail] = await sink.waitForMails(1);
  const [, signature = '', rest] =
    /^(DKIM-Signature:(?:[^\r]|\r\n[ \t])*\r\n)([\s\S]*)$/.exec(mail?.raw.toString('latin1') ?? '') ?? [];
  expect(signature).toContain('d=shop.example.com');
  expect(rest).toBe(message);
  await on.settle();
  expect(await on.log(id)).toMatchObject({ status: 'sent', smtp_code: 250 });
});
