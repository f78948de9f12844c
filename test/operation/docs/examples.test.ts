/** Every example of the documentation, tried as it stands there: none may be refused for its shape. */

import { beforeAll, expect, test } from 'bun:test';
import { GRANTABLE } from '../../../src/platform/http/callers.ts';
import { PLANE_PREFIX, type Route } from '../../../src/platform/http/routes.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { atEnd } from '../../support/cleanup.ts';
import { startDnsServer } from '../../support/dns-server.ts';
import {
  type Answer,
  actor,
  addCapturingMailbox,
  makeProject,
  startTestApp,
  type TestApp,
} from '../../support/helpers.ts';
import { png, quarters } from '../../support/images.ts';

let app: TestApp;
let key = '';
let token = '';
let paths: Record<string, unknown> = {};
/** Ids of what the examples of POST made, by the route that made them. */
const made: Record<string, string> = {};

/** What is made elsewhere than in its own collection. */
const MAKERS: Record<string, string> = {
  project_file: '/projects/:project/export',
  list: '/email-lists',
  contact: '/email-lists/:list/contacts',
  import: '/email-lists/:list/imports',
  sequence: '/email-sequences',
  delivery: '/projects/:project/webhooks/:webhook/test',
};

function member(value: unknown, ...names: string[]): unknown {
  return names.reduce<unknown>((at, name) => (isPlainObject(at) ? at[name] : undefined), value);
}

beforeAll(async () => {
  const dns = await startDnsServer({ '*': { mx: [{ exchange: 'mx.example.com', preference: 10 }] } });
  atEnd(() => dns.stop());
  app = await startTestApp({
    env: {
      SATCHEL_CAPTCHA_VERIFY_URL: 'http://127.0.0.1:9/siteverify',
      SATCHEL_DNS_SERVERS: dns.address,
    },
  });
  const shop = await makeProject(app, 'shop');
  key = await shop.key({
    ...{ can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true },
    permissions: { email_template: true, captcha: true },
  });
  await addCapturingMailbox(app);
  ({ token } = await app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], capabilities: [...GRANTABLE], expires_in_days: 1 },
  }));
  const service_account = { filename: 'key.json', content_base64: btoa('{}') };
  await app.call('PUT', '/api/public/v1/projects/shop/vault/firebase', {
    token,
    body: { values: { service_account } },
  });
  const { body } = await app.call('GET', '/docs/openapi.json');
  const found = member(body, 'paths');
  if (isPlainObject(found)) paths = found;
});

/** What stands in the path: the documented example, or what an example of POST has made where that has an id of its own. */
function pathOf(route: Route, operation: unknown): string {
  const parameters = member(operation, 'parameters');
  const list: unknown[] = Array.isArray(parameters) ? parameters : [];
  const filled = route.path.replace(/:(\w+)/g, (placeholder, name: string) => {
    const collection = route.path.slice(0, route.path.indexOf(`/${placeholder}`));
    const example = list.find((each) => member(each, 'name') === name && member(each, 'in') === 'path');
    if (name === 'project') return 'shop';
    const maker = MAKERS[name];
    if (maker !== undefined) return made[maker] ?? '';
    return made[collection.replace('/projects/:project/jobs', '/jobs')] ?? String(member(example, 'example'));
  });
  const asked = list.filter((each) => member(each, 'in') === 'query' && member(each, 'required') === true);
  const query = new URLSearchParams();
  for (const each of asked)
    query.set(String(member(each, 'name')), String(member(each, 'schema', 'example')));
  return `${PLANE_PREFIX[route.plane]}${filled}${asked.length > 0 ? `?${query}` : ''}`;
}

/** The headers that have an example. */
function headersOf(operation: unknown): Record<string, string> {
  const parameters = member(operation, 'parameters');
  const list: unknown[] = Array.isArray(parameters) ? parameters : [];
  const told = list.filter(
    (each) => member(each, 'in') === 'header' && member(each, 'example') !== undefined,
  );
  return Object.fromEntries(
    told.map((each) => [String(member(each, 'name')), String(member(each, 'example'))]),
  );
}

async function tryExample(route: Route): Promise<Answer> {
  const documented = `${PLANE_PREFIX[route.plane]}${route.path}`.replace(/:(\w+)/g, '{$1}');
  const operation = member(paths, documented, route.method.toLowerCase());
  const json = member(operation, 'requestBody', 'content', 'application/json');
  const is_form = member(operation, 'requestBody', 'content', 'multipart/form-data') !== undefined;
  const example = is_form ? formOf(route) : member(json, 'example');
  if (json !== undefined) expect([documented, example]).toEqual([documented, expect.any(Object)]);
  const credential = route.plane === 'data' ? { key } : route.needs === null ? {} : { token };
  const parts = member(operation, 'requestBody', 'content', 'application/offset+octet-stream');
  return app.call(route.method, pathOf(route, operation), {
    ...credential,
    ...(example ? { body: withList(example) } : {}),
    ...(parts ? { body: 'hi' } : {}),
    headers: {
      ...headersOf(operation),
      ...(parts ? { 'Content-Type': 'application/offset+octet-stream' } : {}),
    },
  });
}

/** The example, with the list that was made in place of the one that it names. */
function withList(example: unknown): unknown {
  if (!isPlainObject(example) || example instanceof FormData) return example;
  if (Array.isArray(example.events)) return { ...example, events: example.events.map(withList) };
  return example.list === undefined ? example : { ...example, list: made['/email-lists'] };
}

/** The form as a reader would fill it in: the example of each field, and a file of the reader's choice. */
function formOf(route: Route): FormData {
  const form = new FormData();
  for (const [name, schema] of Object.entries(route.docs.body?.properties ?? {})) {
    form.set(
      name,
      member(schema, 'format') === 'binary'
        ? new File([png(64, 48, quarters)], 'a.png')
        : String(member(schema, 'example')),
    );
  }
  return form;
}

/** What the examples cannot know: the plaintext of a key, a page's restricted one, an import that failed or goes on, who left before, a secret at the captcha provider, a mail that is still scheduled, or came by SMTP. */
const NOT_DONE: Record<string, number> = {
  'POST /captcha/verify': 409,
  'POST /api-keys/lookup': 404,
  'POST /email-lists/:list/subscribe': 403,
  'POST /email-imports/:import/resume': 409,
  'POST /email-imports/:import/cancel': 409,
  'POST /projects/:project/email-lists/:list/contacts': 422,
  'POST /projects/:project/email-imports/:import/resume': 409,
  'POST /projects/:project/email-imports/:import/cancel': 409,
  // The address comes onto the list later in this order.
  'POST /email-contacts/events': 404,
  // The template does not exist, nor do mailboxes for marketing.
  'POST /email-sequences/:sequence/activate': 422,
  'POST /email-sequences/:sequence/pause': 409,
  'POST /email-sequences/:sequence/resume': 409,
  'POST /email-sequences/:sequence/finish': 409,
  'POST /email-sequences/:sequence/enroll': 409,
  'POST /email-sequences/:sequence/steps/:key/test': 422,
  'POST /projects/:project/email-sequences/:sequence/activate': 422,
  'POST /projects/:project/email-sequences/:sequence/pause': 409,
  'POST /projects/:project/email-sequences/:sequence/resume': 409,
  'POST /projects/:project/email-sequences/:sequence/finish': 409,
  'POST /projects/:project/email-sequences/:sequence/enroll': 409,
  'POST /projects/:project/email-sequences/:sequence/steps/:key/test': 422,
  'GET /email-broadcasts/:broadcast/preview': 422,
  'POST /email-broadcasts/:broadcast/send': 422,
  'POST /email-broadcasts/:broadcast/test': 422,
  'POST /email-broadcasts/:broadcast/pause': 409,
  'POST /email-broadcasts/:broadcast/resume': 409,
  'POST /email-broadcasts/:broadcast/cancel': 409,
  'POST /email-broadcasts/:broadcast/decide': 409,
  'GET /projects/:project/email-broadcasts/:broadcast/preview': 422,
  'POST /projects/:project/email-broadcasts/:broadcast/send': 422,
  'POST /projects/:project/email-broadcasts/:broadcast/test': 422,
  'POST /projects/:project/email-broadcasts/:broadcast/pause': 409,
  'POST /projects/:project/email-broadcasts/:broadcast/resume': 409,
  'POST /projects/:project/email-broadcasts/:broadcast/cancel': 409,
  'POST /projects/:project/email-broadcasts/:broadcast/decide': 409,
  'DELETE /emails/:id/schedule': 409,
  'DELETE /projects/:project/emails/:id/schedule': 409,
  'POST /projects/:project/emails/:id/retry': 409,
  // The project is here already; and no file was sent.
  'POST /project-files': 422,
  'POST /project-files/:project_file/check': 409,
  'POST /project-files/:project_file/import': 409,
  // No issuer signed this one.
  'POST /token/exchange': 401,
  // It came by the API, not by SMTP.
  'GET /projects/:project/emails/:id/message': 404,
  // The mailbox of the examples captures, and hears of nothing.
  'POST /mailboxes/:address/events/rotate': 409,
  // Nobody is told yet.
  'POST /alerts/test': 409,
  // Nothing of it was stored yet, and each has an id of its own.
  'POST /projects/:project/vault/:service/versions/:version/reveal': 404,
  'POST /projects/:project/vault/:service/versions/:version/restore': 404,
  // Nobody has signed this one.
  'GET /object-links/:link': 404,
};

test('every documented example works when it is tried, in the order of making, changing and deleting', async () => {
  // The console's own are for browsers: the tests of people go through them.
  const routes = app.app.routes.filter(({ plane }) => !['page', 'console', 'foreign'].includes(plane));
  const rank = ({ method }: Route): number =>
    ['OPTIONS', 'POST', 'PUT', 'PATCH', 'HEAD', 'GET', 'DELETE'].indexOf(method);
  // Deleting the project ends everything.
  const depth = ({ path }: Route): number => (path === '/projects/:project' ? 0 : path.split('/').length);
  // What is in something goes before it.
  const ordered = routes.toSorted(
    (a, b) => rank(a) - rank(b) || (a.method === 'DELETE' ? depth(b) - depth(a) : depth(a) - depth(b)),
  );
  const versioned: string[] = [];
  for (const route of ordered) {
    const answer = await tryExample(route);
    const name = `${route.method} ${route.path}`;
    const status = answer.status < 300 ? 'done' : answer.status;
    expect({ name, text: answer.text, status }).toEqual({
      name,
      text: answer.text,
      status: NOT_DONE[name] ?? 'done',
    });
    const etag = answer.headers.get('etag');
    if (route.method === 'PATCH' && etag !== null) {
      // The version that a change answers is the one that is read next.
      const path = pathOf(
        route,
        member(paths, `${PLANE_PREFIX[route.plane]}${route.path}`.replace(/:(\w+)/g, '{$1}'), 'patch'),
      );
      const read = await app.call('GET', path, { token });
      expect([name, read.status, read.headers.get('etag')]).toEqual([name, 200, etag]);
      versioned.push(route.path);
    }
    const { body } = answer;
    const data = isPlainObject(body.data) ? body.data : body;
    const at = answer.headers.get('location')?.split('/').at(-1);
    const id = data.slug ?? data.public_id ?? data.id ?? data.name ?? at;
    await app.services.engine.whenIdle();
    if (route.method === 'POST' && answer.status < 300 && id !== undefined) {
      made[route.path.replace('/emails/send', '/emails')] ??= String(id);
      // A backup's job is of no project.
      if (data.job_id !== undefined && route.path !== '/backups') made['/jobs'] ??= String(data.job_id);
    }
  }
  expect(versioned.length).toBeGreaterThan(8);
});

test('an example of a refusal is a refusal', async () => {
  const { body } = await app.call('GET', '/docs/openapi.json');
  const responses = member(body, 'components', 'responses');
  const bodies = Object.entries(isPlainObject(responses) ? responses : {}).map(([name, response]) => ({
    name,
    example: member(response, 'content', 'application/json', 'example'),
  }));
  expect(bodies.length).toBe(24);
  for (const { name, example } of bodies) {
    expect({ name, example }).toEqual({
      name,
      example:
        name.startsWith('data') || name.startsWith('console')
          ? expect.objectContaining({ success: false, message: expect.stringMatching(/./) })
          : {
              error: expect.objectContaining({
                code: expect.stringMatching(/^[A-Z_]+$/),
                message: expect.stringMatching(/./),
              }),
            },
    });
  }
});
