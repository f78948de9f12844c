/** What the links of a mailing gain for whoever counts visits where they lead. Pure functions. */
import { isPlainObject } from '../../platform/http/validation.ts';

/** An address with those parameters that it does not have, before its fragment. All else in it stays as it is. */
export function withUtm(address: string, added: Readonly<Record<string, string>>): string {
  const at = address.indexOf('#');
  const [body, fragment] = at < 0 ? [address, ''] : [address.slice(0, at), address.slice(at)];
  const query_at = body.indexOf('?');
  const query = query_at < 0 ? '' : body.slice(query_at + 1);
  // With its own question mark: otherwise one that begins it would be taken for that.
  const present = new URLSearchParams(`?${query}`);
  const missing = Object.entries(added)
    .map(([name, text]) => [`utm_${name}`, text] as const)
    .filter(([name]) => !present.has(name))
    .map(([name, text]) => `${name}=${encodeURIComponent(text)}`);
  if (missing.length === 0) return address;
  const joint = query_at < 0 ? '?' : query === '' || query.endsWith('&') ? '' : '&';
  return `${body}${joint}${missing.join('&')}${fragment}`;
}

/** As a link's row has them. */
export function readUtm(stored: string): Record<string, string> {
  const parsed: unknown = JSON.parse(stored);
  return Object.fromEntries(
    Object.entries(isPlainObject(parsed) ? parsed : {}).map(([name, text]) => [name, String(text)]),
  );
}
