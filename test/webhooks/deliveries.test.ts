/** What becomes of an event: signed, tried by the schedule, taken, given up, sent again; and whom a bad receiver harms. */
import { beforeAll, beforeEach, expect, spyOn, test } from 'bun:test';
import { Webhook } from 'standardwebhooks';
import { AppError } from '../../src/errors.ts';
import { stateAfter, WEBHOOK_RETRY_DELAYS_S } from '../../src/webhooks/dispatcher.ts';
import { readMetrics } from '../operation/metrics/setup.ts';
import { actor, makeProject, startTestApp } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import { dataOf, type Got, now, startWebhookApp, type WebhookApp, webhookApp } from './setup.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let on: WebhookApp;
let next = 0;
/** A path of the receiver that no other test has. */
const path = () => `/hook-${++next}`;
const objects = { types: ['object.created'] };

beforeAll(async () => {
  on = await startWebhookApp();
});
beforeEach(async () => {
  on.receiver.respond = () => new Response(null, { status: 204 });
  const { data } = (await on.call('GET', '/webhooks')).body;
  for (const { id } of data as { id: string }[]) await on.call('DELETE', `/webhooks/${id}`);
});

const verify = (got: Got, secret: string) => new Webhook(secret).verify(got.body, got.headers);

test('a webhook gets a signed POST of type, timestamp and record, which the verifier of the specification accepts', async () => {
  const at = path();
  const hook = await on.hook(`${at}?a=b`);
  const object = await on.upload('menu.txt');
  const [got] = await on.receiver.await(`${at}?a=b`, 1);
  if (!got) throw new Error('nothing came');
  const record = dataOf(await on.call('GET', `/objects/${object}`));
  const timestamp = new Date(on.app.clock.now()).toISOString();
  expect(verify(got, hook.secret)).toEqual({ type: 'object.created', timestamp, data: record });
  expect(got).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  expect(await on.deliveries(hook)).toEqual([
    {
      id: got.headers['webhook-id'] ?? '',
      ...{ type: 'object.created', status: 'delivered', attempts: 1, next_at: null },
      ...{ response_status: 204, error: null, created_at: timestamp },
    },
  ]);
  expect(() => verify({ ...got, body: got.body.replace('menu', 'meny') }, hook.secret)).toThrow();
});

test('a new secret signs beside the former one for 24 hours, and alone from then on', async () => {
  const at = path();
  const former = await on.hook(at, objects);
  const rotated = dataOf(await on.call('POST', `/webhooks/${former.id}/rotate`));
  const secret = String(rotated.secret);
  expect(secret).not.toBe(former.secret);
  await on.upload();
  const [both] = await on.receiver.await(at, 1);
  expect(both?.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  for (const each of [former.secret, secret]) expect(both && verify(both, each)).toBeTruthy();
  on.app.clock.advance(DAY_MS);
  await on.upload();
  const [, alone] = await on.receiver.await(at, 2);
  expect(alone?.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  // The verifier goes by its own clock, a day behind.
  if (!alone) throw new Error('nothing came');
  const id = alone.headers['webhook-id'] ?? '';
  const at_that_time = new Date(Number(alone.headers['webhook-timestamp']) * 1_000);
  const signed = new Webhook(secret).sign(id, at_that_time, alone.body);
  expect(alone.headers['webhook-signature']).toBe(signed);
  on.app.clock.at_ms = Date.now();
});

test('what fails is tried after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h, each up to a tenth later, then it has failed', () => {
  const delays_s = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
  expect([...WEBHOOK_RETRY_DELAYS_S]).toEqual(delays_s);
  const outcome = { response_status: 500, error: 'It answered 500.', is_ours: false };
  delays_s.forEach((delay_s, attempts) => {
    const after = (random: number) => stateAfter({ attempts }, outcome, { now_ms: 1_000, random });
    expect(after(0)).toMatchObject({ status: 'waiting', attempts: attempts + 1 });
    expect(after(0).next_at).toBe(1_000 + delay_s * 1_000);
    expect(after(1).next_at).toBe(1_000 + delay_s * 1_100);
  });
  const last = stateAfter({ attempts: 9 }, outcome, { now_ms: 1_000, random: 0 });
  expect(last).toMatchObject({ status: 'failed', attempts: 10, next_at: null });
  const untried = stateAfter({ attempts: 3 }, { ...outcome, is_ours: true }, { now_ms: 0, random: 0 });
  expect(untried).toMatchObject({ status: 'waiting', attempts: 3 });
});

test('a try that fails is made again in its time, with the same id and body and a fresh timestamp', async () => {
  const at = path();
  on.receiver.respond = () => new Response('no', { status: 500 });
  const hook = await on.hook(at, objects);
  await on.upload();
  await on.settled(hook, ([one]) => one?.attempts === 1);
  const [waiting] = await on.deliveries(hook);
  expect(waiting).toMatchObject({ status: 'waiting', response_status: 500, error: 'It answered 500.' });
  const wait_ms = Date.parse(String(waiting?.next_at)) - on.app.clock.now();
  expect(wait_ms).toBeGreaterThanOrEqual(5_000);
  expect(wait_ms).toBeLessThanOrEqual(5_500);
  on.receiver.respond = () => new Response('yes');
  on.pass(5_500);
  const [first, second] = await on.receiver.await(at, 2);
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  expect((await on.deliveries(hook))[0]).toMatchObject({ attempts: 2, response_status: 200, error: null });
  expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'] ?? '');
  expect(second?.body).toBe(first?.body ?? '');
  expect(Number(second?.headers['webhook-timestamp'])).toBeGreaterThan(
    Number(first?.headers['webhook-timestamp']),
  );
  // Of what a receiver answers nothing is kept but the status.
  expect(on.app.services.database.read.$client.query('SELECT * FROM webhook_deliveries').all()).not.toContain(
    'yes',
  );
});

test('of thirty that failed together each is tried again when it is due, whatever else its webhook does', async () => {
  const at = path();
  on.receiver.respond = () => new Response('no', { status: 500 });
  const hook = await on.hook(at, objects);
  for (let n = 0; n < 30; n += 1) await on.upload();
  const tried = async (times: number) =>
    (await on.deliveries(hook)).filter(({ attempts }) => attempts === times).length;
  await until(async () => (await tried(1)) === 30);
  // Some are due, and the others in less than a second: nobody says so then.
  on.pass(5_250);
  const isDue = ({ next_at }: Record<string, unknown>) => Date.parse(String(next_at)) <= on.app.clock.now();
  await on.settled(hook, (all) => !all.some(isDue));
  on.app.clock.advance(250);
  await until(async () => (await tried(2)) === 30, 20_000);
});

test.each([
  ['a server that goes on', false],
  ['one that is started then', true],
])('a clock that was an hour ahead puts no delivery off: %s', async (_, is_restarted) => {
  const at = path();
  const { webhook_dispatcher } = on.app.services;
  on.receiver.respond = () => new Response('no', { status: 500 });
  const hook = await on.hook(at, objects);
  on.app.clock.advance(HOUR_MS);
  await on.upload();
  await on.settled(hook, ([one]) => one?.attempts === 1);
  if (is_restarted) await webhook_dispatcher.stop();
  on.app.clock.advance(-HOUR_MS);
  on.receiver.respond = () => new Response('yes');
  if (is_restarted) webhook_dispatcher.start();
  else webhook_dispatcher.wake();
  await until(async () => (await on.deliveries(hook))[0]?.status === 'delivered', 20_000);
});

test('while what came of tries is not written, no more begin: a crash would have all of them told again', async () => {
  const at = path();
  const { webhook_dispatcher, database } = on.app.services;
  const hook = await on.hook(at, objects);
  await webhook_dispatcher.stop();
  for (let n = 0; n < 40; n += 1) await on.upload();
  const got = () => on.receiver.got.filter((one) => one.path === at).length;
  on.receiver.respond = async () => {
    await Bun.sleep(60);
    return new Response('ok');
  };
  const { promise: disk, resolve: go } = Promise.withResolvers<void>();
  const { write } = database;
  const spy = spyOn(database, 'write').mockImplementation((async (...change: Parameters<typeof write>) => {
    if (got() > 0) await disk;
    return Reflect.apply(write, database, change);
  }) as typeof write);
  webhook_dispatcher.start();
  await until(() => got() >= 4);
  // Ten rounds of four, had they gone on.
  await Bun.sleep(1_000);
  expect(got()).toBeLessThan(28);
  go();
  spy.mockRestore();
  await on.settled(hook, (all) => all.length === 40 && all.every(({ status }) => status === 'delivered'));
  expect(got()).toBe(40);
});

test('a redirect is a failure and is not followed', async () => {
  const at = path();
  const target = path();
  on.receiver.respond = ({ path: asked }) =>
    asked === at ? Response.redirect(`${on.receiver.url}${target}`, 307) : new Response('ok');
  const hook = await on.hook(at, objects);
  await on.upload();
  await on.settled(hook, ([one]) => one?.attempts === 1);
  expect((await on.deliveries(hook))[0]).toMatchObject({
    ...{ status: 'waiting', response_status: 307 },
    error: 'It answered a redirect (307), which is not followed.',
  });
  expect(on.receiver.got.filter((got) => got.path === target)).toEqual([]);
});

test('410 switches a webhook off, with a finding; nothing is kept for it until it is on again', async () => {
  const at = path();
  on.receiver.respond = () => new Response(null, { status: 410 });
  const hook = await on.hook(at, objects);
  await on.upload();
  await on.settled(hook, ([one]) => one?.status === 'failed');
  expect(dataOf(await on.call('GET', `/webhooks/${hook.id}`))).toMatchObject({
    ...{ is_active: false, disabled_reason: 'gone' },
  });
  const { data } = on.app.services.audit.list(null, { page: 1, per_page: 1 });
  expect(data[0]).toMatchObject({
    ...{ event: 'webhook.disabled', target: `webhook:${hook.id}`, actor_kind: 'system' },
  });
  const findings = await on.app.services.doctor.examine();
  expect(findings.filter(({ check }) => check === 'webhooks')).toMatchObject([
    {
      status: 'warning',
      remedy: expect.stringContaining(`satchel webhook change ${hook.id} --project shop --on`),
      acts: [{ kind: 'enable_webhook', project: 'shop', of: hook.id }],
    },
  ]);
  await on.upload('meanwhile.txt');
  on.receiver.respond = () => new Response('ok');
  const changed = dataOf(await on.call('PATCH', `/webhooks/${hook.id}`, { is_active: true }));
  expect(changed).toMatchObject({ is_active: true, disabled_reason: null });
  await on.upload('after.txt');
  const got = await on.receiver.await(at, 2);
  expect(got[1]?.body).toContain('after.txt');
});

test('a webhook whose every try of three days failed is switched off; on again, it drops what is older than three days', async () => {
  const at = path();
  on.receiver.respond = () => new Response(null, { status: 503 });
  const hook = await on.hook(at, objects);
  await on.upload('old.txt');
  await on.settled(hook, ([one]) => one?.attempts === 1);
  on.app.clock.advance(3 * DAY_MS - 60_000);
  on.app.services.webhook_dispatcher.wake();
  await on.settled(hook, ([one]) => one?.attempts === 2);
  expect(dataOf(await on.call('GET', `/webhooks/${hook.id}`)).is_active).toBe(true);
  on.app.clock.advance(60_000);
  await on.upload('new.txt');
  await on.settled(hook, ([one]) => one?.attempts === 1);
  const off = dataOf(await on.call('GET', `/webhooks/${hook.id}`));
  expect(off).toMatchObject({ is_active: false, disabled_reason: 'failing' });
  on.receiver.respond = () => new Response('ok');
  on.app.clock.advance(60_000);
  expect((await on.call('POST', `/webhooks/${hook.id}/deliveries/x/replay`)).status).toBe(404);
  const [fresh, old] = await on.deliveries(hook);
  expect([fresh?.next_at, old?.next_at]).toEqual([null, null]);
  const replayed = await on.call('POST', `/webhooks/${hook.id}/deliveries/${fresh?.id}/replay`);
  expect(replayed.status).toBe(409);
  await on.call('PATCH', `/webhooks/${hook.id}`, { is_active: true });
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  expect((await on.deliveries(hook))[1]).toMatchObject({
    status: 'failed',
    error: expect.stringContaining('more than three days'),
  });
  on.app.clock.at_ms = Date.now();
});

test('one try that goes well ends the count of three days', async () => {
  const at = path();
  const hook = await on.hook(at, objects);
  on.receiver.respond = () => new Response(null, { status: 503 });
  await on.upload();
  await on.settled(hook, ([one]) => one?.attempts === 1);
  on.app.clock.advance(2 * DAY_MS);
  on.receiver.respond = () => new Response('ok');
  on.app.services.webhook_dispatcher.wake();
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  on.receiver.respond = () => new Response(null, { status: 503 });
  on.app.clock.advance(2 * DAY_MS);
  await on.upload();
  await on.settled(hook, ([one]) => one?.attempts === 1);
  expect(dataOf(await on.call('GET', `/webhooks/${hook.id}`)).is_active).toBe(true);
  on.app.clock.at_ms = Date.now();
});

test('a replay sends the same id and body again, with a new series of tries', async () => {
  const at = path();
  const hook = await on.hook(at, objects);
  await on.upload();
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  const [sent] = await on.deliveries(hook);
  on.receiver.respond = () => new Response(null, { status: 500 });
  const replayed = dataOf(await on.call('POST', `/webhooks/${hook.id}/deliveries/${sent?.id}/replay`));
  expect(replayed).toMatchObject({ id: sent?.id, status: 'waiting', attempts: 0 });
  const [first, second] = await on.receiver.await(at, 2);
  expect(second?.headers['webhook-id']).toBe(String(sent?.id));
  expect(second?.body).toBe(first?.body ?? '');
  await on.settled(hook, ([one]) => one?.attempts === 1);
  // One that waits is tried now, and its series goes on.
  on.receiver.respond = () => new Response('ok');
  await on.call('POST', `/webhooks/${hook.id}/deliveries/${sent?.id}/replay`);
  await on.settled(hook, ([one]) => one?.status === 'delivered' && one.attempts === 2);
  const other = await on.hook(path());
  const foreign = await on.call('POST', `/webhooks/${other.id}/deliveries/${sent?.id}/replay`);
  expect(foreign.status).toBe(404);
});

test('a test is sent at once and once, to a webhook that is off too, and answers what came of it', async () => {
  const at = path();
  const hook = await on.hook(at, { types: ['import.completed'] });
  await on.call('PATCH', `/webhooks/${hook.id}`, { is_active: false });
  const record = dataOf(await on.call('GET', `/webhooks/${hook.id}`));
  const taken = dataOf(await on.call('POST', `/webhooks/${hook.id}/test`));
  expect(taken).toMatchObject({
    ...{ type: 'webhook.test', status: 'delivered', attempts: 1, response_status: 204 },
  });
  const [got] = on.receiver.got.filter((one) => one.path === at);
  expect(got && verify(got, hook.secret)).toMatchObject({ type: 'webhook.test', data: record });
  on.receiver.respond = () => new Response(null, { status: 500 });
  const refused = dataOf(await on.call('POST', `/webhooks/${hook.id}/test`));
  expect(refused).toMatchObject({ status: 'failed', error: 'It answered 500.', next_at: null });
  expect(await on.deliveries(hook)).toEqual([refused, taken]);
});

test('four are under way at once, and a receiver that hangs holds nobody else up', async () => {
  const [hanging, quick] = [path(), path()];
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  let most = 0;
  let under_way = 0;
  on.receiver.respond = async (got) => {
    if (got.path !== hanging) return new Response('ok');
    under_way += 1;
    most = Math.max(most, under_way);
    await released;
    under_way -= 1;
    return new Response('ok');
  };
  const slow = await on.hook(hanging, objects);
  const other = await on.hook(quick, objects);
  for (let n = 0; n < 7; n += 1) await on.upload();
  await on.receiver.await(quick, 7);
  await on.receiver.await(hanging, 4);
  expect(most).toBe(4);
  release();
  await on.receiver.await(hanging, 7);
  expect(most).toBe(4);
  for (const hook of [slow, other])
    await on.settled(hook, (all) => all.length === 7 && all.every(({ status }) => status === 'delivered'));
});

test('what a stop, or a crash, has cut off is sent at the next start, with the same id', async () => {
  const { receiver } = on;
  const first = await startTestApp({ clock: now(), env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } });
  const before = await webhookApp(first, await makeProject(first), receiver);
  const at = path();
  const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
  receiver.respond = () => {
    ask();
    return new Promise(() => {});
  };
  const hook = await before.hook(at, objects);
  await before.upload();
  await asked;
  // As where it dies between the commit of an event and what is made of it.
  await first.services.webhook_dispatcher.stop(0);
  await before.upload('second.txt');
  await first.stop();
  receiver.respond = () => new Response('ok');
  const second = await startTestApp({
    ...{ clock: now(), data_dir: first.data_dir, env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } },
  });
  const got = await receiver.await(at, 3);
  expect(got[1]?.headers['webhook-id']).toBe(got[0]?.headers['webhook-id'] ?? '');
  const names = got.map(({ body }) => JSON.parse(body).data.original_filename);
  expect(names).toEqual(['a.txt', 'a.txt', 'second.txt']);
  const { webhooks, projects } = second.services;
  const row = () => webhooks.require(projects.require('shop').id, hook.id);
  await until(() => webhooks.listDeliveries(row(), {}).data.every(({ status }) => status === 'delivered'));
});

test('a database that could not be written is tried again: nothing is left behind', async () => {
  const at = path();
  const { webhook_dispatcher, database } = on.app.services;
  const hook = await on.hook(at, objects);
  await webhook_dispatcher.stop();
  await on.upload();
  const write = spyOn(database, 'write').mockImplementationOnce(async () => {
    // More happens while it fails.
    webhook_dispatcher.noteEvents();
    await Bun.sleep(5);
    throw new AppError('unavailable', 'Nothing was stored: the disk is full.');
  });
  webhook_dispatcher.start();
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  expect(on.app.logs()).toContain('events were not handed to webhooks');
  write.mockRestore();
});

test('a project that is inactive has nothing sent; what waits goes on once it is active', async () => {
  const at = path();
  const { projects } = on.app.services;
  const hook = await on.hook(at, objects);
  const shop = () => projects.require('shop');
  on.receiver.respond = () => new Response(null, { status: 500 });
  await on.upload();
  await on.settled(hook, ([one]) => one?.attempts === 1);
  await projects.update(actor, shop(), { status: 'inactive' });
  on.receiver.respond = () => new Response('ok');
  on.pass(HOUR_MS);
  await Bun.sleep(150);
  expect(on.receiver.got.filter((got) => got.path === at)).toHaveLength(1);
  await projects.update(actor, shop(), { status: 'active' });
  on.pass(0);
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  on.app.clock.at_ms = Date.now();
});

test('deliveries and what they told are kept 30 days, and go with their webhook and their project', async () => {
  const app = await startTestApp({ clock: now(), env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } });
  const own = await webhookApp(app, await makeProject(app), on.receiver);
  const { webhooks, projects, database } = app.services;
  const counts = () =>
    ['webhooks', 'webhook_events', 'webhook_deliveries'].map(
      (table) =>
        database.read.$client.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get()?.n,
    );
  const kept = await own.hook(path(), objects);
  await own.upload();
  await own.settled(kept, ([one]) => one?.status === 'delivered');
  app.clock.advance(30 * DAY_MS);
  await webhooks.sweep();
  expect(await own.deliveries(kept)).toHaveLength(1);
  app.clock.advance(1);
  await webhooks.sweep();
  expect(counts()).toEqual([1, 0, 0]);
  await own.upload();
  await own.settled(kept, ([one]) => one?.status === 'delivered');
  await own.call('DELETE', `/webhooks/${kept.id}`);
  expect(counts()).toEqual([0, 1, 0]);
  const gone = await makeProject(app, 'gone');
  const other = await webhookApp(app, gone, on.receiver);
  const hook = await other.hook(path(), objects);
  await other.upload();
  await other.settled(hook, ([one]) => one?.status === 'delivered');
  await projects.remove(actor, 'gone');
  expect(counts()).toEqual([0, 1, 0]);
});

test('the metrics tell for how long something has been due that was not told', async () => {
  const app = await startTestApp({ clock: now(), env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } });
  const own = await webhookApp(app, await makeProject(app), on.receiver);
  const lag = async () => (await readMetrics(app)).values.get('satchel_webhook_lag_seconds');
  expect(await lag()).toBe(0);
  on.receiver.respond = () => new Response(null, { status: 500 });
  const hook = await own.hook(path(), objects);
  await own.upload();
  await own.settled(hook, ([one]) => one?.attempts === 1);
  await app.services.webhook_dispatcher.stop();
  app.clock.advance(65_500);
  expect(await lag()).toBeGreaterThanOrEqual(60);
});

test('a secret that does not decrypt sends nothing, is a finding, and rotating mends it', async () => {
  const at = path();
  const hook = await on.hook(at, objects);
  const { database } = on.app.services;
  await database.write((tx) => tx.$client.run("UPDATE webhooks SET sealed_secret = 'v1.1.AAAA'"));
  await on.upload();
  await on.settled(hook, ([one]) => one?.attempts === 1);
  expect((await on.deliveries(hook))[0]?.error).toBe('Its secret does not decrypt: rotate it.');
  const findings = await on.app.services.doctor.examine();
  expect(findings.map(({ message }) => message)).toContainEqual(
    expect.stringContaining(`The secret of The webhook ${hook.id}`),
  );
  await on.call('POST', `/webhooks/${hook.id}/rotate`);
  on.pass(6_000);
  await on.settled(hook, ([one]) => one?.status === 'delivered');
  expect(on.receiver.got.filter((got) => got.path === at)).toHaveLength(1);
});
