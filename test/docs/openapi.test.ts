/** The OpenAPI document against the routes and their real answers, and that the pages ask no other host. */
import { beforeAll, expect, test } from 'bun:test';
import { PLANE_PREFIX, type Route } from '../../src/platform/http.ts';
import { isPlainObject } from '../../src/platform/schema.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../helpers.ts';

let app: TestApp;
let key = '';
let token = '';
let paths: Record<string, unknown> = {};

function member(value: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((at, name) => (isPlainObject(at) ? at[name] : undefined), value);
}

function keysOf(value: unknown): string[] {
  return isPlainObject(value) ? Object.keys(value).sort() : [];
}

beforeAll(async () => {
  app = await startTestApp();
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
  const { body } = await app.call('GET', '/docs/openapi.json');
  const found = member(body, 'paths');
  if (isPlainObject(found)) paths = found;
});

function operationOf(route: Route): unknown {
  const path = `${PLANE_PREFIX[route.plane]}${route.path}`.replace(/:(\w+)/g, '{$1}');
  return member(paths, path, route.method.toLowerCase());
}

test('every route of the planes is documented, with its credential and the shape of its answers', () => {
  const routes = app.app.routes.filter((route) => route.plane !== 'page');
  expect(routes.length).toBeGreaterThan(70);
  for (const route of routes) {
    const name = `${route.method} ${route.path}`;
    const operation = operationOf(route);
    const responses = member(operation, 'responses');
    for (const status of keysOf(responses)) {
      const media = member(responses, status, 'content');
      const schemas = keysOf(media).map((type) => keysOf(member(media, type, 'schema')).length > 0);
      expect({ name, status, schemas }).toEqual({ name, status, schemas: [true] });
    }
    expect({ name, statuses: keysOf(responses) }).toEqual({
      name,
      statuses: expect.arrayContaining([
        String(route.status),
        ...(route.needs === null ? [] : ['401', '422']),
      ]),
    });
    const scheme = { data: 'api_key', management: 'access_token', status: '', page: '' }[route.plane];
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
  expect(keysOf(member(schema, 'properties', 'meta', 'properties'))).toEqual(keysOf(list));
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
