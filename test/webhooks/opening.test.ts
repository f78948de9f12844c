/** A delivery that is opened: what was sent, how it went out, what came back, and who may see that. */
import { beforeAll, expect, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import type { Capability } from '../../src/platform/http/callers.ts';
import { VERSION } from '../../src/version.ts';
import { actor } from '../support/helpers.ts';
import { dataOf, type Hook, now, startWebhookApp, type WebhookApp } from './setup.ts';

const DAY_MS = 86_400_000;

let on: WebhookApp;
let next = 0;
/** A webhook to a path of its own that has been told of an object. */
async function told(
  respond: WebhookApp['receiver']['respond'],
): Promise<{ hook: Hook; id: string; at: string }> {
  on.receiver.respond = respond;
  const at = `/opened-${++next}`;
  const hook = await on.hook(at, { types: ['object.created'] });
  await on.upload();
  await on.settled(hook, ([one]) => Number(one?.attempts) > 0);
  const [delivery] = await on.deliveries(hook);
  // The others are told nothing more.
  await on.call('PATCH', `/webhooks/${hook.id}`, { is_active: false });
  return { hook, id: String(delivery?.id), at };
}

const tokenOf = async (options: { read_only?: boolean; capabilities?: Capability[] }): Promise<string> => {
  const { token } = await on.app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], capabilities: [], ...options },
  });
  return token;
};

async function open({ hook, id }: { hook: Hook; id: string }, token = on.token) {
  const path = `/api/public/v1/projects/shop/webhooks/${hook.id}/deliveries/${id}`;
  return dataOf(await on.app.call('GET', path, { token }));
}

beforeAll(async () => {
  on = await startWebhookApp();
});

test('it has what is sent, the headers as they went out, and the answer; without the answer where none came', async () => {
  const one = await told(
    () => new Response('<h1>Déjà vu</h1>', { status: 500, headers: { 'Content-Type': 'text/html' } }),
  );
  const admin = await tokenOf({ capabilities: ['can_administer'] });
  const opened = await open(one, admin);
  const [got] = await on.receiver.await(one.at, 1);
  const [listed] = await on.deliveries(one.hook);
  expect(opened).toEqual({
    ...listed,
    body: got?.body,
    last_try: {
      at: new Date(on.app.clock.now()).toISOString(),
      ms: expect.any(Number),
      url: `${on.receiver.url}${one.at}`,
      headers: expect.any(Object),
      answer: { content_type: 'text/html', body: '<h1>Déjà vu</h1>', is_cut: false },
    },
  });
  const { headers } = opened.last_try as { headers: Record<string, string> };
  expect(Object.keys(headers)).toEqual([
    ...['Host', 'User-Agent', 'Content-Length', 'Connection', 'Content-Type'],
    ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
  ]);
  expect(headers).toMatchObject({ 'User-Agent': `Satchel/${VERSION}`, 'webhook-id': one.id });
  for (const [name, value] of Object.entries(headers)) expect(got?.headers[name.toLowerCase()]).toBe(value);
  expect(() => new Webhook(one.hook.secret).verify(String(opened.body), headers)).not.toThrow();

  // Another try replaces it; one of which nothing went out leaves none.
  const { webhook_dispatcher, webhooks } = on.app.services;
  await on.call('PATCH', `/webhooks/${one.hook.id}`, { is_active: true, url: 'http://127.0.0.1:9/gone' });
  await on.call('POST', `/webhooks/${one.hook.id}/deliveries/${one.id}/replay`);
  await on.settled(one.hook, ([it]) => String(it?.error).includes('refused'));
  expect(await open(one, admin)).toMatchObject({
    response_status: null,
    last_try: { url: 'http://127.0.0.1:9/gone', answer: null },
  });
  const row = webhooks.require(on.project.id, one.hook.id);
  await on.app.services.database.write((tx) => {
    tx.$client.query('UPDATE webhooks SET url = ? WHERE id = ?').run('https://10.0.0.1/inside', row.id);
  });
  await on.call('POST', `/webhooks/${one.hook.id}/deliveries/${one.id}/replay`);
  webhook_dispatcher.wake();
  await on.settled(one.hook, ([it]) => String(it?.error).startsWith('Not sent'));
  expect(await open(one, admin)).toMatchObject({ body: got?.body, last_try: null });
});

test('who is read-only gets neither signature nor answer, and what stands inside only who administers', async () => {
  const one = await told(() => new Response('secret of the intranet', { status: 200 }));
  const cases = [
    [await tokenOf({ capabilities: ['can_administer'] }), true, 'secret of the intranet'],
    [await tokenOf({}), true, null],
    [await tokenOf({ read_only: true }), false, null],
  ] as const;
  for (const [token, is_signed, body] of cases) {
    const { last_try } = await open(one, token);
    expect(last_try).toMatchObject({ answer: { body, is_cut: false } });
    const { headers } = last_try as { headers: object };
    expect(Object.hasOwn(headers, 'webhook-signature')).toBe(is_signed);
    expect(headers).toHaveProperty('webhook-id', one.id);
  }
  // As of a public host.
  await on.app.services.database.write((tx) =>
    tx.$client.query('UPDATE webhook_tries SET is_inside = 0').run(),
  );
  expect(await open(one)).toMatchObject({ last_try: { answer: { body: 'secret of the intranet' } } });
  expect(await open(one, cases[2][0])).toMatchObject({ last_try: { answer: { body: null } } });
});

test('a test is opened likewise; another webhook, another project and nonsense are 404', async () => {
  const { hook, id } = await told(() => new Response('taken'));
  const test = dataOf(await on.call('POST', `/webhooks/${hook.id}/test`));
  const opened = await open({ hook, id: String(test.id) });
  expect(opened).toMatchObject({ ...test, last_try: { answer: { is_cut: false } } });
  expect(JSON.parse(String(opened.body))).toMatchObject({ type: 'webhook.test' });
  const other = await on.hook('/other');
  const deliveries = `/webhooks/${hook.id}/deliveries`;
  for (const path of [
    `/webhooks/${other.id}/deliveries/${id}`,
    `${deliveries}/x`,
    `${deliveries}/${other.id}`,
  ])
    expect((await on.call('GET', path)).status).toBe(404);
});

test('what came of it is kept for a day, of the newest hundred, and goes with what it told', async () => {
  const own = await startWebhookApp({ clock: now() });
  const { database, webhooks } = own.app.services;
  const kept = (): number =>
    database.read.$client.query<{ n: number }, []>('SELECT count(*) AS n FROM webhook_tries').get()?.n ?? 0;
  const hook = await own.hook('/many', { types: ['object.created'] });
  const first = await own.upload('first.txt');
  await own.settled(hook, ([one]) => one?.status === 'delivered');
  const [oldest] = await own.deliveries(hook);
  expect(kept()).toBe(1);
  for (let n = 0; n < 100; n += 1) await own.upload(`${n}.txt`);
  await own.settled(hook, (all) => all.every(({ status }) => status === 'delivered'));
  const opened = async (id: unknown) =>
    dataOf(await own.call('GET', `/webhooks/${hook.id}/deliveries/${id}`));
  expect(kept()).toBe(100);
  expect(await opened(oldest?.id)).toMatchObject({ body: expect.stringContaining(first), last_try: null });
  await own.call('POST', `/webhooks/${hook.id}/deliveries/${oldest?.id}/replay`);
  await own.settled(hook, () => own.receiver.got.length === 102);
  expect(kept()).toBe(100);
  const [newest] = await own.deliveries(hook);
  expect((await opened(newest?.id)).last_try).not.toBeNull();
  own.app.clock.advance(DAY_MS);
  expect((await opened(newest?.id)).last_try).toBeNull();
  await webhooks.sweepTries();
  expect(kept()).toBe(100);
  own.app.clock.advance(1);
  await webhooks.sweepTries();
  expect(kept()).toBe(0);
  await own.call('POST', `/webhooks/${hook.id}/test`);
  expect(kept()).toBe(1);
  await own.call('DELETE', `/webhooks/${hook.id}`);
  expect(kept()).toBe(0);
});
