/**
 * Parses Markdown into a tree. Placeholders are taken out before and put back after. Links that may not lead
 * where they do become text.
 */
import { decodeHTMLStrict } from 'entities';
import { MAX_MARKDOWN_DEPTH } from '../../limits.ts';
import { compileTemplate } from './placeholders.ts';

/** A piece of text, or an element named as in HTML. Placeholders are as saved, all else as shown. */
export type MarkdownNode = string | MarkdownElement;

export interface MarkdownElement {
  tag: string;
  children: readonly MarkdownNode[];
  /** Where a link or a picture leads, not escaped for an attribute yet; '' for other elements. */
  address: string;
  /** True of a link that shows just its address. */
  is_bare: boolean;
  /** Of a link or a picture. */
  title: string;
  /** Of a picture. */
  alt: string;
  /** The first number of an ordered list. */
  start: number;
  /** Of a table's cell: left, center, right or ''. */
  align: string;
}

export class TooDeep extends Error {}

/*
 * Noncharacters: Unicode reserves them for use within a program, so no text has them. The scheme `ph:` before
 * them lets a placeholder begin an address, so that `<{{url}}>` is a link.
 */
const MARK = { before: 'ph:\uFDD0', after: '\uFDD1' };
const MARKED = /ph:\uFDD0(\d+)\uFDD1/;
const NONCHARACTERS = /[\uFDD0\uFDD1]/g;

/** A name with these would be another one in HTML. It stays text, and no send has a value for it. */
const NOT_FOR_HTML = /[<>&"']/;

/** Throws TooDeep. */
export function parseMarkdown(markdown: string): MarkdownNode[] {
  const names: string[] = [];
  const marked = compileTemplate(markdown.replace(NONCHARACTERS, '\uFFFD')).parts.map((part) => {
    if (typeof part === 'string') return part;
    if (NOT_FOR_HTML.test(part.name)) return `{{${part.name}}}`;
    return `${MARK.before}${names.push(part.name) - 1}${MARK.after}`;
  });
  const tree: unknown = Bun.markdown.react(
    marked.join(''),
    {},
    { noHtmlBlocks: true, strikethrough: false, tasklists: false },
  );
  return new Reader(names).read(propsOf(tree).children, { depth: 0, may_link: true });
}

/** Reads the parser's tree (of React elements), and puts the placeholders back. */
class Reader {
  constructor(private readonly names: readonly string[]) {}

  /** Bare addresses become links, but not inside other links or code. */
  read(value: unknown, at: { depth: number; may_link: boolean }): MarkdownNode[] {
    const { depth, may_link } = at;
    if (depth > MAX_MARKDOWN_DEPTH) throw new TooDeep();
    if (typeof value === 'string') return may_link ? this.#linked(value) : [this.#text(value)];
    if (Array.isArray(value)) return joined(value).flatMap((each) => this.read(each, at));
    const props = propsOf(value);
    const tag = typeof value === 'object' && value !== null && 'type' in value ? value.type : null;
    if (typeof tag !== 'string') return [];
    const element = {
      tag,
      children: this.read(props.children ?? [], {
        depth: depth + 1,
        may_link: may_link && !UNLINKED.has(tag),
      }),
      address: '',
      is_bare: false,
      title: this.#text(readEscapes(textOf(props.title))),
      alt: this.#text(textOf(props.alt)),
      start: typeof props.start === 'number' ? props.start : 1,
      align: textOf(props.align),
    };
    if (tag === 'a') return this.#link(element, textOf(props.href));
    return tag === 'img' ? this.#picture(element, textOf(props.src)) : [element];
  }

  #linked(text: string): MarkdownNode[] {
    return splitAtLinks(text).flatMap((part, index): MarkdownNode[] => {
      const shown = this.#text(part);
      if (index % 2 === 0) return shown === '' ? [] : [shown];
      return [{ ...PLAIN_LINK, children: [shown], address: this.#address(part) }];
    });
  }

  #link(element: MarkdownElement, href: string): MarkdownNode[] {
    const label = element.children.join('');
    // In angle brackets nothing is escaped, and the parser gives mail addresses no scheme.
    const target = label === this.#text(href) ? href : readEscapes(href);
    const shown = this.#text(target);
    const is_bare = label === shown;
    const is_email = is_bare && /^[^/:?#]+@[^/?#]+$/.test(shown);
    const address = this.#address(is_email ? `mailto:${target}` : target);
    if (mayLead(address, LINK)) return [{ ...element, address, is_bare }];
    return is_bare ? [...element.children] : ['[', ...element.children, `](${shown})`];
  }

  #picture(element: MarkdownElement, src: string): MarkdownNode[] {
    const address = this.#address(readEscapes(src));
    if (mayLead(address, PICTURE)) return [{ ...element, address }];
    return [`![${element.alt}](${this.#text(readEscapes(src))})`];
  }

  #text(text: string): string {
    return this.#putBack(text, (part) => part);
  }

  #address(href: string): string {
    return this.#putBack(href, encodeAddress);
  }

  #putBack(text: string, encode: (text: string) => string): string {
    // Every other part is the number between two marks.
    return text
      .split(MARKED)
      .map((part, index) => (index % 2 === 0 ? encode(part) : `{{${this.names[Number(part)] ?? ''}}}`))
      .join('');
  }
}

const UNLINKED = new Set(['a', 'code', 'pre']);
const PLAIN_LINK = { tag: 'a', is_bare: true, title: '', alt: '', start: 1, align: '' };

/** Joins the pieces of a text: the parser splits it at ampersands and escapes. */
function joined(values: readonly unknown[]): unknown[] {
  const all: unknown[] = [];
  let text: string[] = [];
  const end = (): void => {
    if (text.length > 0) all.push(text.join(''));
    text = [];
  };
  for (const value of values) {
    if (typeof value === 'string') text.push(value);
    else {
      end();
      all.push(value);
    }
  }
  end();
  return all;
}

const LINK = /^(https?:\/\/|mailto:)/i;
const PICTURE = /^https?:\/\//i;

/** Whether an address has one of these schemes, or begins with a placeholder and has no scheme without it. */
function mayLead(address: string, schemes: RegExp): boolean {
  if (schemes.test(address)) return true;
  return address.startsWith('{{') && !/^[a-z][a-z\d+.-]*:/i.test(address.replace(/\{\{[^{}]*\}\}/g, ''));
}

/** Resolves escapes, which the parser leaves in addresses and titles. What is no escape stays. */
function readEscapes(text: string): string {
  return text.replace(ESCAPE, (whole, escaped?: string) => escaped ?? decodeHTMLStrict(whole));
}

/** CommonMark's escapes: a backslash before punctuation, and a character's name or number. */
const ESCAPE = /\\([!-/:-@[-`{-~])|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi;

/** Percent-encodes what an address may not have. What is encoded already stays. */
function encodeAddress(text: string): string {
  return text.toWellFormed().replace(/%(?![0-9a-f]{2})|[^%]+/gi, encodeURI);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function propsOf(value: unknown): Record<string, unknown> {
  const props = typeof value === 'object' && value !== null && 'props' in value ? value.props : null;
  return typeof props === 'object' && props !== null ? { ...props } : {};
}

export class TooLong extends Error {}

export class Writer {
  readonly #parts: string[] = [];
  #bytes_left: number;

  /** `max_bytes` are of UTF-8. */
  constructor(max_bytes: number) {
    this.#bytes_left = max_bytes;
  }

  /** Throws TooLong. */
  write(text: string): void {
    this.#bytes_left -= Buffer.byteLength(text);
    if (this.#bytes_left < 0) throw new TooLong();
    this.#parts.push(text);
  }

  toString(): string {
    return this.#parts.join('');
  }
}

/** Scripts that are written without blanks: their letters stand close to an address. */
const CLOSE = ['Han', 'Hiragana', 'Katakana', 'Hangul', 'Thai', 'Lao', 'Khmer', 'Myanmar']
  .map((script) => `\\p{scx=${script}}`)
  .join('');
/** Beyond ASCII blanks, punctuation, symbols and what nobody sees end an address. Merge fields' marks do not: they are for private use. */
const BARE = `(?:[!#-;=?-~]|[^\\x00-\\x7f\\p{Z}\\p{P}\\p{S}\\p{Cc}\\p{Cf}${CLOSE}])+`;
/** Between these an address is taken whole. */
const IN_ANGLES = '(?<=<)https?:\\/\\/[^\\s<>"]+(?=>)';
const IN_BRACKETS = '(?<=\\]\\()https?:\\/\\/(?:[^\\s<>"()]|\\([^\\s<>"()]*\\))+(?=\\))';
const ADDRESS = new RegExp(`(${IN_ANGLES}|${IN_BRACKETS})|\\bhttps?:\\/\\/${BARE}`, 'giu');

/**
 * A text by what stands between its web addresses and by them: each other part, from the second on, is an
 * address.
 */
export function splitAtLinks(text: string): string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { 0: found, 1: whole, index } of text.matchAll(ADDRESS)) {
    const address = whole ?? withoutPunctuation(found);
    if (address.endsWith('://')) continue;
    parts.push(text.slice(from, index), address);
    from = index + address.length;
  }
  return [...parts, text.slice(from)];
}

/**
 * Punctuation behind an address belongs to its sentence, a closing bracket to the address where one was
 * opened in it.
 */
function withoutPunctuation(address: string): string {
  let unopened = address.split(')').length - address.split('(').length;
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address.charAt(end - 1);
    if (!/[.,;:!?'*_)\]}]/.test(last) || (last === ')' && unopened <= 0)) break;
    if (last === ')') unopened -= 1;
  }
  return address.slice(0, end);
}
