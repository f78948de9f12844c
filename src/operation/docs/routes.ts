/** The documentation: guides, the API reference, a search over both, and OpenAPI of all planes. */
import type { Config } from '../../config.ts';
import { createFileServer } from '../../platform/http/encoding.ts';
import { buildOpenApiDocument } from '../../platform/http/openapi.ts';
import { openRoute, type Route } from '../../platform/http/routes.ts';
import { VERSION } from '../../version.ts';
import { printClient } from '../client/service.ts';
import { ABOUT } from './about.ts';
import { guidePage, missingPage, searchPage } from './guide-pages.ts';
import { readGuides } from './guides.ts';
import { CONTENT_SECURITY_POLICY } from './page-frame.ts';
import { PAGE_SCRIPT } from './page-script.ts';
import { readReference } from './reference.ts';
import { groupPage, overviewPage } from './reference-pages.ts';
import { createDocsSearch } from './search.ts';

/** Of what is looked for in the guides and endpoints, no more is read. */
const MAX_WORDS_CHARS = 200;

/** `routes` is read at the first request, when the list is complete. */
export function docsRoutes(routes: () => readonly Route[], config: Config): Route[] {
  const document = once(() =>
    buildOpenApiDocument(routes(), { ...ABOUT, version: VERSION, server_url: config.public_url }),
  );
  const document_text = once(() => JSON.stringify(document()));
  const reference = once(() => readReference(document()));
  const search = once(() => createDocsSearch(document()));
  const overview = once(() => overviewPage(reference()));
  const client = once(() => printClient(JSON.parse(document_text())));
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
  const file = (path: string, summary: string, type: string, body: () => string): Route =>
    page(path, summary, (request) =>
      answerFile(request, { name: path, body: body(), headers: headersOf(type) }),
    );
  const made = new Map<string, string>();
  /** Pages of a kind, by the last part of their path: each is made at its first use, and kept. */
  const pages = (
    path: string,
    summary: string,
    make: (name: string) => string | null,
    missing: () => string,
  ): Route =>
    page(`${path}/:name`, summary, (request) => {
      const { pathname } = new URL(request.url);
      const body = made.get(pathname) ?? make(pathname.slice(path.length + 1));
      if (body === null) return htmlResponse(404, missing());
      made.set(pathname, body);
      return answerFile(request, { name: pathname, body, headers: headersOf(HTML) });
    });
  return [
    page('/', 'To the console, and for programs to the documentation', answerRoot),
    file('/docs', 'The API reference', HTML, overview),
    file(
      '/docs/docs.js',
      'The script of the documentation',
      'text/javascript; charset=utf-8',
      () => PAGE_SCRIPT,
    ),
    file('/docs/openapi.json', 'The OpenAPI document', 'application/json', document_text),
    file('/openapi.json', 'The OpenAPI document, where tools look for it', 'application/json', document_text),
    file('/docs/satchel.ts', 'The client for TypeScript', 'text/plain; charset=utf-8', client),
    page('/docs/api', 'To the API reference', () => to('/docs')),
    pages(
      '/docs/api',
      'A group of endpoints',
      (name) => {
        const group = reference().groups.find(({ slug }) => slug === name);
        return group ? groupPage(reference(), group, config.public_url) : null;
      },
      () => missingPage(reference(), 'group of endpoints'),
    ),
    page('/docs/guide', 'To the guides', () => to('/docs/guide/start')),
    pages(
      '/docs/guide',
      'A guide',
      (name) => {
        const guide = readGuides().find((each) => each.name === name);
        return guide ? guidePage(reference(), guide) : null;
      },
      () => missingPage(reference(), 'guide'),
    ),
    page('/docs/search', 'The search of guides and endpoints', ({ url }) => {
      const words = (new URL(url).searchParams.get('q') ?? '').trim().slice(0, MAX_WORDS_CHARS);
      const found = words === '' ? { found: [], is_part: false } : search()(words);
      return htmlResponse(200, searchPage(reference(), words, found));
    }),
  ];
}

/** Made at its first use, and kept. */
function once<T extends object | string>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

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
