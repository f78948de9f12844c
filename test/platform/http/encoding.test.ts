/** Answers that are compressed for who takes gzip, and those that never are, over real connections. */
import { beforeAll, expect, test } from 'bun:test';
import { gunzipSync } from 'node:zlib';
import { mayCompress, takesGzip } from '../../../src/platform/http/encoding.ts';
import { dataOf, type MarketingApp, startMarketingApp } from '../../marketing/settings/setup.ts';
import { actor } from '../../support/helpers.ts';

let on: MarketingApp;
let key = '';
let token = '';
let list = '';
let paste = '';
let stored: string;

beforeAll(async () => {
  on = await startMarketingApp();
  key = await on.project.key({
    ...{
      can_read: true,
      can_write: true,
      can_manage_email_marketing: true,
      permissions: { email_template: true },
    },
  });
  const made = await on.app.services.tokens.create(actor, {
    ...{ name: 'all', all_projects: true, projects: [], capabilities: ['can_read_vault', 'can_write_vault'] },
  });
  token = made.token;
  list = await on.list();
  const text = Array.from({ length: 3_000 }, (_, n) => `nobody${n}`).join('\n');
  paste = String(
    dataOf(await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text }), 201).id,
  );
  const form = new FormData();
  form.set('file', new File(['{"stored": "as it is"}'.repeat(200)], 'a.json', { type: 'application/json' }));
  form.set('visibility', 'public');
  const { body } = await on.app.call('POST', '/api/v1/objects', { key, body: form });
  stored = `/api/v1/objects/${String(body.public_id)}`;
  for (const slug of ['a', 'b']) {
    const made = await on.app.call('POST', '/api/v1/emails/templates', {
      key,
      body: {
        name: slug,
        slug,
        subject: 'Hi',
        category: 'other',
        body_html: '<p>Hello</p>'.repeat(slug === 'a' ? 200 : 12_000),
      },
    });
    if (made.status !== 201) throw new Error(made.text);
  }
});

interface Got {
  status: number;
  headers: Headers;
  bytes: Buffer;
  text: string;
}

/** A request over a connection, with its body as it was sent and as text. */
async function get(
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: string,
): Promise<Got> {
  const credentials = path.startsWith('/api/public')
    ? { Authorization: `Bearer ${token}` }
    : { 'X-API-Key': key };
  const answer = await fetch(`${on.app.url}${path}`, {
    ...{ method, decompress: false, ...(body === undefined ? {} : { body }) },
    headers: { 'Accept-Encoding': 'gzip', ...credentials, ...headers },
  });
  const bytes = Buffer.from(await answer.arrayBuffer());
  const is_gzip = answer.headers.get('content-encoding') === 'gzip' && bytes.length > 0;
  const text = (is_gzip ? gunzipSync(bytes) : bytes).toString();
  return { status: answer.status, headers: answer.headers, bytes, text };
}

const PLAIN = { 'Accept-Encoding': 'identity' };
const encodingOf = ({ headers }: Got): string | null => headers.get('content-encoding');
const variesOf = ({ headers }: Got): boolean => /\baccept-encoding\b/i.test(headers.get('vary') ?? '');

test.each([
  ['JSON', () => `/api/v1/emails/templates/a`],
  ['JSON that is compressed elsewhere', () => `/api/v1/emails/templates/b`],
  ['a record of the management plane', () => `/api/public/v1/projects/${on.project.slug}/email-templates/a`],
  ['CSV', () => `/api/v1/email-imports/${paste}/rejected`],
  ['a page of the documentation', () => '/docs/api/emails'],
  ['its script', () => '/docs/docs.js'],
  ['the OpenAPI document', () => '/docs/openapi.json'],
])('%s is compressed for who takes it, and the same for who does not', async (_, path) => {
  const [compressed, again, plain] = [await get(path()), await get(path()), await get(path(), PLAIN)];
  expect([compressed.status, encodingOf(compressed), encodingOf(plain)]).toEqual([200, 'gzip', null]);
  expect([variesOf(compressed), variesOf(plain)]).toEqual([true, true]);
  expect(compressed.text).toBe(plain.text);
  expect(again.text).toBe(plain.text);
  expect(compressed.bytes.length).toBeLessThan(plain.bytes.length * 0.6);
  for (const name of ['content-type', 'etag', 'cache-control', 'content-disposition'])
    expect(compressed.headers.get(name)).toBe(plain.headers.get(name));
  const head = await get(path(), {}, 'HEAD');
  expect([head.status, encodingOf(head), head.bytes.length]).toEqual([200, 'gzip', 0]);
});

test('what is smaller than 1 KiB is sent as it is, pages too', async () => {
  for (const path of ['/console/welcome/nobody', `/api/v1/email-lists/${list}`]) {
    const small = await get(path);
    expect([small.status, encodingOf(small), variesOf(small)]).toEqual([200, null, true]);
  }
});

test('a page and a refusal above 1 KiB are compressed', async () => {
  const page = await get('/unsubscribe/nobody');
  expect([page.status, page.text.length > 1024, encodingOf(page)]).toEqual([404, true, 'gzip']);
  const body = JSON.stringify({ contact_ids: Array.from({ length: 60 }, () => 1), add: ['x'] });
  const path = `/api/v1/email-lists/${list}/contacts/bulk-tag`;
  const refused = await get(path, { 'Content-Type': 'application/json' }, 'POST', body);
  expect([refused.status, refused.text.length > 1024, encodingOf(refused)]).toEqual([422, true, 'gzip']);
});

test('a record keeps its ETag, by which it is changed', async () => {
  const path = `/api/public/v1/projects/${on.project.slug}/email-templates/a`;
  const { headers } = await get(path);
  expect(headers.get('content-encoding')).toBe('gzip');
  const change = (etag: string) =>
    fetch(`${on.app.url}${path}`, {
      method: 'PATCH',
      body: JSON.stringify({ subject: 'Other' }),
      headers: {
        ...{
          Authorization: `Bearer ${token}`,
          'Content-Type': 'application/json',
          'Accept-Encoding': 'gzip',
        },
        'If-Match': etag,
      },
    });
  const etag = headers.get('etag') ?? '';
  expect([(await change(etag)).status, (await change(etag)).status]).toEqual([200, 409]);
});

test('a stored file is sent as it is, whole, in part or not at all', async () => {
  const whole = await get(stored);
  expect([whole.status, encodingOf(whole), whole.bytes.length]).toEqual([200, null, 4_400]);
  expect(variesOf(whole)).toBe(false);
  const part = await get(stored, { Range: 'bytes=0-1999' });
  expect([part.status, encodingOf(part), part.bytes.length]).toEqual([206, null, 2_000]);
  const same = await get(stored, { 'If-None-Match': whole.headers.get('etag') ?? '' });
  expect([same.status, encodingOf(same), same.bytes.length]).toEqual([304, null, 0]);
});

test('what holds secrets is never compressed', async () => {
  const project = `/api/public/v1/projects/${on.project.slug}`;
  for (const path of ['/api/public/v1/vault/services', `${project}/vault`, `${project}/api-keys`]) {
    const answer = await get(path);
    expect([path, answer.status, encodingOf(answer)]).toEqual([path, 200, null]);
  }
  const never = on.app.app.routes
    .filter((route) => !mayCompress(route))
    .map(({ method, path }) => `${method} ${path}`);
  for (const route of [
    'POST /projects/:project/vault/reveal',
    'POST /projects/:project/vault/:service/reveal',
    'POST /projects/:project/api-keys',
    'POST /projects/:project/api-keys/:apiKey/reveal',
    'POST /ai-accounts/:account/reveal',
    'GET /tokens',
    'POST /tokens',
    'POST /people',
    'POST /people/:person/reset',
    'POST /objects/:public_id/links',
    'POST /totp',
  ])
    expect(never).toContain(route);
  // Told by what they answer, so that a new one is not forgotten. A change of a secret says that it is one, and no more.
  const answers_secret = on.app.app.routes.filter(({ docs }) =>
    SECRET_FIELD.test(JSON.stringify(docs.response ?? null).replaceAll(SAID_TO_BE_SECRET, '')),
  );
  expect(answers_secret.length).toBeGreaterThan(8);
  expect(
    answers_secret.filter((route) => mayCompress(route)).map(({ method, path }) => `${method} ${path}`),
  ).toEqual([]);
});

const SAID_TO_BE_SECRET = '"secret":{"const":true,"type":"boolean"}';
const SECRET_FIELD =
  /"(plaintext_key|token|secret|link|recovery_codes|password|api_key|access_token|secret_key|content_base64|undecryptable)":/;

test.each([
  ['gzip', true],
  ['gzip, deflate, br', true],
  ['br;q=1.0, GZip ; q=0.5', true],
  ['x-gzip', true],
  ['*', true],
  ['gzip;q=0', false],
  ['gzip;q=0.000, *', false],
  ['*;q=0', false],
  ['br', false],
  ['gzipped', false],
  ['', false],
  [null, false],
])('Accept-Encoding %p: %p', (header, takes) => {
  const headers = new Headers(header === null ? {} : { 'Accept-Encoding': header });
  expect(takesGzip(new Request('http://satchel.test', { headers }))).toBe(takes);
});
