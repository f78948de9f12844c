/** The console in Debian's Chromium: a Satchel that listens, a person who is signed in, and what holds of every page. */
import { afterEach, beforeAll, expect, setDefaultTimeout } from 'bun:test';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import type { NewPersonInput } from '../../src/access/people/schemas.ts';
import { CAPABILITIES } from '../../src/platform/http/callers.ts';
import { openChromium } from '../support/chromium.ts';
import { atEnd } from '../support/cleanup.ts';
import { type DnsServer, startDnsServer } from '../support/dns-server.ts';
import { actor, startTestApp, type TestApp } from '../support/helpers.ts';
import { part } from '../support/parts.ts';
import { TestClock } from '../support/temp.ts';
import { until } from '../support/until.ts';

export const executable = part('chromium');
export const TIMEOUT_MS = 120_000;
/** What has not come by then never will, however busy the machine is. */
const GIVE_UP_MS = 60_000;
/** More than passes between two steps of a test. */
const AHEAD_MS = 60_000;
/** What a page of ours says with its requests. */
const OF_A_PAGE = { 'X-Satchel-Console': '1' };
/** A small telephone, and a desk. */
export const NARROW = { width: 360, height: 740 };
export const WIDE = { width: 1280, height: 800 };

export interface ConsoleTest {
  app: TestApp;
  browser: Browser;
  /** What its look-ups are answered from. */
  dns: DnsServer;
  /** Of somebody who may do everything. */
  credentials: Credentials;
}

export interface Credentials {
  email: string;
  password: string;
}

/** A Satchel with the clock of this machine, as the browser's is, with nobody in it, and a browser. */
export async function startEmptyConsole(
  env: Record<string, string> = {},
): Promise<Omit<ConsoleTest, 'credentials'>> {
  const dns = await startDnsServer({
    'example.org': { mx: [{ exchange: 'mx.example.org', preference: 10 }] },
  });
  atEnd(() => dns.stop());
  const app = await startTestApp({
    clock: new TestClock(new Date().toISOString()),
    env: {
      ...{ SATCHEL_PUBLIC_URL: 'http://127.0.0.1:8420', SATCHEL_DNS_SERVERS: dns.address },
      SATCHEL_WEBHOOK_ALLOW: '127.0.0.1',
      ...env,
    },
  });
  const browser = await openChromium();
  return { app, browser, dns };
}

/** The same with somebody who may do everything. */
export async function startConsole(env: Record<string, string> = {}): Promise<ConsoleTest> {
  const on = await startEmptyConsole(env);
  const credentials = await addPerson(on.app, {
    ...{ email: 'ann@example.org', name: 'Ann Example', all_projects: true, can_administer: true },
    ...Object.fromEntries(CAPABILITIES.map((capability) => [capability, true])),
  });
  return { ...on, credentials };
}

/** Starts a console for the tests of a file, where there is a browser, and gives all of them time. */
export function beforeAllInConsole(
  prepare: (on: ConsoleTest) => unknown,
  env: Record<string, string> = {},
): void {
  setDefaultTimeout(TIMEOUT_MS);
  let on: ConsoleTest | undefined;
  beforeAll(async () => {
    if (executable === null) return;
    on = await startConsole(env);
    await prepare(on);
  });
  afterEach(async () => {
    const session = on && signed_in.get(on);
    if (on && session) await clear(on, session);
  });
}

/** Somebody with a password, which they set by their link. */
export async function addPerson(app: TestApp, fields: NewPersonInput): Promise<Credentials> {
  const { link } = await app.services.people.add(actor, null, fields);
  const password = 'correct horse battery staple';
  const headers = { 'X-Satchel-Console': '1', 'Content-Type': 'application/json' };
  const response = await fetch(`${app.url}${new URL(link).pathname}`, {
    ...{ method: 'POST', headers, body: JSON.stringify({ password }) },
  });
  expect(response.status).toBe(204);
  return { email: fields.email, password };
}

export interface OpenOptions {
  scheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  /** Whether what moves of itself is drawn where it goes at once. */
  still?: boolean;
}

/** A browser in which nobody is signed in. */
export async function openBrowser(
  on: Pick<ConsoleTest, 'browser'>,
  options: OpenOptions = {},
): Promise<BrowserContext> {
  const { viewport = WIDE, scheme = 'light', still = false } = options;
  const context = await on.browser.newContext({
    ...{ viewport, colorScheme: scheme, locale: 'en-GB' },
    reducedMotion: still ? 'reduce' : 'no-preference',
  });
  context.setDefaultTimeout(GIVE_UP_MS);
  return context;
}

/** A browser in which somebody is signed in: who may do everything, or whoever is given. */
export async function signIn(
  on: Pick<ConsoleTest, 'browser' | 'credentials'> & { app: Pick<TestApp, 'url'> },
  options: OpenOptions & { credentials?: Credentials } = {},
): Promise<BrowserContext> {
  const context = await openBrowser(on, options);
  await enter(on, context, options.credentials ?? on.credentials);
  return context;
}

async function enter(
  on: { app: Pick<TestApp, 'url'> },
  context: BrowserContext,
  credentials: Credentials,
): Promise<void> {
  const response = await context.request.post(`${on.app.url}/console/session`, {
    data: credentials,
    headers: OF_A_PAGE,
  });
  expect(response.status()).toBe(204);
}

/** Of who may do everything, signed in once for all tests of a file. */
interface Session {
  context: BrowserContext;
  /** What the last test left: a page that goes on costs half of what a new one does. */
  free: Page | null;
}

const signed_in = new WeakMap<ConsoleTest, Session>();

/** Opens a path below /console as who may do everything, in a page that the next test goes on with. */
export async function openSignedIn(on: ConsoleTest, path: string): Promise<OpenPage> {
  const session = signed_in.get(on) ?? { context: await openBrowser(on), free: null };
  signed_in.set(on, session);
  const { context } = session;
  // Tests move the clock on, past the end of sessions too.
  const answer = await context.request.get(`${on.app.url}/console/session`, { headers: OF_A_PAGE });
  if (!answer.ok()) await enter(on, context, on.credentials);
  const page = session.free ?? (await context.newPage());
  session.free = null;
  return load(on, page, path);
}

/** What a test, or this file, may have asked a page to tell. */
const TOLD = [
  'console',
  'dialog',
  'pageerror',
  'request',
  'requestfailed',
  'requestfinished',
  'response',
] as const;

/** Leaves one page, at an address without a script and with nothing that the last test kept in it. */
async function clear(on: ConsoleTest, session: Session): Promise<void> {
  const [page, ...others] = session.context.pages();
  await Promise.all(others.map((other) => other.close()));
  if (!page) return;
  for (const type of TOLD) page.removeAllListeners(type);
  for (const routed of [page, session.context]) await routed.unrouteAll({ behavior: 'ignoreErrors' });
  await page.setViewportSize(WIDE);
  await page.goto(`${on.app.url}/console/assets/none`);
  await page.evaluate('sessionStorage.clear()');
  session.free = page;
}

export interface OpenPage {
  page: Page;
  /** Errors, violations of the policy and failed requests; has to stay empty. */
  complaints: string[];
}

/** Opens a path below /console and waits until it shows what it has to show. */
export async function openPage(
  on: { app: Pick<TestApp, 'url'> },
  context: BrowserContext,
  path: string,
): Promise<OpenPage> {
  return load(on, await context.newPage(), path);
}

async function load(on: { app: Pick<TestApp, 'url'> }, page: Page, path: string): Promise<OpenPage> {
  followRequests(page);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(on.app.url) && !request.url().startsWith('data:'))
      complaints.push(`a request to ${request.url()}`);
  });
  await page.goto(`${on.app.url}/console${path}`);
  await settle(page);
  return { page, complaints };
}

/** Goes to another path below /console as a link within the page does, and waits until it shows what it has to show. */
export async function goTo({ page, complaints }: OpenPage, path: string): Promise<void> {
  complaints.length = 0;
  await page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );
  await settle(page);
}

/** What each page has asked for and has no answer to yet. */
const unanswered = new WeakMap<Page, Set<Request>>();

function followRequests(page: Page): void {
  const requests = new Set<Request>();
  unanswered.set(page, requests);
  page.on('request', (request) => {
    // Of the answer to this, nobody reads more than that it came: it has no end.
    if (!request.url().endsWith('/api/health')) requests.add(request);
  });
  page.on('requestfinished', (request) => requests.delete(request));
  page.on('requestfailed', (request) => requests.delete(request));
}

/** Lets what follows from an answer follow (what it brings is drawn, and asks for more), and tells whether all is there. */
const IS_STILL = `new Promise((resolve) => {
  const frame = (left) => left === 0
    ? resolve(document.querySelector('h1') !== null && document.querySelector('[aria-busy=true]') === null)
    : requestAnimationFrame(() => setTimeout(frame, 0, left - 1));
  frame(3);
})`;

/** Waits until nothing on the page, which `openPage` opened, is on its way. */
export async function settle(page: Page): Promise<void> {
  await until(async () => (await page.evaluate<boolean>(IS_STILL)) && unanswered.get(page)?.size === 0);
}

/**
 * Stops a clock that was installed in the page, a minute ahead: from here on only the test moves it, however busy the machine is.
 * What was due meanwhile is done; what the page does in effects waits until frames pass, too.
 */
export async function stopClock(page: Page): Promise<void> {
  await page.context().clock.pauseAt((await page.evaluate<number>('Date.now()')) + AHEAD_MS);
}

/** Has the page ask once more: when this is answered, the page has asked what it had to, and has taken in what was answered before. */
export async function askOnce(page: Page): Promise<void> {
  await page.evaluate(`fetch('/api/health').then((answer) => answer.text())`);
}

/** Waits until the document is called so: it is told a frame after the heading. */
export function waitForTitle(page: Page, title: string): Promise<void> {
  return until(async () => (await page.title()) === `${title} · Satchel`);
}

/** What stands around every page: `#navigation` is also the list of pages that a narrow one opens. */
const FRAME = ['#navigation', 'header.topbar'];

/**
 * What holds of every page, but for the mails that it shows in frames: nothing complained of, nothing to scroll for sideways, no
 * barrier that rules can find. `around` is whether navigation and the bar above are looked at too: they are most of a small page.
 */
export async function expectSound({ page, complaints }: OpenPage, { around = true } = {}): Promise<void> {
  const wide = await page.evaluate(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  );
  expect({ url: page.url(), wide }).toEqual({ url: page.url(), wide: 0 });
  expect({ url: page.url(), complaints }).toEqual({ url: page.url(), complaints: [] });
  if (!(await page.evaluate<boolean>(`'axe' in window`))) await page.evaluate(axe.source);
  const looked_at = around ? 'document' : JSON.stringify({ exclude: FRAME.map((selector) => [selector]) });
  const found: unknown = await page.evaluate(
    `axe.run(${looked_at}, { iframes: false, preload: false, resultTypes: ['violations'], selectors: false }).then(({ violations }) => violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => html + failureSummary)]))`,
  );
  expect({ url: page.url(), found }).toEqual({ url: page.url(), found: [] });
}
