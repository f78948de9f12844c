/**
 * What somebody is writing on a template, and of which version. It is kept by the browser until it is saved, so that a reload,
 * a sign-in in between or another page loses nothing.
 */
import { useEffect, useState } from 'preact/hooks';
import type { Template, TemplateChanges } from '../../api.generated.ts';

const FIELDS = [
  'name',
  'category',
  'subject',
  'body_markdown',
  'body_html',
  'body_text',
  'description',
  'variables',
  'is_marketing',
  'layout',
] as const;

/** The fields that are written. */
export type Field = (typeof FIELDS)[number];
export type Draft = Pick<Template, Field>;

export interface Version {
  template: Template;
  etag: string | null;
}

interface Kept {
  base: Version;
  draft: Draft;
}

export function draftOf(template: Template): Draft {
  const { name, category, subject, body_markdown, body_html, body_text } = template;
  const { description, variables, is_marketing, layout } = template;
  return {
    name,
    category,
    subject,
    body_markdown,
    body_html,
    body_text,
    description,
    variables,
    is_marketing,
    layout,
  };
}

/** The fields in which one differs from another; of one in Markdown not the bodies, which are made from that. */
export function differences(one: Draft, other: Draft): Field[] {
  const is_made = one.body_markdown !== null;
  return FIELDS.filter(
    (name) =>
      JSON.stringify(one[name]) !== JSON.stringify(other[name]) &&
      !(is_made && (name === 'body_html' || name === 'body_text')),
  );
}

/** The declared fields, as the API takes them. */
export function sentVariables(variables: Draft['variables']): NonNullable<TemplateChanges['variables']> {
  return variables.map(({ name, description, required }) => ({
    name,
    required,
    ...(description === null ? {} : { description }),
  }));
}

/** What is to be sent so that the template becomes the draft. */
export function changesOf(draft: Draft, base: Draft): TemplateChanges {
  const changed = new Set<string>(differences(draft, base));
  const all = { ...draft, variables: sentVariables(draft.variables) };
  return Object.fromEntries(Object.entries(all).filter(([name]) => changed.has(name)));
}

/** The draft of a template that was loaded; the one that was kept, where there is one. `place` names the template. */
export function useDraft(place: string, loaded: Version) {
  const key = `satchel-draft:${place}`;
  const [{ base, draft }, setKept] = useState<Kept>(
    () => read(key) ?? { base: loaded, draft: draftOf(loaded.template) },
  );
  const is_changed = differences(draft, draftOf(base.template)).length > 0;
  useEffect(() => {
    try {
      if (is_changed) sessionStorage.setItem(key, JSON.stringify({ base, draft }));
      else sessionStorage.removeItem(key);
    } catch {
      // The browser keeps nothing, or no more: then it is as if nothing were kept.
    }
  }, [key, base, draft, is_changed]);
  return {
    base,
    draft,
    is_changed,
    change: (changes: Partial<Draft>): void =>
      setKept((kept) => ({ ...kept, draft: { ...kept.draft, ...changes } })),
    /** Goes on from this version, saved just now or by somebody else: what was not changed here is as it has it. */
    rebase: (version: Version): void =>
      setKept((kept) => {
        const mine = new Set<string>(differences(kept.draft, draftOf(kept.base.template)));
        const entries = Object.entries(kept.draft).filter(([name]) => mine.has(name));
        return { base: version, draft: { ...draftOf(version.template), ...Object.fromEntries(entries) } };
      }),
    /** Gives the draft up for this version. */
    discard: (version: Version): void => setKept({ base: version, draft: draftOf(version.template) }),
  };
}

function read(key: string): Kept | null {
  try {
    // Written above, by this page alone.
    return JSON.parse(sessionStorage.getItem(key) ?? 'null') as Kept | null;
  } catch {
    return null;
  }
}
