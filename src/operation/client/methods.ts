/** Names and parameters of the client's methods: one for each operation of the data plane. */
import {
  type ApiDocument,
  nameIn,
  type Operation,
  queryOf,
  type Schema,
  successOf,
  takesHeader,
} from './document.ts';

/** A client with a key may call these paths. */
const PLANE = '/api/v1';
/** Uploads that may be resumed are a protocol of their own (tus), which has clients. */
const LEFT_OUT = /^\/api\/v1\/uploads(\/|$)/;

/** Where the name that the path makes reads badly. */
const NAMES: Readonly<Record<string, string>> = {
  'POST /objects': 'upload',
  'GET /objects/{public_id}': 'download',
  'GET /object-links/{link}': 'downloadByLink',
  'POST /objects/{public_id}/links': 'createLink',
  'POST /emails/batch': 'sendBatch',
  'DELETE /emails/{id}/schedule': 'cancel',
  'POST /email-sequences/{sequence}/steps/{key}/test': 'testStep',
  'POST /email-contacts/events': 'record',
  'POST /email-contacts/events/batch': 'recordBatch',
};

const VERBS: Readonly<Record<string, string>> = {
  get: 'get',
  post: 'create',
  patch: 'update',
  put: 'replace',
  delete: 'delete',
};

/** Words that JavaScript keeps for itself, among those that a path may name. */
const KEYWORDS = [
  'import',
  'export',
  'default',
  'delete',
  'new',
  'class',
  'function',
  'switch',
  'case',
  'package',
];

/** How an answer is handed on; see Calls in core.ts. */
export type Reading = 'json' | 'data' | 'text' | 'response' | 'list' | 'upload';

export interface Method {
  name: string;
  operation: Operation;
  /** `GET`. */
  verb: string;
  path: string;
  /** Names in the path, with what the arguments for them are called. */
  path_names: { name: string; argument: string }[];
  reading: Reading;
  query: Schema | undefined;
  /** Of an upload, the fields beside the file. */
  body: Schema | undefined;
  /** Of an upload, what the field of the file is called. */
  file_field: string | undefined;
  /** Out of its envelope; undefined where the method answers nothing. */
  answer: Schema | undefined;
  is_once: boolean;
}

export interface Group {
  /** `emailTemplates`. */
  name: string;
  description: string;
  methods: Method[];
}

/** The groups that have methods, in the order of the document. */
export function groupsOf({ paths, tags }: ApiDocument): Group[] {
  const known = new Map<string, Group>(
    tags.map(({ name, description }) => [name, { name: camel(name), description, methods: [] }]),
  );
  for (const [path, operations] of Object.entries(paths)) {
    if (!path.startsWith(`${PLANE}/`) || LEFT_OUT.test(path)) continue;
    for (const [verb, operation] of Object.entries(operations)) {
      if (VERBS[verb] === undefined || !isSendable(operation)) continue;
      const [tag = ''] = operation.tags;
      const group = known.get(tag) ?? { name: camel(tag), description: '', methods: [] };
      known.set(tag, group);
      const method = methodOf(path, verb, operation);
      // The documentation's own name is nobody else's.
      const is_taken = group.methods.some(({ name }) => name === method.name);
      group.methods.push(is_taken ? { ...method, name: operation.operationId } : method);
    }
  }
  return [...known.values()].filter(({ methods }) => methods.length > 0);
}

function methodOf(path: string, verb: string, operation: Operation): Method {
  const success = successOf(operation);
  const { schema: answer, type = '' } = success ?? {};
  const body = bodyOf(operation);
  const reading = body.file_field === undefined ? readingOf(type, answer) : 'upload';
  return {
    name:
      NAMES[`${verb.toUpperCase()} ${path.slice(PLANE.length)}`] ??
      nameOf(path, { verb, is_many: isMany(answer), tag: operation.tags[0] ?? '' }),
    operation,
    verb: verb.toUpperCase(),
    path,
    path_names: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => ({
      name,
      argument: argumentOf(name),
    })),
    reading,
    query: queryOf(operation),
    ...body,
    answer: reading === 'data' ? answer?.properties?.data : answer,
    is_once: takesHeader(operation, 'IdempotencyKey'),
  };
}

/** `POST /emails/templates/{slug}/preview` of Email templates is `preview`, and its GET `list`. */
function nameOf(
  path: string,
  { verb, is_many, tag }: { verb: string; is_many: boolean; tag: string },
): string {
  const last = path.split('/').at(-1) ?? '';
  const does = verb === 'get' && is_many ? 'list' : (VERBS[verb] ?? verb);
  if (last.endsWith('.csv')) return 'exportCsv';
  if (last.startsWith('{') || lastWord(last) === lastWord(tag)) return does;
  return does === 'create' || does === 'get' ? camel(last) : `${does}${pascal(last)}`;
}

/** True when it is a list of things, paged or not. */
function isMany(answer: Schema | undefined): boolean {
  return answer?.properties?.data?.type === 'array';
}

function readingOf(type: string, answer: Schema | undefined): Reading {
  if (type === '' || answer === undefined) return 'json';
  if (type.startsWith('text/')) return 'text';
  if (type !== 'application/json') return 'response';
  const members = Object.keys(answer.properties ?? {}).filter((name) => name !== 'success');
  if (members.includes('data') && members.includes('meta')) return 'list';
  return members.join() === 'data' ? 'data' : 'json';
}

/** True when it takes nothing, JSON, or a form with a file. */
function isSendable({ requestBody }: Operation): boolean {
  const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {};
  return (
    requestBody === undefined ||
    json !== undefined ||
    (form !== undefined && filesApart(form.schema).file !== '')
  );
}

function bodyOf({ requestBody }: Operation): Pick<Method, 'body' | 'file_field'> {
  const form = requestBody?.content['multipart/form-data']?.schema;
  if (!form) return { body: requestBody?.content['application/json']?.schema, file_field: undefined };
  const { file, ...fields } = filesApart(form);
  return { body: { ...form, ...fields }, file_field: file };
}

/** A form has one file. */
function filesApart({ properties = {}, required = [] }: Schema): {
  file: string;
  properties: Record<string, Schema>;
  required: string[];
} {
  const all = Object.entries(properties);
  const [file = ''] = all.find(([, { format }]) => format === 'binary') ?? [];
  return {
    file,
    properties: Object.fromEntries(all.filter(([name]) => name !== file)),
    required: required.filter((name) => name !== file),
  };
}

function words(text: string): string[] {
  return text.split(/[^A-Za-z0-9]+/).filter((word) => word !== '');
}

function lastWord(text: string): string {
  return words(text).at(-1)?.toLowerCase() ?? '';
}

export function pascal(text: string): string {
  return words(text)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');
}

function camel(text: string): string {
  const joined = pascal(text);
  return joined.charAt(0).toLowerCase() + joined.slice(1);
}

function argumentOf(name: string): string {
  const argument = camel(name);
  return KEYWORDS.includes(argument) ? `${argument}Id` : argument;
}

/** Schemas that these methods take or answer, and those that they refer to, in the document's order. */
export function schemasOf(groups: readonly Group[], { components }: ApiDocument): string[] {
  const used = new Set<string>();
  const visit = (schema: Schema | undefined): void => {
    if (schema === undefined) return;
    const name = schema.$ref === undefined ? undefined : nameIn(schema.$ref);
    if (name !== undefined) {
      if (used.has(name)) return;
      used.add(name);
      visit(components.schemas[name]);
    }
    const { anyOf = [], allOf = [], properties = {}, items, additionalProperties } = schema;
    for (const each of [...anyOf, ...allOf, ...Object.values(properties), items]) visit(each);
    if (typeof additionalProperties === 'object') visit(additionalProperties);
  };
  for (const { query, body, answer } of groups.flatMap(({ methods }) => methods))
    for (const each of [query, body, answer]) visit(each);
  return Object.keys(components.schemas).filter((name) => used.has(name));
}
