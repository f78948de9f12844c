/** Asks an endpoint of the management plane as its caller would, without a connection. */
import { AppError } from '../../errors.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { answer } from '../../platform/http/pipeline.ts';
import type { HttpDeps, RequestContext, Route } from '../../platform/http/routes.ts';
import { isPlainObject } from '../../platform/http/schema.ts';

/** Who asks, of which server. */
export interface Asker {
  deps: HttpDeps;
  authorization: string | null;
  request_id: string;
  ip: string | null;
  user_agent: string | null;
}

/** What a tool makes of its arguments. */
export interface Question {
  route: Route;
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  /** Of a route that takes one. */
  body: object | null;
}

/** The status and the JSON of its answer. It counts neither as a request nor on the rate: what led to it did. */
export async function ask(
  { route, params, query, body }: Question,
  { deps, authorization, ...asker }: Asker,
): Promise<{ is_done: boolean; body: Record<string, unknown> }> {
  const { method, path } = route;
  // The path as it is declared: arguments may be addresses, and paths stand in the log.
  const url = new URL(`http://localhost/api/public/v1${path}?${query}`);
  const request = new Request(url.href, {
    method,
    headers: authorization === null ? {} : { authorization },
    ...(body && { body: JSON.stringify(body) }),
  });
  const stay = (): void => {};
  const ctx: RequestContext = {
    ...asker,
    request,
    url,
    params,
    link_project_id: null,
    keepOpen: stay,
    closeWhenIdle: stay,
  };
  const { limiter } = deps;
  const uncounted: HttpDeps = {
    ...deps,
    limiter: {
      peek: (caller, rate) => limiter.peek(caller, rate),
      take: (caller, rate) => limiter.peek(caller, rate),
      atOnce: (caller, work) => limiter.atOnce(caller, work),
    },
    requests: { begin: monotonicMs, note: () => {} },
  };
  const response = await answer(route, ctx, uncounted, false);
  const sent: unknown = await response.json();
  if (!isPlainObject(sent)) throw new AppError('internal', `${method} ${path} answers no object`);
  return { is_done: response.ok, body: sent };
}
