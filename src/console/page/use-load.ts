/** Loading an endpoint into a page, or a list by its pages: again after a reconnection, at intervals if asked, and an old answer never replaces a newer one. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { Api } from './api.generated.ts';
import {
  type Answer,
  ApiError,
  call,
  callTelling,
  type Endpoint,
  type Input,
  is_connected,
  reloads,
} from './api.ts';
import { useQuery } from './router.ts';

export interface Load<T> {
  /** Null until the first answer; the last good one while it is loaded again. */
  data: T | null;
  /** The version of `data`, for the `if_match` of a change; null where it has none. */
  etag: string | null;
  error: ApiError | null;
  is_loading: boolean;
  reload(): void;
}

/** Pages that change by themselves are loaded again this often. */
const REFRESH_MS = 10_000;

/** Places that somebody types into or chooses by. Meanwhile nothing moves under them. */
const IN_USE =
  'main [data-unsaved], main .pick:checked, main details.menu[open], dialog[open], main :is(input:not([type=checkbox]), select, textarea, .editor):focus-within';

function isInUse(): boolean {
  return [...document.querySelectorAll(IN_USE)].some((each) => each.closest('search') === null);
}

/**
 * Loads what the endpoint answers, again whenever `input` changes. `looks_again`: by itself while it is shown, but for while
 * somebody types or chooses. `every_ms`: at this interval, whatever they do, or by what was answered: a job is looked at again
 * until it is done. With `input` null nothing is loaded.
 */
export function useLoad<E extends Endpoint>(
  endpoint: E,
  input: Input<E> | null,
  options: {
    looks_again?: boolean;
    every_ms?: number | null | ((data: Answer<E>) => number | null);
  } = {},
): Load<Answer<E>> {
  const [state, setState] = useState<Omit<Load<Answer<E>>, 'reload'> & { of: string }>({
    data: null,
    etag: null,
    error: null,
    is_loading: true,
    of: '',
  });
  const [turn, setTurn] = useState(0);
  const latest = useRef(0);
  const wanted = input === null ? null : JSON.stringify([endpoint, input]);
  const epoch = reloads.value;
  useEffect(() => {
    if (wanted === null || input === null) return;
    latest.current += 1;
    const mine = latest.current;
    setState((last) => ({ ...last, is_loading: true }));
    callTelling(endpoint, input).then(
      ({ answer: data, etag }) =>
        mine === latest.current && setState({ data, etag, error: null, is_loading: false, of: wanted }),
      (thrown: unknown) => {
        if (mine !== latest.current) return;
        const error = thrown instanceof ApiError ? thrown : new ApiError(0, { message: String(thrown) });
        // Without a connection the banner says so, and this is loaded again by itself.
        if (error.status === 0) setState((last) => ({ ...last, is_loading: true }));
        else setState((last) => ({ ...last, error, is_loading: false }));
      },
    );
  }, [wanted, turn, epoch]);
  const { looks_again = false } = options;
  const asked_ms =
    typeof options.every_ms !== 'function'
      ? (options.every_ms ?? null)
      : state.data && options.every_ms(state.data);
  const every_ms = asked_ms ?? (looks_again ? REFRESH_MS : null);
  const is_waiting = useRef(false);
  is_waiting.current = state.is_loading;
  useEffect(() => {
    if (every_ms === null) return;
    // A server that is slow, gone or waits for somebody to sign in is not asked once more.
    const again = (): void => {
      if (document.hidden || !is_connected.value || is_waiting.current) return;
      if (asked_ms !== null || !isInUse()) setTurn((at) => at + 1);
    };
    const timer = setInterval(again, every_ms);
    // Whoever comes back to the page sees at once what happened meanwhile.
    document.addEventListener('visibilitychange', again);
    return () => {
      clearInterval(timer);
      document.removeEventListener('visibilitychange', again);
    };
  }, [every_ms, asked_ms]);
  const reload = useCallback(() => setTurn((at) => at + 1), []);
  return { data: state.data, etag: state.etag, error: state.error, is_loading: state.is_loading, reload };
}

/** A list whose page and filters stand in the address, so that going back, reloading and sending the address on all keep them. */
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
  /** True where any filter is set: an empty list then says something else than one that was never filled. */
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
    /** The query that the endpoint takes, where it differs from these. */
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

/** The endpoints that answer pages. */
type Paged = {
  [E in Endpoint]: Api[E]['answer'] extends { data: unknown[]; meta: unknown } ? E : never;
}[Endpoint];

/** Input that all pages of the list share. */
type Asked<E extends Paged> = Omit<Input<E>, 'query'> & {
  query?: Omit<Api[E]['query'], 'page' | 'per_page'>;
};

/** The most that the API answers at once. */
const MOST_PER_PAGE = 50;
/** Nobody chooses among more than 2,000. */
const MAX_PAGES = 40;

/** Throws ApiError. */
export async function callAll<E extends Paged>(
  endpoint: E,
  input: Asked<E>,
): Promise<RowOf<Api[E]['answer']>[]> {
  const rows: RowOf<Api[E]['answer']>[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { ...input.query, page, per_page: MOST_PER_PAGE };
    // Paged promises this of the endpoint: it takes a page, and answers rows with where they stand.
    const answer = (await call(endpoint, { ...input, query } as unknown as Input<E>)) as {
      data: RowOf<Api[E]['answer']>[];
      meta: PageMeta;
    };
    rows.push(...answer.data);
    if (page >= answer.meta.last_page) break;
  }
  return rows;
}

/** As `useLoad`. With `input` null nothing is loaded. */
export function useAll<E extends Paged>(
  endpoint: E,
  input: Asked<E> | null,
): Load<RowOf<Api[E]['answer']>[]> {
  const [data, setData] = useState<RowOf<Api[E]['answer']>[] | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [turn, setTurn] = useState(0);
  const epoch = reloads.value;
  const wanted = input === null ? null : JSON.stringify([endpoint, input]);
  useEffect(() => {
    if (input === null) return;
    let is_old = false;
    callAll(endpoint, input).then(
      (rows) => {
        if (is_old) return;
        setData(rows);
        setError(null);
      },
      (thrown: unknown) => {
        // Without a connection the banner says so, and this is loaded again by itself.
        if (!is_old && thrown instanceof ApiError && thrown.status !== 0) setError(thrown);
      },
    );
    return () => {
      is_old = true;
    };
  }, [wanted, turn, epoch]);
  const reload = useCallback(() => setTurn((at) => at + 1), []);
  return { data, etag: null, error, is_loading: data === null && error === null, reload };
}
