/** OpenAPI 3.1: what the `/docs` pages print, read off the routes and the schemas that check their input. */
import { Kind } from '@sinclair/typebox';
import { MAX_IDEMPOTENCY_KEY_CHARS } from '../../limits.ts';
import type { Family, RequestHeader } from './answers.ts';
import { CONSOLE_HEADER } from './browser.ts';
import { dataFailure, FAILURES, failureOf, managementFailure } from './openapi-failures.ts';
import { SchemaBook } from './openapi-schemas.ts';
import { PLANE_PREFIX, type Plane, type Route } from './routes.ts';
import { named, type TSchema, t } from './schema.ts';

export interface About {
  title: string;
  version: string;
  description: string;
  license: { name: string; identifier: string };
  server_url: string;
  /** The groups of operations, in the order in which they are shown. */
  tags: readonly { name: string; description: string }[];
  /** An example for each path parameter. */
  path_examples: Readonly<Record<string, string | number>>;
}

type Json = Record<string, unknown>;

const SECURITY: Record<Plane, readonly Json[]> = {
  data: [{ api_key: [] }],
  management: [{ access_token: [] }, { session: [] }],
  console: [{ session: [] }],
  status: [],
  machine: [{}, { access_token: [] }, { session: [] }],
  page: [],
  foreign: [],
};

/** The OpenAPI document of these routes; pages for people are left out. */
export function buildOpenApiDocument(routes: readonly Route[], about: About): Json {
  const book = new SchemaBook();
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    if (route.plane === 'page' || route.plane === 'foreign') continue;
    const path = `${PLANE_PREFIX[route.plane]}${route.path}`.replace(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route, book, about) };
  }
  const { title, version, description, license } = about;
  return {
    openapi: '3.1.0',
    info: { title, version, description, license },
    servers: [
      { url: about.server_url },
      // Relative: the page may be open at another address than the public URL, and its policy allows only
      // that.
      { url: '/', description: 'The address of this page' },
    ],
    tags: about.tags,
    paths,
    components: {
      securitySchemes: {
        api_key: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        access_token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'satchel' },
      },
      parameters: Object.fromEntries(
        Object.entries(HEADER_PARAMETERS).map(([key, { schema, ...rest }]) => [
          key,
          { in: 'header', required: false, ...rest, schema: book.print(schema) },
        ]),
      ),
      headers: Object.fromEntries(
        Object.entries(HEADERS).map(([name, [description, schema]]) => [
          name,
          { description, schema: book.print(schema) },
        ]),
      ),
      responses: failureResponses(book),
      schemas: book.schemas,
    },
  };
}

/* --- Operations ----------------------------------------------------------------------------------------------- */

function operationOf(route: Route, book: SchemaBook, about: About): Json {
  const { docs } = route;
  const description = describe(route);
  return {
    operationId: operationIdOf(route),
    summary: docs.summary,
    ...(description ? { description } : {}),
    tags: [docs.tag],
    parameters: [
      ...pathParameters(route.path, about.path_examples),
      ...queryParameters(docs.query, book),
      ...(route.plane === 'data' ? [parameterRef('AppId'), parameterRef('AndroidCert')] : []),
      ...(route.plane === 'console' && route.method !== 'GET' ? [parameterRef('Console')] : []),
      ...(docs.is_idempotent ? [parameterRef('IdempotencyKey')] : []),
      ...(docs.takes_if_match ? [parameterRef('IfMatch')] : []),
      ...(docs.request_headers ?? []).map(({ is_required, ...header }) => ({
        in: 'header',
        required: is_required,
        ...header,
        schema: { type: 'string' },
      })),
    ],
    ...(docs.body ? { requestBody: requestBodyOf(docs.body, route, book) } : {}),
    responses: responsesOf(route, book),
    security: securityOf(route),
  };
}

/** The data plane's open route serves public things to all. The console's open routes let people in. */
function securityOf({ needs, plane }: Route): readonly Json[] {
  if (needs !== null) return SECURITY[plane];
  return plane === 'data' ? [{}, ...SECURITY.data] : [];
}

/** `GET /projects/:project/api-keys` is getProjectsByProjectApiKeys. */
function operationIdOf({ method, path }: Route): string {
  const words = path.replace(/:/g, 'by-').split(/[^a-zA-Z0-9]+/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

function describe(route: Route): string {
  const needs =
    route.needs && route.needs.length > 0
      ? `Needs: ${route.needs.map((need) => `\`${need}\``).join(', ')}.`
      : '';
  return [route.docs.description, needs].filter((part) => part).join('\n\n');
}

function pathParameters(path: string, examples: About['path_examples']): Json[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    ...(Object.hasOwn(examples, name) ? { example: String(examples[name]) } : {}),
  }));
}

function queryParameters(query: TSchema | undefined, book: SchemaBook): Json[] {
  return Object.entries<TSchema>(query?.properties ?? {}).map(([name, schema]) => {
    // A record's members stand one by one; see `readParameters`.
    const [member] = Object.values<TSchema>(schema.patternProperties ?? {});
    const { description = schema.description, ...printed } = book.print(member ?? schema);
    return {
      name: member ? `${name}.NAME` : name,
      in: 'query',
      required: query?.required?.includes(name) === true,
      ...(description ? { description } : {}),
      schema: printed,
      // With commas between.
      ...(schema[Kind] === 'Array' ? { style: 'form', explode: false } : {}),
    };
  });
}

function requestBodyOf(body: TSchema, { docs, method }: Route, book: SchemaBook): Json {
  const example = docs.example === undefined ? {} : { example: docs.example };
  return {
    // Few clients send one with a DELETE.
    required: method !== 'DELETE' || body.required !== undefined,
    content: { [docs.consumes ?? 'application/json']: { schema: book.print(body), ...example } },
  };
}

/* --- Answers -------------------------------------------------------------------------------------------------- */

/** This answer has no body. */
const BODILESS: readonly string[] = ['204', '304'];

function responsesOf(route: Route, book: SchemaBook): Json {
  const { docs, plane } = route;
  const headers = successHeaders(route);
  const success = docs.is_bodiless ? {} : { content: successContent(route, book) };
  const bodyOf = (status: string): Json => {
    if (BODILESS.includes(status)) return {};
    return Number(status) < 300 ? success : { content: failureContent(plane, status, book) };
  };
  const responses: Json = {};
  responses[route.status] = { description: 'Success', headers, ...bodyOf(String(route.status)) };
  const failing = plane === 'machine' ? 'management' : plane;
  for (const status of Object.keys(FAILURES[failing])) {
    responses[status] = docs.always
      ? failureResponse(failing, status, book, alwaysHeaders(docs))
      : { $ref: `#/components/responses/${failing}${status}` };
  }
  for (const [status, description] of Object.entries(docs.also ?? {})) {
    responses[status] = { description, headers, ...bodyOf(status) };
  }
  return responses;
}

/** The answer with its envelope; see answers.ts. A route without a response schema answers bytes. */
function successContent({ docs, family, method }: Route, book: SchemaBook): Json {
  const { response, produces } = docs;
  if (!response) return { [produces ?? '*/*']: { schema: { type: 'string', format: 'binary' } } };
  if (produces !== undefined) return { [produces]: { schema: book.print(response) } };
  // Replacing a list answers its first page.
  const is_page =
    docs.query?.properties?.per_page !== undefined || (method === 'PUT' && response.type === 'array');
  return { 'application/json': { schema: book.print(enveloped(response, family, is_page, docs)) } };
}

function enveloped(
  response: TSchema,
  family: Family,
  is_page: boolean,
  { beside = {}, may_be_capped = false }: RouteDocs,
): TSchema {
  if (is_page) {
    const data = response.type === 'array' ? response : t.Array(response);
    const list = { message: t.String(), data, meta: may_be_capped ? capped_page_meta : page_meta, ...beside };
    return t.Object(family === 'management' ? list : { success: t.Literal(true), ...list });
  }
  if (family === 'management') return t.Object({ data: response, ...beside });
  if (family === 'wrapped') return t.Object({ success: t.Literal(true), data: response, ...beside });
  return response;
}

const count = t.Integer();
const count_or_null = t.Union([count, t.Null()]);
const meta_fields = {
  current_page: count,
  per_page: count,
  total: count,
  last_page: count,
  from: count_or_null,
  to: count_or_null,
  count,
  has_more: t.Boolean(),
  remaining_items: count,
  remaining_pages: count,
  next_page: count_or_null,
  prev_page: count_or_null,
  max_per_page: count,
  default_per_page: count,
};
const page_meta = named('PageMeta', t.Object(meta_fields));
const capped_page_meta = named(
  'CappedPageMeta',
  t.Object({
    ...meta_fields,
    total_capped: t.Optional(
      t.Literal(true, {
        description:
          'There where counting stopped: `total` is how many there are at least, and so is what follows from it. Pages go on ' +
          'behind it.',
      }),
    ),
  }),
);

function failureContent(plane: Plane, status: string, book: SchemaBook): Json {
  const example = failureOf(plane, status);
  const schema = book.print(plane === 'management' ? managementFailure : dataFailure);
  return { 'application/json': { schema, ...(example === undefined ? {} : { example }) } };
}

/** Every failure that any route of a plane may answer, once for all of them. */
function failureResponses(book: SchemaBook): Json {
  const responses: Json = {};
  for (const plane of ['data', 'management', 'console'] as const) {
    for (const status of Object.keys(FAILURES[plane]))
      responses[`${plane}${status}`] = failureResponse(plane, status, book);
  }
  return responses;
}

function failureResponse(plane: Plane, status: string, book: SchemaBook, own_headers: Json = {}): Json {
  const waits = status === '429' || status === '503' ? ['Retry-After'] : [];
  const rates = status === '401' || status === '500' ? [] : RATE_HEADERS;
  const warned = status === '401' ? [] : ['Warning'];
  return {
    description: FAILURES[plane][status]?.description,
    headers: { ...headerRefs(['X-Request-Id', ...rates, ...waits, ...warned]), ...own_headers },
    content: failureContent(plane, status, book),
  };
}

/* --- Headers -------------------------------------------------------------------------------------------------- */

const HEADER_PARAMETERS: Readonly<Record<string, { name: string; description: string; schema: TSchema }>> = {
  AppId: {
    name: 'X-App-Id',
    description: 'Android package or iOS bundle id, for keys restricted to apps.',
    schema: t.String(),
  },
  AndroidCert: {
    name: 'X-Android-Cert',
    description: "SHA-256 or SHA-1 of the app's signing certificate, where the key's rule pins one.",
    schema: t.String(),
  },
  Console: {
    name: CONSOLE_HEADER,
    description: 'Always 1: no form and no page of another site can send it.',
    schema: t.Literal('1'),
  },
  IfMatch: {
    name: 'If-Match',
    description:
      'The ETag of the record as you read it. Where it was changed since, the answer is 409 and nothing is changed.',
    schema: t.String(),
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    description:
      'A name of your choice for this request. For 24 hours the same request under the same key is answered as the first ' +
      'time instead of done again; another request under it is 409.',
    schema: t.String({ minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_CHARS }),
  },
};

const HEADERS: Readonly<Record<string, readonly [string, TSchema]>> = {
  'X-Request-Id': ['The name of this request in the log of the server.', t.String()],
  'RateLimit-Limit': ['Requests a minute that the credential may make.', t.Integer()],
  'RateLimit-Remaining': ['Requests left in this minute.', t.Integer()],
  'RateLimit-Reset': ['Seconds until the minute ends.', t.Integer()],
  'Retry-After': ['Seconds after which another try makes sense.', t.Integer()],
  Warning: [
    '`299 satchel "ignored fields: a, b"`: top-level fields of the body, or query parameters of a list, that no endpoint knows.',
    t.String(),
  ],
  'Idempotent-Replayed': ['`true` on an answer that is given once more for its Idempotency-Key.', t.String()],
};
const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

function parameterRef(key: string): Json {
  return { $ref: `#/components/parameters/${key}` };
}

function headerRefs(names: readonly string[]): Json {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function successHeaders({ docs, needs, plane }: Route): Json {
  const is_warned = docs.query !== undefined || docs.response?.type === 'array' || docs.body !== undefined;
  const names = [
    'X-Request-Id',
    ...(needs === null && plane !== 'data' ? [] : RATE_HEADERS),
    ...(is_warned && docs.consumes === undefined ? ['Warning'] : []),
    ...(docs.is_idempotent ? ['Idempotent-Replayed'] : []),
  ];
  const own = Object.entries(docs.headers ?? {}).map(([name, description]) => [
    name,
    { description, schema: { type: 'string' } },
  ]);
  return { ...headerRefs(names), ...alwaysHeaders(docs), ...Object.fromEntries(own) };
}

function alwaysHeaders({ always = {} }: RouteDocs): Json {
  const told = Object.entries(always).map(([name, value]) => [
    name,
    { description: `Always \`${value}\`.`, schema: { type: 'string' } },
  ]);
  return Object.fromEntries(told);
}

/** What the OpenAPI pages and the route-walk tests know of a route. */
export interface RouteDocs {
  summary: string;
  tag: string;
  /** Longer explanation, in Markdown. */
  description?: string;
  query?: TSchema;
  body?: TSchema;
  /** Shape of the success answer inside the envelope. */
  response?: TSchema;
  /** What stands beside `data` in the envelope. */
  beside?: Readonly<Record<string, TSchema>>;
  /** Whether counting of what a list holds may stop early; see pagination.ts. */
  may_be_capped?: boolean;
  /** Media type of the request body where it is not JSON. */
  consumes?: string;
  /** Media type of a success other than JSON: a file that a console's link may save; see browser.ts. */
  produces?: string;
  /** A body that works as it stands. */
  example?: unknown;
  /** Whether its successes are headers alone, whatever their status. */
  is_bodiless?: boolean;
  /** Headers of the success besides those of every answer, with what they mean. */
  headers?: Readonly<Record<string, string>>;
  /** Headers of every answer, refusals too, with their values. */
  always?: Readonly<Record<string, string>>;
  /** Headers that it reads besides those that any route of its plane does. */
  request_headers?: readonly RequestHeader[];
  /** Statuses besides its own and those that any route of its plane may answer, with what they mean. */
  also?: Readonly<Record<number, string>>;
  /** Whether it changes nothing though it is no GET: who is read-only may ask it. */
  only_reads?: boolean;
  /** Whether it honours the header Idempotency-Key. */
  is_idempotent?: boolean;
  /** Whether it honours the header If-Match; see etags.ts. */
  takes_if_match?: boolean;
  /** Fields that change by themselves, such as counters, at any depth. The record's ETag leaves them out. */
  unversioned?: readonly string[];
}
