/** What of templates is done beside the server: their length is their author's, and only their author waits. */
import type { Task } from '../../platform/host/beside.ts';
import { bodiesOf, type MarkdownBodies } from './markdown.ts';
import type { Variables } from './placeholders.ts';
import { compileMail, type PreviewedMail, previewMail } from './rendering.ts';
import type { TemplateRow } from './tables.ts';

/** The bodies that Markdown makes. */
export const MAKE_BODIES: Task<{ markdown: string; max_bytes: number }, MarkdownBodies> = {
  name: 'template: make bodies',
  run: ({ markdown, max_bytes }) => bodiesOf(markdown, max_bytes),
};

/** What a send of a template would hold. */
export const PREVIEW: Task<
  {
    template: Pick<TemplateRow, 'subject' | 'body_html' | 'body_text' | 'variables'>;
    variables: Variables;
    max_body_bytes: number;
  },
  PreviewedMail
> = {
  name: 'template: preview',
  run: ({ template, variables, max_body_bytes }) =>
    previewMail(compileMail(template), variables, { max_body_bytes }),
};
