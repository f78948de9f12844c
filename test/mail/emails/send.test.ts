/** POST /emails/send and the log: shapes, statuses, permissions, limits, templates, scheduling. */
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { dkimVerify } from 'mailauth/lib/dkim/verify';
import { actor, makeProject } from '../../support/helpers.ts';
import { type SmtpSink, startSmtpSink } from '../../support/smtp-sink.ts';
import { TestClock } from '../../support/temp.ts';
import { addDomain, errorsOf, headersOf, RELAY_DOWN_PORT, rows, type Sender, startSender } from './setup.ts';

let sink: SmtpSink;
let sender: Sender;

beforeAll(async () => {
  sink = await startSmtpSink();
  sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', sink);
});
afterAll(() => sink.stop());

function lastMail(): string {
  return sink.mails.at(-1)?.raw.toString() ?? '';
}

describe('a queued email', () => {
  test('is answered 202 with the whole result, and then sent', async () => {
    const answer = await sender.send({ to_name: 'Ada', from_name: 'Shop', reply_to: 'help@example.com' });
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      status: 'queued',
      from_email: 'hello@mail.example.com',
      domain: 'mail.example.com',
      job_id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      status_url: `http://satchel.test/api/v1/jobs/${answer.body.job_id}`,
      scheduled_at: null,
      sent_at: null,
    });
    await sender.settle();
    expect(sink.mails.at(-1)?.envelope).toEqual({ from: 'hello@mail.example.com', to: ['ada@example.org'] });
    const headers = headersOf(lastMail());
    expect(headers).toContain('From: Shop <hello@mail.example.com>');
    expect(headers).toContain('To: Ada <ada@example.org>');
    expect(headers).toContain('Reply-To: help@example.com');
    expect(headers).toContain('d=mail.example.com');
  });

  test('arrives with a signature that its domain’s DNS record verifies', async () => {
    await sender.send();
    await sender.settle();
    const { records } = await sender.app.services.sending_domains.verify(actor, 'mail.example.com');
    const dkim = records.find(({ purpose }) => purpose === 'dkim');
    const { results } = await dkimVerify(sink.mails.at(-1)?.raw ?? '', {
      resolver: async (name: string) => (name === dkim?.name ? [[dkim.value]] : []),
    });
    expect(results.map(({ status, signingDomain }) => [status.result, signingDomain])).toEqual([
      ['pass', 'mail.example.com'],
    ]);
  });

  test('has a log with every field, and a job whose result names it', async () => {
    const { body } = await sender.send({ cc: ['cc@example.org'], bcc: ['bcc@example.org'] });
    await sender.settle();
    const at = new Date(sender.app.clock.now()).toISOString();
    expect(await sender.log(body.id)).toEqual({
      id: body.id,
      project_id: sender.project.public_id,
      job_id: body.job_id,
      source: 'api',
      status: 'sent',
      from_email: 'hello@mail.example.com',
      from_name: null,
      domain: 'mail.example.com',
      to: 'ada@example.org',
      to_name: null,
      cc: ['cc@example.org'],
      bcc: ['bcc@example.org'],
      captured: false,
      reply_to: null,
      subject: 'Hello',
      template: null,
      attachments: [],
      message_id: expect.stringMatching(/^<[0-9a-z]{26}@mail\.example\.com>$/),
      attempts: 1,
      smtp_code: 250,
      smtp_response: expect.stringContaining('250'),
      bounce_type: null,
      refused: [],
      error: null,
      app_id: null,
      ip: null,
      user_agent: null,
      created_at: at,
      scheduled_at: null,
      queued_at: at,
      replied_at: null,
      sent_at: at,
      delivered_at: null,
      opened_at: null,
      clicked_at: null,
      bounced_at: null,
      complained_at: null,
      failed_at: null,
    });
    expect(sink.mails.at(-1)?.envelope.to).toEqual(['ada@example.org', 'cc@example.org', 'bcc@example.org']);
    expect(headersOf(lastMail())).not.toContain('bcc@example.org');
    expect(await sender.job(body.job_id)).toMatchObject({
      type: 'email.send',
      status: 'completed',
      attempts: 1,
      result: { email_id: body.id },
      error: null,
    });
  });

  test('records app id, address and user agent only when an app id is sent', async () => {
    const plain = await sender.send({}, { 'User-Agent': 'curl/8' });
    const named = await sender.send({}, { 'User-Agent': 'shop/1.0', 'X-App-Id': 'com.example.shop' });
    expect(await sender.log(plain.body.id)).toMatchObject({ app_id: null, user_agent: null });
    expect(await sender.log(named.body.id)).toMatchObject({
      app_id: 'com.example.shop',
      user_agent: 'shop/1.0',
    });
    const long = await sender.send({}, { 'User-Agent': 'u'.repeat(2_000), 'X-App-Id': 'a'.repeat(2_000) });
    expect(await sender.log(long.body.id)).toMatchObject({
      app_id: 'a'.repeat(255),
      user_agent: 'u'.repeat(500),
    });
  });
});

describe('a synchronous email', () => {
  test('is sent before the answer, 201 with sent_at, and has a completed job', async () => {
    await sender.settle();
    const before = sink.mails.length;
    const answer = await sender.send({ queue: false });
    expect(answer.status).toBe(201);
    expect(sink.mails.length).toBe(before + 1);
    expect(answer.body).toMatchObject({
      status: 'sent',
      sent_at: new Date(sender.app.clock.now()).toISOString(),
      scheduled_at: null,
      status_url: `http://satchel.test/api/v1/jobs/${answer.body.job_id}`,
    });
    expect(await sender.job(answer.body.job_id)).toMatchObject({ status: 'completed', attempts: 1 });
  });
});

describe('a scheduled email', () => {
  test('is answered 201 with the log as its status, even with queue false, and goes out when it is due', async () => {
    const before = sink.mails.length;
    const answer = await sender.send({ scheduled_at: '2030-01-15T13:00:00', queue: false });
    expect(answer.status).toBe(201);
    expect(answer.body).toMatchObject({
      status: 'scheduled',
      scheduled_at: '2030-01-15T13:00:00.000Z',
      sent_at: null,
      status_url: `http://satchel.test/api/v1/emails/${answer.body.id}`,
    });
    await sender.pass(59 * 60_000);
    expect(sink.mails.length).toBe(before);
    expect(await sender.log(answer.body.id)).toMatchObject({
      status: 'scheduled',
      queued_at: null,
      attempts: 0,
    });
    await sender.pass(60_000);
    expect(sink.mails.length).toBe(before + 1);
    expect(await sender.log(answer.body.id)).toMatchObject({ status: 'sent' });
  });

  test('comes after what is sent at once, where both are due', async () => {
    const scheduled = await sender.send({ scheduled_at: '2031-03-03T13:00:00Z' });
    const at_once = await sender.send();
    const jobs = `('${scheduled.body.job_id}', '${at_once.body.job_id}')`;
    expect(rows(sender.app, `SELECT id FROM jobs WHERE id IN ${jobs} ORDER BY priority`)).toEqual([
      { id: at_once.body.job_id },
      { id: scheduled.body.job_id },
    ]);
    await sender.settle();
  });

  test('is canceled once, with its job and its place in the quotas', async () => {
    const answer = await sender.send({ scheduled_at: '2031-01-15T13:00:00+02:00' });
    const path = `/api/v1/emails/${answer.body.id}/schedule`;
    const used = () => rows(sender.app, "SELECT n FROM mailbox_usage WHERE day = '2031-01-15'");
    expect(used()).toEqual([{ n: 1 }]);
    const canceled = await sender.app.call('DELETE', path, { key: sender.key });
    expect(canceled.status).toBe(200);
    expect(canceled.body).toMatchObject({ id: answer.body.id, status: 'canceled' });
    expect(used()).toEqual([{ n: 0 }]);
    expect(rows(sender.app, "SELECT n FROM key_usage WHERE day = '2031-01-15'")).toEqual([{ n: 0 }]);
    expect(await sender.job(answer.body.job_id)).toMatchObject({
      status: 'failed',
      result: { email_id: answer.body.id },
    });
    expect((await sender.app.call('DELETE', path, { key: sender.key })).status).toBe(409);
  });

  test('cannot be canceled where there is no schedule, by a stranger or without the permission', async () => {
    const queued = await sender.send();
    const scheduled = await sender.send({ scheduled_at: '2031-01-15T13:00:00Z' });
    const stranger = await (await makeProject(sender.app, 'stranger')).key({ can_send_emails: true });
    const reader = await sender.project.key({ can_read: true });
    const cancel = (id: unknown, key: string) =>
      sender.app.call('DELETE', `/api/v1/emails/${id}/schedule`, { key });
    expect((await cancel(queued.body.id, sender.key)).status).toBe(409);
    expect((await cancel(scheduled.body.id, stranger)).status).toBe(404);
    expect((await cancel(scheduled.body.id, reader)).status).toBe(403);
    expect((await cancel('nonsense', sender.key)).status).toBe(404);
    expect(await sender.log(scheduled.body.id)).toMatchObject({ status: 'scheduled' });
  });
});

describe('a refused request', () => {
  const long = (length: number) => '\u{1F600}'.repeat(length);
  const CASES: [string, Record<string, unknown>, string][] = [
    ['no recipient', { to: undefined }, 'to'],
    ['a recipient that is no address', { to: 'ada at example' }, 'to'],
    ['several recipients', { to: ['ada@example.org'] }, 'to'],
    ['a line break in the recipient', { to: 'ada@example.org\r\nBcc: eve@example.org' }, 'to'],
    ['a percent escape in the domain of a recipient', { to: 'ceo@ex%61mple.org' }, 'to'],
    ['a percent sign in the local part of a recipient', { to: 'ada%example.com@example.org' }, 'to'],
    ['full-width letters in the domain of a copy', { cc: ['ada@\uff45xample.org'] }, 'cc.0'],
    ['a soft hyphen in the domain of a reply_to', { reply_to: 'ada@exam\u00adple.org' }, 'reply_to'],
    ['a domain of ours with a percent escape', { domain: 'm%61il.example.com' }, 'domain'],
    ['no subject', { subject: undefined }, 'subject'],
    ['an empty subject', { subject: ' ' }, 'subject'],
    ['a subject of 501 characters', { subject: long(501) }, 'subject'],
    ['a line break in the subject', { subject: 'Hello\r\nBcc: eve@example.org' }, 'subject'],
    ['a bare line feed in the subject', { subject: 'Hello\nBcc: eve@example.org' }, 'subject'],
    ['a line break in from_name', { from_name: 'Shop\r\nBcc: eve@example.org' }, 'from_name'],
    ['a line break in to_name', { to_name: 'Ada\nBcc: eve@example.org' }, 'to_name'],
    ['from_name of 256 characters', { from_name: long(256) }, 'from_name'],
    ['to_name of 256 characters', { to_name: long(256) }, 'to_name'],
    ['no body', { body_text: undefined }, 'body_html'],
    ['a body of one byte too many', { body_text: `${'x'.repeat(511_999)}é` }, 'body_text'],
    ['eleven copies', { cc: Array.from({ length: 11 }, (_, n) => `c${n}@example.org`) }, 'cc'],
    ['eleven blind copies', { bcc: Array.from({ length: 11 }, (_, n) => `c${n}@example.org`) }, 'bcc'],
    ['a copy to no address', { cc: ['nobody-here'] }, 'cc.0'],
    ['a reply_to with a line break', { reply_to: 'a@example.org\nX: y' }, 'reply_to'],
    ['six attachments', { attachments: Array(6).fill('01ARZ3NDEKTSV4RRFFQ69G5FAV') }, 'attachments'],
    ['an attachment id that is none', { attachments: ['01ARZ3'] }, 'attachments.0'],
    ['an attachment that does not exist', { attachments: ['01ARZ3NDEKTSV4RRFFQ69G5FAV'] }, 'attachments'],
    ['a domain that is not ours', { domain: 'elsewhere.example' }, 'domain'],
    ['a domain that is none', { domain: 'no domain' }, 'domain'],
    ['a time in the past', { scheduled_at: '2030-01-15T11:59:59Z' }, 'scheduled_at'],
    ['a time that does not exist', { scheduled_at: '2031-02-30T12:00:00Z' }, 'scheduled_at'],
    ['a queue that is no boolean', { queue: 'no' }, 'queue'],
    ['a template that does not exist', { template: 'gone' }, 'template'],
  ];
  for (const [name, fields, field] of CASES) {
    test(`${name} is 422 naming ${field}, and leaves nothing`, async () => {
      const count = () =>
        rows(sender.app, 'SELECT (SELECT count(*) FROM emails) e, (SELECT count(*) FROM jobs) j');
      const before = count();
      const answer = await sender.send(fields);
      expect(answer.status).toBe(422);
      expect(answer.body.success).toBe(false);
      const [submitted] = Object.values(fields);
      expect(errorsOf(answer, typeof submitted === 'string' ? submitted : undefined)).toEqual([field]);
      expect(count()).toEqual(before);
    });
  }

  test('what is just within the limits is taken', async () => {
    const answer = await sender.send({
      subject: long(500),
      from_name: long(255),
      to_name: long(255),
      body_text: 'x'.repeat(512_000),
      body_html: 'y'.repeat(512_000),
      cc: Array.from({ length: 10 }, (_, n) => `c${n}@example.org`),
      bcc: Array.from({ length: 10 }, (_, n) => `b${n}@example.org`),
    });
    expect(answer.status).toBe(202);
  });

  test('null counts as absent and unknown fields are ignored', async () => {
    const answer = await sender.send({
      cc: null,
      domain: null,
      scheduled_at: null,
      template: null,
      colour: 'red',
    });
    expect(answer.status).toBe(202);
  });
});

describe('a template', () => {
  test('gives the content, and is named in the log', async () => {
    const author = await sender.project.key({ can_write: true, permissions: { email_template: true } });
    await sender.app.call('POST', '/api/v1/emails/templates', {
      key: author,
      body: {
        name: 'Receipt',
        slug: 'receipt',
        category: 'receipt',
        subject: 'Order {{ order }}',
        body_text: 'Thanks, {{ name }}',
        variables: [{ name: 'order', required: true }],
      },
    });
    const variables = { order: 'A-7', name: 'Ada' };
    const answer = await sender.send({ template: 'receipt', variables, subject: 'ignored' });
    expect(answer.status).toBe(202);
    await sender.settle();
    const sent = sink.mails.map((mail) => mail.raw.toString()).filter((raw) => raw.includes('Order A-7'));
    expect(sent.length).toBe(1);
    expect(sent[0]).toContain('Thanks, Ada');
    expect(sent[0]).not.toContain('ignored');
    expect(await sender.log(answer.body.id)).toMatchObject({ template: 'receipt', subject: 'Order A-7' });
    expect((await sender.send({ template: 'receipt', variables: { name: 'Ada' } })).status).toBe(422);
  });
});

describe('the log', () => {
  test('is readable with read only, by the project alone', async () => {
    const { body } = await sender.send();
    const mailer = await sender.project.key({ can_send_emails: true });
    const stranger = await (await makeProject(sender.app, 'other')).key({ can_read: true });
    const status = async (key: string) =>
      (await sender.app.call('GET', `/api/v1/emails/${body.id}`, { key })).status;
    expect([await status(sender.key), await status(mailer), await status(stranger)]).toEqual([200, 403, 404]);
    const missing = await sender.get('/emails/01ARZ3NDEKTSV4RRFFQ69G5FAV');
    const foreign = await sender.app.call('GET', `/api/v1/emails/${body.id}`, { key: stranger });
    expect(foreign.body).toEqual(missing.body);
  });

  test('is listed newest first with filters that add up', async () => {
    const project = await makeProject(sender.app, 'lister');
    const key = await project.key({ can_read: true, can_send_emails: true });
    const send = (fields: object) =>
      sender.app.call('POST', '/api/v1/emails/send', {
        key,
        body: { to: 'ada@example.org', subject: 's', body_text: 'b', ...fields },
      });
    const first = await send({});
    sender.app.clock.advance(60_000);
    const middle = new Date(sender.app.clock.now()).toISOString();
    const second = await send({ to: 'bob@example.org' });
    const third = await send({ scheduled_at: '2032-01-01T00:00:00Z' });
    await sender.settle();
    const ids = async (query: string): Promise<unknown[]> => {
      const { body } = await sender.app.call('GET', `/api/v1/emails?${query}`, { key });
      const data = Array.isArray(body.data) ? body.data : [];
      expect(body.meta).toMatchObject({ total: data.length, count: data.length });
      return data.map((email: { id: unknown }) => email.id);
    };
    const all = [third.body.id, second.body.id, first.body.id];
    expect(await ids('')).toEqual(all);
    expect(await ids('status=scheduled')).toEqual([third.body.id]);
    expect(await ids('status=sent')).toEqual([second.body.id, first.body.id]);
    expect(await ids('to=bob@example.org')).toEqual([second.body.id]);
    expect(await ids('to=Bob@Example.ORG')).toEqual([second.body.id]);
    expect(await ids('to=BO')).toEqual([second.body.id]);
    expect(await ids('to=ob@example.org')).toEqual([]);
    expect(await ids('to=bob&status=sent&date_from=2020-01-01')).toEqual([second.body.id]);
    expect(await ids('to=bob&status=failed')).toEqual([]);
    expect(await ids('template=none')).toEqual([]);
    expect(await ids(`date_from=${middle}`)).toEqual([third.body.id, second.body.id]);
    expect(await ids(`date_to=${middle}`)).toEqual([first.body.id]);
    for (const before_1970 of ['1969-12-31T23:59:59Z', '0000-01-01']) {
      expect(await ids(`date_from=${before_1970}`)).toEqual(all);
      expect(await ids(`date_to=${before_1970}`)).toEqual([]);
    }
    expect(await ids('date_from=9999-12-31T23:59:59Z')).toEqual([]);
    const bad = await sender.app.call('GET', '/api/v1/emails?status=lost', { key });
    expect(bad.status).toBe(422);
  });

  test('the beginning of an address is found by its index, whatever else is asked for', async () => {
    const client = sender.app.services.database.read.$client;
    const asked = spyOn(client, 'prepare');
    await sender.send({ to: 'zoe@example.org' });
    const to = 'to=Zo';
    for (const query of [to, `${to}&status=sent&template=hello&date_from=2020-01-01T00:00:00Z`])
      expect((await sender.get(`/emails?${query}`)).status).toBe(200);
    const statements = asked.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes('"to_email" >='));
    asked.mockRestore();
    // To count and to list; where none fits, there is nothing to list.
    expect(statements).toHaveLength(3);
    for (const sql of statements)
      expect(JSON.stringify(client.query(`EXPLAIN QUERY PLAN ${sql}`).all())).toContain(
        'INDEX emails_by_recipient (project_id=? AND to_email>? AND to_email<?',
      );
  });
});

test('without any usable mailbox a send is 503, and nothing is stored', async () => {
  const empty = await startSender();
  const answer = await empty.send();
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(rows(empty.app, 'SELECT id FROM emails')).toEqual([]);
});

test('a relay that is down does not keep a send from being queued', async () => {
  const other = await startSender();
  await addDomain(other.app, 'down.example.com', RELAY_DOWN_PORT);
  expect((await other.send()).status).toBe(202);
});

test('what an ended email held is forgotten after 30 days, the log after a year, and nothing that still waits', async () => {
  // Ids never go back within a process, so this clock is ahead of those of the other tests.
  const keeper = await startSender({ clock: new TestClock('2040-01-01T00:00:00Z') });
  await addDomain(keeper.app, 'mail.example.com', null);
  const sent = await keeper.send();
  const waiting = await keeper.send({ scheduled_at: '2045-01-01T00:00:00Z' });
  await keeper.settle();
  const kept = () =>
    rows(
      keeper.app,
      'SELECT count(*) AS bodies, (SELECT count(*) FROM captured_messages) AS captured FROM email_bodies',
    );
  const { emails, deliveries } = keeper.app.services;
  const sweep = () => Promise.all([emails.sweep(), deliveries.sweep()]);
  keeper.app.clock.advance(30 * 86_400_000);
  await sweep();
  expect(kept()).toEqual([{ bodies: 2, captured: 1 }]);
  keeper.app.clock.advance(1);
  await sweep();
  expect(kept()).toEqual([{ bodies: 1, captured: 0 }]);
  expect(await keeper.log(sent.body.id)).toMatchObject({ status: 'sent' });
  keeper.app.clock.advance(335 * 86_400_000);
  await emails.sweep();
  expect((await keeper.get(`/emails/${sent.body.id}`)).status).toBe(404);
  expect((await keeper.get(`/emails/${waiting.body.id}`)).status).toBe(200);
});

test('large contents are forgotten in small steps, so that other writes come between', async () => {
  const keeper = await startSender({ clock: new TestClock('2050-01-01T00:00:00Z') });
  await addDomain(keeper.app, 'mail.example.com', null);
  const body_html = 'x'.repeat(500_000);
  for (let n = 0; n < 12; n += 1) await keeper.send({ body_html, body_text: body_html });
  await keeper.settle();
  keeper.app.clock.advance(31 * 86_400_000);
  const { emails, database } = keeper.app.services;
  const sweeping = emails.sweep();
  const countBodies = 'SELECT count(*) FROM email_bodies';
  const left = await database.write((tx) => tx.$client.query(countBodies).values()[0]?.[0]);
  expect(left).toBeGreaterThan(0);
  await sweeping;
  expect(rows(keeper.app, 'SELECT count(*) AS n FROM email_bodies')).toEqual([{ n: 0 }]);
  await keeper.app.stop();
});
