/** The management plane's endpoints of projects. */
import type { Keys } from '../keys/service.ts';
import { MAX_NAME_CHARS } from '../limits.ts';
import { requireCapabilities, type TokenCaller } from '../platform/http/callers.ts';
import { pageQuery } from '../platform/http/pagination.ts';
import { managementRoute, type RequestContext, type Route } from '../platform/http/routes.ts';
import { t, text } from '../platform/http/schema.ts';
import { tokenActor } from '../tokens/service.ts';
import {
  createProjectBody,
  deletedProject,
  projectShape,
  projectStatus,
  updateProjectBody,
} from './schemas.ts';
import type { ProjectRow, Projects } from './service.ts';

const listItem = t.Object({ ...projectShape, api_keys_count: t.Integer() });
const single = t.Object({
  ...projectShape,
  api_keys: t.Array(
    t.Object({
      id: t.Integer(),
      name: t.String(),
      key_prefix: t.String(),
      restricted: t.Boolean(),
      is_active: t.Boolean(),
    }),
  ),
});

const listQuery = t.Object({
  q: t.Optional(text({ max: MAX_NAME_CHARS, description: 'Part of the name or the slug.' })),
  status: t.Optional(projectStatus),
  ...pageQuery,
});

const NAMED_BY = '`project` is its numeric id, ULID or slug.';

export function projectRoutes(services: { projects: Projects; keys: Keys }): Route[] {
  const { projects, keys } = services;
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: TokenCaller }): ProjectRow =>
    projects.requireFor(caller, ctx.params.project ?? '');
  const present = (project: ProjectRow) => ({
    ...projects.present(project),
    api_keys: keys.abbreviate(project),
  });
  return [
    managementRoute({
      method: 'GET',
      path: '/projects',
      tag: 'Projects',
      summary: 'List projects',
      query: listQuery,
      response: t.Array(listItem),
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
      response: single,
      handle: async ({ caller, ctx, body }) =>
        present(await projects.create(tokenActor(caller, ctx.ip), body, caller)),
    }),
    managementRoute({
      method: 'GET',
      path: '/projects/:project',
      tag: 'Projects',
      summary: 'Read a project',
      description: NAMED_BY,
      response: single,
      load,
      handle: ({ resource }) => present(resource),
    }),
    managementRoute({
      method: 'PATCH',
      path: '/projects/:project',
      tag: 'Projects',
      summary: 'Change a project',
      description: `${NAMED_BY} Only what is sent changes; null clears. \`database_project_id\` needs \`can_manage_database\`.`,
      body: updateProjectBody,
      response: single,
      authorize: ({ caller, sent }) => {
        if (Object.hasOwn(sent, 'database_project_id')) requireCapabilities(caller, ['can_manage_database']);
      },
      load,
      handle: async ({ caller, ctx, resource, body }) =>
        present(await projects.update(tokenActor(caller, ctx.ip), resource, body, caller)),
    }),
    managementRoute({
      method: 'DELETE',
      path: '/projects/:project',
      tag: 'Projects',
      summary: 'Delete a project and everything in it',
      description: `${NAMED_BY} The counts tell what went with it.`,
      response: deletedProject,
      load,
      handle: ({ caller, ctx, resource }) => projects.remove(tokenActor(caller, ctx.ip), resource.public_id),
    }),
  ];
}
