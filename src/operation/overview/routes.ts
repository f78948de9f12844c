/** The one endpoint of the overview. */
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { overview } from './schemas.ts';
import type { Overviews } from './service.ts';

export function overviewRoutes(overviews: Overviews): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/overview',
      tag: 'Overview',
      summary: 'The numbers of your projects',
      description:
        'What is stored, what waits, and what became of mails in each of the last 24 hours (UTC, the present one among them; ' +
        'test mails count as well), of the projects of the caller. `jobs` are those of the last 30 days. `machine`, the disk and ' +
        'the database, is there only with `can_administer`.',
      response: overview,
      handle: ({ caller }) => overviews.read(caller),
    }),
  ];
}
