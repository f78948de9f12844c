/** API keys at the door of the data plane: who gets in, with what, and in which order the refusals come. */
import { beforeEach, describe, expect, test } from 'bun:test';
import type { NewKeyInput } from '../../../src/access/keys/schemas.ts';
import type { ProjectRow } from '../../../src/access/projects/service.ts';
import { AppError, messageOf, notFound } from '../../../src/errors.ts';
import { EventLoopWatch } from '../../../src/platform/host/event-loop.ts';
import type { KeyCaller, KeyCredentials } from '../../../src/platform/http/callers.ts';
import { createClientIpReader } from '../../../src/platform/http/client-ip.ts';
import { RequestMeasures } from '../../../src/platform/http/request-measures.ts';
import { dataRoute } from '../../../src/platform/http/routes.ts';
import { t } from '../../../src/platform/http/schema.ts';
import { createHttpServer, type HttpServer } from '../../../src/platform/http/server.ts';
import { run } from '../../support/command.ts';
import { actor, startTestApp, type TestApp } from '../../support/helpers.ts';

let app: TestApp;
let project: ProjectRow;
beforeEach(async () => {
  app = await startTestApp();
  project = await app.services.projects.create(actor, { name: 'Shop' });
});

async function makeKey(input: Partial<NewKeyInput> = {}): Promise<{ id: number; key: string }> {
  const made = await app.services.keys.create(actor, project, { name: 'k', ...input });
  return { id: made.id, key: made.plaintext_key };
}

async function allow(id: number, type: 'domain' | 'android' | 'ios', value: string, sha256?: string) {
  const { keys, origins } = app.services;
  const pins = sha256 === undefined ? {} : { sha256_fingerprints: [sha256] };
  return await origins.add(actor, keys.require(String(id)), { type, value, ...pins });
}

function knock(key: string | null, more: Partial<KeyCredentials> = {}): KeyCaller {
  const nothing = { origin: null, app_id: null, android_package: null, android_cert: null };
  return app.services.keys.authenticate({ api_key: key, ...nothing, ...more });
}

/** 200, or the status of the refusal. */
function statusOf(key: string | null, more: Partial<KeyCredentials> = {}): number {
  try {
    knock(key, more);
    return 200;
  } catch (error) {
    if (error instanceof AppError) return error.status;
    throw error;
  }
}

describe('a key that nobody restricted', () => {
  test('says who its bearer is', async () => {
    const { id, key } = await makeKey({ is_test: true, rate_limit_per_minute: 7 });
    expect(knock(key, { app_id: 'com.example.app' })).toEqual({
      key_id: id,
      key_name: 'k',
      project_id: project.id,
      project_public_id: project.public_id,
      is_test: true,
      is_restricted: false,
      permissions: new Set(),
      rate_limit_per_minute: 7,
      app_id: 'com.example.app',
    });
  });

  test('has 600 requests a minute unless it says otherwise', async () => {
    expect(knock((await makeKey()).key).rate_limit_per_minute).toBe(600);
  });

  test.each([
    [{ can_read: true }, ['read']],
    [{ can_write: true }, ['write', 'upload', 'delete']],
    [{ can_write: true, permissions: { delete: false } }, ['write', 'upload']],
    [{ can_write: true, permissions: { delete: true, upload: false } }, ['write', 'upload', 'delete']],
    [{ permissions: { upload: true } }, ['upload']],
    [{ can_read: true, permissions: { upload: false, delete: true } }, ['read']],
    [{ can_send_emails: true }, ['email']],
    [{ can_manage_email_marketing: true }, ['email_marketing']],
    [{ permissions: { email_template: true, captcha: true } }, ['email_template', 'captcha']],
    [{ permissions: { email_template: false, captcha: false, read: true, write: true } }, []],
  ])('%j gives %j and nothing more', async (input, permissions) => {
    expect<string[]>([...knock((await makeKey(input)).key).permissions]).toEqual(permissions);
  });

  test('is taken from anywhere, and with any app', async () => {
    const { key } = await makeKey();
    expect(statusOf(key, { origin: 'https://evil.example' })).toBe(200);
    expect(statusOf(key, { app_id: 'x', android_cert: 'nonsense' })).toBe(200);
  });

  test('names the app in X-Android-Package where X-App-Id is absent or empty', async () => {
    const { key } = await makeKey();
    expect(knock(key, { android_package: 'com.example.app' }).app_id).toBe('com.example.app');
    expect(knock(key, { app_id: '', android_package: 'com.example.app' }).app_id).toBe('com.example.app');
    expect(knock(key, { app_id: '' }).app_id).toBeNull();
    expect(knock(key, { app_id: 'x'.repeat(9_000) }).app_id).toHaveLength(255);
  });
});

describe('what is no valid key is 401', () => {
  test('none, an empty one, nonsense, an unknown one, a cut one, one in other case, an access token', async () => {
    const { key } = await makeKey();
    const other = await startTestApp();
    const shop = await other.services.projects.create(actor, { name: 'Shop' });
    const { plaintext_key } = await other.services.keys.create(actor, shop, { name: 'k' });
    const access = { name: 't', all_projects: true, projects: [], capabilities: [] };
    const { token } = await app.services.tokens.create(actor, access);
    for (const wrong of [
      null,
      '',
      'nonsense',
      plaintext_key,
      key.slice(0, -1),
      key.toUpperCase(),
      `${key}x`,
      ` ${key}`,
      token,
      "' OR 1=1 --",
      'x'.repeat(100_000),
    ]) {
      expect(statusOf(wrong)).toBe(401);
    }
    expect(statusOf(key)).toBe(200);
  });

  test('one that was deactivated, rotated or deleted, from the next request on', async () => {
    const { keys } = app.services;
    const { id, key } = await makeKey();
    const row = keys.require(String(id));
    await keys.update(actor, row, { is_active: false });
    expect(statusOf(key)).toBe(401);
    await keys.update(actor, row, { is_active: true });
    expect(statusOf(key)).toBe(200);
    const { plaintext_key } = await keys.rotate(actor, row);
    expect([statusOf(key), statusOf(plaintext_key)]).toEqual([401, 200]);
    await keys.remove(actor, row);
    expect(statusOf(plaintext_key)).toBe(401);
  });

  test('one of an inactive project, until it is active again, and one of a deleted project', async () => {
    const { projects } = app.services;
    const { key } = await makeKey();
    await projects.update(actor, project, { status: 'inactive' });
    expect(statusOf(key)).toBe(401);
    await projects.update(actor, project, { status: 'active' });
    expect(statusOf(key)).toBe(200);
    await projects.remove(actor, 'shop');
    expect(statusOf(key)).toBe(401);
  });

  test('a change made by another process holds from the next request on', async () => {
    const { id, key } = await makeKey({ can_read: true });
    expect(statusOf(key)).toBe(200);
    expect(await run(app.data_dir, 'key', 'deactivate', String(id))).toMatchObject({ exit: 0, stderr: '' });
    expect(statusOf(key)).toBe(401);
  }, 60_000);
});

describe('a restricted key', () => {
  const ORIGIN = 'https://app.example.com';

  test('with no origin anywhere denies every request', async () => {
    const { key } = await makeKey({ restricted: true });
    expect(statusOf(key)).toBe(403);
    expect(statusOf(key, { origin: ORIGIN })).toBe(403);
    expect(statusOf(key, { app_id: 'com.example.app' })).toBe(403);
  });

  test('takes its own origins, from when they are added to when they are removed', async () => {
    const { keys, origins } = app.services;
    const { id, key } = await makeKey({ restricted: true });
    const { id: origin_id } = await allow(id, 'domain', 'app.example.com');
    expect(statusOf(key, { origin: ORIGIN })).toBe(200);
    expect(statusOf(key, { origin: 'https://evil.example' })).toBe(403);
    expect(statusOf(key)).toBe(403);
    const row = keys.require(String(id));
    await origins.remove(actor, row, origins.require(row, String(origin_id)));
    expect(statusOf(key, { origin: ORIGIN })).toBe(403);
  });

  test('is told where its refused request came from, cut and written harmlessly, and of no rule', async () => {
    const { id, key } = await makeKey({ restricted: true });
    await allow(id, 'domain', 'app.example.com');
    const told = (more: Partial<KeyCredentials>) => {
      try {
        return knock(key, more);
      } catch (error) {
        return messageOf(error);
      }
    };
    const HOW = 'Who manages the key sees why with: satchel key why';
    expect(told({ origin: 'https://other.example.com:8443' })).toBe(
      `This origin is not allowed for this key. It came from "https://other.example.com:8443". ${HOW}`,
    );
    expect(told({ app_id: 'com.example.app' })).toBe(
      `This app is not allowed for this key. It came from "com.example.app". ${HOW}`,
    );
    expect(told({})).toBe(`This key is restricted: send an allowed Origin or X-App-Id. ${HOW}`);
    expect(told({ origin: `https://<b>"'\n\`$(id)é` })).toContain(
      ' "https://%3cb%3e%22%27%0a%60%24%28id%29%c3%a9". ',
    );
    expect(told({ origin: 'o'.repeat(201) })).toContain(`"${'o'.repeat(200)}..."`);
    expect(told({ origin: 'o'.repeat(200) })).toContain(`"${'o'.repeat(200)}"`);
  });

  test('does not take the origins of another key', async () => {
    const first = await makeKey({ restricted: true });
    const second = await makeKey({ restricted: true });
    await allow(first.id, 'domain', 'app.example.com');
    await allow(second.id, 'domain', 'second.example.com');
    expect(statusOf(second.key, { origin: ORIGIN })).toBe(403);
  });

  test('takes global origins, until they are removed', async () => {
    const { origins } = app.services;
    const { key } = await makeKey({ restricted: true });
    const { id } = await origins.addGlobal(actor, { type: 'domain', value: '*.example.com' });
    expect(statusOf(key, { origin: ORIGIN })).toBe(200);
    await origins.removeGlobal(actor, id);
    expect(statusOf(key, { origin: ORIGIN })).toBe(403);
  });

  test('takes apps by id, and pinned ones only with their certificate', async () => {
    const { id, key } = await makeKey({ restricted: true });
    await allow(id, 'ios', 'com.example.ios');
    await allow(id, 'android', 'com.example.app', 'AB'.repeat(32));
    expect(statusOf(key, { app_id: 'com.example.ios' })).toBe(200);
    expect(statusOf(key, { android_package: 'com.example.ios' })).toBe(403);
    expect(statusOf(key, { app_id: 'com.example.app' })).toBe(403);
    expect(statusOf(key, { app_id: 'com.example.app', android_cert: 'CD'.repeat(32) })).toBe(403);
    expect(statusOf(key, { android_package: 'com.example.app', android_cert: 'ab'.repeat(32) })).toBe(200);
  });

  test('with allow_no_origin takes a request with neither, and still checks one that says where it is from', async () => {
    const { key } = await makeKey({ restricted: true, allow_no_origin: true });
    expect(statusOf(key)).toBe(200);
    expect(statusOf(key, { origin: ORIGIN })).toBe(403);
    expect(statusOf(key, { app_id: 'com.example.app' })).toBe(403);
  });

  test('wrong key and wrong origin is 401: who it is comes before where it is from', async () => {
    await makeKey({ restricted: true });
    expect(statusOf('sat_live_wrong', { origin: 'https://evil.example' })).toBe(401);
  });
});

describe('through HTTP', () => {
  let http: HttpServer;
  beforeEach(() => {
    const { keys, tokens, limiter } = app.services;
    const routes = [
      dataRoute({
        method: 'GET',
        path: '/things/:id',
        tag: 'Test',
        summary: 'test',
        needs: ['read'],
        query: t.Object({ n: t.Optional(t.Integer()) }),
        load({ ctx }) {
          if (ctx.params.id !== '1') throw notFound('Thing');
        },
        handle: ({ caller }) => ({ project: caller.project_public_id }),
      }),
    ];
    http = createHttpServer(routes, {
      config: app.config,
      clock: app.clock,
      logger: app.services.logger,
      limiter,
      requests: new RequestMeasures(new EventLoopWatch()),
      authenticateKey: (credentials) => keys.authenticate(credentials),
      authenticateToken: (authorization, ip) => tokens.authenticate(authorization, ip),
      authenticateSession: () => null,
      findProject: (caller, ref) => app.services.projects.requireFor(caller, ref),
      clientIp: createClientIpReader([]),
      guarded: (_check, work) => work(),
      settled: () => null,
      projectAtHost: () => null,
      refuseChanges: () => {},
    });
  });

  const get = (path: string, headers: Record<string, string>) =>
    http.handle(new Request(`http://satchel.test/api/v1${path}`, { headers }));

  test('refusals come in order: key, origin, permission, resource, input', async () => {
    const { keys } = app.services;
    const { id, key } = await makeKey({ restricted: true });
    const row = keys.require(String(id));
    const everything_wrong = { 'X-API-Key': 'wrong', Origin: 'https://evil.example' };
    expect((await get('/things/2?n=x', everything_wrong)).status).toBe(401);
    const headers = { 'X-API-Key': key, Origin: 'https://app.example.com' };
    const origin_refused = await get('/things/2?n=x', headers);
    expect(origin_refused.status).toBe(403);
    expect(await origin_refused.text()).toContain('allowed origins');
    await allow(id, 'domain', 'app.example.com');
    const permission_refused = await get('/things/2?n=x', headers);
    expect(permission_refused.status).toBe(403);
    expect(await permission_refused.text()).toContain("'read'");
    await keys.update(actor, row, { can_read: true });
    expect((await get('/things/2?n=x', headers)).status).toBe(404);
    expect((await get('/things/1?n=x', headers)).status).toBe(422);
    const accepted = await get('/things/1?n=1', headers);
    expect(accepted.status).toBe(200);
    expect(await accepted.json()).toEqual({ project: project.public_id });
  });

  test('the rate of the key is counted by its own limit, from the next request after a change', async () => {
    const { keys } = app.services;
    const { id, key } = await makeKey({ can_read: true, rate_limit_per_minute: 2 });
    const statuses = async (n: number) => {
      const found: number[] = [];
      for (let i = 0; i < n; i += 1) found.push((await get('/things/1', { 'X-API-Key': key })).status);
      return found;
    };
    expect(await statuses(3)).toEqual([200, 200, 429]);
    await keys.update(actor, keys.require(String(id)), { rate_limit_per_minute: 3 });
    expect(await statuses(2)).toEqual([200, 429]);
  });

  test('refused requests use up no rate', async () => {
    const { id, key } = await makeKey({ rate_limit_per_minute: 1 });
    for (let n = 0; n < 3; n += 1) expect((await get('/things/1', { 'X-API-Key': key })).status).toBe(403);
    const { keys } = app.services;
    await keys.update(actor, keys.require(String(id)), { can_read: true });
    expect((await get('/things/1', { 'X-API-Key': key })).status).toBe(200);
  });

  test('an access token opens nothing here, and a key nothing on the management plane', async () => {
    const { key } = await makeKey({ can_read: true });
    expect((await get('/things/1', { Authorization: `Bearer ${key}` })).status).toBe(401);
    expect((await app.call('GET', '/api/public/v1/projects', { key })).status).toBe(401);
    expect((await app.call('GET', '/api/public/v1/projects', { token: key })).status).toBe(401);
  });

  test('the key is in no log and in no answer', async () => {
    const { key } = await makeKey();
    const answer = await get('/things/1', { 'X-API-Key': key });
    expect(await answer.text()).not.toContain(key);
    expect(app.logs()).not.toContain(key);
  });
});
