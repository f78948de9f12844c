// Media types: what bytes show, which type a file gets, what an allow-list takes, and how a browser may treat it.
import { describe, expect, test } from 'bun:test';
import { parse } from 'content-disposition';
import {
  contentSecurityPolicyFor,
  dispositionFor,
  essenceOf,
} from '../../../src/platform/files/media-types.ts';
import {
  chooseMediaType,
  isAllowedMediaType,
  sniffMediaType,
} from '../../../src/platform/files/type-detection.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const ELF = Buffer.from('\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0', 'latin1');
const ZIP = Buffer.from('PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1');

describe('sniffing', () => {
  test.each([
    ['a PNG', PNG, 'image/png'],
    ['a JPEG', Buffer.from('\xff\xd8\xff\xe0\0\x10JFIF\0', 'latin1'), 'image/jpeg'],
    ['a PDF', '%PDF-1.7\n1 0 obj', 'application/pdf'],
    ['a program', ELF, 'application/x-elf'],
    ['an archive', ZIP, 'application/zip'],
    ['HTML with a document type', '\ufeff \n<!DOCTYPE html><title>x</title>', 'text/html'],
    ['HTML by its element', '<SCRIPT>alert(1)</SCRIPT>', 'text/html'],
    ['HTML after a comment', '<!-- x --><body>', 'text/html'],
    ['HTML with a zero byte in it', '<html>\0', 'text/html'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'image/svg+xml'],
    [
      'SVG after a prologue',
      '<?xml version="1.0"?>\n<!-- x -->\n<!DOCTYPE svg PUBLIC "a" "b">\n<svg>',
      'image/svg+xml',
    ],
    ['SVG with a prefix', '<?xml version="1.0"?><s:svg xmlns:s="x"/>', 'image/svg+xml'],
    ['XHTML', '<?xml version="1.0"?><html/>', 'application/xhtml+xml'],
    ['other XML', '<?xml version="1.0"?><feed/>', 'application/xml'],
    ['plain text', 'Grüße\n', 'text/plain'],
    ['a table', 'a,b\n1,2\n', 'text/plain'],
    ['JSON', '{"a": 1}', 'text/plain'],
    ['text in Latin-1', Buffer.from('Gr\xfc\xdfe', 'latin1'), 'text/plain'],
    ['text in UTF-16', Buffer.from('\ufeffhello', 'utf16le'), 'text/plain'],
    ['text that begins like a bitmap', 'BMW sells cars', 'text/plain'],
    ['text that begins like a program', 'MZ,b\n1,2\n', 'text/plain'],
    ['a shell script', '#!/bin/sh\nrm x\n', 'text/plain'],
    ['mail addresses in brackets', '<ann@example.org>', 'text/plain'],
    ['nothing', '', null],
    ['unknown bytes', Buffer.from([1, 2, 3, 4, 5]), null],
  ] satisfies [string, string | Buffer, string | null][])('%s', async (_, head, type) => {
    expect(await sniffMediaType(Buffer.from(head))).toBe(type);
  });

  test('a picture cut off after its first bytes is still known', async () => {
    expect(await sniffMediaType(PNG.subarray(0, 24))).toBe('image/png');
  });
});

describe('choosing', () => {
  const choose = (declared: string | null, sniffed: string | null, filename: string): string =>
    chooseMediaType({ declared, sniffed, filename });

  test.each(['f', 'html', '.html', 'json', ''])('%p has no extension', (filename) => {
    expect(choose(null, null, filename)).toBe('application/octet-stream');
  });

  test('the type the part names comes first, with its parameters', () => {
    expect(choose('Text/CSV; charset="utf-8"; header=present', 'text/plain', 'a.bin')).toBe(
      'Text/CSV; charset="utf-8"; header=present',
    );
  });

  test.each([null, '', 'application/octet-stream', 'Application/Octet-Stream; x=y'])(
    '%p counts as none',
    (declared) => {
      expect(choose(declared, 'image/png', 'a.gif')).toBe('image/png');
    },
  );

  test.each([
    'image',
    'image/',
    'image/png\r\nX-Evil: 1',
    'image/png;',
    'image/png; a',
    'image png',
    'image/png, text/html',
    'image/\u00fc',
    '<b>/x',
    `a/${'b'.repeat(300)}`,
  ])('%p is no type', (declared) => {
    expect(choose(declared, null, 'a.pdf')).toBe('application/pdf');
  });

  test('bytes come before the extension, the extension before the unknown', () => {
    expect(choose(null, 'image/png', 'a.pdf')).toBe('image/png');
    expect(choose(null, null, 'a.woff2')).toBe('font/woff2');
    expect(choose(null, null, 'a.unheard-of')).toBe('application/octet-stream');
    expect(choose(null, null, 'file')).toBe('application/octet-stream');
  });

  test('an extension refines bytes that show only a general form', () => {
    expect(choose(null, 'text/plain', 'a.csv')).toBe('text/csv');
    expect(choose(null, 'text/plain', 'a.json')).toBe('application/json');
    expect(choose(null, 'application/zip', 'a.docx')).toMatch(/wordprocessingml\.document$/);
    expect(choose(null, 'application/xml', 'a.atom')).toBe('application/atom+xml');
  });

  test('an extension does not contradict the bytes', () => {
    expect(choose(null, 'text/plain', 'a.png')).toBe('text/plain');
    expect(choose(null, 'application/zip', 'a.pdf')).toBe('application/zip');
    expect(choose(null, 'text/html', 'a.txt')).toBe('text/html');
  });

  test('the essence has no parameters and no capitals', () => {
    expect(essenceOf(' Text/HTML ; charset=x')).toBe('text/html');
  });
});

describe('the allow-list', () => {
  const takes = (allowed: string[], mime_type: string, sniffed: string | null): boolean =>
    isAllowedMediaType({ mime_type, sniffed }, allowed);
  const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

  test.each([
    ['anything under an empty list', [], 'application/x-elf', 'application/x-elf'],
    ['a picture', ['image/*'], 'image/png', 'image/png'],
    ['a picture called another one', ['image/*'], 'image/png', 'image/jpeg'],
    ['a picture by its other name', ['image/jpeg'], 'image/jpg', 'image/jpeg'],
    ['a type with parameters and capitals', ['text/csv'], 'TEXT/CSV; charset=utf-8', 'text/plain'],
    ['unknown bytes', ['image/*'], 'image/x-new', null],
    ['a table', ['text/csv'], 'text/csv', 'text/plain'],
    ['JSON', ['application/json'], 'application/json', 'text/plain'],
    ['Markdown that begins with HTML', ['text/markdown'], 'text/markdown', 'text/html'],
    ['SVG that shows only XML', ['image/svg+xml'], 'image/svg+xml', 'application/xml'],
    ['a document that shows only its archive', [DOCX], DOCX, 'application/zip'],
    ['a document called an archive', ['application/zip'], 'application/zip', DOCX],
    ['an old document', ['application/msword'], 'application/msword', 'application/x-cfb'],
    ['a song in a film container', ['audio/*'], 'audio/mp4', 'video/mp4'],
    ['a calendar', ['text/plain'], 'text/plain', 'text/calendar'],
    ['a film by its older name', ['video/x-msvideo'], 'video/x-msvideo', 'video/vnd.avi'],
    [
      'an archive by its newer name',
      ['application/vnd.rar'],
      'application/x-rar',
      'application/x-rar-compressed',
    ],
    ['a picture that moves', ['image/png'], 'image/png', 'image/apng'],
  ] satisfies [string, string[], string, string | null][])('takes %s', (_, allowed, mime_type, sniffed) => {
    expect(takes(allowed, mime_type, sniffed)).toBe(true);
  });

  test.each([
    ['what it does not name', ['image/*'], 'application/pdf', 'application/pdf'],
    ['HTML called a picture', ['image/*'], 'image/png', 'text/html'],
    ['a program called a picture', ['image/*'], 'image/png', 'application/x-elf'],
    ['plain text called a picture', ['image/*'], 'image/png', 'text/plain'],
    ['plain text called SVG', ['image/*'], 'image/svg+xml', 'text/plain'],
    ['HTML called plain text', ['text/plain'], 'text/plain', 'text/html'],
    ['HTML where Markdown is allowed', ['text/markdown'], 'text/html', 'text/html'],
    ['plain text called an archive', ['application/zip'], 'application/zip', 'text/plain'],
    ['plain text called an old document', ['application/msword'], 'application/msword', 'text/plain'],
    ['a program called JSON', ['application/json'], 'application/json', 'application/x-elf'],
    ['a film called so where songs are allowed', ['audio/mp4'], 'video/mp4', 'video/mp4'],
    ['an archive called a PDF', ['application/pdf'], 'application/pdf', 'application/zip'],
    ['a film called a song', ['audio/mpeg'], 'audio/mpeg', 'video/mp4'],
    [
      'a program where only the unknown is allowed',
      ['application/octet-stream'],
      'application/x-msdownload',
      null,
    ],
    ['a type whose start is allowed', ['image/pn'], 'image/png', 'image/png'],
  ] satisfies [string, string[], string, string | null][])('refuses %s', (_, allowed, mime_type, sniffed) => {
    expect(takes(allowed, mime_type, sniffed)).toBe(false);
  });
});

describe('what a browser may do with it', () => {
  test.each([
    'image/png',
    'IMAGE/PNG',
    'audio/mpeg',
    'video/mp4',
    'application/pdf',
    'text/plain; charset=utf-8',
  ])('%s is shown', (mime_type) => {
    expect(dispositionFor({ mime_type, filename: 'a', download: false })).toStartWith('inline; ');
    expect(dispositionFor({ mime_type, filename: 'a', download: true })).toStartWith('attachment; ');
  });

  test.each([
    'image/svg+xml',
    'Image/SVG+XML; x=y',
    'text/html',
    'text/xml',
    'application/octet-stream',
    'text/csv',
  ])('%s is downloaded', (mime_type) => {
    expect(dispositionFor({ mime_type, filename: 'a', download: false })).toStartWith('attachment; ');
  });

  test('the file name is there in both forms of RFC 6266', () => {
    expect(dispositionFor({ mime_type: 'image/png', filename: 'a b.png', download: false })).toBe(
      `inline; filename="a b.png"; filename*=UTF-8''a%20b.png`,
    );
    expect(dispositionFor({ mime_type: 'image/png', filename: 'naïve €.png', download: false })).toBe(
      `inline; filename="na_ve _.png"; filename*=UTF-8''na%C3%AFve%20%E2%82%AC.png`,
    );
  });

  test.each(['a"b\\c;d.txt', "it's 100%41.txt", 'x\r\nSet-Cookie: a=b', '\ud800.txt', 'ü'.repeat(127)])(
    'the name %p makes a header that reads back',
    (filename) => {
      const header = dispositionFor({ mime_type: 'text/csv', filename, download: false });
      expect(header).toMatch(/^[\x20-\x7e]+$/);
      const expected = filename.toWellFormed().replace(/[\r\n]/g, '');
      expect(parse(header).parameters.filename).toBe(expected);
    },
  );

  test('all but a PDF is sandboxed, and nothing may load from elsewhere', () => {
    expect(contentSecurityPolicyFor('application/pdf')).toBe("default-src 'none'");
    for (const mime_type of ['text/html', 'image/svg+xml', 'image/png', 'text/plain']) {
      const policy = contentSecurityPolicyFor(mime_type).split('; ');
      expect(policy).toContain('sandbox');
      expect(policy).toContain("default-src 'none'");
      expect(policy.join()).not.toContain('script-src');
    }
  });
});
