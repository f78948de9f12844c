/** The typed client: a TypeScript file without dependencies, of this version's OpenAPI document. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiDocument, Schema } from './document.ts';
import { type Group, groupsOf, type Method, pascal, schemasOf } from './methods.ts';
import { comment, declare, type NameOf, typeOf } from './types.ts';

const CORE = ['core-failures.ts', 'core.ts', 'core-uploads.ts'];

// scripts/build.ts replaces this name by a literal; run from source, it is not defined.
declare const SATCHEL_CLIENT_CORE: string;

/** The core of every client, as one text. */
export function readCore(): string {
  if (typeof SATCHEL_CLIENT_CORE !== 'undefined') return SATCHEL_CLIENT_CORE;
  const parts = CORE.map((name) => readFileSync(join(import.meta.dir, name), 'utf8'));
  return parts.map(withoutModule).join('\n');
}

/** A part of the core without its first comment, its imports, and exports that only its neighbours call. */
function withoutModule(text: string): string {
  return text
    .replace(/^\/\*\*[\s\S]*?\*\/\n/, '')
    .replace(/^import [^;]*;\n/gm, '')
    .replace(/^export (?=(async )?function |(type|interface) (Calls?|Delivery|Sender|Sent)\b)/gm, '')
    .trimStart();
}

/** The client's source. The same document makes the same text. */
export function printClient(document: ApiDocument): string {
  const core = readCore();
  const groups = groupsOf(document);
  const taken = new Set(
    [...core.matchAll(/^(?:export |declare |async )*(?:class|interface|type|const|function) (\w+)/gm)].map(
      ([, name]) => name,
    ),
  );
  const nameOf: NameOf = (name) => (taken.has(name) || name === 'Satchel' ? `${name}Record` : name);
  const schemas = schemasOf(groups, document).map((name) =>
    declare(nameOf(name), document.components.schemas[name] ?? {}, nameOf),
  );
  return [
    HEAD(document.info.version),
    printClass(groups),
    ...groups.map((group) => printGroup(group, nameOf)),
    section('What the endpoints take and answer'),
    ...schemas,
    section('How requests are sent'),
    core,
  ].join('\n');
}

const HEAD = (version: string): string => `/* eslint-disable */
/**
 * The client of Satchel ${version}, written by \`satchel client typescript\`. Don't change it: write it again after an upgrade.
 *
 *     const satchel = new Satchel({ url: 'https://satchel.example.com', key: process.env.SATCHEL_KEY ?? '' });
 *     const { url } = await satchel.objects.upload(file, { visibility: 'public' });
 *     await satchel.emails.send({ to: 'ann@example.org', subject: 'Hello', body_text: 'Hi!' });
 *     for await (const email of satchel.emails.list({ status: 'failed' })) retry(email);
 *
 * It throws SatchelError. Up to three times it sends what may be sent again without harm: what only reads, replaces or deletes, what
 * takes an Idempotency-Key, and whatever was over a limit (429); after Retry-After, where that is a minute at most. Whoever opens a
 * page or an app can read the key in it.
 */
`;

function section(title: string): string {
  return `/* --- ${title} ${'-'.repeat(110 - title.length - 8)} */\n`;
}

function printClass(groups: readonly Group[]): string {
  const members = groups.map(
    ({ name, description }) =>
      `${comment([description], '  ')}  readonly ${name}: ReturnType<typeof ${name}Of>;\n`,
  );
  const made = groups.map(({ name }) => `    this.${name} = ${name}Of(call);\n`);
  return `export type SatchelOptions = Connection & { key: string };

export class Satchel {
${members.join('')}
  /** Throws TypeError where url or key can be none. */
  constructor(options: SatchelOptions) {
    const call = connect(options);
${made.join('')}  }
}
`;
}

function printGroup({ name, description, methods }: Group, nameOf: NameOf): string {
  const shapes = methods.flatMap((method) =>
    shapesOf(method, pascal(name)).map(([called, schema]) => declare(called, schema, nameOf)),
  );
  const printed = methods.map((method) => printMethod(method, pascal(name), nameOf));
  return `${section(pascal(name))}
${shapes.join('')}
${comment([description])}function ${name}Of(call: Calls) {
  return {
${printed.join('\n')}  };
}
`;
}

/** Types of a method that have no name in the document, so that whoever wraps it may name them. */
function shapesOf(method: Method, group: string): [name: string, schema: Schema][] {
  const { query, body, answer, reading } = method;
  const shapes: [string, Schema | undefined][] = [
    [typeName(method, group, 'Query'), query],
    [typeName(method, group, reading === 'upload' ? 'Fields' : 'Body'), body],
    [typeName(method, group, 'Answer'), ['response', 'text'].includes(reading) ? undefined : answer],
  ];
  return shapes.filter((shape): shape is [string, Schema] => shape[1] !== undefined && !hasName(shape[1]));
}

function typeName({ name }: Method, group: string, of: string): string {
  return `${group}${name.charAt(0).toUpperCase()}${name.slice(1)}${of}`;
}

/** It is a reference, or as short as one. */
function hasName({ $ref, type, properties, items }: Schema): boolean {
  return $ref !== undefined || (type !== 'object' && properties === undefined && items?.$ref !== undefined);
}

function printMethod(method: Method, group: string, nameOf: NameOf): string {
  const { name, operation, verb, path, path_names, reading, query, body, is_once } = method;
  const called = (schema: Schema, of: string): string =>
    hasName(schema) ? typeOf(schema, nameOf) : typeName(method, group, of);
  const is_upload = reading === 'upload';
  const options = is_once ? 'OnceOptions' : 'CallOptions';
  const takes = path_names.map(({ argument }) => `${argument}: string`);
  if (is_upload) takes.push('file: UploadSource');
  if (body && !is_upload) takes.push(argument('body', called(body, 'Body'), verb === 'POST' ? body : {}));
  if (query) takes.push(argument('query', called(query, 'Query'), query));
  takes.push(
    is_upload && body
      ? argument('options', `${called(body, 'Fields')} & UploadOptions`, body)
      : `options: ${options} = {}`,
  );
  const answer = method.answer && called(method.answer, 'Answer');
  const answers: Record<typeof reading, string> = {
    json: `Promise<${answer ?? 'void'}>`,
    data: `Promise<${answer}>`,
    upload: `Promise<${answer}>`,
    text: 'Promise<string>',
    response: 'Promise<Response>',
    list: `List<${itemOf(method, nameOf)}, ${answer}>`,
  };
  const passed = [
    is_upload ? `field: '${method.file_field}'` : '...options',
    path_names.length > 0 ? `path: { ${path_names.map(pathMember).join(', ')} }` : '',
    query ? 'query' : '',
    body && !is_upload ? 'body' : '',
    is_once ? 'is_once: true' : '',
  ].filter((part) => part !== '');
  const rest = is_upload ? ', file, options' : '';
  const told = [operation.summary, operation.description, `\`${verb} ${path}\``];
  return `${comment(told, '    ')}    ${name}(${takes.join(', ')}): ${answers[reading]} {
      return call.${reading}('${verb}', '${path}', { ${passed.join(', ')} }${rest});
    },
`;
}

function pathMember({ name, argument: value }: { name: string; argument: string }): string {
  return name === value ? name : `${name}: ${value}`;
}

/** A parameter without a required field may be left out, unless it is all that there is to say. */
function argument(name: string, type: string, { $ref, required = [], properties }: Schema): string {
  const is_needed = $ref !== undefined || properties === undefined || required.length > 0;
  return `${name}: ${type}${is_needed ? '' : ' = {}'}`;
}

function itemOf({ answer }: Method, nameOf: NameOf): string {
  return typeOf(answer?.properties?.data?.items ?? {}, nameOf);
}
