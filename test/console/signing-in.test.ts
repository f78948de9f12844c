/** From an empty directory to somebody at work, in a real browser; the second step; sessions that end. */
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { Secret, TOTP } from 'otpauth';
import { CLIENT, startIssuer } from '../support/issuer.ts';
import {
  addPerson,
  beforeAllInConsole,
  type ConsoleTest,
  executable,
  openBrowser,
  openPage,
  signIn,
  startConsole,
  startEmptyConsole,
  TIMEOUT_MS,
} from './browser.ts';

setDefaultTimeout(TIMEOUT_MS);

const PASSWORD = 'a long enough pass phrase';

describe.skipIf(executable === null)('the first person', () => {
  test('goes from the link that the start prints to a project, by way of what is asked of nobody else', async () => {
    const on = await startEmptyConsole();
    const link = await on.app.services.people.makeFirstLink();
    const context = await openBrowser(on);
    const { page } = await openPage(on, context, new URL(link ?? '').pathname.replace('/console', ''));
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByLabel('Email').fill('ann@example.org');
    await page.getByRole('button', { name: 'Set the password' }).click();
    await page.getByRole('heading', { name: 'What would you like to do first?' }).waitFor();
    await page.getByRole('link', { name: 'Store files' }).click();
    await page.locator('[name=name]:focus').fill('Shop');
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByRole('heading', { name: 'Files', level: 1 }).waitFor();
    expect(on.app.services.projects.find('shop')?.name).toBe('Shop');
  });

  test('looks around in a sample project that mails nobody, and is rid of it in one click', async () => {
    const on = await startEmptyConsole();
    const credentials = await addPerson(on.app, {
      email: 'ann@example.org',
      all_projects: true,
      can_administer: true,
    });
    const { page, complaints } = await openPage(on, await signIn({ ...on, credentials }), '/');
    await page.getByRole('button', { name: 'Make the sample project' }).click();
    await page.getByRole('link', { name: 'See what was sent' }).click();
    await page.getByRole('link', { name: 'Welcome, Ann' }).click();
    await page.getByRole('heading', { name: 'Welcome, Ann', level: 1 }).waitFor();
    const { projects, sending_domains, mailboxes } = on.app.services;
    expect(mailboxes.require('hello@sample.test').kind).toBe('capture');
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('button', { name: 'Remove the sample' }).click();
    await page.getByRole('heading', { name: 'What would you like to do first?' }).waitFor();
    expect([projects.find('sample'), sending_domains.list()]).toEqual([null, []]);
    expect(complaints).toEqual([]);
  });
});

describe.skipIf(executable === null)('signing in', () => {
  let on: ConsoleTest;
  beforeAllInConsole((started) => {
    on = started;
  });

  test('leads back to where one was, and says no more of a wrong password than the API does', async () => {
    const context = await openBrowser(on);
    const { page } = await openPage(on, context, '/projects?status=inactive');
    await page.getByLabel('Email').fill(on.credentials.email);
    await page.getByLabel('Password').fill('not the password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').getByText('The address or the password is not right.').waitFor();
    await page.getByLabel('Password').fill(on.credentials.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    expect(new URL(page.url()).search).toBe('?status=inactive');
  });

  test('never leads out of the console, whatever the address says', async () => {
    for (const next of ['//evil.example.com', '/\\evil.example.com', 'https://evil.example.com']) {
      const context = await openBrowser(on);
      const { page } = await openPage(on, context, `/sign-in?next=${encodeURIComponent(next)}`);
      await page.getByLabel('Email').fill(on.credentials.email);
      await page.getByLabel('Password').fill(on.credentials.password);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      expect(page.url()).toBe(`${on.app.url}/console`);
      await context.close();
    }
  });

  test('takes the code of an authenticator once the second step is on, or a recovery code', async () => {
    const credentials = await addPerson(on.app, { email: 'totp@example.org', all_projects: true });
    const { page } = await openPage(on, await signIn(on, { credentials }), '/account');
    await page.getByRole('button', { name: 'Turn the second step on' }).click();
    await page.getByRole('dialog').getByLabel('Password').fill(credentials.password);
    await page.getByRole('button', { name: 'Go on' }).click();
    await page.getByRole('img', { name: /QR code/ }).waitFor();
    const secret = (await page.locator('.secret code').textContent()) ?? '';
    await page
      .locator('[name=code]:focus')
      .fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate({ timestamp: on.app.clock.now() }));
    await page.getByRole('button', { name: 'Turn it on' }).click();
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
    const codes = await page.locator('.codes span').allTextContents();
    expect(codes).toHaveLength(10);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download as a file' }).click();
    const file = await Bun.file(await (await saving).path()).text();
    expect(file.split('\n').slice(2, -1)).toEqual(codes);
    await page.getByRole('button', { name: 'I have kept them' }).click();
    await page.getByText('10 recovery codes left').waitFor();

    const { page: other } = await openPage(on, await openBrowser(on), '/sign-in');
    await other.getByLabel('Email').fill(credentials.email);
    await other.getByLabel('Password').fill(credentials.password);
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.locator('[name=code]:focus').fill('000000');
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByRole('alert').first().waitFor();
    await other.getByLabel('Code').fill(codes[0] ?? '');
    await other.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  test('ends elsewhere from the account page: the other browser is asked to sign in at its next request', async () => {
    const { page: other } = await openPage(on, await signIn(on), '/projects');
    const { page } = await openPage(on, await signIn(on), '/account');
    for (let left = await page.getByRole('button', { name: 'End it' }).count(); left > 0; left -= 1) {
      await page.getByRole('button', { name: 'End it' }).first().click();
      await page
        .getByRole('button', { name: 'End it' })
        .nth(left - 1)
        .waitFor({ state: 'detached' });
    }
    await other.getByLabel('Status').selectOption('inactive');
    await other.getByRole('heading', { name: 'Sign in again' }).waitFor();
    expect(await other.getByLabel('Status').isVisible()).toBe(false);
  });

  test('a password is changed in the account page, and the old one lets nobody in any more', async () => {
    const credentials = await addPerson(on.app, { email: 'new@example.org', all_projects: true });
    const { page } = await openPage(on, await signIn(on, { credentials }), '/account');
    await page.getByLabel('Password now').fill('wrong');
    await page.getByLabel('New password').fill(PASSWORD);
    const [eye_now, eye] = await page.getByRole('button', { name: 'Show what is typed' }).all();
    await eye?.click();
    expect(await page.getByLabel('New password').getAttribute('type')).toBe('text');
    expect(await page.getByLabel('Password now').getAttribute('type')).toBe('password');
    expect(await eye_now?.getAttribute('aria-pressed')).toBe('false');
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.locator('[name=current_password][aria-invalid=true]').waitFor();
    await page.getByLabel('Password now').fill(credentials.password);
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByText('The password is changed').waitFor();
    await signIn(on, { credentials: { ...credentials, password: PASSWORD } });
    const old = await (await openBrowser(on)).request.post(`${on.app.url}/console/session`, {
      data: credentials,
      headers: { 'X-Satchel-Console': '1' },
    });
    expect(old.status()).toBe(401);
  });
});

describe.skipIf(executable === null)('single sign-on', () => {
  test('goes by a page of another site and back to where one was, says why somebody is refused, and resumes a session', async () => {
    const issuer = await startIssuer('localhost');
    const on = await startConsole({
      ...{ SATCHEL_OIDC_ISSUER: issuer.url, SATCHEL_OIDC_CLIENT_ID: CLIENT.id },
      ...{ SATCHEL_OIDC_CLIENT_SECRET: CLIENT.secret, SATCHEL_WEBHOOK_ALLOW: 'localhost,127.0.0.1' },
      SATCHEL_OIDC_LABEL: 'Sign in with Example',
    });
    // The way back leads to SATCHEL_PUBLIC_URL, where this Satchel does not listen.
    issuer.inPlace = (path, request) => {
      if (path !== '/authorize') return null;
      const back = issuer.approve(request.url).replace(on.app.config.public_url, on.app.url);
      const page = `<a href="${back.replaceAll('&', '&amp;')}">Go on</a>`;
      return new Response(page, { headers: { 'Content-Type': 'text/html' } });
    };
    const way = { name: 'Sign in with Example' };
    const context = await openBrowser(on);
    const { page } = await openPage(on, context, '/projects?status=inactive');
    issuer.account = { sub: 'eve', email: 'eve@example.org', email_verified: true };
    await page.getByRole('link', way).click();
    await page.getByRole('link', { name: 'Go on' }).click();
    await page.getByRole('alert').getByText('You are known there, but not here').waitFor();

    await page.goto(`${on.app.url}/console/projects?status=inactive`);
    issuer.account = { sub: 'ann', email: on.credentials.email, email_verified: true };
    await page.getByRole('link', way).click();
    await page.getByRole('link', { name: 'Go on' }).click();
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
    expect(new URL(page.url()).search).toBe('?status=inactive');

    const { database } = on.app.services;
    await database.write((tx) => tx.run(sql`DELETE FROM person_sessions`));
    // Unless the page has asked for something by itself: then it is out of sight already.
    const over = page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await Promise.race([
      over,
      page
        .getByLabel('Status')
        .selectOption('active')
        .catch(() => {}),
    ]);
    await over;
    const opened = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Sign in with Example (in a new tab)' }).click();
    const other = await opened;
    await other.getByRole('link', { name: 'Go on' }).click();
    await other.getByRole('heading', { level: 1 }).first().waitFor();
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'Projects', level: 1 }).waitFor();
  });
});
