/** The fields of a template that are filled in for each mail, and their values as the API takes them. */
import type { Template } from '../../api.generated.ts';

interface MergeField {
  name: string;
  description: string | null;
  is_required: boolean;
}

type Fields = Pick<Template, 'subject' | 'body_markdown' | 'body_html' | 'body_text' | 'variables'>;

/** Those that are declared, then the rest of what its texts use, which need a value too. What is a field in the end is the API's to say. */
export function mergeFieldsOf(fields: Fields): MergeField[] {
  const { subject, body_markdown, body_html, body_text, variables } = fields;
  const declared = variables.map(({ name, description, required }) => ({
    name,
    description: description ?? null,
    is_required: required === true,
  }));
  const known = new Set(declared.map(({ name }) => name));
  const bodies = body_markdown === null ? [body_html ?? '', body_text ?? ''] : [body_markdown];
  const used = [subject, ...bodies].flatMap((text) =>
    [...text.matchAll(/\{\{\s*([^{}\s]+)\s*\}\}/g)].map(([, name = '']) => name),
  );
  const undeclared = [...new Set(used)].filter((name) => !known.has(name));
  return [...declared, ...undeclared.map((name) => ({ name, description: null, is_required: true }))];
}

type Values = { [name: string]: string | Values };

/** `{'user.name': 'Ann'}` is `{user: {name: 'Ann'}}`; what is empty is left out. */
export function nestValues(values: Iterable<readonly [name: string, value: string]>): Values {
  const nested: Values = Object.create(null);
  for (const [name, value] of values) {
    if (value === '') continue;
    const path = name.split('.');
    const last = path.pop() ?? name;
    let at = nested;
    for (const part of path) {
      const inner = at[part];
      const next: Values = typeof inner === 'object' ? inner : Object.create(null);
      at[part] = next;
      at = next;
    }
    at[last] = value;
  }
  return nested;
}
