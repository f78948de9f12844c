/** Captcha verification, against a provider that is a real HTTP server: every outcome, and what the provider is sent. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { requireVaultService } from '../../src/secrets/vault/registry.ts';
import { type Answer, actor, makeProject, startTestApp, type TestApp } from '../support/helpers.ts';

const SECRET = 'c4n4ry-captcha-secret';

type Respond = (request: Request) => Response | Promise<Response>;

interface Received {
  method: string;
  type: string | null;
  form: Record<string, string>;
}

let app: TestApp;
let project: Awaited<ReturnType<typeof makeProject>>;
let key: string;
let respond: Respond;
let received: Received[];

const PASSED = {
  success: true,
  'error-codes': [],
  hostname: 'shop.test',
  challenge_ts: '2030-01-15T11:59:58.123Z',
  action: 'login',
  cdata: 'cart-1',
};

const provider = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const form = Object.fromEntries(new URLSearchParams(await request.text()));
    received.push({ method: request.method, type: request.headers.get('content-type'), form });
    return respond(request);
  },
});
afterAll(() => provider.stop(true));

beforeAll(async () => {
  app = await startTestApp({
    env: {
      SATCHEL_CAPTCHA_VERIFY_URL: `http://127.0.0.1:${provider.port}/siteverify`,
      SATCHEL_CAPTCHA_TIMEOUT_MS: '2000',
    },
  });
  project = await makeProject(app);
  key = await project.key({ can_read: true, permissions: { captcha: true } });
});

beforeEach(async () => {
  received = [];
  respond = () => Response.json(PASSED);
  app.clock.advance(60_000);
  await store({ secret_key: SECRET, expected_action: null });
});

const store = async (values: Record<string, unknown>): Promise<void> => {
  const { projects, vault } = app.services;
  await vault.set(actor, projects.require(project.slug), requireVaultService('captcha'), values);
};

const verify = (body: unknown, with_key: string | undefined = key): Promise<Answer> =>
  app.call('POST', '/api/v1/captcha/verify', { body, ...(with_key === undefined ? {} : { key: with_key }) });

const damage = (field: string): Promise<unknown> =>
  app.services.database.write(
    (tx) => void tx.run(sql.raw(`UPDATE vault_values SET sealed = 'v1.1.AAAA' WHERE field = '${field}'`)),
  );

const WITHOUT_VERDICT = { error_codes: [], hostname: null, challenge_ts: null, action: null, cdata: null };

describe('a verdict', () => {
  test('of a visitor who passed is 200 with what the provider told', async () => {
    const answer = await verify({ token: 'visitor-token' });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        status: 'verified',
        error_codes: [],
        hostname: 'shop.test',
        challenge_ts: '2030-01-15T11:59:58.123Z',
        action: 'login',
        cdata: 'cart-1',
      },
    ]);
    expect(received).toEqual([
      {
        method: 'POST',
        type: 'application/x-www-form-urlencoded;charset=UTF-8',
        form: { secret: SECRET, response: 'visitor-token' },
      },
    ]);
  });

  test('of a visitor who failed is 200 too, with the codes of the provider', async () => {
    for (const status of [200, 400]) {
      respond = () => Response.json({ success: false, 'error-codes': ['timeout-or-duplicate'] }, { status });
      const answer = await verify({ token: 't' });
      expect([answer.status, answer.body]).toEqual([
        200,
        { ...WITHOUT_VERDICT, success: false, status: 'verified', error_codes: ['timeout-or-duplicate'] },
      ]);
    }
  });

  test('is asked for with remoteip and idempotency_key only when they are sent', async () => {
    await verify({ token: 't', remoteip: '203.0.113.9', idempotency_key: 'a-b-c', action: 'login' });
    await verify({ token: 't', remoteip: null, idempotency_key: null });
    expect(received.map(({ form }) => form)).toEqual([
      { secret: SECRET, response: 't', remoteip: '203.0.113.9', idempotency_key: 'a-b-c' },
      { secret: SECRET, response: 't' },
    ]);
  });

  test('is on `token`, else on its alias `response`', async () => {
    await verify({ response: 'from-form' });
    await verify({ token: 'from-token', response: 'x'.repeat(5_000) });
    await verify({ token: null, response: 'instead' });
    expect(received.map(({ form }) => form.response)).toEqual(['from-form', 'from-token', 'instead']);
  });
});

describe('an expected action', () => {
  const CASES: [
    what: string,
    vault: string | null,
    call: string | undefined,
    echoed: string | undefined,
    passes: boolean,
  ][] = [
    ['passes where the provider echoes it', 'login', undefined, 'login', true],
    ['fails where another one is echoed', 'login', undefined, 'signup', false],
    ['fails where none is echoed', 'login', undefined, undefined, false],
    ['of the call overrides that of the vault', 'login', 'signup', 'signup', true],
    ['of the call alone is checked as well', null, 'signup', 'login', false],
    ['that is nowhere set lets each action pass', null, undefined, 'anything', true],
  ];
  for (const [what, in_vault, in_call, echoed, passes] of CASES) {
    test(what, async () => {
      await store({ expected_action: in_vault });
      respond = () => Response.json({ ...PASSED, action: echoed });
      const answer = await verify({ token: 't', action: in_call });
      expect([answer.status, answer.body]).toMatchObject([
        200,
        {
          success: passes,
          status: 'verified',
          error_codes: passes ? [] : ['service-action-mismatch'],
          action: echoed ?? null,
        },
      ]);
    });
  }

  test('adds nothing to the refusal of a provider that echoes no action', async () => {
    await store({ expected_action: 'login' });
    respond = () => Response.json({ success: false, 'error-codes': ['invalid-input-response'] });
    expect((await verify({ token: 't' })).body).toMatchObject({
      success: false,
      error_codes: ['invalid-input-response'],
    });
  });
});

describe('without a verdict', () => {
  test('no secret stored is 409 not_configured, and asks nobody', async () => {
    await store({ secret_key: null, site_key: 'public' });
    const answer = await verify({ token: 't' });
    expect([answer.status, answer.body]).toEqual([
      409,
      { ...WITHOUT_VERDICT, success: false, status: 'not_configured', message: expect.any(String) },
    ]);
    expect(app.services.captcha.isConfigured(app.services.projects.require(project.slug))).toBe(false);
    expect(received).toEqual([]);
  });

  test('a secret that does not decrypt is 409 unreadable, and asks nobody', async () => {
    await damage('secret_key');
    const answer = await verify({ token: 't' });
    expect([answer.status, answer.body]).toEqual([
      409,
      { ...WITHOUT_VERDICT, success: false, status: 'unreadable', message: expect.any(String) },
    ]);
    expect(app.services.captcha.isConfigured(app.services.projects.require(project.slug))).toBe(true);
    expect(received).toEqual([]);
  });

  test('an expected action that does not decrypt never counts as none', async () => {
    await store({ expected_action: 'login' });
    await damage('expected_action');
    expect((await verify({ token: 't' })).body.status).toBe('unreadable');
    expect((await verify({ token: 't', action: 'login' })).body.status).toBe('verified');
  });

  test('a bad token is 422 before the vault is looked at', async () => {
    await store({ secret_key: null });
    for (const body of [
      {},
      { token: '' },
      { token: '   ' },
      { token: 'x'.repeat(4_097) },
      { token: ['c4n4ry'] },
      { token: '', response: 'good' },
      { token: 't', remoteip: 7 },
    ]) {
      const answer = await verify(body);
      expect([answer.status, answer.body.success, typeof answer.body.message]).toEqual([
        422,
        false,
        'string',
      ]);
    }
    expect((await verify('no json')).status).toBe(422);
    expect((await verify({ token: 'x'.repeat(4_096) })).status).toBe(409);
    expect(received).toEqual([]);
  });

  const FAILURES: [what: string, respond: Respond, reason: string][] = [
    ['no JSON', () => new Response('<html>'), 'no JSON'],
    ['nothing', () => new Response(''), 'no JSON'],
    ['JSON without a verdict', () => Response.json({ 'error-codes': [] }), 'without a verdict'],
    ['a verdict that is no boolean', () => Response.json({ success: 'true' }), 'without a verdict'],
    ['null', () => Response.json(null), 'without a verdict'],
    ['a 500 that claims success', () => Response.json(PASSED, { status: 500 }), 'answered 500'],
    ['a 403 that claims success', () => Response.json(PASSED, { status: 403 }), 'answered 403'],
    [
      'a redirect, which would carry the secret away',
      (request) =>
        new URL(request.url).pathname === '/siteverify'
          ? new Response(null, { status: 307, headers: { Location: '/elsewhere' } })
          : Response.json(PASSED),
      'redirect',
    ],
    [
      'more than 64 KiB',
      () => new Response(`${JSON.stringify(PASSED)}${' '.repeat(65_536)}`),
      'larger than 65536 bytes',
    ],
    ['nothing in time', () => new Promise<Response>(() => {}), 'within 2000 ms'],
    [
      'a body that never ends',
      () =>
        new Response(
          new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) }),
        ),
      'within 2000 ms',
    ],
  ];
  for (const [what, behave, reason] of FAILURES) {
    test(`a provider that answers ${what} is 502 upstream_failed`, async () => {
      respond = behave;
      const answer = await verify({ token: 't' });
      expect([answer.status, answer.body]).toEqual([
        502,
        { ...WITHOUT_VERDICT, success: false, status: 'upstream_failed', message: expect.any(String) },
      ]);
      expect(received.length).toBe(1);
      await Bun.sleep(1);
      expect(app.logs().split('captcha provider failed').at(-1)).toContain(reason);
    });
  }

  test('a provider that cannot be reached is 502 upstream_failed', async () => {
    const gone = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() });
    const url = `http://127.0.0.1:${gone.port}/`;
    await gone.stop(true);
    const other = await startTestApp({ env: { SATCHEL_CAPTCHA_VERIFY_URL: url } });
    const { id, key: makeKey } = await makeProject(other);
    const { vault, projects } = other.services;
    const captcha = requireVaultService('captcha');
    await vault.set(actor, projects.require(String(id)), captcha, { secret_key: SECRET });
    const answer = await other.call('POST', '/api/v1/captcha/verify', {
      key: await makeKey({ can_read: true, permissions: { captcha: true } }),
      body: { token: 't' },
    });
    expect([answer.status, answer.body.status]).toEqual([502, 'upstream_failed']);
    expect(answer.text + other.logs()).not.toContain(SECRET);
  });
});

describe('the rate', () => {
  test('is 60 a minute for each key; 422 counts, 401 and 403 do not', async () => {
    const lacking = await project.key({ can_read: true });
    for (let n = 0; n < 5; n += 1) await verify({ token: 't' }, lacking);
    for (let n = 0; n < 30; n += 1) expect((await verify({})).status).toBe(422);
    for (let n = 0; n < 30; n += 1) expect((await verify({ token: 't' })).status).toBe(200);
    const limited = await verify({ token: 't' });
    expect([limited.status, limited.body.success]).toEqual([429, false]);
    expect(limited.headers.get('retry-after')).toBe('60');
    expect((await verify({})).status).toBe(429);
    expect(received.length).toBe(30);
    const second = await project.key({ can_read: true, permissions: { captcha: true } });
    expect((await verify({ token: 't' }, second)).status).toBe(200);
    app.clock.advance(60_000);
    expect((await verify({ token: 't' })).status).toBe(200);
  });
});

test('the secret is in no log, and a verification leaves no reveal', async () => {
  await verify({ token: 't' });
  respond = () => new Response('garbage');
  const answer = await verify({ token: 't' });
  await Bun.sleep(1);
  expect(received.at(-1)?.form.secret).toBe(SECRET);
  expect(app.logs()).toContain('captcha provider failed');
  expect(answer.text + app.logs()).not.toContain(SECRET);
  expect(app.services.database.read.all(sql.raw('SELECT * FROM vault_reveals'))).toEqual([]);
});
