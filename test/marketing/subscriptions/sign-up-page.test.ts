/** The page where anybody signs up for a list: who may, what it says to whom, and what robots, archived lists and broken set-ups get. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
import { run, runJson } from '../../support/command.ts';
import { sql } from '../../support/deployment.ts';
import { type Answer, actor, addCapturingMailbox } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

const PUBLIC_URL = 'https://satchel.example.com';
const FORM = 'application/x-www-form-urlencoded';
const DOUBLE = { double_opt_in: true, confirmation_template: 'confirm' };
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
    body: {
      ...{ name: 'Confirm', slug: 'confirm', category: 'opt_in', subject: 'Confirm' },
      body_markdown: '[Confirm]({{ confirm_url }})',
    },
  });
  await on.call('PATCH', '/email-marketing/settings', { brand_name: 'Shop & Co', brand_color: '#ffee00' });
});

beforeEach(async () => {
  list = await on.list({ ...DOUBLE, name: 'News <b>', sign_up_page: true });
});

/** Over a real connection: only that has an address. Each call comes from another one, unless told. */
async function open(method: string, path: string, init: RequestInit = {}, ip?: string): Promise<Answer> {
  visitors += 1;
  const response = await fetch(`${on.app.url}${path}`, {
    ...init,
    method,
    headers: { 'X-Forwarded-For': ip ?? `198.51.${visitors >> 8}.${visitors & 255}`, ...init.headers },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: {} };
}

function join(fields: Record<string, string>, of: { ip?: string; origin?: string } = {}): Promise<Answer> {
  const headers = { 'Content-Type': FORM, ...(of.origin === undefined ? {} : { Origin: of.origin }) };
  const body = new URLSearchParams(fields).toString();
  return open('POST', `/join/${list}`, { headers, body }, of.ip);
}

async function contacts(): Promise<Record<string, unknown>[]> {
  await on.app.app.engine.whenIdle();
  return rowsOf(await on.call('GET', `/email-lists/${list}/contacts`));
}

const refusal = (answer: Answer) => [answer.status, answer.body.errors];
const change = (fields: Record<string, unknown>) => on.call('PATCH', `/email-lists/${list}`, fields);

describe('a list', () => {
  test('has a page only where sign-ups are confirmed, and they stay so as long as it has', async () => {
    expect(dataOf(await on.call('GET', `/email-lists/${list}`))).toMatchObject({
      sign_up_page: true,
      sign_up_url: `${PUBLIC_URL}/join/${list}`,
    });
    expect(refusal(await on.call('POST', '/email-lists', { name: 'Single', sign_up_page: true }))).toEqual([
      422,
      {
        sign_up_page: ['needs double_opt_in: anybody may enter any address there'],
        confirmation_template: [expect.stringContaining('is needed as long as sign_up_page is true')],
      },
    ]);
    expect(refusal(await on.mirror('PATCH', `/email-lists/${list}`, { double_opt_in: false }))[0]).toBe(422);
    expect(refusal(await change({ double_opt_in: false, name: '\u0000' }))).toEqual([
      422,
      {
        name: ['must have no line breaks or other control characters'],
        double_opt_in: ['must stay true as long as sign_up_page is: set that to false as well'],
      },
    ]);
    expect(refusal(await change({ double_opt_in: false, sign_up_page: true }))).toEqual([
      422,
      { sign_up_page: ['needs double_opt_in: anybody may enter any address there'] },
    ]);
    const both = await change({ double_opt_in: false, sign_up_page: false });
    expect(dataOf(both)).toMatchObject({ double_opt_in: false, sign_up_page: false, sign_up_url: null });
  });
});

test('a list has no page that takes nobody: its mail can be made as it is switched on, and stays named', async () => {
  const needed = {
    confirmation_template: [expect.stringContaining('is needed as long as sign_up_page is true')],
  };
  const bare = { name: 'Bare', double_opt_in: true };
  expect(refusal(await on.call('POST', '/email-lists', { ...bare, sign_up_page: true }))).toEqual([
    422,
    needed,
  ]);
  const gone = { ...bare, sign_up_page: true, confirmation_template: 'gone' };
  expect(refusal(await on.call('POST', '/email-lists', gone))).toMatchObject([
    422,
    { confirmation_template: [expect.any(String)] },
  ]);
  const other = String(dataOf(await on.call('POST', '/email-lists', bare), 201).id);
  expect(refusal(await on.mirror('PATCH', `/email-lists/${other}`, { sign_up_page: true }))[0]).toBe(422);
  expect(refusal(await on.call('PATCH', `/email-lists/${other}`, { sign_up_page: true }))).toEqual([
    422,
    needed,
  ]);
  expect(refusal(await change({ confirmation_template: null }))).toEqual([422, needed]);
  const without = { confirmation_template: null, sign_up_page: false };
  expect(dataOf(await change(without))).toMatchObject(without);
});

describe('the page', () => {
  test('is a form in the look of its project that runs and loads nothing', async () => {
    const page = await open('GET', `/join/${list}`);
    expect(page.status).toBe(200);
    expect(page.headers.get('Content-Security-Policy')).toMatch(
      /^default-src 'none'; style-src 'sha256-[\w+/=]{44}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(page.text).toContain('Sign up for News &lt;b&gt;');
    expect(page.text).toContain('Shop &amp; Co');
    expect(page.text).toContain('button{color:#000;background:#ffee00}');
    expect(page.text).toMatch(/<form method="post">.*name="email" required.*name="first_name".*<\/form>/s);
    expect(page.text).toMatch(/class="trap" aria-hidden="true".*name="comment" tabindex="-1"/);
    expect(page.text).not.toMatch(/<script|style="/);
    expect(await contacts()).toEqual([]);
  });

  test('answers everybody the same, from whatever page the form was posted', async () => {
    await on.contact(list, 'known@example.com');
    const answers = [
      await join({ email: 'New@Example.com', first_name: 'Ann', comment: '' }),
      await join({ email: 'known@example.com' }, { origin: 'https://elsewhere.example' }),
      await join({ email: 'robot@example.com', comment: 'Buy now' }),
      await join({ email: 'other@example.com', first_name: '' }, { origin: 'null' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.text).toContain('Shop &amp; Co');
    const rows = await contacts();
    expect(rows.map(({ email, status }) => [email, status])).toEqual([
      ['other@example.com', 'pending'],
      ['new@example.com', 'pending'],
      ['known@example.com', 'active'],
    ]);
    expect(rows[1]).toMatchObject({
      first_name: 'Ann',
      consent_basis: 'consent',
      consent_origin: `${PUBLIC_URL}/join/${list}`,
      consent_ip: expect.stringMatching(/^198\.51\./),
      source_platform: 'form',
    });
    const mails = await on.app.call('GET', '/api/v1/emails?to=new@example.com', { key: on.key });
    expect(mails.body.data).toMatchObject([{ source: 'confirmation', subject: 'Confirm' }]);
    for (const [email, origin, evidence] of [
      ['third@example.com', 'https://elsewhere.example', 'https://elsewhere.example'],
      ['fourth@example.com', 'anything else', `${PUBLIC_URL}/join/${list}`],
      ['fifth@example.com', `https://${'x'.repeat(300)}.example`, `${PUBLIC_URL}/join/${list}`],
    ] as const) {
      await join({ email }, { origin });
      expect((await contacts())[0]).toMatchObject({ email, consent_origin: evidence });
    }
  });

  test('shows the form again where something is wrong, with what was entered', async () => {
    const wrong = await join({ email: 'nonsense', first_name: 'see www.example.com"><b>' });
    expect(wrong.status).toBe(422);
    expect(wrong.text).toContain('Please enter an email address, such as');
    expect(wrong.text).toContain('Please enter a first name, without a web address.');
    expect(wrong.text).toContain('<form method="post">');
    expect(wrong.text).toContain('value="nonsense"');
    expect(wrong.text).toContain('value="see www.example.com&quot;&gt;&lt;b&gt;"');
    expect((await join({ first_name: 'Ann' })).status).toBe(422);
    expect((await join({ email: 'a@example.com', last_name: 'x'.repeat(65) })).status).toBe(422);
    const json = await open('POST', `/join/${list}`, { body: '{"email":"a@example.com"}' });
    expect(json.status).toBe(422);
    const large = await join({ email: 'a@example.com', comment: 'x'.repeat(16 * 1024) });
    expect([large.status, large.headers.get('content-type')]).toEqual([413, 'text/html; charset=utf-8']);
    expect(await contacts()).toEqual([]);
  });

  test('counts an address before its form is read, together with what it sent to subscribe', async () => {
    const ip = '203.0.113.7';
    const statuses: number[] = [];
    for (const email of ['nonsense', '', 'a@example.com', 'b@example.com', 'c@example.com', 'd@example.com'])
      statuses.push((await join({ email }, { ip })).status);
    expect(statuses).toEqual([422, 422, 200, 200, 200, 429]);
    const late = await join({ email: 'x'.repeat(20_000) }, { ip });
    expect([late.status, late.headers.has('Retry-After')]).toEqual([429, true]);
    expect((await open('GET', `/join/${list}`, {}, ip)).status).toBe(200);
  });

  test('is 404 where it is switched off, archived or unknown, whatever is sent', async () => {
    const single = await on.list();
    const gone = async (path: string): Promise<void> => {
      for (const method of ['GET', 'HEAD', 'POST'])
        expect([path, method, (await open(method, path)).status]).toEqual([path, method, 404]);
    };
    for (const token of [single, '01J00000000000000000000000', '%00', `${list}x`, `${list}/x`])
      await gone(`/join/${token}`);
    await change({ archived: true });
    await gone(`/join/${list}`);
    expect((await join({ email: 'x'.repeat(20_000) })).status).toBe(404);
    await change({ archived: false });
    expect((await open('GET', `/join/${list.toLowerCase()}`)).status).toBe(200);
    await change({ sign_up_page: false });
    await gone(`/join/${list}`);
  });

  test('is 409 where no confirmation could be sent', async () => {
    sql(on.app.data_dir, 'UPDATE contact_lists SET confirmation_template = NULL');
    for (const answer of [await open('GET', `/join/${list}`), await join({ email: 'a@example.com' })]) {
      expect(answer.status).toBe(409);
      expect(answer.text).toContain('takes no sign-ups at the moment');
    }
  });
});

test('the shell makes and takes away a page, and prints the form of another page', async () => {
  const satchel = (...args: string[]) =>
    run(on.app.data_dir, 'list', ...args).then(({ exit, stdout, stderr }) => ({
      exit,
      said: stdout + stderr,
    }));
  const make = [
    'create',
    '--project',
    'shop',
    '--name',
    'Shell',
    '--double-opt-in',
    '--sign-up-page',
    '--confirmation-template',
    'confirm',
  ];
  const made = await satchel(...make);
  expect(made.said).toMatch(/^People sign up at \S+\/join\/[0-9A-Z]{26}$/m);
  const [id = ''] = made.said.split('\n');
  const shown = await satchel('show', id);
  const [, fragment = ''] = /(<form .*<\/form>)/s.exec(shown.said) ?? [];
  const action = /action="([^"]+)"/.exec(fragment)?.[1];
  expect(action).toEndWith(`/join/${id}`);
  for (const name of ['email', 'first_name', 'comment']) expect(fragment).toContain(`name="${name}"`);
  const refused = await satchel('change', id, '--no-double-opt-in');
  expect(refused).toEqual({
    exit: 1,
    said: expect.stringContaining('must stay true as long as --sign-up-page is'),
  });
  const changed = await satchel('change', id, '--no-double-opt-in', '--no-sign-up-page', '--basis', '');
  expect([changed.exit, changed.said.includes('<form')]).toEqual([0, false]);
  expect(await runJson(on.app.data_dir, 'list', 'show', id)).toMatchObject({
    ...{ double_opt_in: false, sign_up_page: false, default_consent_basis: null },
  });
  expect((await satchel('change', id)).exit).toBe(2);
});

test('with a captcha, the page has its widget, and a form of another page must send its token', async () => {
  const { vault, projects } = on.app.services;
  const shop = projects.require('shop');
  const captcha = requireVaultService('captcha');
  await vault.set(actor, shop, captcha, { secret_key: 's' });
  const without = await open('GET', `/join/${list}`);
  expect([without.status, without.text.includes('takes no sign-ups')]).toEqual([409, true]);
  expect(on.app.logs()).toContain('has no site_key');
  await vault.set(actor, shop, captcha, { site_key: '0x"4', expected_action: 'join' });
  const page = await open('GET', `/join/${list}`);
  expect(page.text).toContain('class="cf-turnstile" data-sitekey="0x&quot;4" data-action="join"');
  expect(page.headers.get('Content-Security-Policy')).toContain(
    '; script-src https://challenges.cloudflare.com; frame-src https://challenges.cloudflare.com; form-action',
  );
  const missing = await join({ email: 'a@example.com', captcha_token: '' });
  expect([missing.status, missing.text.includes('Please solve the captcha')]).toEqual([422, true]);
  // A robot learns nothing, and costs the provider nothing.
  expect((await join({ email: 'a@example.com', comment: 'x' })).status).toBe(200);
  expect(await contacts()).toEqual([]);
  await vault.remove(actor, shop, captcha);
});

test('of a project that is switched off it is 404', async () => {
  const { projects } = on.app.services;
  await projects.update(actor, projects.require('shop'), { status: 'inactive' });
  expect((await open('GET', `/join/${list}`)).status).toBe(404);
  await projects.update(actor, projects.require('shop'), { status: 'active' });
});
