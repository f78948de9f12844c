/** What Markdown makes of itself: HTML of our own tags alone, a text that reads well, and placeholders as they were. */
import { describe, expect, test } from 'bun:test';
import { bodiesOf } from '../../../src/mail/templates/markdown.ts';

const MAX_BYTES = 512_000;

function made(markdown: string): { html: string; text: string } {
  const bodies = bodiesOf(markdown, MAX_BYTES);
  if (!bodies.ok) throw new Error(bodies.message);
  return { html: bodies.body_html ?? '', text: bodies.body_text ?? '' };
}

const htmlOf = (markdown: string): string => made(markdown).html.trim();
const textOf = (markdown: string): string => made(markdown).text;

/** The message of a text that is refused. */
function refusalOf(markdown: string, max_bytes = MAX_BYTES): string {
  const bodies = bodiesOf(markdown, max_bytes);
  return bodies.ok ? 'not refused' : bodies.message;
}

describe('HTML', () => {
  test.each([
    ['# A *b* **c** `d<e>`', '<h1>A <em>b</em> <strong>c</strong> <code>d&lt;e&gt;</code></h1>'],
    ['one\\\ntwo\nthree', '<p>one<br>\ntwo\nthree</p>'],
    ['- a\n- b', '<ul>\n<li>a</li>\n<li>b</li>\n</ul>'],
    ['3. a\n4. b', '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'],
    ['> q\n\n---', '<blockquote>\n<p>q</p>\n</blockquote>\n<hr>'],
    ['```js\na < b\n```', '<pre><code>a &lt; b\n</code></pre>'],
    ['~~no~~ [ ] example.com', '<p>~~no~~ [ ] example.com</p>'],
    ['&copy; &lt;b&gt; \\*', '<p>© &lt;b&gt; *</p>'],
  ])('%j is CommonMark', (markdown, html) => {
    expect(htmlOf(markdown)).toBe(html);
  });

  test.each([
    [
      'See https://e.com/a?b=1&c={{ id }}.',
      'See <a href="https://e.com/a?b=1&amp;c={{id}}">https://e.com/a?b=1&amp;c={{id}}</a>.',
    ],
    [
      '**(http://localhost:3000/x_(y))**',
      '<strong>(<a href="http://localhost:3000/x_(y)">http://localhost:3000/x_(y)</a>)</strong>',
    ],
    [
      'https://ü.com/é "https://"',
      '<a href="https://%C3%BC.com/%C3%A9">https://ü.com/é</a> &quot;https://&quot;',
    ],
    ['[https://a.com](https://b.com)', '<a href="https://b.com">https://a.com</a>'],
    ['`https://a.com` {{url}}', '<code>https://a.com</code> {{url}}'],
  ])('an address that stands bare is a link: %s', (markdown, html) => {
    expect(htmlOf(markdown)).toBe(`<p>${html}</p>`);
  });

  test('an address that stands bare ends where its sentence goes on, and every word stays in both bodies', () => {
    const markdown =
      '“https://e.com/1” »https://e.com/2« https://e.com/3—and https://e.com/4… 見https://e.com/5です。 <https://e.com/6”> [x](https://e.com/7”)';
    const bare = (n: number) => `<a href="https://e.com/${n}">https://e.com/${n}</a>`;
    expect(htmlOf(markdown)).toBe(
      `<p>“${bare(1)}” »${bare(2)}« ${bare(3)}—and ${bare(4)}… 見${bare(5)}です。 <a href="https://e.com/6%E2%80%9D">https://e.com/6”</a> <a href="https://e.com/7%E2%80%9D">x</a></p>`,
    );
    expect(textOf(markdown)).toBe(
      '“https://e.com/1” »https://e.com/2« https://e.com/3—and https://e.com/4… 見https://e.com/5です。 https://e.com/6%E2%80%9D x <https://e.com/7%E2%80%9D>',
    );
  });

  test('an address that stands bare is told once in the text', () => {
    expect(textOf('See https://e.com/a?b=1&c={{ id }}, or *https://f.com*.')).toBe(
      'See https://e.com/a?b=1&c={{id}}, or https://f.com.',
    );
  });

  test('tables are tables, with their columns aligned', () => {
    expect(htmlOf('| a | b |\n|:-|-:|\n| 1 | 2 |')).toBe(
      '<table cellpadding="4">\n<thead>\n<tr><th align="left">a</th><th align="right">b</th></tr>\n</thead>\n' +
        '<tbody>\n<tr><td align="left">1</td><td align="right">2</td></tr>\n</tbody>\n</table>',
    );
  });

  test('raw HTML is text, whatever it is', () => {
    for (const raw of [
      '<b>',
      '<script>alert(1)</script>',
      '<!-- c -->',
      '<?php ?>',
      '<![CDATA[x]]>',
      '<a href="x">',
    ])
      for (const markdown of [raw, `a ${raw} b`, `- ${raw}`, `\n\n${raw}\n\n`])
        expect(htmlOf(markdown).replace(/<\/?(p|ul|li)>/g, '')).not.toMatch(/[<>]/);
    expect(htmlOf('a <b>*c*</b>')).toBe('<p>a &lt;b&gt;<em>c</em>&lt;/b&gt;</p>');
  });

  test('an attribute is never left', () => {
    const { html } = made('[a](https://e.com/"onclick="x "t\\"onclick=\\"x") ![a"b](https://e.com/i.png)');
    expect(html).not.toMatch(/"\s*onclick="/);
    expect(html).toContain('alt="a&quot;b"');
  });
});

describe('links', () => {
  test.each([
    ['[a](https://example.com/x?y=1&z=2)', '<a href="https://example.com/x?y=1&amp;z=2">a</a>'],
    ['[a](HTTP://example.com "t")', '<a href="HTTP://example.com" title="t">a</a>'],
    ['[a](mailto:ann@example.com)', '<a href="mailto:ann@example.com">a</a>'],
    ['<ann@example.com>', '<a href="mailto:ann@example.com">ann@example.com</a>'],
    ['<https://example.com/{ü}>', '<a href="https://example.com/%7B%C3%BC%7D">https://example.com/{ü}</a>'],
    ['[a][r]\n\n[r]: https://example.com/%20', '<a href="https://example.com/%20">a</a>'],
    [
      '[a](https://example.com/a\\_b?c&amp;d&ouml; "t&copy;\\"")',
      '<a href="https://example.com/a_b?c&amp;d%C3%B6" title="t©&quot;">a</a>',
    ],
    [
      '<https://example.com/?a&b\\_>',
      '<a href="https://example.com/?a&amp;b%5C_">https://example.com/?a&amp;b\\_</a>',
    ],
    ['![a](https://example.com/i.png)', '<img src="https://example.com/i.png" alt="a">'],
  ])('%j is one', (markdown, html) => {
    expect(htmlOf(markdown)).toBe(`<p>${html}</p>`);
  });

  test.each([
    ['[a](javascript:alert(1))', '[a](javascript:alert(1))'],
    ['[a](JaVaScRiPt:x)', '[a](JaVaScRiPt:x)'],
    ['[*a*](&#106;avascript:x)', '[<em>a</em>](javascript:x)'],
    ['[a](data:text/html,x)', '[a](data:text/html,x)'],
    ['[a](vbscript:x)', '[a](vbscript:x)'],
    ['[a](file:///etc/passwd)', '[a](file:///etc/passwd)'],
    ['[a](//example.com)', '[a](//example.com)'],
    ['[a](/b)', '[a](/b)'],
    ['[a](http:b)', '[a](http:b)'],
    ['[a]()', '[a]()'],
    ['<javascript:x>', 'javascript:x'],
    ['[a][r]\n\n[r]: javascript:x', '[a](javascript:x)'],
    ['[r]\n\n[r]: tel:1', '[r](tel:1)'],
    ['![a](data:image/png;base64,x)', '![a](data:image/png;base64,x)'],
    ['![a](mailto:ann@example.com)', '![a](mailto:ann@example.com)'],
    ['![a][r]\n\n[r]: cid:1', '![a](cid:1)'],
    ['![a&amp;b](&#106;avascript:x)', '![a&amp;b](javascript:x)'],
    ['[a](java{{x}}script:y)', '[a](java{{x}}script:y)'],
    ['[a]({{x}}javascript:y)', '[a]({{x}}javascript:y)'],
    ['![a]({{x}}da{{y}}ta:z)', '![a]({{x}}da{{y}}ta:z)'],
    ['[a]({\\{x}})', '[a]({{x}})'],
  ])('%j is text', (markdown, html) => {
    expect(htmlOf(markdown)).toBe(`<p>${html}</p>`);
    expect(textOf(markdown)).not.toBe('');
  });

  test('a picture in a link that is none is still a picture', () => {
    expect(htmlOf('[![a](https://example.com/i.png)](x:y)')).toBe(
      '<p>[<img src="https://example.com/i.png" alt="a">](x:y)</p>',
    );
  });
});

describe('placeholders', () => {
  test.each([
    ['Hi **{{ name }}**', '<p>Hi <strong>{{name}}</strong></p>'],
    ['_{{name}}_ a{{b}}_c_', '<p><em>{{name}}</em> a{{b}}_c_</p>'],
    ['{{a_b}} and {{c_d}} *x*', '<p>{{a_b}} and {{c_d}} <em>x</em></p>'],
    ['[{{ a }}]({{ url }} "{{t}}")', '<p><a href="{{url}}" title="{{t}}">{{a}}</a></p>'],
    ['[a]({{url}}/x y)', '<p>[a]({{url}}/x y)</p>'],
    ['[a]({{url}}/ü?{{q}})', '<p><a href="{{url}}/%C3%BC?{{q}}">a</a></p>'],
    ['[a](https://e.com/{{ id }}/{{ id }})', '<p><a href="https://e.com/{{id}}/{{id}}">a</a></p>'],
    ['<{{url}}> <{{url}}/a>', '<p><a href="{{url}}">{{url}}</a> <a href="{{url}}/a">{{url}}/a</a></p>'],
    ['[a]({{host}}:8420/{{x}})', '<p><a href="{{host}}:8420/{{x}}">a</a></p>'],
    ['[a][r]\n\n[r]: {{url}}', '<p><a href="{{url}}">a</a></p>'],
    ['![{{a}}]({{src}})', '<p><img src="{{src}}" alt="{{a}}"></p>'],
    ['`{{ a }}`\n\n    {{ b }}', '<p><code>{{a}}</code></p>\n<pre><code>{{b}}\n</code></pre>'],
    ['{{{a}}} {{#if x}}', '<p>{{{a}}} {{#if x}}</p>'],
    ['{{ custom.a|b }}', '<p>{{custom.a|b}}</p>'],
    ['{{<b>}}', '<p>{{&lt;b&gt;}}</p>'],
    // What looks like the marks that stand for them within is nobody's placeholder.
    ['ph:\uFDD00\uFDD1 {{a}}', '<p>ph:\uFFFD0\uFFFD {{a}}</p>'],
  ])('of %j come out as they went in', (markdown, html) => {
    expect(htmlOf(markdown)).toBe(html);
  });
});

describe('text', () => {
  test('reads as somebody would have written it', () => {
    const markdown = `# Hello *{{ name }}*

Your **order** is [on its way]({{ url }}):
see <https://example.com/a>, or [write](mailto:ann@example.com).\\
Bye ![logo](https://example.com/l.png)

- tea
- bread
  1. white
  2. brown

> she said
>
> - this

* * *

1. one

   more

2. two

\`\`\`
a  b

c
\`\`\`

## Prices

| Item  | Price |
|-------|------:|
| Tea 茶 | 3 |
| Bread | 12.50 |
`;
    expect(textOf(markdown)).toBe(`Hello {{name}}
==============

Your order is on its way <{{url}}>:
see https://example.com/a, or write <ann@example.com>.
Bye logo

- tea
- bread
  1. white
  2. brown

> she said
>
> - this

----------

1. one

   more

2. two

    a  b

    c

Prices
------

Item    Price
------  -----
Tea 茶      3
Bread   12.50`);
  });

  test('a table that is too wide is told row by row', () => {
    const long = 'lorem '.repeat(14).trim();
    expect(textOf(`| A | B | |\n|-|-|-|\n| ${long} | 1 | x |\n| y | | |`)).toBe(
      `A: ${long}\nB: 1\nx\n\nA: y`,
    );
  });

  test('an item without content keeps its place', () => {
    expect(textOf('- a\n-\n- c')).toBe('- a\n- \n- c');
  });
});

describe('bounds', () => {
  test('what shows nothing makes no body', () => {
    expect(bodiesOf(' \n[a]: https://example.com', MAX_BYTES)).toEqual({
      ok: true,
      body_html: null,
      body_text: null,
    });
    expect(bodiesOf('![](https://example.com/i.png)', MAX_BYTES)).toMatchObject({
      ok: true,
      body_text: null,
    });
  });

  test('is refused where it is nested too deep or makes too much', () => {
    expect(textOf(`${'> '.repeat(50)}a`)).toBe(`${'> '.repeat(50)}a`);
    for (const deep of ['> ', '- ', '1. '])
      expect(refusalOf(`${deep.repeat(500)}a`)).toContain('deeper than 100');
    expect(refusalOf(`${'*'.repeat(5_000)}a${'*'.repeat(5_000)}`)).toContain('deeper than 100');
    expect(refusalOf('ü'.repeat(600), 1_000)).toBe('must not make a body of more than 1000 bytes');
    const often = `[a]: https://example.com/${'u'.repeat(20_000)}\n\n${'[a] '.repeat(5_000)}`;
    expect(refusalOf(often)).toContain('body of more than');
  });

  // Each of these has cost some parser more than its length; the largest body that is allowed by default ends all the same.
  test.each([
    ...[
      '[',
      '![',
      '[a](b',
      '[](',
      '*a_ ',
      '*_* _ ',
      '`a``',
      '> ',
      '- ',
      '<',
      '<!--',
      '<?',
      '&',
      '\\',
      '~~a',
      'a@',
      '{{',
    ],
    ...[
      '[a]: u\n',
      '[a]: b "c\n',
      '[a\n',
      '[a](<b ',
      '|a|\n|-|\n',
      '|a',
      'a\n=\n',
      '\ta\n',
      '```\n',
      '- [x] a\n',
      '> - ',
    ],
  ])('%j over and over', (piece) => {
    const markdown = piece.repeat(MAX_BYTES / piece.length);
    expect(() => bodiesOf(markdown, MAX_BYTES)).not.toThrow();
  });

  test('many columns and many rows', () => {
    const columns = 20_000;
    const table = `|${'a|'.repeat(columns)}\n|${'-|'.repeat(columns)}\n${'|b\n'.repeat(columns)}`;
    expect(() => bodiesOf(table, MAX_BYTES)).not.toThrow();
  });
});
