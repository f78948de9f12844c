/** A mail of a sequence or broadcast in a browser: what it says there, what of it runs, and how long it is there. */
import { beforeEach, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { EMAIL_BODY_RETENTION_MS } from '../../../src/limits.ts';
import { noNote } from '../../../src/platform/database/audit-trail.ts';
import { WORDS } from '../../../src/platform/words/words.ts';
import { openChromium } from '../../support/chromium.ts';
import { actor, makeProject } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { dataOf } from '../settings/setup.ts';
import { linksOf, type MailApp, startMailApp } from './setup.ts';

setDefaultTimeout(60_000);
const HTML = `<!doctype html><html><body><p>Hi {{first_name}} of {{custom.city}}</p>
<a href="https://shop.example.com/a?x=1&amp;y=2#top">One</a>
<a href="https://shop.example.com/me?contact_token={{contact_token}}">Two</a>
<a href="{{unsubscribe_url}}">Leave</a> <a href="{{preferences_url}}">Choose</a> <a href="{{view_url}}">Read</a>
{{postal_address}}</body></html>`;
const TEXT = 'Hi {{first_name}} <b>: {{view_url}} {{unsubscribe_url}} {{postal_address}}';

let mail: MailApp;
beforeEach(async () => {
  mail = await startMailApp();
  await mail.template({ body_html: HTML, body_text: TEXT });
  await mail.contact(mail.list_id, 'ann@example.com', { first_name: 'Ann & Co', custom: { city: '<Ulm>' } });
});

const step = () => mail.step({ track_opens: true, utm: { source: 'news' } });
const viewOf = (html: string | undefined) => linksOf(html).find((link) => link.includes('/view/')) ?? '';
const leaveOf = (html: string | undefined) =>
  linksOf(html).find((link) => /\/unsubscribe\/[^#]+$/.test(link)) ?? '';
const open = (url: string, headers: Record<string, string> = {}) => mail.follow(url, { headers });
/** Sends one, and returns its link to itself. */
async function sent(email = 'ann@example.com'): Promise<string> {
  return viewOf((await mail.send(email, step())).mail.html);
}

describe('a mail in a browser', () => {
  test('is that mail for somebody who is not tracked, with the ways out that it has', async () => {
    const { mail: got } = await mail.send('ann@example.com', step());
    const url = viewOf(got.html);
    expect(url).toMatch(/^http:\/\/satchel\.test\/view\/[0-9a-z]{26}-[0-9a-f]{32}$/);
    const page = await open(url);
    const leave = leaveOf(got.html);
    expect(leave).toContain('/unsubscribe/');
    expect([page.status, page.text]).toEqual([
      200,
      HTML.replace('{{first_name}}', 'Ann &amp; Co')
        .replace('{{custom.city}}', '&lt;Ulm&gt;')
        .replace('{{contact_token}}', '')
        .replace('{{unsubscribe_url}}', leave)
        .replace('{{preferences_url}}', `${leave}#choices`)
        .replace('{{view_url}}', url)
        .replace('{{postal_address}}', 'Shop\n1 High Street'),
    ]);
    // The same to somebody whose mail was not tracked in the first place.
    await mail.call('PATCH', `/email-contacts/${mail.contactOf('ann@example.com').public_id}`, {
      tracking: 'refused',
    });
    const { mail: untracked } = await mail.send('ann@example.com', step());
    expect((await open(viewOf(untracked.html))).text.replaceAll(viewOf(untracked.html), url)).toBe(page.text);
  });

  test('is led to by no redirect, and counts nothing', async () => {
    const { id, mail: got } = await mail.send('ann@example.com', step());
    expect(got.text).toContain(viewOf(got.html));
    await open(viewOf(got.html));
    mail.app.clock.advance(3_600_000);
    await mail.app.services.clicks.settle();
    expect(mail.rows('SELECT * FROM email_clicks')).toEqual([]);
    expect(mail.rows(`SELECT opened_at, clicked_at FROM emails WHERE id = '${id}'`)).toEqual([
      { opened_at: null, clicked_at: null },
    ]);
  });

  test('is for nobody else: no index, no cache, no cookie, no referrer, no type but its own', async () => {
    const { headers } = await open(await sent());
    expect(headers.get('content-security-policy')).toBe(
      "sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none'; img-src https: http: data:; style-src 'unsafe-inline'; font-src https: data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect({
      cache: headers.get('cache-control'),
      robots: headers.get('x-robots-tag'),
      referrer: headers.get('referrer-policy'),
      sniff: headers.get('x-content-type-options'),
      type: headers.get('content-type'),
      cookie: headers.get('set-cookie'),
    }).toEqual({
      cache: 'private, no-store',
      robots: 'noindex',
      referrer: 'no-referrer',
      sniff: 'nosniff',
      type: 'text/html; charset=utf-8',
      cookie: null,
    });
  });

  test('that has no HTML is a page with its text, whose links can be followed', async () => {
    await mail.template({ body_html: null });
    const { mail: got } = await mail.send('ann@example.com', step());
    const url = /http:\S+\/view\/\S+/.exec(got.text ?? '')?.[0] ?? '';
    const page = await open(url);
    expect(page.text).toContain('<title>Hello Ann &amp; Co</title>');
    expect(page.text).toContain(
      `<pre dir="auto">Hi Ann &amp; Co &lt;b&gt;: <a href="${url}">${url}</a> <a href="http`,
    );
  });

  test('is made beside the server where it is long, so that nobody waits for it', async () => {
    const done = spyOn(mail.app.services.beside, 'do');
    const fills = () => done.mock.calls.filter(([, task]) => task.name.endsWith('fill page')).length;
    expect((await open(await sent())).status).toBe(200);
    expect(fills()).toBe(0);
    const long = `<p>${'Long. '.repeat(40_000)}</p>`;
    await mail.template({ body_html: HTML.replace('</body>', `${long}</body>`) });
    expect((await open(await sent())).text).toContain(`${long}</body></html>`);
    expect(fills()).toBe(1);
  });

  test('is as it was sent, whatever became of template, settings and contact since', async () => {
    const url = await sent();
    const { text } = await open(url);
    await mail.template({ body_html: '<p>New</p>{{unsubscribe_url}}{{postal_address}}' });
    await mail.settings({ postal_address: 'Elsewhere' });
    await mail.call('PATCH', `/email-contacts/${mail.contactOf('ann@example.com').public_id}`, {
      first_name: 'Eve',
    });
    expect((await open(url)).text).toBe(text);
  });
});

describe('404 is', () => {
  const statusOf = async (url: string) => (await open(url)).status;

  test('a mail whose content is gone: by an address that is forgotten, and after 30 days', async () => {
    const url = await sent();
    mail.app.clock.advance(EMAIL_BODY_RETENTION_MS - 1);
    expect(await statusOf(url)).toBe(200);
    mail.app.clock.advance(1);
    expect(await statusOf(url)).toBe(404);
    const other = await sent();
    expect(await statusOf(other)).toBe(200);
    await mail.app.services.privacy.forget(
      actor,
      mail.app.services.projects.require('shop'),
      'ann@example.com',
    );
    expect(await statusOf(other)).toBe(404);
  });

  test("a test's mail, other mail, and what nobody was sent, in the words of who asks", async () => {
    const { mail: test_mail, id } = await mail.sendTest('me@example.com', step());
    expect(viewOf(test_mail.html)).toContain(`/view/${id.toLowerCase()}-`);
    expect(await statusOf(viewOf(test_mail.html))).toBe(404);
    const url = await sent();
    const [base = '', mac = ''] = url.split('-');
    const other = (await sent()).split('-')[1];
    for (const wrong of [
      base,
      `${base}-`,
      `${base}-${'0'.repeat(32)}`,
      `${base}-${other}`,
      `${base}-${mac.slice(0, 16)}`,
      `${base}-${mac}0`,
      'http://satchel.test/view/test',
      `http://satchel.test/view/${mail.contactOf('ann@example.com').public_id.toLowerCase()}-${mac}`,
    ])
      expect([wrong, await statusOf(wrong)]).toEqual([wrong, 404]);
    const page = await open(`${base}-x`, { 'Accept-Language': 'de' });
    expect(page.text).toContain(WORDS.de.link.unknown_title);
    // Not of this kind, though its content is kept.
    await mail.app.services.database.write((tx) =>
      tx.$client.run(`UPDATE emails SET source = 'api' WHERE source = 'sequence'`),
    );
    expect(await statusOf(url)).toBe(404);
  });

  test("another project's token, made by its own key", async () => {
    const url = await sent();
    const stranger = await makeProject(mail.app, 'other');
    const { database, marketing, marketing_mail } = mail.app.services;
    const id = (url.split('/').at(-1) ?? '').slice(0, 26).toUpperCase();
    const token = await database.write((tx) => {
      const owner = { id: Number(stranger.id), public_id: stranger.public_id };
      marketing.keys.obtain(tx, owner, 'view', mail.app.clock.now());
      return marketing_mail.links.viewToken(tx, { id, project_id: owner.id });
    });
    expect(token).toStartWith(id.toLowerCase());
    expect(await statusOf(`http://satchel.test/view/${token}`)).toBe(404);
    expect(await statusOf(url)).toBe(200);
  });
});

describe('the first line of the layout', () => {
  test.each(['en', 'de', 'fr', 'es'] as const)(
    'leads there in the words of the list: %s',
    async (language) => {
      await mail.settings({ view_link: true });
      await mail.call('PATCH', `/email-lists/${mail.list_id}`, { language });
      await mail.template({ body_html: '<p>Body</p>', body_text: 'Body', layout: 'marketing' });
      const words = WORDS[language].mail.view;
      const { mail: got } = await mail.send('ann@example.com', { ...step(), preheader: 'Soon' });
      const url = viewOf(got.html);
      expect(linksOf(got.html)[0]).toBe(url);
      expect(got.html).toContain(`>${words}</a>`);
      expect(got.text?.replaceAll('\r\n', '\n')).toStartWith(`${words}: ${url}\n\nBody\n`);
      const page = await open(url);
      expect([page.text.includes(words), page.text.includes('/view/')]).toEqual([false, false]);
      expect(page.text).toContain('<p dir="auto">Body</p>');
      expect(page.text).toContain(WORDS[language].mail.unsubscribe);
    },
  );

  test('is there by default, not where the settings say so, and in no text page', async () => {
    await mail.template({ body_html: null, body_text: 'https://shop.example.com/a', layout: 'marketing' });
    const { mail: without } = await mail.send('ann@example.com', step());
    expect(without.text).not.toContain('/view/');
    await mail.settings({ view_link: true });
    const { mail: got } = await mail.send('ann@example.com', step());
    const [, url = ''] =
      /^Read in the browser: (\S+)\r?\n\r?\nhttp:\/\/satchel\.test\/c\//.exec(got.text ?? '') ?? [];
    const page = await open(url);
    expect(page.text).toContain(
      '<pre dir="auto">\n<a href="https://shop.example.com/a">https://shop.example.com/a</a>',
    );
    expect(page.text).not.toContain('Read in');
    const { id } = await makeProject(mail.app, 'fresh');
    expect(mail.app.services.marketing.settings(Number(id)).view_link).toBe(true);
    await mail.app.services.marketing.change(Number(id), { view_link: false }, noNote);
    expect(mail.app.services.marketing.settings(Number(id)).view_link).toBe(false);
  });

  test('stands in previews, and is no dead link of theirs, where the server runs on one’s own machine', async () => {
    mail = await startMailApp({ env: { SATCHEL_PUBLIC_URL: 'http://localhost:8420' } });
    await mail.settings({ view_link: true });
    const shown = dataOf(
      await mail.mirror('POST', '/email-templates/preview', {
        is_marketing: true,
        layout: 'marketing',
        subject: 'S',
        body_html: '<a href="{{view_url}}">Read</a>',
        body_text: 'Body',
      }),
    );
    expect(
      linksOf(String(shown.body_html)).filter((link) => link === 'http://localhost:8420/view/test'),
    ).toHaveLength(2);
    expect(shown.problems).toEqual([]);
  });
});

describe.skipIf(part('chromium') === null)('what a template says never runs', () => {
  test('no script, form, frame, base or refresh; links lead on', async () => {
    const asked: string[] = [];
    const site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked.push(new URL(request.url).pathname);
        return new Response('<title>There</title>', { headers: { 'Content-Type': 'text/html' } });
      },
    });
    const there = `http://127.0.0.1:${site.port}`;
    await mail.template({
      body_html: `<!doctype html><html><head><title>Mail</title><base href="${there}/base/">
<meta http-equiv="refresh" content="0;url=${there}/refresh"><link rel="stylesheet" href="${there}/style"></head>
<body onload="document.title='ran'"><script>document.title = 'ran'; fetch('${there}/fetch')</script><script src="${there}/script"></script>
<img src="x" onerror="document.title='ran'"><svg onload="document.title='ran'"></svg><a id="js" href="javascript:document.title='ran'">Js</a>
<iframe src="${there}/frame"></iframe><object data="${there}/object"></object><embed src="${there}/embed">
<form action="${there}/form"><button id="send">Send</button></form><img src="${there}/picture.png">
<p style="color: rgb(1, 2, 3)" id="p">Seen</p><a id="on" href="${there}/on">On</a><a href="{{view_url}}">v</a>{{unsubscribe_url}}{{postal_address}}</body></html>`,
    });
    const { pathname } = new URL(await sent());
    const browser = await openChromium();
    const page = await browser.newPage();
    await page.goto(`${mail.app.url}${pathname}`, { waitUntil: 'load' });
    const view = page.url();
    await page.click('#js');
    await page.click('#send');
    expect([await page.title(), page.url()]).toEqual(['Mail', view]);
    // Styles and pictures are as they were written.
    expect(await page.evaluate("getComputedStyle(document.querySelector('#p')).color")).toBe('rgb(1, 2, 3)');
    expect(asked).toEqual(['/picture.png']);
    await page.click('#on');
    await page.waitForURL(`${there}/on`);
    expect(asked).toEqual(['/picture.png', '/on']);
    await page.close();
    await site.stop(true);
  });
});
