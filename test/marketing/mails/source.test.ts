/** Putting a mail together: layout, links and merge fields, with values that mean harm. */
import { describe, expect, test } from 'bun:test';
import { linkToken, readLinkToken } from '../../../src/marketing/mails/following.ts';
import { frameSource } from '../../../src/marketing/mails/frame.ts';
import { layOutHtml, layOutText } from '../../../src/marketing/mails/layout.ts';
import { replaceHtmlLinks, replaceTextLinks } from '../../../src/marketing/mails/links.ts';
import { composeSource, type SourceInput } from '../../../src/marketing/mails/source.ts';
import { fillFrame } from '../../../src/platform/mail/types.ts';

const LOOK = {
  ...{ brand_name: 'The Shop', brand_color: '#1a73e8', brand_logo_url: 'https://cdn.example/logo.png' },
  ...{ brand_website_url: 'https://shop.example', postal_address: 'Shop\n1 High Street' },
  ...{ language: 'en' as const, unsubscribe_url: 'https://mail.example/unsubscribe/t' },
  view: { url: 'https://mail.example/view/t', edge: '' },
};
const HOSTILE = `"><script>alert(1)</script><a href="x" onclick='y'>{{first_name}}`;

describe('the layout', () => {
  test('as HTML', () => {
    expect(layOutHtml('<p>Hello</p>', LOOK)).toMatchSnapshot();
  });

  test('as text', () => {
    expect(layOutText('Hello\n', LOOK)).toMatchSnapshot();
  });

  test('of a whole document has its styles and its body, once', () => {
    const html = layOutHtml(
      '<!doctype html><html><head><title>x</title><style>p{color:red}</style></head><body class=a><p>Hello</p></body></html>',
      LOOK,
    );
    expect(html).toContain('<style>p{color:red}</style>');
    expect(html.match(/<body\b/g)).toHaveLength(1);
    expect(html.match(/<html\b/g)).toHaveLength(1);
    expect(html).toContain('<p dir="auto">Hello</p>');
  });

  test('says its language, in the words of which it is', () => {
    const html = layOutHtml('', { ...LOOK, language: 'de' });
    expect(html).toContain('<html lang="de">');
    expect(html).toContain('>Abmelden</a>');
    expect(layOutText('', { ...LOOK, language: 'fr' })).toContain('Se désabonner: https://');
  });

  test('gives blocks the direction of their script, lists as a whole, and leaves what has one', () => {
    const html = layOutHtml('<p>a<h2 dir=ltr>b</h2><ul><li><p>c</p><ol></ol></li></ul><blockquote>', LOOK);
    expect(html).toContain(
      '<p dir="auto">a<h2 dir=ltr>b</h2><ul dir="auto"><li><p>c</p><ol></ol></li></ul><blockquote dir="auto">',
    );
  });

  test('lets no value out of its place', () => {
    const clean = layOutHtml('', LOOK);
    const html = layOutHtml('', {
      ...{ brand_name: HOSTILE, brand_color: 'red;}</style><script>', brand_logo_url: 'javascript:alert(1)' },
      ...{ brand_website_url: `https://x.example/${HOSTILE}`, postal_address: HOSTILE },
      ...{ language: LOOK.language, unsubscribe_url: LOOK.unsubscribe_url },
      view: LOOK.view,
    });
    const tags = (text: string) => text.match(/<\/?[a-z]+/gi)?.filter((tag) => !/^<(img|br)$/i.test(tag));
    expect(tags(html)).toEqual(tags(clean));
    expect(html).not.toContain('javascript:');
    expect(html).toContain('border-top:4px solid #1f4e79');
  });
});

describe('links', () => {
  const mark = (address: string): string | null => (address.startsWith('http') ? `[${address}]` : null);

  test('of HTML are found as mail programs read them', () => {
    const html = `<A HREF=https://a.example/?x=1&amp;y=&#50;>a</A><area href='https://b.example'><a href="\n https://c.example ">c</a>
      <!-- <a href="https://no.example">no</a> --><a data-href="https://no.example" href="mailto:x@y.example">m</a>`;
    expect(replaceHtmlLinks(html, mark)).toBe(
      `<A HREF="[https://a.example/?x=1&amp;y=2]">a</A><area href="[https://b.example]"><a href="[https://c.example]">c</a>
      <!-- <a href="https://no.example">no</a> --><a data-href="https://no.example" href="mailto:x@y.example">m</a>`,
    );
  });

  test.each([
    ['See https://a.example/x.', 'See [https://a.example/x].'],
    ['(https://a.example/x)', '([https://a.example/x])'],
    ['https://a.example/x_(y)', '[https://a.example/x_(y)]'],
    ['<https://a.example/x>, "https://b.example"', '<[https://a.example/x]>, "[https://b.example]"'],
    ['xhttps://a.example www.a.example', 'xhttps://a.example www.a.example'],
    ['https://a.example/?q=a,b!', '[https://a.example/?q=a,b]!'],
    ['“https://a.example/x” ‘https://a.example/y’', '“[https://a.example/x]” ‘[https://a.example/y]’'],
    ['»https://a.example/x«—https://a.example/y…', '»[https://a.example/x]«—[https://a.example/y]…'],
    ['見https://a.example/x。https://a.example/y」', '見[https://a.example/x]。[https://a.example/y]」'],
    [
      'https://a.example/xです https://a.example/y한글 https://a.example/zไทย',
      '[https://a.example/x]です [https://a.example/y]한글 [https://a.example/z]ไทย',
    ],
    [
      'https://a.example/x\u200bhttps://a.example/y\u00ad https://a.example/z\u00a0•',
      '[https://a.example/x]\u200b[https://a.example/y]\u00ad [https://a.example/z]\u00a0•',
    ],
    ['https://a.example/ü/é?ж=ñ💡', '[https://a.example/ü/é?ж=ñ]💡'],
    [
      '<https://a.example/“x”。> [a](https://a.example/x_(y)。)',
      '<[https://a.example/“x”。]> [a]([https://a.example/x_(y)。])',
    ],
    ['<https://a.example/x y>', '<[https://a.example/x] y>'],
  ])('of text: %s', (text, expected) => {
    expect(replaceTextLinks(text, mark)).toBe(expected);
  });

  test('of a long text take time in proportion', () => {
    const text = `https://a.example/${')'.repeat(20_000)}`;
    const started = performance.now();
    expect(replaceTextLinks(text, mark)).toContain('[https://a.example/]');
    for (const opened of ['<https://a.example/', '](https://a.example/(', '((('])
      replaceTextLinks(opened.repeat(20_000), mark);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});

/** What the HTML of a mail with links ends with. */
const HIDDEN_LINK = ['<a href="https://mail.example/c/', 0, '" aria-hidden="true" tabindex="-1"></a>'];

const INPUT: SourceInput = {
  template: { subject: 's', body_html: null, body_text: null, variables: [], layout: null },
  values: {},
  brand: LOOK,
  ...{ language: 'en', preheader: null },
  token_hosts: [],
  view_link: false,
  public_url: 'https://mail.example',
  track_opens: false,
  utm: null,
  is_tracked: true,
};

function compose(template: Partial<SourceInput['template']>, rest: Partial<SourceInput> = {}) {
  return composeSource({ ...INPUT, ...rest, template: { ...INPUT.template, ...template } });
}

describe('a source', () => {
  test('has what all mails share filled in, and asks for nothing else', () => {
    const { source, links } = compose(
      {
        subject: '{{offer}} for {{first_name}}',
        body_html: '<a href="{{button}}?a={{offer}}">{{offer}}</a>',
        body_text: '{{button}} {{note}}',
        variables: [{ name: 'note', description: null, required: false }],
      },
      { values: { offer: '<1&2>', button: 'https://b.example/x' } },
    );
    expect(source.subject).toEqual(['<1&2> for ', ['first_name']]);
    const [before, ...hidden] = HIDDEN_LINK;
    const seen = `">&lt;1&amp;2&gt;</a>${before}`;
    expect(source.html).toEqual(['<a href="https://mail.example/c/', 1, seen, ...hidden]);
    expect(source.text).toEqual(['https://mail.example/c/', 2, ' ', ['note']]);
    expect(links.map(({ target }) => target)).toEqual([
      ['https://b.example/x?a=%3C1%262%3E'],
      ['https://b.example/x'],
    ]);
    expect([source.names, source.optional]).toEqual([['first_name', 'note'], ['note']]);
  });

  test('hides its preheader in the HTML, with its own values in it, and has it nowhere else', () => {
    for (const layout of ['marketing', null] as const) {
      const { source } = compose(
        { body_html: '<html><body class="b"><p>Hi</p></body></html>', body_text: 'Hi', layout },
        { preheader: '<b> {{offer}} & {{first_name}}', values: { offer: '50 < 60' } },
      );
      const [hidden, ...rest] = source.html ?? [];
      expect(hidden).toMatch(/<body [^>]*><div [^>]*display:none[^>]*>&lt;b&gt; 50 &lt; 60 &amp; $/);
      expect(rest[0]).toEqual(['first_name']);
      expect(rest[1]).toStartWith('&#847;&zwnj;');
      expect(source.names).toContain('first_name');
      expect(JSON.stringify(source.text)).not.toContain('50');
      expect(source.preheader).toEqual(['<b> 50 < 60 & ', ['first_name']]);
    }
    const bare = compose({ body_html: '<p>Hi</p>' }, { preheader: 'There' }).source;
    expect(bare.html?.[0]).toMatch(/^<div [^>]*>There&#847;.*<\/div><p>Hi<\/p>/);
    expect(compose({ body_text: 'Hi' }, { preheader: 'There {{x}}' }).source).toMatchObject({
      html: null,
      names: [],
    });
  });

  test('takes no value for a merge field, and no property of an object for a value', () => {
    const { source } = compose(
      { subject: '{{a}}{{constructor}}{{__proto__}}' },
      { values: { a: '{{last_name}}' } },
    );
    expect(source.subject).toEqual(['{{last_name}}', ['constructor'], ['__proto__']]);
  });

  test('is not misled by texts that look like its own marks', () => {
    const fake = '\uE000n0z\uE000l1z';
    const { source } = compose(
      {
        subject: `{{first_name}}${fake}`,
        body_text: fake,
        body_html: `<a href="https://x.example/${fake}">${fake}</a>`,
      },
      { values: { x: '\uE001n0z' } },
    );
    expect(source.subject).toEqual([['first_name'], fake]);
    expect(source.text).toEqual([fake]);
    const [before, ...hidden] = HIDDEN_LINK;
    const seen = `">${fake}</a>${before}`;
    expect(source.html).toEqual(['<a href="https://mail.example/c/', 1, seen, ...hidden]);
  });

  test('ends its HTML with a link that no person sees, where there are links to follow, and its text without', () => {
    const link = '<a href="https://a.example">a</a>';
    const document = `<html><BODY>${link}</BODY></html>`;
    const html = compose({ body_html: document, body_text: 'https://a.example' }).source;
    expect([html.html?.slice(-2), html.text]).toEqual([
      [0, '" aria-hidden="true" tabindex="-1"></a></BODY></html>'],
      ['https://mail.example/c/', 1],
    ]);
    const opened = compose({ body_html: link }, { track_opens: true }).source;
    expect(opened.html?.slice(-2)).toEqual(HIDDEN_LINK.slice(1));
    const without = compose({ body_html: '<p>hi</p><a href="mailto:a@b.example">a</a>', body_text: 'hi' });
    expect([without.source.html, without.links]).toEqual([
      ['<p>hi</p><a href="mailto:a@b.example">a</a>'],
      [],
    ]);
  });

  test('gives the contact_token to token hosts alone', () => {
    const targets = [
      'https://shop.example/a',
      'https://shop.example',
      'https://SHOP.example:8443/a',
      'https://evil.example/shop.example',
      'https://shop.example.evil.example/',
      'https://shop.example@evil.example/',
      'https://evil.example#shop.example',
    ];
    const { links } = compose(
      { body_html: targets.map((url) => `<a href="${url}">x</a>`).join('') },
      { token_hosts: ['shop.example'] },
    );
    expect(links.map(({ token_hosts }) => token_hosts !== null)).toEqual([
      true,
      true,
      true,
      false,
      false,
      false,
      false,
    ]);
  });

  test('lets no value of a contact out of its place', () => {
    const { source } = compose({
      body_html: '<p title="{{custom.a}}">{{first_name}}</p>',
      body_text: '{{first_name}}',
    });
    const { frame, holes } = frameSource(source, 'key');
    const { html, text } = fillFrame({ frame, values: holes.map(() => HOSTILE) });
    expect(html?.match(/<\/?[a-z]+/gi)).toEqual(['<p', '</p']);
    expect(text).toBe(HOSTILE);
  });
});

test('a token says which link it is, and is short', () => {
  const name = { email_id: '01K9ZZZZZZZZZZZZZZZZZZZZZZ', source_id: 12_345, position: 7 };
  const token = linkToken(name, (text) => new Bun.CryptoHasher('sha256').update(text).digest('hex'));
  expect(readLinkToken(token)).toEqual(name);
  expect(token.length).toBeLessThan(52);
  for (const wrong of ['', `${token}0`, token.toUpperCase(), token.replace('-', '/')])
    expect(readLinkToken(wrong)).toBeNull();
});
