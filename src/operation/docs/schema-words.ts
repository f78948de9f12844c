/** Puts a schema of the OpenAPI document in words and tables. */
import { Html, html } from '../../platform/http/pages.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { joined } from './page-frame.ts';
import { membersOf, type Reference, textOf } from './reference.ts';

type Json = Record<string, unknown>;

/** Named schemas that a page has named: each stands on it once, whatever names it. */
export class Shapes {
  readonly #names = new Set<string>();

  constructor(private readonly reference: Reference) {}

  resolve(schema: unknown): Json {
    return this.reference.resolve(schema);
  }

  /** The type of a value, such as `list of Email` or `string or null`. */
  typeOf(schema: unknown): Html {
    if (!isPlainObject(schema)) return html`anything`;
    const name = nameOf(schema);
    if (name !== null) {
      this.#names.add(name);
      return html`<a href="#${name}">${name}</a>`;
    }
    if (Array.isArray(schema.anyOf)) return orOf(schema.anyOf.map((each) => this.typeOf(each)));
    if ('const' in schema) return html`<code>${JSON.stringify(schema.const)}</code>`;
    if (Array.isArray(schema.enum))
      return orOf(schema.enum.map((each) => html`<code>${each === null ? 'null' : String(each)}</code>`));
    const types = (Array.isArray(schema.type) ? schema.type : [schema.type]).filter(
      (each) => typeof each === 'string',
    );
    return types.length === 0
      ? html`anything`
      : orOf(types.map((type) => (type === 'null' ? html`null` : this.#plainType(type, schema))));
  }

  #plainType(type: string, schema: Json): Html {
    if (type === 'array') return html`list of ${this.typeOf(schema.items)}`;
    if (type === 'object' && !isPlainObject(schema.properties))
      return isPlainObject(schema.additionalProperties) && Object.keys(schema.additionalProperties).length > 0
        ? html`object of ${this.typeOf(schema.additionalProperties)}`
        : html`object`;
    return html`${FORMATS[textOf(schema.format)] ?? type}`;
  }

  /** The fields of an object, each with what it may be. `is_sent` tells which must be there. */
  fields(schema: unknown, is_sent: boolean): Html {
    const { properties, required } = this.resolve(schema);
    const needed = is_sent && Array.isArray(required) ? required : [];
    return this.list(
      membersOf(properties).map(([name, field]) => ({
        name,
        schema: field,
        is_required: needed.includes(name),
      })),
      is_sent,
    );
  }

  list(
    fields: readonly { name: string; schema: unknown; is_required: boolean; description?: string }[],
    is_sent: boolean,
  ): Html {
    const items = fields.map(({ name, schema, is_required, description }) => {
      const said = isPlainObject(schema) ? schema : {};
      const told = [description ?? textOf(said.description), limitsOf(said)].filter((each) => each !== '');
      const inner = innerOf(said);
      return html`<dt><code>${name}</code> <span>${this.typeOf(schema)}</span>${is_required ? html` <b>required</b>` : ''}</dt>
<dd>${told.length > 0 ? markdown(told.join(' ')) : ''}${inner ? html`<details><summary>Fields of <code>${name}</code></summary>${this.fields(inner, is_sent)}</details>` : ''}</dd>`;
    });
    return html`<dl class="fields">${joined(items)}</dl>`;
  }

  /** All that were named, each under its name, with those that these name. */
  sections(): { name: string; content: Html }[] {
    const made: { name: string; content: Html }[] = [];
    // Those that are named while it goes on are gone through too.
    for (const name of this.#names) {
      const schema = this.resolve({ $ref: `${SCHEMAS}${name}` });
      const description = textOf(schema.description);
      const content = html`${description ? markdown(description) : ''}${this.fields(schema, name.startsWith('New') || name.endsWith('Changes'))}`;
      made.push({ name, content });
    }
    return made;
  }
}

const SCHEMAS = '#/components/schemas/';

function nameOf({ $ref }: Json): string | null {
  return typeof $ref === 'string' && $ref.startsWith(SCHEMAS) ? $ref.slice(SCHEMAS.length) : null;
}

/** The object without a name that a field is, or holds a list of. */
function innerOf(schema: Json): Json | null {
  const at = isPlainObject(schema.items) ? schema.items : schema;
  return isPlainObject(at.properties) ? at : null;
}

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': 'time (ISO 8601)',
  binary: 'file',
  email: 'address',
  ulid: 'id',
};

function orOf(words: readonly Html[]): Html {
  return new Html(words.map(({ text }) => text).join(' or '));
}

/** The bounds of a value, as a sentence. */
function limitsOf(schema: Json): string {
  // An id's length is its own.
  if (schema.format === 'ulid') return '';
  const said = [
    rangeOf(schema.minimum, schema.maximum, ''),
    rangeOf(schema.minLength, schema.maxLength, ' characters'),
    rangeOf(schema.minItems, schema.maxItems, ' of them'),
    rangeOf(schema.minProperties, schema.maxProperties, ' fields'),
  ];
  return said.filter((each) => each !== '').join(' ');
}

function rangeOf(min: unknown, max: unknown, unit: string): string {
  const [from, to] = [Number(min ?? 0), Number(max ?? Number.POSITIVE_INFINITY)];
  if (Number.isFinite(to)) return from > 0 ? `${from} to ${to}${unit}.` : `At most ${to}${unit}.`;
  return from > 0 && unit !== ' characters' ? `At least ${from}${unit}.` : '';
}

/** Sentences of ours, in which \`code\` may stand. */
export function markdown(text: string): Html {
  return new Html(Bun.markdown.html(text, { noHtmlBlocks: true, noHtmlSpans: true }));
}
