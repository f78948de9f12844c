/**
 * Markdown as a template's bodies: CommonMark with tables, of which nothing but our own tags comes out. Raw
 * HTML, and links that lead to no website, mail address or placeholder, are text. The time it takes grows
 * with the text, whatever it is.
 */
import { MAX_MARKDOWN_DEPTH } from '../../limits.ts';
import { writeHtml } from './markdown-html.ts';
import { writeText } from './markdown-text.ts';
import { parseMarkdown, TooDeep } from './markdown-tree.ts';
import { TooLong } from './markdown-writer.ts';

export type MarkdownBodies =
  | { ok: true; body_html: string | null; body_text: string | null }
  /** `message` goes on after the name of the field. */
  | { ok: false; message: string };

/**
 * The bodies that a Markdown text makes, each null where it would be empty; neither has more than
 * `max_bytes`.
 */
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
