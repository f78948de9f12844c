/** The archive of a list: which broadcasts are in it, what its page, its feed and each of them say, and who gets 404. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { SaxesParser } from 'saxes';
import { WORDS } from '../../../src/platform/words/words.ts';
import { actor } from '../../support/helpers.ts';
import { type BroadcastApp, dataOf, startBroadcastApp } from './setup.ts';

const DAY_MS = 86_400_000;
const PUBLIC_URL = 'http://satchel.test';
let on: BroadcastApp;
beforeAll(async () => {
  on = await startBroadcastApp();
  await on.template('first', {
    body_html: '<p>Hi {{first_name}}, <a href="https://shop.example.com/a">look</a></p>',
  });
});

const get = (path: string, headers: Record<string, string> = {}) => on.app.call('GET', path, { headers });
const at = (list: string, rest = '') => `/archive/${list}${rest}`;
/** A list with an archive and one contact. */
async function archived(fields: Record<string, unknown> = {}): Promise<string> {
  const list = await on.list({ archive: true, ...fields });
  await on.contact(list, 'ann@example.com', { first_name: 'Ann' });
  return list;
}
/** Sends one; returns its id. */
async function sent(list: string, fields: Record<string, unknown> = {}): Promise<string> {
  const id = await on.broadcast(list, fields);
  await on.send(id);
  return id;
}
const inArchive = async (id: string) => (await on.show(id)).in_archive;
const patch = (id: string, body: unknown) => on.call('PATCH', `/email-broadcasts/${id}`, body);
const titles = (text: string) =>
  [...text.matchAll(/<p dir="auto"><a href="[^"]*">([^<]*)<\/a>/g)].map(([, title]) => title);
const warnings = async (id: string) => {
  const check = dataOf(await on.call('GET', `/email-broadcasts/${id}/check`));
  return (check.warnings as { code: string; message: string }[]).filter(({ code }) => code !== 'ab_small');
};

interface Entry {
  [name: string]: string;
}
/** The feed as XML has it; throws where it is none. */
function parseFeed(text: string): { feed: Entry; entries: Entry[] } {
  const parser = new SaxesParser();
  const feed: Entry = {};
  const entries: Entry[] = [];
  let name = '';
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag) => {
    name = tag.name;
    const of = entries.at(-1) ?? feed;
    if (name === 'entry') entries.push({});
    if (name === 'feed') feed.language = tag.attributes['xml:lang'] ?? '';
    if (name === 'link') of[`link ${tag.attributes.rel ?? ''}`.trim()] = tag.attributes.href ?? '';
  });
  parser.on('closetag', () => {
    name = '';
  });
  parser.on('text', (text) => {
    const of = entries.at(-1) ?? feed;
    if (text.trim() !== '') of[name] = (of[name] ?? '') + text;
  });
  parser.write(text).close();
  return { feed, entries };
}

describe('in_archive', () => {
  test('is fixed when sending begins: true where the list has its archive then, and is meant as a whole', async () => {
    const list = await archived();
    const id = await on.broadcast(list);
    expect(await inArchive(id)).toBeNull();
    await on.send(id);
    expect(await inArchive(id)).toBe(true);
    expect(await inArchive(await sent(list, { filter: { tags_none: ['x'] } }))).toBe(false);
    const segment = dataOf(
      await on.call('POST', '/email-segments', { name: 'S', list, filter: { tags_none: ['x'] } }),
      201,
    );
    expect(await inArchive(await sent(list, { segment: segment.id }))).toBe(false);
    const bare = await on.list();
    await on.contact(bare, 'ann@example.com');
    const before = await sent(bare);
    expect(await inArchive(before)).toBe(false);
    await on.call('PATCH', `/email-lists/${bare}`, { archive: true });
    expect(titles((await get(at(bare))).text)).toEqual([]);
    // What has its archive later stays in it.
    await on.call('PATCH', `/email-lists/${list}`, { archive: false });
    expect(await inArchive(id)).toBe(true);
  });

  test('is what a PATCH says, before and after, in any status; this field alone', async () => {
    const list = await archived();
    const kept_out = await on.broadcast(list, { in_archive: false });
    await on.send(kept_out);
    expect(await inArchive(kept_out)).toBe(false);
    const let_in = await on.broadcast(list, { filter: { tags_none: ['x'] } });
    expect(dataOf(await patch(let_in, { in_archive: true })).in_archive).toBe(true);
    expect(dataOf(await patch(let_in, { in_archive: null })).in_archive).toBeNull();
    await patch(let_in, { in_archive: true });
    await on.send(let_in);
    expect(await inArchive(let_in)).toBe(true);
    expect(titles((await get(at(list))).text)).toEqual(['news for there']);
    for (const [value, count] of [
      [false, 0],
      [true, 1],
    ] as const) {
      expect(dataOf(await patch(let_in, { in_archive: value })).in_archive).toBe(value);
      expect(titles((await get(at(list))).text)).toHaveLength(count);
      expect((await get(at(list, `/${let_in}`))).status).toBe(value ? 200 : 404);
    }
    expect((await patch(let_in, { in_archive: true, name: 'Other' })).status).toBe(409);
    const undone = await patch(let_in, { in_archive: null });
    expect([undone.status, undone.body.errors]).toEqual([
      422,
      { in_archive: ['must be true or false once sending began'] },
    ]);
    const cancelled = await on.broadcast(list);
    dataOf(await on.post(cancelled, 'send', { send_at: '2031-01-01T00:00:00Z' }), 202);
    dataOf(await on.post(cancelled, 'cancel'));
    expect(dataOf(await patch(cancelled, { in_archive: true })).in_archive).toBe(true);
    expect((await get(at(list, `/${cancelled}`))).status).toBe(404);
    const copy = dataOf(await on.post(let_in, 'copy'), 201);
    expect(copy.in_archive).toBeNull();
  });

  test('is never true of what a test key sent, whatever was said before or is said after', async () => {
    const list = await archived();
    const key = await on.project.key({
      can_read: true,
      can_write: true,
      can_manage_email_marketing: true,
      is_test: true,
    });
    const id = await on.broadcast(list, { in_archive: true });
    expect((await on.app.call('POST', `/api/v1/email-broadcasts/${id}/send`, { key, body: {} })).status).toBe(
      202,
    );
    await on.pass();
    expect(await on.show(id)).toMatchObject({ status: 'sent', is_test: true, in_archive: false });
    const refused = await patch(id, { in_archive: true });
    expect([refused.status, Object.keys(refused.body.errors as object)]).toEqual([422, ['in_archive']]);
    expect((await get(at(list, `/${id}`))).status).toBe(404);
    expect(titles((await get(at(list))).text)).toEqual([]);
  });
});

describe('the page', () => {
  test('has 25 broadcasts on two pages, newest first, by title and day', async () => {
    const list = await archived({ name: 'Letters & more' });
    for (let n = 1; n <= 25; n += 1) {
      await on.template(`n${n}`, { subject: `No. ${n}` });
      await sent(list, { template: `n${n}` });
      on.app.clock.advance(DAY_MS);
      if (n === 20) expect((await get(at(list))).text).not.toContain('rel="next"');
    }
    const first = await get(at(list));
    expect(first.status).toBe(200);
    const all = Array.from({ length: 25 }, (_, n) => `No. ${25 - n}`);
    expect(titles(first.text)).toEqual(all.slice(0, 20));
    expect(first.text).toContain('<h1>Past issues of Letters &amp; more</h1>');
    expect(first.text).toContain('<a rel="next" href="?page=2">Older</a>');
    expect(first.text).not.toContain('rel="prev"');
    const second = await get(`${at(list)}?page=2`);
    expect(titles(second.text)).toEqual(all.slice(20));
    expect(second.text).toContain('<a rel="prev" href="?page=1">Newer</a>');
    expect(second.text).not.toContain('rel="next"');
    expect(second.text).toMatch(/<time datetime="2030-01-15T12:00:00.000Z">January 15, 2030<\/time>/);
    for (const page of ['3', '0', '-1', 'x', '1.5', ''])
      expect([page, (await get(`${at(list)}?page=${page}`)).status]).toEqual([page, 404]);
    const { entries } = parseFeed((await get(at(list, '/feed.xml'))).text);
    expect(entries.map(({ title }) => title)).toEqual(all.slice(0, 20));
  });

  test("is in the project's look and its day, and the list's language, else its reader's", async () => {
    await on.call('PATCH', '/email-marketing/settings', {
      brand_name: 'Shop & Söhne',
      brand_color: '#ffee00',
      brand_logo_url: 'https://cdn.example.com/logo.png',
      timezone: 'Pacific/Auckland',
    });
    for (const language of ['en', 'de', 'fr', 'es'] as const) {
      const list = await archived({ language, name: 'News' });
      const words = WORDS[language].archive;
      expect((await get(at(list))).text).toContain(`<p>${Bun.escapeHTML(words.none)}</p>`);
      await sent(list);
      const page = await get(at(list), { 'Accept-Language': language === 'de' ? 'fr' : 'de' });
      expect(page.text).toContain(`<html lang="${language}">`);
      expect(page.text).toContain(`<h1>${Bun.escapeHTML(words.title({ list: 'News' }))}</h1>`);
      expect(page.text).toContain(`>${words.feed}</a>`);
      const local = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'Pacific/Auckland' });
      expect(page.text).toContain(local.format(on.app.clock.now()));
      expect(page.text).toContain('<img src="https://cdn.example.com/logo.png" alt="Shop &amp; Söhne">');
      expect(page.headers.get('vary') ?? '').not.toContain('Accept-Language');
      expect(parseFeed((await get(at(list, '/feed.xml'))).text).feed.language).toBe(language);
    }
    const open = await archived({ name: 'News' });
    const german = await get(at(open), { 'Accept-Language': 'de' });
    expect(german.text).toContain('<html lang="de">');
    expect(german.headers.get('vary')).toContain('Accept-Language');
    await on.call('PATCH', '/email-marketing/settings', {
      timezone: 'UTC',
      brand_name: null,
      brand_logo_url: null,
    });
  });

  test('may be found, is asked for anew each time, has a feed that readers find, and leads to the sign-up page', async () => {
    const list = await archived();
    const page = await get(at(list));
    expect(page.headers.get('x-robots-tag')).toBeNull();
    expect(page.headers.get('cache-control')).toBe('no-cache');
    expect(page.headers.get('set-cookie')).toBeNull();
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(page.text).toContain(
      `<link rel="alternate" type="application/atom+xml" title="News" href="${PUBLIC_URL}/archive/${list}/feed.xml">`,
    );
    expect(page.text).not.toContain('/join/');
  });

  test('has an ETag, as each broadcast and the feed have', async () => {
    const list = await archived();
    const id = await sent(list);
    for (const path of [at(list), at(list, '/feed.xml'), at(list, `/${id}`)]) {
      const { headers } = await get(path);
      const etag = headers.get('etag') ?? '';
      expect([path, etag]).toEqual([path, expect.stringMatching(/^W\/"[\w-]{22}"$/)]);
      const again = await get(path, { 'If-None-Match': `"other", ${etag}` });
      expect([again.status, again.text, again.headers.get('etag')]).toEqual([304, '', etag]);
      expect((await get(path, { 'If-None-Match': '"other"' })).status).toBe(200);
    }
    const { headers } = await get(at(list));
    await sent(list);
    expect((await get(at(list), { 'If-None-Match': headers.get('etag') ?? '' })).status).toBe(200);
  });
});

describe('one of them', () => {
  test('is rendered for nobody: links as written, nothing that counts, the first name by its fallback', async () => {
    const list = await archived({ token_hosts: ['shop.example.com'] });
    const id = await sent(list, {
      template: 'first',
      track_opens: true,
      utm: { source: 'news' },
      variables: { default_first_name: 'friend' },
    });
    const page = await get(at(list, `/${id.toLowerCase()}`));
    expect(page.status).toBe(200);
    expect(page.text).toContain('Hi friend, <a href="https://shop.example.com/a">look</a>');
    for (const trace of [
      '/c/',
      '/o/',
      'utm_',
      'contact_token',
      'Ann',
      'ann@',
      '/unsubscribe/',
      'Read in the browser',
    ])
      expect([trace, page.text.includes(trace)]).toEqual([trace, false]);
    // The way out is the archive where nobody signs up.
    expect(page.text).toContain(
      `<a href="${PUBLIC_URL}/archive/${list}" style="color:#5f5f66">Unsubscribe</a>`,
    );
  });

  test('leads to the sign-up page where it says how to leave, and to itself where it says where it is', async () => {
    await on.template('confirm', {
      is_marketing: false,
      layout: null,
      category: 'opt_in',
      body_text: '{{confirm_url}}',
      body_html: null,
      subject: 'Confirm',
    });
    const list = await archived({
      double_opt_in: true,
      confirmation_template: 'confirm',
      sign_up_page: true,
    });
    await on.template('own', {
      layout: null,
      body_html:
        '<a href="{{unsubscribe_url}}">out</a><a href="{{preferences_url}}">choose</a><a href="{{view_url}}">view</a>{{postal_address}}',
      body_text: '{{unsubscribe_url}} {{postal_address}}',
    });
    const id = await sent(list, { template: 'own' });
    const join = `${PUBLIC_URL}/join/${list}`;
    expect((await get(at(list, `/${id}`))).text).toBe(
      `<a href="${join}">out</a><a href="${join}">choose</a><a href="${PUBLIC_URL}/archive/${list}/${id}">view</a>1 High Street, Springfield`,
    );
    expect((await get(at(list))).text).toContain(`<a href="${join}">Sign up for News</a>`);
  });

  test('is the winner of an A/B, once it is decided', async () => {
    const list = await archived();
    for (let n = 0; n < 9; n += 1) await on.contact(list, `n${n}@example.com`);
    const ab = {
      variants: [
        { name: 'A', subject: 'The first', preheader: 'One' },
        { name: 'B', subject: 'The second', preheader: 'Two' },
      ],
      share: 40,
      decide_by: 'manual',
    };
    const id = await sent(list, { ab });
    expect((await on.show(id)).status).toBe('testing');
    expect((await get(at(list, `/${id}`))).status).toBe(404);
    dataOf(await on.post(id, 'decide', { variant: 'B' }));
    await on.pass();
    expect((await on.show(id)).status).toBe('sent');
    expect(titles((await get(at(list))).text)).toEqual(['The second']);
    const page = await get(at(list, `/${id}`));
    expect([page.text.includes('>Two&#847;'), page.text.includes('>One')]).toEqual([true, false]);
    const { entries } = parseFeed((await get(at(list, '/feed.xml'))).text);
    expect(entries[0]).toMatchObject({ title: 'The second', summary: 'Two' });
  });

  const LACKING = ['email', 'last_name', 'contact_token', 'custom.plan'] as const;
  test.each(LACKING)('is left out where it says {{%s}}, of which check warns', async (name) => {
    const list = await archived({ token_hosts: ['shop.example.com'] });
    await on.contact(list, 'bob@example.com', { last_name: 'Bean', custom: { plan: 'pro' } });
    const slug = `lacks-${name.replace(/\W/g, '-')}`;
    await on.template(slug, { body_text: `See {{${name}}}` });
    const id = await on.broadcast(list, { template: slug });
    expect(await warnings(id)).toEqual([
      { code: 'archive_no_value', message: expect.stringContaining(`{{${name}}} has no value`) },
    ]);
    expect(await warnings(await on.broadcast(list, { template: slug, in_archive: false }))).toEqual([]);
    const empty = await on.list({ archive: true });
    expect(await warnings(await on.broadcast(empty, { template: slug }))).toHaveLength(1);
    await on.send(id);
    expect(await on.show(id)).toMatchObject({ status: 'sent', in_archive: true });
    expect((await warnings(id)).map(({ code }) => code)).toEqual(['archive_no_value']);
    expect(titles((await get(at(list))).text)).toEqual([]);
    expect((await get(at(list, `/${id}`))).status).toBe(404);
    expect(parseFeed((await get(at(list, '/feed.xml'))).text).entries).toEqual([]);
  });

  test('is not left out where it may go without that value', async () => {
    const list = await archived();
    await on.template('without', {
      body_text: 'Dear {{last_name}}!',
      body_html: null,
      variables: [{ name: 'last_name', required: false }],
    });
    const id = await on.broadcast(list, { template: 'without' });
    expect(await warnings(id)).toEqual([]);
    await on.send(id);
    const page = await get(at(list, `/${id}`));
    expect(page.text).toContain('Dear !');
    expect(page.text).toContain('<title>without for there</title>');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  });

  test('has headers by which nothing of it runs or tells where it is read', async () => {
    const list = await archived();
    const { headers } = await get(at(list, `/${await sent(list)}`));
    expect(headers.get('content-security-policy')).toStartWith(
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';",
    );
    expect([
      headers.get('referrer-policy'),
      headers.get('x-content-type-options'),
      headers.get('set-cookie'),
    ]).toEqual(['no-referrer', 'nosniff', null]);
    expect([headers.get('cache-control'), headers.get('x-robots-tag')]).toEqual(['no-cache', null]);
  });
});

describe('the feed', () => {
  test('is XML whatever a subject, a preheader, a name or a brand says', async () => {
    const hostile = `<![CDATA[ ]]> & "x" 'y' &amp; <script>`;
    await on.call('PATCH', '/email-marketing/settings', { brand_name: hostile });
    const list = await archived({ name: hostile });
    await on.template('hostile', { subject: hostile });
    const id = await sent(list, {
      template: 'hostile',
      preheader: `\u{1F600}\uFFFE ${hostile} {{first_name}}`,
    });
    const answer = await get(at(list, '/feed.xml'));
    expect(answer.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    const { feed, entries } = parseFeed(answer.text);
    expect(feed).toMatchObject({
      title: hostile,
      name: hostile,
      updated: entries[0]?.updated,
      'link self': `${PUBLIC_URL}/archive/${list}/feed.xml`,
      link: `${PUBLIC_URL}/archive/${list}`,
    });
    expect(entries).toEqual([
      {
        id: `urn:ulid:${id}`,
        title: hostile,
        link: `${PUBLIC_URL}/archive/${list}/${id}`,
        published: new Date(on.app.clock.now()).toISOString(),
        updated: new Date(on.app.clock.now()).toISOString(),
        summary: `\u{1F600} ${hostile} there`,
      },
    ]);
    expect(titles((await get(at(list))).text)).toEqual([Bun.escapeHTML(hostile)]);
    await on.call('PATCH', '/email-marketing/settings', { brand_name: null });
  });

  test('of nothing is one as well, and an entry without preheader has no summary', async () => {
    const list = await archived();
    const empty = parseFeed((await get(at(list, '/feed.xml'))).text);
    expect([empty.feed.updated, empty.entries]).toEqual([expect.stringMatching(/Z$/), []]);
    await sent(list);
    expect(parseFeed((await get(at(list, '/feed.xml'))).text).entries[0]?.summary).toBeUndefined();
  });
});

describe('404 is what anybody gets', () => {
  const all = (list: string, id: string) =>
    Promise.all(
      [at(list), at(list, '/feed.xml'), at(list, `/${id}`)].map(async (path) => (await get(path)).status),
    );

  test('of a list without an archive, an archived one and an inactive project, each as long as it is so', async () => {
    const list = await archived();
    const id = await sent(list);
    expect(await all(list, id)).toEqual([200, 200, 200]);
    for (const field of ['archive', 'archived'] as const) {
      const off = field === 'archived';
      await on.call('PATCH', `/email-lists/${list}`, { [field]: off });
      expect([field, await all(list, id)]).toEqual([field, [404, 404, 404]]);
      await on.call('PATCH', `/email-lists/${list}`, { [field]: !off });
    }
    const { projects } = on.app.services;
    const setStatus = (status: 'active' | 'inactive') =>
      projects.update(actor, projects.require('shop'), { status });
    await setStatus('inactive');
    expect(await all(list, id)).toEqual([404, 404, 404]);
    await setStatus('active');
    expect(await all(list, id)).toEqual([200, 200, 200]);
  });

  test("of what is unsent, another list's, another project's, or no id", async () => {
    const list = await archived();
    const other = await archived();
    const theirs = await sent(other);
    const draft = await on.broadcast(list, { in_archive: true });
    for (const id of [theirs, draft, list, 'feed', "x'--", '%00'])
      expect([id, (await get(at(list, `/${id}`))).status]).toEqual([id, 404]);
    for (const token of ['none', theirs, list.slice(1)]) expect((await get(at(token))).status).toBe(404);
    const page = await get(at('none'), { 'Accept-Language': 'de' });
    expect(page.text).toContain(WORDS.de.refusals.not_found.text);
  });
});
