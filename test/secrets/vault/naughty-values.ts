/** Values that make trouble on their way through quotes, expansions and shells: written by hand, crossed, and random. */

/** The same numbers in every run (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

const BY_HAND: readonly string[] = [
  '',
  ' ',
  '\t',
  '\n',
  '\n\n',
  '\v\f',
  ' edges stay ',
  '\tedges stay\t',
  '\nedges stay\n',
  '\u00a0edges stay\ufeff',
  'undefined',
  'null',
  'true',
  '-1',
  '0x10',
  '1e309',
  'NaN',
  'a=b=c',
  '=',
  'export FOO=bar',
  'FOO: bar',
  '# no comment',
  'text # no comment',
  'text#no comment',
  "it's",
  `it's "both"`,
  'three \' " ` kinds',
  '"',
  "'",
  '`',
  `""`,
  "''",
  '``',
  `"quoted"`,
  "'quoted'",
  '`quoted`',
  `'"\``,
  `"'`,
  `\\"escaped\\"`,
  `\\'escaped\\'`,
  '\\`escaped\\`',
  '{"json": "it\'s", "n": [1, null]}',
  '{\n  "type": "service_account",\n  "private_key": "-----BEGIN\\nMIIE\\n-----END\\n"\n}\n',
  '-----BEGIN PRIVATE KEY-----\nMIIE+/=\n-----END PRIVATE KEY-----\n',
  '-----BEGIN PRIVATE KEY-----\r\nMIIE+/=\r\n-----END PRIVATE KEY-----\r\n',
  'carriage\r\nreturn\r',
  '\r',
  '\\',
  '\\\\',
  'ends in a backslash\\',
  '# after one that ends in a backslash',
  `it's "\\`,
  '# and after another',
  ' ends in a backslash\\',
  'two lines\nand a backslash\\',
  'not a line break: \\n \\r \\t',
  'C:\\new\\run',
  '\\\n',
  "'\\\n",
  '$',
  '$$',
  '$HOME',
  '$' + '{HOME}',
  '$' + '{a:-default}',
  '$' + '{a-default}',
  '$' + '{a:+other}',
  '$' + '{a:-$' + '{b:-$' + '{c}}}',
  '$' + '{a:-$' + '{b}} \\$a',
  '$a-x\\$a',
  '\\$a',
  '\\\\$a',
  '\\\\\\$a',
  '\\$',
  '\\$ \\$( \\$' + '{}',
  '$(id)',
  '`id`',
  '$((1+1))',
  'pa$$word',
  'pa$a$b$word$',
  '$a.b-c',
  '$1 $@ $* $? $! $#',
  '%PATH% %s %n',
  '!history !!',
  '~ ~root',
  '* ? [a-z] {a,b}',
  '; rm -rf / | cat && true &',
  '<script>alert(1)</script>',
  "' OR 1=1 --",
  '\u0001\u001b[31m\u007f',
  '\u0085\u2028\u2029',
  'one\u2028two',
  `one\u2028two "' \``,
  `'\u2028"\``,
  'ünïcödé',
  '🙂👩‍👩‍👧‍👦',
  '\u202eevil\u202c',
  'Ω≈ç√∫˜µ≤≥÷',
  '田中さんにあげて下さい',
  'الكل في المجمو عة',
  'Z̮̞̠͙͔ͅḀ̗̞͈̻̗Ḷ͙͎̯̹̞͓G̻O̭̗̮',
  '\u0080\u0081\u0088\u00ff',
  'x'.repeat(65_536),
];

const DECORATIONS: readonly [before: string, after: string][] = [
  ['', '\\'],
  ['$a ', ' $a'],
  ["'", '"`'],
  [' ', ' #'],
  ['\\$a', '\n'],
];

const PARTS: readonly string[] = [
  ...['a', 'n', 'r', 'B=', 'é', '🙂', '.', '-', ':', '(', '{', '}', 'export '],
  ...["'", '"', '`', '\\', '#', ' ', '\t', '\n', '\r', '\u2028', '\u00a0', '\ufeff', '\u0001'],
  ...['$', '$a', '$a-', '$' + '{', '$' + '{a}', '$' + '{a:-', '\\$', '\\n', '\\r', "\\'", '\\"'],
];

export function naughtyValues(): string[] {
  const random = createRandom(7);
  const pick = (): string => PARTS[Math.floor(random() * PARTS.length)] ?? '';
  const made = Array.from({ length: 900 }, () =>
    Array.from({ length: Math.floor(random() * 8) }, pick).join(''),
  );
  const crossed = BY_HAND.flatMap((value) =>
    DECORATIONS.map(([before, after]) => before + value.slice(0, 60_000) + after),
  );
  return [...new Set([...BY_HAND, ...crossed, ...made])];
}
