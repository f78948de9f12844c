/** The Warning that names what a client sent and no endpoint knows: on answers, refusals and replays, and never a value. */
import { beforeAll, expect, test } from 'bun:test';
import { addCapturingMailbox, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';

let app: TestApp;
let key = '';
beforeAll(async () => {
  app = await startTestApp();
  const project = await makeProject(app, 'shop');
  key = await project.key({ can_read: true, can_write: true, can_send_emails: true });
  await addCapturingMailbox(app);
});

const mail = { to: 'ann@example.org', subject: 's', body_text: 'b' };
const send = (body: unknown, headers: Record<string, string> = {}) =>
  app.call('POST', '/api/v1/emails/send', { key, body, headers });

test('an answer names the unknown fields in the order of the body, a page may read it, and the log counts them', async () => {
  const headers = { Origin: 'https://app.example.com' };
  const { status, headers: answered } = await send({ zeta: 'hunter2', ...mail, alpha: { to: 1 } }, headers);
  expect([status, answered.get('warning')]).toEqual([202, '299 satchel "ignored fields: zeta, alpha"']);
  expect(answered.get('access-control-expose-headers')).toContain('Warning');
  expect(app.logs()).toContain('"ignored_fields":2');
  expect(app.logs()).not.toContain('hunter2');
});

test('there is no Warning where every field is known', async () => {
  expect((await send(mail)).headers.get('warning')).toBeNull();
});

test('refusals have it too: a 422, a 403 of the body, and a 404', async () => {
  const wrong = await send({ ...mail, to: 5, boddy: 'x' });
  expect([wrong.status, wrong.headers.get('warning')]).toEqual([422, '299 satchel "ignored fields: boddy"']);
  const absent = await app.call('PATCH', '/api/v1/email-schedules/01ARZ3NDEKTSV4RRFFQ69G5FAV', {
    key,
    body: { nme: 'n' },
  });
  expect([absent.status, absent.headers.get('warning')]).toEqual([404, '299 satchel "ignored fields: nme"']);
});

test('a replay has it as the first answer had', async () => {
  const again = () => send({ ...mail, tpyo: 1 }, { 'Idempotency-Key': 'k1' });
  const first = await again();
  const second = await again();
  expect(second.headers.get('idempotent-replayed')).toBe('true');
  expect(second.text).toBe(first.text);
  expect([first, second].map(({ headers }) => headers.get('warning'))).toEqual(
    Array(2).fill('299 satchel "ignored fields: tpyo"'),
  );
});

test('at most ten are named, each cut at 64 characters, and what no header can carry is shown as _', async () => {
  const odd = { 'a"b\r\nSet-Cookie: x': 1, é: 1, __proto: 1, ['x'.repeat(80)]: 1, '😀y': 1 };
  const { headers } = await send({ ...mail, ...odd, a1: 1, a2: 1, a3: 1, a4: 1, a5: 1, a6: 1 });
  expect(headers.get('warning')).toBe(
    `299 satchel "ignored fields: a_b__Set-Cookie__x, _, __proto, ${'x'.repeat(64)}, _y, a1, a2, a3, a4, a5"`,
  );
});

test('lists name unknown query parameters, once each; downloads and single resources leave them be', async () => {
  const list = await app.call('GET', '/api/v1/objects?per_page=5&pgae=2&pgae=3&limit=1', { key });
  expect([list.status, list.headers.get('warning')]).toEqual([
    200,
    '299 satchel "ignored fields: pgae, limit"',
  ]);
  const bad = await app.call('GET', '/api/v1/objects?page=0&pgae=2', { key });
  expect([bad.status, bad.headers.get('warning')]).toEqual([422, '299 satchel "ignored fields: pgae"']);
  const single = await app.call('GET', '/api/v1/jobs/01ARZ3NDEKTSV4RRFFQ69G5FAV?x=1', { key });
  expect([single.status, single.headers.get('warning')]).toEqual([404, null]);
});
