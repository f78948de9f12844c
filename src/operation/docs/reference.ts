/** The API reference for its pages: the OpenAPI document by groups. What both planes share is told once. */
import { isPlainObject } from '../../platform/http/schema.ts';

type Json = Record<string, unknown>;

export interface Address {
  /** Of the operation: the anchor on the page of its group. */
  id: string;
  method: string;
  path: string;
  /** What the credential must be allowed to do; '' for nothing. Markdown. */
  needs: string;
  /** Of the OpenAPI document's security schemes; null where anybody may ask. */
  scheme: string | null;
  operation: Json;
}

export interface Operation {
  summary: string;
  /** Markdown. */
  description: string;
  /** The first is the one that its example asks. */
  addresses: [Address, ...Address[]];
}

export interface Group {
  slug: string;
  name: string;
  description: string;
  operations: readonly Operation[];
}

export interface Reference {
  description: string;
  groups: readonly Group[];
  /** Follows a reference such as `#/components/schemas/Email`; anything else is as it is. */
  resolve(value: unknown): Json;
}

const DATA_PREFIX = '/api/v1/';
/** Below it the management plane has what the data plane has, of a project that it names. */
const PROJECT_PREFIX = '/api/public/v1/projects/{project}/';
const NEEDS = /(?:^|\n\n)Needs: (.*)\.$/;

export function slugOf(group: string): string {
  return group.toLowerCase().replaceAll(' ', '-');
}

/** Where an operation is told of. */
export function referenceHref(group: string, id: string): string {
  return `/docs/api/${slugOf(group)}#${id}`;
}

export function readReference(document: Json): Reference {
  const operations = new Map<string, Operation[]>();
  const by_what = new Map<string, Operation>();
  for (const [path, methods] of membersOf(document.paths)) {
    for (const [method, operation] of membersOf(methods)) {
      if (!isPlainObject(operation)) continue;
      const address = addressOf(method.toUpperCase(), path, operation);
      const summary = textOf(operation.summary);
      const what = `${method} ${path.replace(PROJECT_PREFIX, DATA_PREFIX)} ${summary}`;
      const twin = by_what.get(what);
      if (twin) {
        if (path.startsWith(DATA_PREFIX)) twin.addresses.unshift(address);
        else twin.addresses.push(address);
        continue;
      }
      const description = textOf(operation.description).replace(NEEDS, '');
      const made: Operation = { summary, description, addresses: [address] };
      by_what.set(what, made);
      const group = groupOf(operation);
      operations.set(group, [...(operations.get(group) ?? []), made]);
    }
  }
  const tags = Array.isArray(document.tags) ? document.tags.filter(isPlainObject) : [];
  return {
    description: isPlainObject(document.info) ? textOf(document.info.description) : '',
    groups: tags.map(({ name, description }) => ({
      slug: slugOf(textOf(name)),
      name: textOf(name),
      description: textOf(description),
      operations: operations.get(textOf(name)) ?? [],
    })),
    resolve: (value) => resolve(document, value),
  };
}

function addressOf(method: string, path: string, operation: Json): Address {
  const [, needs = ''] = NEEDS.exec(textOf(operation.description)) ?? [];
  const security = (Array.isArray(operation.security) ? operation.security : []).filter(isPlainObject);
  const scheme = security.flatMap((each) => Object.keys(each))[0] ?? null;
  return { id: textOf(operation.operationId), method, path, needs, scheme, operation };
}

function groupOf({ tags }: Json): string {
  return Array.isArray(tags) ? textOf(tags[0]) : '';
}

function resolve(document: Json, value: unknown): Json {
  const ref = isPlainObject(value) ? value.$ref : undefined;
  if (typeof ref !== 'string') return isPlainObject(value) ? value : {};
  const names = ref.slice('#/'.length).split('/');
  return resolve(
    document,
    names.reduce<unknown>((at, name) => (isPlainObject(at) ? at[name] : undefined), document),
  );
}

export function membersOf(value: unknown): [string, unknown][] {
  return isPlainObject(value) ? Object.entries(value) : [];
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
