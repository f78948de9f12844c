/** Schemas of the OpenAPI document as TypeScript types. */
import { nameIn, type Schema } from './document.ts';

/** Lines of a comment are no longer than the code around them. */
const COMMENT_COLUMNS = 110;

/** How a named schema is called. */
export type NameOf = (name: string) => string;
const asItIs: NameOf = (name) => name;

/** The type of a schema, whose further lines begin at `indent`. */
export function typeOf(schema: Schema, nameOf: NameOf = asItIs, indent = ''): string {
  const each = (inner: Schema): string => typeOf(inner, nameOf, indent);
  if (schema.$ref) return nameOf(nameIn(schema.$ref));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(each).join(' | ');
  if (schema.allOf) return schema.allOf.map((inner) => inBrackets(each(inner))).join(' & ');
  if (Array.isArray(schema.type)) return schema.type.map((type) => each({ ...schema, type })).join(' | ');
  if (schema.type === 'integer') return 'number';
  if (schema.type === 'array') return `${inBrackets(schema.items ? each(schema.items) : 'unknown')}[]`;
  if (schema.type === 'object') return objectOf(schema, nameOf, indent);
  return schema.type ?? 'unknown';
}

function objectOf(
  { properties, required = [], additionalProperties }: Schema,
  nameOf: NameOf,
  indent: string,
): string {
  const inner = `${indent}  `;
  if (!properties) {
    const of =
      typeof additionalProperties === 'object' ? typeOf(additionalProperties, nameOf, indent) : 'unknown';
    return `Record<string, ${of}>`;
  }
  const members = Object.entries(properties).map(([name, each]) => {
    const optional = required.includes(name) ? '' : '?';
    return `${comment([each.description], inner)}${inner}${memberName(name)}${optional}: ${typeOf(each, nameOf, inner)};\n`;
  });
  const object = members.length === 0 ? 'Record<string, never>' : `{\n${members.join('')}${indent}}`;
  return additionalProperties ? `${object} & Record<string, unknown>` : object;
}

/** A declaration of its own. */
export function declare(name: string, schema: Schema, nameOf: NameOf = asItIs): string {
  const { $ref, description } = schema;
  const type = typeOf(schema, nameOf);
  return `${comment([$ref ? undefined : description])}export type ${name} = ${type};\n`;
}

function literal(value: unknown): string {
  return typeof value === 'string'
    ? `'${JSON.stringify(value).slice(1, -1).replace(/\\"/g, '"').replace(/'/g, "\\'")}'`
    : JSON.stringify(value);
}

/** A type that may stand before `[]` and beside `&`. */
function inBrackets(type: string): string {
  return /^[\w.]+$|^\{[^{}]*\}$/.test(type) ? type : `(${type})`;
}

function memberName(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name);
}

/** Paragraphs as a comment in front of what they are about; nothing where there are none. */
export function comment(paragraphs: readonly (string | undefined)[], indent = ''): string {
  const told = paragraphs.filter((each) => each !== undefined && each !== '').join('\n\n');
  if (told === '') return '';
  const width = COMMENT_COLUMNS - indent.length - ' * '.length;
  const lines = told
    .replaceAll('*/', '*\\/')
    .split('\n')
    .flatMap((line) => wrap(line, width));
  const [only = ''] = lines;
  if (lines.length === 1 && only.length <= width - 4) return `${indent}/** ${only} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd()).join('\n')}\n${indent} */\n`;
}

function wrap(text: string, width: number): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.length - 1;
    const longer = lines[last] === '' ? word : `${lines[last]} ${word}`;
    if (longer.length <= width || lines[last] === '') lines[last] = longer;
    else lines.push(word);
  }
  return lines;
}
