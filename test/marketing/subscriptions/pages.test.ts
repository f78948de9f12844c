/** The public pages: what they hold and forbid, whatever the project is called, and that only a button acts. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Answer } from '../../support/helpers.ts';
import { type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list: string;

beforeAll(async () => {
  on = await startMarketingApp();
  list = await on.list();
});

const open = (method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  on.app.call(method, path, { headers });
const brand = (fields: Record<string, unknown>) => on.call('PATCH', '/email-marketing/settings', fields);
const policyOf = (answer: Answer): string => answer.headers.get('Content-Security-Policy') ?? '';

let count = 0;
/** A new contact and the path of its unsubscribe link. */
async function someone(): Promise<{ email: string; path: string }> {
  count += 1;
  const email = `reader${count}@example.com`;
  const { id } = await on.contact(list, email);
  const { subscriptions, projects, database } = on.app.services;
  const url = await database.write((tx) =>
    subscriptions.unsubscribeLinks(tx, projects.require('shop'))({ public_id: String(id) }),
  );
  return { email, path: new URL(url).pathname };
}

const statusOf = async (email: string): Promise<unknown> =>
  rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`))[0]?.status;

test('a page loads nothing, runs nothing, is framed by nobody, and is kept and indexed by nobody', async () => {
  const { path } = await someone();
  const page = await open('GET', path);
  expect(page.status).toBe(200);
  expect(policyOf(page)).toMatch(
    /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  );
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(page.text) ?? [];
  const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64');
  expect(policyOf(page)).toContain(`'sha256-${hash}'`);
  expect(page.text).not.toMatch(/<script|<link|\son\w+=|style="/i);
  expect(page.text).toContain('<html lang="en">');
  expect(page.text).toContain('name="viewport"');
  expect(page.text).toContain('prefers-color-scheme:dark');
  expect(page.headers.get('Referrer-Policy')).toBe('no-referrer');
  expect(page.headers.get('X-Robots-Tag')).toBe('noindex');
  expect(page.headers.get('Cache-Control')).toContain('no-store');
  expect(page.headers.get('X-Content-Type-Options')).toBe('nosniff');
});

describe('whatever its project is called,', () => {
  test('names are text', async () => {
    const { path } = await someone();
    await brand({ brand_name: `<img src=x onerror=alert(1)> "Shop" & 'Söhne'` });
    const page = await open('GET', path);
    expect(page.text).not.toContain('<img src=x');
    expect(page.text).toContain(
      '&lt;img src=x onerror=alert(1)&gt; &quot;Shop&quot; &amp; &#x27;Söhne&#x27;',
    );
  });

  test('a logo is the only image, from its own origin alone', async () => {
    const { path } = await someone();
    const logo = 'https://cdn.example.com:8443/logo.png?a=1&b="><script>';
    expect((await brand({ brand_logo_url: logo })).status).toBe(200);
    const page = await open('GET', path);
    expect(policyOf(page)).toContain('; img-src https://cdn.example.com:8443; ');
    expect(page.text).not.toContain('<script>');
    for (const bad of [
      'http://cdn.example.com/l.png',
      'data:image/png,x',
      'https://a b/',
      "https://x.example;script-src 'unsafe-inline'/",
    ])
      expect([bad, (await brand({ brand_logo_url: bad })).status]).toEqual([bad, 422]);
    expect(policyOf(await open('GET', path))).not.toContain('unsafe');
    await brand({ brand_logo_url: null });
    expect(policyOf(await open('GET', path))).not.toContain('img-src');
  });

  test('its colour has words on it that can be read', async () => {
    const { path } = await someone();
    for (const [brand_color, text] of [
      ['#ffee00', '#000'],
      ['#000080', '#fff'],
      ['#FFFFFF', '#000'],
    ] as const) {
      await brand({ brand_color });
      expect((await open('GET', path)).text).toContain(`button{color:${text};background:${brand_color}}`);
    }
  });
});

test('GET and HEAD change nothing, POST acts without a script, a key or an origin, and may be repeated', async () => {
  const { email, path } = await someone();
  for (const method of ['GET', 'HEAD', 'GET']) {
    expect((await open(method, path)).status).toBe(200);
    expect(await statusOf(email)).toBe('active');
  }
  expect((await open('HEAD', path)).text).toBe('');
  // A mail program's one click (RFC 8058): a form, from no page at all.
  const answer = await on.app.call('POST', path, {
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    body: 'List-Unsubscribe=One-Click',
  });
  expect(answer.status).toBe(200);
  expect(await statusOf(email)).toBe('unsubscribed');
  const before = on.app.services.database.read.all(sql`SELECT * FROM suppressions`);
  expect((await open('POST', path)).status).toBe(200);
  expect(on.app.services.database.read.all(sql`SELECT * FROM suppressions`)).toEqual(before);
});

test('tokens that are none are 404 with a page, and show nothing of what was asked', async () => {
  const { email, path } = await someone();
  const [token = ''] = path.split('/').slice(-1);
  const [id = '', mac = ''] = token.split('-');
  const wrong = `${mac.slice(0, -1)}${mac.endsWith('0') ? '1' : '0'}`;
  for (const bad of [
    `/unsubscribe/${id}-${wrong}`,
    `/unsubscribe/${id}-${mac}-${mac}`,
    `/unsubscribe/${id}`,
    `/unsubscribe/${id}-${mac.toUpperCase()}x`,
    '/unsubscribe/%3Cscript%3Ealert(1)%3C%2Fscript%3E',
    '/unsubscribe/%',
    `/confirm/${token}`,
    `/confirm/${'x'.repeat(5_000)}`,
    '/confirm/%00',
  ])
    for (const method of ['GET', 'HEAD', 'POST']) {
      const answer = await open(method, bad);
      expect([bad, method, answer.status]).toEqual([bad, method, 404]);
      expect(answer.text).not.toContain('alert');
      expect(answer.text).not.toContain(email);
      if (method !== 'HEAD' && !bad.endsWith('%')) expect(policyOf(answer)).toContain("default-src 'none'");
    }
  expect(await statusOf(email)).toBe('active');
});

test('the link of a contact of a deleted project, or of one that was forgotten, is 404', async () => {
  const { email, path } = await someone();
  const { privacy, projects } = on.app.services;
  const actor = { kind: 'shell', id: '0', name: 'tester', ip: null } as const;
  await privacy.forget(actor, projects.require('shop'), email);
  expect((await open('GET', path)).status).toBe(404);
  expect((await open('POST', path)).status).toBe(404);
});
