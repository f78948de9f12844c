/** Loading an endpoint into a page: again after a reconnection, at intervals if asked, and an old answer never replaces a newer one. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import {
  type Answer,
  ApiError,
  callTelling,
  type Endpoint,
  type Input,
  is_connected,
  reloads,
} from './api.ts';

export interface Load<T> {
  /** Null until the first answer; the last good one while it is loaded again. */
  data: T | null;
  /** The version of `data`, for the `if_match` of a change; null where it has none. */
  etag: string | null;
  error: ApiError | null;
  is_loading: boolean;
  reload(): void;
}

/** What changes by itself is looked at again this often. */
const REFRESH_MS = 10_000;

/** What is typed into or chosen by: what somebody looks at does not move under them meanwhile. */
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
