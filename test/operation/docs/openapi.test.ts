/** The OpenAPI document against the routes and their real answers, and that the pages ask no other host. */
import { beforeAll, expect, test } from 'bun:test';
import { AppError } from '../../../src/errors.ts';
import { GRANTABLE } from '../../../src/platform/http/callers.ts';
import { PLANE_PREFIX, type Route } from '../../../src/platform/http/routes.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
import {
  type Answer,
  actor,
  addCapturingMailbox,
  type CallOptions,
  makeProject,
  startTestApp,
  type TestApp,
} from '../../support/helpers.ts';

/** What HTTP and browsers have the headers for, and nobody needs to look up here. */
const OF_EVERY_ANSWER = [
  ...['Content-Type', 'Content-Length', 'Cache-Control', 'Vary', 'X-Content-Type-Options'],
  ...['Content-Security-Policy', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'],
];

/** Statuses whose answers have no body. */
const BODILESS = new Set(['204', '304']);

let app: TestApp;
let key = '';
let token = '';
let document: Record<string, unknown> = {};
let paths: Record<string, unknown> = {};

/** What stands there, with references followed to the components. */
function member(value: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((at, name) => followed(isPlainObject(at) ? at[name] : undefined), value);
}

function followed(value: unknown): unknown {
  const ref = isPlainObject(value) ? value.$ref : undefined;
  return typeof ref === 'string' ? member(document, ...ref.slice('#/'.length).split('/')) : value;
}

function keysOf(value: unknown): string[] {
  return isPlainObject(value) ? Object.keys(value).sort() : [];
}

beforeAll(async () => {
  // Port 9 is closed: the captcha provider is out of reach.
  const refuse = () => Promise.reject(new AppError('unavailable', 'not in this test'));
  app = await startTestApp({
    env: { SATCHEL_CAPTCHA_VERIFY_URL: 'http://127.0.0.1:9/siteverify' },
    // Dozens of examinations and backups would tell nothing more of their shapes.
    maintenance: {
      examine: async () => [],
      backUp: refuse,
      verify: refuse,
      factsOfFile: refuse,
      stop: () => {},
    },
  });
  const project = await makeProject(app, 'shop');
  key = await project.key({ can_read: true, can_write: true, can_send_emails: true });
  const made = await app.services.tokens.create(actor, {
    name: 't',
    all_projects: true,
    projects: [],
    capabilities: [],
    expires_in_days: 1,
  });
  token = made.token;
  document = (await app.call('GET', '/docs/openapi.json')).body;
  const found = member(document, 'paths');
  if (isPlainObject(found)) paths = found;
});

function operationOf(route: Route): unknown {
  const path = `${PLANE_PREFIX[route.plane]}${route.path}`.replace(/:(\w+)/g, '{$1}');
  return member(paths, path, route.method.toLowerCase());
}

test('every route of the planes is documented, with its credential and the shape of its answers', () => {
  const routes = app.app.routes.filter(({ plane }) => plane !== 'page' && plane !== 'foreign');
  expect(routes.length).toBeGreaterThan(70);
  for (const route of routes) {
    const name = `${route.method} ${route.path}`;
    const operation = operationOf(route);
    const responses = member(operation, 'responses');
    for (const status of keysOf(responses)) {
      const media = member(responses, status, 'content');
      const schemas = keysOf(media).map((type) => keysOf(member(media, type, 'schema')).length > 0);
      expect({ name, status, schemas }).toEqual({
        name,
        status,
        schemas: BODILESS.has(status) || (/^\/uploads/.test(route.path) && status < '300') ? [] : [true],
      });
    }
    expect({ name, statuses: keysOf(responses) }).toEqual({
      name,
      statuses: expect.arrayContaining([
        String(route.status),
        ...(route.needs === null ? [] : ['401', '422']),
        ...(route.plane === 'console' && route.method === 'POST' && route.docs.body ? ['413'] : []),
      ]),
    });
    const schemes = {
      ...{ data: 'api_key', management: 'access_token', console: 'session' },
      ...{ machine: 'access_token', status: '', page: '', foreign: '' },
    };
    const is_sign_in = ['console', 'management'].includes(route.plane) && route.needs === null;
    const scheme = is_sign_in ? '' : schemes[route.plane];
    const security = JSON.stringify(member(operation, 'security'));
    expect({ name, security }).toEqual({ name, security: scheme ? expect.stringContaining(scheme) : '[]' });
  }
});

test.each([
  ['/api/public/v1/projects', '/api/public/v1/projects'],
  ['/api/public/v1/projects/{project}', '/api/public/v1/projects/shop'],
  ['/api/public/v1/global-origins', '/api/public/v1/global-origins'],
  ['/api/v1/objects', '/api/v1/objects'],
  ['/api/v1/jobs', '/api/v1/jobs'],
  ['/api/v1/emails', '/api/v1/emails'],
  ['/api/health', '/api/health'],
])('%s is documented with the envelope it is answered in', async (documented, path) => {
  const credential = path.startsWith('/api/public/') ? { token } : { key };
  const answer = await app.call('GET', path, credential);
  expect(answer.status).toBe(200);
  const schema = member(
    paths,
    documented,
    'get',
    'responses',
    '200',
    'content',
    'application/json',
    'schema',
  );
  expect(keysOf(member(schema, 'properties'))).toEqual(keysOf(answer.body));
  const list = member(answer.body, 'meta');
  const told = keysOf(member(schema, 'properties', 'meta', 'properties'));
  // There only where counting stopped.
  expect(told.filter((name) => name !== 'total_capped')).toEqual(keysOf(list));
});

test('a refusal is documented as it is answered', async () => {
  const documented = ['get', 'responses', '401', 'content', 'application/json', 'schema', 'properties'];
  const data = await app.call('GET', '/api/v1/objects');
  expect(keysOf(member(paths, '/api/v1/objects', ...documented))).toEqual(
    expect.arrayContaining(keysOf(data.body)),
  );
  const management = await app.call('GET', '/api/public/v1/token');
  expect(keysOf(member(paths, '/api/public/v1/token', ...documented))).toEqual(keysOf(management.body));
});

/** Calls a route and expects of the document that it knows the status of the answer. */
async function expectDocumented(route: Route, call: CallOptions & { on?: string }): Promise<Answer> {
  const path = route.path.replace(/:\w+/g, call.on ?? '01ARZ3NDEKTSV4RRFFQ69G5FAV');
  const answer = await app.call(route.method, `${PLANE_PREFIX[route.plane]}${path}`, call);
  const documented = keysOf(member(operationOf(route), 'responses'));
  const name = `${route.method} ${route.path}`;
  expect({ name, documented }).toEqual({ name, documented: expect.arrayContaining([String(answer.status)]) });
  const declared = keysOf(member(operationOf(route), 'responses', String(answer.status), 'headers'));
  const known = [...declared, ...OF_EVERY_ANSWER].map((header) => header.toLowerCase());
  const undeclared = [...answer.headers.keys()].filter((header) => !known.includes(header));
  expect({ name, status: answer.status, undeclared }).toEqual({
    name,
    status: answer.status,
    undeclared: [],
  });
  return answer;
}

function routeOf(method: string, path: string): Route {
  const found = app.app.routes.find((route) => route.method === method && route.path === path);
  if (!found) throw new Error(`there is no route ${method} ${path}`);
  return found;
}

test('a download answers its parts, and what has not changed, as documented', async () => {
  const body = new FormData();
  body.set('file', new Blob(['hello']), 'a.txt');
  const stored = await expectDocumented(routeOf('POST', '/objects'), { key, body });
  const etag = await app.call('GET', `/api/v1/objects/${stored.body.public_id}`, { key });
  const headers: [number, Record<string, string>][] = [
    [200, {}],
    [206, { Range: 'bytes=1-2' }],
    [304, { 'If-None-Match': etag.headers.get('etag') ?? '' }],
    [412, { 'If-Match': '"other"' }],
    [416, { Range: 'bytes=100-' }],
  ];
  for (const [status, sent] of headers) {
    const on = String(stored.body.public_id);
    const answer = await expectDocumented(routeOf('GET', '/objects/:public_id'), { key, headers: sent, on });
    expect([answer.status, answer.text === '']).toEqual([status, BODILESS.has(String(status))]);
  }
});

test('an email that is queued, sent at once, scheduled or without a mailbox is answered as documented', async () => {
  const mail = { to: 'ann@example.org', subject: 's', body_text: 'b' };
  const send = routeOf('POST', '/emails/send');
  const statusOf = async (fields: Record<string, unknown>) =>
    (await expectDocumented(send, { key, body: { ...mail, ...fields } })).status;
  expect(await statusOf({})).toBe(503);
  await addCapturingMailbox(app);
  expect(await statusOf({})).toBe(202);
  expect(await statusOf({ queue: false })).toBe(201);
  expect(await statusOf({ scheduled_at: '2031-01-01T00:00:00Z' })).toBe(201);
});

test('a captcha provider that cannot be reached, and a rate that is used up, are answered as documented', async () => {
  const project = app.services.projects.require('shop');
  await app.services.vault.set(actor, project, requireVaultService('captcha'), { secret_key: 's' });
  const { plaintext_key } = await app.services.keys.create(actor, project, {
    ...{ name: 'k', can_read: true, permissions: { captcha: true }, rate_limit_per_minute: 1 },
  });
  const call = { key: plaintext_key, body: { token: 't' } };
  expect((await expectDocumented(routeOf('POST', '/captcha/verify'), call)).status).toBe(502);
  expect((await expectDocumented(routeOf('POST', '/captcha/verify'), call)).status).toBe(429);
});

test('the routes that honour Idempotency-Key say so, and no others', async () => {
  const mail = { to: 'ann@example.org', subject: 's', body_text: 'b' };
  const declared: string[] = [];
  const honouring: string[] = [];
  for (const route of app.app.routes.filter(
    ({ plane, method }) => plane === 'data' && method !== 'GET' && method !== 'HEAD',
  )) {
    const parameters = member(operationOf(route), 'parameters');
    const names = Array.isArray(parameters)
      ? parameters.map((each: unknown) => member(followed(each), 'name'))
      : [];
    if (names.includes('Idempotency-Key')) declared.push(route.path);
    const headers = { 'Idempotency-Key': 'x'.repeat(256) };
    const refused = await expectDocumented(route, { key, headers, body: { ...mail, emails: [mail] } });
    if (member(refused.body, 'errors', 'Idempotency-Key') !== undefined) honouring.push(route.path);
  }
  expect(declared.toSorted()).toEqual(['/emails/batch', '/emails/send', '/objects']);
  expect(honouring.toSorted()).toEqual(declared.toSorted());
});

// The last of the tests: it rotates keys and changes things.
test('whatever a route answers to callers and bodies of every kind is documented', async () => {
  const seen = new Set<number>();
  const project = app.services.projects.require('shop');
  const mighty = await app.services.keys.create(actor, project, {
    ...{
      name: 'k',
      can_read: true,
      can_write: true,
      can_send_emails: true,
      can_manage_email_marketing: true,
    },
    permissions: { email_template: true, captcha: true },
  });
  const powerful = await app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], expires_in_days: 1 },
    capabilities: [...GRANTABLE],
  });
  const callers: CallOptions[] = [
    {},
    { key: 'wrong', token: 'wrong' },
    { key, token },
    { key: mighty.plaintext_key, token: powerful.token },
    { key: mighty.plaintext_key, headers: { Origin: 'https://app.example.com' } },
  ];
  for (const route of app.app.routes) {
    if (route.plane === 'page' || route.plane === 'foreign') continue;
    const bodies = ['GET', 'HEAD'].includes(route.method)
      ? [undefined]
      : [undefined, {}, 'no JSON', { name: 'n', ref: 'r' }];
    for (const caller of callers)
      for (const body of bodies)
        for (const on of ['shop', '1', '01ARZ3NDEKTSV4RRFFQ69G5FAV']) {
          // What is deleted would be seen as 404 alone from there on.
          if (route.method === 'DELETE' && on !== '01ARZ3NDEKTSV4RRFFQ69G5FAV') continue;
          seen.add((await expectDocumented(route, { ...caller, on, body })).status);
        }
  }
  expect([...seen].sort()).toEqual(expect.arrayContaining([200, 201, 401, 403, 404, 422]));
}, 60_000);

test('groups stand in the order of the tour, and every operation is in one of them under a name of its own', () => {
  const tags = member(document, 'tags');
  const groups = (Array.isArray(tags) ? tags : []).map((tag: unknown) => member(tag, 'name'));
  expect(groups.slice(0, 2)).toEqual(['Objects', 'Emails']);
  expect(document.openapi).toBe('3.1.0');
  const ids: unknown[] = [];
  for (const route of app.app.routes.filter(({ plane }) => plane !== 'page' && plane !== 'foreign')) {
    expect(groups).toContain(route.docs.tag);
    ids.push(member(operationOf(route), 'operationId'));
  }
  expect(new Set(ids).size).toBe(ids.length);
});

test('a change is documented as taking null only where null clears, and a new thing nowhere', async () => {
  const takesNull = (name: string) => {
    const properties = member(document, 'components', 'schemas', name, 'properties');
    return keysOf(properties).filter((field) => JSON.stringify(member(properties, field)).includes('"null"'));
  };
  expect(takesNull('ApiKeyChanges')).toEqual(['email_daily_limit', 'permissions', 'rate_limit_per_minute']);
  expect(takesNull('OriginChanges')).toEqual(['sha1_fingerprints', 'sha256_fingerprints']);
  expect(takesNull('AiAccountChanges')).toEqual(['api_key', 'base_url', 'organization_id']);
  const schemas = keysOf(member(document, 'components', 'schemas'));
  for (const name of schemas.filter((each) => each.startsWith('New'))) {
    expect([name, takesNull(name)]).toEqual([name, []]);
  }
});

test('what has more than a handful of fields has a name, so that a generated client has it once', () => {
  const unnamed: string[] = [];
  const look = (at: unknown, where: string): void => {
    if (Array.isArray(at)) for (const each of at) look(each, where);
    if (!isPlainObject(at)) return;
    const fields = keysOf(at.properties).length;
    if (fields > 6) unnamed.push(`${where}: ${fields} fields`);
    for (const each of Object.values(at)) look(each, where);
  };
  for (const [path, operations] of Object.entries(paths)) look(operations, path);
  expect(unnamed).toEqual([]);
});
