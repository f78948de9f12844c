/**
 * Makes a template's bodies of Markdown: CommonMark with tables. The HTML has only tags that this code
 * writes. Raw HTML stays text, and so do links unless they lead to a website, a mail address or a
 * placeholder. The time it takes grows with the text's length, whatever it says.
 */

import { MAX_MARKDOWN_DEPTH } from '../../limits.ts';
import type { Task } from '../../platform/host/beside.ts';
import { writeText } from './markdown-text.ts';
import {
  type MarkdownElement,
  type MarkdownNode,
  parseMarkdown,
  TooDeep,
  TooLong,
  Writer,
} from './markdown-tree.ts';

export type MarkdownBodies =
  | { ok: true; body_html: string | null; body_text: string | null }
  /** `message` follows the field's name. */
  | { ok: false; message: string };

/** The bodies of a Markdown text, of at most `max_bytes` each; null for an empty one. */
export function bodiesOf(markdown: string, max_bytes: number): MarkdownBodies {
  try {
    const tree = parseMarkdown(markdown);
    return { ok: true, body_html: writeHtml(tree, max_bytes), body_text: writeText(tree, max_bytes) };
  } catch (error) {
    if (error instanceof TooDeep)
      return { ok: false, message: `must not be nested deeper than ${MAX_MARKDOWN_DEPTH} levels` };
    if (error instanceof TooLong)
      return { ok: false, message: `must not make a body of more than ${max_bytes} bytes` };
    throw error;
  }
}

/** The bodies that Markdown makes, made beside the server: their length is their author's, who alone waits. */
export const MAKE_BODIES: Task<{ markdown: string; max_bytes: number }, MarkdownBodies> = {
  name: 'template: make bodies',
  run: ({ markdown, max_bytes }) => bodiesOf(markdown, max_bytes),
};

/** Elements that become tags of their own name, and the line breaks after those tags. */
const PLAIN: Readonly<Record<string, { open?: '\n'; close?: '\n' }>> = {
  em: {},
  strong: {},
  code: {},
  th: {},
  td: {},
  li: { close: '\n' },
  p: { close: '\n' },
  h1: { close: '\n' },
  h2: { close: '\n' },
  h3: { close: '\n' },
  h4: { close: '\n' },
  h5: { close: '\n' },
  h6: { close: '\n' },
  tr: { close: '\n' },
  ul: { open: '\n', close: '\n' },
  ol: { open: '\n', close: '\n' },
  blockquote: { open: '\n', close: '\n' },
  table: { open: '\n', close: '\n' },
  thead: { open: '\n', close: '\n' },
  tbody: { open: '\n', close: '\n' },
};

/** The HTML; null where it would show nothing. Throws TooLong. */
export function writeHtml(tree: readonly MarkdownNode[], max_bytes: number): string | null {
  const writer = new Writer(max_bytes);
  for (const node of tree) writeNode(writer, node);
  return writer.toString().trim() === '' ? null : writer.toString();
}

function writeNode(writer: Writer, node: MarkdownNode): void {
  if (typeof node === 'string') {
    writer.write(Bun.escapeHTML(node));
    return;
  }
  const writeChildren = (): void => {
    for (const child of node.children) writeNode(writer, child);
  };
  const { tag } = node;
  if (tag === 'br' || tag === 'hr') writer.write(`<${tag}>\n`);
  else if (tag === 'img') writer.write(`<img${attributesOf(node)}>`);
  else if (tag === 'pre') {
    writer.write('<pre><code>');
    writeChildren();
    writer.write('</code></pre>\n');
  } else {
    // Of an unknown element only the text is written.
    const plain = tag === 'a' ? {} : Object.hasOwn(PLAIN, tag) ? PLAIN[tag] : undefined;
    if (plain) writer.write(`<${tag}${attributesOf(node)}>${plain.open ?? ''}`);
    writeChildren();
    if (plain) writer.write(`</${tag}>${plain.close ?? ''}`);
  }
}

function attributesOf({ tag, address, alt, title, start, align }: MarkdownElement): string {
  const attributes = {
    href: tag === 'a' ? address : '',
    src: tag === 'img' ? address : '',
    title,
    start: tag === 'ol' && start !== 1 ? String(start) : '',
    align,
    // Without it mail programs set a table's columns so close that they read as one.
    cellpadding: tag === 'table' ? '4' : '',
  };
  const given = Object.entries(attributes).filter(([, value]) => value !== '');
  // Even an empty one: without it screen readers would read the picture's address out.
  if (tag === 'img') given.push(['alt', alt]);
  return given.map(([name, value]) => ` ${name}="${Bun.escapeHTML(value)}"`).join('');
}
