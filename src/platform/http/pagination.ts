/** Pages of lists: the query parameters, the 14 meta keys and the message that names the next call. */
import { DEFAULT_PER_PAGE, MAX_PER_PAGE } from '../../limits.ts';
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
}

/** The page that holds a whole list: to SQLite a negative limit is none. */
export const WHOLE_LIST = { limit: -1, offset: 0 };

/** One page of a list, as services return it. */
export class Page<T> {
  readonly data: T[];
  readonly meta: PageMeta;

  constructor(data: T[], meta: PageMeta) {
    this.data = data;
    this.meta = meta;
  }

  map<U>(change: (item: T) => U): Page<U> {
    return new Page(this.data.map(change), this.meta);
  }
}

/**
 * The asked page of a list of `total` rows; `fetch` gets limit and offset, and is not called for a page past the end.
 * A larger per_page than the maximum is clamped.
 */
export function paginate<T>(
  query: PageQuery,
  list: { total: number; fetch(limit: number, offset: number): T[] },
): Page<T> {
  const per_page = Math.min(query.per_page ?? DEFAULT_PER_PAGE, MAX_PER_PAGE);
  const current_page = query.page ?? 1;
  const total = list.total;
  const last_page = Math.max(1, Math.ceil(total / per_page));
  const offset = (current_page - 1) * per_page;
  const data = offset < total ? list.fetch(per_page, offset) : [];
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
  });
}

/** The asked page of a list that is at hand as a whole, and short. */
export function paginateAll<T>(query: PageQuery, rows: readonly T[]): Page<T> {
  return paginate(query, {
    total: rows.length,
    fetch: (limit, offset) => rows.slice(offset, offset + limit),
  });
}

/** The message: where in the list this page is, and the next call. `path` is the request's own, with its query. */
export function pageMessage(meta: PageMeta, url: URL): string {
  const place =
    meta.from === null
      ? `Page ${meta.current_page} of ${meta.last_page} holds no items (${meta.total} in all).`
      : `Page ${meta.current_page} of ${meta.last_page}: items ${meta.from} to ${meta.to} of ${meta.total}.`;
  const other = meta.next_page ?? (meta.from === null ? meta.prev_page : null);
  if (other === null) return meta.from === null ? place : `${place} This is the last page.`;
  const query = new URLSearchParams(url.search);
  query.set('page', String(other));
  return `${place} ${meta.next_page === null ? 'Last page with items' : 'Next'}: GET ${url.pathname}?${query}`;
}
