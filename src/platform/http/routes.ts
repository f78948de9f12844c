/**
 * Routes and the pipeline every request takes: authenticate, check the permission, count the rate, find the resource,
 * validate, one service call, one answer. A route is a value; `app.ts` lists them all and `http-server.ts` serves them.
 */
import type { Config } from '../../config.ts';
import { AppError, messageOf } from '../../errors.ts';
import { MIN_JSON_BODY_BYTES, TOKEN_RATE_PER_MINUTE } from '../../limits.ts';
import { explainFailure } from '../database/database.ts';
import { type Clock, monotonicMs } from '../host/clock.ts';
import { newId } from '../host/ids.ts';
import type { Logger } from '../host/logger.ts';
import { type Family, failureBody, successBody } from './answers.ts';
import { parseJsonObject, readBody } from './body.ts';
import {
  type Capability,
  type KeyCaller,
  type KeyCredentials,
  type Permission,
  requireCapabilities,
  requirePermissions,
  type TokenCaller,
} from './callers.ts';
import { setCorsHeaders } from './cors.ts';
import type { RateLimiter, RateState } from './rate-limit.ts';
import { parse, type Static, type TSchema } from './schema.ts';

export type Plane = 'data' | 'management' | 'status' | 'page';
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Where each plane lives below the public URL. */
export const PLANE_PREFIX: Record<Plane, string> = {
  data: '/api/v1',
  management: '/api/public/v1',
  status: '/api',
  page: '',
};

/** What the pipeline needs of the rest of Satchel; the capabilities provide it in `app.ts`. */
export interface HttpDeps {
  config: Config;
  clock: Clock;
  logger: Logger;
  limiter: RateLimiter;
  /** Throws 401 or 403; see the keys capability. */
  authenticateKey(credentials: KeyCredentials): KeyCaller;
  /** Throws one of the five 401s; see the tokens capability. */
  authenticateToken(authorization: string | null, ip: string | null): TokenCaller;
  clientIp(peer: string | null, forwarded_for: string | null): string | null;
  /** Null when all that a handler may have read is on disk, else what resolves once it is. */
  settled(): Promise<void> | null;
}

/** What a handler knows of its request besides its own inputs. */
export interface RequestContext {
  readonly request: Request;
  readonly url: URL;
  readonly params: Readonly<Record<string, string>>;
  readonly request_id: string;
  readonly ip: string | null;
  readonly user_agent: string | null;
  /** Lifts the server's idle time-out for a body or an answer that takes its time. */
  keepOpen(): void;
  /** Puts the idle time-out back: a client that was refused must not hold its connection by saying nothing. */
  closeWhenIdle(): void;
}

/** An answer with another status than the route's own, or with headers. */
export class Reply {
  readonly status: number;
  readonly value: unknown;
  readonly headers: Record<string, string>;

  constructor(status: number, value: unknown, headers: Record<string, string> = {}) {
    this.status = status;
    this.value = value;
    this.headers = headers;
  }
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
  /** Media type of the request body where it is not JSON. */
  consumes?: string;
  /** Statuses besides its own and those that any route of its plane may answer, with what they mean. */
  also?: Readonly<Record<number, string>>;
  /** Whether it honours the header Idempotency-Key. */
  is_idempotent?: boolean;
}

export interface Route {
  readonly plane: Plane;
  readonly family: Family;
  readonly method: Method;
  /** Path below the plane's prefix, with `:name` parameters. */
  readonly path: string;
  readonly status: number;
  /** What the caller must hold; null where the route is open. */
  readonly needs: readonly string[] | null;
  readonly docs: RouteDocs;
  run(context: RequestContext, deps: HttpDeps, trace: Trace): Promise<unknown>;
}

/** What the pipeline notes on the way, for headers and the log. */
export interface Trace {
  rate: RateState | null;
  caller: string | null;
}

interface Inputs<C, Q extends TSchema, B extends TSchema, R> {
  ctx: RequestContext;
  caller: C;
  query: Static<Q>;
  body: Static<B>;
  /** The JSON bytes as sent. */
  raw: Uint8Array;
  resource: R;
}

interface SpecBase<C, Q extends TSchema, B extends TSchema, R>
  extends Pick<RouteDocs, 'summary' | 'tag' | 'description' | 'also' | 'is_idempotent'> {
  method: Method;
  path: string;
  /** Status of a success; 200 unless given. */
  status?: number;
  family?: Family;
  query?: Q;
  body?: B;
  response?: TSchema;
  /** Shape of a multipart form that the handler reads by itself; for the documentation. */
  form?: TSchema;
  /**
   * Throws the 403 that only some bodies meet; it comes before 404 and 422. `sent` is the body as it came, empty where it
   * is no JSON object.
   */
  authorize?(input: { caller: C; sent: Readonly<Record<string, unknown>> }): void;
  /** Finds the resource the path names, or throws 404: that comes before validation. */
  load?(input: { ctx: RequestContext; caller: C }): R;
  handle(input: Inputs<C, Q, B, R>): unknown;
}

export interface DataRouteSpec<Q extends TSchema, B extends TSchema, R> extends SpecBase<KeyCaller, Q, B, R> {
  needs: readonly Permission[];
}

export interface ManagementRouteSpec<Q extends TSchema, B extends TSchema, R>
  extends SpecBase<TokenCaller, Q, B, R> {
  needs?: readonly Capability[];
}

function docsOf(spec: RouteDocs & { form?: TSchema }): RouteDocs {
  const { summary, tag, description, query, body, response, form, also, is_idempotent } = spec;
  return {
    summary,
    tag,
    ...(description ? { description } : {}),
    ...(query ? { query } : {}),
    ...(body ? { body } : {}),
    ...(form ? { body: form, consumes: 'multipart/form-data' } : {}),
    ...(response ? { response } : {}),
    ...(also ? { also } : {}),
    ...(is_idempotent ? { is_idempotent } : {}),
  };
}

/** A route of the data plane: needs an API key with these permissions. */
export function dataRoute<Q extends TSchema, B extends TSchema, R>(spec: DataRouteSpec<Q, B, R>): Route {
  return {
    plane: 'data',
    family: spec.family ?? 'core',
    method: spec.method,
    path: spec.path,
    status: spec.status ?? 200,
    needs: spec.needs,
    docs: docsOf(spec),
    async run(ctx, deps, trace) {
      const { caller, takeRate } = acceptKey(ctx, deps, trace, spec.needs);
      return runHandler(spec, ctx, deps, caller, takeRate);
    },
  };
}

/** A route of the management plane: needs an access token with these capabilities. */
export function managementRoute<Q extends TSchema, B extends TSchema, R>(
  spec: ManagementRouteSpec<Q, B, R>,
): Route {
  const needs = spec.needs ?? [];
  return {
    plane: 'management',
    family: spec.family ?? 'management',
    method: spec.method,
    path: spec.path,
    status: spec.status ?? 200,
    needs,
    docs: docsOf(spec),
    async run(ctx, deps, trace) {
      const caller = deps.authenticateToken(ctx.request.headers.get('authorization'), ctx.ip);
      trace.caller = `token:${caller.token_id}`;
      requireCapabilities(caller, needs);
      const rate_of = trace.caller;
      return runHandler(spec, ctx, deps, caller, () => {
        trace.rate = deps.limiter.take(rate_of, TOKEN_RATE_PER_MINUTE, 'Requests of this access token');
      });
    },
  };
}

export interface OpenRouteSpec
  extends Pick<RouteDocs, 'summary' | 'tag' | 'description' | 'response' | 'also'> {
  plane: Plane;
  family?: Family;
  method: Method;
  path: string;
  /** `acceptKey` authenticates where the handler finds that this request needs it. */
  handle(input: { ctx: RequestContext; acceptKey(needs: readonly Permission[]): KeyCaller }): unknown;
}

/** A route that answers without a credential. Every one of them stands in the literal list of the route-walk test. */
export function openRoute(spec: OpenRouteSpec): Route {
  return {
    plane: spec.plane,
    family: spec.family ?? (spec.plane === 'data' ? 'core' : 'status'),
    method: spec.method,
    path: spec.path,
    status: 200,
    needs: null,
    docs: docsOf(spec),
    async run(ctx, deps, trace) {
      const acceptAndCount = (needs: readonly Permission[]): KeyCaller => {
        const { caller, takeRate } = acceptKey(ctx, deps, trace, needs);
        takeRate();
        return caller;
      };
      return spec.handle({ ctx, acceptKey: acceptAndCount });
    },
  };
}

/** 401, origin or app 403, permission 403. The key's rate is taken after them: refused requests use none of it up. */
function acceptKey(
  ctx: RequestContext,
  deps: HttpDeps,
  trace: Trace,
  needs: readonly Permission[],
): { caller: KeyCaller; takeRate: () => void } {
  const { headers } = ctx.request;
  const caller = deps.authenticateKey({
    api_key: headers.get('x-api-key'),
    origin: headers.get('origin'),
    app_id: headers.get('x-app-id'),
    android_package: headers.get('x-android-package'),
    android_cert: headers.get('x-android-cert'),
  });
  const rate_of = `key:${caller.key_id}`;
  trace.caller = rate_of;
  const limit = caller.rate_limit_per_minute;
  trace.rate = deps.limiter.peek(rate_of, limit);
  requirePermissions(caller, needs);
  const takeRate = (): void => {
    trace.rate = deps.limiter.take(rate_of, limit, 'Requests of this API key');
  };
  return { caller, takeRate };
}

async function runHandler<C, Q extends TSchema, B extends TSchema, R>(
  spec: SpecBase<C, Q, B, R>,
  ctx: RequestContext,
  deps: HttpDeps,
  caller: C,
  takeRate: () => void,
): Promise<unknown> {
  if (!spec.authorize) takeRate();
  // The body is read before the resource is looked up, so that no row is held across an await; it is judged after.
  const max_bytes = Math.max(MIN_JSON_BODY_BYTES, 4 * deps.config.max_email_body_bytes);
  const raw = spec.body
    ? await readBody(ctx.request, max_bytes).catch((error: unknown) => ({ error }))
    : new Uint8Array(0);
  if (spec.authorize) {
    spec.authorize({ caller, sent: 'error' in raw ? {} : readLeniently(raw) });
    // Only now, as a refused request uses none of the rate up.
    takeRate();
  }
  const resource = spec.load?.({ ctx, caller });
  if ('error' in raw) throw raw.error;
  const body = spec.body ? parse(spec.body, parseJsonObject(raw)) : undefined;
  const query = spec.query
    ? parse(spec.query, Object.fromEntries(ctx.url.searchParams), { coerce: true })
    : undefined;
  // Absent schemas have the type of an absent input; TypeScript cannot tie the two together.
  return spec.handle({ ctx, caller, query, body, raw, resource } as Inputs<C, Q, B, R>);
}

/** The body before it is judged: what is wrong with it is said later, by the validation. */
function readLeniently(raw: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    return parseJsonObject(raw);
  } catch {
    return {};
  }
}

/** Runs a route and turns what comes out of it, failures too, into a response. Never throws. */
export async function answer(route: Route, ctx: RequestContext, deps: HttpDeps): Promise<Response> {
  const started_ms = monotonicMs();
  const trace: Trace = { rate: null, caller: null };
  let response: Response;
  try {
    response = toResponse(route, await route.run(ctx, deps, trace), ctx);
    // "It is so already" is an acknowledgement too, and may rest on what another request has only just committed.
    const settled = route.method === 'GET' ? null : deps.settled();
    if (settled) await settled;
  } catch (error) {
    ctx.closeWhenIdle();
    response = failureResponse(route.family, error, ctx, deps.logger);
  }
  finishHeaders(response.headers, route.plane, ctx, trace);
  logRequest(deps.logger, ctx, response.status, trace, started_ms);
  return response;
}

/** The answer to a request that no route takes: with the headers and in the log like any other. */
export function answerUnrouted(
  refusal: { plane: Plane; family: Family; thrown: unknown },
  ctx: RequestContext,
  deps: HttpDeps,
): Response {
  const started_ms = monotonicMs();
  const trace: Trace = { rate: null, caller: null };
  const response = failureResponse(refusal.family, refusal.thrown, ctx, deps.logger);
  finishHeaders(response.headers, refusal.plane, ctx, trace);
  logRequest(deps.logger, ctx, response.status, trace, started_ms);
  return response;
}

function toResponse(route: Route, result: unknown, ctx: RequestContext): Response {
  if (result instanceof Response) return result;
  if (result instanceof Reply) {
    return Response.json(successBody(route.family, result.value, ctx.url), {
      status: result.status,
      headers: result.headers,
    });
  }
  return Response.json(successBody(route.family, result, ctx.url), { status: route.status });
}

/** The response to a failure in the envelope of its plane; what is no AppError is logged with the request's id. */
function failureResponse(family: Family, thrown: unknown, ctx: RequestContext, logger: Logger): Response {
  const explained = explainFailure(thrown);
  const error =
    explained instanceof AppError
      ? explained
      : new AppError('internal', messageOf(thrown), { cause: thrown });
  if (error.kind === 'internal') {
    logger.error('request failed', {
      request_id: ctx.request_id,
      method: ctx.request.method,
      path: ctx.url.pathname,
      error: messageOf(thrown),
      stack: thrown instanceof Error ? thrown.stack : undefined,
    });
  } else if (error.kind === 'unavailable') {
    logger.warn('request not served', {
      request_id: ctx.request_id,
      path: ctx.url.pathname,
      reason: messageOf(error.cause ?? error),
    });
  }
  const headers: Record<string, string> = {};
  if (error.retry_after_s !== undefined) headers['Retry-After'] = String(error.retry_after_s);
  return Response.json(failureBody(family, error), { status: error.status, headers });
}

function finishHeaders(headers: Headers, plane: Plane, ctx: RequestContext, trace: Trace): void {
  headers.set('X-Request-Id', ctx.request_id);
  if (!headers.has('X-Content-Type-Options')) headers.set('X-Content-Type-Options', 'nosniff');
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
  if (plane === 'data') setCorsHeaders(headers, ctx.request.headers.get('origin'));
  if (trace.rate) {
    headers.set('RateLimit-Limit', String(trace.rate.limit));
    headers.set('RateLimit-Remaining', String(trace.rate.remaining));
    headers.set('RateLimit-Reset', String(trace.rate.reset_s));
  }
}

function logRequest(
  logger: Logger,
  ctx: RequestContext,
  status: number,
  trace: Trace,
  started_ms: number,
): void {
  logger.info('request', {
    request_id: ctx.request_id,
    method: ctx.request.method,
    // The query stays out: confirm and unsubscribe links carry tokens there.
    path: ctx.url.pathname,
    status,
    duration_ms: Math.round((monotonicMs() - started_ms) * 10) / 10,
    caller: trace.caller,
    ip: ctx.ip,
  });
}

const REQUEST_ID = /^[\w.-]{1,128}$/;

/** The client's own request id where it is a harmless one, so that its log and ours can be matched; else a new ULID. */
export function requestIdOf(request: Request, now_ms: number): string {
  const given = request.headers.get('x-request-id');
  return given !== null && REQUEST_ID.test(given) ? given : newId(now_ms);
}
