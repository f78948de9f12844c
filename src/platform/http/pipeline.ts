/** From a route to its response: envelope, headers, the log's line. Every failure becomes an answer here. */
import { AppError, messageOf } from '../../errors.ts';
import { explainFailure } from '../database/database.ts';
import { monotonicMs } from '../host/clock.ts';
import { newId } from '../host/ids.ts';
import type { Logger } from '../host/logger.ts';
import { explainDescriptors } from '../host/shortages.ts';
import { type Language, readerOf } from '../words/words.ts';
import { failureBody, successBody } from './answers.ts';
import { setCorsHeaders } from './cors.ts';
import { compressText, jsonResponse, mayCompress, setVary } from './encoding.ts';
import { failurePage } from './failure-page.ts';
import { showNames } from './ignored-fields.ts';
import { RateLimitError } from './rate-limit.ts';
import { type HttpDeps, type Plane, Reply, type RequestContext, type Route, type Trace } from './routes.ts';

/** Runs a route and answers with what comes of it. Never throws. `may_compress`: see encoding.ts. */
export async function answer(
  route: Route,
  ctx: RequestContext,
  deps: HttpDeps,
  may_compress = mayCompress(route),
): Promise<Response> {
  const started_ms = deps.requests.begin();
  const trace: Trace = { rate: null, caller: null, ignored: [] };
  let response: Response;
  try {
    if (route.method !== 'GET') deps.refuseChanges();
    const result = await route.run({
      ctx,
      deps,
      trace,
      is_file: route.docs.produces !== undefined,
      only_reads: route.method === 'GET' || route.docs.only_reads === true,
    });
    // Only a file may take its time on the way out; for any other answer the idle time-out is put back.
    if (!(result instanceof Response) || ctx.request.method === 'HEAD') ctx.closeWhenIdle();
    response = await toResponse(route, result, ctx, may_compress);
    // Also where nothing changed: "it is so already" may rest on a commit that is not on disk yet.
    const settled = route.method === 'GET' ? null : deps.settled();
    if (settled) await settled;
  } catch (error) {
    ctx.closeWhenIdle();
    // Of several limits, the headers describe the one that was hit.
    if (error instanceof RateLimitError) trace.rate = error.rate;
    response = failureResponse(route, error, ctx, deps.logger);
    if (may_compress) response = await compressText(ctx.request, response);
  }
  if (may_compress) setVary(response);
  finishHeaders(response.headers, route.plane, ctx, trace);
  for (const [name, value] of Object.entries(route.docs.always ?? {})) response.headers.set(name, value);
  deps.requests.note(route, response.status, started_ms);
  logRequest(deps.logger, ctx, response.status, trace, started_ms);
  return response;
}

/** The answer to a request that fits no route; it has the usual headers and its line in the log. */
export function answerUnrouted(
  refusal: Pick<Route, 'plane' | 'family' | 'dialect'> & { thrown: unknown },
  ctx: RequestContext,
  deps: HttpDeps,
): Response {
  const started_ms = deps.requests.begin();
  const trace: Trace = { rate: null, caller: null, ignored: [] };
  const response = failureResponse(refusal, refusal.thrown, ctx, deps.logger);
  finishHeaders(response.headers, refusal.plane, ctx, trace);
  deps.requests.note(null, response.status, started_ms);
  logRequest(deps.logger, ctx, response.status, trace, started_ms);
  return response;
}

function toResponse(
  route: Route,
  result: unknown,
  ctx: RequestContext,
  may_compress: boolean,
): Response | Promise<Response> {
  if (result instanceof Response) return may_compress ? compressText(ctx.request, result) : result;
  const json = (body: unknown, init: { status: number; headers?: Record<string, string> }) =>
    may_compress ? jsonResponse(ctx.request, body, init) : Response.json(body, init);
  if (result instanceof Reply) {
    const body = successBody(route.family, result.value, ctx.url);
    return json(typeof body === 'object' ? { ...body, ...result.beside } : body, {
      status: result.status,
      headers: result.headers,
    });
  }
  if (route.status === 204) return new Response(null, { status: 204 });
  return json(successBody(route.family, result, ctx.url), { status: route.status });
}

/** A failure in the envelope of its plane. What is no AppError is logged with the request's id. */
function failureResponse(
  { family, dialect, languageOf }: Pick<Route, 'family' | 'dialect' | 'languageOf'>,
  thrown: unknown,
  ctx: RequestContext,
  logger: Logger,
): Response {
  const explained = explainDescriptors(explainFailure(thrown));
  const error =
    explained instanceof AppError
      ? explained
      : new AppError('internal', messageOf(thrown), { cause: thrown });
  if (error.kind === 'internal') {
    logger.error('request failed', {
      request_id: ctx.request_id,
      method: ctx.request.method,
      path: withoutTokens(ctx.url.pathname),
      error: messageOf(thrown),
      stack: thrown instanceof Error ? thrown.stack : undefined,
    });
  } else if (error.kind === 'unavailable') {
    logger.warn('request not served', {
      request_id: ctx.request_id,
      path: withoutTokens(ctx.url.pathname),
      reason: messageOf(error.cause ?? error),
    });
  } else if (error.kind === 'conflict' && languageOf) {
    // The page says nothing of what an operator has to mend.
    logger.info('page refused', { request_id: ctx.request_id, reason: error.message });
  }
  const { status, retry_after_s } = error;
  const response = dialect
    ? dialect.fail(error)
    : family === 'page'
      ? failurePage(error, languageOf && readerOf(ctx.request, languageToRefuseIn(languageOf, ctx)))
      : Response.json(failureBody(family, error), { status });
  for (const [name, value] of Object.entries(error.headers)) response.headers.set(name, value);
  if (retry_after_s !== undefined) response.headers.set('Retry-After', String(retry_after_s));
  return response;
}

/** What a failure was about may be the reason that its language can't be found. */
function languageToRefuseIn(
  languageOf: NonNullable<Route['languageOf']>,
  ctx: RequestContext,
): Language | null {
  try {
    return languageOf(ctx);
  } catch {
    return null;
  }
}

function finishHeaders(headers: Headers, plane: Plane, ctx: RequestContext, trace: Trace): void {
  headers.set('X-Request-Id', ctx.request_id);
  if (!headers.has('X-Content-Type-Options')) headers.set('X-Content-Type-Options', 'nosniff');
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
  if (plane === 'data') setCorsHeaders(headers, ctx.request.headers.get('origin'));
  if (trace.ignored.length > 0)
    headers.append('Warning', `299 satchel "ignored fields: ${showNames(trace.ignored)}"`);
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
    path: withoutTokens(ctx.url.pathname),
    status,
    duration_ms: Math.round((monotonicMs() - started_ms) * 10) / 10,
    caller: trace.caller,
    ip: ctx.ip,
    ...(trace.ignored.length > 0 ? { ignored_fields: trace.ignored.length } : {}),
  });
}

/** The log cuts path segments as long as a token: links in mails hold tokens. Ids are shorter. */
function withoutTokens(path: string): string {
  return path.replace(/[^/]{32,}/g, '…');
}

const REQUEST_ID = /^[\w.-]{1,128}$/;

/** The client's request id where it is harmless, so that its log and ours can be matched; else a new ULID. */
export function requestIdOf(request: Request, now_ms: number): string {
  const given = request.headers.get('x-request-id');
  return given !== null && REQUEST_ID.test(given) ? given : newId(now_ms);
}
