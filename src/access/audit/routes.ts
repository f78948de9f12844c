/** The audit trail on the management plane: that of a project, and of everything. */
import { MAX_NAME_CHARS } from '../../limits.ts';
import { ACTOR_KINDS } from '../../platform/database/tables.ts';
import { ADMINISTER } from '../../platform/http/callers.ts';
import { type PageQuery, pageQuery } from '../../platform/http/pagination.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { dateTime, named, nullable, oneOf, type Static, t, text } from '../../platform/http/schema.ts';
import type { Projects } from '../projects/service.ts';
import type { Audit, AuditQuery } from './service.ts';

const word = () => t.Optional(text({ min: 1, max: MAX_NAME_CHARS }));

const auditQuery = t.Object({
  event: word(),
  actor: word(),
  since: t.Optional(dateTime()),
  until: t.Optional(dateTime()),
  ...pageQuery,
});

const auditRecord = named(
  'AuditEvent',
  t.Object({
    id: t.String(),
    at: t.String({ format: 'date-time' }),
    event: t.String(),
    target: nullable(t.String()),
    actor_kind: oneOf(ACTOR_KINDS),
    actor_id: nullable(t.String()),
    actor_name: t.String(),
    ip: nullable(t.String()),
    project_id: nullable(t.String()),
    metadata: t.Record(t.String(), t.Unknown()),
    sentence: t.String({ description: 'In one line, such as `Ann made the key web`.' }),
    changes: t.Record(
      t.String(),
      t.Union([
        t.Object({ from: t.Unknown(), to: t.Unknown() }),
        t.Object({ secret: t.Literal(true) }),
        t.Object({ personal: t.Literal(true) }),
      ]),
      {
        description:
          'Of a change: what each field that changed was and became, cut at 200 characters; of secrets and of what is known of a contact only that it changed.',
      },
    ),
  }),
);

export function auditRoutes(services: { audit: Audit; projects: Projects }): Route[] {
  const { audit, projects } = services;
  return [
    managementRoute({
      method: 'GET',
      path: '/projects/:project/audit',
      tag: 'Audit',
      summary: 'Who did what in a project',
      description:
        'Newest first. `since` is inclusive, `until` is not; `actor` is the name of a token, person or shell user.',
      query: auditQuery,
      response: t.Array(auditRecord),
      load: ({ ctx, caller }) => projects.requireFor(caller, ctx.params.project ?? ''),
      handle: ({ resource, query }) => audit.list(resource, readQuery(query)),
    }),
    managementRoute({
      method: 'GET',
      path: '/audit',
      needs: [ADMINISTER],
      tag: 'Audit',
      summary: 'Who did what',
      description:
        'Over all projects and what belongs to none, newest first. `since` is inclusive, `until` is not; `actor` is the name of a token, ' +
        'person or shell user.',
      query: auditQuery,
      response: t.Array(auditRecord),
      handle: ({ query }) => audit.list(null, readQuery(query)),
    }),
  ];
}

function readQuery({ since, until, ...rest }: Static<typeof auditQuery>): AuditQuery & PageQuery {
  return {
    ...rest,
    ...(since === undefined ? {} : { since_ms: Date.parse(since) }),
    ...(until === undefined ? {} : { until_ms: Date.parse(until) }),
  };
}
