/**
 * A template as a mail: its subject and bodies compiled together, and rendered together with the values of
 * one send.
 */

import { type FieldErrors, refuseAll } from '../../errors.ts';
import { MAX_SUBJECT_CHARS } from '../../limits.ts';
import type { Task } from '../../platform/host/beside.ts';
import { countCodePoints } from '../../platform/http/schema.ts';
import { hasControls } from '../../platform/mail/address.ts';
import {
  type CompiledTemplate,
  compileTemplate,
  missingRequired,
  type Rendered,
  type RenderMode,
  renderTemplate,
  type Variables,
} from './placeholders.ts';
import type { TemplateVariable } from './schemas.ts';
import type { TemplateRow } from './tables.ts';

export interface RenderedMail {
  subject: string;
  body_html: string | null;
  body_text: string | null;
}

/** A rendered mail with what a send would be refused for. */
export interface PreviewedMail extends RenderedMail {
  /** Names of placeholders and required variables without a value. */
  missing: string[];
  /** Names of placeholders whose value is an object, an array or a number too large to be exact. */
  invalid: string[];
}

type Field = keyof RenderedMail;

const MODES: Readonly<Record<Field, RenderMode>> = {
  subject: 'subject',
  body_html: 'html',
  body_text: 'text',
};
const FIELDS: readonly Field[] = ['subject', 'body_html', 'body_text'];

export interface CompiledMail {
  readonly subject: CompiledTemplate;
  readonly body_html: CompiledTemplate | null;
  readonly body_text: CompiledTemplate | null;
  readonly declared: readonly TemplateVariable[];
}

export function compileMail(
  row: Pick<TemplateRow, 'subject' | 'body_html' | 'body_text' | 'variables'>,
): CompiledMail {
  return {
    subject: compileTemplate(row.subject),
    body_html: row.body_html === null ? null : compileTemplate(row.body_html),
    body_text: row.body_text === null ? null : compileTemplate(row.body_text),
    declared: row.variables,
  };
}

interface RenderRules {
  /** Of each body once it is rendered. */
  max_body_bytes: number;
}

/**
 * Throws AppError `invalid`: under `variables.<name>` for each value that does not do, under a field that is
 * too long.
 */
export function renderMail(compiled: CompiledMail, variables: Variables, rules: RenderRules): RenderedMail {
  const mail: RenderedMail = { subject: '', body_html: null, body_text: null };
  const errors: FieldErrors = {};
  for (const name of missingRequired(compiled.declared, variables)) errors[`variables.${name}`] = [MISSING];
  for (const field of FIELDS) {
    const rendered = renderField(compiled, field, variables, rules);
    if (rendered === null) continue;
    if (rendered.ok) {
      mail[field] = rendered.text;
      continue;
    }
    for (const name of rendered.missing) errors[`variables.${name}`] = [MISSING];
    for (const name of rendered.bad) errors[`variables.${name}`] = [BAD];
    if (rendered.is_too_long) errors[field] = [tooLong(field, rules)];
  }
  refuseAll(errors);
  return mail;
}

/**
 * Throws AppError `invalid` for a mail that its values left without a subject or a body, or unfit for a
 * header.
 */
export function refuseUnsendable(mail: RenderedMail): void {
  const errors: FieldErrors = {};
  const filled = 'once its placeholders are filled in';
  if (mail.subject.trim() === '') errors.subject = [`must not be empty ${filled}`];
  else if (hasControls(mail.subject)) errors.subject = [`must have no control characters ${filled}`];
  if (!mail.body_html?.trim() && !mail.body_text?.trim()) {
    errors[mail.body_html === null ? 'body_text' : 'body_html'] = [`must not be empty ${filled}`];
  }
  refuseAll(errors);
}

/**
 * As `renderMail`, but a placeholder without a fitting value stays where it is. Throws for what is too long
 * alone.
 */
export function previewMail(compiled: CompiledMail, variables: Variables, rules: RenderRules): PreviewedMail {
  const missing = new Set(missingRequired(compiled.declared, variables));
  const bad = new Set<string>();
  const shown = { ...compiled };
  for (const field of FIELDS) {
    const rendered = renderField(compiled, field, variables, rules);
    if (rendered === null || rendered.ok) continue;
    for (const name of rendered.missing) missing.add(name);
    for (const name of rendered.bad) bad.add(name);
    const unfit = new Set([...rendered.missing, ...rendered.bad]);
    const { parts, names } = compiled[field] ?? { parts: [], names: [] };
    const kept = parts.map((part) =>
      typeof part !== 'string' && unfit.has(part.name) ? `{{ ${part.name} }}` : part,
    );
    shown[field] = { parts: kept, names };
  }
  // Missing required variables are noted already; they must not be refused here again.
  const declared = compiled.declared.map((variable) => ({ ...variable, required: false }));
  const mail = renderMail({ ...shown, declared }, variables, rules);
  return { ...mail, missing: [...missing], invalid: [...bad] };
}

const MISSING = 'is needed by the template and has no value';
const BAD =
  'must be a string, a number or a boolean, since the template puts it into text; ' +
  `a number past ${Number.MAX_SAFE_INTEGER} would lose digits and must be sent as a string`;

function renderField(
  compiled: CompiledMail,
  field: Field,
  variables: Variables,
  rules: RenderRules,
): Rendered | null {
  const template = compiled[field];
  if (template === null) return null;
  // A UTF-16 unit is at least one byte, and a code point at most two units: what is longer need not be built.
  const max_chars = field === 'subject' ? 2 * MAX_SUBJECT_CHARS : rules.max_body_bytes;
  const { declared } = compiled;
  const rendered = renderTemplate(template, variables, { mode: MODES[field], declared, max_chars });
  if (!rendered.ok || fits(field, rendered.text, rules)) return rendered;
  return { ok: false, missing: [], bad: [], is_too_long: true };
}

function fits(field: Field, text: string, rules: RenderRules): boolean {
  if (field === 'subject')
    return text.length <= MAX_SUBJECT_CHARS || countCodePoints(text) <= MAX_SUBJECT_CHARS;
  // A UTF-16 unit is at most three bytes, so most bodies need no counting.
  return text.length * 3 <= rules.max_body_bytes || Buffer.byteLength(text) <= rules.max_body_bytes;
}

function tooLong(field: Field, rules: RenderRules): string {
  return field === 'subject'
    ? `must have at most ${MAX_SUBJECT_CHARS} characters once its placeholders are filled in`
    : `must have at most ${rules.max_body_bytes} bytes once its placeholders are filled in`;
}

/** What a send of a template would hold, made beside the server. */
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
