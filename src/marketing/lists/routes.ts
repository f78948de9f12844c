/** Endpoints of contact lists. */

import { pageQuery } from '../../platform/http/pagination.ts';
import type { ProjectCaller, RequestContext, Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { madeReply } from '../../platform/http/second-names.ts';
import { isSecond, type Naming } from '../../platform/words/naming.ts';
import { marketingRoute } from '../marketing-route.ts';
import { changes, creation, listRecord } from './schemas.ts';
import type { Lists } from './service.ts';

const TAG = 'Contact lists';

export function listRoutes({ lists, list_names }: { lists: Lists; list_names: Naming }): Route[] {
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: ProjectCaller }) =>
    lists.get(caller.project.id, ctx.params.list ?? '');
  return [
    ...marketingRoute({
      method: 'GET',
      path: '/email-lists',
      tag: TAG,
      summary: 'Lists of the project, newest first',
      query: t.Object({
        ...pageQuery,
        include_archived: t.Optional(t.Boolean({ description: '1 shows archived lists too.' })),
      }),
      response: listRecord,
      handle: ({ caller, query }) => lists.list(caller.project.id, query),
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-lists',
      tag: TAG,
      summary: 'Create a list',
      status: 201,
      body: creation,
      example: { name: 'Newsletter', default_consent_basis: 'consent' },
      response: listRecord,
      together: ['double_opt_in', 'sign_up_page'],
      errorsIn: ({ caller, body }) => lists.errorsIn(caller.project.id, null, body),
      async handle({ caller, body }) {
        const made = await lists.create(caller.project.id, body, caller.note);
        return madeReply(made, 'list', isSecond(list_names, caller.project.id, made.name));
      },
    }),
    ...marketingRoute({
      method: 'GET',
      path: '/email-lists/:list',
      tag: TAG,
      summary: 'One list with its counters',
      unversioned: ['contacts_count', 'active_count', 'status_counts'],
      response: listRecord,
      load,
      handle: ({ resource }) => resource,
    }),
    ...marketingRoute({
      method: 'PATCH',
      path: '/email-lists/:list',
      tag: TAG,
      summary: 'Change or archive a list',
      description: 'Only what is sent changes; null clears an optional field.',
      body: changes,
      example: { description: 'Once a month' },
      response: listRecord,
      load,
      together: ['double_opt_in', 'sign_up_page'],
      errorsIn: ({ caller, body, resource }) => lists.errorsIn(caller.project.id, resource, body),
      handle: ({ caller, body, resource }) => lists.update(caller.project.id, resource.id, body, caller.note),
    }),
  ];
}
