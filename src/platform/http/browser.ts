/**
 * What a browser must show to act for a person: the session's cookie, a header that no form can send, our own
 * origin, and a line that nobody reads along.
 */
import type { Config } from '../../config.ts';
import { forbidden, invalid } from '../../errors.ts';
import { SESSION_ABSOLUTE_MS } from '../../limits.ts';
import { isLoopback } from './hosts.ts';
import type { RequestContext } from './routes.ts';

/** Decision: what our own pages send with each request that changes something. */
export const CONSOLE_HEADER = 'X-Satchel-Console';

const isHttps = (config: Config): boolean => config.public_url.startsWith('https:');
const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '');

/** The cookies that people sign in with: of a session, and of a sign-in that is under way at an issuer. */
const COOKIES = { session: 'satchel', sso: 'satchel-sso' } as const;
type CookieKind = keyof typeof COOKIES;

/** `__Host-`: only a page of this very host could have set it, and over TLS. */
const cookieName = (kind: CookieKind, config: Config): string =>
  `${isHttps(config) ? '__Host-' : ''}${COOKIES[kind]}`;

function readCookie(request: Request, kind: CookieKind, config: Config): string | null {
  return new Bun.CookieMap(request.headers.get('cookie') ?? '').get(cookieName(kind, config));
}

/** The session's secret, where the request has the cookie. */
export const readSessionCookie = (request: Request, config: Config): string | null =>
  readCookie(request, 'session', config);

/** What `ssoCookie` gave. */
export const readSsoCookie = (request: Request, config: Config): string | null =>
  readCookie(request, 'sso', config);

/** The header that gives the browser its session, or with null takes it away. */
export function sessionCookie(secret: string | null, config: Config): { 'Set-Cookie': string } {
  const max_age_ms = secret === null ? 0 : SESSION_ABSOLUTE_MS;
  return setCookie('session', secret, { max_age_ms, same_site: 'Strict' }, config);
}

/** The same of a sign-in under way. Lax: a strict one does not come along from the issuer's page. */
export function ssoCookie(
  value: string | null,
  max_age_ms: number,
  config: Config,
): { 'Set-Cookie': string } {
  return setCookie('sso', value, { max_age_ms, same_site: 'Lax' }, config);
}

function setCookie(
  kind: CookieKind,
  value: string | null,
  { max_age_ms, same_site }: { max_age_ms: number; same_site: 'Strict' | 'Lax' },
  config: Config,
): { 'Set-Cookie': string } {
  const secure = isHttps(config) ? '; Secure' : '';
  const attributes = `Path=/; Max-Age=${max_age_ms / 1_000}; HttpOnly; SameSite=${same_site}${secure}`;
  return { 'Set-Cookie': `${cookieName(kind, config)}=${value ?? ''}; ${attributes}` };
}

/** Whether a request comes from a page of ours, or from no page. */
function isFromOwnPage({ request, url }: RequestContext, config: Config): boolean {
  const origin = request.headers.get('origin');
  if (origin === null) return true;
  if (origin === new URL(config.public_url).origin) return true;
  const is_local = isLoopback(config.host) && isLoopback(hostOf(url));
  if (!is_local || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.protocol === 'http:' && isLoopback(hostOf(page)) && page.port === url.port;
}

/** Whether a cookie counts. Other sites can have a browser send it, but not this header. */
export function isConsoleRequest(ctx: RequestContext, config: Config, { is_file = false } = {}): boolean {
  const has_header = ctx.request.headers.get(CONSOLE_HEADER) === '1';
  return (has_header || (is_file && isFollowedLink(ctx))) && isFromOwnPage(ctx, config);
}

/**
 * Whether a link of our page to a file was followed, or our page shows the file as an image. Neither sends
 * the header, and a script would hold the whole file in memory. Browsers tell here where another site's page
 * or a typed address is behind it.
 */
function isFollowedLink({ request: { method, headers } }: RequestContext): boolean {
  const is_wanted = headers.get('sec-fetch-mode') === 'navigate' || headers.get('sec-fetch-dest') === 'image';
  return headers.get('sec-fetch-site') === 'same-origin' && is_wanted && method === 'GET';
}

/** Throws AppError `forbidden` for what another site may cause, `invalid` for a body that a form can send. */
export function requireConsoleRequest(ctx: RequestContext, config: Config, has_body: boolean): void {
  if (!isFromOwnPage(ctx, config))
    throw forbidden('This endpoint takes no request from a page of another site.');
  if (!isConsoleRequest(ctx, config)) throw forbidden(`Send the header ${CONSOLE_HEADER}: 1.`);
  const type = ctx.request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  if (has_body && type !== 'application/json') {
    throw invalid({ _: ['The body must be JSON, with the header Content-Type: application/json.'] });
  }
}

/** Whether nobody can read along: the request came over TLS, or from this machine. */
export function mayBePrivate(config: Config): boolean {
  return isHttps(config) || isLoopback(hostOf(new URL(config.public_url)));
}

/**
 * Whether a program on this machine asks for itself. A proxy adds headers. A page of a site whose name was
 * made to lead here (DNS rebinding) names that site as the host.
 */
export function isAskedLocally({ ip, request: { headers } }: RequestContext): boolean {
  const is_passed_on = ['forwarded', 'x-forwarded-for', 'via'].some((name) => headers.has(name));
  const host = (headers.get('host') ?? '').replace(/:\d*$/, '').replace(/^\[|\]$/g, '');
  return ip !== null && isLoopback(ip) && !is_passed_on && isLoopback(host);
}

/** An untrusted proxy on this machine has our address, but its headers say that it asks for somebody else. */
function isOnThisMachine({ ip, request }: RequestContext): boolean {
  const asked_for = request.headers.get('x-forwarded-for')?.split(',') ?? [];
  return ip !== null && [ip, ...asked_for].every((address) => isLoopback(address.trim()));
}

/** Passwords, links and sessions leave this machine by TLS only. Throws AppError `forbidden`. */
export function requirePrivateLine(ctx: RequestContext, config: Config): void {
  if (isHttps(config) || (mayBePrivate(config) && isOnThisMachine(ctx))) return;
  throw forbidden(
    'Over plain http, signing in works on this very machine only. Have Satchel serve https (satchel serve --tls NAME), or put ' +
      'a reverse proxy with TLS in front and set SATCHEL_PUBLIC_URL to its https address; or open a tunnel, such as ssh -L 8420:localhost:8420 HOST, and go to ' +
      'http://localhost:8420/console.',
  );
}
