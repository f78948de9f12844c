/** The endpoints of the overview and of a project's activity. */
import { ACTIVITY_DAYS } from '../../limits.ts';
import { managementRoute, projectRoute, type Route } from '../../platform/http/routes.ts';
import { oneOf, t } from '../../platform/http/schema.ts';
import { activity, overview } from './schemas.ts';
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
      query: t.Object({
        days: t.Optional({
          ...oneOf(ACTIVITY_DAYS),
          description: 'Tells mails by day (UTC) as well, of so many days.',
        }),
      }),
      response: overview,
      handle: ({ caller, query }) =>
        overviews.read(caller, { days: query.days === undefined ? null : Number(query.days) }),
    }),
    projectRoute({
      method: 'GET',
      path: '/activity',
      tag: 'Projects',
      summary: 'What happened in a project lately',
      description:
        'By day in UTC, the present one last: mails (test mails count as well) and uploads. With the ten mails that failed or bounced ' +
        'last, what is stored, and when each key was used.',
      query: t.Object({
        days: t.Optional({ ...oneOf(ACTIVITY_DAYS), description: 'Of how many days; 7 unless given.' }),
      }),
      response: activity,
      handle: ({ caller, query }) =>
        overviews.activity(caller.manager, caller.project.id, Number(query.days ?? ACTIVITY_DAYS[0])),
    }),
  ];
}
