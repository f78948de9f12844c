/** Bad days of a console that is open: sessions that end, servers that go, two people at one thing, rights that are taken away. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import { noNote } from '../../src/platform/database/audit-trail.ts';
import { actor, makeProject } from '../support/helpers.ts';
import { until } from '../support/until.ts';
import {
  addPerson,
  askOnce,
  beforeAllInConsole,
  type ConsoleTest,
  type Credentials,
  executable,
  goTo,
  openBrowser,
  openPage,
  openSignedIn,
  signIn,
  stopClock,
  waitForTitle,
} from './browser.ts';

let on: ConsoleTest;
beforeAllInConsole(async (started) => {
  on = started;
  await makeProject(on.app, 'shop');
});

const shop = () => on.app.services.projects.require('shop');
const posts = (page: Page): string[] => {
  const seen: string[] = [];
  page.on('request', (request) => {
    if (request.method() !== 'GET') seen.push(`${request.method()} ${new URL(request.url()).pathname}`);
  });
  return seen;
};
const signInOn = async (page: Page, { email, password }: Credentials): Promise<void> => {
  await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
};

describe.skipIf(executable === null)('a session that ended', () => {
  test('asks to sign in again over what is shown, and then does what was asked, with what stood in the form', async () => {
    const { page } = await openSignedIn(on, '/projects/new');
    const context = page.context();
    await page.getByLabel('Name').fill('Atelier');
    await page.getByLabel('Description').fill('Typed before the session ended');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await waitForTitle(page, 'Sign in again');
    expect(await page.getByLabel('Description').isVisible()).toBe(false);
    expect(on.app.services.projects.find('atelier')).toBeNull();
    expect(await page.getByLabel('Email').inputValue()).toBe(on.credentials.email);
    await page.keyboard.press('Escape');
    await signInOn(page, on.credentials);
    await page.getByRole('heading', { name: 'Atelier', level: 1 }).waitFor();
    expect(on.app.services.projects.find('atelier')?.description).toBe('Typed before the session ended');
    await waitForTitle(page, 'Atelier');
  });

  test('leaves nothing of it to another person who signs in instead', async () => {
    const other = await addPerson(on.app, { email: 'other@example.org', all_projects: true });
    const { page } = await openSignedIn(on, '/projects/new');
    const context = page.context();
    await page.getByLabel('Name').fill('Of the first');
    await context.clearCookies();
    const sent = posts(page);
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    await signInOn(page, other);
    await page.getByRole('heading', { name: 'New project', level: 1 }).waitFor();
    await until(async () => (await page.getByLabel('Name').inputValue()) === '');
    expect(sent).toEqual(['POST /api/public/v1/projects', 'POST /console/session']);
    expect(on.app.services.projects.find('of-the-first')).toBeNull();
  });
});

describe.skipIf(executable === null)('what the server does two at once of', () => {
  test('comes a moment later, and nobody sees it', async () => {
    const opened = await openSignedIn(on, '/projects');
    const { page } = opened;
    let refused = 0;
    await page.route('**/api/public/v1/projects/shop', (route) => {
      refused++;
      return refused > 2
        ? route.continue()
        : route.fulfill({
            status: 429,
            headers: { 'Retry-After': '1' },
            json: { error: { message: 'Two at once.' } },
          });
    });
    await goTo(opened, '/projects/shop');
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    expect(refused).toBeGreaterThan(2);
    expect(await page.getByText('Two at once.').count()).toBe(0);
  });
});

describe.skipIf(executable === null)('what was asked of a server that goes away', () => {
  test('is asked once, however often the button is pressed and though the answer is lost', async () => {
    const { page } = await openSignedIn(on, '/projects/new');
    const sent = posts(page);
    const arrived = Promise.withResolvers<void>();
    const lose = Promise.withResolvers<void>();
    await page.route('**/api/public/v1/projects', async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      arrived.resolve();
      await lose.promise;
      await route.abort();
    });
    await page.getByLabel('Name').fill('Once');
    await page.getByRole('button', { name: 'Create the project' }).click();
    await page.getByLabel('Name').press('Enter');
    await arrived.promise;
    expect(await page.getByRole('button', { name: 'Create the project' }).isDisabled()).toBe(true);
    lose.resolve();
    await page.getByText('this may be done or not').waitFor();
    await page.getByText('trying again every two seconds').waitFor();
    await page.getByText('trying again every two seconds').waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Once');
    expect(sent).toEqual(['POST /api/public/v1/projects']);
    const made = on.app.services.projects.listAll({}).filter(({ name }) => name === 'Once');
    expect(made).toHaveLength(1);
  });

  test('is a banner too where a proxy answers in its place, for the file of a page as well', async () => {
    const { page } = await openSignedIn(on, '/projects');
    const gone = /\/(api|assets)\//;
    await page.route(gone, (route) => route.fulfill({ status: 502, body: '<h1>Bad Gateway</h1>' }));
    await page.getByRole('link', { name: 'shop', exact: true }).click();
    await page.getByText('Satchel does not answer').waitFor();
    expect(await page.getByText('could not be loaded').count()).toBe(0);
    await page.unroute(gone);
    await page.getByText('Satchel does not answer').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'shop', level: 1 }).waitFor();
    await page.getByText('First steps').waitFor();
    await page.locator('.error-box').waitFor({ state: 'detached' });
  });
});

describe.skipIf(executable === null)('two people at one thing', () => {
  const change = (fields: Parameters<typeof on.app.services.projects.update>[2]) =>
    on.app.services.projects.update(actor, shop(), fields);

  test('the second is told, sees what the first has changed, and keeps what they typed', async () => {
    const { page } = await openSignedIn(on, '/projects/shop/settings');
    await page.getByLabel('Description').fill('Of the second');
    await change({ name: 'Of the first', description: 'Of the first' });
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('alert').getByText('This was changed since you read it').waitFor();
    expect(shop().description).toBe('Of the first');
    await page.locator('[name=name]').and(page.locator('[value="Of the first"]')).waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('Of the second');
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('heading', { name: 'Of the first', level: 1 }).waitFor();
    expect(shop()).toMatchObject({ name: 'Of the first', description: 'Of the second' });
  });

  test('what is loaded again while one types is not taken for read', async () => {
    const { page } = await openSignedIn(on, '/projects/shop/settings');
    const context = page.context();
    await page.getByLabel('Description').fill('Typed before');
    await context.route('**/api/**', (route) => route.abort());
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByText('trying again every two seconds').waitFor();
    await change({ description: 'Meanwhile' });
    const loaded = page.waitForResponse((response) => response.url().endsWith('/projects/shop'));
    await context.unroute('**/api/**');
    await (await loaded).finished();
    await askOnce(page);
    await page.getByRole('button', { name: 'Save the changes' }).click();
    await page.getByRole('alert').getByText('This was changed since you read it').waitFor();
    expect(shop().description).toBe('Meanwhile');
  });

  test('one who saves twice is never in their own way', async () => {
    const { services } = on.app;
    const { id } = await services.keys.create(actor, shop(), { name: 'web' });
    const { page } = await openSignedIn(on, `/projects/shop/keys/${id}?tab=permissions`);
    // The page learns of no change but by the answers to its own.
    await page.route(`**/api-keys/${id}`, (route) =>
      route.request().method() === 'GET' ? route.abort() : route.continue(),
    );
    for (const name of ['web one', 'web two', 'web one']) {
      await page.getByLabel('Name').fill(name);
      const answer = page.waitForResponse((response) => response.request().method() === 'PATCH');
      await page.getByRole('button', { name: 'Save the changes' }).click();
      expect((await answer).status()).toBe(200);
      expect(services.keys.require(String(id)).name).toBe(name);
    }
  });
});

describe.skipIf(executable === null)('a right that is taken away', () => {
  test('is gone at the next request: what only administrators see goes, and the API says why it refuses', async () => {
    const credentials = await addPerson(on.app, {
      ...{ email: 'admin@example.org', all_projects: true, can_administer: true },
    });
    const { page } = await openPage(on, await signIn(on, { credentials }), '/');
    await page.getByRole('heading', { name: 'Machine' }).waitFor();
    await on.app.services.people.change(actor, null, on.app.services.people.require(credentials.email), {
      can_administer: false,
    });
    await page.getByRole('link', { name: 'Tokens' }).click();
    await page.getByRole('alert').getByText('administer').waitFor();
    await page.getByRole('link', { name: 'Tokens' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Home', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Mail by hour' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Machine' }).count()).toBe(0);
  });

  test("another's project looks as one that there is not, at every address of it", async () => {
    await makeProject(on.app, 'bakery');
    const credentials = await addPerson(on.app, { email: 'baker@example.org', projects: ['bakery'] });
    const opened = await openPage(on, await signIn(on, { credentials }), '/');
    const shownAt = async (path: string): Promise<string> => {
      await goTo(opened, path);
      const text = await opened.page.locator('body').textContent();
      return (text ?? '').replaceAll(/Request \S+/g, 'Request');
    };
    for (const rest of ['', '/settings', '/keys/1', '/contacts']) {
      const of_another = await shownAt(`/projects/shop${rest}`);
      expect(of_another).toBe((await shownAt(`/projects/none${rest}`)).replaceAll('none', 'shop'));
      expect(of_another).toContain('not found');
    }
    expect(await shownAt('/projects/bakery')).not.toContain('not found');
  });
});

describe.skipIf(executable === null)('a page that stays open', () => {
  test('asks while it is looked at only, one at a time, holds no more after hours, and is told when the session is over', async () => {
    const credentials = await addPerson(on.app, { email: 'night@example.org', all_projects: true });
    const context = await signIn(on, { credentials });
    await context.clock.install();
    const { page } = await openPage(on, context, '/');
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/overview')) asked += 1;
    });
    const client = await context.newCDPSession(page);
    await client.send('Performance.enable');
    /** What a page can hold on to: nodes, listeners and bytes, after everything loose is collected. */
    const held = async (): Promise<Record<string, number>> => {
      await client.send('HeapProfiler.collectGarbage');
      const { metrics } = await client.send('Performance.getMetrics');
      return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
    };
    const lookIn = async (passTime: () => Promise<void>): Promise<void> => {
      const answer = page.waitForResponse((response) => response.url().endsWith('/overview'));
      await passTime();
      await (await answer).finished();
      await askOnce(page);
    };
    const look = async (times: number): Promise<void> => {
      for (let turn = 0; turn < times; turn += 1) await lookIn(() => context.clock.runFor(10_000));
    };
    // It looks as the clock stops, and from then on in the middle of each ten seconds.
    await lookIn(async () => {
      await stopClock(page);
      await context.clock.runFor(5000);
    });
    await look(5);
    asked = 0;
    const before = await held();
    await look(60);
    const after = await held();
    expect(asked).toBe(60);
    expect(after.Nodes).toBeLessThanOrEqual((before.Nodes ?? 0) + 20);
    expect(after.JSEventListeners).toBeLessThanOrEqual((before.JSEventListeners ?? 0) + 5);
    expect(after.JSHeapUsedSize).toBeLessThan((before.JSHeapUsedSize ?? 0) + 500_000);

    // One that is not answered is waited for.
    const asks = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<void>();
    await page.route('**/overview', async (route) => {
      asks.resolve();
      await answer.promise;
      await route.continue();
    });
    await context.clock.runFor(10_000);
    await asks.promise;
    await context.clock.runFor(10 * 60_000);
    expect(asked).toBe(61);
    const answered = page.waitForResponse((response) => response.url().endsWith('/overview'));
    answer.resolve();
    await (await answered).finished();
    await page.unroute('**/overview');
    await context.clock.runFor(500);

    const hide = (is_hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${is_hidden} });
          document.dispatchEvent(new Event('visibilitychange'))`);
    await hide(true);
    await context.clock.fastForward(9 * 3_600_000);
    await context.clock.runFor(60_000);
    expect(asked).toBe(61);
    on.app.clock.advance(13 * 3_600_000);
    await context.clock.resume();
    await hide(false);
    await page.getByRole('heading', { name: 'Sign in again' }).waitFor();
    expect(asked).toBe(62);
    await context.clock.runFor(10 * 60_000);
    expect(asked).toBe(62);
    await signInOn(page, credentials);
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    on.app.clock.advance(-13 * 3_600_000);
  });

  test('shows what others did meanwhile, but for under what somebody types or has chosen', async () => {
    const { lists, contacts } = on.app.services;
    const project = shop();
    const list = await lists.create(project.id, { name: 'Meanwhile' }, noNote);
    const join = (email: string) =>
      contacts.add(
        project,
        lists.require(project.id, list.id),
        {
          ...{ email, first_name: null, last_name: null, tags: [], custom: {}, source: null, reason: null },
          ...{ source_platform: 'api', consent_basis: 'consent', consent_at: 0, consent_ip: null },
          ...{ consent_origin: null, is_test: false },
        },
        noNote,
      );
    await join('first@example.org');
    const context = await signIn(on);
    await context.clock.install();
    const { page } = await openPage(on, context, `/projects/shop/lists/${list.id}`);
    await stopClock(page);
    await askOnce(page);
    const pass = async (): Promise<void> => {
      await context.clock.runFor(10_000);
      await askOnce(page);
      await context.clock.runFor(500);
    };
    const row = (email: string) => page.getByRole('row', { name: email });
    await join('second@example.org');
    await pass();
    await row('second@example.org').waitFor();

    await page.getByLabel('Pick first@example.org').check();
    await join('third@example.org');
    await pass();
    expect(await row('third@example.org').count()).toBe(0);
    await page.getByLabel('Pick first@example.org').uncheck();
    await pass();
    await row('third@example.org').waitFor();

    await page.getByRole('link', { name: 'Settings', exact: true }).click();
    await lists.update(project.id, list.id, { name: 'Changed' }, noNote);
    await pass();
    await page.getByRole('heading', { name: 'Changed', level: 1 }).waitFor();
    expect(await page.getByLabel('Name').inputValue()).toBe('Changed');
    await page.getByLabel('Name').fill('Typed just now');
    await page.getByLabel('Description').focus();
    await lists.update(project.id, list.id, { name: 'Changed again' }, noNote);
    await pass();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Changed');
    expect(await page.getByLabel('Name').inputValue()).toBe('Typed just now');
  });

  for (const [told, off_ms] of [
    ['a day ahead', 86_400_000],
    ['a day behind', -86_400_000],
  ] as const) {
    test(`tells time by the server where the browser is ${told}`, async () => {
      const context = await signIn(on);
      await context.clock.setFixedTime(on.app.clock.now() + off_ms);
      const { page } = await openPage(on, context, '/account');
      const signed_in = page.locator('dt', { hasText: 'Signed in' }).locator('+ dd time');
      expect(await signed_in.textContent()).toMatch(/^(just now|\d+ minutes? ago)$/);
      const { page: other } = await openPage(on, context, '/projects/shop');
      expect(await other.locator('main').textContent()).not.toMatch(/yesterday|tomorrow|1 day ago|in 1 day/);
    });
  }
});

describe.skipIf(executable === null)('who guesses at a password', () => {
  test('is told after ten tries when to come back, and so is nobody else', async () => {
    const credentials = await addPerson(on.app, { email: 'guessed@example.org', all_projects: true });
    const { page } = await openPage(on, await openBrowser(on), '/sign-in');
    for (let turn = 0; turn < 10; turn += 1) {
      const answer = page.waitForResponse((response) => response.url().endsWith('/console/session'));
      await signInOn(page, { ...credentials, password: `guess ${turn}` });
      expect((await answer).status()).toBe(401);
      await page.getByRole('button', { name: 'Sign in', disabled: false }).waitFor();
    }
    await signInOn(page, credentials);
    const alert = page.getByRole('alert');
    await alert.getByText(/Try again in \d+ s\./).waitFor();
    expect(await page.getByLabel('Email').inputValue()).toBe(credentials.email);
    await signInOn(page, on.credentials);
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  });

  test('finds no address of another site behind the sign-in page, however it is written', async () => {
    const context = await openBrowser(on);
    const { page } = await openPage(on, context, '/sign-in');
    for (const next of [
      '/%2F/evil.example.com',
      '/\t/evil.example.com',
      'javascript:alert(1)',
      '/../../docs',
      '@evil.example.com',
    ]) {
      await page.goto(`${on.app.url}/console/sign-in?next=${encodeURIComponent(next)}`);
      await signInOn(page, on.credentials);
      await page.getByLabel(/Account of/).waitFor();
      expect(new URL(page.url()).origin).toBe(on.app.url);
      expect(new URL(page.url()).pathname).toStartWith('/console');
      await context.clearCookies();
    }
  });
});
