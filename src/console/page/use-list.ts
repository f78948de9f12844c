/** A list whose page and filters stand in the address, so that going back, reloading and sending the address on all keep them. */
import type { Answer, Endpoint, Input } from './api.ts';
import { useQuery } from './router.ts';
import { type Load, useLoad } from './use-load.ts';

export interface PageMeta {
  current_page: number;
  last_page: number;
  total: number;
  /** Counting stopped there. */
  total_capped?: true;
  from: number | null;
  to: number | null;
}

export interface List<Row> extends Load<{ data: Row[]; meta?: PageMeta }> {
  /** Whether any filter is set: an empty list then says something else than one that was never filled. */
  is_filtered: boolean;
  /** The address without the filters. */
  unfiltered: string;
}

type RowOf<A> = A extends { data: (infer Row)[] } ? Row : A extends (infer Row)[] ? Row : never;

const PER_PAGE = 25;

/** Reads a list, paged where the endpoint pages, and again by itself. `filters`: names of query parameters that are taken from the address. */
export function useList<E extends Endpoint>(
  endpoint: E,
  input: Omit<Input<E>, 'query'>,
  options: {
    filters?: readonly string[];
    /** What these are to the endpoint, where that is something else. */
    query?: object;
    is_paged?: boolean;
    /** False: it is looked at again only when somebody asks for it. */
    looks_again?: boolean;
  } = {},
): List<RowOf<Answer<E>>> {
  const query = useQuery();
  const filters = Object.fromEntries(
    (options.filters ?? []).map((name) => [name, query.get(name) ?? undefined]),
  );
  const paging =
    options.is_paged === false ? {} : { page: Number(query.get('page') ?? 1), per_page: PER_PAGE };
  // Endpoints differ in their filters, so TypeScript can't tie a query made here to one of them.
  const asked = { ...(options.query ?? filters), ...paging };
  const load = useLoad(endpoint, { ...input, query: asked } as unknown as Input<E>, {
    looks_again: options.looks_again ?? true,
  });
  // Unpaged lists are answered as they are.
  const data = (Array.isArray(load.data) ? { data: load.data } : load.data) as {
    data: RowOf<Answer<E>>[];
    meta?: PageMeta;
  } | null;
  const rest = new URLSearchParams([...query].filter(([name]) => name !== 'page' && !(name in filters)));
  const unfiltered = location.pathname + (rest.size > 0 ? `?${rest}` : '');
  const is_filtered = Object.values(filters).some((value) => value !== undefined);
  return { ...load, data, is_filtered, unfiltered };
}
