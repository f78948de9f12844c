/** Passkeys in the compiled executable, where the library of them is loaded in another order than elsewhere. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { Authenticator } from '../support/authenticator.ts';
import { openChromium } from '../support/chromium.ts';
import { parseObject } from '../support/helpers.ts';
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
