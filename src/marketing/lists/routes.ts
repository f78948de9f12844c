/** Endpoints of contact lists. */

import { pageQuery } from '../../platform/http/pagination.ts';
import { madeReply, recordRoutes } from '../../platform/http/record-routes.ts';
import type { Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { Naming } from '../../platform/words/phrases.ts';
import { marketingRoute } from '../marketing-route.ts';
import { changes, creation, listRecord } from './schemas.ts';
import type { Lists } from './service.ts';

export function listRoutes({ lists, list_names }: { lists: Lists; list_names: Naming }): Route[] {
  return recordRoutes(marketingRoute, {
    path: '/email-lists/:list',
    tag: 'Contact lists',
    shown: listRecord,
    load: ({ ctx, caller }) => lists.get(caller.project.id, ctx.params.list ?? ''),
    together: ['double_opt_in', 'sign_up_page'],
    errorsIn: ({ caller, current, body }) => lists.errorsIn(caller.project.id, current, body),
    list: {
      summary: 'Lists of the project, newest first',
      query: t.Object({
        ...pageQuery,
        include_archived: t.Optional(t.Boolean({ description: '1 shows archived lists too.' })),
      }),
      response: listRecord,
      handle: ({ caller, query }) => lists.list(caller.project.id, query),
    },
    create: {
      summary: 'Create a list',
      body: creation,
      example: { name: 'Newsletter', default_consent_basis: 'consent' },
      handle: async ({ caller, body }) =>
        madeReply(await lists.create(caller.project.id, body, caller.note), list_names, caller.project),
    },
    read: {
      summary: 'One list with its counters',
      unversioned: ['contacts_count', 'active_count', 'status_counts'],
    },
    change: {
      summary: 'Change or archive a list',
      description: 'Only what is sent changes; null clears an optional field.',
      body: changes,
      example: { description: 'Once a month' },
      handle: ({ caller, body, resource }) => lists.update(caller.project.id, resource.id, body, caller.note),
    },
  });
}
