/**
 * Requests that can be tried in the page: Swagger UI over our document. Whoever does not open it loads
 * nothing of it. A key that is typed there stays in the page, and no cookie goes along.
 */
import { version } from 'swagger-ui-dist/package.json';
import swagger_style from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import swagger_script from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import type { createFileServer } from '../../platform/http/encoding.ts';
import type { Route } from '../../platform/http/routes.ts';

/** No other host. Swagger UI sets styles where elements are, and has its icons as data. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Try requests · Satchel</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/try/swagger-ui.css?${version}">
<script src="/docs/try/swagger-ui.js?${version}" defer></script>
<script src="/docs/try/start.js" defer></script>
</head>
<body>
<p><a href="/docs">To the API reference</a></p>
<div id="requests"></div>
<noscript>Trying requests needs JavaScript. <a href="/docs">The API reference</a> does not, and has a line for curl with each.</noscript>
</body>
</html>
`;

/** Requests go to the server that the page came from, whatever the public URL is: the policy allows no other. */
const START = `fetch('/docs/openapi.json').then((answer) => answer.json()).then((document) => {
  SwaggerUIBundle({
    spec: { ...document, servers: [{ url: location.origin }] },
    dom_id: '#requests',
    deepLinking: true,
    docExpansion: 'none',
    filter: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
    validatorUrl: null,
    requestInterceptor: (request) => ({ ...request, credentials: 'omit' }),
  });
});
`;

/** Swagger UI's own files stay as they are under the addresses that the page names. */
const FOR_GOOD = 'public, max-age=31536000, immutable';

/** `page` declares an open page, `answerFile` answers one that does not change. */
export function tryRoutes(
  page: (path: string, summary: string, respond: (request: Request) => unknown) => Route,
  answerFile: ReturnType<typeof createFileServer>,
): Route[] {
  const file = (
    path: string,
    summary: string,
    type: string,
    body: () => string | Blob,
    cached = 'no-cache',
  ) =>
    page(path, summary, (request) =>
      answerFile(request, {
        name: path,
        body: body(),
        headers: {
          'Content-Type': `${type}; charset=utf-8`,
          'Content-Security-Policy': CONTENT_SECURITY_POLICY,
          'Cache-Control': cached,
          'Referrer-Policy': 'no-referrer',
        },
      }),
    );
  const script = 'text/javascript';
  return [
    file('/docs/try', 'Requests to try', 'text/html', () => PAGE),
    file('/docs/try/start.js', 'The script that shows them', script, () => START),
    file('/docs/try/swagger-ui.js', 'Swagger UI', script, () => Bun.file(swagger_script), FOR_GOOD),
    file('/docs/try/swagger-ui.css', 'Its look', 'text/css', () => Bun.file(swagger_style), FOR_GOOD),
  ];
}
