/** Mail on the management plane: sent without a key, looked at, explained and tried again, with a name on the audit trail. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { runRecord } from '../../support/command.ts';
import { type Answer, addCapturingMailbox } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  detailsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';
import { addDomain, MAIL, RELAY_DOWN_PORT, rows } from './setup.ts';

let on: Management;

beforeAll(async () => {
  on = await startManagement();
  await addCapturingMailbox(on.app);
  // Nobody listens there: what goes out from it fails.
  await addDomain(on.app, 'down.example.com', RELAY_DOWN_PORT);
});

const PATH = '/projects/mine/emails';
const send = (fields: Record<string, unknown> = {}, token = on.scoped): Promise<Answer> =>
  on.call('POST', `${PATH}/send`, token, { ...MAIL, ...fields });
const mails = (): unknown[] => rows(on.app, 'SELECT id, status, attempts, job_id FROM emails');

/** A mail that has failed for good. */
async function failed(): Promise<string> {
  const answer = await send({ domain: 'down.example.com', queue: false });
  expect([answer.status, codeOf(answer)]).toEqual([503, 'UNAVAILABLE']);
  return String(detailsOf(answer).email_id);
}

describe('sending', () => {
  test('queues a real mail that is of no key, is polled on this plane, and names who sent it', async () => {
    const answer = await send();
    expect(answer.status).toBe(202);
    const { id, job_id, status_url } = dataOf(answer);
    expect(status_url).toBe(`http://satchel.test/api/public/v1/projects/${on.mine.public_id}/jobs/${job_id}`);
    expect(
      rows(on.app, `SELECT api_key_id, is_test, source, to_email FROM emails WHERE id = '${id}'`),
    ).toEqual([{ api_key_id: null, is_test: 0, source: 'api', to_email: MAIL.to }]);
    // Whom a mail went to is not on the trail, which nobody can empty.
    expect(on.lastEvent()).toEqual({
      ...{ event: 'email.accepted', target: `email:${id}`, actor_name: 'test token', metadata: { job_id } },
    });
    await on.app.app.engine.whenIdle();
    const polled = await on.app.call('GET', new URL(String(status_url)).pathname, { token: on.scoped });
    expect(dataOf(polled)).toMatchObject({ status: 'completed', result: { email_id: id } });
    const record = await on.call('GET', `${PATH}/${id}`, on.scoped);
    expect(dataOf(record)).toMatchObject({ id, status: 'sent', project_id: on.mine.public_id });
  });

  test('at once, and later, with a way back', async () => {
    const now = await send({ queue: false });
    expect([now.status, dataOf(now).status]).toEqual([201, 'sent']);
    const later = await send({ scheduled_at: '2031-01-01T00:00:00Z' });
    const { id, status, status_url } = dataOf(later);
    expect([later.status, status]).toEqual([201, 'scheduled']);
    expect(String(status_url)).toEndWith(`/projects/${on.mine.public_id}/emails/${id}`);
    const canceled = await on.call('DELETE', `${PATH}/${id}/schedule`, on.scoped);
    expect([canceled.status, dataOf(canceled).status]).toEqual([200, 'canceled']);
    expect(on.lastEvent()).toMatchObject({ event: 'email.canceled', target: `email:${id}` });
  });

  test('an Idempotency-Key answers again, to the same caller only', async () => {
    const once = (token: string) =>
      on.app.call('POST', `/api/public/v1${PATH}/send`, {
        ...{ token, body: MAIL, headers: { 'Idempotency-Key': 'k' } },
      });
    const first = await once(on.scoped);
    const again = await once(on.scoped);
    expect([again.status, again.text, again.headers.get('idempotent-replayed')]).toEqual([
      202,
      first.text,
      'true',
    ]);
    expect(dataOf(await once(on.all)).id).not.toBe(dataOf(first).id);
  });

  test('meets the limits of mailboxes, as there is no key to have one', async () => {
    await addDomain(on.app, 'one.example.com', null, { daily_limit: 1 });
    expect((await send({ domain: 'one.example.com' })).status).toBe(202);
    await on.app.app.engine.whenIdle();
    const before = mails();
    const refused = await send({ domain: 'one.example.com' });
    expect(refused.status).toBe(503);
    expect(mails()).toEqual(before);
  });

  test('tells all that is wrong, and stores nothing', async () => {
    await on.app.app.engine.whenIdle();
    const before = [mails(), on.snapshot()];
    const answer = await send({ to: 'nobody', subject: undefined, template: 'absent' });
    expect([answer.status, Object.keys(Object(detailsOf(answer).errors)).toSorted()]).toEqual([
      ...[422, ['template', 'to']],
    ]);
    expect([mails(), on.snapshot()]).toEqual(before);
  });
});

test('the log has the filters of the data plane', async () => {
  const { id } = dataOf(await send({ to: 'filter@example.org' }));
  const found = await on.call('GET', `${PATH}?to=filter@example.org`, on.scoped);
  expect(listOf(found)).toMatchObject([{ id, to: 'filter@example.org' }]);
  expect(found.body).toHaveProperty('meta.total', 1);
  expect(listOf(await on.call('GET', `${PATH}?status=bounced`, on.scoped))).toEqual([]);
  expect((await on.call('GET', `${PATH}?status=lost`, on.scoped)).status).toBe(422);
});

test('the story is what the command line tells', async () => {
  const id = await failed();
  const told = await on.call('GET', `${PATH}/${id}/story`, on.scoped);
  expect(told.status).toBe(200);
  expect(dataOf(told)).toEqual(await runRecord(on.app.data_dir, 'email', 'why', id));
  expect(dataOf(told).story).toContainEqual(expect.stringContaining('could not use its relay'));
});

test('the events are what the story tells, in the order of time', async () => {
  const id = await failed();
  const told = dataOf(await on.call('GET', `${PATH}/${id}/story`, on.scoped));
  const nothing = { outcome: null, who: null, words: null, tls: null, note: null };
  expect(told.events).toEqual([
    { ...nothing, kind: 'accepted', at: expect.any(String) },
    {
      ...{ ...nothing, kind: 'attempt', at: expect.any(String), outcome: 'unreachable' },
      ...{ who: 'hello@down.example.com', words: expect.stringContaining('ECONNREFUSED') },
      note: expect.any(String),
    },
  ]);
});

test('what a mail says can be read, without the tokens of its links to this server, until it is no longer kept', async () => {
  const token = 'a'.repeat(43);
  const body_html = `<a href="http://satchel.test/c/${token}?x=1">a</a> <a href="https://example.org/${token}">b</a>`;
  const answer = await send({
    body_html,
    body_text: `http://satchel.test/o/${token}.gif`,
    cc: ['c@example.org'],
  });
  const path = `${PATH}/${dataOf(answer).id}/content`;
  const read = dataOf(await on.call('GET', path, on.scoped));
  expect(read).toMatchObject({
    is_kept: true,
    body_html: `<a href="http://satchel.test/c/…?x=1">a</a> <a href="https://example.org/${token}">b</a>`,
    body_text: 'http://satchel.test/o/…',
  });
  expect(read.headers).toEqual(
    expect.arrayContaining([
      { name: 'To', value: MAIL.to },
      { name: 'Cc', value: 'c@example.org' },
      { name: 'Subject', value: MAIL.subject },
    ]),
  );
  await on.app.app.engine.whenIdle();
  await on.app.services.database.write((tx) => {
    tx.run(sql`DELETE FROM email_bodies WHERE email_id = ${dataOf(answer).id}`);
  });
  expect(dataOf(await on.call('GET', path, on.scoped))).toMatchObject({
    ...{ is_kept: false, body_html: null, body_text: null, headers: read.headers },
  });
});

test('a retry queues what failed, once, and is told in the story by the name of who wanted it', async () => {
  const id = await failed();
  const retried = await on.call('POST', `${PATH}/${id}/retry`, on.scoped);
  const { job_id, status_url } = dataOf(retried);
  expect([retried.status, dataOf(retried).id]).toEqual([202, id]);
  expect(status_url).toBe(`http://satchel.test/api/public/v1/projects/${on.mine.public_id}/jobs/${job_id}`);
  expect(rows(on.app, `SELECT job_id FROM emails WHERE id = '${id}'`)).toEqual([{ job_id }]);
  expect(on.lastEvent()).toMatchObject({
    event: 'email.retried',
    target: `email:${id}`,
    actor_name: 'test token',
  });
  const told = dataOf(await on.call('GET', `${PATH}/${id}/story`, on.scoped));
  expect(told.story).toContainEqual(expect.stringMatching(/^Queued again .* by test token \(token\)\.$/));
  await on.app.app.engine.whenIdle();
  const before = [mails(), on.snapshot()];
  const again = await on.call('POST', `${PATH}/${id}/retry`, on.scoped);
  expect([again.status, codeOf(again)]).toEqual([409, 'CONFLICT']);
  expect([mails(), on.snapshot()]).toEqual(before);
});

test('nobody without a credential or from another project gets at any of it', async () => {
  const id = await failed();
  const foreign = String(dataOf(await on.call('POST', '/projects/other/emails/send', on.all, MAIL)).id);
  await on.app.app.engine.whenIdle();
  const before = [mails(), on.snapshot()];
  const acts: [string, string][] = [
    ['POST', '/send'],
    ['GET', ''],
    ['GET', '/:id'],
    ['GET', '/:id/story'],
    ['GET', '/:id/content'],
    ['POST', '/:id/retry'],
    ['DELETE', '/:id/schedule'],
  ];
  for (const [method, path] of acts) {
    const body = path === '/send' ? MAIL : undefined;
    const at = (project: string, of: string) => `/projects/${project}/emails${path.replace(':id', of)}`;
    expect([method, path, (await on.call(method, at('mine', id), null, body)).status]).toEqual([
      method,
      path,
      401,
    ]);
    const outside = await on.call(method, at('other', foreign), on.scoped, body);
    expect([method, path, outside.status, codeOf(outside)]).toEqual([method, path, 404, 'NOT_FOUND']);
    if (!path.includes(':id')) continue;
    const elsewhere = await on.call(method, at('mine', foreign), on.scoped, body);
    const missing = await on.call(method, at('mine', '01ARZ3NDEKTSV4RRFFQ69G5FAV'), on.scoped, body);
    expect([method, path, elsewhere.status, elsewhere.text]).toEqual([method, path, 404, missing.text]);
  }
  expect([mails(), on.snapshot()]).toEqual(before);
});
