/** The documentation: guides, the API reference, a search over both, and OpenAPI of all planes. */
import type { Config } from '../../config.ts';
import { letOthers } from '../../platform/host/waiting.ts';
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
import { type Reference, readReference } from './reference.ts';
import { groupPage, overviewPage } from './reference-pages.ts';
import { createDocsSearch } from './search.ts';
import { tryRoutes } from './try-page.ts';

/** Of what is looked for in the guides and endpoints, no more is read. */
const MAX_WORDS_CHARS = 200;
/** Pages of what was found, 20 kB each, that are kept: many words take some milliseconds. */
const MAX_SEARCHES = 100;

/** `routes` is read at the first request, when the list is complete. */
export function docsRoutes(routes: () => readonly Route[], config: Config): Route[] {
  const document = once(() =>
    buildOpenApiDocument(routes(), { ...ABOUT, version: VERSION, server_url: config.public_url }),
  );
  const document_text = once(async () => JSON.stringify(await document()));
  const reference = once(async () => readReference(await document()));
  const search = once(async () => createDocsSearch(await document()));
  const overview = once(async () => overviewPage(await reference()));
  const client = once(async () => printClient(JSON.parse(await document_text())));
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
  const file = (path: string, summary: string, type: string, body: () => string | Promise<string>): Route =>
    page(path, summary, async (request) =>
      answerFile(request, { name: path, body: await body(), headers: headersOf(type) }),
    );
  const made = new Map<string, string>();
  /** Pages of a kind, by the last part of their path: each is made at its first use, and kept. */
  const pages = (
    path: string,
    summary: string,
    make: (name: string, among: Reference) => string | null,
    kind: Parameters<typeof missingPage>[1],
  ): Route =>
    page(`${path}/:name`, summary, async (request) => {
      const { pathname } = new URL(request.url);
      const body = made.get(pathname) ?? make(pathname.slice(path.length + 1), await reference());
      if (body === null) return htmlResponse(404, missingPage(await reference(), kind));
      made.set(pathname, body);
      return answerFile(request, { name: pathname, body, headers: headersOf(HTML) });
    });
  const searchPages = createSearchPages(search, reference);
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
      (name, among) => {
        const group = among.groups.find(({ slug }) => slug === name);
        return group ? groupPage(among, group, config.public_url) : null;
      },
      'group of endpoints',
    ),
    page('/docs/guide', 'To the guides', () => to('/docs/guide/start')),
    pages(
      '/docs/guide',
      'A guide',
      (name, among) => {
        const guide = readGuides().find((each) => each.name === name);
        return guide ? guidePage(among, guide) : null;
      },
      'guide',
    ),
    ...tryRoutes(page, answerFile),
    page('/docs/search', 'The search of guides and endpoints', async ({ url }) => {
      const words = (new URL(url).searchParams.get('q') ?? '').trim().slice(0, MAX_WORDS_CHARS);
      return htmlResponse(200, await searchPages(words));
    }),
  ];
}

/** The page of what is found by some words; those that were made last are kept. */
function createSearchPages(
  search: () => ReturnType<typeof createDocsSearch>,
  reference: () => Promise<Reference>,
): (words: string) => Promise<string> {
  const made = new Map<string, string>();
  return async (words) => {
    const known = made.get(words);
    if (known !== undefined) return known;
    const found = words === '' ? { found: [], is_part: false } : (await search())(words);
    const body = searchPage(await reference(), words, found);
    made.set(words, body);
    const [oldest] = made.keys();
    if (made.size > MAX_SEARCHES && oldest !== undefined) made.delete(oldest);
    return body;
  };
}

/** Made at its first use, in a turn of its own, and kept. */
function once<T>(make: () => T | Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= letOthers().then(make);
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
