/** The whole of a list that comes in pages: for a choice among all of it. */
import { useCallback, useEffect, useState } from 'preact/hooks';
import type { Api } from './api.generated.ts';
import { ApiError, call, type Endpoint, type Input, reloads } from './api.ts';
import type { PageMeta } from './use-list.ts';
import type { Load } from './use-load.ts';

/** The endpoints that answer pages. */
export type Paged = {
  [E in Endpoint]: Api[E]['answer'] extends { data: unknown[]; meta: unknown } ? E : never;
}[Endpoint];
type RowOf<E extends Paged> = Api[E]['answer'] extends { data: (infer Row)[] } ? Row : never;

/** What is asked of all pages alike. */
type Asked<E extends Paged> = Omit<Input<E>, 'query'> & {
  query?: Omit<Api[E]['query'], 'page' | 'per_page'>;
};

const PER_PAGE = 50;
/** Nobody chooses among more than 2,000. */
const MAX_PAGES = 40;

/** Throws ApiError. */
export async function callAll<E extends Paged>(endpoint: E, input: Asked<E>): Promise<RowOf<E>[]> {
  const rows: RowOf<E>[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const query = { ...input.query, page, per_page: PER_PAGE };
    // What Paged says of the endpoint: it takes a page, and answers rows with where they stand.
    const answer = (await call(endpoint, { ...input, query } as unknown as Input<E>)) as {
      data: RowOf<E>[];
      meta: PageMeta;
    };
    rows.push(...answer.data);
    if (page >= answer.meta.last_page) break;
  }
  return rows;
}

/** As `useLoad`. With `input` null nothing is loaded. */
export function useAll<E extends Paged>(endpoint: E, input: Asked<E> | null): Load<RowOf<E>[]> {
  const [data, setData] = useState<RowOf<E>[] | null>(null);
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
