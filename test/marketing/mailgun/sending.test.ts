/** Mailgun's API without recipient-variables: what it takes, who may, and what leaves for the relay. */
import { beforeAll, describe, expect, test } from 'bun:test';
import Ghosts from 'mailgun.js-ghost';
import { headersOf } from '../../mail/emails/setup.ts';
import { clientOf, DOMAIN, FROM, type MailgunApp, startMailgunApp } from './setup.ts';

let on: MailgunApp;
beforeAll(async () => {
  on = await startMailgunApp();
});

const LEAST = { from: FROM, to: 'ada@example.org', subject: 'Hello', text: 'Hi' };

/** The last message that the relay got, once all has left. */
async function left(): Promise<{ raw: string; to: string[] }> {
  await on.pass();
  const last = on.sink.mails.at(-1);
  return { raw: last?.raw.toString() ?? '', to: last?.envelope.to ?? [] };
}

const mailsOf = (subject: string) =>
  on.sql<{
    id: string;
    source: string;
    to_email: string;
    status: string;
    job_id: string | null;
    scheduled_at: number | null;
  }>(`SELECT * FROM emails WHERE subject = '${subject}' ORDER BY id`);

test.each([
  ['the newest client', undefined],
  ["Ghost's", Ghosts as never],
] as const)(
  'with %s a message goes out once, naming all but the blind copies; each is a mail of the log',
  async (which, Client) => {
    const before = on.sink.mails.length;
    const client = clientOf(on.app.url, on.mailgun_key, Client);
    const answer = await client.messages.create(DOMAIN, {
      ...{ from: FROM, to: ['Ada <ada@example.org>', 'bob@example.org, "Carl, C." <carl@example.org>'] },
      ...{
        cc: 'dora@example.org',
        bcc: 'eve@example.org',
        subject: which,
        html: '<p>Hi</p>',
        'h:X-Mine': 'yes',
      },
      ...{ 'h:Reply-To': 'Desk <desk@example.org>', 'o:tag': ['a', 'b'], 'v:n': '7' },
    });
    expect(answer).toEqual({
      status: 200,
      id: expect.any(String),
      message: 'Queued. Thank you.',
    } as typeof answer);
    const { raw } = await left();
    const mails = mailsOf(which.replaceAll("'", "''"));
    expect(mails.map(({ source, to_email, status }) => [source, to_email, status])).toEqual(
      ['ada', 'bob', 'carl', 'dora', 'eve'].map((name) => ['mailgun', `${name}@example.org`, 'sent']),
    );
    const headers = headersOf(raw);
    expect(headers).toContain('To: "Ada" <ada@example.org>, bob@example.org, "Carl, C."');
    expect(headers).toContain('Cc: dora@example.org');
    expect(headers).not.toContain('eve@');
    expect(headers).toContain('X-Mine: yes');
    expect(headers).toContain('Reply-To: "Desk" <desk@example.org>');
    expect(headers).toContain(`Message-ID: ${answer.id}`);
    expect(answer.id).toMatch(/^<[0-9a-z]{26}@news\.example\.com>$/);
    expect(
      new Set(
        on.sink.mails.slice(before).map(
          (mail) =>
            mail.raw
              .toString()
              .split('\r\n\r\n')[0]
              ?.match(/X-Mine.*/)?.[0],
        ),
      ),
    ).toEqual(new Set(['X-Mine: yes']));
    const [event] = await on.events(`begin=0&message-id=${encodeURIComponent(answer.id ?? '')}`);
    expect(event).toMatchObject({ event: 'accepted', tags: ['a', 'b'], 'user-variables': { n: '7' } });
  },
);

test('files are attached, and stand in the HTML by their names', async () => {
  await on.client.messages.create(DOMAIN, {
    ...{ ...LEAST, subject: 'Files', html: '<img src="cid:logo.png">' },
    attachment: { data: Buffer.from('hello'), filename: 'a.txt', contentType: 'text/plain' },
    inline: { data: Buffer.from('PNG'), filename: 'logo.png', contentType: 'image/png' },
  });
  const { raw } = await left();
  expect(raw).toMatch(/Content-Disposition: attachment; filename=a\.txt/);
  expect(raw).toContain(Buffer.from('hello').toString('base64'));
  expect(raw).toMatch(/Content-Id: <logo\.png>[\s\S]*Content-Disposition: inline; filename=logo\.png/i);
});

test('fields of h: are those that no mail has by itself, on one line', async () => {
  const sent = await on.post({
    ...LEAST,
    subject: 'Ids',
    'h:Message-Id': '<mine@app.example>',
    'h:Sender': 'desk@news.example.com',
  });
  expect(sent.body).toEqual({ id: '<mine@app.example>', message: 'Queued. Thank you.' });
  const { raw } = await left();
  expect(headersOf(raw)).toContain('Message-ID: <mine@app.example>');
  expect(headersOf(raw)).toContain('Sender: desk@news.example.com');
  for (const name of ['From', 'Bcc', 'DKIM-Signature', 'X-Satchel-Tag', 'Content-Type', 'X Y']) {
    const refused = await on.post({ ...LEAST, [`h:${name}`]: 'x' });
    expect([name, refused.status, Object.keys(refused.body)]).toEqual([name, 400, ['message']]);
  }
  expect((await on.post({ ...LEAST, 'h:X-A': 'a\r\nBcc: eve@example.org' })).status).toBe(400);
  expect((await on.post({ ...LEAST, 'h:Message-Id': 'mine' })).status).toBe(400);
});

test('links that Mailgun would make are left out of List-Unsubscribe, and are nowhere else', async () => {
  await on.post({
    ...LEAST,
    subject: 'Lists',
    'h:List-Unsubscribe': '<https://shop.example/u?a=1>, <%tag_unsubscribe_email%>',
  });
  expect(headersOf((await left()).raw)).toContain('List-Unsubscribe: <https://shop.example/u?a=1>');
  await on.post({ ...LEAST, subject: 'None', 'h:List-Unsubscribe': '<%unsubscribe_url%>' });
  expect(headersOf((await left()).raw)).not.toContain('List-Unsubscribe');
  for (const fields of [
    { text: 'to %unsubscribe_url%' },
    { 'h:X-A': '%tag_unsubscribe_email%' },
    { subject: '%unsubscribe_email%' },
  ])
    expect((await on.post({ ...LEAST, ...fields })).body.message).toContain('put your own');
});

test('one may be delivered within seven days, and at once where that is past', async () => {
  const at = on.app.clock.now() + 3 * 86_400_000;
  expect(
    (await on.post({ ...LEAST, subject: 'Later', 'o:deliverytime': new Date(at).toUTCString() })).status,
  ).toBe(200);
  expect(mailsOf('Later')).toMatchObject([
    { status: 'scheduled', scheduled_at: Math.floor(at / 1000) * 1000 },
  ]);
  await on.post({ ...LEAST, subject: 'Past', 'o:deliverytime': new Date(at - 9 * 86_400_000).toUTCString() });
  expect(mailsOf('Past')).toMatchObject([{ status: 'queued' }]);
  for (const sent of [new Date(at + 5 * 86_400_000).toUTCString(), 'tomorrow']) {
    const refused = await on.post({ ...LEAST, 'o:deliverytime': sent });
    expect([refused.status, String(refused.body.message)]).toEqual([
      400,
      expect.stringContaining('o:deliverytime'),
    ]);
  }
});

test('o:testmode and test keys capture', async () => {
  const test_key = await on.project.key({ can_send_emails: true, is_test: true });
  await on.pass();
  const before = on.sink.mails.length;
  await on.post({ ...LEAST, subject: 'Mode', 'o:testmode': 'yes' });
  await on.post({ ...LEAST, subject: 'Key' }, { key: test_key });
  await on.pass();
  expect([...mailsOf('Mode'), ...mailsOf('Key')]).toMatchObject([
    { is_test: 1, status: 'sent' },
    { is_test: 1, status: 'sent' },
  ]);
  expect(on.sink.mails).toHaveLength(before);
});

test('a message that came whole goes out as it came, but for what is for this server', async () => {
  const message = `From: Shop <mail@${DOMAIN}>\nTo: all\nBcc: eve@example.org\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\nX-Own: 1\n\nHi\n`;
  const answer = await on.client.messages.create(DOMAIN, { to: 'ada@example.org', message });
  const { raw, to } = await left();
  expect(to).toEqual(['ada@example.org']);
  expect(raw).toContain('X-Own: 1\r\n');
  expect(raw).not.toContain('eve@');
  expect(headersOf(raw)).toContain(`Message-ID: ${answer.id}`);
  expect(mailsOf('Grüße')).toMatchObject([
    { source: 'mailgun', from_name: 'Shop', to_email: 'ada@example.org' },
  ]);
  const path = `/${DOMAIN}/messages.mime`;
  expect((await on.post({ to: 'ada@example.org' }, { path })).status).toBe(400);
  expect((await on.post({ to: 'ada@example.org', message: 'To: x\n\nHi' }, { path })).body.message).toContain(
    'no From',
  );
  expect(
    (await on.post({ to: 'ada@example.org', message, 'recipient-variables': '{}' }, { path })).status,
  ).toBe(400);
});

test('what is not had here is refused, what means nothing is named', async () => {
  const warned = await on.post({ ...LEAST, 'o:dkim': 'yes', 'o:tracking-clicks': 'no' });
  expect([warned.status, warned.headers.get('warning')]).toEqual([
    200,
    '299 satchel "ignored fields: o_dkim, o_tracking-clicks"',
  ]);
  const many = Array.from({ length: 51 }, (_, n) => `r${n}@example.org`);
  const wrong: [Record<string, string | string[]>, string][] = [
    [{ template: 'welcome' }, 'template'],
    [{ 'amp-html': '<p>' }, 'amp-html'],
    [{ 't:variables': '{}' }, 't:variables'],
    [{ 'o:tag': Array.from({ length: 11 }, String) }, 'o:tag'],
    [{ 'o:testmode': 'perhaps' }, 'o:testmode'],
    [{ text: '' }, 'html'],
    [{ to: 'ada' }, 'to'],
    [{ to: ['ada@example.org', 'bob@example.org\\'] }, 'to'],
    [{ to: '"Ada, <ada@example.org>' }, 'to'],
    [{ to: [] }, 'to'],
    [{ to: many }, '50'],
    [{ from: 'eve@elsewhere.example' }, `mail@${DOMAIN}`],
    [{ 'v:big': 'x'.repeat(17_000) }, 'h:, v: and o:'],
  ];
  const before = on.sql('SELECT 1 FROM emails').length;
  for (const [fields, says] of wrong) {
    const answer = await on.post({ ...LEAST, ...fields });
    expect([says, answer.status, String(answer.body.message)]).toEqual([
      says,
      400,
      expect.stringContaining(says),
    ]);
  }
  expect(on.sql('SELECT 1 FROM emails')).toHaveLength(before);
});

describe('who may', () => {
  test('a key as password of the user api; all else is Forbidden, in plain text', async () => {
    const wrong = await on.post(LEAST, { key: 'nonsense' });
    expect([wrong.status, wrong.text]).toEqual([401, 'Forbidden']);
    const headers = { Authorization: `Basic ${Buffer.from(`eve:${on.mailgun_key}`).toString('base64')}` };
    expect((await on.app.call('POST', `/v3/${DOMAIN}/messages`, { headers })).status).toBe(401);
    await expect(clientOf(on.app.url, 'wrong').messages.create(DOMAIN, LEAST)).rejects.toMatchObject({
      status: 401,
    });
  });

  test('a key without the permission is told which it lacks, and a restricted one that an app sends no origin', async () => {
    const powerless = await on.project.key({ can_read: true });
    expect((await on.post(LEAST, { key: powerless })).body.message).toContain("'email'");
    const restricted = await on.project.key({ can_send_emails: true, restricted: true });
    const refused = await on.post(LEAST, { key: restricted });
    expect([refused.status, Object.keys(refused.body)]).toEqual([403, ['message']]);
    const app = await on.project.key({ can_send_emails: true, restricted: true, allow_no_origin: true });
    expect((await on.post(LEAST, { key: app })).status).toBe(200);
  });

  test('a domain that the project has not is not found, nor is any other path', async () => {
    const answer = await on.post(LEAST, { path: '/other.example/messages' });
    expect([answer.status, answer.body]).toEqual([404, { message: 'Domain not found: other.example' }]);
    expect(await on.ask('GET', `/${DOMAIN}/nothing`)).toMatchObject({
      status: 404,
      body: { message: expect.any(String) },
    });
    expect((await on.ask('GET', `/${DOMAIN}/messages`)).status).toBe(405);
  });

  test('nothing that is larger than a message may be is read', async () => {
    const headers = {
      Authorization: `Basic ${btoa(`api:${on.mailgun_key}`)}`,
      'Content-Type': 'multipart/form-data; boundary=b',
      'Content-Length': String(26 * 1024 * 1024),
    };
    const answer = await on.app.call('POST', `/v3/${DOMAIN}/messages`, { headers, body: 'x' });
    expect([answer.status, Object.keys(answer.body)]).toEqual([413, ['message']]);
    const json = await on.app.call('POST', `/v3/${DOMAIN}/messages`, {
      headers: { Authorization: headers.Authorization, 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect([json.status, String(json.body.message)]).toEqual([400, expect.stringContaining('Send a form')]);
  });
});
