/** Where the public URL is https, every answer has browsers come by nothing else; where it is not, none does. */
import { beforeAll, expect, test } from 'bun:test';
import { startTestApp, type TestApp } from '../../support/helpers.ts';

let secure: TestApp;
let plain: TestApp;
beforeAll(async () => {
  secure = await startTestApp({ env: { SATCHEL_PUBLIC_URL: 'https://satchel.test' } });
  plain = await startTestApp({ env: { SATCHEL_PUBLIC_URL: 'http://localhost:8420' } });
});

test.each([
  ['an endpoint', 'GET', '/api/health', {}, 200],
  ['a HEAD', 'HEAD', '/api/health', {}, 200],
  ['a page', 'GET', '/console', {}, 200],
  ['a redirect', 'GET', '/', {}, 302],
  ['a refusal of a key', 'GET', '/api/v1/objects/01ARZ3NDEKTSV4RRFFQ69G5FAV', { 'X-API-Key': 'no' }, 401],
  ['a refusal of a token', 'GET', '/api/public/v1/projects', {}, 401],
  ['a path that there is none of', 'GET', '/nowhere', {}, 404],
  [
    'a preflight',
    'OPTIONS',
    '/api/v1/objects',
    { 'Access-Control-Request-Method': 'POST', Origin: 'https://a.test' },
    204,
  ],
  ['a bad Host', 'GET', '/api/health', { Host: 'a b' }, 400],
] as const)('%s', async (_, method, path, headers, status) => {
  for (const [app, value] of [
    [secure, 'max-age=31536000'],
    [plain, null],
  ] as const) {
    const request = new Request(`http://satchel.test${path}`, {
      method,
      headers: { Host: 'satchel.test', ...headers },
    });
    const answer = await app.app.handle(request);
    expect([answer.status, answer.headers.get('strict-transport-security')]).toEqual([status, value]);
  }
});
