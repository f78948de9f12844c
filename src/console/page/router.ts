/** Chooses the page by the address, moves to another one without loading anew, and reads paths with names in them. */
import { signal } from '@preact/signals';

export { to } from './path.ts';

export const BASE = '/console';

/** The address below /console, and its query. */
const location_now = signal(readLocation());

function readLocation(): { path: string; search: string } {
  const path = location.pathname.replace(/^\/console/, '').replace(/\/+$/, '');
  return { path: path === '' ? '/' : path, search: location.search };
}

/** Asks before somebody leaves a page. The console itself moves on unasked. */
interface Guard {
  isUnsaved(): boolean;
  /** Resolves to whether the page may be left. */
  mayLeave(): Promise<boolean>;
}

/** The position of this tab in its history. Each entry keeps its own. */
let place = readPlace() ?? 0;
/** Why the history goes where it was told to, until it is there. */
let going: 'back to where it was' | 'as agreed' | null = null;

function readPlace(): number | null {
  const state: unknown = history.state;
  return typeof state === 'object' && state !== null && 'place' in state && typeof state.place === 'number'
    ? state.place
    : null;
}

/** Follows clicks on links of the console, and the browser's back and forward. */
export function startRouter({ isUnsaved, mayLeave }: Guard): void {
  history.replaceState({ place }, '');
  addEventListener('beforeunload', (event) => {
    if (isUnsaved()) event.preventDefault();
  });
  addEventListener('popstate', () => {
    const to = readPlace();
    if (going === 'back to where it was') {
      going = null;
      return;
    }
    if (going === null && to !== null && to !== place && isUnsaved()) {
      // The browser has gone there: it comes back, and goes again once somebody agreed.
      const by = to - place;
      go('back to where it was', -by);
      void mayLeave().then((may) => may && go('as agreed', by));
      return;
    }
    going = null;
    place = to ?? place;
    location_now.value = readLocation();
  });
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const is_plain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!link || !is_plain || event.defaultPrevented) return;
    if (link.target || link.hasAttribute('download') || link.origin !== location.origin) return;
    if (!link.pathname.startsWith(BASE) || link.getAttribute('href')?.startsWith('#')) return;
    event.preventDefault();
    const follow = (): void => navigate(link.pathname.slice(BASE.length) + link.search);
    if (isUnsaved()) void mayLeave().then((may) => may && follow());
    else follow();
  });
}

function go(why: typeof going, entries: number): void {
  going = why;
  history.go(entries);
}

/** Goes to a path below /console. `replace`: the one that was left is not gone back to. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const address = BASE + (to === '/' ? '' : to);
  if (options.replace) history.replaceState({ place }, '', address);
  else {
    place += 1;
    history.pushState({ place }, '', address);
  }
  const { path } = location_now.value;
  location_now.value = readLocation();
  if (location_now.value.path !== path) scrollTo(0, 0);
}

/** The address of a path below /console, for `href`. */
export function hrefOf(to: string): string {
  return BASE + (to === '/' ? '' : to);
}

export function usePath(): string {
  return location_now.value.path;
}

export function useQuery(): URLSearchParams {
  return new URLSearchParams(location_now.value.search);
}

/** Sets or, with an empty value, takes away parts of the query; a list begins again at its first page. As one types, `replace`. */
export function setQuery(
  changes: Readonly<Record<string, string>>,
  options: { replace?: boolean } = {},
): void {
  const query = new URLSearchParams(location.search);
  if (!Object.hasOwn(changes, 'page')) query.delete('page');
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  navigate(`${location_now.value.path}${query.size > 0 ? `?${query}` : ''}`, options);
}

/** The names in a pattern such as `/projects/:project/keys/:key`. */
export type NamesIn<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;

/** The parts of a path by their names in a pattern; null where the path does not fit it. */
export function matchPath(pattern: string, path: string): Record<string, string> | null {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (!part.startsWith(':')) {
      if (part !== value) return null;
    } else {
      try {
        params[part.slice(1)] = decodeURIComponent(value);
      } catch {
        return null;
      }
    }
  }
  return params;
}
