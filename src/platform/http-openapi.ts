/** OpenAPI: what the `/docs` pages print of a route, derived from the same schemas that check its input. */
import { Elysia } from 'elysia';
import { PLANE_PREFIX, type Plane, type Route } from './http.ts';
import { type TSchema, t } from './schema.ts';

/** Names of the security schemes as the document declares them. */
const API_KEY_SCHEME = 'api_key';
const BEARER_SCHEME = 'access_token';

const FAILURES: Record<Plane, readonly (readonly [string, string])[]> = {
  data: [
    ['401', 'Missing or invalid X-API-Key'],
    ['403', 'Origin, app or permission refused'],
    ['404', 'Not found, or not of this project'],
    ['422', 'Validation failed'],
    ['429', 'Rate or quota exceeded; see Retry-After'],
  ],
  management: [
    ['401', 'Missing, malformed, unknown, revoked or expired token'],
    ['403', 'The token lacks a capability'],
    ['404', "Not found, or out of the token's scope"],
    ['422', 'Validation failed'],
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
        servers: [{ url: about.server_url }],
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

/** The OpenAPI operation of a route. */
function openApiDetail(route: Route): Record<string, unknown> {
  if (route.plane === 'page') return { hide: true };
  const { docs } = route;
  const responses: Record<string, unknown> = {
    [String(route.status)]: {
      description: 'Success',
      ...(docs.response ? { content: { 'application/json': { schema: docs.response } } } : {}),
    },
  };
  if (route.needs !== null) {
    for (const [status, description] of FAILURES[route.plane]) responses[status] = { description };
  }
  return {
    summary: docs.summary,
    tags: [docs.tag],
    description: describe(route),
    parameters: [...pathParameters(route.path), ...queryParameters(docs.query)],
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
  if (route.needs === null) return [];
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
