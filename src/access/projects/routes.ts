/** The management plane's endpoints of projects. */
import { notFound } from '../../errors.ts';
import { MAX_NAME_CHARS } from '../../limits.ts';
import {
  ADMINISTER,
  actorOf,
  type ManagementCaller,
  requireCapabilities,
} from '../../platform/http/callers.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { managementRoute, openRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t, text } from '../../platform/http/schema.ts';
import { type LinkDomains, PROOF_PATH } from './link-domains.ts';
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

/** Which domains a project's mail and links may bear is the operator's business. */
const SENDING = ['sending_domain', 'sending_domains', 'link_domain'] as const;

function authorizeSending(caller: ManagementCaller, sent: object): void {
  if (SENDING.some((field) => Object.hasOwn(sent, field))) requireCapabilities(caller, [ADMINISTER]);
}

const NAMED_BY = '`project` is its numeric id, ULID or slug.';

export function projectRoutes(services: { projects: Projects; link_domains: LinkDomains }): Route[] {
  const { projects, link_domains } = services;
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: ManagementCaller }): ProjectRow =>
    projects.requireFor(caller, ctx.params.project ?? '');
  return recordRoutes(managementRoute, {
    path: '/projects/:project',
    tag: 'Projects',
    shown: projectWithKeys,
    load,
    list: {
      summary: 'List projects',
      query: listQuery,
      response: t.Array(projectWithKeyCount),
      handle: ({ caller, query }) =>
        projects.list(caller, query).map((project) => ({
          ...projects.present(project),
          api_keys_count: projects.countApiKeys(project),
        })),
    },
    create: {
      summary: 'Create a project',
      description:
        'Without `slug` one is made from the name. A token that is scoped to projects may use the new one at once.',
      body: createProjectBody,
      example: { name: 'Bakery', platforms: ['web'] },
      authorizeBody: ({ caller, sent }) => authorizeSending(caller, sent),
      errorsIn: ({ body }) => projects.errorsIn(body, null),
      handle: async ({ caller, ctx, body }) =>
        projects.presentWithKeys(await projects.create(actorOf(caller, ctx.ip), body, caller)),
    },
    read: {
      summary: 'Read a project',
      unversioned: ['api_keys', 'link_domain_status', 'link_domain_problem', 'mail'],
      description: NAMED_BY,
      handle: ({ resource }) => projects.presentWithKeys(resource),
    },
    change: {
      summary: 'Change a project',
      description: `${NAMED_BY} Only what is sent changes; null clears. \`database_project_id\` needs \`can_manage_database\`. Of a project whose \`status\` is \`inactive\` nothing is sent: what falls due waits, and what would send is 409 \`project_inactive\`.`,
      body: updateProjectBody,
      example: { description: 'What the shop sells, and to whom.' },
      authorizeBody: ({ caller, sent }) => {
        if (Object.hasOwn(sent, 'database_project_id')) requireCapabilities(caller, ['can_manage_database']);
        authorizeSending(caller, sent);
      },
      errorsIn: ({ caller, body, resource }) => projects.errorsIn(body, resource, caller),
      handle: async ({ caller, ctx, resource, body }) => {
        const changed = await projects.update(actorOf(caller, ctx.ip), resource, body, caller);
        const asked = body.link_domain == null ? changed : await link_domains.verify(changed.id);
        return projects.presentWithKeys(asked ?? changed);
      },
    },
    remove: {
      summary: 'Delete a project and everything in it',
      description: `${NAMED_BY} The counts tell what went with it.`,
      response: deletedProject,
      handle: ({ caller, ctx, resource }) => {
        ctx.keepOpen(); // Hundreds of thousands of contacts take a while.
        return projects.remove(actorOf(caller, ctx.ip), resource.public_id);
      },
    },
  });
}

/** Asked by `LinkDomains.verify`, of whatever the name leads to. */
export function linkDomainRoutes({ link_domains }: { link_domains: LinkDomains }): Route[] {
  return [
    openRoute({
      plane: 'page',
      method: 'GET',
      path: PROOF_PATH,
      tag: 'Projects',
      summary: 'What tells that a link domain leads here',
      description: 'Answers at the link domain of a project alone.',
      projectOf: (ctx) => ctx.link_project_id,
      handle: ({ ctx }) => {
        const proof = ctx.link_project_id === null ? null : link_domains.proofOf(ctx.link_project_id);
        if (proof === null) throw notFound('Page');
        return new Response(proof, { headers: { 'Content-Type': 'text/plain' } });
      },
    }),
  ];
}
