/** Placeholders: what is one, which values they take, how each part of a mail encodes them, and hostile input. */
import { describe, expect, test } from 'bun:test';
import {
  compileTemplate,
  type DeclaredVariable,
  missingRequired,
  placeholdersOf,
  type RenderMode,
  renderTemplate,
  type Variables,
} from '../../../src/mail/templates/placeholders.ts';

function render(
  source: string,
  variables: Variables,
  mode: RenderMode = 'text',
  declared: DeclaredVariable[] = [],
) {
  return renderTemplate(compileTemplate(source), variables, { mode, declared });
}

function textOf(source: string, variables: Variables, mode: RenderMode = 'text'): string {
  const rendered = render(source, variables, mode);
  if (!rendered.ok) throw new Error(JSON.stringify(rendered));
  return rendered.text;
}

function failure(missing: string[], bad: string[] = []) {
  return { ok: false, missing, bad, is_too_long: false } as const;
}

describe('a placeholder', () => {
  test.each([
    ['Hello {{name}}!', 'Hello Ada!'],
    ['Hello {{ name }}!', 'Hello Ada!'],
    ['{{  name\t}}', 'Ada'],
    ['{{\n  name\n}}', 'Ada'],
    ['{{name}}{{name}}', 'AdaAda'],
    ['{{{name}}}', '{Ada}'],
    ['{{ user.email }}', 'ada@example.com'],
    ['{{user.address.city}}', 'London'],
    ['{{items.1}}', 'two'],
    ['{{prénom}} {{名前}}', 'Adèle エイダ'],
    ['{{custom.Company Name}}', 'Engines'],
    ['{{__html}}', 'fine'],
  ])('%p renders as %p', (source, text) => {
    expect(
      textOf(source, {
        name: 'Ada',
        user: { email: 'ada@example.com', address: { city: 'London' } },
        items: ['one', 'two'],
        prénom: 'Adèle',
        名前: 'エイダ',
        custom: { 'Company Name': 'Engines' },
        __html: 'fine',
      }),
    ).toBe(text);
  });

  test.each([
    '',
    'no braces',
    '{name}',
    '{ {name} }',
    '{{}}',
    '{{ }}',
    '{{name}',
    '{{name',
    'name}}',
    '{{a{b}}',
    '{{.}}',
    '{{a..b}}',
    '{{a.}}',
    '@media x{a{b:c}}',
    `{{${'n'.repeat(256)}}}`,
  ])('is not in %p, which stays as it is', (source) => {
    expect(textOf(source, { name: 'Ada' })).toBe(source);
    expect(placeholdersOf(source)).toEqual([]);
  });

  test('is found behind what only looks like the beginning of one', () => {
    expect(textOf('{{ {{a{{name}}}} {{', { name: 'Ada' })).toBe('{{ {{aAda}} {{');
  });

  test('is listed once, in order of first appearance', () => {
    expect(placeholdersOf('{{b}} {{ a }} {{b}} {{a.c}}')).toEqual(['b', 'a', 'a.c']);
  });

  test.each(['#if name', '/each', 'name | upper', 'else', '> partial', 'first  name'])(
    'of another language, {{%s}}, is reported, not mailed',
    (name) => {
      expect(render(`{{${name}}}`, { name: 'Ada' })).toEqual(failure([name]));
    },
  );
});

describe('a value', () => {
  test.each([
    ['Ada', 'Ada'],
    ['', ''],
    [0, '0'],
    [-1.5, '-1.5'],
    [true, 'true'],
    [false, 'false'],
  ])('%p becomes the text %p', (value, text) => {
    expect(textOf('{{v}}', { v: value })).toBe(text);
  });

  test('that is null or absent counts as missing, by the whole name', () => {
    expect(render('{{a}} {{b}} {{c.d}} {{a}}', { a: null, c: {} })).toEqual(failure(['a', 'b', 'c.d']));
  });

  test('that is an object or an array is an error, by name alone', () => {
    const rendered = render('{{a}} {{b}} {{c}}', { a: { secret: 's3cret' }, b: ['s3cret'] });
    expect(rendered).toEqual(failure(['c'], ['a', 'b']));
    expect(JSON.stringify(rendered)).not.toContain('s3cret');
  });

  test.each(['9007199254740993', '-12345678901234567890', '1e21', '1e400'])(
    'that is the number %s is an error: its digits were lost when the JSON was read',
    (number) => {
      expect(render('{{v}} {{w}}', JSON.parse(`{"v": ${number}, "w": 1}`))).toEqual(failure([], ['v']));
    },
  );

  test('may be a number as large as JSON keeps exactly', () => {
    const variables: Variables = JSON.parse('{"v": 9007199254740991, "w": -9007199254740991, "x": 1.10}');
    expect(textOf('{{v}} {{w}} {{x}}', variables)).toBe('9007199254740991 -9007199254740991 1.1');
  });

  test('is never looked through for placeholders', () => {
    expect(textOf('{{a}}{{b}}', { a: '{{b}}', b: '{{a}} {{__proto__}}' })).toBe('{{b}}{{a}} {{__proto__}}');
    expect(textOf('{{a}}{b}}', { a: '{', b: 'x' })).toBe('{{b}}');
    expect(textOf('{{a}}', { a: "$& $1 $` $'" })).toBe("$& $1 $` $'");
  });

  test.each([
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'a.constructor',
    'a.__proto__.polluted',
    'a.constructor.name',
    'name.length',
    'name.0',
  ])('is never found at {{%s}}', (name) => {
    expect(render(`{{${name}}}`, { a: { x: 1 }, name: 'Ada' })).toEqual(failure([name]));
  });

  test('is not found at __proto__ or constructor even where JSON made them own properties', () => {
    const variables: Variables = JSON.parse(
      '{"__proto__": "x", "constructor": "x", "a": {"__proto__": {"b": "x"}}}',
    );
    expect(render('{{__proto__}}{{constructor}}{{a.__proto__.b}}', variables)).toEqual(
      failure(['__proto__', 'constructor', 'a.__proto__.b']),
    );
  });
});

describe('encoding', () => {
  const value = `<a href="x">'&amp;'</a>\r\nBcc: x`;

  test('escapes in HTML, in the values alone', () => {
    expect(textOf('<p title="{{v}}">{{v}}</p>', { v: '<"&\'>' }, 'html')).toBe(
      '<p title="&lt;&quot;&amp;&#x27;&gt;">&lt;&quot;&amp;&#x27;&gt;</p>',
    );
    expect(textOf('{{v}}', { v: value }, 'html')).toBe(
      '&lt;a href=&quot;x&quot;&gt;&#x27;&amp;amp;&#x27;&lt;/a&gt;\r\nBcc: x',
    );
  });

  test('leaves values as they are in text', () => {
    expect(textOf('{{v}}', { v: value }, 'text')).toBe(value);
  });

  test('strips every kind of line break in a subject, and escapes nothing', () => {
    expect(textOf('Re: {{v}}', { v: value }, 'subject')).toBe(`Re: <a href="x">'&amp;'</a>Bcc: x`);
    expect(textOf('{{v}}!', { v: 'a\nb\rc\u2028d\u2029e\u0085f\vg\fh\r\n' }, 'subject')).toBe('abcdefgh!');
  });
});

describe('declared variables', () => {
  const declared: DeclaredVariable[] = [
    { name: 'name', required: true },
    { name: 'nick' },
    { name: 'title', required: false, description: 'Dr, say' },
    { name: 'user' },
    { name: 'user.id', required: true },
  ];

  test('render empty when they are optional and have no value', () => {
    expect(render('[{{nick}}{{title}}{{user.city}}]', { title: null, user: {} }, 'text', declared)).toEqual({
      ok: true,
      text: '[]',
    });
  });

  test('are missing when they are required, as undeclared ones are', () => {
    expect(render('{{name}}{{user.id}}{{other}}{{nickname}}', {}, 'text', declared)).toEqual(
      failure(['name', 'user.id', 'other', 'nickname']),
    );
  });

  test('are an error as objects even when they are optional', () => {
    expect(render('{{nick}}', { nick: {} }, 'text', declared)).toEqual(failure([], ['nick']));
  });

  test('that are required must be supplied even where the template does not use them', () => {
    expect(missingRequired(declared, {})).toEqual(['name', 'user.id']);
    expect(missingRequired(declared, { name: null, user: { id: 0 } })).toEqual(['name']);
    expect(missingRequired(declared, { name: '', user: { id: false } })).toEqual([]);
  });
});

describe('hostile input', () => {
  const SIZE = 500_000;

  test('a rendered text that would be too long is not built', () => {
    const compiled = compileTemplate('{{v}}'.repeat(100_000));
    const variables = { v: 'x'.repeat(SIZE) };
    expect(renderTemplate(compiled, variables, { mode: 'text' })).toMatchObject({
      ok: false,
      is_too_long: true,
    });
    const short = compileTemplate('ab{{v}}');
    expect(renderTemplate(short, { v: '<<' }, { mode: 'text', max_chars: 4 })).toMatchObject({
      text: 'ab<<',
    });
    expect(renderTemplate(short, { v: '<<' }, { mode: 'html', max_chars: 4 })).toMatchObject({
      is_too_long: true,
    });
  });

  // Anything quadratic would take minutes on half a megabyte, far beyond the test's own time limit.
  test.each([
    ['opening braces', '{{'.repeat(SIZE / 2)],
    ['an odd number of braces', '{'.repeat(SIZE - 1)],
    ['closing braces', '}}'.repeat(SIZE / 2)],
    ['openings without an end', '{{a'.repeat(SIZE / 3)],
    ['one opening and a long name', `{{${'a'.repeat(SIZE)}`],
    ['one placeholder too long', `{{${'a'.repeat(SIZE)}}}`],
    ['openings and spaces', '{{ '.repeat(SIZE / 3)],
    ['half-closed ones', '{{a}'.repeat(SIZE / 4)],
    ['empty ones', '{{}}'.repeat(SIZE / 4)],
    ['dots', `{{${'.'.repeat(250)}}}`.repeat(SIZE / 254)],
    ['spaces within', `{{${' '.repeat(SIZE)}}}`],
  ])('of %s stays as it is, in linear time', (_name, source) => {
    expect(textOf(source, {}) === source).toBe(true);
  });

  test('of many names and of deep ones is answered in linear time', () => {
    const many = Array.from({ length: 50_000 }, (_, index) => `{{n${index}}}`).join('');
    const declared = Array.from({ length: 100 }, (_, index) => ({ name: `declared_${index}` }));
    const rendered = render(many, {}, 'html', declared);
    expect(rendered.ok ? 0 : rendered.missing.length).toBe(50_000);
    const deep = `{{${'a.'.repeat(120)}a}}`.repeat(2_000);
    expect(render(deep, { a: {} }).ok).toBe(false);
  });
});
