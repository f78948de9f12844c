/** The words of a mail as they are being written: of a template, a broadcast or a step alike. */
import type { Template, TemplateChanges, TemplateDraft } from '../../api.generated.ts';

export interface Words {
  subject: string;
  /** Text that inboxes show behind the subject; it stands with the broadcast or step. */
  preheader: string;
  body_markdown: string | null;
  body_html: string | null;
  body_text: string | null;
  variables: Template['variables'];
}

/** A template as it was read or saved, and of which version. */
export interface Version {
  template: Template;
  etag: string | null;
}

export const TITLES: Readonly<Record<keyof Words, string>> = {
  subject: 'Subject',
  preheader: 'Preheader',
  body_markdown: 'Markdown',
  body_html: 'HTML',
  body_text: 'Text',
  variables: 'Fields',
};
const NAMES = Object.keys(TITLES) as (keyof Words)[];

/** As they are in force. */
export function wordsOf(template: Template, preheader: string | null): Words {
  const { subject, body_markdown, body_html, body_text, variables } = template;
  return { subject, preheader: preheader ?? '', body_markdown, body_html, body_text, variables };
}

/** As somebody has written them since, where they have. */
export function draftedOf(template: Template, preheader: string | null): Words {
  const words = wordsOf(template, preheader);
  if (!template.draft) return words;
  const { variables, ...draft } = template.draft;
  return { ...words, ...draft, variables: (variables ?? []).map(toVariable) };
}

function toVariable({ name, description, required = false }: DraftVariable): Words['variables'][number] {
  return { name, description: description ?? null, required };
}
type DraftVariable = NonNullable<TemplateDraft['variables']>[number];

/** The fields in which one differs from another; of what is in Markdown not the bodies, which are made from that. */
export function differences(one: Words, other: Words): (keyof Words)[] {
  return NAMES.filter(
    (name) =>
      JSON.stringify(one[name]) !== JSON.stringify(other[name]) &&
      !(one.body_markdown !== null && (name === 'body_html' || name === 'body_text')),
  );
}

/** Puts my changes of `base` over what is there now. */
export function mergeWords(base: Words, mine: Words, theirs: Words): Words {
  const changed = new Set<string>(differences(mine, base));
  const entries = Object.entries(mine).filter(([name]) => changed.has(name));
  return { ...theirs, ...Object.fromEntries(entries) };
}

/** As a template takes them: of Markdown the bodies are made. */
export function fieldsOf({ subject, body_markdown, body_html, body_text, variables }: Words) {
  const bodies = body_markdown === null ? { body_html, body_text } : { body_markdown };
  return { subject, ...bodies, variables: sentVariables(variables) };
}

/** As they are kept beside what is in force. */
export function draftOf(words: Words): TemplateDraft {
  return { ...words, variables: sentVariables(words.variables) };
}

/** The declared fields as the API takes them. One without a name is just being declared. */
export function sentVariables(variables: Words['variables']): NonNullable<TemplateChanges['variables']> {
  return variables
    .filter(({ name }) => name !== '')
    .map(({ name, description, required }) => ({
      name,
      required,
      ...(description === null ? {} : { description }),
    }));
}

/** Says whether a slug is that of words of their own: the API makes those, and nobody looks for them by it. */
export function isOwnSlug(slug: string): boolean {
  return /^own-[0-9a-z]{26}$/.test(slug);
}
