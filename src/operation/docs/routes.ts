/**
 * The documentation pages: OpenAPI of both planes, shown by Swagger UI from files inside the executable. @elysiajs/swagger (1.3.1)
 * was tried: its page of Swagger UI fetches the script from another host and starts it inline, which our policy forbids, its other
 * page does not work offline without a larger bundle, and of openapi.ts it would replace the loop over paths alone.
 */
import swagger_css from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import swagger_js from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import type { Config } from '../../config.ts';
import { createFileServer } from '../../platform/http/encoding.ts';
import { buildOpenApiDocument } from '../../platform/http/openapi.ts';
import { openRoute, type Route } from '../../platform/http/routes.ts';
import { VERSION } from '../../version.ts';
import { printClient } from '../client/service.ts';
import { ABOUT } from './about.ts';
import guide_css from './guide.css' with { type: 'text' };
import { guidePage, noGuidePage, searchPage } from './guide-pages.ts';
import { readGuides } from './guides.ts';
import { createDocsSearch } from './search.ts';

/** Nothing from any other host, ever: the pages work on a server without a way out. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/** Of what is looked for in the guides and endpoints, no more is read. */
const MAX_WORDS_CHARS = 200;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Satchel API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="/docs/swagger-ui.css">
<style>.to-guides{max-width:1460px;margin:0 auto;padding:1rem 20px 0;font:1rem system-ui,sans-serif}.to-guides a{margin-right:1rem}</style>
</head>
<body>
<nav class="to-guides"><a href="/docs/guide/start">Guides</a> <a href="/docs/search">Search guides and endpoints</a> <a href="/docs/satchel.ts">Client for TypeScript</a></nav>
<div id="docs"></div>
<noscript>These pages need JavaScript. The OpenAPI document is at <a href="/docs/openapi.json">/docs/openapi.json</a>.</noscript>
<script src="/docs/swagger-ui.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

/**
 * The pages may be open under another name than the public URL's (127.0.0.1 for localhost, say), and their policy lets them
 * talk to where they came from alone: that is the server they try requests on.
 *
 * The search looks for each word in path, summary, name of the operation and group; Swagger UI's own knows only
 * the groups.
 */
const START = `const search = () => ({
  fn: {
    opsFilter(groups, phrase) {
      const words = phrase.toLowerCase().split(/\\s+/);
      const isMeant = (operation, group) => {
        const told = [group, operation.get('method'), operation.get('path')];
        for (const field of ['summary', 'operationId', 'description']) told.push(operation.getIn(['operation', field]));
        const text = told.join(' ').toLowerCase();
        return words.every((word) => text.includes(word));
      };
      return groups
        .map((group, name) => group.update('operations', (all) => all.filter((each) => isMeant(each, name))))
        .filter((group) => group.get('operations').size > 0);
    },
  },
});
SwaggerUIBundle({
  url: '/docs/openapi.json',
  dom_id: '#docs',
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  plugins: [search],
  responseInterceptor(response) {
    if (response.url === new URL('/docs/openapi.json', location.origin).href)
      response.text = JSON.stringify({ ...JSON.parse(response.text), servers: [{ url: location.origin }] });
    return response;
  },
  validatorUrl: null,
  persistAuthorization: false,
  onComplete() {
    document.querySelector('.operation-filter-input')?.setAttribute('placeholder', 'Search, such as: send email');
  },
});
`;

/** `routes` is read at the first request, when the list is complete. */
export function docsRoutes(routes: () => readonly Route[], config: Config): Route[] {
  let document: Record<string, unknown> | undefined;
  let document_text: string | undefined;
  let client: string | undefined;
  let search: ReturnType<typeof createDocsSearch> | undefined;
  const readDocument = () => {
    document ??= buildOpenApiDocument(routes(), {
      ...ABOUT,
      version: VERSION,
      server_url: config.public_url,
    });
    return document;
  };
  const readText = () => {
    document_text ??= JSON.stringify(readDocument());
    return document_text;
  };
  const answerFile = createFileServer();
  const page = (path: string, summary: string, respond: (request: Request) => unknown): Route =>
    openRoute({
      plane: 'page',
      method: 'GET',
      path,
      tag: 'Documentation',
      summary,
      handle: ({ ctx }) => respond(ctx.request),
    });
  const file = (path: string, summary: string, type: string, body: () => string | Blob): Route =>
    page(path, summary, (request) =>
      answerFile(request, { name: path, body: body(), headers: headersOf(type) }),
    );
  return [
    page('/', 'To the console, and for programs to the documentation', answerRoot),
    file('/docs', 'The documentation', HTML, () => PAGE),
    file('/docs/start.js', 'Starts Swagger UI', SCRIPT, () => START),
    file('/docs/swagger-ui.js', 'Swagger UI', SCRIPT, () => Bun.file(swagger_js)),
    file('/docs/swagger-ui.css', 'Swagger UI', 'text/css; charset=utf-8', () => Bun.file(swagger_css)),
    file('/docs/openapi.json', 'The OpenAPI document', 'application/json', readText),
    file('/openapi.json', 'The OpenAPI document, where tools look for it', 'application/json', readText),
    file('/docs/satchel.ts', 'The client for TypeScript', 'text/plain; charset=utf-8', () => {
      client ??= printClient(JSON.parse(readText()));
      return client;
    }),
    file('/docs/guide.css', 'The look of the guides', 'text/css; charset=utf-8', () => guide_css),
    page('/docs/guide', 'To the guides', () => to('/docs/guide/start')),
    page('/docs/guide/:name', 'A guide', (request) => {
      const { pathname } = new URL(request.url);
      const guide = readGuides().find(({ name }) => pathname === `/docs/guide/${name}`);
      if (!guide) return htmlResponse(404, noGuidePage());
      return answerFile(request, { name: pathname, body: guidePage(guide), headers: headersOf(HTML) });
    }),
    page('/docs/search', 'The search of guides and endpoints', ({ url }) => {
      search ??= createDocsSearch(readDocument());
      const words = (new URL(url).searchParams.get('q') ?? '').trim().slice(0, MAX_WORDS_CHARS);
      return htmlResponse(200, searchPage(words, words === '' ? [] : search(words)));
    }),
  ];
}

const SCRIPT = 'text/javascript; charset=utf-8';
const HTML = 'text/html; charset=utf-8';

/** A browser asks for HTML by name, other programs for anything. */
function answerRoot({ headers }: Request): Response {
  const is_browser = headers.get('accept')?.includes('text/html') === true;
  return to(is_browser ? '/console' : '/docs', { Vary: 'Accept' });
}

function to(path: string, headers = {}): Response {
  return new Response(null, { status: 302, headers: { ...headers, Location: path } });
}

function htmlResponse(status: number, text: string): Response {
  return new Response(text, { status, headers: headersOf(HTML) });
}

function headersOf(type: string): Record<string, string> {
  return {
    'Content-Type': type,
    'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    'Cache-Control': 'no-cache',
    'Referrer-Policy': 'no-referrer',
  };
}
