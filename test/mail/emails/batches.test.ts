/** POST /emails/batch: all or none, errors by place, one request of the key's rate, each mail of the day's limits. */

import { beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { MAX_BATCH_CONTENT_BYTES } from '../../../src/mail/emails/batches.ts';
import { MAX_BATCH_EMAILS } from '../../../src/mail/emails/schemas.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { type Answer, makeProject } from '../../support/helpers.ts';
import { detailsOf, startManagement } from '../../support/management.ts';
import { startSmtpSink } from '../../support/smtp-sink.ts';
import {
  addDomain,
  addMailbox,
  errorsOf,
  MAIL,
  RELAY_DOWN_PORT,
  rows,
  type Sender,
  startSender,
} from './setup.ts';

const PATH = '/api/v1/emails/batch';
const ULID = expect.stringMatching(/^[0-9A-Z]{26}$/);
const HALF_DAY_S = 12 * 3_600;

let sender: Sender;
beforeAll(async () => {
  sender = await startSender();
  await addDomain(sender.app, 'mail.example.com', null, { is_default: true });
});

/** Sends mails that are fine unless these fields make them otherwise. */
function batch(
  mails: unknown[],
  options: { on?: Sender; key?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const { on = sender, key = on.key, headers = {} } = options;
  const emails = mails.map((mail) => (isPlainObject(mail) ? { ...MAIL, ...mail } : mail));
  return on.app.call('POST', PATH, { key, headers, body: { emails } });
}

const many = (n: number, fields: Record<string, unknown> = {}) =>
  Array.from({ length: n }, (_, at) => ({ to: `n${at}@example.org`, ...fields }));

const resultsOf = ({ body }: Answer): Record<string, unknown>[] =>
  (Array.isArray(body.data) ? body.data : []).filter(isPlainObject);

function counts(on = sender): unknown {
  return rows(
    on.app,
    `SELECT (SELECT count(*) FROM emails) AS emails, (SELECT count(*) FROM jobs) AS jobs,
       (SELECT coalesce(sum(n), 0) FROM key_usage) AS of_keys, (SELECT coalesce(sum(n), 0) FROM mailbox_usage) AS of_mailboxes,
       (SELECT count(*) FROM email_bodies) AS bodies`,
  )[0];
}

async function template(slug: string, fields: Record<string, unknown> = {}, on = sender): Promise<void> {
  const answer = await on.app.call('POST', '/api/v1/emails/templates', {
    key: await on.project.key({ can_write: true, permissions: { email_template: true } }),
    body: {
      ...{ name: slug, slug, category: 'transactional', subject: 'Hello {{ name }}' },
      ...{ body_text: 'Hi {{ name }}', variables: [{ name: 'name', required: true }], ...fields },
    },
  });
  expect(answer.status).toBe(201);
}

async function upload(on = sender): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob(['x']), 'a.txt');
  const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  return String(body.public_id);
}

describe('a batch', () => {
  test('is answered 202 in order, and each of its mails is sent as one that came alone', async () => {
    const sink = await startSmtpSink();
    const on = await startSender();
    await addDomain(on.app, 'mail.example.com', sink);
    await template('hello', {}, on);
    const file = await upload(on);
    const answer = await batch(
      [
        { to: 'a@example.org', cc: ['c@example.org'], attachments: [file, file] },
        {
          ...{ to: 'b@example.org', subject: undefined, body_text: undefined },
          template: 'hello',
          variables: { name: 'Bo' },
        },
        { to: 'd@example.org', attachments: [file], queue: true },
        { to: 'later@example.org', scheduled_at: '2030-01-16T09:00:00Z' },
      ],
      { on },
    );
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      success: true,
      data: ['queued', 'queued', 'queued', 'scheduled'].map((status) => ({ id: ULID, status, job_id: ULID })),
    });
    await on.settle();
    const logs = await Promise.all(resultsOf(answer).map(({ id }) => on.log(id)));
    expect(logs.map(({ to, status, subject, job_id }) => ({ to, status, subject, job_id }))).toEqual(
      ['a', 'b', 'd', 'later'].map((name, at) => ({
        to: `${name}@example.org`,
        status: name === 'later' ? 'scheduled' : 'sent',
        subject: name === 'b' ? 'Hello Bo' : 'Hello',
        job_id: resultsOf(answer)[at]?.job_id,
      })),
    );
    expect(logs.map(({ attachments }) => (Array.isArray(attachments) ? attachments.length : null))).toEqual([
      1, 0, 1, 0,
    ]);
    expect(sink.mails.map(({ envelope }) => envelope.to).toSorted()).toEqual([
      ['a@example.org', 'c@example.org'],
      ['b@example.org'],
      ['d@example.org'],
    ]);
    await on.app.stop();
    await sink.stop();
  });

  test('has one mail to a hundred', async () => {
    expect((await batch([])).body.errors).toEqual({ emails: ['must have at least 1 entries (got 0)'] });
    expect((await batch([{}])).status).toBe(202);
    expect(resultsOf(await batch(many(MAX_BATCH_EMAILS)))).toHaveLength(100);
    expect((await batch(many(MAX_BATCH_EMAILS + 1))).body.errors).toEqual({
      emails: ['must have at most 100 entries (got 101)'],
    });
    for (const body of [{}, { emails: {} }, { emails: 'all' }])
      expect(errorsOf(await sender.app.call('POST', PATH, { key: sender.key, body }))).toEqual(['emails']);
  });

  test('is taken whole or not at all, and told all that is wrong with any of its mails, by place', async () => {
    await template('greeting');
    await sender.settle();
    const before = counts();
    const answer = await batch([
      {},
      { to: 'nobody', subject: '' },
      null,
      { from: 'stranger@example.net', attachments: ['01J00000000000000000000000'] },
      { subject: undefined, template: 'greeting', variables: {} },
      { template: 'absent', domain: 'other.example.com', cc: ['x'] },
      { scheduled_at: '2020-01-01T00:00:00Z', queue: false },
      { scheduled_at: '2020-01-01T00:00:00Z', subject: 'a\nb' },
    ]);
    expect(answer.status).toBe(422);
    expect(errorsOf(answer).toSorted()).toEqual([
      'emails.1.subject',
      'emails.1.to',
      'emails.2',
      'emails.3.attachments',
      'emails.3.from',
      'emails.4.variables.name',
      'emails.5.cc.0',
      'emails.5.domain',
      'emails.5.template',
      'emails.6.queue',
      'emails.6.scheduled_at',
      'emails.7.scheduled_at',
      'emails.7.subject',
    ]);
    expect(answer.text).not.toContain('stranger');
    expect(counts()).toEqual(before);
  });

  test('has the same words for a field as a mail alone', async () => {
    for (const fields of [
      { subject: '' },
      { domain: 'x.example.com' },
      { cc: ['x'] },
      { body_text: undefined },
    ]) {
      const alone = (await sender.send(fields)).body.errors;
      const { errors } = (await batch([{}, fields])).body;
      const expected = Object.entries(isPlainObject(alone) ? alone : {});
      expect(errors).toEqual(
        Object.fromEntries(expected.map(([name, words]) => [`emails.1.${name}`, words])),
      );
    }
  });

  test('needs the permission to send, and a restricted key its origin', async () => {
    const reader = await sender.project.key({ can_read: true, can_write: true });
    expect((await batch([{}], { key: reader })).status).toBe(403);
    expect((await sender.app.call('POST', PATH, { body: { emails: [MAIL] } })).status).toBe(401);
    const restricted = await sender.project.key({ can_send_emails: true, restricted: true });
    expect((await batch([{}], { key: restricted, headers: { Origin: 'https://x.example' } })).status).toBe(
      403,
    );
  });

  test('of a test key is captured, and uses up no mailbox’s limit', async () => {
    const on = await startSender();
    await addDomain(on.app, 'mail.example.com', RELAY_DOWN_PORT, { daily_limit: 1 });
    const key = await on.project.key({ can_read: true, can_send_emails: true, is_test: true });
    const answer = await batch(many(3), { on, key });
    expect(answer.status).toBe(202);
    await on.settle();
    expect(rows(on.app, 'SELECT DISTINCT status, is_test FROM emails')).toEqual([
      { status: 'sent', is_test: 1 },
    ]);
    expect(counts(on)).toMatchObject({ of_keys: 3, of_mailboxes: 0 });
  });

  test('takes no attachment of another project', async () => {
    const other = await makeProject(sender.app, 'other');
    const key = await other.key({ can_send_emails: true });
    const file = await upload();
    expect(errorsOf(await batch([{}, { attachments: [file] }], { key }))).toEqual(['emails.1.attachments']);
    expect((await batch([{}, { attachments: [file] }])).status).toBe(202);
  });

  test('counts as one request of the key’s rate', async () => {
    const key = await sender.project.key({ can_send_emails: true, rate_limit_per_minute: 2 });
    const answers = [
      await batch(many(5), { key }),
      await batch([{ to: 'x' }], { key }),
      await batch([{}], { key }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([202, 422, 429]);
    expect(answers[0]?.headers.get('ratelimit-remaining')).toBe('1');
  });
});

describe('the day’s limits', () => {
  test('of a key: a batch that has no room in it is 429 and leaves the room to others', async () => {
    const key = await sender.project.key({ can_send_emails: true, email_daily_limit: 5 });
    expect((await batch(many(3), { key })).status).toBe(202);
    await sender.settle();
    const before = counts();
    const answer = await batch(many(3), { key });
    expect(answer.status).toBe(429);
    expect(answer.body.message).toBe(
      'This API key has 2 left of its 5 messages of 2030-01-15 (UTC) and was asked for 3. Try again after midnight UTC.',
    );
    expect(answer.headers.get('retry-after')).toBe(String(HALF_DAY_S));
    expect(counts()).toEqual(before);
    expect((await batch(many(2), { key })).status).toBe(202);
    expect((await batch([{}], { key })).body.message).toContain('has used up its 5 messages');
  });

  test('of a key: each mail counts on the day that it is due', async () => {
    const key = await sender.project.key({ can_send_emails: true, email_daily_limit: 2 });
    const tomorrow = { scheduled_at: '2030-01-16T09:00:00Z' };
    expect((await batch([...many(2), ...many(2, tomorrow)], { key })).status).toBe(202);
    await sender.settle();
    const before = counts();
    expect((await batch(many(1, tomorrow), { key })).status).toBe(429);
    const two_days_on = { scheduled_at: '2030-01-17T09:00:00Z' };
    expect((await batch([...many(2, two_days_on), ...many(1, tomorrow)], { key })).status).toBe(429);
    expect(counts()).toEqual(before);
    expect((await batch(many(2, two_days_on), { key })).status).toBe(202);
  });

  test('of mailboxes: a batch spreads over them as single mails do, and is 429 where one of it has no room', async () => {
    const on = await startSender();
    await addDomain(on.app, 'mail.example.com', null, { daily_limit: 2 });
    await addMailbox(on.app, 'second@mail.example.com', null, { daily_limit: 4 });
    const answer = await batch(many(7), { on });
    expect(answer.status).toBe(429);
    expect(answer.body.message).toContain(
      'emails.6: No mailbox that this project may send from has capacity left',
    );
    expect(answer.headers.get('retry-after')).toBe(String(HALF_DAY_S));
    expect(counts(on)).toEqual({
      emails: 0,
      jobs: expect.any(Number),
      of_keys: 0,
      of_mailboxes: 0,
      bodies: 0,
    });
    expect((await batch(many(6), { on })).status).toBe(202);
    expect(rows(on.app, 'SELECT from_email, count(*) AS n FROM emails GROUP BY 1 ORDER BY n')).toEqual([
      { from_email: 'hello@mail.example.com', n: 2 },
      { from_email: 'second@mail.example.com', n: 4 },
    ]);
    expect((await batch([{}], { on })).status).toBe(429);
  });

  test('of mailboxes: mails that ask for one count for those that ask for none', async () => {
    const on = await startSender();
    await addDomain(on.app, 'mail.example.com', null, { daily_limit: 3 });
    const asks = { from: 'hello@mail.example.com' };
    expect((await batch([{}, asks, {}, asks], { on })).status).toBe(429);
    expect((await batch([{}, asks, {}], { on })).status).toBe(202);
  });

  test('hold for many batches at once', async () => {
    const on = await startSender();
    await addDomain(on.app, 'mail.example.com', null, { daily_limit: 25 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => batch(many(10), { on })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([202, 202, 429, 429, 429, 429]);
    expect(counts(on)).toMatchObject({ emails: 20, of_keys: 20, of_mailboxes: 20 });
  });
});

describe('an Idempotency-Key', () => {
  test('is one for all of a batch, however often it is sent at once', async () => {
    await sender.settle();
    const before = JSON.stringify(rows(sender.app, 'SELECT id FROM emails'));
    const headers = { 'Idempotency-Key': 'batch-1' };
    const answers = await Promise.all(Array.from({ length: 5 }, () => batch(many(4), { headers })));
    const [first] = answers;
    if (!first) throw new Error('no answer');
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers.filter(({ headers }) => headers.get('idempotent-replayed') === 'true')).toHaveLength(4);
    const added = rows(sender.app, 'SELECT id FROM emails').filter(
      (row) => !before.includes(JSON.stringify(row)),
    );
    expect(added).toEqual(resultsOf(first).map(({ id }) => ({ id })));
    expect((await batch(many(3), { headers })).status).toBe(409);
    expect((await sender.send({}, headers)).status).toBe(409);
  });

  test('of a batch that was refused is free for the next', async () => {
    const headers = { 'Idempotency-Key': 'batch-2' };
    expect((await batch([{ to: 'x' }], { headers })).status).toBe(422);
    expect((await batch([{}], { headers })).status).toBe(202);
  });
});

describe('a batch of large mails', () => {
  const large = 'x'.repeat(400_000);

  test('is refused where all of them together are too large', async () => {
    await template('large', { body_text: `{{ name }}${large}` });
    const fields = { subject: undefined, body_text: undefined, template: 'large', variables: { name: 'x' } };
    const fits = Math.floor(MAX_BATCH_CONTENT_BYTES / 400_001);
    expect(errorsOf(await batch(many(fits + 1, fields)))).toEqual(['emails']);
    expect((await batch(many(fits, fields))).status).toBe(202);
  });

  test('is rendered in turns with others', async () => {
    const placeholders = '{{a}}'.repeat(100_000);
    await template('slow', {
      body_text: `{{ name }}${placeholders}`,
      body_html: placeholders,
      variables: [],
    });
    const fields = {
      subject: undefined,
      body_text: undefined,
      template: 'slow',
      variables: { name: 'x', a: '' },
    };
    // The first compiles it.
    expect((await batch(many(1, fields))).status).toBe(202);
    const longest = await longestTurnMs(() => batch(many(100, fields)));
    // Without turns it is some 300.
    expect(longest).toBeLessThan(150);
  });
});

test('a token sends batches too: on the trail is each mail, and its own answer', async () => {
  const on = await startManagement();
  await addDomain(on.app, 'mail.example.com', null);
  const answer = await on.call('POST', '/projects/mine/emails/batch', on.scoped, { emails: [MAIL, MAIL] });
  expect(answer.status).toBe(202);
  expect(answer.body).toEqual({ data: Array(2).fill({ id: ULID, status: 'queued', job_id: ULID }) });
  const [, last] = Array.isArray(answer.body.data) ? answer.body.data : [];
  expect(on.lastEvent()).toMatchObject({
    event: 'email.accepted',
    target: `email:${last.id}`,
    metadata: { job_id: last.job_id },
  });
  expect(rows(on.app, "SELECT count(*) AS n FROM audit_events WHERE event = 'email.accepted'")).toEqual([
    { n: 2 },
  ]);
  const refused = await on.call('POST', '/projects/mine/emails/batch', on.scoped, { emails: [MAIL, {}] });
  expect(refused.status).toBe(422);
  expect(Object.keys(Object(detailsOf(refused).errors)).toSorted()).toEqual([
    'emails.1.body_html',
    'emails.1.subject',
    'emails.1.to',
  ]);
});

test('what the mails of a batch have in common is looked up once', async () => {
  const attachments = [await upload()];
  await template('once');
  const { templates, objects } = sender.app.services;
  const looks = [spyOn(templates, 'findForSend'), spyOn(objects, 'findMany')];
  const fields = {
    subject: undefined,
    body_text: undefined,
    template: 'once',
    variables: { name: 'x' },
    attachments,
  };
  expect((await batch(many(50, fields))).status).toBe(202);
  expect(looks.map(({ mock }) => mock.calls.length)).toEqual([1, 1]);
  for (const look of looks) look.mockRestore();
});
