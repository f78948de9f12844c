/** Mail to who is not tracked: every byte of it, and what becomes of older mail's links after a refusal. */

import { beforeEach, describe, expect, test } from 'bun:test';
import { SCANNER_WINDOW_MS } from '../../../src/limits.ts';
import { CLICK_FLUSH_MS } from '../../../src/marketing/mails/clicks.ts';
import { linksOf, type MailApp, startMailApp } from '../mails/setup.ts';
import { dataOf } from '../settings/setup.ts';

let mail: MailApp;

const HTML = `<!doctype html><html><body><p class='a'>Hi {{first_name}} &amp; co</p>
<a href="https://shop.example.com/a?x=1&amp;y=2#top">One</a>
<a href="https://shop.example.com/{{custom.sku}}">Two</a> <em class='b'>or</em>
<a href="https://shop.example.com/me?contact_token={{contact_token}}">Three</a>
<img src="https://cdn.example.com/logo.png" width="10"><a href="{{unsubscribe_url}}">Leave</a> {{postal_address}}</body></html>`;
const TEXT = `Hi {{first_name}}: https://shop.example.com/a?x=1&y=2#top and
https://shop.example.com/{{custom.sku}} {{unsubscribe_url}} {{postal_address}}`;

beforeEach(async () => {
  mail = await startMailApp();
  await mail.template({ subject: 'Hi {{first_name}}', body_html: HTML, body_text: TEXT });
  await mail.contact(mail.list_id, 'ann@example.com', { first_name: 'Ann', custom: { sku: 'A1' } });
});

const step = () => mail.step({ track_opens: true });
const idOf = (email: string) => mail.contactOf(email).public_id;
const say = (tracking: unknown, email = 'ann@example.com') =>
  mail.call('PATCH', `/email-contacts/${idOf(email)}`, { tracking });
/** As the page of the person's own choices says it. */
const refuse = (email = 'ann@example.com') =>
  mail.app.services.database.write((tx) =>
    mail.app.services.tracking.set(
      tx,
      { project_id: Number(mail.project.id), email },
      { tracking: 'refused', at: mail.app.clock.now(), by: 'page' },
    ),
  );
const kept = () => mail.rows('SELECT position, flag FROM email_clicks');
async function pass(): Promise<void> {
  mail.app.clock.advance(CLICK_FLUSH_MS);
  await mail.app.services.clicks.settle();
  mail.app.clock.advance(SCANNER_WINDOW_MS + 2);
  await mail.app.services.clicks.settle();
}
const filled = (template: string, unsubscribe_url: string, line_break = '\n') =>
  template
    .replaceAll('{{first_name}}', 'Ann')
    .replaceAll('{{custom.sku}}', 'A1')
    .replaceAll('{{contact_token}}', '')
    .replaceAll('{{unsubscribe_url}}', unsubscribe_url)
    .replaceAll('{{postal_address}}', `Shop${line_break}1 High Street`);

describe('a mail that is not tracked', () => {
  test('is the template with its values, to the byte: no picture, no hidden link, no token, links as written', async () => {
    await say('refused');
    const { mail: got, raw } = await mail.send('ann@example.com', step());
    const unsubscribe = /<([^>]+)>/.exec(
      got.headers.find(({ key }) => key === 'list-unsubscribe')?.value ?? '',
    );
    const url = unsubscribe?.[1] ?? '';
    expect(url).toMatch(/^http:\/\/satchel\.test\/unsubscribe\//);
    expect(got.html?.replaceAll('\r\n', '\n').trimEnd()).toBe(filled(HTML, url));
    expect(got.text?.replaceAll('\r\n', '\n').trimEnd()).toBe(filled(TEXT, url));
    // Headers too, and what an encoding may hide.
    const unfolded = raw
      .replaceAll(/=\r?\n/g, '')
      .replaceAll('=3D', '=')
      .replaceAll(/\r?\n\s/g, '');
    for (const bytes of [raw, unfolded, got.html ?? '', got.text ?? ''])
      for (const trace of [
        '/c/',
        '/o/',
        '.gif',
        'aria-hidden',
        'utm_',
        mail.contactOf('ann@example.com').contact_token,
      ])
        expect([trace, bytes.includes(trace)]).toEqual([trace, false]);
    const own = unfolded.match(/satchel\.test\/[a-z]+\//g) ?? [];
    expect(new Set(own)).toEqual(new Set(['satchel.test/unsubscribe/']));
  });

  test('is one that the log shows the same way', async () => {
    await say('refused');
    const { id, mail: got } = await mail.send('ann@example.com', step());
    const { emails } = mail.app.services;
    const content = await emails.readContent({ id: Number(mail.project.id) }, id);
    const shown = got.html
      ?.replaceAll('\r\n', '\n')
      .trimEnd()
      .replace(/(\/unsubscribe\/)[0-9A-Za-z-]+/, '$1…');
    expect(content.body_html).toBe(shown ?? '');
  });

  test('goes to all but those who allowed it, where the settings say so', async () => {
    await mail.contact(mail.list_id, 'bob@example.com', { tracking: 'allowed', custom: { sku: 'A1' } });
    const picture = async (email: string) => (await mail.send(email, step())).mail.html?.includes('/o/');
    expect([await picture('ann@example.com'), await picture('bob@example.com')]).toEqual([true, true]);
    await mail.settings({ tracking: 'consented' });
    expect([await picture('ann@example.com'), await picture('bob@example.com')]).toEqual([false, true]);
    await say('allowed');
    await say('refused', 'bob@example.com');
    expect([await picture('ann@example.com'), await picture('bob@example.com')]).toEqual([true, false]);
    await mail.settings({ tracking: 'all' });
    await say(null);
    expect([await picture('ann@example.com'), await picture('bob@example.com')]).toEqual([true, false]);
  });

  test('has a counterpart that tracks: the test can tell them apart', async () => {
    const { mail: got } = await mail.send('ann@example.com', step());
    const { contact_token } = mail.contactOf('ann@example.com');
    expect(got.html).toContain('/o/');
    expect(linksOf(got.html)[0]).toMatch(/\/c\//);
    expect(linksOf(got.html).at(-1)).toMatch(/\/c\//);
    expect((await mail.follow(linksOf(got.html)[0] ?? '')).headers.get('location')).toContain(contact_token);
  });

  test('is what a mail becomes that waits when its reader refuses, in a sequence as in a broadcast', async () => {
    const { database, marketing_mail, emails } = mail.app.services;
    await database.write((tx) => {
      const planned = marketing_mail.plan(tx, step(), mail.contactOf('ann@example.com'));
      if (!planned.ok) throw new Error(planned.reason);
      const { id } = emails.accept(tx, planned.email);
      marketing_mail.untrack(tx, Number(mail.project.id), id);
    });
    await mail.app.app.engine.whenIdle();
    const raw = mail.sink.mails.at(-1)?.raw.toString() ?? '';
    expect(raw).toContain('https://shop.example.com/a?x');
    expect([raw.includes('/c/'), raw.includes('/o/')]).toEqual([false, false]);
  });
});

describe('after a refusal', () => {
  test('links of older mail lead on, and nothing is stored: no click, opening, trap or visit of a page', async () => {
    const { mail: got } = await mail.send('ann@example.com', step());
    const [one = '', two = ''] = linksOf(got.html);
    const hidden = linksOf(got.html).at(-1) ?? '';
    const picture = /http:\/\/satchel\.test\/o\/[^"]+/.exec(got.html ?? '')?.[0] ?? '';
    const leave = linksOf(got.html).find((link) => link.includes('/unsubscribe/')) ?? '';
    await refuse();
    const followed = await mail.follow(one);
    expect([followed.status, followed.headers.get('location')]).toEqual([
      302,
      'https://shop.example.com/a?x=1&y=2#top',
    ]);
    expect((await mail.follow(two)).headers.get('location')).toBe('https://shop.example.com/A1');
    expect((await mail.follow(picture)).status).toBe(200);
    expect((await mail.follow(hidden)).status).toBe(200);
    expect((await mail.follow(leave)).status).toBe(200);
    await pass();
    expect(kept()).toEqual([]);
    expect(mail.rows('SELECT clicked_at, opened_at FROM emails')).toEqual([
      { clicked_at: null, opened_at: null },
    ]);
  });

  test('links of older mail gain no UTM any more', async () => {
    const { mail: got } = await mail.send('ann@example.com', mail.step({ utm: { source: 'news' } }));
    const [one = ''] = linksOf(got.html);
    const led = async () => (await mail.follow(one)).headers.get('location');
    expect(await led()).toMatch(
      /^https:\/\/shop\.example\.com\/a\?x=1&y=2&contact_token=[\w-]+&utm_source=news#top$/,
    );
    await refuse();
    expect(await led()).toBe('https://shop.example.com/a?x=1&y=2#top');
  });

  test('a click from before is what it was', async () => {
    const { mail: got } = await mail.send('ann@example.com', step());
    await mail.follow(linksOf(got.html)[0] ?? '');
    await pass();
    await refuse();
    await mail.follow(linksOf(got.html)[1] ?? '');
    await pass();
    expect(kept()).toEqual([{ position: 1, flag: null }]);
    expect(dataOf(await mail.call('GET', `/email-contacts/${idOf('ann@example.com')}`))).toMatchObject({
      tracking: 'refused',
      tracking_evidence: { by: 'page' },
    });
  });
});
