/** The listener: mounts the routes on Elysia, answers what no route takes, and stops in an orderly way. */
import { Elysia } from 'elysia';
import { AppError, errorCodeOf, notFound } from '../../errors.ts';
import { HTTP_IDLE_TIMEOUT_S } from '../../limits.ts';
import { newId } from '../host/ids.ts';
import { explainDescriptors } from '../host/shortages.ts';
import type { Peer } from '../host/turns.ts';
import { failureBody } from './answers.ts';
import { isPreflight, preflightResponse } from './cors.ts';
import { mayCompress } from './encoding.ts';
import { type Dialect, dialectOf, refusedMethods } from './foreign.ts';
import { type BunServer, Listener, type TlsIdentity } from './listener.ts';
import { answer, answerUnrouted, requestIdOf } from './pipeline.ts';
import { type HttpDeps, PLANE_PREFIX, type Plane, type RequestContext, type Route } from './routes.ts';

/** Decision: how long browsers come by https alone. */
const HSTS_MAX_AGE_S = 31_536_000;

export interface HttpServer {
  /** Answers one request without a listener; tests call this. */
  handle(request: Request): Promise<Response>;
  /** Takes the port, and serves nothing yet; returns it. */
  hold(): number;
  /**
   * Starts to listen, by TLS with an identity. Returns the port; the system chooses one for port 0. Called
   * again with another certificate, new connections get that.
   */
  listen(identity?: TlsIdentity): number;
  /** Takes no new connections, lets requests finish within the deadline, then closes the rest. */
  stop(): Promise<void>;
}

export function createHttpServer(routes: readonly Route[], deps: HttpDeps): HttpServer {
  let server: BunServer | null = null;
  /** How a request came, also where it goes on as another one. */
  const arrivals = new WeakMap<Request, { original: Request; peer: Peer | null }>();
  /** What a HEAD is told without a body to be counted: Elysia replaces it by the length of none. */
  const told_lengths = new WeakMap<Request, string>();
  const link_projects = new WeakMap<Request, number>();

  const contextOf = (request: Request, params: Record<string, string>): RequestContext => {
    const { original, peer } = arrivals.get(request) ?? { original: request, peer: null };
    return {
      request,
      url: new URL(request.url),
      params,
      request_id: requestIdOf(request, deps.clock.now()),
      ip: deps.clientIp(peer?.address ?? null, request.headers.get('x-forwarded-for')),
      user_agent: request.headers.get('user-agent'),
      link_project_id: link_projects.get(request) ?? null,
      keepOpen: () => server?.timeout(original, 0),
      closeWhenIdle: () => server?.timeout(original, HTTP_IDLE_TIMEOUT_S),
    };
  };

  const dialects = [...new Set(routes.flatMap(({ dialect }) => dialect ?? []))];
  const app = mountRoutes(routes, dialects, deps, contextOf, (request, response) => {
    const length = response.headers.get('Content-Length');
    if (request.method === 'HEAD' && !response.body && length !== null) told_lengths.set(request, length);
  });

  const is_https = deps.config.public_url.startsWith('https:');
  /** Browsers that came by https use nothing else for a year. Plain http ignores this (RFC 6797, 8.1). */
  const secured = (response: Response): Response => {
    if (is_https) response.headers.set('Strict-Transport-Security', `max-age=${HSTS_MAX_AGE_S}`);
    return response;
  };

  const handle = async (received: Request, peer: Peer | null = null): Promise<Response> =>
    secured(await respond(received, peer));

  const respond = async (received: Request, peer: Peer | null): Promise<Response> => {
    const request = withUsableUrl(received);
    const host = nameOfHost(request.headers.get('host') ?? '');
    if (host === null) return badHost(request, dialects, deps.clock.now());
    arrivals.set(request, { original: received, peer });
    const link_project_id = deps.projectAtHost(host);
    if (link_project_id !== null) link_projects.set(request, link_project_id);
    else if (isPreflight(request) && new URL(request.url).pathname.startsWith(`${PLANE_PREFIX.data}/`)) {
      const response = preflightResponse(request);
      response.headers.set('X-Request-Id', requestIdOf(request, deps.clock.now()));
      return response;
    }
    const response = await app.handle(request);
    // Elysia gives a 304 the Content-Length of its empty body, though the file that it speaks of is longer.
    if (response.status === 304) response.headers.delete('Content-Length');
    const length = told_lengths.get(request);
    if (length !== undefined) response.headers.set('Content-Length', length);
    return response;
  };

  const listener = new Listener({
    host: deps.config.host,
    port: deps.config.port,
    settings: 'Choose another with SATCHEL_HOST and SATCHEL_PORT, or --host and --port.',
    fetch(request, peer, by) {
      // Where there are two, either tells of a request of the other.
      server = by;
      return handle(request, peer);
    },
    error: (error) => secured(unsentResponse(error, deps)),
  });

  return {
    handle: (request) => handle(request),
    hold: () => listener.hold(),
    listen: (identity) => (identity ? listener.listenTls(identity) : listener.listen()),
    stop: () => listener.stop(),
  };
}

/** The answer where a response's body, such as a file, could not be opened, for whichever request. */
function unsentResponse(thrown: Error, { clock, logger }: Pick<HttpDeps, 'clock' | 'logger'>): Response {
  const request_id = newId(clock.now());
  const explained = explainDescriptors(thrown);
  // A file may be deleted between looking it up and sending its first byte.
  const is_gone = errorCodeOf(thrown) === 'ENOENT';
  const known = is_gone ? notFound('File') : explained instanceof AppError ? explained : null;
  const { message, stack } = thrown;
  if (!known) logger.error('response failed', { request_id, error: message, stack });
  else if (!is_gone) logger.warn('request not served', { request_id, reason: message });
  const error = known ?? new AppError('internal', message);
  const { status, retry_after_s } = error;
  return Response.json(failureBody('core', error), {
    status,
    headers: {
      'X-Request-Id': request_id,
      'Cache-Control': 'no-store',
      ...(retry_after_s === undefined ? {} : { 'Retry-After': String(retry_after_s) }),
    },
  });
}

function mountRoutes(
  routes: readonly Route[],
  dialects: readonly Dialect[],
  deps: HttpDeps,
  contextOf: (request: Request, params: Record<string, string>) => RequestContext,
  onAnswer: (request: Request, response: Response) => void,
): { handle(request: Request): Promise<Response> } {
  // Elysia looks for the path from a fixed place on: behind `http://`, or with a standard host name behind
  // `https://abc`.
  const standardHostname = deps.config.tls !== null;
  const app = new Elysia({ normalize: false, precompile: false, handler: { standardHostname } });
  for (const route of routes) {
    const path = `${PLANE_PREFIX[route.plane]}${route.path}`;
    const may_compress = mayCompress(route);
    const run = async (context: { request: Request; params: Record<string, string> }): Promise<Response> => {
      const ctx = contextOf(context.request, context.params);
      const is_answered = ctx.link_project_id === null || (await isAboutItsProject(route, ctx));
      const response = is_answered
        ? await answer(route, ctx, deps, may_compress)
        : refuseUnrouted(ctx, deps, dialects);
      onAnswer(context.request, response);
      return response;
    };
    app.route(route.method, path, run, { config: {}, parse: 'none' });
    if (route.method === 'GET') app.route('HEAD', path, run, { config: {}, parse: 'none' });
  }
  for (const { method, path, dialect } of refusedMethods(routes)) {
    const refuse = ({ request }: { request: Request }): Response =>
      refuseUnrouted(contextOf(request, {}), deps, [dialect], wrongMethod(request));
    app.route(method, path, refuse, { config: {}, parse: 'none' });
  }
  app.onError(({ request, error, code }) => {
    const ctx = contextOf(request, {});
    if (code === 'NOT_FOUND') return refuseUnrouted(ctx, deps, dialects);
    return refuseUnrouted(
      ctx,
      deps,
      dialects,
      code === 'INTERNAL_SERVER_ERROR' || code === 'UNKNOWN' ? error : unreadable(),
    );
  });
  return app;
}

/** At a project's link domain nothing answers but what is about that project. */
async function isAboutItsProject({ projectOf }: Route, ctx: RequestContext): Promise<boolean> {
  return projectOf !== undefined && (await projectOf(ctx)) === ctx.link_project_id;
}

function refuseUnrouted(
  ctx: RequestContext,
  deps: HttpDeps,
  dialects: readonly Dialect[],
  thrown: unknown = unknownRoute(ctx),
): Response {
  const { pathname } = ctx.url;
  // A link domain speaks for nobody else.
  const dialect = ctx.link_project_id === null ? dialectOf(dialects, pathname) : null;
  if (dialect) return answerUnrouted({ plane: 'foreign', family: 'status', dialect, thrown }, ctx, deps);
  const plane = planeOf(pathname);
  return answerUnrouted({ plane, family: plane === 'management' ? 'management' : 'core', thrown }, ctx, deps);
}

/**
 * The name in a Host header, without its port; null where it is not one host (RFC 3986). Empty is allowed and
 * names nobody. Several lines are joined by a comma.
 */
function nameOfHost(host: string): string | null {
  const [, name, port] =
    /^(\[[\da-f:.]+\]|(?:[\w.~!$&'()*+;=-]|%[\da-f]{2})*)(?::(\d{0,5}))?$/i.exec(host) ?? [];
  return name !== undefined && Number(port ?? 0) <= 65_535 ? name : null;
}

/** RFC 9112 3.2: a proxy and we could take such a request for another one. */
function badHost(request: Request, dialects: readonly Dialect[], now_ms: number): Response {
  const { pathname } = new URL(request.url);
  const error = new AppError('invalid', 'The request must have one Host header, with a host name.');
  const family = planeOf(pathname) === 'management' ? 'management' : 'core';
  const body = dialectOf(dialects, pathname)?.fail(error) ?? Response.json(failureBody(family, error));
  const headers = new Headers(body.headers);
  headers.set('X-Request-Id', requestIdOf(request, now_ms));
  headers.set('Connection', 'close');
  return new Response(body.body, { status: 400, headers });
}

/**
 * Without a valid Host (HTTP/1.0 has none) a request's URL is no URL, which all code after this needs. Behind
 * https a Host of one or two characters would take part of the path for the host. Nothing depends on the
 * client's name for us: links begin with the public URL.
 */
function withUsableUrl(request: Request): Request {
  const is_short = request.url.startsWith('https:') && request.url.indexOf('/', 8) < 11;
  if (!is_short && URL.canParse(request.url)) return request;
  const path = request.url.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  return new Request(`http://localhost${path.startsWith('/') ? path : '/'}`, request);
}

function planeOf(path: string): Plane {
  if (path.startsWith(`${PLANE_PREFIX.management}/`)) return 'management';
  if (path.startsWith(`${PLANE_PREFIX.console}/`)) return 'console';
  return path.startsWith(`${PLANE_PREFIX.data}/`) ? 'data' : 'status';
}

/** A wrong method is an unknown route too: the contract has no 405. */
function unknownRoute(ctx: RequestContext): AppError {
  return new AppError(
    'not_found',
    `There is no ${ctx.request.method} endpoint at this path. See /docs for those that exist.`,
  );
}

function wrongMethod({ method }: Request): AppError {
  return new AppError('method_not_allowed', `This path takes no ${method}.`);
}

function unreadable(): AppError {
  return new AppError('invalid', 'The request could not be read.', {
    errors: { _: ['The request could not be read.'] },
  });
}
