/** OpenAPI: what the `/docs` pages print of a route, derived from the same schemas that check its input. */
import { Elysia } from 'elysia';
import { MAX_IDEMPOTENCY_KEY_CHARS } from '../../limits.ts';
import type { Family } from './answers.ts';
import { PLANE_PREFIX, type Plane, type Route } from './routes.ts';
import { type TSchema, t } from './schema.ts';

/** Names of the security schemes as the document declares them. */
const API_KEY_SCHEME = 'api_key';
const BEARER_SCHEME = 'access_token';

const FAILURES: Record<Plane, readonly (readonly [string, string])[]> = {
  data: [
    ['401', 'Missing or invalid X-API-Key'],
    ['403', 'Origin, app or permission refused'],
    ['404', 'Not found, or not of this project'],
    ['409', 'In conflict with what is there'],
    ['422', 'Validation failed'],
    ['429', 'Rate or quota exceeded; see Retry-After'],
    ['500', 'Something went wrong on the server'],
    ['503', 'Not possible at the moment; see Retry-After'],
  ],
  management: [
    ['401', 'Missing, malformed, unknown, revoked or expired token'],
    ['403', 'The token lacks a capability'],
    ['404', "Not found, or out of the token's scope"],
    ['409', 'In conflict with what is there; the code says how'],
    ['422', 'Validation failed'],
    ['429', 'Rate exceeded; see Retry-After'],
    ['500', 'Something went wrong on the server'],
    ['503', 'Not possible at the moment; see Retry-After'],
  ],
  status: [],
  page: [],
};

/**
 * The OpenAPI document of these routes. The generator is loaded at the first call: a server that nobody asks for its
 * documentation pays nothing for it.
 */
export async function buildOpenApiDocument(
  routes: readonly Route[],
  about: { version: string; server_url: string },
): Promise<unknown> {
  const { swagger } = await import('@elysiajs/swagger');
  const app = new Elysia({ aot: false }).use(
    swagger({
      path: '/openapi',
      documentation: {
        info: {
          title: 'Satchel',
          version: about.version,
          description:
            'Files, email, secrets and API keys for a small team. The data plane takes an API key in `X-API-Key`; the ' +
            'management plane takes `Authorization: Bearer` with an access token made by `satchel token create`.',
        },
        servers: [
          { url: about.server_url },
          // Where the page was opened at another address: its Content-Security-Policy lets it ask that one alone.
          { url: '/', description: 'The address of this page' },
        ],
        components: {
          securitySchemes: {
            [API_KEY_SCHEME]: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
            [BEARER_SCHEME]: { type: 'http', scheme: 'bearer' },
          },
        },
      },
    }),
  );
  for (const route of routes) {
    const path = `${PLANE_PREFIX[route.plane]}${route.path}`;
    app.route(route.method, path, () => '', { config: {}, detail: openApiDetail(route) });
  }
  const response = await app.handle(new Request('http://localhost/openapi/json'));
  return response.json();
}

/** What apps say of themselves; a restricted key may ask for it. */
const APP_HEADERS = [
  ['X-App-Id', 'Android package or iOS bundle id, for keys restricted to apps'],
  ['X-Android-Cert', "SHA-256 or SHA-1 of the app's signing certificate, where the key's rule pins one"],
].map(([name, description]) => ({ name, in: 'header', required: false, description, schema: t.String() }));

const IDEMPOTENCY_HEADER = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A name of your choice for this request. For 24 hours the same request under the same key is answered as the first ' +
    'time instead of done again; another request under it is 409.',
  schema: t.String({ minLength: 1, maxLength: MAX_IDEMPOTENCY_KEY_CHARS }),
};

/** This answer has no body. */
const BODILESS = [304];

const field_errors = t.Record(t.String(), t.Array(t.String()));
const dataFailure = t.Object({
  success: t.Literal(false),
  message: t.String(),
  code: t.Optional(t.String()),
  errors: t.Optional(field_errors),
});
const managementFailure = t.Object({
  error: t.Object({
    code: t.String(),
    message: t.String(),
    details: t.Optional(t.Object({ errors: t.Optional(field_errors) }, { additionalProperties: true })),
  }),
});

const count = t.Integer();
const count_or_null = t.Union([count, t.Null()]);
const pageMeta = t.Object({
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
});

/** The answer as it is sent, envelope and all; see envelopes.ts. A route without a response schema answers bytes. */
function successContent({ docs, family, method }: Route): Record<string, unknown> {
  const { response } = docs;
  if (!response) return { '*/*': { schema: { type: 'string', format: 'binary' } } };
  // A list that was replaced is answered with its first page.
  const is_page =
    docs.query?.properties?.per_page !== undefined || (method === 'PUT' && response.type === 'array');
  return { 'application/json': { schema: enveloped(response, family, is_page) } };
}

function enveloped(response: TSchema, family: Family, is_page: boolean): TSchema {
  if (is_page) {
    const data = response.type === 'array' ? response : t.Array(response);
    const list = { message: t.String(), data, meta: pageMeta };
    return t.Object(family === 'management' ? list : { success: t.Literal(true), ...list });
  }
  if (family === 'management') return t.Object({ data: response });
  if (family === 'wrapped') return t.Object({ success: t.Literal(true), data: response });
  return response;
}

/** The OpenAPI operation of a route. */
function openApiDetail(route: Route): Record<string, unknown> {
  if (route.plane === 'page') return { hide: true };
  const { docs } = route;
  const responses: Record<string, unknown> = {
    [String(route.status)]: { description: 'Success', content: successContent(route) },
  };
  const failure = {
    'application/json': { schema: route.plane === 'management' ? managementFailure : dataFailure },
  };
  for (const [status, description] of FAILURES[route.plane])
    responses[status] = { description, content: failure };
  for (const [status, description] of Object.entries(docs.also ?? {})) {
    const content = Number(status) < 300 ? successContent(route) : failure;
    responses[status] = BODILESS.includes(Number(status)) ? { description } : { description, content };
  }
  return {
    summary: docs.summary,
    tags: [docs.tag],
    description: describe(route),
    parameters: [
      ...pathParameters(route.path),
      ...queryParameters(docs.query),
      ...(route.plane === 'data' ? APP_HEADERS : []),
      ...(docs.is_idempotent ? [IDEMPOTENCY_HEADER] : []),
    ],
    ...(docs.body
      ? {
          requestBody: {
            required: true,
            content: { [docs.consumes ?? 'application/json']: { schema: docs.body } },
          },
        }
      : {}),
    responses,
    security: securityOf(route),
  };
}

function describe(route: Route): string {
  const needs =
    route.needs && route.needs.length > 0
      ? `Needs: ${route.needs.map((need) => `\`${need}\``).join(', ')}.`
      : '';
  return [route.docs.description, needs].filter((part) => part).join('\n\n');
}

function securityOf(route: Route): unknown[] {
  // The open route of the data plane serves what is public to all, and the rest to who has a key.
  if (route.needs === null) return route.plane === 'data' ? [{}, { [API_KEY_SCHEME]: [] }] : [];
  return [{ [route.plane === 'management' ? BEARER_SCHEME : API_KEY_SCHEME]: [] }];
}

function pathParameters(path: string): unknown[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: t.String(),
  }));
}

function queryParameters(query: TSchema | undefined): unknown[] {
  const properties: Record<string, TSchema> = query?.properties ?? {};
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }));
}
