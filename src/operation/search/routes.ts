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
      summary: 'Find projects, keys, files, mails and contacts',
      description:
        'Up to ten of each, within the projects of the caller. Names of projects and keys are found by any part; files and ' +
        'addresses only by their beginning, as that is what an index can find; a mail by its whole id too.',
      query: searchQuery,
      response: searchResult,
      handle: ({ caller, query }) => search.find(caller, query.q),
    }),
  ];
}
