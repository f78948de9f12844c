/** Links of marketing mail: where they lead, who counts as a person, and what a click does. */

import { Database as Sqlite } from 'bun:sqlite';
import { beforeEach, describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCANNER_WINDOW_MS } from '../../../src/limits.ts';
import { CLICK_FLUSH_MS } from '../../../src/marketing/mails/clicks.ts';
import type { Reading } from '../../../src/marketing/mails/service.ts';
import { heldOf } from '../../support/addresses.ts';
import { startTestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { rowsOf } from '../settings/setup.ts';
import { BROWSER, linksOf, type MailApp, startMailApp } from './setup.ts';

let mail: MailApp;
let told: Reading[];

beforeEach(async () => {
  mail = await startMailApp();
  told = [];
  mail.app.services.clicks.listen((_tx, reading) => told.push(reading));
  await mail.template({
    subject: 'Hi',
    body_html: LINKS,
    body_text:
      'See https://other.example/text, or https://shop.example.com/a?x=1&y=2 (https://other.example/(b)).',
    layout: 'marketing',
  });
  await mail.contact(mail.list_id, 'ann@example.com', {
    first_name: 'Ann',
    custom: { sku: 'A 1', page: 'https://own.example/p' },
  });
});

const LINKS = `<p><a href="https://shop.example.com/a?x=1&amp;y=2">1</a>
<a class=b href='https://other.example/{{custom.sku}}?m={{email}}'>2</a>
<a href="{{custom.page}}">3</a>
<a href="mailto:x@example.com">4</a><a href="tel:+1">5</a><a href="#top">6</a>
<a href="https://shop.example.com/a?x=1&amp;y=2">7</a><a name="n">8</a></p>`;

/** Lets the time pass after which a click can be no part of a burst. */
async function pass(ms = SCANNER_WINDOW_MS + 2): Promise<void> {
  await mail.app.services.clicks.settle();
  mail.app.clock.advance(ms);
  await mail.app.services.clicks.settle();
}

const flags = () => mail.rows('SELECT flag FROM email_clicks ORDER BY id').map(({ flag }) => flag);
const clickedAt = () => mail.rows('SELECT clicked_at FROM emails')[0]?.clicked_at;
/** The flags of a mail's clicks, and when it was clicked. */
const ofMail = (id: string): unknown[] => [
  mail.rows(`SELECT flag FROM email_clicks WHERE email_id = '${id}' ORDER BY id`).map(({ flag }) => flag),
  mail.rows(`SELECT clicked_at FROM emails WHERE id = '${id}'`)[0]?.clicked_at,
];
/** A data directory such as a kill at this moment leaves. */
function killed(): string {
  const [from, to] = [mail.app.data_dir, makeTempDir()];
  for (const name of readdirSync(from))
    if (/^(master|clicks)/.test(name)) copyFileSync(join(from, name), join(to, name));
  const db = new Sqlite(join(from, 'satchel.db'), { readonly: true });
  db.run(`VACUUM INTO '${join(to, 'satchel.db')}'`);
  db.close();
  return to;
}
async function links(): Promise<string[]> {
  return linksOf((await mail.send('ann@example.com')).mail.html);
}

describe('where links lead', () => {
  test('links to pages go through the redirect, the same page through one; all else stays', async () => {
    const { mail: got } = await mail.send('ann@example.com');
    const [a = '', b, c, ...rest] = linksOf(got.html);
    for (const link of [a, b, c]) expect(link).toMatch(/^http:\/\/satchel\.test\/c\/[0-9a-z-]{40,56}$/);
    expect(rest.slice(0, 4)).toEqual(['mailto:x@example.com', 'tel:+1', '#top', a]);
    expect(rest[4]).toMatch(/^http:\/\/satchel\.test\/unsubscribe\//);
    const in_text = got.text?.match(/http:\/\/satchel\.test\/c\/[0-9a-z-]+/g) ?? [];
    expect(in_text).toHaveLength(3);
    expect(in_text[1]).toBe(a);
    expect(got.text).toMatch(/See http:\/\/satchel\.test\/c\/[0-9a-z-]+, or /);
    expect((await mail.follow(in_text[2] ?? '')).headers.get('location')).toBe('https://other.example/(b)');
    expect(mail.rows('SELECT count(*) AS n FROM merge_links')).toEqual([{ n: 5 }]);
  });

  test("each leads to its target, with the mail's values, and a token host gets the contact_token", async () => {
    const [a = '', b = '', c = ''] = await links();
    const { contact_token } = mail.contactOf('ann@example.com');
    const got = await mail.follow(a);
    expect([got.status, got.headers.get('location'), got.headers.get('cache-control')]).toEqual([
      302,
      `https://shop.example.com/a?x=1&y=2&contact_token=${contact_token}`,
      'no-store',
    ]);
    expect((await mail.follow(b)).headers.get('location')).toBe(
      'https://other.example/A%201?m=ann%40example.com',
    );
    expect((await mail.follow(c)).headers.get('location')).toBe('https://own.example/p');
  });

  test('a value with which an address begins is a web or mail address, or the mail has no value for it', async () => {
    const setPage = (page: string) =>
      mail.call('PATCH', `/email-contacts/${mail.contactOf('ann@example.com').public_id}`, {
        custom: { sku: 'x', page },
      });
    for (const page of ['javascript:alert(1)', 'data:text/html,x', '//evil.example', '"><script>', 'tel:1']) {
      await setPage(page);
      expect(await mail.plan('ann@example.com')).toMatchObject({
        ok: false,
        reason: 'No value for {{custom.page}}.',
      });
    }
    await setPage('mailto:x@example.com?subject=a b');
    expect((await mail.send('ann@example.com')).mail.html).toContain(
      '<a href="mailto:x@example.com?subject=a b">3</a>',
    );
  });

  test('a forged, a foreign and a broken token are one page, and nothing is kept', async () => {
    const [a = '', b = ''] = await links();
    const token = a.split('/').at(-1) ?? '';
    const other = b.split('/').at(-1) ?? '';
    const forged = [
      `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`,
      `${other.slice(0, -16)}${token.slice(-16)}`,
      token.replace(/-\d+-/, '-999-'),
      token.replace(/-\d+-/, '-0-'),
      token.slice(1),
      'https:%2F%2Fevil.example',
      '%00',
      '../etc',
      'x'.repeat(5_000),
    ];
    for (const each of forged) {
      const got = await mail.app.call('GET', `/c/${each}`);
      expect([each, got.status, got.headers.get('location')]).toEqual([each, 404, null]);
      if (each !== '../etc') expect(got.headers.get('content-type')).toContain('text/html');
    }
    await mail.app.services.clicks.settle();
    expect(flags()).toEqual([]);
    const is_open = await mail.app.call('GET', `/o/${token}.gif`);
    expect(is_open.status).toBe(404);
  });

  test('links lead on when the mail has left the log, without what was of its contact', async () => {
    const [a = '', b = ''] = await links();
    await mail.app.services.database.write((tx) => tx.$client.run('DELETE FROM emails'));
    expect((await mail.follow(a)).headers.get('location')).toBe('https://shop.example.com/a?x=1&y=2');
    expect((await mail.follow(b)).status).toBe(404);
    await pass();
    expect(flags()).toEqual([]);
  });

  test('a deleted project takes its links along', async () => {
    const [a = ''] = await links();
    expect((await mail.follow(a)).status).toBe(302);
    await mail.app.services.projects.remove({ kind: 'shell', id: '0', name: 't', ip: null }, 'shop');
    expect((await mail.follow(a)).status).toBe(404);
    expect(mail.rows('SELECT 1 FROM merge_sources UNION ALL SELECT 1 FROM merge_links')).toEqual([]);
  });
});

describe('who counts as a person', () => {
  const PEOPLE = [
    BROWSER,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    'Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0',
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Thunderbird/128.4.0',
    'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Win64; x64; Trident/7.0; Microsoft Outlook 16.0.17928)',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/317.0.634488990 Mobile/15E148 Safari/604.1',
    'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  ];
  test('one click with each of their programs', async () => {
    for (const user_agent of PEOPLE) {
      const { id, mail: got } = await mail.send('ann@example.com');
      await mail.follow(linksOf(got.html)[0] ?? '', { user_agent });
      const at = mail.app.clock.now();
      await pass();
      const [clicks, clicked_at] = ofMail(id);
      expect([user_agent, clicks, clicked_at]).toEqual([user_agent, [null], at]);
      expect(told.splice(0)).toEqual([
        {
          ...{ kind: 'clicked', at, contact_id: mail.contactOf('ann@example.com').id, is_test: false },
          email_id: id,
        },
      ]);
    }
  });

  test('a contact whose mail was clicked is found by a filter, for as many days as it asks', async () => {
    const [a = ''] = await links();
    const found = async () => {
      const path = `/email-lists/${mail.list_id}/contacts?clicked_within_days=1`;
      return rowsOf(await mail.call('GET', path)).length;
    };
    expect(await found()).toBe(0);
    await mail.follow(a);
    await pass();
    expect(await found()).toBe(1);
    mail.app.clock.advance(86_400_000);
    expect(await found()).toBe(0);
  });

  const ROBOTS = [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'curl/8.5.0',
    'Wget/1.21.4',
    'python-requests/2.32.3',
    'Go-http-client/2.0',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Barracuda Sentinel (EE)',
    'Mimecast',
    'Mozilla/5.0',
    'Mozilla/5.0 (compatible; Symantec Email Security)',
    'Mozilla/5.0 (compatible; proofpoint; urldefense)',
    'Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com',
    'WhatsApp/2.23.20.0',
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1; +http://www.apple.com/go/applebot)',
    'lua-resty-http/0.10 (Lua) ngx_lua/10012',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/119.0.0.0 Safari/537.36',
  ];
  test('never a robot, by its name', async () => {
    for (const user_agent of ROBOTS) {
      const { id, mail: got } = await mail.send('ann@example.com');
      const { status } = await mail.follow(linksOf(got.html)[0] ?? '', { user_agent });
      await pass();
      expect([user_agent, status, ...ofMail(id), told]).toEqual([user_agent, 302, ['robot'], null, []]);
    }
  });

  test('never a HEAD, which is answered all the same', async () => {
    const [a = ''] = await links();
    const got = await mail.follow(a, { method: 'HEAD' });
    expect([got.status, got.headers.get('location')?.slice(0, 24)]).toEqual([
      302,
      'https://shop.example.com',
    ]);
    await pass();
    expect([flags(), clickedAt(), told]).toEqual([['head'], null, []]);
  });

  /** These call themselves browsers; that they follow every link at once is what tells them. */
  const GATEWAYS = {
    'Outlook SafeLinks':
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36 Edg/120.0.0.0',
    Barracuda: 'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko',
    Proofpoint:
      'Mozilla/5.0 (Windows NT 6.1) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/41.0.2228.0 Safari/537.36',
  };
  test.each(Object.entries(GATEWAYS))(
    'never %s, the first link of a burst included',
    async (_name, user_agent) => {
      const [a = '', b = '', c = ''] = await links();
      await mail.follow(a, { user_agent });
      await mail.app.services.clicks.settle();
      expect(flags()).toEqual([null]);
      mail.app.clock.advance(2_000);
      await mail.follow(b, { user_agent });
      await mail.app.services.clicks.settle();
      mail.app.clock.advance(SCANNER_WINDOW_MS - 1_000);
      await mail.follow(c, { user_agent });
      await pass();
      expect([flags(), clickedAt(), told]).toEqual([['burst', 'burst', 'burst'], null, []]);
      // Hours later somebody reads the mail.
      mail.app.clock.advance(3_600_000);
      await mail.follow(a);
      const at = mail.app.clock.now();
      await pass();
      expect([flags(), clickedAt(), told.length]).toEqual([['burst', 'burst', 'burst', null], at, 1]);
    },
  );

  test('a burst within one moment, too', async () => {
    const all = await links();
    await Promise.all(all.slice(0, 3).map((link) => mail.follow(link)));
    await pass();
    expect([flags(), clickedAt()]).toEqual([['burst', 'burst', 'burst'], null]);
  });

  test('one link again and again is one person, told once, however soon after the sending', async () => {
    const [a = '', b = ''] = await links();
    for (let n = 0; n < 3; n += 1) await mail.follow(a);
    const at = mail.app.clock.now();
    await pass();
    await mail.follow(b);
    await pass();
    expect([flags(), clickedAt(), told.length]).toEqual([[null, null], at, 1]);
  });

  test('links of two mails at once are no burst', async () => {
    const [a = ''] = await links();
    const [, b = ''] = await links();
    await mail.follow(a);
    await mail.follow(b);
    await pass();
    expect([flags(), told.length]).toEqual([[null, null], 2]);
  });
});

describe('keeping clicks', () => {
  test('one that came before a stop counts after the next start', async () => {
    const [a = ''] = await links();
    await mail.follow(a);
    const at = mail.app.clock.now();
    await mail.app.stop();
    mail.app.clock.advance(60_000);
    const again = await startTestApp({ data_dir: mail.app.data_dir, clock: mail.app.clock });
    await again.services.clicks.settle();
    const { $client } = again.services.database.read;
    expect($client.query('SELECT clicked_at FROM emails').all()).toEqual([{ clicked_at: at }]);
  });

  test('a flood keeps a bounded number of rows, and a person among it still counts', async () => {
    const [a = ''] = await links();
    for (let n = 0; n < 120; n += 1) {
      await mail.follow(a, { user_agent: 'curl/8' });
      await mail.app.services.clicks.settle();
      mail.app.clock.advance(SCANNER_WINDOW_MS + 1);
    }
    expect(flags()).toHaveLength(100);
    await mail.follow(a);
    await pass();
    expect([flags().length, told.length]).toEqual([101, 1]);
  });

  test('clicks that a full disk refuses are kept once it takes them', async () => {
    const { database, clicks } = mail.app.services;
    const [a = ''] = await links();
    await database.write((tx) =>
      tx.$client.run(
        "CREATE TRIGGER full BEFORE INSERT ON email_clicks BEGIN SELECT raise(ABORT, 'full'); END",
      ),
    );
    await mail.follow(a);
    const at = mail.app.clock.now();
    expect(await clicks.settle().catch((error: unknown) => String(error))).toContain('full');
    await database.write((tx) => tx.$client.run('DROP TRIGGER full'));
    // The clicks themselves may be trying once more just now.
    await until(async () => {
      await clicks.settle().catch(() => {});
      return flags().length === 1;
    });
    await pass();
    expect([flags(), clickedAt()]).toEqual([[null], at]);
  });

  test('a full disk is tried once in a while, and not again for each click', async () => {
    const { database, clicks } = mail.app.services;
    const [a = '', b = ''] = await links();
    clicks.start();
    await mail.follow(a);
    await until(() => flags().length === 1);
    await database.write((tx) =>
      tx.$client.run(
        "CREATE TRIGGER full BEFORE INSERT ON email_clicks BEGIN SELECT raise(ABORT, 'full'); END",
      ),
    );
    const refusals = () => mail.app.logs().split('clicks could not be kept').length - 1;
    await mail.follow(b);
    await until(() => refusals() === 1);
    for (let n = 0; n < 5; n += 1) {
      await mail.follow(a);
      await Bun.sleep(2 * CLICK_FLUSH_MS);
    }
    expect(refusals()).toBe(1);
    await database.write((tx) => tx.$client.run('DROP TRIGGER full'));
    await clicks.stop();
    expect(flags()).toHaveLength(3);
  });

  test('outlast a kill from their answer on, and count once', async () => {
    const { clicks } = mail.app.services;
    const [a = '', b = ''] = await links();
    await mail.follow(a);
    const at_once = killed();
    // One comes while another is being written.
    const is_written = clicks.settle();
    await mail.follow(b);
    await is_written;
    const between = killed();
    // Killed once all are in the database, before they are out of the file; of what came last half a line is there.
    await clicks.settle();
    const late = killed();
    const files = [at_once, between].map((dir) => join(dir, 'clicks.jsonl')).filter(existsSync);
    const lines = files.map((file) => readFileSync(file, 'utf8'));
    writeFileSync(join(late, 'clicks.jsonl'), `${lines.join('')}\n{"email_id":"`);
    for (const [data_dir, positions] of [
      [at_once, [1]],
      [between, [1, 2]],
      [late, [1, 2]],
    ] as const) {
      const again = await startTestApp({ data_dir, clock: mail.app.clock });
      await again.stop();
      const db = new Sqlite(join(data_dir, 'satchel.db'), { readonly: true });
      expect(db.query('SELECT position FROM email_clicks ORDER BY 1').values().flat()).toEqual([
        ...positions,
      ]);
      db.close();
      expect(existsSync(join(data_dir, 'clicks.jsonl'))).toBe(false);
    }
  });

  test('what is held about an address has its clicks, and forgets them with it', async () => {
    const [a = ''] = await links();
    await mail.follow(a);
    await pass();
    const { privacy } = mail.app.services;
    const owner = mail.step().owner;
    const { clicks } = await heldOf(mail.app.services, owner, 'ann@example.com');
    expect(clicks).toMatchObject([{ flag: null, user_agent: BROWSER }]);
    const actor = { kind: 'shell', id: '0', name: 't', ip: null } as const;
    await mail.follow(a);
    await privacy.forget(actor, owner, 'ann@example.com');
    // The second is yet to be written down.
    await pass();
    expect(flags()).toEqual([]);
    expect((await mail.follow(a)).headers.get('location')).toBe('https://shop.example.com/a?x=1&y=2');
  });
});

describe('opens', () => {
  const pictureOf = (html: string | undefined): string | undefined =>
    /src="([^"]+\/o\/[^"]+)"/.exec(html ?? '')?.[1];

  test('are seen only where they are asked for, and count once', async () => {
    const { mail: silent } = await mail.send('ann@example.com');
    expect(pictureOf(silent.html)).toBeUndefined();
    const { id, mail: got } = await mail.send('ann@example.com', mail.step({ track_opens: true }));
    const picture = pictureOf(got.html) ?? '';
    // A mail program that says no more than its name, as robots do.
    const answer = await mail.follow(picture, { user_agent: 'Airmail/5.7' });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/gif']);
    const at = mail.app.clock.now();
    await pass();
    await mail.follow(picture);
    await pass();
    const [row] = mail.rows(`SELECT opened_at, clicked_at FROM emails WHERE id = '${id}'`);
    expect([row, told]).toEqual([
      { opened_at: at, clicked_at: null },
      [
        {
          kind: 'opened',
          email_id: id,
          contact_id: mail.contactOf('ann@example.com').id,
          is_test: false,
          at,
        },
      ],
    ]);
  });

  test.each([
    'Mozilla/5.0',
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 Safari/537.36 Edge/12.246 Mozilla/5.0',
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
    'Barracuda Sentinel (EE)',
  ])(
    'of a machine are its own, once, even in a burst, and a person may open it later: %s',
    async (user_agent) => {
      const { id, mail: got } = await mail.send('ann@example.com', mail.step({ track_opens: true }));
      const picture = pictureOf(got.html) ?? '';
      const [link = ''] = linksOf(got.html);
      for (const url of [link, picture]) await mail.follow(url, { user_agent });
      await pass();
      await mail.follow(picture, { user_agent });
      await pass();
      expect(told.map(({ kind, email_id }) => [kind, email_id])).toEqual([['opened_by_machine', id]]);
      await mail.follow(picture);
      await pass();
      expect(told.map(({ kind }) => kind)).toEqual(['opened_by_machine', 'opened']);
    },
  );
});
