/** UTM parameters: what an address gains, whatever it looks like; and whose mail's links gain them. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { withUtm } from '../../../src/marketing/mails/links.ts';
import { linksOf, type MailApp, startMailApp } from './setup.ts';

describe('an address', () => {
  test('gains what it does not have, before its fragment', () => {
    const added = { source: 'news', campaign: 'spring & fall' };
    for (const [address, gained] of [
      ['https://a.example/', 'https://a.example/?utm_source=news&utm_campaign=spring%20%26%20fall'],
      ['https://a.example/p?', 'https://a.example/p?utm_source=news&utm_campaign=spring%20%26%20fall'],
      ['https://a.example/?x=1', 'https://a.example/?x=1&utm_source=news&utm_campaign=spring%20%26%20fall'],
      ['https://a.example/?x=1&', 'https://a.example/?x=1&utm_source=news&utm_campaign=spring%20%26%20fall'],
      ['https://a.example/#top', 'https://a.example/?utm_source=news&utm_campaign=spring%20%26%20fall#top'],
      // What stands behind the # is no query.
      [
        'https://a.example/#/p?utm_source=x',
        'https://a.example/?utm_source=news&utm_campaign=spring%20%26%20fall#/p?utm_source=x',
      ],
      [
        'https://a.example/?utm_source=own',
        'https://a.example/?utm_source=own&utm_campaign=spring%20%26%20fall',
      ],
      ['https://a.example/?utm_source', 'https://a.example/?utm_source&utm_campaign=spring%20%26%20fall'],
      [
        'https://a.example/?utm%5Fsource=own&utm_source=b',
        'https://a.example/?utm%5Fsource=own&utm_source=b&utm_campaign=spring%20%26%20fall',
      ],
      ['https://a.example/?utm_campaign=&utm_source=#f', 'https://a.example/?utm_campaign=&utm_source=#f'],
    ] as const)
      expect([address, withUtm(address, added)]).toEqual([address, gained]);
  });

  test('keeps all else to the byte, and has each parameter once more at most: ten thousand odd ones', () => {
    const bits = [
      ...[
        '?',
        '&',
        '#',
        '=',
        '/',
        '%',
        '%3F',
        '%23',
        '%26',
        '+',
        ';',
        ',',
        'a',
        'ä',
        '://',
        '??',
        '&&',
        '##',
      ],
      ...[
        'utm_source',
        'utm_source=x',
        'utm_medium=',
        'utm%5Fmedium=1',
        'UTM_SOURCE=y',
        '%zz',
        '=&=',
        'utm_',
      ],
    ];
    let seed = 30;
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
      return seed % below;
    };
    const added = { source: 'né & co', medium: 'a=b#c?d', campaign: '%', content: '+ +' };
    for (let n = 0; n < 10_000; n += 1) {
      const path = Array.from({ length: next(9) }, () => bits[next(bits.length)]).join('');
      const address = URL.parse(`https://a.example/${path}`)?.href;
      if (address === undefined) continue;
      const gained = withUtm(address, added);
      const [before = '', after = ''] = [new URL(address), new URL(gained)].map(({ hash }) => hash);
      expect(after).toBe(before);
      // What was added stands in one place; without it the address is as it was.
      const end =
        gained.length - (address.length - (address.indexOf('#') < 0 ? address.length : address.indexOf('#')));
      const start = end - (gained.length - address.length);
      expect(gained.slice(0, start) + gained.slice(end)).toBe(address);
      const [had, has] = [new URL(address).searchParams, new URL(gained).searchParams];
      for (const [name, value] of Object.entries(added)) {
        const key = `utm_${name}`;
        expect([address, has.getAll(key)]).toEqual([address, had.has(key) ? had.getAll(key) : [value]]);
        has.delete(key);
        had.delete(key);
      }
      expect([address, [...has]]).toEqual([address, [...had]]);
      expect(withUtm(gained, added)).toBe(gained);
    }
  });
});

describe('links of a mail', () => {
  let on: MailApp;
  beforeAll(async () => {
    on = await startMailApp();
    await on.template({
      body_html:
        '<p><a href="https://shop.example.com/a?x=%20y#f">a</a> <a href="{{custom.page}}">b</a> <a href="mailto:a@example.com">c</a></p>',
      body_text: 'See https://other.example/?utm_source=own',
    });
    await on.contact(on.list_id, 'ann@example.com', { custom: { page: 'https://own.example/p' } });
  });

  const utm = { source: 'news', medium: 'email' };
  const locationOf = async (url: string | undefined): Promise<string | null> =>
    (await on.follow(url ?? '')).headers.get('location');

  test('lead on with them, merge fields too, and stand without them in the mail', async () => {
    const { mail } = await on.send('ann@example.com', on.step({ utm }));
    expect(`${mail.html}${mail.text}`).not.toMatch(/utm_(source=news|medium)/);
    const [a, b, c] = linksOf(mail.html);
    const token = on.contactOf('ann@example.com').contact_token;
    expect(await locationOf(a)).toBe(
      `https://shop.example.com/a?x=%20y&contact_token=${token}&utm_source=news&utm_medium=email#f`,
    );
    expect(await locationOf(b)).toBe('https://own.example/p?utm_source=news&utm_medium=email');
    expect(c).toBe('mailto:a@example.com');
    const text = /https?:\/\/\S+\/c\/\S+/.exec(mail.text ?? '')?.[0];
    expect(await locationOf(text)).toBe('https://other.example/?utm_source=own&utm_medium=email');
    const test_mail = await on.sendTest('me@example.com', on.step({ utm }));
    expect(await locationOf(linksOf(test_mail.mail.html)[0])).toBe(
      'https://shop.example.com/a?x=%20y&utm_source=news&utm_medium=email#f',
    );
  });

  test('lead on as they were written without, and whatever becomes of the mailing later', async () => {
    const plain = await on.send('ann@example.com');
    expect(await locationOf(linksOf(plain.mail.html)[1])).toBe('https://own.example/p');
    const first = await on.send('ann@example.com', on.step({ utm }));
    await on.send('ann@example.com', on.step({ utm: { source: 'later' } }));
    expect(await locationOf(linksOf(first.mail.html)[1])).toBe(
      'https://own.example/p?utm_source=news&utm_medium=email',
    );
  });
});
