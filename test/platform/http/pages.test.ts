/** Open routes that answer pages and take forms: what they escape, what they refuse, and that only POST acts. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { loadConfig } from '../../../src/config.ts';
import { conflict } from '../../../src/errors.ts';
import { MAX_FORM_BODY_BYTES } from '../../../src/limits.ts';
import { EventLoopWatch } from '../../../src/platform/host/event-loop.ts';
import { createClientIpReader } from '../../../src/platform/http/client-ip.ts';
import { Html, html, pageResponse } from '../../../src/platform/http/pages.ts';
import { RateLimiter } from '../../../src/platform/http/rate-limit.ts';
import { RequestMeasures } from '../../../src/platform/http/request-measures.ts';
import { openRoute } from '../../../src/platform/http/routes.ts';
import { oneOf, t, text } from '../../../src/platform/http/schema.ts';
import { createHttpServer, type HttpServer } from '../../../src/platform/http/server.ts';
import { captureLog } from '../../support/captured-log.ts';
import { TestClock } from '../../support/temp.ts';

const TOKEN = 'tok_0123456789abcdefghijklmnopqrstuvwxyz';
const base = { tag: 'Test', summary: 'test', plane: 'page' } as const;
const left: string[] = [];

const routes = [
  openRoute({
    ...base,
    method: 'GET',
    path: '/leave/:token',
    handle: ({ ctx }) =>
      pageResponse(
        200,
        'Leave <us>?',
        html`<form method="post"><p>${ctx.url.search}</p><button>Leave</button></form>`,
      ),
  }),
  openRoute({
    ...base,
    method: 'POST',
    path: '/leave/:token',
    form: t.Object({
      'List-Unsubscribe': t.Optional(oneOf(['One-Click'])),
      why: t.Optional(text({ max: 5 })),
    }),
    handle({ form }) {
      if (form.why === 'again') throw conflict('You left <before>.');
      left.push(form['List-Unsubscribe'] ?? form.why ?? '');
      return pageResponse(200, 'Done', html`<p>${'&'} ${new Html('<b>bye</b>')} ${7}</p>`);
    },
  }),
];

let server: HttpServer;
let at = '';
const clock = new TestClock();
const log = captureLog(clock);
const nobody = (): never => {
  throw new Error('an open route asks for nobody');
};
beforeAll(() => {
  server = createHttpServer(routes, {
    config: { ...loadConfig({}), port: 0 },
    ...{
      clock,
      logger: log.logger,
      limiter: new RateLimiter(clock),
      requests: new RequestMeasures(new EventLoopWatch()),
    },
    ...{
      authenticateKey: nobody,
      authenticateToken: nobody,
      authenticateSession: nobody,
      findProject: nobody,
    },
    clientIp: createClientIpReader([]),
    guarded: (_check, work) => work(),
    settled: () => null,
    projectAtHost: () => null,
    refuseChanges: () => {},
  });
  at = `http://127.0.0.1:${server.listen()}/leave/${TOKEN}`;
});
afterAll(() => server.stop());

const post = (body: RequestInit['body'], type?: string) =>
  fetch(at, { method: 'POST', body, ...(type ? { headers: { 'Content-Type': type } } : {}) });
const FORM = 'application/x-www-form-urlencoded';

test('a page escapes what it shows, runs nothing, loads nothing and is kept nowhere', async () => {
  const response = await fetch(`${at}?<script>alert(1)</script>`);
  const page = await response.text();
  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page).toContain('<h1>Leave &lt;us&gt;?</h1>');
  expect(page).not.toContain('<script');
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).not.toContain('unsafe');
  // The one style that the policy lets through is the page's own.
  const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? '';
  expect(policy).toContain(`'sha256-${new Bun.CryptoHasher('sha256').update(style).digest('base64')}'`);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  expect(left).toEqual([]);
});

test('a form is read whether a browser sends it or a mail program does, and its markup is kept', async () => {
  const multipart = new FormData();
  multipart.set('List-Unsubscribe', 'One-Click');
  const answers = [
    await post('List-Unsubscribe=One-Click', FORM),
    await post(multipart),
    await post('why=a+b', FORM),
    await post(null),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(left.splice(0)).toEqual(['One-Click', 'One-Click', 'a b', '']);
  expect(await answers[0]?.text()).toContain('<p>&amp; <b>bye</b> 7</p>');
});

test('what is no form, too long, too large or refused is a page that says so, and nothing is done', async () => {
  const large = `why=${'x'.repeat(MAX_FORM_BODY_BYTES)}`;
  for (const [body, type, status, said] of [
    ['{"why":"a"}', 'application/json', 422, 'no form'],
    ['why=too-long', FORM, 422, 'at most 5 characters'],
    [large, FORM, 413, `${MAX_FORM_BODY_BYTES} bytes`],
    ['why=again', FORM, 409, 'You left &lt;before&gt;.'],
  ] as const) {
    const response = await post(body, type);
    const page = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      status,
      'text/html; charset=utf-8',
    ]);
    expect(page).toContain(said);
  }
  expect(left).toEqual([]);
});

test('what lets the bearer of a link in is not in the log', async () => {
  await fetch(at);
  await fetch(at, { method: 'DELETE' });
  expect(log.text()).toContain('"path":"/leave/…"');
  expect(log.text()).not.toContain(TOKEN);
});
