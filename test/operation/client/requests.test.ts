/** How a client's requests go: what is sent again and what never, what failures say, and who gets to see the key. */
import { afterAll, describe, expect, test } from 'bun:test';
import { createServer } from 'node:net';
import { inspect } from 'node:util';
import { addressOf, type Connection, connect } from '../../../src/operation/client/core.ts';
import { SatchelError } from '../../../src/operation/client/core-failures.ts';

const KEY = 'sk_live_0123456789abcdef';

interface Seen {
  method: string;
  path: string;
  headers: Headers;
  body: string;
}

type Answer = (request: Request) => Response | Promise<Response>;
const endings: (() => unknown)[] = [];
afterAll(() => Promise.all(endings.map((end) => end())));

/** A server that gives these answers one after the other, the last one for ever, and a client of it. */
function serve(answers: Answer[], options: Partial<Connection> = {}) {
  const seen: Seen[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const { method, headers } = request;
      seen.push({ method, path: pathname + search, headers, body: await request.clone().text() });
      const answer = answers[Math.min(seen.length, answers.length) - 1];
      return answer ? answer(request) : new Response(null, { status: 500 });
    },
  });
  endings.push(() => server.stop(true));
  const url = server.url.href;
  return { seen, url, call: connect({ url, key: KEY, ...options }) };
}

const fine: Answer = () => Response.json({ id: 1 });
const refused = (status: number, headers: Record<string, string> = {}, body: unknown = {}): Answer => {
  return () => Response.json(body, { status, headers: { 'X-Request-Id': 'r1', ...headers } });
};
const busy = refused(503, { 'Retry-After': '0' }, { success: false, message: 'Busy.' });
const ofProxy: Answer = () => new Response('<h1>Bad Gateway</h1>', { status: 502 });

/** What it rejects with; fails where it does not. */
async function failureOf(promise: Promise<unknown>): Promise<SatchelError> {
  const error: unknown = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof SatchelError)) throw new Error(`no SatchelError: ${inspect(error)}`);
  return error;
}

describe('a request is sent again', () => {
  test.each(['GET', 'HEAD', 'PUT', 'DELETE'])('%s, twice at most, after 503', async (method) => {
    const { seen, call } = serve([busy, busy, fine]);
    const read = method === 'HEAD' ? call.response : call.json;
    await read(method, '/x', {});
    expect(seen.map((each) => each.method)).toEqual([method, method, method]);
    const stays = serve([busy]);
    const error = await failureOf(stays.call.json('GET', '/x', {}));
    expect(stays.seen).toHaveLength(3);
    expect(error).toMatchObject({ status: 503, message: 'Busy.', retryAfter: 0, requestId: 'r1' });
  });

  test('with the same Idempotency-Key and body, where the endpoint takes one', async () => {
    const { seen, call } = serve([busy, ofProxy, fine]);
    await call.json('POST', '/x', { body: { a: 1 }, is_once: true });
    const keys = seen.map(({ headers }) => headers.get('idempotency-key'));
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys).toEqual([keys[0] ?? '', keys[0] ?? '', keys[0] ?? '']);
    expect(seen.map(({ body }) => body)).toEqual(['{"a":1}', '{"a":1}', '{"a":1}']);
    await call.json('POST', '/x', { is_once: true, idempotencyKey: 'mine' });
    await call.json('POST', '/x', { is_once: true });
    const [mine, other] = seen.slice(3).map(({ headers }) => headers.get('idempotency-key'));
    expect(mine).toBe('mine');
    expect(other).not.toBe(keys[0] ?? null);
  });

  test.each(['POST', 'PATCH'])(
    '%s without a key after 429 alone, as nothing was done then',
    async (method) => {
      const { seen, call } = serve([refused(429, { 'Retry-After': '0' }), busy]);
      const error = await failureOf(call.json(method, '/x', { body: {} }));
      expect(error.status).toBe(503);
      expect(seen).toHaveLength(2);
      expect(seen[0]?.headers.has('idempotency-key')).toBe(false);
    },
  );

  test('when its connection broke, unless it may have changed something', async () => {
    let broken = 0;
    const server = createServer((socket) => {
      broken += 1;
      socket.on('error', () => {}).once('data', () => socket.destroy());
    });
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(0, '127.0.0.1', resolve);
    await promise;
    endings.push(() => server.close());
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const call = connect({ url: `http://127.0.0.1:${port}`, key: KEY });
    const error = await failureOf(call.json('POST', '/x', { body: {} }));
    expect(error).toMatchObject({ status: 0, code: 'unanswered', requestId: null, retryAfter: null });
    expect(error.cause).toBeInstanceOf(Error);
    expect(broken).toBe(1);
    await failureOf(call.json('GET', '/x', {}));
    expect(broken).toBe(4);
  });

  test('not before Retry-After, and not at all where that is long', async () => {
    let at = 0;
    const wait: Answer = () => {
      at = performance.now();
      return refused(503, { 'Retry-After': '1' })(new Request('http://x'));
    };
    const { seen, call } = serve([wait, fine]);
    await call.json('GET', '/x', {});
    expect(performance.now() - at).toBeGreaterThanOrEqual(990);
    expect(seen).toHaveLength(2);
    const late = serve([refused(429, { 'Retry-After': '61' })]);
    expect((await failureOf(late.call.json('GET', '/x', {}))).retryAfter).toBe(61);
    expect(late.seen).toHaveLength(1);
  });

  test('by a Retry-After that is a date, by the clock of the server', async () => {
    const date = 'Fri, 01 Jan 2010 00:00:00 GMT';
    const later = { 'Retry-After': 'Fri, 01 Jan 2010 00:02:00 GMT', Date: date };
    const { seen, call } = serve([refused(503, later)]);
    expect((await failureOf(call.json('GET', '/x', {}))).retryAfter).toBe(120);
    expect(seen).toHaveLength(1);
    const now = serve([refused(503, { 'Retry-After': date, Date: date }), fine]);
    await now.call.json('GET', '/x', {});
    expect(now.seen).toHaveLength(2);
  });

  test('as often as the connection says, and never more than three times', async () => {
    const { seen, call } = serve([busy], { tries: 1 });
    await failureOf(call.json('GET', '/x', {}));
    expect(seen).toHaveLength(1);
    const often = serve([busy], { tries: 9 });
    await failureOf(often.call.json('GET', '/x', {}));
    expect(often.seen).toHaveLength(3);
  });

  test('never after another refusal', async () => {
    for (const status of [400, 401, 403, 404, 409, 422, 500]) {
      const { seen, call } = serve([refused(status)]);
      await failureOf(call.json('GET', '/x', {}));
      expect({ status, tries: seen.length }).toEqual({ status, tries: 1 });
    }
  });
});

describe('a signal', () => {
  test('ends the wait before another try', async () => {
    const { seen, call } = serve([refused(503, { 'Retry-After': '60' })]);
    const ending = new AbortController();
    const reason = new Error('enough');
    const asked = call.json('GET', '/x', { signal: ending.signal });
    asked.catch(() => {});
    while (seen.length === 0) await Bun.sleep(1);
    await Bun.sleep(20);
    ending.abort(reason);
    expect(await asked.catch((error: unknown) => error)).toBe(reason);
    expect(seen).toHaveLength(1);
  });

  test('ends a request under way, and one that has not begun', async () => {
    const ending = new AbortController();
    const { seen, call } = serve([
      () => {
        ending.abort();
        return new Promise(() => {});
      },
    ]);
    const name = async (asked: Promise<unknown>): Promise<unknown> =>
      asked.catch((error: unknown) => (error instanceof Error ? error.name : null));
    expect(await name(call.json('POST', '/x', { signal: ending.signal }))).toBe('AbortError');
    expect(await name(call.json('POST', '/x', { signal: ending.signal }))).toBe('AbortError');
    expect(seen).toHaveLength(1);
  });
});

describe('a failure', () => {
  test('tells what the envelope of either plane says', async () => {
    const errors = { to: ['is required'] };
    const data = serve([
      refused(422, {}, { success: false, message: 'to: is required', code: 'c', errors, n: 1 }),
    ]);
    const told = { status: 422, message: 'to: is required', code: 'c', errors, requestId: 'r1' };
    const error = await failureOf(data.call.json('POST', '/x', {}));
    expect(error).toMatchObject({ ...told, name: 'SatchelError', details: { n: 1 }, retryAfter: null });
    const envelope = { error: { code: 'c', message: 'to: is required', details: { errors, n: 1 } } };
    const management = serve([refused(422, {}, envelope)]);
    expect(await failureOf(management.call.json('POST', '/x', {}))).toMatchObject({
      ...told,
      details: { n: 1 },
    });
  });

  test('is one too where a proxy answers, or something else than Satchel', async () => {
    const { seen, call } = serve([ofProxy]);
    const error = await failureOf(call.json('POST', '/x', {}));
    expect(error).toMatchObject({ status: 502, code: null, errors: {}, requestId: null });
    expect(error.message).toBe('The server answered 502 without saying why.');
    expect(seen).toHaveLength(1);
    const page = serve([() => new Response('<h1>Welcome</h1>')]);
    expect(await failureOf(page.call.json('GET', '/x', {}))).toMatchObject({ status: 200, code: 'not_json' });
    expect(page.seen).toHaveLength(1);
    const moved = serve([() => Response.redirect('https://example.com/')]);
    for (const read of [moved.call.json, moved.call.text])
      expect(await failureOf(read('GET', '/x', {}))).toMatchObject({ status: 302, code: 'elsewhere' });
  });

  test('is one where a file is said to be elsewhere than on the web, such as on this machine', async () => {
    for (const Location of [import.meta.url, 'data:text/plain,x', 's3://bucket/key', 'http://[']) {
      const { seen, call } = serve([() => new Response(null, { status: 302, headers: { Location } })]);
      const error = await failureOf(call.response('GET', '/x', {}));
      expect(error).toMatchObject({ status: 302, code: 'elsewhere' });
      expect(seen).toHaveLength(1);
    }
  });

  test('holds no key, and neither does the client show it', async () => {
    const { call, url } = serve([busy]);
    const error = await failureOf(call.json('POST', '/x', { body: {} }));
    const nobody = await failureOf(connect({ url: 'http://127.0.0.1:1', key: KEY }).json('POST', '/x', {}));
    for (const each of [error, nobody, call])
      for (const text of [inspect(each, { depth: 9, showHidden: true }), JSON.stringify(each), String(each)])
        expect(text).not.toContain('0123456789abcdef');
    for (const key of [`${KEY}\n`, `x ${KEY}`, '']) {
      expect(() => connect({ url, key })).toThrow('key must be an API key, without spaces or line breaks.');
    }
    for (const wrong of ['ftp://example.com', 'https://user:0123456789abcdef@example.com'])
      expect(() => connect({ url: wrong, key: KEY })).toThrow('url must be an http or https address');
    expect(() => connect({ url: 'example.com', key: KEY })).toThrow(TypeError);
  });
});

test('the key and its own headers leave for its own address alone', async () => {
  const store = serve([() => new Response('bytes')]);
  const { seen, call } = serve([() => Response.redirect(`${store.url}file?signature=1`)], {
    headers: { 'X-App-Id': 'com.example.shop' },
  });
  const response = await call.response('GET', '/x', { headers: { Range: 'bytes=0-4' } });
  expect(await response.text()).toBe('bytes');
  expect(Object.fromEntries(seen[0]?.headers ?? [])).toMatchObject({
    ...{ 'x-api-key': KEY, 'x-app-id': 'com.example.shop', range: 'bytes=0-4' },
  });
  const [there] = store.seen;
  expect(there?.path).toBe('/file?signature=1');
  expect(['x-api-key', 'x-app-id', 'range'].map((name) => there?.headers.get(name) ?? null)).toEqual([
    ...[null, null, 'bytes=0-4'],
  ]);
});

test('what did not change since is an answer of a file, whose bytes one has', async () => {
  const { call } = serve([() => new Response(null, { status: 304 })]);
  expect((await call.response('GET', '/x', { headers: { 'If-None-Match': '"a"' } })).status).toBe(304);
});

test('an address leads to its endpoint, whatever stands for a name', () => {
  const place = '/api/v1/emails/{id}/schedule';
  expect(addressOf(place, { path: { id: 'a/../b?c#d e' } })).toBe(
    '/api/v1/emails/a%2F..%2Fb%3Fc%23d%20e/schedule',
  );
  for (const id of ['', '.', '..', undefined])
    expect(() => addressOf(place, { path: { id } })).toThrow(TypeError);
  const query = {
    q: 'ä&b',
    page: 2,
    none: undefined,
    tags_any: ['a', 'b'],
    custom: { plan: 'pro', 'a b': 'c' },
  };
  expect(addressOf('/x', { query })).toBe(
    '/x?q=%C3%A4%26b&page=2&tags_any=a%2Cb&custom.plan=pro&custom.a+b=c',
  );
});

test('a path of the address stays', async () => {
  const { seen, url } = serve([fine]);
  await connect({ url: `${url}files/`, key: KEY }).json('GET', '/api/v1/x', {});
  expect(seen[0]?.path).toBe('/files/api/v1/x');
});

test('a list is a page to who awaits it, and every item from there on to who goes through it', async () => {
  const page = (request: Request): Response => {
    const at = Number(new URL(request.url).searchParams.get('page') ?? 1);
    return Response.json({ data: [`${at}a`, `${at}b`], meta: { next_page: at < 3 ? at + 1 : null } });
  };
  const { seen, call } = serve([page]);
  const list = () =>
    call.list<string, { data: string[]; meta: { next_page: number | null } }>('GET', '/x', {
      query: { status: 'sent' },
    });
  expect((await list()).data).toEqual(['1a', '1b']);
  expect(seen).toHaveLength(1);
  expect(await Array.fromAsync(list())).toEqual(['1a', '1b', '2a', '2b', '3a', '3b']);
  expect(seen.slice(1).map(({ path }) => path)).toEqual([
    ...['/x?status=sent', '/x?status=sent&page=2', '/x?status=sent&page=3'],
  ]);
  for await (const item of list()) {
    expect(item).toBe('1a');
    break;
  }
  expect(seen).toHaveLength(5);
});
