/** Passkeys and trusts in the compiled executable, which loads their libraries when they are first asked for. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Authenticator } from '../support/authenticator.ts';
import { openChromium } from '../support/chromium.ts';
import { parseObject } from '../support/helpers.ts';
import { startIssuer } from '../support/issuer.ts';
import { part } from '../support/parts.ts';
import { makeDataDir } from '../support/temp.ts';
import { freePort, satchel, startServer } from './binary.ts';

setDefaultTimeout(120_000);
const PASSWORD = 'correct horse battery staple';
const ORIGIN = 'http://localhost:8420';

test('adds a passkey and signs in by it', async () => {
  const data_dir = makeDataDir();
  const { url } = await startServer(data_dir, {}, [], ['--public-url', ORIGIN]);
  const send = async (path: string, body: object | null, cookie = '') => {
    const headers = { 'X-Satchel-Console': '1', 'Content-Type': 'application/json', Cookie: cookie };
    const answer = await fetch(`${url}/console${path}`, {
      ...{ method: 'POST', headers, body: body && JSON.stringify(body) },
    });
    const set = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
    return { status: answer.status, cookie: set, body: parseObject(await answer.text()) };
  };
  const made = await satchel(['person', 'add', 'ann@example.com', '--all-projects', '--data-dir', data_dir]);
  const link = /\/welcome\/\S+/.exec(made.stdout)?.[0] ?? '';
  expect((await send(link, { password: PASSWORD })).status).toBe(204);
  const { cookie } = await send('/session', { email: 'ann@example.com', password: PASSWORD });
  const device = new Authenticator({ origin: ORIGIN, rp_id: 'localhost' });
  const asked = await send('/passkeys/options', {}, cookie);
  const added = await send('/passkeys', { name: 'Laptop', response: device.make(asked.body) }, cookie);
  expect([added.status, added.body]).toMatchObject([201, { name: 'Laptop', host: 'localhost' }]);
  const begun = await send('/session/passkey/options', null);
  const signed_in = await send('/session/passkey', { response: device.sign(begun.body) });
  expect([signed_in.status, signed_in.cookie]).toEqual([204, expect.stringContaining('satchel=')]);
  const listed = await satchel(['person', 'list', '--data-dir', data_dir]);
  expect(listed.stdout).toMatch(/PASSKEYS .* off +no +1 /s);
});

test('a job that proves who it is gets what the vault has for it, and nothing once its trust is removed', async () => {
  const data_dir = makeDataDir();
  const issuer = await startIssuer();
  const env = { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' };
  const server = await startServer(data_dir, env, [], ['--public-url', ORIGIN]);
  const say = async (...args: string[]) => satchel([...args, '--data-dir', data_dir]);
  await say('project', 'create', '--name', 'Shop');
  await say('vault', 'set', 'env', 'A=1', '--project', 'shop');
  const of_shop = ['--subject', 'repo:acme/shop:*', '--project', 'shop', '--can', 'read_vault,reveal_vault'];
  const added = await say('token', 'trust', 'add', '--name', 'ci', '--issuer', issuer.url, ...of_shop);
  expect(added.stdout).toBe(`Trust 1 (ci) takes tokens whose audience is ${ORIGIN}.\n`);
  const exchange = async (sub: string) => {
    const body = JSON.stringify({ token: await issuer.sign({ sub, aud: ORIGIN }) });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${server.url}/api/public/v1/token/exchange`, {
      ...{ method: 'POST', headers, body },
    });
    const { data = {} } = parseObject(await answer.text());
    return { status: answer.status, token: String(Object(data).access_token) };
  };
  const { status, token } = await exchange('repo:acme/shop:main');
  expect(status).toBe(201);
  const read = () =>
    fetch(`${server.url}/v1/secret/data/shop`, { headers: { Authorization: `Bearer ${token}` } });
  expect(await (await read()).json()).toMatchObject({ data: { data: { A: '1' } } });
  expect((await exchange('repo:acme/other:main')).status).toBe(401);
  const listed = await say('token', 'trust', 'list');
  expect(listed.stdout).toContain('its subject does not fit');
  await say('token', 'trust', 'remove', '1', '--yes');
  expect((await read()).status).toBe(403);
  expect((await exchange('repo:acme/shop:main')).status).toBe(401);
  expect(server.stderr()).not.toContain('eyJ');
});

test.skipIf(part('chromium') === null)(
  'a browser adds one, signs in by the button and by the address field, and removes it',
  async () => {
    const data_dir = makeDataDir();
    const port = freePort();
    const origin = `http://localhost:${port}`;
    await startServer(data_dir, {}, [], ['--port', port, '--public-url', origin]);
    const made = await satchel([
      'person',
      'add',
      'ann@example.com',
      '--all-projects',
      '--data-dir',
      data_dir,
    ]);
    const link = /\/welcome\/\S+/.exec(made.stdout)?.[0] ?? '';
    const headers = { 'X-Satchel-Console': '1', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ password: PASSWORD });
    expect((await fetch(`${origin}/console${link}`, { method: 'POST', headers, body })).status).toBe(204);
    const context = await (await openChromium()).newContext();
    const page = await context.newPage();
    const devices = await context.newCDPSession(page);
    await devices.send('WebAuthn.enable');
    const options = {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    } as const;
    await devices.send('WebAuthn.addVirtualAuthenticator', { options });
    const signOut = () => context.clearCookies();

    await page.goto(`${origin}/console`);
    await page.getByLabel('Email').fill('ann@example.com');
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).waitFor();
    await page.goto(`${origin}/console/account`);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByRole('dialog').getByLabel('Name').fill('Laptop');
    await page.getByRole('dialog').getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();

    // The button alone, in a browser that offers nothing in the address field.
    await page.addInitScript(
      "if (location.hash === '#button') PublicKeyCredential.isConditionalMediationAvailable = async () => false",
    );
    await signOut();
    await page.goto(`${origin}/console#button`);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { level: 1 }).filter({ hasNotText: 'Sign in' }).waitFor();

    // The address field offers it; the virtual authenticator takes the offer by itself.
    await signOut();
    await page.goto(`${origin}/console/account`);
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Remove the passkey Laptop' }).click();
    await page.getByRole('cell', { name: 'Laptop', exact: true }).waitFor({ state: 'detached' });
    await context.close();
  },
);
