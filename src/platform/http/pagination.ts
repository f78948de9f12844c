/** Pages of lists: the query parameters, the 14 meta keys and the message that names the next call. */
import { COUNTED_MATCHES, DEFAULT_PER_PAGE, MAX_PER_PAGE } from '../../limits.ts';
import { letOthers } from '../host/waiting.ts';
import { t } from './schema.ts';

/** Query parameters of every list; spread into a route's query schema. */
export const pageQuery = {
  per_page: t.Optional(
    t.Integer({
      minimum: 1,
      description: `Default ${DEFAULT_PER_PAGE}; more than ${MAX_PER_PAGE} counts as ${MAX_PER_PAGE}.`,
    }),
  ),
  page: t.Optional(t.Integer({ minimum: 1 })),
};

export interface PageQuery {
  page?: number;
  per_page?: number;
}

export interface PageMeta {
  current_page: number;
  per_page: number;
  total: number;
  last_page: number;
  from: number | null;
  to: number | null;
  count: number;
  has_more: boolean;
  remaining_items: number;
  remaining_pages: number;
  next_page: number | null;
  prev_page: number | null;
  max_per_page: number;
  default_per_page: number;
  /** There where counting stopped: `total` is how many there are at least. */
  total_capped?: true;
}

/** The page that holds a whole list: to SQLite a negative limit is none. */
export const WHOLE_LIST = { limit: -1, offset: 0 };

/** One page of a list, as services return it. */
export class Page<T> {
  constructor(
    readonly data: T[],
    readonly meta: PageMeta,
    /** What stands beside `meta` in the answer. */
    readonly beside: Readonly<Record<string, unknown>> = {},
  ) {}

  map<U>(change: (item: T) => U): Page<U> {
    return new Page(this.data.map(change), this.meta, this.beside);
  }

  with(beside: Readonly<Record<string, unknown>>): Page<T> {
    return new Page(this.data, this.meta, beside);
  }
}

/** Where the asked page begins. A larger per_page than the maximum is clamped. */
export function startOf(query: PageQuery): { current_page: number; per_page: number; offset: number } {
  const per_page = Math.min(query.per_page ?? DEFAULT_PER_PAGE, MAX_PER_PAGE);
  const current_page = query.page ?? 1;
  return { current_page, per_page, offset: (current_page - 1) * per_page };
}

/** A page of a list of `total` rows. `fetch` gets limit and offset, and is not called past the end. */
export function paginate<T>(
  query: PageQuery,
  list: { total: number; fetch(limit: number, offset: number): T[] },
): Page<T> {
  const { per_page, offset } = startOf(query);
  return pageOf(query, { ...list, data: offset < list.total ? list.fetch(per_page, offset) : [] });
}

/**
 * A page whose rows are at hand. `is_capped`: the list has at least `total` rows; nothing was counted beyond
 * the next page.
 */
export function pageOf<T>(
  query: PageQuery,
  { total, is_capped = false, data }: { total: number; is_capped?: boolean; data: T[] },
): Page<T> {
  const { current_page, per_page, offset } = startOf(query);
  const last_page = Math.max(1, Math.ceil(total / per_page));
  const count = data.length;
  const to = count > 0 ? offset + count : null;
  const has_more = current_page < last_page;
  return new Page(data, {
    current_page,
    per_page,
    total,
    last_page,
    from: count > 0 ? offset + 1 : null,
    to,
    count,
    has_more,
    remaining_items: has_more ? Math.max(0, total - offset - per_page) : 0,
    remaining_pages: Math.max(0, last_page - current_page),
    next_page: has_more ? current_page + 1 : null,
    prev_page: current_page > 1 ? Math.min(current_page - 1, last_page) : null,
    max_per_page: MAX_PER_PAGE,
    default_per_page: DEFAULT_PER_PAGE,
    ...(is_capped ? { total_capped: true } : {}),
  });
}

/** What was found piece by piece: a page's rows, and their total or a lower bound of it. */
export interface Found<T> {
  data: T[];
  total: number;
  is_capped: boolean;
}

/** A page of what pieces hold, in their order. Others have their turn between pieces. */
export async function findInPieces<T>(query: PageQuery, pieces: Iterable<readonly T[]>): Promise<Found<T>> {
  const { offset, per_page } = startOf(query);
  // Whoever goes on behind what is counted finds a next page as long as there is one.
  const enough = Math.max(COUNTED_MATCHES, offset + 2 * per_page);
  const data: T[] = [];
  let total = 0;
  for (const piece of pieces) {
    data.push(...piece.slice(Math.max(0, offset - total), Math.max(0, offset + per_page - total)));
    total += piece.length;
    if (total > enough) return { data, total: enough, is_capped: true };
    await letOthers();
  }
  return { data, total, is_capped: false };
}

/** The asked page of a list that is at hand as a whole, and short. */
export function paginateAll<T>(query: PageQuery, rows: readonly T[]): Page<T> {
  return paginate(query, {
    total: rows.length,
    fetch: (limit, offset) => rows.slice(offset, offset + limit),
  });
}

/** Says where in the list this page is, and the next call. `path` is the request's, with its query. */
export function pageMessage(meta: PageMeta, url: URL): string {
  const total = meta.total_capped ? `${meta.total} or more` : meta.total;
  const place =
    meta.from === null
      ? `Page ${meta.current_page} of ${meta.last_page} holds no items (${total} in all).`
      : `Page ${meta.current_page} of ${meta.last_page}: items ${meta.from} to ${meta.to} of ${total}.`;
  const other = meta.next_page ?? (meta.from === null ? meta.prev_page : null);
  if (other === null) return meta.from === null ? place : `${place} This is the last page.`;
  const query = new URLSearchParams(url.search);
  query.set('page', String(other));
  return `${place} ${meta.next_page === null ? 'Last page with items' : 'Next'}: GET ${url.pathname}?${query}`;
}
