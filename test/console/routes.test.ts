/** How the console is served: the page under a strict policy, its files for ever, frames for mails to nobody else. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { loadBundle } from '../../src/console/bundle.ts';
import { startConsole } from '../access/people/setup.ts';
import { type Answer, actor, startTestApp, type TestApp } from '../support/helpers.ts';

/** Decision: the most that the first load may weigh. */
const MAX_FIRST_LOAD_BYTES = 150_000;

let app: TestApp;
let page: Answer;
let cookie = '';
const filesOf = (html: string): string[] => html.match(/\/console\/assets\/[\w.-]+/g) ?? [];

beforeAll(async () => {
  const on = await startConsole();
  await on.addPerson({ email: 'ann@example.com' });
  cookie = await on.enter('ann@example.com');
  app = on.app;
  page = await app.call('GET', '/console');
});

describe('the page', () => {
  test('is the same at every path below, and names four files of its own and nothing else', async () => {
    expect(page.status).toBe(200);
    expect((await app.call('GET', '/console/projects/shop/keys')).text).toBe(page.text);
    expect(filesOf(page.text)).toHaveLength(4);
    expect(page.text.match(/(src|href)="(?!\/console\/assets\/)/)).toBeNull();
  });

  test('says to whom is not signed in, or no longer, that they are not: so it need not ask first', async () => {
    const told = async (Cookie: string) =>
      (await app.call('GET', '/console', { headers: { Cookie } })).text.includes('satchel-nobody-signed-in');
    expect(page.text).toContain('<meta name="satchel-nobody-signed-in">');
    expect([await told(cookie), await told(`__Host-satchel=${'x'.repeat(43)}`)]).toEqual([false, true]);
  });

  test('lets run, load and frame nothing but what is ours', () => {
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    for (const rule of [
      "default-src 'none'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'self'",
    ])
      expect(policy).toContain(rule);
    expect(policy).toContain("require-trusted-types-for 'script'");
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-cache');
  });
});

describe('its files', () => {
  test('are kept for ever, are compressed for whom takes that, and weigh little', async () => {
    let bytes = 0;
    for (const file of filesOf(page.text)) {
      const response = await app.app.handle(
        new Request(`http://satchel.test${file}`, { headers: { 'Accept-Encoding': 'gzip, br' } }),
      );
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(response.headers.get('content-encoding')).toBe('gzip');
      const zipped = await response.arrayBuffer();
      bytes += zipped.byteLength;
      const plain = await app.call('GET', file);
      expect(plain.headers.get('content-encoding')).toBeNull();
      expect(plain.text).toBe(new TextDecoder().decode(Bun.gunzipSync(new Uint8Array(zipped))));
    }
    expect(bytes).toBeLessThan(MAX_FIRST_LOAD_BYTES);
  });

  test('come in few parts, hardly one of them smaller than what asking for it costs', async () => {
    const { assets } = await loadBundle();
    const bytes = assets.flatMap(({ name, gzip_base64 }) =>
      name.endsWith('.js') ? [Bun.gunzipSync(Uint8Array.fromBase64(gzip_base64)).length] : [],
    );
    expect(bytes.length).toBeLessThan(20);
    expect(bytes.filter((each) => each < 4096).length).toBeLessThanOrEqual(2);
  });

  test('bring the licence of the typeface along', async () => {
    const licence = await app.call('GET', '/console/assets/inter-license.txt');
    expect(licence.text).toContain('SIL OPEN FONT LICENSE Version 1.1');
  });

  test('are 404 under a name that there is not', async () => {
    expect((await app.call('GET', '/console/assets/main-00000000.js')).status).toBe(404);
  });
});

describe('a frame for a mail', () => {
  const HTML = '<p style="color:red">Hello</p><script>alert(1)</script>';
  const post = (headers: Record<string, string>): Promise<Answer> =>
    app.call('POST', '/console/preview-frame', {
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', Cookie: cookie, ...headers },
      body: new URLSearchParams({ html: HTML }).toString(),
    });

  test('shows what the console posts, under a policy that lets nothing of it run', async () => {
    const shown = await post({ 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'iframe' });
    expect(shown.text).toBe(HTML);
    const policy = shown.headers.get('content-security-policy') ?? '';
    expect(policy).toStartWith("sandbox; default-src 'none';");
    expect(policy).not.toContain('script-src');
    expect(policy).toContain("frame-ancestors 'self'");
  });

  test('reads nothing of what somebody posts who is not signed in', async () => {
    const frame = { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'iframe' };
    const ended = `__Host-satchel=${'x'.repeat(43)}`;
    for (const wrong of ['', ended]) {
      const body = new ReadableStream(
        { pull: () => Promise.reject(new Error('was read')) },
        { highWaterMark: 0 },
      );
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded', ...frame, Cookie: wrong };
      const request = new Request('http://satchel.test/console/preview-frame', {
        method: 'POST',
        headers,
        body,
      });
      expect((await app.app.handle(request)).status).toBe(401);
    }
  });

  test('shows nothing that another site posts, nor outside of a frame', async () => {
    for (const headers of [
      {},
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'iframe' },
      { 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Dest': 'iframe' },
      { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'document' },
    ]) {
      const refused = await post(headers);
      expect(refused.status).toBe(403);
      expect(refused.text).not.toContain('color:red');
    }
  });
});

describe('before anybody is there', () => {
  test('the console says how the first person is made, with the line of this server, and the link opens', async () => {
    const empty = await startTestApp();
    const { config, people } = empty.services;
    for (const path of ['/console', '/console/sign-in', '/console/projects/shop']) {
      const told = await empty.call('GET', path);
      expect([told.status, told.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(told.text).toContain(`satchel person add --first --data-dir ${config.data_dir}</code>`);
      expect(told.text).not.toContain('<script');
    }
    const link = new URL((await people.makeFirstLink()) ?? '');
    expect((await empty.call('GET', link.pathname)).text).toBe(page.text);
    await people.add(actor, null, { email: 'ann@example.com', all_projects: true });
    expect((await empty.call('GET', '/console')).text).toBe(page.text);
  });

  test('the root leads a browser to the console and a program to the documentation', async () => {
    for (const [accept, where] of [
      ['text/html,application/xhtml+xml,*/*;q=0.8', '/console'],
      ['*/*', '/docs'],
    ] as const) {
      const root = await app.call('GET', '/', { headers: { Accept: accept } });
      expect([root.status, root.headers.get('location'), root.headers.get('vary')]).toEqual([
        ...[302, where, 'Accept'],
      ]);
    }
  });
});
