/** The one endpoint that searches everything a token may see. */
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import { searchResult } from './schemas.ts';
import type { Search } from './service.ts';

/** The longest address with room; a file name is found by its beginning. */
const MAX_SEARCH_CHARS = 320;

const searchQuery = t.Object({
  q: {
    ...text({
      min: 1,
      max: MAX_SEARCH_CHARS,
      description:
        'Part of a name, the beginning of a file name, of an address or of a key, or the id of a mail. Case is ignored, but for the ' +
        'beginning of a key.',
    }),
    example: 'ann@example.org',
  },
});

export function searchRoutes(search: Search): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/search',
      tag: 'Overview',
      summary: 'Find anything by its name',
      description:
        'Up to ten of each, within the projects of the caller; with `can_administer` also what is of no project. Files, mails and ' +
        'contacts are found by the beginning of a name or address, as that is what an index can find, a mail by its whole id too; ' +
        'all else by any part of its name, subject, slug, status, URL, description or address.',
      query: searchQuery,
      response: searchResult,
      handle: ({ caller, query }) => search.find(caller, query.q),
    }),
  ];
}
