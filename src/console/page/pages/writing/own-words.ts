/** Words of its own for a broadcast or a step that is being made. */
import { call } from '../../api.ts';
import { starterOf } from '../templates/starter.ts';
import { fieldsOf, wordsOf } from './words.ts';

/** The choice of none: no slug has this character. */
export const BLANK = '+';

/** Makes them of a template's, or of a letter to begin with, and returns their slug. Throws ApiError. */
export async function makeWords(
  project: string,
  { name, from }: { name: string; from: string },
): Promise<string> {
  const path = { project };
  const words =
    from === BLANK
      ? { subject: name, layout: 'marketing' as const, ...starterOf('markdown', true) }
      : await copyOf(project, from);
  const body = { name, category: 'marketing' as const, is_marketing: true, is_own: true, ...words };
  return (await call('POST /projects/{project}/email-templates', { path, body })).slug;
}

async function copyOf(project: string, slug: string) {
  const template = await call('GET /projects/{project}/email-templates/{slug}', { path: { project, slug } });
  const { body_html, body_text, body_markdown, ...rest } = {
    body_html: null,
    body_text: null,
    body_markdown: null,
    ...fieldsOf(wordsOf(template, null)),
  };
  return {
    ...rest,
    ...(template.layout !== null && { layout: template.layout }),
    ...(body_html !== null && { body_html }),
    ...(body_text !== null && { body_text }),
    ...(body_markdown !== null && { body_markdown }),
  };
}
