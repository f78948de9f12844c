/** A sign-up form whose project verifies its visitors by captcha: when a token is asked for, and what comes of it. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
import { type Answer, actor } from '../../support/helpers.ts';
import { type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

const ORIGIN = 'https://shop.example.com';
let on: MarketingApp;
let list: string;
let form_key: string;
let answer: () => Response;
let asked: string[];

const provider = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    asked.push(new URLSearchParams(await request.text()).get('response') ?? '');
    return answer();
  },
});
afterAll(() => provider.stop(true));

beforeAll(async () => {
  on = await startMarketingApp({
    env: {
      SATCHEL_CAPTCHA_VERIFY_URL: `http://127.0.0.1:${provider.port}/`,
      SATCHEL_CAPTCHA_TIMEOUT_MS: '2000',
    },
  });
  list = await on.list();
  const { keys, origins, projects } = on.app.services;
  const { id, plaintext_key } = await keys.create(actor, projects.require('shop'), {
    name: 'form',
    can_manage_email_marketing: true,
    restricted: true,
  });
  await origins.add(actor, keys.require(String(id)), { type: 'domain', value: ORIGIN });
  form_key = plaintext_key;
});

beforeEach(() => {
  asked = [];
  answer = () => Response.json({ success: true });
});

const subscribe = (body: unknown): Promise<Answer> =>
  on.app.call('POST', `/api/v1/email-lists/${list}/subscribe`, {
    key: form_key,
    headers: { Origin: ORIGIN },
    body,
  });

async function emails(): Promise<unknown[]> {
  await on.app.app.engine.whenIdle();
  return rowsOf(await on.call('GET', `/email-lists/${list}/contacts`)).map(({ email }) => email);
}

test('without a secret no token is asked for, and one that is sent is not looked at', async () => {
  expect((await subscribe({ email: 'one@example.com', captcha_token: 'ignored' })).status).toBe(202);
  expect([await emails(), asked]).toEqual([['one@example.com'], []]);
});

test('with a secret a token is required, asked about once, and decides', async () => {
  const { vault, projects } = on.app.services;
  await vault.set(actor, projects.require('shop'), requireVaultService('captcha'), { secret_key: 's' });
  const missing = await subscribe({ email: 'two@example.com' });
  expect([missing.status, Object.keys(missing.body.errors as object)]).toEqual([422, ['captcha_token']]);
  const both = await subscribe({ email: 'nonsense' });
  expect(Object.keys(both.body.errors as object).sort()).toEqual(['captcha_token', 'email']);
  expect(asked).toEqual([]);
  answer = () => Response.json({ success: false, 'error-codes': ['invalid-input-response'] });
  const failed = await subscribe({ email: 'two@example.com', captcha_token: 'bad' });
  expect([failed.status, Object.keys(failed.body.errors as object)]).toEqual([422, ['captcha_token']]);
  answer = () => new Response('down', { status: 500 });
  expect((await subscribe({ email: 'two@example.com', captcha_token: 'good' })).status).toBe(502);
  expect(await emails()).toEqual(['one@example.com']);
  answer = () => Response.json({ success: true });
  const passed = await subscribe({ email: 'two@example.com', captcha_token: 'good' });
  expect(passed.status).toBe(202);
  expect(await emails()).toEqual(['two@example.com', 'one@example.com']);
  expect(asked).toEqual(['bad', 'good', 'good']);
  expect(on.app.logs()).not.toContain('two@example.com');
});

test('the mirror asks for neither a captcha nor an origin', async () => {
  const mirrored = await on.mirror('POST', `/email-lists/${list}/subscribe`, { email: 'three@example.com' });
  expect([mirrored.status, mirrored.body]).toEqual([
    202,
    { data: { status: 'accepted', message: expect.any(String) } },
  ]);
  expect(await emails()).toContain('three@example.com');
  expect(asked).toEqual([]);
});
