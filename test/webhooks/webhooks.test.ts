/** Webhooks on the management plane: what they are, who may have them, and what is refused. */

import { beforeAll, expect, test } from 'bun:test';
import { EVENT_TYPES } from '../../src/webhooks/schemas.ts';
import { MAX_WEBHOOKS_PER_PROJECT } from '../../src/webhooks/service.ts';
import { makeProject } from '../support/helpers.ts';
import { detailsOf } from '../support/management.ts';
import { dataOf, startWebhookApp, type WebhookApp, webhookApp } from './setup.ts';

let on: WebhookApp;
let other: WebhookApp;
beforeAll(async () => {
  on = await startWebhookApp();
  other = await webhookApp(on.app, await makeProject(on.app, 'other'), on.receiver);
});

const trail = () =>
  on.app.services.audit
    .list(null, { page: 1, per_page: 1 })
    .data.map(({ event, target, metadata, changes }) => ({
      ...{ event, target, metadata },
      ...(Object.keys(changes).length > 0 ? { changes } : {}),
    }));
const URL_GIVEN = 'https://hooks.example.com/T0KEN/x';

test('a webhook is made, read, changed and deleted; its secret is in the answer that makes it, and nowhere else', async () => {
  const { secret, ...made } = dataOf(await on.call('POST', '/webhooks', { url: URL_GIVEN }), 201);
  const created_at = new Date(on.app.clock.now()).toISOString();
  expect(made).toEqual({
    ...{ id: expect.stringMatching(/^[0-9A-Z]{26}$/), url: URL_GIVEN, description: null, types: null },
    ...{ is_active: true, disabled_reason: null, created_at, updated_at: created_at },
  });
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  const target = `webhook:${made.id}`;
  // Paths of such addresses often hold a token.
  expect(trail()).toEqual([{ event: 'webhook.created', target, metadata: { host: 'hooks.example.com' } }]);
  expect(dataOf(await on.call('GET', `/webhooks/${made.id}`))).toEqual(made);
  expect((await on.call('GET', '/webhooks')).body.data).toEqual([made]);
  on.app.clock.advance(1_000);
  const changes = { url: 'https://HOOKS.example.com', description: 'Shop', types: ['email.sent'] };
  const changed = dataOf(await on.call('PATCH', `/webhooks/${made.id}`, changes));
  expect(changed).toEqual({
    ...made,
    ...{ types: ['email.sent'], description: 'Shop', url: 'https://hooks.example.com/' },
    updated_at: new Date(on.app.clock.now()).toISOString(),
  });
  const told = {
    url: { secret: true },
    description: { from: null, to: 'Shop' },
    types: { from: null, to: ['email.sent'] },
  };
  expect(trail()).toMatchObject([{ event: 'webhook.changed', changes: told }]);
  const cleared = await on.call('PATCH', `/webhooks/${made.id}`, { types: null, description: null });
  expect(dataOf(cleared)).toMatchObject({ types: null, description: null });
  const { secret: next, ...rotated } = dataOf(await on.call('POST', `/webhooks/${made.id}/rotate`));
  expect(next).not.toBe(secret);
  expect(rotated).toMatchObject({ id: made.id });
  expect(trail()).toMatchObject([{ event: 'webhook.rotated', target }]);
  const kept = JSON.stringify(on.app.services.database.read.$client.query('SELECT * FROM webhooks').values());
  for (const each of [secret, next]) {
    expect(kept).not.toContain(String(each));
    expect(on.app.logs()).not.toContain(String(each));
  }
  expect(dataOf(await on.call('DELETE', `/webhooks/${made.id}`))).toMatchObject({ id: made.id });
  expect(trail()).toMatchObject([{ event: 'webhook.deleted', target }]);
  expect((await on.call('GET', `/webhooks/${made.id}`)).status).toBe(404);
});

test.each([
  [{}, ['url']],
  [{ url: 'ftp://a.example' }, ['url']],
  [{ url: 'http://hooks.example.com/' }, ['url']],
  [{ url: 'https://localhost/' }, ['url']],
  [{ url: 'https://10.0.0.1/', types: ['email.read'] }, ['types.0', 'url']],
  [{ url: 'https://u:p@hooks.example.com/' }, ['url']],
  [{ url: URL_GIVEN, types: [] }, ['types']],
  [{ url: `https://hooks.example.com/${'a'.repeat(2_048)}` }, ['url']],
  [{ url: URL_GIVEN, description: 'a'.repeat(2_001) }, ['description']],
])('%j is refused by its fields', async (body, fields) => {
  const made = await on.hook('/patched');
  for (const answer of [
    await on.call('POST', '/webhooks', body),
    ...('url' in body ? [await on.call('PATCH', `/webhooks/${made.id}`, body)] : []),
  ]) {
    expect(answer.status).toBe(422);
    expect(Object.keys(detailsOf(answer).errors ?? {}).toSorted()).toEqual(fields);
  }
  await on.call('DELETE', `/webhooks/${made.id}`);
});

test('any token of the project may, one of another project gets 404, and a key never may', async () => {
  const hook = await on.hook('/mine');
  await on.upload();
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  const [delivery] = await on.deliveries(hook);
  const key = await on.project.key({ can_read: true, can_write: true, can_send_emails: true });
  const one = `/webhooks/${hook.id}`;
  const routes = [
    ['GET', '/webhooks'],
    ['POST', '/webhooks', { url: URL_GIVEN }],
    ['GET', one],
    ['PATCH', one, { is_active: true }],
    ['POST', `${one}/test`],
    ['POST', `${one}/rotate`],
    ['GET', `${one}/deliveries`],
    ['GET', `${one}/deliveries/${delivery?.id}`],
    ['POST', `${one}/deliveries/${delivery?.id}/replay`],
    ['DELETE', one],
  ] as const;
  for (const [method, path, body] of routes) {
    const given = body === undefined ? {} : { body };
    const url = `/api/public/v1/projects/shop${path}`;
    expect([path, (await on.app.call(method, url, given)).status]).toEqual([path, 401]);
    expect([path, (await on.app.call(method, url, { key, ...given })).status]).toEqual([path, 401]);
    expect([path, (await on.app.call(method, `/api/v1${path}`, { key, ...given })).status]).toEqual([
      path,
      404,
    ]);
    expect([path, (await on.app.call(method, url, { token: other.token, ...given })).status]).toEqual([
      path,
      404,
    ]);
    if (path !== '/webhooks')
      expect([path, (await other.call(method, path, body)).status]).toEqual([path, 404]);
  }
  for (const [method, path, body] of routes)
    expect([path, (await on.call(method, path, body)).status]).toEqual([
      path,
      path === '/webhooks' && method === 'POST' ? 201 : 200,
    ]);
});

test(`a project has at most ${MAX_WEBHOOKS_PER_PROJECT} webhooks`, async () => {
  for (let n = 0; n < MAX_WEBHOOKS_PER_PROJECT; n += 1) await other.hook(`/many-${n}`);
  const answer = await other.call('POST', '/webhooks', { url: URL_GIVEN });
  expect([answer.status, answer.text]).toEqual([422, expect.stringContaining('at most 20 webhooks')]);
});

test('tests are counted, and refused beyond 30 a minute', async () => {
  const hook = await on.hook('/tests', { types: [EVENT_TYPES[0]] });
  const statuses: number[] = [];
  for (let n = 0; n < 30; n += 1) statuses.push((await on.call('POST', `/webhooks/${hook.id}/test`)).status);
  // The test above made one.
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  on.app.clock.advance(60_000);
  expect((await on.call('POST', `/webhooks/${hook.id}/test`)).status).toBe(200);
  const page = await on.call('GET', `/webhooks/${hook.id}/deliveries?per_page=2&page=2`);
  expect(page.body.meta ?? page.body.pagination).toMatchObject({ total: 30, current_page: 2 });
});

test('a deletion in the middle of a try ends what is left of it', async () => {
  const hook = await on.hook('/gone', { types: ['object.created'] });
  const { promise, resolve } = Promise.withResolvers<Response>();
  on.receiver.respond = ({ path }) => (path === '/gone' ? promise : new Response('ok'));
  await on.upload();
  await on.receiver.await('/gone', 1);
  expect((await on.call('DELETE', `/webhooks/${hook.id}`)).status).toBe(200);
  resolve(new Response('ok'));
  await on.app.services.webhook_dispatcher.stop();
  const left = on.app.services.database.read.$client
    .query('SELECT count(*) FROM webhook_deliveries WHERE webhook_id NOT IN (SELECT id FROM webhooks)')
    .values();
  expect(left).toEqual([[0]]);
  expect(on.app.logs()).not.toContain('error');
});
