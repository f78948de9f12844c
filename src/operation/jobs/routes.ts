/** Endpoints for polling jobs. */
import { MAX_NAME_CHARS } from '../../limits.ts';
import { JOB_STATUSES } from '../../platform/database/tables.ts';
import { ADMINISTER } from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { bothPlanes, managementRoute, type Route } from '../../platform/http/routes.ts';
import { oneOf, t, text } from '../../platform/http/schema.ts';
import { type Jobs, job } from './service.ts';

export function jobRoutes(jobs: Jobs): Route[] {
  return [
    ...bothPlanes({
      method: 'GET',
      path: '/jobs',
      needs: ['read'],
      family: 'wrapped',
      tag: 'Jobs',
      summary: 'Jobs of the project, newest first',
      query: t.Object({
        ...pageQuery,
        status: t.Optional(oneOf(JOB_STATUSES)),
        type: t.Optional(text({ min: 1, max: MAX_NAME_CHARS, description: 'Such as email.send.' })),
      }),
      response: job,
      handle: ({ caller, query }) => jobs.list(caller.project.id, query),
    }),
    ...bothPlanes({
      method: 'GET',
      path: '/jobs/:job_id',
      needs: ['read'],
      family: 'wrapped',
      tag: 'Jobs',
      summary: 'One job',
      response: job,
      load: ({ ctx, caller }) => jobs.get(caller.project.id, ctx.params.job_id ?? ''),
      handle: ({ resource }) => resource,
    }),
    managementRoute({
      method: 'GET',
      path: '/jobs/:job',
      needs: [ADMINISTER],
      tag: 'Jobs',
      summary: 'One job, whatever its project',
      description: 'That of a backup too, which is of none.',
      response: job,
      load: ({ ctx }) => jobs.requireAny(ctx.params.job ?? ''),
      handle: ({ resource }) => resource,
    }),
  ];
}
