/**
 * ETags of records on the management plane. Whoever changes a record may say by `If-Match` which version they
 * have read. If somebody has changed it since, they are refused, so nobody overwrites what they have not
 * seen. This does it for every route.
 */
import { AppError, conflict } from '../../errors.ts';
import type { ManagementCaller } from './callers.ts';
import { Page } from './pagination.ts';
import { type Exchange, Reply, type Route } from './routes.ts';
import { isPlainObject } from './schema.ts';

/** A route that reads a record. */
type Reader = Route & Required<Pick<Route, 'read'>>;

/** The routes, with ETag and If-Match for each record of the management plane that can be changed. */
export function withEtags(routes: readonly Route[]): Route[] {
  const changed = new Set(routes.filter(isChange).map(({ path }) => path));
  const readers = new Map(routes.flatMap((route) => (isReader(route) ? [[route.path, route]] : [])));
  return routes.map((route) => {
    const reader = route.plane === 'management' && changed.has(route.path) ? readers.get(route.path) : null;
    if (!reader) return route;
    if (route === reader) return tagged(route, reader);
    return isChange(route) ? guarded(route, reader) : route;
  });
}

function isChange({ plane, method }: Route): boolean {
  return plane === 'management' && (method === 'PATCH' || method === 'PUT');
}

function isReader(route: Route): route is Reader {
  const is_list = route.docs.query?.properties.per_page !== undefined;
  return route.plane === 'management' && route.method === 'GET' && route.read !== undefined && !is_list;
}

const ETAG = { ETag: 'The version of the record, for `If-Match`.' };

/** The route with an ETag in its answer, for whoever may read the record. */
function tagged(route: Route, { needs, docs: { unversioned } }: Reader): Route {
  return {
    ...route,
    docs: { ...route.docs, headers: { ...route.docs.headers, ...ETAG } },
    async run(exchange) {
      const result = await route.run(exchange);
      if (result instanceof Response || result instanceof Page) return result;
      const held = new Set<string>(exchange.trace.manager?.capabilities);
      if (needs?.some((each) => !held.has(each))) return result;
      const { status, value, headers, beside } =
        result instanceof Reply ? result : new Reply(route.status, result);
      return new Reply(status, value, { ...headers, ETag: etagOf(value, unversioned) }, beside);
    },
  };
}

/** Adds If-Match to a route: another version is 409 and changes nothing. Records have the new ETag. */
function guarded(route: Route, reader: Reader): Route {
  const changing: Route = {
    ...route,
    docs: { ...route.docs, takes_if_match: true },
    run(exchange) {
      const { ctx, trace } = exchange;
      const wanted = ctx.request.headers.get('if-match');
      if (wanted !== null) {
        trace.guard = () => {
          if (trace.manager) requireVersion(wanted, reader, exchange, trace.manager);
        };
      }
      return route.run(exchange);
    },
  };
  return route.docs.response === reader.docs.response ? tagged(changing, reader) : changing;
}

function requireVersion(
  wanted: string,
  { read, docs }: Reader,
  exchange: Exchange,
  manager: ManagementCaller,
): void {
  if (wanted.trim() === '*') return;
  const current = etagOf(read(exchange, manager), docs.unversioned);
  // A proxy that compresses answers makes their ETags weak; the record is the same.
  const named = wanted.split(',').map((etag) => etag.trim().replace(/^W\//, ''));
  if (!named.includes(current))
    throw conflict(
      'This was changed since you read it, so nothing was changed now. Read it again, and make your change to what is there.',
    );
}

/** A hash of the record that does not depend on the order of its fields. */
function etagOf(record: unknown, unversioned: readonly string[] = []): string {
  if (record instanceof Promise) throw new AppError('internal', 'A record is read at once, or has no ETag.');
  const text = JSON.stringify(record, (_name, value: unknown) =>
    isPlainObject(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([name]) => !unversioned.includes(name))
            .toSorted(([a], [b]) => (a < b ? -1 : 1)),
        )
      : value,
  );
  return `"${new Bun.CryptoHasher('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}
