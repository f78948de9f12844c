/** Events as Mailgun's clients ask for them: pages that never change, whoever writes meanwhile. */
import { beforeAll, describe, expect, test } from 'bun:test';
import Ghosts from 'mailgun.js-ghost';
import { pageOf, readQuestion } from '../../../src/marketing/mailgun/pages.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { bulkFor, clientOf, DOMAIN, FROM, type Item, type MailgunApp, startMailgunApp } from './setup.ts';

let on: MailgunApp;
beforeAll(async () => {
  on = await startMailgunApp();
  const to = Array.from({ length: 8 }, (_, n) => `r${n}@example.org`);
  await on.post(bulkFor(to, { 'o:tag': ['ghost-email', 'bulk-email'], 'v:email-id': '62' }));
  await on.pass();
  on.app.clock.advance(60_000);
  await on.post({ from: FROM, to: 'one@example.org', subject: 'One', text: 'Hi', 'o:tag': 'bulk-email' });
  await on.pass();
});

const told = (items: readonly Item[]) => items.map(({ event, recipient }) => `${event} ${recipient}`);
const write = () => on.post(bulkFor(['new1@example.org', 'new2@example.org'], { 'o:tag': 'new' }));

/** All that a question and its next pages hold, with the address of each page. */
async function walk(query: string, way: 'next' | 'previous' = 'next', first = `/${DOMAIN}/events?${query}`) {
  const pages: { path: string; items: Item[] }[] = [];
  for (let path = first; ; ) {
    const { body } = await on.ask('GET', path);
    const items = body.items as Item[];
    if (items.length === 0) return { pages, empty: path, items: pages.flatMap((page) => page.items) };
    pages.push({ path, items });
    path = String((body.paging as Record<string, string>)[way]).replace('http://satchel.test/v3', '');
  }
}

describe('a question', () => {
  test('is answered oldest first with begin, newest first without', async () => {
    const up = await on.events('begin=0');
    const down = await on.events('');
    expect(up).toHaveLength(18);
    expect(down).toEqual(up.toReversed());
    expect(await on.events('ascending=yes')).toEqual(up);
    expect(await on.events('begin=0&ascending=no')).toEqual(down);
    for (const [n, { timestamp }] of up.entries())
      expect(timestamp).toBeGreaterThan(up[n - 1]?.timestamp ?? 0);
    expect(up[0]).toEqual({
      ...{ id: expect.any(String), event: 'accepted', timestamp: expect.any(Number), 'log-level': 'info' },
      ...{
        recipient: 'r0@example.org',
        tags: ['ghost-email', 'bulk-email'],
        'user-variables': { 'email-id': '62' },
      },
      message: {
        headers: {
          'message-id': expect.stringMatching(/^[0-9a-z]{26}@news\.example\.com$/),
          from: FROM,
          to: 'r0@example.org',
          subject: expect.stringContaining('Hello'),
        },
      },
    } as unknown as Item);
    expect(new Set(up.map(({ id }) => id)).size).toBe(18);
  });

  test('asks for times, events, tags, a recipient and a Message-ID', async () => {
    const all = await on.events('begin=0');
    const ninth = all[8]?.timestamp ?? 0;
    const last = all.at(-1)?.timestamp ?? 0;
    expect(await on.events(`begin=${ninth}`)).toEqual(all.slice(8));
    expect(await on.events(`begin=0&end=${ninth}`)).toEqual(all.slice(0, 9));
    expect(await on.events(`begin=${last}&end=${ninth}`)).toEqual(all.slice(8).reverse());
    expect(
      await on.events(`begin=${encodeURIComponent(new Date(last * 1_000 - 30_000).toUTCString())}`),
    ).toEqual(all.slice(-2));
    expect(told(await on.events('begin=0&event=delivered&recipient=R1@example.org'))).toEqual([
      'delivered r1@example.org',
    ]);
    expect(await on.events('begin=0&event=accepted%20OR%20delivered')).toEqual(all);
    expect(await on.events('begin=0&tags=ghost-email%20AND%20bulk-email')).toHaveLength(16);
    expect(await on.events('begin=0&tags=bulk-email')).toHaveLength(18);
    const id = all.at(-1)?.message.headers['message-id'];
    expect(told(await on.events(`begin=0&message-id=${id}`))).toEqual([
      'accepted one@example.org',
      'delivered one@example.org',
    ]);
    for (const query of [
      'begin=soon',
      'limit=301',
      'limit=0',
      'event=lost',
      'ascending=perhaps',
      `recipient=${'x'.repeat(501)}`,
    ]) {
      const refused = await on.ask('GET', `/${DOMAIN}/events?${query}`);
      expect([query, refused.status, Object.keys(refused.body)]).toEqual([query, 400, ['message']]);
    }
  });

  test('is asked by both clients, page after page, as they are', async () => {
    for (const Client of [undefined, Ghosts as never]) {
      const { events } = clientOf(on.app.url, on.mailgun_key, Client);
      const query = {
        limit: 7,
        event: 'accepted OR delivered',
        tags: 'ghost-email AND bulk-email',
        begin: 0.5,
        end: 4_000_000_000.25,
        ascending: 'yes',
      } as const;
      const seen: string[] = [];
      let page = await events.get(DOMAIN, query as never);
      for (
        ;
        page.items.length > 0;
        page = await events.get(DOMAIN, { ...query, page: page.pages.next.page } as never)
      )
        seen.push(...page.items.map(({ recipient = '', event }) => `${event} ${recipient}`));
      expect(seen).toHaveLength(16);
      expect(new Set(seen).size).toBe(16);
    }
  });

  test('needs read, of the own project and domain', async () => {
    const mailer = await on.project.key({ can_send_emails: true });
    expect((await on.ask('GET', `/${DOMAIN}/events`, mailer)).status).toBe(403);
    const other = await makeProject(on.app, 'other');
    const key = await other.key({ can_read: true });
    expect((await on.ask('GET', `/${DOMAIN}/events?begin=0`, key)).body.items).toEqual([]);
    expect((await on.ask('GET', '/other.example/events')).status).toBe(404);
    // One that there is, of which the project is not.
    const { sending_domains, projects } = on.app.services;
    await sending_domains.add(actor, { name: 'spare.example.com', is_trusted: true });
    expect((await on.ask('GET', '/spare.example.com/events')).status).toBe(200);
    await projects.update(actor, projects.require('shop'), { sending_domains: [DOMAIN] });
    for (const path of [
      '/spare.example.com/events',
      `/spare.example.com/events/${pageOf(readQuestion({}, 0))}`,
    ])
      expect([path, (await on.ask('GET', path)).status]).toEqual([path, 404]);
    expect((await on.ask('DELETE', '/spare.example.com/bounces/ada%40example.org')).status).toBe(404);
    expect((await on.post({}, { path: '/spare.example.com/messages' })).status).toBe(404);
  });
});

describe('a page', () => {
  test('stays as it was while others write, and each event is on one', async () => {
    const { pages, empty } = await walk('begin=0&limit=5');
    await write();
    await on.pass();
    for (const { path, items } of pages.filter((page) => page.items.length === 5))
      expect((await on.ask('GET', path)).body.items).toEqual(items);
    const late = await walk('', 'next', empty);
    expect(told(late.items).sort()).toEqual([
      'accepted new1@example.org',
      'accepted new2@example.org',
      'delivered new1@example.org',
      'delivered new2@example.org',
    ]);
    const { items } = await walk('begin=0&limit=5');
    expect(items).toEqual(await on.events('begin=0&limit=300'));
  });

  test('is walked both ways', async () => {
    for (const query of ['begin=0&limit=5', 'limit=5']) {
      const there = await walk(query);
      const { body } = await on.ask('GET', there.empty);
      const back = await walk(
        '',
        'previous',
        String((body.paging as Record<string, string>).previous).replace('http://satchel.test/v3', ''),
      );
      expect(
        back.pages
          .map((page) => page.items)
          .reverse()
          .flat(),
      ).toEqual(there.items);
      const { first, last } = body.paging as Record<string, string>;
      expect((await on.ask('GET', (first ?? '').replace('http://satchel.test/v3', ''))).body.items).toEqual(
        there.pages[0]?.items,
      );
      expect((await on.ask('GET', (last ?? '').replace('http://satchel.test/v3', ''))).body.items).toEqual(
        there.items.slice(-5),
      );
    }
  });

  test('of the newest first has nothing that came since', async () => {
    const { body } = await on.ask('GET', `/${DOMAIN}/events?limit=3`);
    await write();
    const first = String((body.paging as Record<string, string>).first).replace('http://satchel.test/v3', '');
    expect((await on.ask('GET', first)).body.items).toEqual(body.items);
  });

  test('says by its address alone what is asked for', async () => {
    const { body } = await on.ask('GET', `/${DOMAIN}/events?begin=0&limit=2&event=accepted`);
    const next = String((body.paging as Record<string, string>).next).replace('http://satchel.test/v3', '');
    const plain = (await on.ask('GET', next)).body.items;
    expect((await on.ask('GET', `${next}?limit=300&event=failed&begin=9`)).body.items).toEqual(plain);
    for (const page of [
      'x',
      '%00',
      pageOf({ ...readQuestion({}, 0), limit: 100_000 }),
      Buffer.from('{"after":"1"}').toString('base64url'),
    ])
      expect((await on.ask('GET', `/${DOMAIN}/events/${page}`)).status).toBe(404);
  });
});

test('writers at the same time, and a clock that is set back, make each event later than all before it', async () => {
  const before = (await on.events('begin=0&limit=300')).length;
  const reading = (async () => {
    const seen: Item[] = [];
    let path = `/${DOMAIN}/events?begin=0&limit=7`;
    for (let empty = 0; empty < 20; ) {
      const { body } = await on.ask('GET', path);
      const items = body.items as Item[];
      // A page that is not full takes what comes next: the reader goes on behind what it has.
      seen.push(...items);
      empty = items.length === 0 ? empty + 1 : 0;
      path = String((body.paging as Record<string, string>).next).replace('http://satchel.test/v3', '');
      await Bun.sleep(1);
    }
    return seen;
  })();
  await Promise.all(
    Array.from({ length: 20 }, async (_, n) => {
      if (n === 10) on.app.clock.advance(-3_600_000);
      const answer = await on.post(
        bulkFor(Array.from({ length: 5 }, (_one, at) => `w${n}-${at}@example.org`)),
      );
      expect(answer.status).toBe(200);
    }),
  );
  await on.pass();
  const seen = await reading;
  const { items } = await walk('begin=0&limit=300');
  for (const [n, { timestamp }] of items.entries())
    expect(timestamp).toBeGreaterThan(items[n - 1]?.timestamp ?? 0);
  expect(items.length).toBeGreaterThanOrEqual(before + 200);
  const ids = new Set(seen.map(({ id }) => id));
  expect(ids.size).toBe(seen.length);
  expect(seen.map(({ id }) => id)).toEqual(items.slice(0, seen.length).map(({ id }) => id));
});
