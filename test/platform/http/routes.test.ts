import { Database as Sqlite } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { loadConfig } from '../../../src/config.ts';
import { AppError, conflict, invalid, notFound } from '../../../src/errors.ts';
import { EventLoopWatch } from '../../../src/platform/host/event-loop.ts';
import {
  CAPABILITIES,
  type KeyCaller,
  keyRefused,
  type ManagementCaller,
} from '../../../src/platform/http/callers.ts';
import { createClientIpReader } from '../../../src/platform/http/client-ip.ts';
import { bearerOf, type Dialect, foreignRoute, keyOf, tokenOf } from '../../../src/platform/http/foreign.ts';
import { pageQuery, paginate } from '../../../src/platform/http/pagination.ts';
import { RateLimiter } from '../../../src/platform/http/rate-limit.ts';
import { RequestMeasures } from '../../../src/platform/http/request-measures.ts';
import {
  bothPlanes,
  dataRoute,
  type HttpDeps,
  managementRoute,
  openRoute,
  Reply,
} from '../../../src/platform/http/routes.ts';
import { t, text } from '../../../src/platform/http/schema.ts';
import { createHttpServer, type HttpServer } from '../../../src/platform/http/server.ts';
import { captureLog } from '../../support/captured-log.ts';
import { TestClock } from '../../support/temp.ts';

const clock = new TestClock();
const log = captureLog(clock);
/** A request of `/slow` ends when its test lets it. */
const slow = { begun: Promise.withResolvers<void>(), may_end: Promise.withResolvers<void>() };

const keyCaller: KeyCaller = {
  key_id: 7,
  key_name: 'k',
  project_id: 1,
  project_public_id: 'P',
  is_test: false,
  is_restricted: false,
  permissions: new Set(['read', 'write']),
  rate_limit_per_minute: 5,
  app_id: null,
};
const tokenCaller: ManagementCaller = {
  kind: 'token',
  id: 3,
  name: 't',
  all_projects: true,
  project_ids: [],
  capabilities: new Set([CAPABILITIES[0]]),
  read_only: false,
};

/** Another product's API. */
const OTHER: Dialect = {
  prefix: '/other',
  fail: ({ status, message }) => Response.json({ oops: message }, { status }),
};

const deps: HttpDeps = {
  config: { ...loadConfig({}), port: 0 },
  clock,
  logger: log.logger,
  limiter: new RateLimiter(clock),
  requests: new RequestMeasures(new EventLoopWatch()),
  authenticateKey(credentials) {
    if (credentials.api_key === null) throw keyRefused('missing');
    if (!credentials.api_key.startsWith('good')) throw keyRefused('invalid');
    if (credentials.origin === 'https://evil.example') throw new AppError('forbidden', 'origin');
    return {
      ...keyCaller,
      key_id: credentials.api_key.length,
      permissions: new Set(credentials.api_key.includes('none') ? [] : ['read', 'write']),
    };
  },
  authenticateSession: () => null,
  authenticateToken(authorization) {
    if (authorization === 'Bearer person') return { ...tokenCaller, kind: 'person', name: 'p' };
    if (authorization === null)
      throw new AppError('unauthenticated', 'none', { code: 'MISSING_ACCESS_TOKEN' });
    return tokenCaller;
  },
  findProject(caller, ref) {
    if (!caller.all_projects || ref !== 'shop') throw notFound('Project');
    return { id: 1, public_id: 'P' };
  },
  clientIp: createClientIpReader([]),
  guarded: (_check, work) => work(),
  settled: () => on_its_way,
  projectAtHost: () => null,
  refuseChanges: () => {},
};
/** A commit that is not on disk yet. */
let on_its_way: Promise<void> | null = null;

const base = { tag: 'Test', summary: 'test' };
const routes = [
  dataRoute({
    ...base,
    method: 'GET',
    path: '/things',
    needs: ['read'],
    query: t.Object(pageQuery),
    handle: ({ query }) =>
      paginate(query, {
        total: 41,
        fetch: (limit, offset) =>
          Array.from({ length: Math.min(limit, 41 - offset) }, (_, n) => ({ n: offset + n })),
      }),
  }),
  dataRoute({
    ...base,
    method: 'POST',
    path: '/things/:id',
    needs: ['write'],
    status: 201,
    body: t.Object({ name: text({ min: 1, max: 5 }) }),
    load: ({ ctx }) => {
      if (ctx.params.id === 'gone') throw notFound('Thing');
      return ctx.params.id;
    },
    handle: ({ body, resource }) => ({ id: resource, ...body }),
  }),
  dataRoute({
    ...base,
    method: 'GET',
    path: '/wrapped',
    family: 'wrapped',
    needs: ['read'],
    handle: () => ({ a: 1 }),
  }),
  dataRoute({
    ...base,
    method: 'DELETE',
    path: '/things/:id',
    needs: ['write'],
    handle: () => new Reply(409, { a: 1 }, { 'X-Extra': 'yes' }),
  }),
  dataRoute({
    ...base,
    method: 'GET',
    path: '/broken',
    needs: ['read'],
    handle: () => {
      throw new Error('hunter2 leaked');
    },
  }),
  dataRoute({
    ...base,
    method: 'GET',
    path: '/bad-disk',
    needs: ['read'],
    handle: () => {
      // As on a file system that went read-only because its disk fails.
      const sqlite = new Sqlite(':memory:');
      sqlite.run('PRAGMA query_only = ON');
      return sqlite.run('CREATE TABLE a (b)');
    },
  }),
  dataRoute({
    ...base,
    method: 'GET',
    path: '/conflict',
    needs: ['read'],
    handle: () => {
      throw conflict('Taken.', { code: 'list_archived', details: { email_id: 'E' }, retry_after_s: 4 });
    },
  }),
  managementRoute({
    ...base,
    method: 'GET',
    path: '/things',
    query: t.Object(pageQuery),
    handle: ({ query }) => paginate(query, { total: 0, fetch: () => [] }),
  }),
  managementRoute({
    ...base,
    method: 'GET',
    path: '/secret',
    needs: ['can_read_vault'],
    handle: () => 'never',
  }),
  managementRoute({
    ...base,
    method: 'GET',
    path: '/machine',
    needs: ['can_administer'],
    handle: () => 'never',
  }),
  ...bothPlanes({
    ...base,
    method: 'GET',
    path: '/machine-of-project',
    needs: ['read'],
    needs_of_manager: ['can_administer'],
    handle: ({ caller }) => ({ by: caller.key?.key_name }),
  }),
  managementRoute({
    ...base,
    method: 'POST',
    path: '/things',
    status: 201,
    body: t.Object({}),
    handle: () => {
      throw invalid({ name: ['is required'] });
    },
  }),
  openRoute({ ...base, plane: 'status', method: 'GET', path: '/health', handle: () => ({ status: 'ok' }) }),
  dataRoute({
    ...base,
    method: 'POST',
    path: '/slow',
    needs: ['write'],
    handle: async () => {
      slow.begun.resolve();
      await slow.may_end.promise;
      return { slow: true };
    },
  }),
  foreignRoute({
    ...base,
    dialect: OTHER,
    method: 'POST',
    path: '/letters/:id',
    who: keyOf(bearerOf, ['write']),
    body: t.Object({ name: t.String() }),
    handle: ({ body, ctx }) => ({ id: ctx.params.id, name: body.name }),
  }),
  foreignRoute({
    ...base,
    dialect: OTHER,
    method: 'GET',
    path: '/vault',
    who: tokenOf((request) => request.headers.get('x-token'), [CAPABILITIES[0]]),
    handle: ({ caller }) => ({ name: caller.name }),
  }),
  foreignRoute({ ...base, dialect: OTHER, method: 'GET', path: '/open', who: null, handle: () => ({}) }),
];

let server: HttpServer;
let port = 0;
const url = (path: string) => `http://127.0.0.1:${port}${path}`;
const good = (n: number) => ({ 'X-API-Key': `good${'x'.repeat(n)}` });

beforeAll(() => {
  server = createHttpServer(routes, deps);
  port = server.listen();
});
afterAll(() => server.stop());

async function json(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>;
}

describe("paths that speak for another's API", () => {
  const ask = (method: string, path: string, headers: Record<string, string> = {}, body?: string) =>
    fetch(url(path), { method, headers, ...(body === undefined ? {} : { body }) });

  test.each([
    ['no credential', 'POST', '/other/letters/1', {}, 401],
    ['our own header', 'POST', '/other/letters/1', good(50), 401],
    ['a key without the permission', 'POST', '/other/letters/1', { Authorization: 'Bearer goodnone' }, 403],
    ['a body that does not fit', 'POST', '/other/letters/1', { Authorization: 'Bearer goodxyz1' }, 422],
    ['a token elsewhere', 'GET', '/other/vault', { Authorization: 'Bearer x' }, 401],
    ['another method', 'DELETE', '/other/letters/1', { Authorization: 'Bearer goodxyz1' }, 405],
    ['an unknown path', 'GET', '/other/nothing', {}, 404],
    ['the prefix itself', 'GET', '/other', {}, 404],
  ] as const)('fail in its form: %s', async (_what, method, path, headers, status) => {
    const answer = await ask(method, path, headers, method === 'POST' ? '{}' : undefined);
    expect([answer.status, Object.keys(await json(answer))]).toEqual([status, ['oops']]);
    expect(answer.headers.get('x-request-id')).not.toBeNull();
  });

  test('answer what their handler says, with the rate of the caller and no word of CORS', async () => {
    const sent = { Authorization: 'Bearer goodxyz2', Origin: 'https://evil.example' };
    const answer = await ask('POST', '/other/letters/9', sent, '{"name":"a"}');
    expect([answer.status, await json(answer)]).toEqual([200, { id: '9', name: 'a' }]);
    expect(answer.headers.get('ratelimit-remaining')).not.toBeNull();
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    expect(await json(await ask('GET', '/other/vault', { 'X-Token': 'x' }))).toEqual({ name: 't' });
    expect((await ask('GET', '/other/open')).status).toBe(200);
  });

  test('stand beside ours, whose unknown paths fail as before, and a path that only begins alike is ours', async () => {
    for (const path of ['/others', '/api/v1/nothing'])
      expect(Object.keys(await json(await ask('GET', path)))).toEqual(['success', 'message']);
  });
});

test('an answer to a change waits for what it may have read to be on disk, one to a GET does not', async () => {
  const commit = Promise.withResolvers<void>();
  on_its_way = commit.promise;
  let is_answered = false;
  const change = fetch(url('/api/v1/things/1'), { method: 'POST', headers: good(40), body: '{"name":"a"}' });
  const answered = change.then(() => {
    is_answered = true;
  });
  for (let n = 0; n < 5; n += 1)
    expect((await fetch(url('/api/v1/wrapped'), { headers: good(41) })).status).toBe(200);
  expect(is_answered).toBe(false);
  commit.resolve();
  await answered;
  expect((await change).status).toBe(201);
  on_its_way = null;
});

test('a person and a token of the same number are two callers, each with a rate of its own', async () => {
  const remaining = async (bearer: string): Promise<number> => {
    const answer = await fetch(url('/api/public/v1/things'), {
      headers: { Authorization: `Bearer ${bearer}` },
    });
    return Number(answer.headers.get('ratelimit-remaining'));
  };
  const of_token = await remaining('x');
  expect(await remaining('person')).toBe(5_999);
  expect(await remaining('x')).toBe(of_token - 1);
  expect(log.linesWith('person:3')).toHaveLength(1);
});

describe('envelopes', () => {
  test('a list of the data plane has success, message, data and the 14 meta keys', async () => {
    const response = await fetch(url('/api/v1/things?page=2&x=1'), { headers: good(1) });
    expect(response.status).toBe(200);
    const body = await json(response);
    expect(body).toMatchObject({
      success: true,
      message: 'Page 2 of 3: items 21 to 40 of 41. Next: GET /api/v1/things?page=3&x=1',
    });
    expect(body.meta).toEqual({
      current_page: 2,
      per_page: 20,
      total: 41,
      last_page: 3,
      from: 21,
      to: 40,
      count: 20,
      has_more: true,
      remaining_items: 1,
      remaining_pages: 1,
      next_page: 3,
      prev_page: 1,
      max_per_page: 50,
      default_per_page: 20,
    });
  });

  test('a page past the end is empty and points back', async () => {
    const body = await json(
      await fetch(url('/api/v1/things?page=9999999999&per_page=1000'), { headers: good(2) }),
    );
    expect(body.data).toEqual([]);
    expect(body.meta).toMatchObject({
      from: null,
      to: null,
      count: 0,
      has_more: false,
      remaining_items: 0,
      next_page: null,
      prev_page: 1,
      per_page: 50,
      last_page: 1,
    });
  });

  test('an empty list has last_page 1; the management plane has no success', async () => {
    const body = await json(
      await fetch(url('/api/public/v1/things'), { headers: { Authorization: 'Bearer x' } }),
    );
    expect(Object.keys(body).toSorted()).toEqual(['data', 'message', 'meta']);
    expect(body.meta).toMatchObject({ last_page: 1, total: 0, from: null, to: null, prev_page: null });
  });

  test('a wrapped resource and a reply with its own status and headers', async () => {
    expect(await json(await fetch(url('/api/v1/wrapped'), { headers: good(3) }))).toEqual({
      success: true,
      data: { a: 1 },
    });
    const reply = await fetch(url('/api/v1/things/1'), { method: 'DELETE', headers: good(3) });
    expect([reply.status, reply.headers.get('x-extra')]).toEqual([409, 'yes']);
  });

  test('failures carry code, details and Retry-After', async () => {
    const response = await fetch(url('/api/v1/conflict'), { headers: good(3) });
    expect(response.headers.get('retry-after')).toBe('4');
    expect(await json(response)).toEqual({
      success: false,
      message: 'Taken.',
      code: 'list_archived',
      email_id: 'E',
    });
    const managed = await fetch(url('/api/public/v1/things'), {
      method: 'POST',
      headers: { Authorization: 'Bearer x' },
      body: '{}',
    });
    expect(managed.status).toBe(422);
    expect(await json(managed)).toEqual({
      error: {
        code: 'VALIDATION_FAILED',
        message: 'name: is required',
        details: { errors: { name: ['is required'] } },
      },
    });
    const denied = await fetch(url('/api/public/v1/secret'), { headers: { Authorization: 'Bearer x' } });
    expect(await json(denied)).toMatchObject({
      error: { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: 'can_read_vault' } },
    });
    for (const path of ['/machine', '/projects/shop/machine-of-project']) {
      const refused = await fetch(url(`/api/public/v1${path}`), { headers: { Authorization: 'Bearer x' } });
      expect(refused.status).toBe(403);
      expect(await json(refused)).toMatchObject({
        error: { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: 'can_administer' } },
      });
    }
    const by_key = await fetch(url('/api/v1/machine-of-project'), { headers: good(3) });
    expect(await json(by_key)).toEqual({ by: 'k' });
  });

  test('a disk that fails under a read is 503 with Retry-After, and in the log', async () => {
    const response = await fetch(url('/api/v1/bad-disk'), { headers: good(42) });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await json(response)).toMatchObject({ success: false, message: expect.stringContaining('disk') });
    expect(log.linesWith('/api/v1/bad-disk').join()).toContain('request not served');
  });

  test('what breaks inside is 500 without its message, and in the log once with the request id', async () => {
    const response = await fetch(url('/api/v1/broken'), {
      headers: { ...good(4), 'X-Request-Id': 'mine-1' },
    });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('hunter2');
    const logged = log.linesWith('hunter2');
    expect(logged).toHaveLength(1);
    expect(JSON.parse(logged[0] ?? '{}')).toMatchObject({
      level: 'error',
      request_id: 'mine-1',
      path: '/api/v1/broken',
    });
  });
});

describe('unknown routes', () => {
  test.each([
    ['/api/v1/nothing', 'GET', 'success'],
    ['/api/v1/things', 'PUT', 'success'],
    ['/api/public/v1/nothing', 'GET', 'error'],
    ['/api/public/v1/things', 'DELETE', 'error'],
    ['/api/nothing', 'GET', 'success'],
    ['/nothing', 'GET', 'success'],
    ['/api/v1/things/%E0%A4%A', 'GET', 'success'],
  ])('%s by %s is 404 in the envelope of its plane', async (path, method, key) => {
    for (const headers of [{}, good(5), { Authorization: 'Bearer x' }]) {
      const response = await fetch(url(path), { method, headers });
      expect(response.status).toBe(404);
      expect(await json(response)).toHaveProperty(key);
      const request_id = response.headers.get('x-request-id');
      expect(request_id).toBeTruthy();
      const logged = log.linesWith(`"${request_id}"`);
      expect(logged.map((line) => JSON.parse(line) as unknown)).toEqual([
        expect.objectContaining({ message: 'request', method, path, status: 404, caller: null }),
      ]);
    }
  });
});

describe('the order of refusals', () => {
  const post = (path: string, headers: Record<string, string>, body: string) =>
    fetch(url(`/api/v1/things/${path}`), { method: 'POST', headers, body });

  test('401, then origin 403, then permission 403, then 404, then 422', async () => {
    const statuses = [
      await post('gone', { Origin: 'https://evil.example' }, 'x'),
      await post('gone', { 'X-API-Key': 'bad', Origin: 'https://evil.example' }, 'x'),
      await post('gone', { 'X-API-Key': 'good-none', Origin: 'https://evil.example' }, 'x'),
      await post('gone', { 'X-API-Key': 'good-none' }, 'x'),
      await post('gone', { 'X-API-Key': 'good-12345678' }, 'x'),
      await post('here', { 'X-API-Key': 'good-12345678' }, 'x'),
      await post('here', { 'X-API-Key': 'good-12345678' }, '{"name":"ok"}'),
    ].map((response) => response.status);
    expect(statuses).toEqual([401, 401, 403, 403, 404, 422, 201]);
  });
});

describe('JSON bodies', () => {
  const post = (body: string | Uint8Array, n: number) =>
    fetch(url('/api/v1/things/1'), { method: 'POST', headers: good(n), body });
  const filled = (n: number, one: (at: number) => string) =>
    Array.from({ length: n }, (_, at) => one(at)).join(' ,\n');
  const nested = (depth: number) => `{"name":"x","a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

  test.each([
    ['{', 'not valid JSON'],
    ['[]', 'must be a JSON object'],
    ['null', 'must be a JSON object'],
    ['"x"', 'must be a JSON object'],
    [new Uint8Array([0x7b, 0xff, 0x7d]), 'not valid JSON'],
    [nested(65), 'nested deeper than 64'],
    ['['.repeat(100_000), 'nested deeper than 64'],
    ['', 'name: is required'],
  ])('%p is 422', async (body, message) => {
    const response = await post(body, 10 + (body.length % 97));
    expect(response.status).toBe(422);
    expect((await json(response)).message).toContain(message);
  });

  test('64 levels are fine, and a charset or content type does not matter', async () => {
    expect((await post(nested(64), 200)).status).toBe(201);
    expect((await post('\uFEFF{"name":"bom"}', 200)).status).toBe(201);
  });

  test.each([
    ['10,000 members', (n: number) => `{"name":"n",${filled(n - 1, (at) => `"${at}":0`)}}`],
    ['10,000 with those within', (n: number) => `{"name":"n","a":[{"b":[ ${filled(n - 4, () => '[ ]')} ]}]}`],
  ])('%s are the most', async (_what, bodyOf) => {
    expect((await post(bodyOf(10_000), 210)).status).toBe(201);
    const refused = await post(bodyOf(10_001), 211);
    expect([refused.status, (await json(refused)).message]).toEqual([
      422,
      'The body has more than 10000 members and items in all.',
    ]);
    const texts = JSON.stringify({ name: 'n', a: '[,{\\",'.repeat(20_000) });
    expect((await post(texts, 212)).status).toBe(201);
  });

  test('a body past the limit is 422, announced or not', async () => {
    const big = `{"name":"${'x'.repeat(6_000_000)}"}`;
    expect((await post(big, 201)).status).toBe(422);
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(big));
        controller.close();
      },
    });
    const response = await fetch(url('/api/v1/things/1'), {
      method: 'POST',
      headers: good(202),
      body: stream,
    });
    expect(response.status).toBe(422);
    expect((await json(response)).message).toContain('larger than');
  });

  test('a client that goes away in the middle of its body takes nothing down', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST /api/v1/things/1 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${good(203)['X-API-Key']}\r\nContent-Length: 100\r\n\r\n{"na`,
          () => socket.destroy(),
        );
      });
      socket.on('close', () => resolve());
    });
    expect((await fetch(url('/api/health'))).status).toBe(200);
  });
});

describe('headers', () => {
  test('every response has a request id; a harmless one of the client is kept', async () => {
    const own = await fetch(url('/api/health'), { headers: { 'X-Request-Id': 'abc-1' } });
    expect(own.headers.get('x-request-id')).toBe('abc-1');
    const made = await fetch(url('/api/health'), { headers: { 'X-Request-Id': 'a b"c' } });
    expect(made.headers.get('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
  });

  test('keyed responses count down, refused requests do not count, the sixth of five is 429', async () => {
    const headers = good(300);
    const refused = await fetch(url('/api/v1/things/1'), {
      method: 'POST',
      headers: { ...headers, Origin: 'https://evil.example' },
      body: '{}',
    });
    expect(refused.status).toBe(403);
    const seen: [number, string | null][] = [];
    for (let n = 0; n < 6; n += 1) {
      const response = await fetch(url('/api/v1/things/1'), {
        method: 'POST',
        headers,
        body: n === 0 ? 'bad' : '{"name":"x"}',
      });
      seen.push([response.status, response.headers.get('ratelimit-remaining')]);
      if (n === 5) expect(Number(response.headers.get('retry-after'))).toBe(60);
      expect(response.headers.get('ratelimit-limit')).toBe('5');
      expect(response.headers.get('ratelimit-reset')).toBe('60');
    }
    expect(seen).toEqual([
      [422, '4'],
      [201, '3'],
      [201, '2'],
      [201, '1'],
      [201, '0'],
      [429, '0'],
    ]);
    clock.advance(60_000);
    expect((await fetch(url('/api/v1/things'), { headers })).status).toBe(200);
  });

  test('a preflight of the data plane needs no key; other planes have none', async () => {
    const headers = {
      Origin: 'https://app.example',
      'Access-Control-Request-Method': 'POST',
      'Access-Control-Request-Headers': 'x-api-key',
    };
    const response = await fetch(url('/api/v1/anything'), { method: 'OPTIONS', headers });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://app.example');
    expect(response.headers.get('access-control-allow-headers')?.toLowerCase()).toContain('x-api-key');
    expect(response.headers.get('access-control-allow-methods')).toContain('PATCH');
    expect((await fetch(url('/api/public/v1/things'), { method: 'OPTIONS', headers })).status).toBe(404);
  });

  test('a preflight allows what a page asks for besides: 50 header names, but no wildcard', async () => {
    const allowed = async (asked: string): Promise<string[]> => {
      const headers = {
        Origin: 'https://app.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': asked,
      };
      const response = await fetch(url('/api/v1/anything'), { method: 'OPTIONS', headers });
      expect(response.headers.get('vary')).toContain('Access-Control-Request-Headers');
      return (response.headers.get('access-control-allow-headers') ?? '').toLowerCase().split(', ');
    };
    const own = await allowed('');
    expect(own).toContain('idempotency-key');
    const added = async (asked: string) => (await allowed(asked)).slice(own.length);
    expect(
      await added('baggage,cache-control, sentry-trace ,traceparent,x-api-key,X-Requested-With'),
    ).toEqual(['baggage', 'cache-control', 'sentry-trace', 'traceparent', 'x-requested-with']);
    expect(await added(`*, ,,a b, "c", ä, ${'x'.repeat(65)}, ${'x'.repeat(64)}, d*`)).toEqual([
      'x'.repeat(64),
      'd*',
    ]);
    const many = Array.from({ length: 60 }, (_, index) => `x-${index}`);
    expect(await added(`*,${many.join(',')}`)).toEqual(many.slice(0, 50));
  });

  test('answers and refusals name the asking origin and vary by it', async () => {
    for (const [path, status] of [
      ['/api/v1/things', 200],
      ['/api/v1/nothing', 404],
    ] as const) {
      const response = await fetch(url(path), { headers: { ...good(301), Origin: 'https://app.example' } });
      expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([
        status,
        'https://app.example',
      ]);
      expect(response.headers.get('vary')).toContain('Origin');
      expect(response.headers.get('access-control-allow-credentials')).toBeNull();
    }
    const unkeyed = await fetch(url('/api/v1/things'), { headers: { Origin: 'https://app.example' } });
    expect([unkeyed.status, unkeyed.headers.get('access-control-allow-origin')]).toEqual([
      401,
      'https://app.example',
    ]);
    expect(
      (await fetch(url('/api/public/v1/things'), { headers: { Origin: 'https://app.example' } })).headers.has(
        'access-control-allow-origin',
      ),
    ).toBe(false);
  });

  test('HEAD answers like GET without a body', async () => {
    const response = await fetch(url('/api/health'), { method: 'HEAD' });
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  test('the query of a request is not in the log', async () => {
    await fetch(url('/api/health?token=hunter3'));
    expect(log.text()).not.toContain('hunter3');
    expect(log.text()).toContain('"path":"/api/health"');
  });
});

describe('stopping', () => {
  test('lets a request in flight finish, though an idle and a stalled client hang on', async () => {
    const other = createHttpServer(routes, deps);
    const at = other.listen();
    const idle = connect(at, '127.0.0.1');
    const stalled = connect(at, '127.0.0.1', () => stalled.write('GET /api/health HTTP/1.1\r\nHost:'));
    const answer = fetch(`http://127.0.0.1:${at}/api/v1/slow`, { method: 'POST', headers: good(400) });
    await slow.begun.promise;
    const stopped = other.stop();
    slow.may_end.resolve();
    await stopped;
    expect(await (await answer).json()).toEqual({ slow: true });
    expect(fetch(`http://127.0.0.1:${at}/api/health`)).rejects.toThrow();
    idle.destroy();
    stalled.destroy();
  });
});
