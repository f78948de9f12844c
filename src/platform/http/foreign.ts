/**
 * Paths that speak for another product's API, so that its clients work as they are. They are in no OpenAPI
 * document, and they fail in that other's form, as do unknown paths and methods beside them.
 */
import type { AppError } from '../../errors.ts';
import { type Accepted, acceptKey, acceptToken, nobody, runHandler } from './admission.ts';
import {
  type Capability,
  type KeyCaller,
  type ManagementCaller,
  type Permission,
  withoutOrigin,
} from './callers.ts';
import type { Exchange, Method, Route, SpecBase } from './routes.ts';
import type { TSchema } from './schema.ts';

/** How another API answers. */
export interface Dialect {
  /** Where its paths begin: `/resend`. Everything below is its. */
  readonly prefix: string;
  /** A failure in its form. The pipeline adds the headers of the error, such as Retry-After. */
  fail(error: AppError): Response;
}

interface ForeignSpec<C, Q extends TSchema, B extends TSchema, R> extends SpecBase<C, Q, B, R> {
  dialect: Dialect;
  /** Below the prefix of the dialect. */
  path: string;
  /** Who is let in; null where the handler itself finds out who asks. */
  who: Who<C> | null;
}

/** Who is let in, and what they must hold. `accept` throws 401, then 403. */
export interface Who<C> {
  readonly needs: readonly string[];
  accept(exchange: Exchange): Accepted<C>;
}

/** A route of another's API: its `handle` answers JSON as it stands, or a Response. It is never compressed. */
export function foreignRoute<C, Q extends TSchema, B extends TSchema, R>(
  spec: ForeignSpec<C, Q, B, R>,
): Route {
  const { dialect, who, method, status = 200, summary, tag } = spec;
  return {
    plane: 'foreign',
    family: 'status',
    dialect,
    method,
    path: `${dialect.prefix}${spec.path}`,
    status,
    needs: who === null ? null : who.needs,
    docs: { summary, tag },
    run: async (exchange) => runHandler(spec, who === null ? nobody(exchange) : who.accept(exchange)),
  };
}

/** An API key with these permissions. Clients of other APIs send no origin and no app. */
export function keyOf(
  api_key: (request: Request) => string | null,
  needs: readonly Permission[],
): Who<KeyCaller> {
  return {
    needs,
    accept: (exchange) => {
      const sent = api_key(exchange.ctx.request);
      return acceptKey(exchange, needs, () => withoutOrigin(exchange.deps.authenticateKey, sent));
    },
  };
}

/** An access token with these capabilities; a browser's session counts for nothing. */
export function tokenOf(
  token: (request: Request) => string | null,
  needs: readonly Capability[],
): Who<ManagementCaller> {
  return {
    needs,
    accept(exchange) {
      const sent = token(exchange.ctx.request);
      return acceptToken(exchange, needs, sent === null ? null : `Bearer ${sent}`);
    },
  };
}

/** The token of `Authorization: Bearer TOKEN`; null without one. */
export function bearerOf(request: Request): string | null {
  return /^\s*bearer\s+(\S+)\s*$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null;
}

/** The dialect whose paths these are; null for our own. */
export function dialectOf(dialects: readonly Dialect[], path: string): Dialect | null {
  return dialects.find(({ prefix }) => path === prefix || path.startsWith(`${prefix}/`)) ?? null;
}

/** The methods that paths of others refuse as 405, each with a path: those that no route of theirs has. */
export function refusedMethods(
  routes: readonly Route[],
): { dialect: Dialect; method: Method; path: string }[] {
  const served = new Map<string, { dialect: Dialect; methods: Set<Method> }>();
  for (const { dialect, path, method } of routes) {
    if (!dialect) continue;
    const there = served.get(path) ?? { dialect, methods: new Set<Method>() };
    if (method === 'GET') there.methods.add('HEAD');
    served.set(path, { dialect, methods: there.methods.add(method) });
  }
  const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;
  return [...served].flatMap(([path, { dialect, methods }]) =>
    METHODS.filter((method) => !methods.has(method)).map((method) => ({ dialect, method, path })),
  );
}
