/** Values that break programs, in every field of every body and query of a route: whoever may do everything still gets no 500. */
import { expect, test } from 'bun:test';
import { AppError } from '../../src/errors.ts';
import { GRANTABLE } from '../../src/platform/http/callers.ts';
import type { Route } from '../../src/platform/http/routes.ts';
import { isPlainObject } from '../../src/platform/http/schema.ts';
import { actor, makeProject, startTestApp } from '../support/helpers.ts';
import { makeOneOfEach, type PathValues, pathOf } from '../support/one-of-each.ts';

/** As JSON, which can say more than JavaScript would keep. */
const HOSTILE = [
  ...['null', 'true', '-1', '0.5', '1e308', '1e999', '9007199254740993', '-9223372036854775809'],
  ...[
    '""',
    '" "',
    '"\\u0000"',
    '"a\\u0000b"',
    '"\\ud800"',
    '"x\\udfff"',
    '"\\udbff\\udfff"',
    '"\\u202e"',
    '"\\r\\nX: y"',
  ],
  ...[
    '"__proto__"',
    '"constructor"',
    '"../../x"',
    '"%00"',
    '"{{#if"',
    '"{{x}}"',
    '"0 0 31 2 *"',
    '"http://[::1"',
  ],
  ...[
    '"a@b"',
    '"a@xn--0.com"',
    '"\\"a b\\"@c.de"',
    '"smtp://u:p@h:99999"',
    '"+275760-09-13T00:00:00Z"',
    '"9999-12-31T23:59:59Z"',
  ],
  ...[
    '[]',
    '[null]',
    '[[]]',
    '["x","x"]',
    '{}',
    '{"__proto__":{"a":1}}',
    '{"constructor":{"prototype":1}}',
    '{"\\ud800":1}',
  ],
  ...[
    '{"toString":1,"length":-1}',
    '{"":""}',
    JSON.stringify('é'.repeat(70_000)),
    `${'['.repeat(60)}1${']'.repeat(60)}`,
  ],
];
const BODIES = [
  '',
  '{',
  '[]',
  'null',
  '"x"',
  '\0',
  '{"a":'.repeat(5_000),
  '['.repeat(100_000),
  '{"__proto__":{"name":1}}',
];
/** In each field as many of them, others in the next: all of them in all would take a minute. */
const OF_EACH = 4;

function* hostileBodies({ docs }: Route, from: number): Generator<string> {
  yield BODIES[from % BODIES.length] ?? '';
  const example: Record<string, unknown> = isPlainObject(docs.example) ? docs.example : {};
  for (const [index, name] of Object.keys(docs.body?.properties ?? {}).entries()) {
    const { [name]: _, ...others } = example;
    const rest = JSON.stringify(others).slice(1);
    for (let n = 0; n < OF_EACH; n += 1) {
      const value = HOSTILE[(from + index * 7 + n * 11) % HOSTILE.length];
      yield `{${JSON.stringify(name)}:${value}${rest === '}' ? '' : ','}${rest}`;
    }
  }
}

/** As they stand in an address. */
const IN_ADDRESSES = [
  '%00',
  '%ed%a0%80',
  '%',
  '-1',
  '9'.repeat(40),
  '__proto__',
  '%25',
  '%2e%2e%2f',
  '%c3%a9'.repeat(300),
];

function* hostilePaths(route: Route, values: PathValues): Generator<string> {
  const path = pathOf(route, values);
  for (const name of Object.keys(route.docs.query?.properties ?? {}))
    for (const value of IN_ADDRESSES) yield `${path}?${name}=${value}`;
  if (!route.path.includes(':')) return;
  for (const value of IN_ADDRESSES)
    yield pathOf({ ...route, path: route.path.replace(/:\w+(?!.*:)/, value) }, values);
}

test('no value in any field, query or path makes a route fail', async () => {
  const refuse = () => Promise.reject(new AppError('unavailable', 'not in this test'));
  const app = await startTestApp({
    // Nothing listens on port 9.
    env: { SATCHEL_CAPTCHA_VERIFY_URL: 'http://127.0.0.1:9/', SATCHEL_DNS_SERVERS: '127.0.0.1:9' },
    maintenance: {
      examine: async () => [],
      backUp: refuse,
      verify: refuse,
      factsOfFile: refuse,
      stop: () => {},
    },
  });
  const owner = await makeProject(app, 'owner');
  const all = { can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true };
  const permissions = { email_template: true, captcha: true };
  const key = await owner.key({ ...all, permissions, rate_limit_per_minute: 1_000_000 });
  const { token } = await app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], capabilities: [...GRANTABLE] },
  });
  const values = await makeOneOfEach(app, owner, { key, token });
  const failed: string[] = [];
  const statuses = new Set<number>();
  const ask = async (route: Route, path: string, body?: string): Promise<void> => {
    app.clock.advance(100);
    const headers = { 'Content-Type': 'application/json' };
    const answer = await app.call(route.method, path, { key, token, headers, body });
    statuses.add(answer.status);
    if (answer.status === 500) failed.push(`${route.method} ${path.slice(0, 200)} ${body?.slice(0, 200)}`);
  };
  // What takes things away comes last, or there would be nothing to ask of.
  const routes = app.app.routes.filter(({ plane }) => plane === 'data' || plane === 'management');
  const order = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
  for (const [from, route] of routes
    .toSorted((a, b) => order.indexOf(a.method) - order.indexOf(b.method))
    .entries()) {
    for (const path of hostilePaths(route, values)) await ask(route, path);
    if (route.method === 'GET' || route.method === 'DELETE') continue;
    // The key that asks would be another one.
    if (route.path.endsWith('/:apiKey/rotate')) continue;
    for (const body of hostileBodies(route, from)) await ask(route, pathOf(route, values), body);
  }
  expect(failed).toEqual([]);
  // It is not at the door that all of them were stopped.
  for (const status of [200, 201, 404, 409, 422]) expect([...statuses]).toContain(status);
}, 120_000);
