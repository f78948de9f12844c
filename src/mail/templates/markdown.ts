/**
 * Makes a template's bodies of Markdown: CommonMark with tables. The HTML has only tags that this code
 * writes. Raw HTML stays text, and so do links unless they lead to a website, a mail address or a
 * placeholder. The time it takes grows with the text's length, whatever it says.
 */

import { MAX_MARKDOWN_DEPTH } from '../../limits.ts';
import type { Task } from '../../platform/host/beside.ts';
import { writeHtml } from './markdown-html.ts';
import { writeText } from './markdown-text.ts';
import { parseMarkdown, TooDeep, TooLong } from './markdown-tree.ts';

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
