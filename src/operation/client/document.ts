/** The OpenAPI document, as much of its shape as clients are written from. */

export interface Schema {
  $ref?: string;
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  format?: string;
  description?: string;
}

type Content = Record<string, { schema: Schema }>;

interface Parameter {
  $ref?: string;
  name?: string;
  in?: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  parameters: Parameter[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface ApiDocument {
  info: { version: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

/** A named schema's name, in a reference to it. */
export function nameIn(ref: string): string {
  return ref.replace('#/components/schemas/', '');
}

/** True when an operation takes a header, by the name of its component. */
export function takesHeader(operation: Operation, name: string): boolean {
  return operation.parameters.some(({ $ref }) => $ref === `#/components/parameters/${name}`);
}

/** The query as one object; undefined where there is none. */
export function queryOf({ parameters }: Operation): Schema | undefined {
  const asked = parameters.filter((each) => each.in === 'query');
  if (asked.length === 0) return undefined;
  const properties = asked.map(({ name = '', schema = {}, description }) => {
    const told = description === undefined ? schema : { ...schema, description };
    // The members of a record, which stand one by one in a URL.
    const record = name.replace(/\.NAME$/, '');
    return [record, record === name ? told : { type: 'object', additionalProperties: told }] as const;
  });
  const required = asked.filter((each) => each.required).map(({ name = '' }) => name);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

/** The media type and shape, or shapes, of a success; undefined where it has no body. */
export function successOf({ responses }: Operation): { type: string; schema: Schema } | undefined {
  const contents = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) => Object.entries(content));
  const [first] = contents;
  if (first === undefined) return undefined;
  const [type] = first;
  const told = contents.filter(([each]) => each === type).map(([, { schema }]) => schema);
  const distinct = [...new Map(told.map((schema) => [JSON.stringify(schema), schema])).values()];
  const [schema = {}] = distinct;
  return { type, schema: distinct.length > 1 ? { anyOf: distinct } : schema };
}
