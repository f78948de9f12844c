/**
 * The language of templates: `{{ name }}` and nothing else. Compiling finds the placeholders, rendering puts
 * values in their places. Both take time in proportion to their text, whatever it is, and values are never
 * looked through again.
 */
import { MAX_RENDERED_CHARS } from '../../limits.ts';

/** A placeholder's name, dots included. A CSV column's header may be long; what is longer is no name. */
const MAX_PLACEHOLDER_CHARS = 255;

export interface DeclaredVariable {
  name: string;
  description?: string | null | undefined;
  required?: boolean | null | undefined;
}

export type Variables = Readonly<Record<string, unknown>>;

interface Placeholder {
  name: string;
  path: readonly string[];
}

export interface CompiledTemplate {
  readonly parts: readonly (string | Placeholder)[];
  /** Each name once, in order of first appearance. */
  readonly names: readonly string[];
}

export type RenderMode = 'html' | 'text' | 'subject';

interface RenderOptions {
  mode: RenderMode;
  declared?: readonly DeclaredVariable[];
  /** UTF-16 units; a text that would be longer is not built. */
  max_chars?: number;
}

interface RenderFailure {
  ok: false;
  /** Names of placeholders without a value. */
  missing: string[];
  /** Names of placeholders whose value is an object, an array or a number too large to be exact. */
  bad: string[];
  /** The text would be longer than allowed; then the lists may be incomplete. */
  is_too_long: boolean;
}

export type Rendered = { ok: true; text: string } | RenderFailure;

type Found = { kind: 'text'; text: string } | { kind: 'missing' } | { kind: 'bad' };

/** Never looked up, even where JSON made them properties of their own. */
const NEVER = new Set(['__proto__', 'constructor', 'prototype']);
const LINE_BREAKS = /[\r\n\v\f\u0085\u2028\u2029]+/g;

/**
 * Finds the placeholders of a template. What stands between `{{` and `}}` without a brace is a name, so that
 * a misspelt one or another language's `{{#if x}}` is reported as missing instead of being mailed as it is.
 */
export function compileTemplate(source: string): CompiledTemplate {
  const parts: (string | Placeholder)[] = [];
  const known = new Map<string, Placeholder>();
  const brace = /[{}]/g;
  const other = /[^{]/g;
  let literal_from = 0;
  let open = source.indexOf('{{');
  while (open >= 0) {
    brace.lastIndex = open + 2;
    const stop = brace.exec(source)?.index ?? source.length;
    const placeholder = source.startsWith('}}', stop) ? readName(source.slice(open + 2, stop), known) : null;
    if (placeholder) {
      if (open > literal_from) parts.push(source.slice(literal_from, open));
      parts.push(placeholder);
      literal_from = stop + 2;
      open = source.indexOf('{{', literal_from);
    } else if (source[stop] === '{' && stop === open + 2) {
      // In `{{{name}}}` the placeholder begins at the second brace: with the last two.
      other.lastIndex = stop;
      open = (other.exec(source)?.index ?? source.length) - 2;
    } else {
      // Anything else goes on where the look ended.
      open = source.indexOf('{{', stop);
    }
  }
  if (literal_from < source.length) parts.push(source.slice(literal_from));
  return { parts, names: [...known.keys()] };
}

function readName(text: string, known: Map<string, Placeholder>): Placeholder | null {
  if (text.length > 2 * MAX_PLACEHOLDER_CHARS) return null;
  const name = text.trim();
  const placeholder = known.get(name);
  if (placeholder) return placeholder;
  const path = name.split('.');
  if (name.length > MAX_PLACEHOLDER_CHARS || path.includes('')) return null;
  const made = { name, path };
  known.set(name, made);
  return made;
}

/** The names a template uses, each once, in order of first appearance. */
export function placeholdersOf(source: string): string[] {
  return [...compileTemplate(source).names];
}

/** Declared required variables that have no value, whether the template uses them or not. */
export function missingRequired(declared: readonly DeclaredVariable[], variables: Variables): string[] {
  return declared
    .filter((variable) => variable.required === true && isMissing(variables, variable.name.split('.')))
    .map((variable) => variable.name);
}

function isMissing(variables: Variables, path: readonly string[]): boolean {
  const value = resolve(variables, path);
  return value === undefined || value === null;
}

/**
 * Puts the values in. A declared variable that is not required may be missing and is empty then; any other
 * placeholder without a value, and every value that is an object, an array or a number too large to be exact,
 * is named in the failure. Values never are.
 */
export function renderTemplate(
  compiled: CompiledTemplate,
  variables: Variables,
  options: RenderOptions,
): Rendered {
  const { mode, declared = [], max_chars = MAX_RENDERED_CHARS } = options;
  const found = new Map<Placeholder, string>();
  const missing: string[] = [];
  const bad: string[] = [];
  const parts: string[] = [];
  let length = 0;
  for (const part of compiled.parts) {
    let text = typeof part === 'string' ? part : found.get(part);
    if (text === undefined && typeof part !== 'string') {
      const value = valueOfPlaceholder(part, variables, declared);
      if (value.kind === 'missing') missing.push(part.name);
      if (value.kind === 'bad') bad.push(part.name);
      text = value.kind === 'text' ? encode(value.text, mode) : '';
      found.set(part, text);
    }
    length += text?.length ?? 0;
    if (length > max_chars) return { ok: false, missing, bad, is_too_long: true };
    parts.push(text ?? '');
  }
  if (missing.length > 0 || bad.length > 0) return { ok: false, missing, bad, is_too_long: false };
  return { ok: true, text: mode === 'subject' ? parts.join('').replace(LINE_BREAKS, '') : parts.join('') };
}

function valueOfPlaceholder(
  placeholder: Placeholder,
  variables: Variables,
  declared: readonly DeclaredVariable[],
): Found {
  const value = resolve(variables, placeholder.path);
  switch (typeof value) {
    case 'string':
      return { kind: 'text', text: value };
    case 'number':
      // JSON can't keep a larger number exactly, and a mail with a wrong order number is worse than none.
      if (Math.abs(value) > Number.MAX_SAFE_INTEGER) return { kind: 'bad' };
      return { kind: 'text', text: String(value) };
    case 'boolean':
    case 'bigint':
      return { kind: 'text', text: String(value) };
    default:
      if (value !== undefined && value !== null) return { kind: 'bad' };
      return isOptional(placeholder.name, declared) ? { kind: 'text', text: '' } : { kind: 'missing' };
  }
}

/** Whether a placeholder may go without a value. A variable declared as `user` speaks for `user.name` too. */
export function isOptional(name: string, declared: readonly DeclaredVariable[]): boolean {
  const speaking = declared.filter(
    (variable) => name === variable.name || name.startsWith(`${variable.name}.`),
  );
  return speaking.length > 0 && speaking.every((variable) => variable.required !== true);
}

/** The value at a path of own properties, or undefined. */
function resolve(variables: Variables, path: readonly string[]): unknown {
  let value: unknown = variables;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || NEVER.has(segment)) return undefined;
    value = Object.getOwnPropertyDescriptor(value, segment)?.value;
  }
  return value;
}

function encode(text: string, mode: RenderMode): string {
  return mode === 'html' ? Bun.escapeHTML(text) : text;
}
