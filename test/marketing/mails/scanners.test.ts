/** What tells scanners from people besides HEAD, robots' names and bursts of links: clicks.test.ts has those. */

import { beforeEach, describe, expect, test } from 'bun:test';
import { SCANNER_WINDOW_MS } from '../../../src/limits.ts';
import { SCANNER_MOMENT_MS } from '../../../src/marketing/mails/clicks.ts';
import type { Reading } from '../../../src/marketing/mails/service.ts';
import { heldOf } from '../../support/addresses.ts';
import { startTestApp } from '../../support/helpers.ts';
import { linksOf, type MailApp, startMailApp } from './setup.ts';

let mail: MailApp;
let told: Reading['kind'][];
/** Addresses of one mail. */
let at: { a: string; b: string; picture: string; hidden: string; page: string };

beforeEach(async () => {
  mail = await startMailApp();
  told = [];
  mail.app.services.clicks.listen((_tx, { kind }) => told.push(kind));
  await mail.template({
    subject: 'Hi',
    body_html: '<p><a href="https://a.example">a</a> <a href="https://b.example">b</a></p>',
    body_text: 'https://a.example',
    layout: 'marketing',
  });
  await mail.contact(mail.list_id, 'ann@example.com', {});
  at = await newMail();
});

async function newMail() {
  const { html, text } = (await mail.send('ann@example.com', mail.step({ track_opens: true }))).mail;
  const [a = '', b = '', page = '', hidden = '', ...more] = linksOf(html);
  expect([more, text?.includes(hidden)]).toEqual([[], false]);
  return { a, b, page, hidden, picture: /src="([^"]+\/o\/[^"]+)"/.exec(html ?? '')?.[1] ?? '' };
}

/** What has gathered is on disk, and what is due counts. */
const settle = () => mail.app.services.clicks.settle();

async function pass(ms: number): Promise<void> {
  await settle();
  mail.app.clock.advance(ms);
}

/** Lets everything count that will, and says what did. */
async function counted(): Promise<string[]> {
  await pass(SCANNER_WINDOW_MS + 2);
  await settle();
  return told;
}

describe('a single visit', () => {
  const PROGRAMS: [string, Parameters<MailApp['follow']>[1]][] = [
    ['without a User-Agent', { user_agent: null }],
    ['with an empty User-Agent', { user_agent: ' ' }],
    ['with Sec-Purpose: prefetch', { headers: { 'Sec-Purpose': 'prefetch;prerender' } }],
    ['with Purpose: prefetch', { headers: { Purpose: 'prefetch' } }],
    ['by HEAD', { method: 'HEAD' }],
  ];
  test.each(PROGRAMS)('%s counts neither as a click nor as an opening', async (_how, visit) => {
    expect((await mail.follow(at.a, visit)).status).toBe(302);
    await pass(SCANNER_MOMENT_MS + 1);
    expect((await mail.follow(at.picture, visit)).status).toBe(200);
    expect(await counted()).toEqual([]);
    // A person comes later.
    await mail.follow(at.picture);
    await pass(SCANNER_MOMENT_MS + 1);
    await mail.follow(at.a, { headers: { 'Sec-Purpose': '' } });
    expect(await counted()).toEqual(['opened', 'clicked']);
  });
});

describe('two of link, picture and unsubscribe page', () => {
  const PAIRS: [string, (keyof typeof at)[], string[]][] = [
    ['picture, then link', ['picture', 'a'], ['opened', 'clicked']],
    ['link, then picture', ['a', 'picture'], ['clicked', 'opened']],
    ['link, then page', ['a', 'page'], ['clicked']],
    ['page, then link', ['page', 'a'], ['clicked']],
    ['page, then picture', ['page', 'picture'], ['opened']],
  ];
  test.each(PAIRS)('%s: within two seconds nobody, later a person', async (_which, names, expected) => {
    const visitBoth = async (ms: number) => {
      for (const [n, name] of names.entries()) {
        if (n > 0) await pass(ms);
        await mail.follow(at[name]);
      }
    };
    await visitBoth(SCANNER_MOMENT_MS);
    expect(await counted()).toEqual([]);
    at = await newMail();
    await visitBoth(0);
    expect(await counted()).toEqual([]);
    at = await newMail();
    await visitBoth(SCANNER_MOMENT_MS + 1);
    expect(await counted()).toEqual(expected);
  });

  test('of a visit that comes again each counts for itself', async () => {
    await mail.follow(at.picture);
    await pass(5_000);
    await mail.follow(at.picture);
    await pass(1_000);
    await mail.follow(at.a);
    // The first opening was a person's.
    expect(await counted()).toEqual(['opened']);
  });

  test('of two mails are no burst', async () => {
    const other = await newMail();
    await mail.follow(at.a);
    await mail.follow(other.picture);
    expect((await counted()).toSorted()).toEqual(['clicked', 'opened']);
  });
});

describe('the invisible link', () => {
  test('leads to a page that says what it is', async () => {
    const answer = await mail.follow(at.hidden);
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Nobody sees it')]);
  });

  test('takes back what was asked for in the ten seconds before, and forbids what comes in those after', async () => {
    await mail.follow(at.a);
    await pass(3_000);
    await mail.follow(at.picture);
    await pass(SCANNER_WINDOW_MS - 3_000);
    // By a robot: it is a scanner all the same.
    await mail.follow(at.hidden, { user_agent: 'curl/8' });
    await pass(4_000);
    await mail.follow(at.picture);
    await pass(SCANNER_WINDOW_MS - 4_000);
    await mail.follow(at.a);
    expect(await counted()).toEqual([]);
  });

  test('has no say about what is further away, nor about other mails', async () => {
    const other = await newMail();
    await mail.follow(at.a);
    await pass(SCANNER_WINDOW_MS + 1);
    await mail.follow(at.hidden);
    await mail.follow(other.b);
    await pass(SCANNER_WINDOW_MS + 1);
    await mail.follow(at.picture);
    expect(await counted()).toEqual(['clicked', 'clicked', 'opened']);
  });

  test('is remembered over a restart', async () => {
    await mail.follow(at.hidden);
    await mail.app.stop();
    mail.app.clock.advance(5_000);
    const again = await startTestApp({ data_dir: mail.app.data_dir, clock: mail.app.clock });
    const { pathname } = new URL(at.a);
    await again.call('GET', pathname, { headers: { 'User-Agent': 'Mozilla/5.0 Firefox/132.0' } });
    await again.services.clicks.settle();
    mail.app.clock.advance(SCANNER_WINDOW_MS + 2);
    await again.services.clicks.settle();
    const rows = again.services.database.read.$client.query('SELECT clicked_at FROM emails').all();
    expect(rows).toEqual([{ clicked_at: null }]);
  });

  test('of a test mail is one as well, and keeps nothing', async () => {
    const { html } = (await mail.sendTest('me@example.com')).mail;
    const hidden = /\/c\/[^"]+(?=" aria-hidden="true" tabindex="-1"><\/a>)/.exec(html ?? '')?.[0] ?? '';
    expect((await mail.follow(`http://satchel.test${hidden}`)).status).toBe(200);
    await settle();
    expect(mail.rows('SELECT position FROM email_clicks')).toEqual([]);
  });
});

test('an export of what is held about an address says which address of a mail was asked for', async () => {
  for (const name of ['a', 'picture', 'hidden', 'page'] as const) await mail.follow(at[name]);
  await settle();
  const { clicks } = await heldOf(mail.app.services, mail.step().owner, 'ann@example.com');
  expect(clicks).toMatchObject(
    ['link', 'picture', 'hidden link', 'unsubscribe page'].map((what) => ({ what })),
  );
});
