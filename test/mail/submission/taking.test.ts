/** Messages that come by SMTP: what is taken, what each becomes, and what leaves for the relay. */

import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, runWith } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
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

test('a message to several is as many mails and one file, which goes with the last of them', async () => {
  const { services, data_dir } = on.app;
  const { read } = services.database;
  const body =
    '--b\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nGr\xc3\xbc\xc3\x9fe\r\n--b\r\nContent-Type: application/pdf; name="a.pdf"\r\n' +
    'Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="a.pdf"\r\n\r\naGVsbG8=\r\n--b--\r\n';
  const message = messageFrom(FROM, {
    subject: 'Many',
    fields: [
      'Bcc: eve@example.org',
      'Return-Path: <x@y.example>',
      'X-Satchel-Tag: t',
      'MIME-Version: 1.0',
      'Content-Type: multipart/mixed; boundary=b',
    ],
    body,
  });
  const to = ['many1@example.org', 'many2@example.org', 'many3@example.org'];
  const first = idOf(await handIn(client, message, to));
  const mails = read.$client
    .query<{ id: string; to_email: string; message: string }, []>(
      "SELECT id, to_email, message FROM emails JOIN email_bodies ON email_id = id WHERE subject = 'Many' ORDER BY id",
    )
    .all();
  expect(mails.map(({ to_email }) => to_email)).toEqual(to);
  expect(mails[0]?.id).toBe(first);
  expect(new Set(mails.map(({ message: object }) => object)).size).toBe(1);
  await on.settle();
  const object = mails[0]?.message ?? '';
  const kept = join(data_dir, 'objects', object.slice(-2), object);
  const written = readFileSync(kept, 'latin1');
  expect(written).not.toMatch(/^(Bcc|Return-Path|X-Satchel)/im);
  expect(written).toMatch(/^Date: .* \+0000\r$/m);
  expect(written).toMatch(/^Message-ID: <[0-9a-z]{26}@shop\.example\.com>\r$/m);
  expect(written).toEndWith(body);
  const path = `/api/public/v1/projects/${on.project.slug}/emails/${first}`;
  const { token } = await services.tokens.create(actor, {
    name: 't',
    all_projects: true,
    projects: [],
    capabilities: [],
  });
  const content = await on.app.call('GET', `${path}/content`, { token });
  expect(content.body.data).toMatchObject({
    ...{ is_kept: true, body_text: 'Grüße\n', body_html: null, size_bytes: written.length },
    attachments: [{ public_id: null, filename: 'a.pdf', mime_type: 'application/pdf', size_bytes: 5 }],
  });
  const whole = await on.app.app.handle(
    new Request(`http://satchel.test${path}/message`, { headers: { authorization: `Bearer ${token}` } }),
  );
  expect(whole.headers.get('content-type')).toBe('message/rfc822');
  expect(Buffer.from(await whole.arrayBuffer()).toString('latin1')).toBe(written);
  // Nobody has it as a file.
  expect((await on.get('/objects')).body.data).toEqual([]);
  expect((await on.get(`/objects/${object}`)).status).toBe(404);
  expect((await on.send({ attachments: [object] })).status).toBe(422);
  // It names them all, so it goes with any of them.
  const project = services.projects.require(on.project.slug);
  expect(await services.privacy.forget(actor, project, 'many2@example.org')).toMatchObject({ emails: 1 });
  expect(existsSync(kept)).toBe(false);
  expect(services.internal_objects.find(read, object)).toBeNull();
  expect((await on.app.call('GET', `${path}/message`, { token })).status).toBe(404);
});

test('the shell says what an app is to be set to, and where nothing listens', async () => {
  const ref = ['key', 'smtp', '1', '--json'];
  expect((await run(on.app.data_dir, ...ref)).exit).toBe(1);
  const env = {
    SATCHEL_SMTP_PORT: '2525',
    SATCHEL_SMTP_HOST: '0.0.0.0',
    SATCHEL_PUBLIC_URL: 'https://mail.example.com',
  };
  const { stdout, exit } = await runWith({ ...env, SATCHEL_DATA_DIR: on.app.data_dir }, ...ref);
  expect([exit, JSON.parse(stdout)]).toEqual([
    0,
    { host: 'mail.example.com', port: 2525, tls: 'none', user: 'satchel' },
  ]);
});
