/** The handbook: its pages, and the search over guides and endpoints. */
import { beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import MiniSearch from 'minisearch';
import { readGuides } from '../../../src/operation/docs/guides.ts';
import { KNOWN_AS } from '../../../src/operation/docs/known-as.ts';
import { readme } from '../../support/documents.ts';
import { startTestApp, type TestApp } from '../../support/helpers.ts';

const ROOT = join(import.meta.dir, '../../..');
const NAMES = readGuides().map(({ name }) => name);

let app: TestApp;
beforeAll(async () => {
  app = await startTestApp();
});

const ask = (path: string) => app.call('GET', path);
/** What a search found: where each leads, in order. */
async function find(words: string): Promise<string[]> {
  const { text } = await ask(`/docs/search?q=${encodeURIComponent(words)}`);
  const [, list = ''] = text.split('<ol class="found">');
  return [...list.matchAll(/<li><a href="([^"]*)"/g)].map(([, href = '']) => href);
}

describe('a guide', () => {
  test('is a page of its own, which needs no script and asks no other host for anything', async () => {
    const policy = (await ask('/docs')).headers.get('content-security-policy');
    expect(policy).not.toContain('unsafe-inline');
    for (const name of NAMES) {
      const { status, text, headers } = await ask(`/docs/guide/${name}`);
      expect([name, status, headers.get('content-type')]).toEqual([name, 200, 'text/html; charset=utf-8']);
      expect(headers.get('content-security-policy')).toBe(policy);
      expect(text.match(/<script.*?>/g)).toEqual(['<script src="/docs/docs.js" defer>']);
      expect(text.match(/(?:src|<link[^>]*href)="(?!data:|\/docs\/)[^"]*"/g)).toBe(null);
      const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? [];
      const hash = new Bun.CryptoHasher('sha256').update(style).digest('base64');
      expect(policy).toContain(`style-src 'sha256-${hash}'`);
      expect(text.match(/<h1/g)).toHaveLength(1);
      expect(text).toContain(`<a href="/docs/guide/${name}" aria-current="page">`);
    }
  });

  test('stands in the folder, in the list of each page and in the README', () => {
    const files = readdirSync(join(ROOT, 'handbook')).map((file) => file.replace(/\.md$/, ''));
    expect(files.toSorted()).toEqual(NAMES.toSorted());
    const named = [...readme().matchAll(/\(handbook\/([a-z-]+)\.md\)/g)].map(([, name]) => name);
    expect([...new Set(named)].toSorted()).toEqual(NAMES.toSorted());
  });

  test('leads to guides, sections and pages that there are', async () => {
    const ids = new Map(readGuides().map(({ name, html }) => [name, html.match(/(?<= id=")[^"]*/g) ?? []]));
    for (const { name, html } of readGuides()) {
      for (const [, href = ''] of html.matchAll(/href="([^"]*)"/g)) {
        const [, guide = name, id] = /^(?:\/docs\/guide\/([a-z-]+))?(?:#(.*))?$/.exec(href) ?? [];
        if (href.startsWith('https://')) continue;
        if (href.startsWith('/') && !href.startsWith('/docs/guide/')) {
          expect([name, href, (await ask(href)).status]).toEqual([name, href, 200]);
          continue;
        }
        expect([name, href, ids.has(guide)]).toEqual([name, href, true]);
        if (id !== undefined) expect(ids.get(guide)).toContain(id);
      }
    }
  });

  test('that there is not is 404, with those that there are; /docs/guide leads to the first', async () => {
    const { status, text } = await ask('/docs/guide/nothing');
    expect(status).toBe(404);
    expect(text).toContain('There is no such guide');
    expect(text).toContain('href="/docs/guide/mail"');
    expect((await ask('/docs/guide/__proto__')).status).toBe(404);
    const first = await ask('/docs/guide');
    expect([first.status, first.headers.get('location')]).toEqual([302, '/docs/guide/start']);
  });

  test('names its headings, and leads to the one before and the one behind it', async () => {
    const { text } = await ask('/docs/guide/mail');
    const [, headings = ''] = /<nav class="toc" aria-label="On this page">(.*?)<\/nav>/s.exec(text) ?? [];
    expect([...headings.matchAll(/href="#([^"]*)"/g)].map(([, id]) => id)).toEqual(
      [...text.matchAll(/<h[23] id="([^"]*)"/g)].map(([, id]) => id),
    );
    expect(text).toContain('<a rel="prev" href="/docs/guide/files"><small>Previous</small>Files</a>');
    expect(text).toContain('<a rel="next" href="/docs/guide/smtp"><small>Next</small>Mail by SMTP</a>');
    const ends = await Promise.all([NAMES[0], NAMES.at(-1)].map((name) => ask(`/docs/guide/${name}`)));
    expect(ends.map((end) => end.text.match(/(?<=<a rel=")\w+(?=" href="[^"]*"><small>)/g))).toEqual([
      ['next'],
      ['prev', 'next'],
    ]);
    expect(ends[1]?.text).toContain('<a rel="next" href="/docs">');
  });
});

describe('the search', () => {
  test('makes its index in pieces, between which others are answered, and keeps what was found', async () => {
    const fresh = await startTestApp();
    const look = spyOn(MiniSearch.prototype, 'search');
    try {
      let turns = 0;
      const timer = setInterval(() => turns++, 0);
      const { text } = await fresh.call('GET', '/docs/search?q=mailbox');
      clearInterval(timer);
      expect(turns).toBeGreaterThan(8);
      expect(look).toHaveBeenCalledTimes(1);
      expect((await fresh.call('GET', '/docs/search?q=mailbox')).text).toBe(text);
      expect(look).toHaveBeenCalledTimes(1);
      for (let n = 1; n <= 100; n++) await fresh.call('GET', `/docs/search?q=other${n}`);
      await fresh.call('GET', '/docs/search?q=mailbox');
      expect(look).toHaveBeenCalledTimes(102);
    } finally {
      look.mockRestore();
    }
  });

  test('finds sections of guides and endpoints, the nearest first', async () => {
    const sending = await find('send email');
    expect(sending[0]).toBe('/docs/guide/mail#send');
    expect(sending).toContain('/docs/api/emails#postEmailsSend');
    expect(await find('create a list')).toContain('/docs/api/contact-lists#postEmailLists');
    expect((await find('rate limits'))[0]).toBe('/docs/guide/limits#rate-limits');
    expect((await find('pagination'))[0]).toBe('/docs/guide/limits#pagination');
    expect((await find('errors')).slice(0, 2)).toContain('/docs/guide/limits#errors');
    expect((await find('nginx'))[0]).toBe('/docs/guide/proxies#nginx');
    expect(await find('newsletters')).toContain('/docs/guide/marketing#newsletters');
    expect(await find('broadcast')).toContain('/docs/guide/marketing#newsletters');
  });

  test('takes the beginning of a word, and one that is misspelt a little', async () => {
    expect(await find('pagin')).toContain('/docs/guide/limits#pagination');
    expect(await find('paginaton')).toContain('/docs/guide/limits#pagination');
  });

  test.each([
    ['thumbnail', 'files#images-smaller'],
    ['resize photos', 'files#images-smaller'],
    ['nightly backup', 'backups#every-night'],
    ['disaster recovery', 'backups#going-back'],
    ['rotate key', 'keys-in-pages#a-key-of-a-server'],
    ['CORS', 'keys-in-pages#a-key-for-a-page'],
    ['presigned url', 'files#links-that-end'],
    ['drip campaign', 'marketing#sequences'],
    ['double opt-in', 'marketing#sign-up-forms'],
    ['how do I send a newsletter to my customers?', 'marketing#newsletters'],
    ['split test', 'marketing#ab'],
    ['GDPR', 'marketing#suppressions-and-what-is-held-about-a-person'],
    ['csv upload', 'marketing#imports'],
    ['custom domain', 'marketing#links-under-your-own-name'],
    ['merge tags', 'mail#templates'],
    ['2fa', 'people#signing-in'],
    ['invite user', 'people#people'],
    ['roles', 'people#who-may-do-what'],
    ['.env', 'vault#environment-variables'],
    ["let's encrypt", 'proxies#without-a-proxy'],
    ['failover', 'second-machine#a-second-machine'],
    ['migrate', 'second-machine#moving-a-project'],
    ['docker image', 'container'],
    ['dokploy', 'container#dokploy'],
    ['monitoring', 'configuration#metrics'],
  ])('knows %s by that name', async (words, section) => {
    expect((await find(words))[0]).toBe(`/docs/guide/${section}`);
  });

  test('knows other names of sections that there are alone', () => {
    const sections = readGuides().flatMap(({ name, sections }) =>
      sections.map(({ id }) => (id === '' ? name : `${name}#${id}`)),
    );
    expect(Object.keys(KNOWN_AS).filter((place) => !sections.includes(place))).toEqual([]);
  });

  test('shows what has some of the words where nothing has all, and says so', async () => {
    const { text } = await ask('/docs/search?q=zebrafish+backup');
    expect(text).toContain('Nothing has all of these words.');
    expect((await find('zebrafish backup'))[0]).toBe('/docs/guide/backups');
    expect((await ask('/docs/search?q=backup')).text).not.toContain('Nothing has');
  });

  test('finds what has all of the words', async () => {
    const both = await find('backup master key');
    expect(both.length).toBeGreaterThan(0);
    expect(both.length).toBeLessThan((await find('backup')).length);
  });

  test('says so where there is nothing, and asks for words where there are none', async () => {
    expect((await ask('/docs/search?q=zebrafish')).text).toContain('Nothing in the guides');
    expect((await ask('/docs/search')).text).toContain('Type what you look for');
    expect((await ask('/docs/search?q=%20')).text).toContain('Type what you look for');
  });

  test('shows what was typed as text, and reads no more than 200 characters of it', async () => {
    const { text } = await ask(`/docs/search?q=${encodeURIComponent('"><script>alert(1)</script>')}`);
    expect(text).not.toContain('<script>');
    expect(text).toContain('&lt;script&gt;');
    const long = await ask(`/docs/search?q=${'a'.repeat(5000)}`);
    expect(long.status).toBe(200);
    expect(long.text).not.toContain('a'.repeat(201));
  });

  test('looks for the first ten words, each once', async () => {
    const ten = 'mail mail mail b c d e f g h j k';
    const isAll = async (words: string) =>
      !(await ask(`/docs/search?q=${encodeURIComponent(words)}`)).text.includes('Nothing has all');
    expect(await isAll(`${ten} zebrafish`)).toBe(true);
    expect(await isAll(`${ten.slice(0, -2)} zebrafish`)).toBe(false);
  });
});
