/** The console: the page at /console and every path below it, the files it loads, and frames for mails it shows. */
import { resolve } from 'node:path';
import type { Config } from '../config.ts';
import { AppError, forbidden, notFound } from '../errors.ts';
import { readForm } from '../platform/http/body.ts';
import { readSessionCookie } from '../platform/http/browser.ts';
import { takesGzip } from '../platform/http/encoding.ts';
import { html, pageResponse } from '../platform/http/pages.ts';
import { openRoute, type RequestContext, type Route } from '../platform/http/routes.ts';
import { shellWord } from '../platform/words/phrases.ts';
import { loadBundle } from './bundle.ts';

/** A mail that the console shows: several default bodies, whose bytes a form may triple. */
export const MAX_PREVIEW_BODY_BYTES = 6 * 1024 * 1024;

/** Nothing from any other host, and no script or style but files of ours. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; " +
  "font-src 'self'; frame-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'; trusted-types 'none'";

/** Mails are shown as their readers' programs would, but nothing in them runs, posts, or reaches the console. */
const PREVIEW_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data: https: http:; font-src data: https:; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

const HEADERS = { 'Referrer-Policy': 'no-referrer', 'X-Content-Type-Options': 'nosniff' };

interface Needs {
  config: Config;
  entry: { sessions: { authenticate(secret: string): unknown }; welcome: { isTokenGood(): boolean } };
  people: { isAnybodyThere(): boolean };
}

export function consolePageRoutes(needs: Needs): Route[] {
  const page = (path: string): Route =>
    openRoute({
      plane: 'page',
      method: 'GET',
      path,
      tag: 'Console',
      summary: 'The console',
      handle: ({ ctx }) =>
        needs.people.isAnybodyThere() || isWelcome(ctx)
          ? answerPage(mayBeSignedIn(ctx) || isSignedIn(ctx, needs))
          : answerNobody(needs),
    });
  return [
    page('/console'),
    page('/console/*'),
    openRoute({
      plane: 'page',
      method: 'GET',
      path: '/console/assets/:name',
      tag: 'Console',
      summary: 'A file of the console',
      handle: ({ ctx }) => answerAsset(ctx),
    }),
    openRoute({
      plane: 'page',
      method: 'POST',
      path: '/console/preview-frame',
      tag: 'Console',
      summary: 'Shows a mail in a frame of the console',
      handle: ({ ctx }) => answerPreview(ctx, needs),
    }),
  ];
}

/** The name by which the page says so to its script. */
const NOBODY_SIGNED_IN = 'satchel-nobody-signed-in';

/** The link of the first person. */
const isWelcome = ({ request }: RequestContext): boolean =>
  new URL(request.url).pathname.startsWith('/console/welcome/');

/** How the first person comes in: by a link that only who may read the data directory, or the settings, can make. */
function answerNobody({ config, entry }: Needs): Response {
  const line = `satchel person add --first --data-dir ${shellWord(resolve(config.data_dir))}`;
  const by_token = html`<p>Or, whoever set <code>SATCHEL_WELCOME_TOKEN</code>: open <code>${config.public_url}/console/welcome/</code>
with its value behind it.</p>`;
  const page = pageResponse(
    200,
    'Nobody signs in here yet',
    html`<p>On the machine that Satchel runs on, as the user that it runs as:</p>
<pre><code>${line}</code></pre>
<p>It prints a link, which makes the first person: once, and within 24 hours. Open it in this browser.</p>
${entry.welcome.isTokenGood() ? by_token : ''}`,
  );
  page.headers.set('Cache-Control', 'no-store');
  return page;
}

function isSignedIn({ request }: RequestContext, { config, entry }: Needs): boolean {
  const secret = readSessionCookie(request, config);
  return secret !== null && Boolean(entry.sessions.authenticate(secret));
}

/** Led here by another site, such as an issuer's, browsers leave the session's cookie out: the page has to ask. */
function mayBeSignedIn({ request }: RequestContext): boolean {
  return request.headers.get('sec-fetch-site') === 'cross-site';
}

/** Whoever is not signed in gets the form to do so at once: the page need not ask. */
async function answerPage(is_signed_in: boolean): Promise<Response> {
  const { script, style, font, icon } = await loadBundle();
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Satchel</title>${is_signed_in ? '' : `\n<meta name="${NOBODY_SIGNED_IN}">`}
<link rel="icon" type="image/svg+xml" href="/console/assets/${icon}">
<link rel="preload" as="font" type="font/woff2" crossorigin fetchpriority="low" href="/console/assets/${font}">
<link rel="stylesheet" href="/console/assets/${style}">
<script type="module" blocking="render" src="/console/assets/${script}"></script>
</head>
<body>
<div id="console"></div>
<noscript>The console needs JavaScript. Everything it does, the command line does too: satchel help.</noscript>
</body>
</html>
`;
  return new Response(page, {
    headers: {
      ...HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Cache-Control': 'no-cache',
      'X-Robots-Tag': 'noindex',
    },
  });
}

/** A file's name changes with its content, so browsers may keep it for ever. */
async function answerAsset({ request, params }: RequestContext): Promise<Response> {
  const { assets } = await loadBundle();
  const asset = assets.find(({ name }) => name === params.name);
  if (!asset) throw notFound('file of the console');
  const gzip = Uint8Array.fromBase64(asset.gzip_base64);
  const takes_gzip = takesGzip(request);
  return new Response(takes_gzip ? gzip : Bun.gunzipSync(gzip), {
    headers: {
      ...HEADERS,
      ...(takes_gzip ? { 'Content-Encoding': 'gzip' } : {}),
      Vary: 'Accept-Encoding',
      'Content-Type': asset.type,
      'Cache-Control': 'public, max-age=31536000, immutable',
    },
  });
}

/**
 * Answers the HTML that was posted, for a frame of the console: a frame that is filled in any other way has the console's own
 * policy, under which no mail looks as it does. Only the console may ask, or any site could show what it likes under our address;
 * and only for who is signed in, as what is posted is held in memory.
 */
async function answerPreview(ctx: RequestContext, needs: Needs): Promise<Response> {
  const { request } = ctx;
  const { headers } = request;
  if (!isSignedIn(ctx, needs)) throw new AppError('unauthenticated', 'You are not signed in, or no longer.');
  const is_ours =
    headers.get('sec-fetch-site') === 'same-origin' && headers.get('sec-fetch-dest') === 'iframe';
  if (!is_ours) throw forbidden('Mails are shown in frames of the console only.');
  const { html = '' } = await readForm(request, MAX_PREVIEW_BODY_BYTES);
  return new Response(html, {
    headers: {
      ...HEADERS,
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': PREVIEW_POLICY,
      'Cache-Control': 'no-store',
    },
  });
}
