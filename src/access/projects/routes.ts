/** The management plane's endpoints of projects. */
import { MAX_NAME_CHARS } from '../../limits.ts';
import {
  ADMINISTER,
  actorOf,
  type ManagementCaller,
  requireCapabilities,
} from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import {
  createProjectBody,
  deletedProject,
  projectStatus,
  projectWithKeyCount,
  projectWithKeys,
  updateProjectBody,
} from './schemas.ts';
import type { ProjectRow, Projects } from './service.ts';

const listQuery = t.Object({
  q: t.Optional(text({ max: MAX_NAME_CHARS, description: 'Part of the name or the slug.' })),
  status: t.Optional(projectStatus),
  ...pageQuery,
});

/** Which domains a project's mail may bear is the operator's business. */
const SENDING = ['sending_domain', 'sending_domains'] as const;

function authorizeSending(caller: ManagementCaller, sent: object): void {
  if (SENDING.some((field) => Object.hasOwn(sent, field))) requireCapabilities(caller, [ADMINISTER]);
}

const NAMED_BY = '`project` is its numeric id, ULID or slug.';

export function projectRoutes(services: { projects: Projects }): Route[] {
  const { projects } = services;
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: ManagementCaller }): ProjectRow =>
    projects.requireFor(caller, ctx.params.project ?? '');
  return [
    managementRoute({
      method: 'GET',
      path: '/projects',
      tag: 'Projects',
      summary: 'List projects',
      query: listQuery,
      response: t.Array(projectWithKeyCount),
      handle: ({ caller, query }) =>
        projects.list(caller, query).map((project) => ({
          ...projects.present(project),
          api_keys_count: projects.countApiKeys(project),
        })),
    }),
    managementRoute({
      method: 'POST',
      path: '/projects',
      tag: 'Projects',
      summary: 'Create a project',
      description:
        'Without `slug` one is made from the name. A token that is scoped to projects may use the new one at once.',
      status: 201,
      body: createProjectBody,
      example: { name: 'Bakery', platforms: ['web'] },
      response: projectWithKeys,
      authorizeBody: ({ caller, sent }) => authorizeSending(caller, sent),
      errorsIn: ({ body }) => projects.errorsIn(body, null),
      handle: async ({ caller, ctx, body }) =>
        projects.presentWithKeys(await projects.create(actorOf(caller, ctx.ip), body, caller)),
    }),
    managementRoute({
      method: 'GET',
      path: '/projects/:project',
      tag: 'Projects',
      summary: 'Read a project',
      unversioned: ['api_keys'],
      description: NAMED_BY,
      response: projectWithKeys,
      load,
      handle: ({ resource }) => projects.presentWithKeys(resource),
    }),
    managementRoute({
      method: 'PATCH',
      path: '/projects/:project',
      tag: 'Projects',
      summary: 'Change a project',
      description: `${NAMED_BY} Only what is sent changes; null clears. \`database_project_id\` needs \`can_manage_database\`. Of a project whose \`status\` is \`inactive\` nothing is sent: what falls due waits, and what would send is 409 \`project_inactive\`.`,
      body: updateProjectBody,
      example: { description: 'What the shop sells, and to whom.' },
      response: projectWithKeys,
      authorizeBody: ({ caller, sent }) => {
        if (Object.hasOwn(sent, 'database_project_id')) requireCapabilities(caller, ['can_manage_database']);
        authorizeSending(caller, sent);
      },
      load,
      errorsIn: ({ caller, body, resource }) => projects.errorsIn(body, resource, caller),
      handle: async ({ caller, ctx, resource, body }) =>
        projects.presentWithKeys(await projects.update(actorOf(caller, ctx.ip), resource, body, caller)),
    }),
    managementRoute({
      method: 'DELETE',
      path: '/projects/:project',
      tag: 'Projects',
      summary: 'Delete a project and everything in it',
      description: `${NAMED_BY} The counts tell what went with it.`,
      response: deletedProject,
      load,
      handle: ({ caller, ctx, resource }) => {
        ctx.keepOpen(); // Hundreds of thousands of contacts take a while.
        return projects.remove(actorOf(caller, ctx.ip), resource.public_id);
      },
    }),
  ];
}
