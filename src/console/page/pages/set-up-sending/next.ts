/** The page that one came from, by `next` of the address. */
import { hrefOf } from '../../router.ts';

const SET_UP_SENDING = '/set-up-sending';

/** A path of the console, or null: an address elsewhere leads nowhere. */
export function nextIn(query: URLSearchParams): string | null {
  const next = query.get('next');
  return next !== null && /^\/(?![/\\])/.test(next) ? next : null;
}

/** The way to here from a page, and back to it. */
export function wayToSetUp(next: string | null, domain?: string): string {
  const query = new URLSearchParams({
    ...(domain !== undefined && { domain }),
    ...(next !== null && { next }),
  });
  return query.size > 0 ? `${SET_UP_SENDING}?${query}` : SET_UP_SENDING;
}

export function wayBack(next: string | null): { href: string; label: string } {
  return next === null
    ? { href: hrefOf('/sending-domains'), label: 'Sending domains' }
    : { href: hrefOf(next), label: 'Back' };
}
