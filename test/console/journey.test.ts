/** The executable in a browser: from an empty directory to an app at work; a restart and a full disk. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { Secret, TOTP } from 'otpauth';
import type { Browser, Page } from 'playwright-core';
import { BINARY, freePort } from '../e2e/binary.ts';
import { canMount, fillDisk, freeDisk, startOnSmallDisk } from '../e2e/small-disk.ts';
import { openChromium } from '../support/chromium.ts';
import { makeTempDir } from '../support/temp.ts';
import {
  type Credentials,
  executable,
  openBrowser,
  openPage,
  settle,
  signIn,
  TIMEOUT_MS,
} from './browser.ts';

setDefaultTimeout(TIMEOUT_MS);

const credentials = { email: 'ann@example.org', password: 'a long enough pass phrase' };
let browser: Browser;
beforeAll(async () => {
  if (executable !== null) browser = await openChromium();
});

const LINK = /http\S+\/console\/welcome\/[\w-]{43}/;

/** `serve` as somebody at a terminal starts it, once it has shown them this: the link, where nobody can sign in yet. */
async function serveOnTerminal(
  dir: string,
  { port = freePort(), awaited = LINK } = {},
): Promise<{ url: string; link: string; end(signal: 'SIGTERM' | 'SIGKILL'): Promise<unknown> }> {
  const shown = Promise.withResolvers<string>();
  let text = '';
  const child = Bun.spawn([BINARY, 'serve', '--port', port, '--data-dir', dir], {
    env: { PATH: process.env.PATH ?? '' },
    terminal: {
      cols: 200,
      data(_terminal, bytes) {
        text += new TextDecoder().decode(bytes);
        const [link] = awaited.exec(text) ?? [];
        if (link) shown.resolve(link);
      },
    },
  });
  void child.exited.then(() => shown.reject(new Error(text)));
  const link = await shown.promise;
  const end = (signal: 'SIGTERM' | 'SIGKILL'): Promise<unknown> => {
    child.kill(signal);
    return child.exited;
  };
  return { url: `http://localhost:${port}`, link, end };
}

/** Makes the person that a link is for, or the first of all. */
async function accept(link: string, url: string, body: object): Promise<void> {
  const response = await fetch(url + new URL(link).pathname, {
    ...{ method: 'POST', body: JSON.stringify(body) },
    headers: { 'X-Satchel-Console': '1', 'Content-Type': 'application/json' },
  });
  expect(response.status).toBe(204);
}

async function enter(page: Page, { email, password }: Credentials): Promise<void> {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

async function curl(...args: string[]): Promise<string> {
  const child = Bun.spawn(['curl', '-sS', ...args], { stdout: 'pipe' });
  return new Response(child.stdout).text();
}

describe.skipIf(executable === null)('from an empty directory', () => {
  test('the link that serve shows leads to a password, a project and a key that works with curl; then to a second step', async () => {
    const server = await serveOnTerminal(join(makeTempDir(), 'data'));
    const on = { browser, app: server };
    const path = new URL(server.link).pathname.replace('/console', '');
    const { page, complaints } = await openPage(on, await openBrowser(on), path);
    await page.getByLabel('Email').fill(credentials.email);
    await page.getByLabel('Password').fill(credentials.password);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByRole('link', { name: 'Store files' }).click();
    await page.getByLabel('Name').fill('Shop');
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor();

    await page.goto(`${server.url}/console/projects/shop/keys`);
    await page.getByRole('link', { name: 'New key' }).first().click();
    await page.getByLabel('Name').fill('web');
    await page.getByRole('button', { name: 'Create the key' }).click();
    const secret = (await page.locator('.secret code').textContent()) ?? '';
    const objects = `${server.url}/api/v1/objects`;
    const stored = await curl(objects, '-H', `X-API-Key: ${secret}`, '-F', 'file=hello;filename=hello.txt');
    expect(JSON.parse(stored)).toMatchObject({ visibility: 'private', size_bytes: 5 });
    await page.getByRole('link', { name: 'To the key' }).click();
    await page.getByRole('heading', { name: 'web', level: 1 }).waitFor();
    await settle(page);
    expect(await page.content()).not.toContain(secret);
    await page.getByRole('link', { name: 'Files' }).click();
    await page.getByRole('link', { name: 'hello.txt' }).waitFor();

    await page.goto(`${server.url}/console/account`);
    await page.getByRole('button', { name: 'Turn the second step on' }).click();
    await page.getByRole('dialog').getByLabel('Password').fill(credentials.password);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    const totp = new TOTP({
      secret: Secret.fromBase32((await page.locator('.secret code').textContent()) ?? ''),
    });
    await page.getByLabel('Code', { exact: true }).fill(totp.generate());
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    const [code = ''] = await page.locator('.codes span').allTextContents();
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('10 recovery codes left').waitFor();
    expect(complaints.filter((told) => !told.includes('422'))).toEqual([]);

    await page.getByLabel(/Account of/).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in to Satchel' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Sign in to Satchel' }).waitFor();
    await enter(page, credentials);
    await page.getByLabel('Code').fill(code);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByLabel(/Account of/).waitFor();
    await page.goto(`${server.url}/console/account`);
    await page.getByText('9 recovery codes left').waitFor();
    await server.end('SIGTERM');
  });
});

describe.skipIf(executable === null)('a server that is killed and started again', () => {
  test('is a banner over what is open, which goes by itself: nobody signs in again, nothing entered is lost', async () => {
    const dir = join(makeTempDir(), 'data');
    const first = await serveOnTerminal(dir);
    await accept(first.link, first.url, credentials);
    const on = { browser, app: first, credentials };
    const { page } = await openPage(on, await signIn(on), '/projects/new');
    await page.getByLabel('Name').fill('Before the restart');
    await first.end('SIGKILL');
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByText('trying again every two seconds').waitFor();
    await page.getByText('this may be done or not').waitFor();
    const { port } = new URL(first.url);
    const again = await serveOnTerminal(dir, { port, awaited: /satchel listening on/ });
    await page.getByText('trying again every two seconds').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByRole('heading', { name: 'Before the restart', level: 1 }).waitFor();
    await page.goto(`${first.url}/console/projects`);
    await page.getByRole('link', { name: 'Before the restart' }).first().waitFor();
    expect(await page.getByRole('link', { name: 'Before the restart' }).count()).toBe(1);
    await again.end('SIGTERM');
  });
});

describe.skipIf(executable === null || !canMount)('a full disk', () => {
  test('is told in a sentence beside what was entered, and what is there is shown; with room again it is saved', async () => {
    const { server, dir, token } = await startOnSmallDisk({});
    const made = await fetch(`${server.url}/api/public/v1/people`, {
      ...{ method: 'POST', headers: { Authorization: `Bearer ${token}` } },
      body: JSON.stringify({ email: credentials.email, all_projects: true }),
    });
    const { data } = (await made.json()) as { data: { link: string } };
    await accept(data.link, server.url, { password: credentials.password });
    const on = { browser, app: server, credentials };
    const { page } = await openPage(on, await signIn(on), '/projects/shop/settings');
    fillDisk(dir);
    await page.getByLabel('Description').fill('Entered while the disk was full. '.repeat(20));
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('alert').getByText(/disk/).waitFor();
    expect(await page.getByText('Satchel does not answer').count()).toBe(0);
    expect(await page.getByLabel('Description').inputValue()).toContain('Entered while');
    const { page: other } = await openPage(on, page.context(), '/projects/shop/keys');
    await other.getByRole('link', { name: 'web', exact: true }).waitFor();
    freeDisk(dir);
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor();
    await page.getByText('Entered while the disk was full.').first().waitFor();
    await server.end('SIGTERM');
  });
});
