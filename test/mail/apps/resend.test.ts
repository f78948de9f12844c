/** The API of Resend: by its own SDK as it is, what it refuses, and what becomes of what it sent. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import PostalMime from 'postal-mime';
import { Resend } from 'resend';
import { EMAIL_BODY_RETENTION_MS, EMAIL_LOG_RETENTION_MS } from '../../../src/limits.ts';
import { Apps } from '../../../src/mail/apps/service.ts';
import { DAY_MS, HOUR_MS } from '../../../src/platform/host/clock.ts';
import { exported, imported } from '../../operation/transfers/setup.ts';
import { actor, makeProject, startTestApp } from '../../support/helpers.ts';
import { until } from '../../support/until.ts';
import { rows } from '../emails/setup.ts';
import { storedFiles } from '../submission/setup.ts';
import { ask, FROM, member, type Stage, startStage } from './setup.ts';

let on: Stage;
let resend: Resend;

beforeAll(async () => {
  on = await startStage();
  resend = clientOf(on.key);
});

const clientOf = (key: string): Resend => new Resend(key, { baseUrl: `${on.app.url}/resend` });
const MAIL = { from: `Shop <${FROM}>`, to: 'ada@example.org', subject: 'Hello', text: 'Hi' };
const post = (body: unknown, options: Parameters<typeof ask>[3] = {}, path = '/emails') =>
  ask(on, 'POST', `/resend${path}`, { body, ...options });
const countAll = () =>
  on.app.services.database.read.$client
    .query<{ emails: number; calls: number }, []>(
      'SELECT (SELECT count(*) FROM emails) AS emails, (SELECT count(*) FROM app_calls) AS calls',
    )
    .all();
const later = (ms = HOUR_MS): string => new Date(on.app.clock.now() + ms).toISOString();
const statusesOf = (id: string) =>
  rows(
    on.app,
    `SELECT to_email, status FROM emails WHERE call_id = (SELECT call_id FROM emails WHERE id = '${id}') ORDER BY id`,
  );

/** What the SDK got; fails where it got an error. */
function dataOf<T>({ data, error }: { data: T | null; error: unknown }): T {
  expect(error).toBeNull();
  if (data === null) throw new Error('no data');
  return data;
}

describe("npm's resend", () => {
  test('sends one message to all of them, each a mail of the log, which it reads as it was sent', async () => {
    const { id } = dataOf(
      await resend.emails.send({
        from: `"Shop, Inc." <${FROM}>`,
        to: ['Ada Lovelace <ada@example.org>', 'bob@example.org'],
        cc: 'Cy =?utf-8?Q?=0D=0AX-Evil=3A_1?= <cy@example.org>',
        bcc: ['dan@example.org', 'ADA@example.org'],
        replyTo: ['help@shop.example.com', 'Émile <emile@shop.example.com>'],
        subject: 'Zürich =?utf-8?Q?=0D=0A?=',
        html: '<p>Hi <b>Ada</b></p><img src="cid:logo">',
        headers: { 'X-Entity-Ref-ID': '7', 'In-Reply-To': '<1@a.example>' },
        tags: [{ name: 'kind', value: 'welcome_1' }],
        attachments: [
          { filename: 'ü.txt', content: Buffer.from('hello\n') },
          {
            filename: 'logo.png',
            content: Buffer.from([1, 2, 3]),
            contentType: 'image/png',
            contentId: 'logo',
          },
        ],
      }),
    );
    const mails = await on.sink.waitForMails(4);
    expect(mails.map(({ envelope }) => envelope.to[0]).sort()).toEqual([
      ...['ada@example.org', 'bob@example.org', 'cy@example.org', 'dan@example.org'],
    ]);
    const bodies = mails.map(({ raw }) =>
      raw.toString('latin1').replace(/^DKIM-Signature:(.*\r\n[ \t])*.*\r\n/, ''),
    );
    expect(new Set(bodies).size).toBe(1);
    const read = await PostalMime.parse(mails[0]?.raw ?? '');
    expect(read.from).toMatchObject({ name: 'Shop, Inc.', address: FROM });
    expect(read.to).toMatchObject([{ name: 'Ada Lovelace' }, { address: 'bob@example.org' }]);
    expect(read.cc).toMatchObject([{ address: 'cy@example.org' }]);
    expect(read.replyTo).toMatchObject([{}, { name: 'Émile', address: 'emile@shop.example.com' }]);
    expect(bodies[0]).not.toMatch(/^(Bcc|X-Evil)/im);
    expect(read.subject).toStartWith('Zürich');
    expect(read.text).toContain('Hi Ada');
    expect(read.html).toContain('cid:logo');
    expect(read.headers).toContainEqual(expect.objectContaining({ key: 'x-entity-ref-id', value: '7' }));
    expect(
      read.attachments.map(({ filename, mimeType, contentId, content }) => [
        ...[filename, mimeType, contentId, Buffer.from(content as ArrayBuffer).toString('hex')],
      ]),
    ).toEqual([
      ['logo.png', 'image/png', '<logo>', '010203'],
      ['ü.txt', 'text/plain', undefined, Buffer.from('hello\n').toString('hex')],
    ]);
    await on.settle();
    const email = dataOf(await resend.emails.get(id));
    expect(email).toMatchObject({
      ...{ object: 'email', id, from: `Shop, Inc. <${FROM}>`, bcc: ['dan@example.org', 'ADA@example.org'] },
      to: ['Ada Lovelace <ada@example.org>', 'bob@example.org'],
      cc: ['Cy =?utf-8?Q?=0D=0AX-Evil=3A_1?= <cy@example.org>'],
      reply_to: ['help@shop.example.com', 'Émile <emile@shop.example.com>'],
      html: expect.stringContaining('<b>Ada</b>'),
      text: expect.stringContaining('Hi Ada'),
      ...{ last_event: 'sent', scheduled_at: null, tags: [{ name: 'kind', value: 'welcome_1' }] },
    });
    expect(member(email, 'message_id')).toBe(read.messageId);
    expect(statusesOf(id)).toHaveLength(4);
    expect(await on.log(id)).toMatchObject({
      source: 'resend',
      to: 'ada@example.org',
      to_name: 'Ada Lovelace',
    });
    expect(storedFiles(on.app.data_dir)).toHaveLength(1);
  });

  test('attaches objects of the project by URL and by id, with their name and type unless told', async () => {
    const stored = async (content: string, filename: string): Promise<string> => {
      const form = new FormData();
      form.set('file', new Blob([content], { type: 'text/csv' }), filename);
      const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
      return String(body.public_id);
    };
    const [small, large] = [await stored('a,b\n', 'a.csv'), await stored('c,d\n'.repeat(40_000), 'b.csv')];
    const before = on.sink.mails.length;
    dataOf(
      await resend.emails.send({
        ...MAIL,
        attachments: [
          { path: `http://satchel.test/api/v1/objects/${small}` },
          { path: large.toLowerCase(), filename: 'other.txt', contentType: 'text/plain' },
        ],
      }),
    );
    const mails = await on.sink.waitForMails(before + 1);
    const { attachments } = await PostalMime.parse(mails.at(-1)?.raw ?? '');
    expect(attachments.map(({ filename, mimeType }) => [filename, mimeType])).toEqual([
      ['a.csv', 'text/csv'],
      ['other.txt', 'text/plain'],
    ]);
    expect(Buffer.from(attachments[1]?.content as ArrayBuffer).toString()).toBe('c,d\n'.repeat(40_000));
  });

  test('sends a batch, all or none, whatever validation it asks for', async () => {
    const before = countAll();
    const two = [MAIL, { ...MAIL, to: ['eve@example.org', 'fay@example.org'] }];
    const refused = await resend.batch.send([...two, { ...MAIL, headers: { Bcc: 'x@example.org' } }], {
      batchValidation: 'permissive',
    });
    expect(refused.error).toMatchObject({
      statusCode: 422,
      name: 'validation_error',
      message: expect.stringContaining('Email 3'),
    });
    expect(countAll()).toEqual(before);
    const { data } = dataOf(await resend.batch.send(two, { batchValidation: 'permissive' }));
    expect(data).toHaveLength(2);
    expect(data.map(({ id }) => statusesOf(id).length)).toEqual([1, 2]);
    const many = await post(
      Array.from({ length: 101 }, () => MAIL),
      {},
      '/emails/batch',
    );
    expect(many).toMatchObject({ status: 422, body: { name: 'validation_error' } });
    const to = Array.from({ length: 50 }, (_, at) => `a${at}@example.org`);
    const crowd = Array.from({ length: 21 }, () => ({ ...MAIL, to }));
    expect(await post(crowd, {}, '/emails/batch')).toMatchObject({
      status: 422,
      body: { message: 'A batch may have 1000 recipients in all, and has 1050.' },
    });
    for (const more of [{ attachments: [{ filename: 'a', content: '' }] }, { scheduled_at: later() }])
      expect(await post([{ ...MAIL, ...more }], {}, '/emails/batch')).toMatchObject({ status: 422 });
  });

  test('schedules, moves and cancels, all recipients of the call', async () => {
    const scheduledAt = later();
    const to = ['ada@example.org', 'bob@example.org'];
    const { id } = dataOf(await resend.emails.send({ ...MAIL, to, scheduledAt }));
    expect(statusesOf(id)).toEqual(to.map((to_email) => ({ to_email, status: 'scheduled' })));
    expect(dataOf(await resend.emails.get(id))).toMatchObject({
      last_event: 'scheduled',
      scheduled_at: scheduledAt,
    });
    const moved = later(DAY_MS + HOUR_MS);
    expect(dataOf(await resend.emails.update({ id, scheduledAt: moved }))).toMatchObject({
      object: 'email',
      id,
    });
    await on.settle();
    const sent = on.sink.mails.length;
    await on.pass(2 * HOUR_MS);
    expect(on.sink.mails).toHaveLength(sent);
    await on.pass(DAY_MS);
    expect((await on.sink.waitForMails(sent + 2)).length).toBe(sent + 2);
    await on.settle();
    expect((await resend.emails.cancel(id)).error).toMatchObject({
      statusCode: 422,
      name: 'validation_error',
    });
    const again = dataOf(await resend.emails.send({ ...MAIL, to, scheduledAt: later() }));
    expect(dataOf(await resend.emails.cancel(again.id))).toMatchObject({ object: 'email', id: again.id });
    expect(statusesOf(again.id)).toEqual(to.map((to_email) => ({ to_email, status: 'canceled' })));
    for (const scheduled_at of [later(), 'in 1 min', later(-HOUR_MS)])
      expect(await ask(on, 'PATCH', `/resend/emails/${again.id}`, { body: { scheduled_at } })).toMatchObject({
        status: 422,
        body: { name: 'validation_error' },
      });
  });

  test('moves what is scheduled within the limits of the days, or not at all', async () => {
    const key = await on.project.key({ can_read: true, can_send_emails: true, email_daily_limit: 1 });
    const client = clientOf(key);
    const on_day = (days: number) => ({ ...MAIL, scheduledAt: later(days * DAY_MS) });
    const { id } = dataOf(await client.emails.send(on_day(1)));
    const full = dataOf(await client.emails.send(on_day(2)));
    expect((await client.emails.update({ id, scheduledAt: later(2 * DAY_MS) })).error).toMatchObject({
      ...{ statusCode: 429, name: 'daily_quota_exceeded' },
    });
    expect((await client.emails.send(on_day(1))).error).toMatchObject({ name: 'daily_quota_exceeded' });
    const scheduledAt = later(3 * DAY_MS);
    dataOf(await client.emails.update({ id, scheduledAt }));
    const next = dataOf(await client.emails.send(on_day(1)));
    expect(dataOf(await client.emails.get(id))).toMatchObject({
      scheduled_at: scheduledAt,
      last_event: 'scheduled',
    });
    for (const one of [id, full.id, next.id]) dataOf(await client.emails.cancel(one));
  });

  test('reads any mail of the project, and its state in words of Resend', async () => {
    const { body } = await on.send({
      from_name: 'Shop',
      cc: ['cy@example.org'],
      reply_to: 'help@example.org',
    });
    const id = String(body.id);
    await on.settle();
    expect(dataOf(await resend.emails.get(id))).toMatchObject({
      ...{ id, from: `Shop <${FROM}>`, to: ['ada@example.org'], cc: ['cy@example.org'], bcc: [] },
      ...{ reply_to: ['help@example.org'], text: 'Hi Ada', tags: [], last_event: 'sent' },
    });
    const told = {
      queued: 'queued',
      sending: 'queued',
      unknown: 'failed',
      bounced: 'bounced',
      complained: 'complained',
    };
    for (const [status, event] of Object.entries(told)) {
      await on.app.services.database.write((tx) =>
        tx.run(sql`UPDATE emails SET status = ${status} WHERE id = ${id}`),
      );
      expect(dataOf(await resend.emails.get(id))).toMatchObject({ last_event: event });
    }
    await on.app.services.database.write((tx) =>
      tx.run(sql`UPDATE emails SET status = 'sent' WHERE id = ${id}`),
    );
  });

  test('is set up by the environment alone, as the guide has it', async () => {
    const guide = await Bun.file(`${import.meta.dir}/../../../handbook/smtp.md`).text();
    expect(guide).toContain('RESEND_BASE_URL=https://satchel.example.com/resend');
    process.env.RESEND_BASE_URL = `${on.app.url}/resend`;
    const { id } = dataOf(await new Resend(on.key).emails.send(MAIL));
    delete process.env.RESEND_BASE_URL;
    expect(statusesOf(id)).toHaveLength(1);
  });

  test('lists the domains that the project may use', async () => {
    await on.app.services.sending_domains.add(actor, { name: 'new.example.com' });
    const { data } = dataOf(await resend.domains.list());
    expect(data).toEqual([
      expect.objectContaining({
        id: 'shop.example.com',
        name: 'shop.example.com',
        status: 'verified',
        region: 'us-east-1',
      }),
      expect.objectContaining({ name: 'new.example.com', status: 'pending' }),
    ]);
  });

  test('is told 404 for what is not had here, and 405 for other methods', async () => {
    expect((await resend.audiences.list()).error).toMatchObject({ statusCode: 404, name: 'not_found' });
    expect((await resend.broadcasts.list()).error).toMatchObject({ name: 'not_found' });
    expect((await resend.contacts.list({ audienceId: 'a' })).error).toMatchObject({ name: 'not_found' });
    expect((await resend.emails.get('01ARZ3NDEKTSV4RRFFQ69G5FAV')).error).toMatchObject({
      name: 'not_found',
    });
    expect(await ask(on, 'GET', '/resend/emails')).toMatchObject({
      status: 405,
      body: { statusCode: 405, name: 'method_not_allowed', message: expect.any(String) },
    });
  });
});

describe('a request', () => {
  const REFUSED: [fields: Record<string, unknown>, status: number, name: string, message: string][] = [
    [{ from: undefined }, 422, 'missing_required_field', '`from`'],
    [{ to: undefined }, 422, 'missing_required_field', '`to`'],
    [{ to: [] }, 422, 'missing_required_field', '`to`'],
    [{ subject: undefined }, 422, 'missing_required_field', '`subject`'],
    [{ text: undefined }, 422, 'missing_required_field', '`html` or `text`'],
    [{ text: 5 }, 422, 'validation_error', '`text`'],
    [{ from: 'Shop <other@shop.example.com>' }, 422, 'invalid_from_address', FROM],
    [{ from: 'nobody' }, 422, 'invalid_from_address', FROM],
    [{ to: 'ada@example.org, bob@example.org' }, 422, 'validation_error', 'Entry 1 of `to`'],
    [{ cc: ['ada@example.org', 'nobody'] }, 422, 'validation_error', 'Entry 2 of `cc`'],
    [{ reply_to: 'a@b.example\r\nX: 1' }, 422, 'validation_error', '`reply_to`'],
    [{ to: 'A\nX: 1 <a@b.example>' }, 422, 'validation_error', '`to`'],
    [{ bcc: Array.from({ length: 50 }, (_, at) => `a${at}@example.org`) }, 422, 'validation_error', '50'],
    [{ scheduled_at: 'in 1 min' }, 422, 'validation_error', 'in 1 min'],
    [
      { scheduled_at: '2020-01-01T00:00:00Z' },
      422,
      'validation_error',
      'scheduled_at: must be in the future',
    ],
    [{ template: { id: 'welcome' } }, 422, 'validation_error', '`template`'],
    [{ subject: 'a\nb' }, 422, 'validation_error', 'subject'],
    [{ tags: [{ name: 'a b', value: 'c' }] }, 422, 'validation_error', 'tag'],
    [{ tags: [{ name: 'a', value: 'c'.repeat(257) }] }, 422, 'validation_error', 'tag'],
    [{ headers: { 'X-A': 'b\r\nBcc: x@example.org' } }, 422, 'validation_error', 'line breaks'],
    [{ headers: { 'X A': 'b' } }, 422, 'validation_error', 'X A'],
    [{ headers: { 'X-A': 'b'.repeat(2_000) } }, 422, 'validation_error', 'line'],
    [{ attachments: [{ filename: 'a' }] }, 422, 'invalid_attachment', '`content` or `path`'],
    [{ attachments: [{ content: 'YQ==' }] }, 422, 'invalid_attachment', '`filename`'],
    [{ attachments: [{ filename: 'a', content: 'a' }] }, 422, 'invalid_attachment', 'base64'],
    [{ attachments: [{ filename: 'a', content: '{}' }] }, 422, 'invalid_attachment', 'base64'],
    [
      { attachments: [{ path: 'https://example.com/a.pdf' }] },
      422,
      'invalid_attachment',
      'nothing else is fetched',
    ],
    [{ attachments: [{ path: '01ARZ3NDEKTSV4RRFFQ69G5FAV' }] }, 422, 'invalid_attachment', 'stored object'],
    [{ attachments: [{ filename: 'a\r\nb', content: '' }] }, 422, 'invalid_attachment', '`filename`'],
    [
      { attachments: [{ filename: 'a', content: '', content_type: 'a\r\nb/c' }] },
      422,
      'invalid_attachment',
      'content_type',
    ],
    [
      { attachments: [{ filename: 'a', content: '', content_id: 'a b' }] },
      422,
      'invalid_attachment',
      'content_id',
    ],
  ];
  for (const name of [
    ...['From', 'to', 'CC', 'Bcc', 'Subject', 'Reply-To', 'Date', 'Message-ID', 'Sender', 'MIME-Version'],
    ...['Content-Type', 'DKIM-Signature', 'Received', 'Return-Path', 'X-Satchel-Idempotency-Key'],
  ])
    REFUSED.push([{ headers: { [name]: 'x' } }, 422, 'validation_error', 'is written here']);

  test.each(REFUSED)('with %j is %i %s, and changes nothing', async (fields, status, name, message) => {
    const before = [countAll(), storedFiles(on.app.data_dir).length];
    const answer = await post({ ...MAIL, ...fields });
    expect(answer.body).toEqual({ statusCode: status, name, message: expect.stringContaining(message) });
    expect(answer.status).toBe(status);
    expect([countAll(), storedFiles(on.app.data_dir).length]).toEqual(before);
  });

  test('that is no JSON, or too large, is refused', async () => {
    for (const body of ['{', '[]', '"a"', '\xff'])
      expect(await post(body)).toMatchObject({ status: 422, body: { name: 'validation_error' } });
    const attachments = [{ filename: 'a', content: 'A'.repeat(26 * 1024 ** 2) }];
    expect(await post({ ...MAIL, attachments })).toMatchObject({
      status: 413,
      body: { statusCode: 413, name: 'validation_error' },
    });
  });

  test('needs a key that is good, may send, and comes without an origin', async () => {
    const refused = async (
      bearer: string | null,
      status: number,
      name: string,
      message: string,
      path = '/emails',
    ) => {
      const answer = await post(MAIL, { bearer }, path);
      expect(answer.body).toEqual({ statusCode: status, name, message: expect.stringContaining(message) });
    };
    await refused(null, 401, 'missing_api_key', 'Bearer');
    await refused(null, 401, 'missing_api_key', 'Bearer', '/emails/batch');
    await refused(`${on.key.slice(0, -1)}${on.key.endsWith('x') ? 'y' : 'x'}`, 403, 'invalid_api_key', 'key');
    await refused(await on.project.key({ can_read: true }), 401, 'restricted_api_key', "'email'");
    const restricted = await on.project.key({ can_send_emails: true, restricted: true, is_test: true });
    await refused(restricted, 401, 'restricted_api_key', 'allow_no_origin');
    const of_servers = { can_send_emails: true, restricted: true, allow_no_origin: true, is_test: true };
    expect(await post(MAIL, { bearer: await on.project.key(of_servers) })).toMatchObject({ status: 200 });
    const { id } = dataOf(await resend.emails.send(MAIL));
    const only_sends = await on.project.key({ can_send_emails: true, can_read: false });
    expect((await clientOf(only_sends).emails.get(id)).error).toMatchObject({ name: 'restricted_api_key' });
  });

  test("does not reach another project's mails", async () => {
    const stranger = await makeProject(on.app, 'stranger');
    const key = await stranger.key({ can_read: true, can_send_emails: true });
    const { id } = dataOf(await resend.emails.send({ ...MAIL, scheduledAt: later() }));
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['POST', '/cancel'],
    ] as const)
      expect(
        await ask(on, method, `/resend/emails/${id}${path}`, {
          bearer: key,
          ...(method === 'PATCH' ? { body: { scheduled_at: later() } } : {}),
        }),
      ).toMatchObject({ status: 404, body: { name: 'not_found' } });
    const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: formOf('mine') });
    const path = String(body.public_id);
    expect(await post({ ...MAIL, attachments: [{ path }] }, { bearer: key })).toMatchObject({
      status: 422,
      body: { name: 'invalid_attachment' },
    });
    expect(statusesOf(id)).toMatchObject([{ status: 'scheduled' }]);
    dataOf(await resend.emails.cancel(id));
  });

  test('under an Idempotency-Key is sent once', async () => {
    const headers = { 'Idempotency-Key': 'k'.repeat(256) };
    const answers = await Promise.all([post(MAIL, { headers }), post(MAIL, { headers })]);
    const [counted] = countAll();
    const before = {
      emails: counted?.emails ?? 0,
      calls: counted?.calls ?? 0,
      files: storedFiles(on.app.data_dir).length,
    };
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(dataOf(await resend.emails.send(MAIL, { idempotencyKey: 'k2' }))).toEqual(
      dataOf(await resend.emails.send(MAIL, { idempotencyKey: 'k2' })),
    );
    expect(await post({ ...MAIL, subject: 'Other' }, { headers })).toMatchObject({
      status: 409,
      body: { name: 'invalid_idempotent_request' },
    });
    for (const key of ['k'.repeat(257), ''])
      expect(await post(MAIL, { headers: { 'Idempotency-Key': key } })).toMatchObject({
        status: 400,
        body: { name: 'invalid_idempotency_key' },
      });
    expect(countAll()).toEqual([{ emails: before.emails + 1, calls: before.calls + 1 }]);
    expect(storedFiles(on.app.data_dir)).toHaveLength(before.files + 1);
  });

  test('counts as one of the rate, and each recipient towards the day, all or none', async () => {
    const key = await on.project.key({
      can_send_emails: true,
      email_daily_limit: 3,
      rate_limit_per_minute: 3,
    });
    const to = ['ada@example.org', 'bob@example.org'];
    expect(await post({ ...MAIL, to }, { bearer: key })).toMatchObject({ status: 200 });
    const before = countAll();
    const over = await post({ ...MAIL, to }, { bearer: key });
    expect(over).toMatchObject({ status: 429, body: { statusCode: 429, name: 'daily_quota_exceeded' } });
    expect(Number(over.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(countAll()).toEqual(before);
    expect(await post(MAIL, { bearer: key })).toMatchObject({ status: 200 });
    expect(await post(MAIL, { bearer: key })).toMatchObject({
      status: 429,
      body: { name: 'rate_limit_exceeded' },
    });
  });

  test('that is small waits for none that is large', async () => {
    const ended: string[] = [];
    const large = post({ ...MAIL, text: undefined, html: '<b>'.repeat(1_000_000) }).then(() =>
      ended.push('large'),
    );
    // Until it is in the works; what comes before it would not wait either way.
    await Bun.sleep(200);
    await post(MAIL).then(() => ended.push('small'));
    await large;
    expect(ended).toEqual(['small', 'large']);
  });

  test('of a test key is captured', async () => {
    await on.settle();
    const sent = on.sink.mails.length;
    const { id } = dataOf(
      await clientOf(await on.project.key({ can_send_emails: true, is_test: true })).emails.send(MAIL),
    );
    await on.settle();
    expect(await on.log(id)).toMatchObject({ status: 'sent', captured: true });
    expect(on.sink.mails).toHaveLength(sent);
  });
});

function formOf(content: string): FormData {
  const form = new FormData();
  form.set('file', new Blob([content]), 'a.txt');
  return form;
}

describe('nothing is said to be sent, and nothing stays', () => {
  const before = () => [countAll(), storedFiles(on.app.data_dir).length];

  test('where a mailbox is paused, or the bytes go, before the mails are in the log', async () => {
    const { mailboxes, blobs, internal_objects } = on.app.services;
    const setStatus = (status: 'active' | 'paused') => mailboxes.setStatus(actor, FROM, status);
    const keep = internal_objects.keep.bind(internal_objects);
    const found = before();
    for (const [meanwhile, status, name] of [
      [() => setStatus('paused'), 422, 'invalid_from_address'],
      [(public_id: string) => blobs.remove(public_id), 503, 'application_error'],
    ] as const) {
      internal_objects.keep = async (files, within) => {
        await meanwhile(files[0]?.public_id ?? '');
        await keep(files, within);
      };
      expect(await post([MAIL, MAIL], {}, '/emails/batch')).toMatchObject({
        status,
        body: { statusCode: status, name },
      });
      expect(before()).toEqual(found);
      await setStatus('active');
    }
    internal_objects.keep = keep;
    expect(await post(MAIL)).toMatchObject({ status: 200 });
  });

  test('where the key is switched off while the body comes, or before the mails are in the log', async () => {
    const { keys, projects, internal_objects } = on.app.services;
    const { plaintext_key: key, id } = await keys.create(actor, projects.require(on.project.slug), {
      ...{ name: 'fleeting', can_send_emails: true },
    });
    const turn = (is_active: boolean) => keys.update(actor, keys.require(String(id)), { is_active });
    const found = before();
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(Buffer.from(JSON.stringify(MAIL).slice(0, -1)));
        await Bun.sleep(20);
        await turn(false);
        controller.enqueue(Buffer.from('}'));
        controller.close();
      },
    });
    const headers = { Authorization: `Bearer ${key}` };
    expect((await fetch(`${on.app.url}/resend/emails`, { method: 'POST', headers, body })).status).toBe(403);
    await turn(true);
    const keep = internal_objects.keep.bind(internal_objects);
    const [reached, gone] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    internal_objects.keep = async (...asked) => {
      reached.resolve();
      await gone.promise;
      await keep(...asked);
    };
    const answer = post(MAIL, { bearer: key });
    await reached.promise;
    await turn(false);
    gone.resolve();
    expect(await answer).toMatchObject({ status: 403, body: { name: 'invalid_api_key' } });
    internal_objects.keep = keep;
    expect(before()).toEqual(found);
  });

  test('where a message takes too long to be made', async () => {
    const { services } = on.app;
    const apps = new Apps(services, 1);
    const caller = services.keys.authenticate({
      ...{ api_key: on.key, origin: null, app_id: null, android_package: null, android_cert: null },
    });
    const found = before();
    const take = (html: string) =>
      apps.take({
        ...{ source: 'resend', path: '/resend/emails', caller, idempotency_key: null },
        request: new Request('http://satchel.test', {
          method: 'POST',
          body: JSON.stringify({ ...MAIL, text: undefined, html }),
        }),
        acceptAgain: () => caller,
      });
    expect(await take('<b>'.repeat(1_000_000)).catch((error: unknown) => error)).toMatchObject({
      kind: 'invalid',
      message: expect.stringContaining('processor time'),
    });
    expect(before()).toEqual(found);
    apps.stop();
  });
});

describe('what is kept of a call', () => {
  const of = (id: string) =>
    rows(on.app, `SELECT parties FROM app_calls WHERE id = (SELECT call_id FROM emails WHERE id = '${id}')`);

  const callIdOf = (id: string) =>
    on.app.services.database.read.$client
      .query<{ call_id: string }, [string]>('SELECT call_id FROM emails WHERE id = ?')
      .all(id);

  test('names nobody, and its message is gone, once one of its recipients is forgotten', async () => {
    const to = ['Gil <gil@example.org>', 'hal@example.org'];
    const { id } = dataOf(
      await resend.emails.send({ ...MAIL, to, scheduledAt: later(), tags: [{ name: 'a', value: 'b' }] }),
    );
    const { privacy, projects } = on.app.services;
    const files = storedFiles(on.app.data_dir).length;
    await privacy.forget(actor, projects.require(on.project.slug), 'gil@example.org');
    await until(() => storedFiles(on.app.data_dir).length === files - 1);
    expect(of(id)).toEqual([{ parties: '{}' }]);
    expect(dataOf(await resend.emails.get(id))).toMatchObject({
      ...{ to: [], cc: [], reply_to: [], html: null, text: null, last_event: 'canceled' },
      tags: [{ name: 'a', value: 'b' }],
    });
    expect(statusesOf(id)).toMatchObject([
      { to_email: '' },
      { to_email: 'hal@example.org', status: 'canceled' },
    ]);
  });

  test('goes to another Satchel with its project', async () => {
    const { id } = dataOf(await resend.emails.send(MAIL));
    await on.settle();
    const other = await startTestApp();
    await imported(other, await exported(on.app, { is_copy: true }));
    expect(
      rows(
        other,
        `SELECT app_calls.source, parties FROM app_calls JOIN emails ON call_id = app_calls.id WHERE emails.id = '${id}'`,
      ),
    ).toEqual([
      {
        source: 'resend',
        parties: JSON.stringify({ to: ['ada@example.org'], cc: [], bcc: [], reply_to: [] }),
      },
    ]);
  });

  test('loses its message with old bodies, and goes with the last mail of the log', async () => {
    const { id } = dataOf(await resend.emails.send({ ...MAIL, to: ['ada@example.org', 'bob@example.org'] }));
    await on.settle();
    const [{ call_id } = { call_id: '' }] = callIdOf(id);
    expect(storedFiles(on.app.data_dir)).toContain(call_id);
    // Ids never go back, so those of this file may be ahead by what tests before it had the clock at.
    on.app.clock.advance(EMAIL_BODY_RETENTION_MS + 90 * DAY_MS);
    await on.app.services.emails.sweep();
    expect(storedFiles(on.app.data_dir)).not.toContain(call_id);
    expect(dataOf(await resend.emails.get(id))).toMatchObject({
      html: null,
      text: null,
      to: ['ada@example.org', 'bob@example.org'],
    });
    on.app.clock.advance(EMAIL_LOG_RETENTION_MS);
    await on.app.services.emails.sweep();
    expect(countAll()).toEqual([{ emails: 0, calls: 0 }]);
  });
});
