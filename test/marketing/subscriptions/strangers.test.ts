/** What a stranger may do with a form key that stands in a page or an app: sign up, a few times, in a few words. Nothing else. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { GRANTABLE } from '../../../src/platform/http/callers.ts';
import { PLANE_PREFIX } from '../../../src/platform/http/routes.ts';
import { exchange, type RawAnswer } from '../../e2e/raw-http.ts';
import { actor, addCapturingMailbox } from '../../support/helpers.ts';
import { makeOneOfEach, pathOf } from '../../support/one-of-each.ts';
import { type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

const ORIGIN = 'https://shop.example.com';
const ABSENT = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const CEILING = 4;

let on: MarketingApp;
let form_key = '';
let visitors = 0;

beforeAll(async () => {
  on = await startMarketingApp({
    env: { SATCHEL_TRUSTED_PROXIES: '127.0.0.1', SATCHEL_CONFIRMATIONS_PER_DAY: String(CEILING) },
  });
  form_key = await restrictedKey({}, { type: 'domain', value: ORIGIN });
});

type Rule = { type: 'domain' | 'android' | 'ios'; value: string };

async function restrictedKey(fields: { allow_no_origin?: boolean }, rule?: Rule): Promise<string> {
  const { keys, origins, projects } = on.app.services;
  const { id, plaintext_key } = await keys.create(actor, projects.require('shop'), {
    ...{ name: 'form', restricted: true, can_read: true, can_write: true, can_send_emails: true },
    ...{ can_manage_email_marketing: true, permissions: { email_template: true }, ...fields },
    rate_limit_per_minute: 1_000_000,
  });
  if (rule) await origins.add(actor, keys.require(String(id)), rule);
  return plaintext_key;
}

/** As a browser on our page: each call from another address, unless told. */
async function subscribe(list: string, body: unknown, options: { key?: string; ip?: string } = {}) {
  visitors += 1;
  const response = await fetch(`${on.app.url}/api/v1/email-lists/${list}/subscribe`, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: {
      ...{ 'X-API-Key': options.key ?? form_key, Origin: ORIGIN },
      'X-Forwarded-For': options.ip ?? `198.51.100.${visitors}`,
    },
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Announces a body of which nothing ever comes: whatever is answered was decided without it. */
function announceOnly(list: string, options: { key?: string; ip?: string; bytes?: number } = {}) {
  const { key = form_key, ip = '198.51.100.1', bytes = 100 } = options;
  const lines = [
    `POST /api/v1/email-lists/${list}/subscribe HTTP/1.1`,
    ...['Host: localhost', `X-API-Key: ${key}`, `Origin: ${ORIGIN}`, `X-Forwarded-For: ${ip}`],
    `Content-Length: ${bytes}`,
  ];
  return exchange(on.app.url, `${lines.join('\r\n')}\r\n\r\n`);
}

const fieldsOf = ({ body }: { body: Record<string, unknown> }): string[] => Object.keys(body.errors ?? {});

describe('a restricted key', () => {
  test('reaches subscribe and nothing else of marketing, whichever rule accepts it', async () => {
    const { origins } = on.app.services;
    const all = { can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true };
    const { token } = await on.app.services.tokens.create(actor, {
      ...{ name: 'all', all_projects: true, projects: [], capabilities: [...GRANTABLE] },
    });
    const key = await on.project.key({ ...all, permissions: { email_template: true } });
    const values = await makeOneOfEach(on.app, on.project, { key, token });
    await origins.addGlobal(actor, { type: 'android', value: 'com.example.everywhere' });
    await origins.addGlobal(actor, { type: 'domain', value: 'https://everywhere.example.com' });
    const ways: Record<string, { key: string; headers: Record<string, string> }> = {
      'an origin': { key: form_key, headers: { Origin: ORIGIN } },
      'a global origin': { key: form_key, headers: { Origin: 'https://everywhere.example.com' } },
      'an android app': {
        key: await restrictedKey({}, { type: 'android', value: 'com.example.shop' }),
        headers: { 'X-Android-Package': 'com.example.shop' },
      },
      'a global android rule': { key: form_key, headers: { 'X-Android-Package': 'com.example.everywhere' } },
      'X-App-Id': {
        key: await restrictedKey({}, { type: 'ios', value: 'com.example.shop' }),
        headers: { 'X-App-Id': 'com.example.shop' },
      },
      allow_no_origin: { key: await restrictedKey({ allow_no_origin: true }), headers: {} },
    };
    const routes = on.app.app.routes.filter(
      ({ plane, needs }) => plane === 'data' && needs?.includes('email_marketing'),
    );
    expect(routes.length).toBeGreaterThan(30);
    const reached: string[] = [];
    const expected: string[] = [];
    for (const [way, { key, headers }] of Object.entries(ways)) {
      for (const route of routes) {
        const body = route.method === 'GET' ? undefined : (route.docs.example ?? {});
        const answer = await on.app.call(route.method, pathOf(route, values), { key, headers, body });
        if (answer.status !== 403) reached.push(`${way}: ${route.method} ${route.path} ${answer.status}`);
      }
      expected.push(`${way}: POST /email-lists/:list/subscribe 202`);
    }
    expect(reached).toEqual(expected);
    // Nor does it make a marketing template, change one or delete one, with every permission there is.
    const template = {
      ...{ name: 'Offer', slug: 'offer', category: 'marketing', subject: 's', is_marketing: true },
      ...{ layout: 'marketing', body_text: 't' },
    };
    const asForm = { key: form_key, headers: { Origin: ORIGIN } };
    const path = `${PLANE_PREFIX.data}/emails/templates`;
    expect((await on.app.call('POST', path, { ...asForm, body: template })).status).toBe(403);
    expect((await on.app.call('POST', path, { key, body: template })).status).toBe(201);
    const change = await on.app.call('PATCH', `${path}/offer`, { ...asForm, body: { subject: 'x' } });
    expect(change.status).toBe(403);
    expect((await on.app.call('DELETE', `${path}/offer`, asForm)).status).toBe(403);
  });
});

describe('a sign-up is decided', () => {
  test('in the order of key, list, window and body, of which nothing is read before', async () => {
    const list = await on.list();
    const statusOf = (answer: RawAnswer | null): unknown => answer?.status;
    expect(statusOf(await announceOnly(list, { key: 'sat_live_wrong' }))).toBe(401);
    expect(statusOf(await announceOnly(list, { key: on.key }))).toBe(403);
    const ip = '203.0.113.7';
    expect(statusOf(await announceOnly(ABSENT, { ip }))).toBe(404);
    for (let n = 0; n < 5; n += 1)
      expect((await subscribe(list, n === 0 ? '{' : { email: `n${n}@example.com` }, { ip })).status).toBe(
        n === 0 ? 422 : 202,
      );
    expect(statusOf(await announceOnly(list, { ip }))).toBe(429);
    expect(statusOf(await announceOnly(list, { bytes: 16 * 1024 + 1 }))).toBe(413);
    const large = JSON.stringify({ email: 'a@example.com', more: 'x'.repeat(16 * 1024) });
    expect((await subscribe(list, large)).status).toBe(413);
    const fits = { email: 'a@example.com', more: 'x'.repeat(16 * 1024 - 50) };
    expect((await subscribe(list, fits)).status).toBe(202);
  });

  test('by one window for all of a /64', async () => {
    const list = await on.list();
    const statuses: number[] = [];
    for (let n = 1; n <= 7; n += 1)
      statuses.push(
        (await subscribe(list, { email: `v6-${n}@example.com` }, { ip: `2001:db8:1:2::${n}` })).status,
      );
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429, 429]);
    expect((await subscribe(list, { email: 'v6@example.com' }, { ip: '2001:db8:1:3::1' })).status).toBe(202);
  });

  test.each([
    ['https://evil.example', false],
    ['You won! HTTPS://evil.example', false],
    ['look: WwW.evil.example', false],
    ['Ann\r\nBcc: x@y.example', false],
    ['Ann\u0000', false],
    ['A'.repeat(65), false],
    ['A'.repeat(64), true],
    ["D'Arcy-Ünal 李", true],
    ['', true],
  ])('by its names: %p', async (name, is_taken) => {
    const list = await on.list();
    for (const field of ['first_name', 'last_name']) {
      const answer = await subscribe(list, { email: 'ann@example.com', [field]: name });
      expect([answer.status, fieldsOf(answer)]).toEqual(is_taken ? [202, []] : [422, [field]]);
    }
  });
});

test('after so many sign-ups of a day that ask for confirmation, every further one is 429, whoever it is for', async () => {
  const { app } = on;
  await addCapturingMailbox(app, 'confirm@mail.example.net');
  const written = await app.call('POST', '/api/v1/emails/templates', {
    key: await on.project.key({ can_write: true, can_read: true, permissions: { email_template: true } }),
    body: {
      ...{ name: 'Confirm', slug: 'confirm', category: 'opt_in', subject: 'Confirm' },
      body_text: '{{confirm_url}}',
    },
  });
  expect(written.status).toBe(201);
  const list = await on.list({ double_opt_in: true, confirmation_template: 'confirm' });
  const single = await on.list();
  await on.contact(list, 'member@example.com');
  const mails = async (): Promise<unknown[]> => {
    await app.app.engine.whenIdle();
    const { body } = await app.call('GET', '/api/v1/emails', { key: on.key });
    return (body.data as { source: string }[]).filter(({ source }) => source === 'confirmation');
  };
  // Somebody on the list counts as anybody does, or the count would tell.
  for (const name of ['member', 'new1', 'new2', 'new3'])
    expect((await subscribe(list, { email: `${name}@example.com` })).status).toBe(202);
  expect(await mails()).toHaveLength(3);
  for (const name of ['member', 'new1', 'new9'])
    expect((await subscribe(list, { email: `${name}@example.com` })).status).toBe(429);
  // By whoever manages the project, too; a list that sends no such mail takes on.
  const managed = await on.mirror('POST', `/email-lists/${list}/subscribe`, { email: 'new9@example.com' });
  expect([managed.status, Number(managed.headers.get('Retry-After')) <= 86_400]).toEqual([429, true]);
  expect((await subscribe(single, { email: 'new9@example.com' })).status).toBe(202);
  expect(await mails()).toHaveLength(3);
  const now = app.clock.now();
  app.clock.advance(86_400_000 - (now % 86_400_000));
  expect((await subscribe(list, { email: 'new9@example.com' })).status).toBe(202);
  expect(await mails()).toHaveLength(4);
  expect(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=new9`))).toHaveLength(1);
});
