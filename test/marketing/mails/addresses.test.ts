/** Merge fields in addresses, as their values really are: encoded where they stand, whatever becomes of the link. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { linksOf, type MailApp, startMailApp } from './setup.ts';

const ANN = 'ann+news@example.com';
let mail: MailApp;
beforeAll(async () => {
  mail = await startMailApp();
  await mail.template({ body_html: 'x' });
  await mail.contact(mail.list_id, ANN, {
    first_name: 'Ann & Söhne',
    custom: { slug: 'a b/ü?&x', url: 'https://bar.example/q?a=1&b=2', phone: '+49 30 123', way: 'a b' },
  });
});

async function sent(
  fields: { body_html?: string; body_text?: string },
  variables: Record<string, string> = {},
) {
  await mail.template({ layout: null, body_html: null, body_text: null, ...fields });
  return (await mail.send(ANN, mail.step({}, variables))).mail;
}

/** What its reader's program makes of the first link of a mail: the address as it is decoded. */
const hrefOf = (html: string | undefined): string => linksOf(html)[0] ?? '';
const leadsTo = async (url: string) => (await mail.follow(url)).headers.get('location');

const LEADS: [string, string][] = [
  [
    'https://foo.example/?email={{email}}&amp;n={{first_name}}',
    'https://foo.example/?email=ann%2Bnews%40example.com&n=Ann%20%26%20S%C3%B6hne',
  ],
  ['https://foo.example/u/{{custom.slug}}/x', 'https://foo.example/u/a%20b/%C3%BC%3F%26x/x'],
  [
    'https://foo.example/?to={{custom.url}}',
    'https://foo.example/?to=https%3A%2F%2Fbar.example%2Fq%3Fa%3D1%26b%3D2',
  ],
  ['https://foo.example/#{{custom.slug}}', 'https://foo.example/#a%20b%2F%C3%BC%3F%26x'],
  ['{{custom.url}}', 'https://bar.example/q?a=1&b=2'],
  ['{{custom.url}}&amp;n={{first_name}}', 'https://bar.example/q?a=1&b=2&n=Ann%20%26%20S%C3%B6hne'],
  ['https://foo.example/k&uuml;che?a=&eacute;', 'https://foo.example/k%C3%BCche?a=%C3%A9'],
  ['https://foo.example/?a=1&copy=2&reg=3&para=4', 'https://foo.example/?a=1&copy=2&reg=3&para=4'],
];

describe('a link in HTML', () => {
  test.each(LEADS)('is followed to where it leads: %s', async (href, target) => {
    const { html } = await sent({ body_html: `<a href="${href}">x</a>` });
    expect(await leadsTo(hrefOf(html))).toBe(target);
  });

  test.each([
    [
      'mailto:help@foo.example?subject=Hi%20{{first_name}}',
      'mailto:help@foo.example?subject=Hi%20Ann%20%26%20S%C3%B6hne',
    ],
    ['mailto:{{email}}', 'mailto:ann%2Bnews@example.com'],
    ['tel:{{custom.phone}}', 'tel:+49 30 123'],
    ['#{{custom.way}}', '#a b'],
  ])('that is not followed is encoded alike, and other schemes are as before: %s', async (href, is) => {
    const { html } = await sent({ body_html: `<a href="${href}">x</a>` });
    expect(hrefOf(html)).toBe(is);
  });

  test('has the values that all mails share encoded alike, but for what it begins with', async () => {
    const shared = { shop: 'https://shop.example.org/a?b=c', word: 'a/b & "c"', name: 'Fish & Chips' };
    const { html } = await sent(
      {
        body_html:
          '<a href="{{shop}}&amp;w={{word}}">{{name}}</a><a href="mailto:x@y.example?subject={{word}}">m</a>',
      },
      shared,
    );
    expect(await leadsTo(hrefOf(html))).toBe('https://shop.example.org/a?b=c&w=a%2Fb%20%26%20%22c%22');
    expect(linksOf(html)[1]).toBe('mailto:x@y.example?subject=a%2Fb%20%26%20%22c%22');
    expect(html).toContain('>Fish &amp; Chips</a>');
  });
});

test('an address that stands bare in a text part is encoded alike, and ends where its sentence goes on', async () => {
  const { text } = await sent(
    {
      body_text:
        'Sehen Sie „https://foo.example/u/{{custom.slug}}?n={{first_name}}“ {{custom.way}} {{note}} – 见https://foo.example/x。',
    },
    { note: 'or https://other.example/?a=b&c=d…' },
  );
  const [first = '', second = '', third = ''] = text?.match(/http:\/\/satchel\.test\/c\/[\w-]+/g) ?? [];
  expect(text?.trimEnd()).toBe(`Sehen Sie „${first}“ a b or ${second}… – 见${third}。`);
  expect(await leadsTo(first)).toBe('https://foo.example/u/a%20b/%C3%BC%3F%26x?n=Ann%20%26%20S%C3%B6hne');
  expect(await leadsTo(second)).toBe('https://other.example/?a=b&c=d');
  expect(await leadsTo(third)).toBe('https://foo.example/x');
});

test('whoever is not tracked has the same addresses, as they lead', async () => {
  await mail.settings({ tracking: 'consented' });
  for (const [href, target] of LEADS.filter(([href]) => href.includes('{{'))) {
    const { html } = await sent({ body_html: `<a href="${href}">x</a>` });
    expect([href, hrefOf(html)]).toEqual([href, target]);
  }
  const { text } = await sent({ body_text: 'See https://foo.example/?n={{first_name}}.' });
  expect(text?.trimEnd()).toBe('See https://foo.example/?n=Ann%20%26%20S%C3%B6hne.');
  await mail.settings({ tracking: 'all' });
});
