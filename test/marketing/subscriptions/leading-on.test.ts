/** Where people go after they signed up or confirmed: to addresses that the list names, and to no other. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
import { run } from '../../support/command.ts';
import { actor, addCapturingMailbox } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, startMarketingApp } from '../settings/setup.ts';

const PUBLIC_URL = 'https://satchel.example.com';
const SIGNED_UP = 'https://shop.example.com:8443/danke?über=1#next';
const CONFIRMED = 'http://localhost:3000/welcome';
const POLICY = 'Content-Security-Policy';
let on: MarketingApp;
let list: string;
let visitors = 0;

beforeAll(async () => {
  on = await startMarketingApp({
    env: { SATCHEL_TRUSTED_PROXIES: '127.0.0.1', SATCHEL_PUBLIC_URL: PUBLIC_URL },
  });
  await addCapturingMailbox(on.app);
  const key = await on.project.key({ can_write: true, permissions: { email_template: true } });
  await on.app.call('POST', '/api/v1/emails/templates', {
    key,
    body: { name: 'C', slug: 'c', category: 'opt_in', subject: 'Confirm', body_text: '{{confirm_url}}' },
  });
});
beforeEach(async () => {
  list = await on.list({
    ...{ double_opt_in: true, confirmation_template: 'c', sign_up_page: true },
    ...{ signed_up_url: SIGNED_UP, confirmed_url: CONFIRMED },
  });
});

/** Over a real connection, each from another address. */
async function open(path: string, form?: Record<string, string>): Promise<Response> {
  visitors += 1;
  return await fetch(on.app.url + path, {
    redirect: 'manual',
    method: form ? 'POST' : 'GET',
    headers: { 'X-Forwarded-For': `198.51.100.${visitors}` },
    ...(form && { body: new URLSearchParams(form) }),
  });
}
const join = (form: Record<string, string>): Promise<Response> => open(`/join/${list}`, form);
const ledTo = ({ status, headers }: Response): unknown => [status, headers.get('Location')];

async function confirmPath(email: string): Promise<string> {
  await join({ email });
  await on.app.app.engine.whenIdle();
  const { body } = await on.app.call('GET', `/api/v1/emails?to=${email}`, { key: on.key });
  const [mail] = body.data as { id: string }[];
  const { raw } = await on.app.services.deliveries.readCaptured(mail?.id ?? '');
  return /\/confirm\/[\w-]+/.exec(raw.replace(/=\r?\n/g, ''))?.[0] ?? '';
}

describe('a form', () => {
  test('that was taken leads to the signed_up_url of its list, a robot too', async () => {
    const there = [303, 'https://shop.example.com:8443/danke?%C3%BCber=1#next'];
    const taken = await join({ email: 'ann@example.com' });
    expect(ledTo(taken)).toEqual(there);
    expect(taken.headers.get('Referrer-Policy')).toBe('no-referrer');
    expect(taken.headers.get('Cache-Control')).toContain('no-store');
    expect(ledTo(await join({ email: 'robot@example.com', comment: 'Buy!' }))).toEqual(there);
    await on.app.app.engine.whenIdle();
    const { body } = await on.call('GET', `/email-lists/${list}/contacts`);
    expect(body.data).toMatchObject([{ email: 'ann@example.com', status: 'pending' }]);
  });

  test('that was refused shows again, and may lead there once it is taken', async () => {
    const refused = await join({ email: 'nobody' });
    expect(ledTo(refused)).toEqual([422, null]);
    for (const page of [refused, await open(`/join/${list}`)])
      expect(page.headers.get(POLICY)).toContain("; form-action 'self' https://shop.example.com:8443; ");
  });

  test('leads nowhere that a request names', async () => {
    const evil = 'https://evil.example/';
    const sent = { email: 'bob@example.com', signed_up_url: evil, redirect: evil, next: evil };
    expect(ledTo(await open(`/join/${list}?signed_up_url=${evil}`, sent))).toEqual([
      303,
      expect.stringContaining('https://shop.example.com:8443/'),
    ]);
    await on.call('PATCH', `/email-lists/${list}`, { signed_up_url: null });
    const page = await open(`/join/${list}?signed_up_url=${evil}`, sent);
    expect(ledTo(page)).toEqual([200, null]);
    expect(page.headers.get(POLICY)).toContain("; form-action 'self'; ");
  });

  test('whose captcha failed leads nowhere', async () => {
    const { vault, projects } = on.app.services;
    const [shop, captcha] = [projects.require('shop'), requireVaultService('captcha')];
    await vault.set(actor, shop, captcha, { secret_key: 's', site_key: 'k' });
    expect(ledTo(await join({ email: 'ann@example.com' }))).toEqual([422, null]);
    await vault.remove(actor, shop, captcha);
  });
});

describe('a confirmation', () => {
  test('leads to the confirmed_url of its list, as often as it is repeated', async () => {
    const path = await confirmPath('cat@example.com');
    const page = await open(path);
    expect([page.status, page.headers.get(POLICY)]).toEqual([
      200,
      expect.stringContaining("; form-action 'self' http://localhost:3000; "),
    ]);
    for (let time = 0; time < 2; time += 1) {
      const done = await open(path, {});
      expect(ledTo(done)).toEqual([303, CONFIRMED]);
      expect(done.headers.get('Referrer-Policy')).toBe('no-referrer');
    }
    const { body } = await on.call('GET', `/email-lists/${list}/contacts?q=cat@example.com`);
    expect(body.data).toMatchObject([{ status: 'active' }]);
  });

  test('that changes nothing leads nowhere', async () => {
    const path = await confirmPath('dan@example.com');
    await on.call('PATCH', `/email-lists/${list}`, { archived: true });
    expect(ledTo(await open(path, {}))).toEqual([409, null]);
    expect(ledTo(await open('/confirm/none', {}))).toEqual([404, null]);
  });
});

describe('a list', () => {
  test('takes https addresses, and http ones of hosts that are not public', async () => {
    const path = `/email-lists/${list}`;
    for (const field of ['signed_up_url', 'confirmed_url']) {
      for (const url of [
        'https://a.example/',
        'http://127.0.0.1:3000/x',
        'http://[::1]/',
        'http://10.0.0.7/',
        'http://shop.localhost/',
        'http://shop.test/',
      ])
        expect([url, dataOf(await on.mirror('PATCH', path, { [field]: url }))[field]]).toEqual([url, url]);
      for (const url of [
        'http://a.example/',
        'http://8.8.8.8/',
        'javascript:alert(1)',
        'data:text/html,x',
        'ftp://a.example/',
        '//a.example/',
        '/thanks',
        'https://user:pass@a.example/',
        `https://a.example/${'x'.repeat(2_048)}`,
      ]) {
        const answer = await on.call('PATCH', path, { [field]: url });
        expect([url, answer.status, answer.body.errors]).toEqual([
          url,
          422,
          { [field]: [expect.any(String)] },
        ]);
      }
      expect(dataOf(await on.call('PATCH', path, { [field]: null }))[field]).toBeNull();
    }
  });

  test('gets them in the shell', async () => {
    const change = (...args: string[]) => run(on.app.data_dir, 'list', 'change', list, ...args);
    const set = await change('--signed-up-url', 'https://a.example/', '--confirmed-url', '');
    expect([set.exit, set.stderr]).toEqual([0, expect.any(String)]);
    expect(dataOf(await on.call('GET', `/email-lists/${list}`))).toMatchObject({
      signed_up_url: 'https://a.example/',
      confirmed_url: null,
    });
    const refused = await change('--signed-up-url', 'http://a.example/');
    expect(refused.exit).not.toBe(0);
    expect(refused.stderr).toContain('--signed-up-url must begin with https://');
  });
});
