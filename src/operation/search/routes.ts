/** The one endpoint that searches everything a token may see. */
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { searchQuery, searchResult } from './schemas.ts';
import type { Search } from './service.ts';

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
