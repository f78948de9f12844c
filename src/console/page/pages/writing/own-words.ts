/** Words of its own for a broadcast or a step. */
import type { Template } from '../../api.generated.ts';
import { call, callTelling } from '../../api.ts';
import { starterOf } from '../templates/starter.ts';
import { sentVariables, type Version, type Words, wordsOf } from './words.ts';

/** The choice of a blank letter: no slug has this character. */
export const BLANK = '+';

const NOTHING: Words = {
  subject: '',
  preheader: '',
  body_markdown: null,
  body_html: null,
  body_text: null,
  variables: [],
};
/** The first text of a mail. */
export const STARTER: Words = { ...NOTHING, ...starterOf('markdown', true) };

/** Makes them of a template's, or of a letter to begin with, and returns their slug. Throws ApiError. */
export async function makeWords(
  project: string,
  { name, from }: { name: string; from: string },
): Promise<string> {
  const made = await beginWith(project, { name, from });
  return made.template.slug;
}

async function beginWith(project: string, { name, from }: { name: string; from: string }): Promise<Version> {
  if (from === BLANK)
    return createWords(project, { name, layout: 'marketing', words: { ...STARTER, subject: name } });
  const path = { project, slug: from };
  const template = await call('GET /projects/{project}/email-templates/{slug}', { path });
  return createWords(project, { name, layout: template.layout, words: wordsOf(template, null) });
}

/** Throws ApiError. */
export async function createWords(
  project: string,
  { name, layout, words }: { name: string; layout: Template['layout']; words: Words },
): Promise<Version> {
  const { subject, body_markdown, body_html, body_text, variables } = words;
  const { answer: template, etag } = await callTelling('POST /projects/{project}/email-templates', {
    path: { project },
    body: {
      name,
      subject,
      category: 'marketing',
      is_marketing: true,
      is_own: true,
      variables: sentVariables(variables),
      ...(layout !== null && { layout }),
      ...(body_markdown !== null && { body_markdown }),
      ...(body_markdown === null && body_html !== null && { body_html }),
      ...(body_markdown === null && body_text !== null && { body_text }),
    },
  });
  return { template, etag };
}
