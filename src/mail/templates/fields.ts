/**
 * The fields of a template: merging what was sent with what there is, and judging the whole. Pure functions.
 */
import { type FieldErrors, invalid, refuseAll } from '../../errors.ts';
import { MAX_NAME_CHARS } from '../../limits.ts';
import { merge } from '../../platform/http/fields.ts';
import type { MarkdownBodies } from './markdown.ts';
import { placeholdersOf } from './placeholders.ts';
import {
  BODY_FIELDS,
  FIELDS,
  type SentVariable,
  type TemplateChanges,
  type TemplateFields,
  type TemplateVariable,
} from './schemas.ts';

/** Control characters, which would begin another header or be invisible in this one. */
const CONTROL = /[^\P{Cc}\t]/u;

interface Rules {
  slug: string | null;
  /** Words of one broadcast or step. */
  is_own?: boolean;
  max_body_bytes: number;
  /**
   * What the Markdown that was sent makes; null where none was sent that may be made, or that is not judged
   * yet.
   */
  made: MarkdownBodies | null;
}

/**
 * The template that results from the changes, `current` being null for a new one. Throws AppError `invalid`
 * with messages by field for what no template may be.
 */
export function checkTemplate(
  current: TemplateFields | null,
  sent: TemplateChanges,
  rules: Rules,
): TemplateFields {
  const errors: FieldErrors = {};
  const merged = merge(FIELDS, current, sent);
  const fields: TemplateFields = {
    ...merged,
    ...pickBodies(merged, sent, rules, errors),
    ...(sent.variables && { variables: sent.variables.map(toVariable) }),
  };
  if (rules.slug !== null && !/^[A-Za-z0-9_-]+$/.test(rules.slug)) {
    errors.slug = ['must be of letters, digits, dashes and underscores'];
  }
  if (!sent.body_markdown) Object.assign(errors, bodyErrors(fields, rules.max_body_bytes));
  Object.assign(errors, variableErrors(fields.variables));
  if (rules.is_own && !fields.is_marketing)
    errors.is_own = ['is for marketing: send is_marketing, too, and leave that as it is'];
  for (const body of BODY_FIELDS) {
    const written = sent.draft?.[body];
    if (written && Buffer.byteLength(written) > rules.max_body_bytes)
      errors[`draft.${body}`] = [tooLong(written, rules.max_body_bytes)];
  }
  if (CONTROL.test(fields.subject))
    errors.subject ??= ['must have no line breaks or other control characters'];
  refuseAll(errors);
  return fields;
}

/** A declared variable as it is stored. */
export function toVariable(sent: SentVariable): TemplateVariable {
  return { name: sent.name, description: sent.description ?? null, required: sent.required ?? false };
}

type Bodies = Pick<TemplateFields, 'body_html' | 'body_text' | 'body_markdown'>;

/** Why nothing is to be made of the Markdown that was sent; null where it may be, or none was sent. */
export function refusalOfMarkdown(
  { body_markdown, body_html, body_text }: TemplateChanges,
  max_body_bytes: number,
): string | null {
  if (!body_markdown) return null;
  if (body_html || body_text) return 'makes body_html and body_text: send either it or them';
  return Buffer.byteLength(body_markdown) > max_body_bytes ? tooLong(body_markdown, max_body_bytes) : null;
}

/**
 * The bodies that result: those that Markdown makes where it was sent; where a body was sent, none of
 * Markdown any more.
 */
function pickBodies(
  merged: Bodies,
  sent: TemplateChanges,
  { max_body_bytes, made }: Rules,
  errors: FieldErrors,
): Bodies {
  const { body_markdown } = sent;
  if (body_markdown && made?.ok && made.body_html !== null)
    return { body_markdown, body_html: made.body_html, body_text: made.body_text };
  const unmade = made && (made.ok ? 'must show something' : made.message);
  const refusal = refusalOfMarkdown(sent, max_body_bytes) ?? unmade;
  if (refusal !== null) errors.body_markdown = [refusal];
  const stays = [sent.body_html, sent.body_text, body_markdown].every((body) => body === undefined);
  return {
    // An empty part counts as none: mail programs would show it instead of the other one.
    body_html: merged.body_html || null,
    body_text: merged.body_text || null,
    body_markdown: stays ? merged.body_markdown : null,
  };
}

function tooLong(text: string, max_bytes: number): string {
  return `must have at most ${max_bytes} bytes (got ${Buffer.byteLength(text)})`;
}

function bodyErrors(fields: TemplateFields, max_bytes: number): FieldErrors {
  const errors: FieldErrors = {};
  if (fields.body_html === null && fields.body_text === null) {
    errors.body_html = ['a template needs body_html or body_text, or both, or body_markdown in their place'];
  }
  for (const field of ['body_html', 'body_text'] as const) {
    const body = fields[field] ?? '';
    if (Buffer.byteLength(body) > max_bytes) errors[field] = [tooLong(body, max_bytes)];
  }
  return errors;
}

function variableErrors(variables: readonly TemplateVariable[]): FieldErrors {
  const errors: FieldErrors = {};
  const seen = new Set<string>();
  for (const [index, { name }] of variables.entries()) {
    if (!canBeFilled(name)) {
      errors[`variables.${index}.name`] = [
        'must be usable in a placeholder, such as first_name or user.name',
      ];
    } else if (seen.has(name)) {
      errors[`variables.${index}.name`] = ['is declared twice'];
    }
    seen.add(name);
  }
  return errors;
}

/** Whether a send can give a value to a placeholder of this name. */
function canBeFilled(name: string): boolean {
  const is_prototype = /(^|\.)(__proto__|constructor|prototype)(\.|$)/.test(name);
  return !is_prototype && placeholdersOf(`{{${name}}}`)[0] === name;
}

/** Room for the number that tells a generated slug from one that exists. */
const MAX_SLUG_BASE_CHARS = MAX_NAME_CHARS - 12;

/** The given slug, or one made from the name. Throws AppError `invalid` for a given one that is taken. */
export function chooseSlug(given: string | null, name: string, isTaken: (slug: string) => boolean): string {
  if (given !== null) {
    if (isTaken(given)) throw invalid({ slug: ['is taken by another template of this project'] });
    return given;
  }
  const base = slugOf(name);
  let slug = base;
  for (let n = 2; isTaken(slug); n += 1) slug = `${base}-${n}`;
  return slug;
}

/** The slug that a name makes, be it taken or not. */
export function slugOf(name: string): string {
  const words = name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .slice(0, MAX_SLUG_BASE_CHARS)
    .replace(/^-+|-+$/g, '');
  return words === '' ? 'template' : words;
}
