/** Which page is shown: the address, moving to another one without loading anew, and paths with names in them. */
import { signal } from '@preact/signals';

export const BASE = '/console';

/** The address below /console, and its query. */
const location_now = signal(readLocation());

function readLocation(): { path: string; search: string } {
  const path = location.pathname.replace(/^\/console/, '').replace(/\/+$/, '');
  return { path: path === '' ? '/' : path, search: location.search };
}

/** Follows clicks on links of the console, and the browser's back and forward. */
export function startRouter(): void {
  addEventListener('popstate', () => {
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
    navigate(link.pathname.slice(BASE.length) + link.search);
  });
}

/** Goes to a path below /console. `replace`: the one that was left is not gone back to. */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const address = BASE + (to === '/' ? '' : to);
  if (options.replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  const { path } = location_now.value;
  location_now.value = readLocation();
  if (location_now.value.path !== path) scrollTo(0, 0);
}

/** The address of a path below /console, for `href`. */
export function hrefOf(to: string): string {
  return BASE + (to === '/' ? '' : to);
}

/** A path whose values are put in: to`/projects/${slug}/keys`. */
export function to(strings: TemplateStringsArray, ...values: (string | number)[]): string {
  return String.raw({ raw: strings }, ...values.map((value) => encodeURIComponent(String(value))));
}

export function usePath(): string {
  return location_now.value.path;
}

export function useQuery(): URLSearchParams {
  return new URLSearchParams(location_now.value.search);
}

/** Sets or, with an empty value, takes away parts of the query; a list begins again at its first page. */
export function setQuery(changes: Readonly<Record<string, string>>): void {
  const query = new URLSearchParams(location.search);
  if (!Object.hasOwn(changes, 'page')) query.delete('page');
  for (const [name, value] of Object.entries(changes)) {
    if (value === '') query.delete(name);
    else query.set(name, value);
  }
  const is_typing = Object.hasOwn(changes, 'q');
  navigate(`${location_now.value.path}${query.size > 0 ? `?${query}` : ''}`, { replace: is_typing });
}

/** The names in a pattern such as `/projects/:project/keys/:key`. */
export type NamesIn<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;

/** What the names in a pattern stand for in a path, or null where it is another path. */
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
