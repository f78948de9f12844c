/** Endpoints of segments. */

import { madeReply, recordRoutes } from '../../platform/http/record-routes.ts';
import type { Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { Naming } from '../../platform/words/phrases.ts';
import type { Contacts } from '../contacts/service.ts';
import type { Lists } from '../lists/service.ts';
import { marketingRoute } from '../marketing-route.ts';
import { asked_filter, changes, creation, match, of_list, record } from './schemas.ts';
import type { Segments } from './service.ts';

const TAG = 'Segments';

interface SegmentDeps {
  segments: Segments;
  segment_names: Naming;
  lists: Lists;
  contacts: Contacts;
}

export function segmentRoutes({ segments, segment_names, lists, contacts }: SegmentDeps): Route[] {
  return [
    ...recordRoutes(marketingRoute, {
      path: '/email-segments/:segment',
      tag: TAG,
      shown: record,
      load: ({ ctx, caller }) => segments.get(caller.project.id, ctx.params.segment ?? ''),
      errorsIn: ({ caller, current, body }) => segments.errorsIn(caller.project.id, current, body),
      list: {
        summary: 'Segments of the project or of a list, newest first',
        query: of_list,
        response: record,
        handle: ({ caller, query }) => segments.list(caller.project.id, query),
      },
      create: {
        summary: 'Keep a filter of a list under a name',
        description:
          'Its id stands as `segment` wherever a `filter` may: in broadcasts, enroll, bulk-tag, the contacts of its list and their export.',
        body: creation,
        example: {
          name: 'Customers who went quiet',
          list: '01JYZ3NDEKTSV4RRFFQ69G5FAV',
          filter: { tags_any: ['customer'], not_clicked_within_days: 90 },
        },
        handle: async ({ caller, body }) =>
          madeReply(
            await segments.create(caller.project.id, body, caller.note),
            segment_names,
            caller.project,
          ),
      },
      read: {
        summary: 'One segment, with how many contacts it means',
        unversioned: ['contacts_count', 'filter_sentence'],
        record: ({ resource }) => resource,
        handle({ ctx, caller, resource }) {
          ctx.keepOpen(); // A list of millions takes a while to count.
          return segments.getCounted(caller.project, resource.id);
        },
      },
      change: {
        summary: 'Change a segment',
        description: 'What began to be sent has a copy of the filter, and stays as it is.',
        also: { 409: 'A scheduled broadcast uses it, and the filter is another (`segment_in_use`)' },
        body: changes,
        example: { filter: { tags_any: ['customer'], clicked_within_days: 90 } },
        handle: ({ caller, body, resource }) =>
          segments.update(caller.project.id, resource.id, body, caller.note),
      },
      remove: {
        summary: 'Delete a segment',
        description: 'Drafts of broadcasts that name it keep a copy of its filter.',
        also: { 409: 'A scheduled broadcast uses it (`segment_in_use`)' },
        response: t.Object({ deleted: t.Boolean() }),
        handle: async ({ caller, resource }) => {
          await segments.remove(caller.project.id, resource.id, caller.note);
          return { deleted: true };
        },
      },
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-lists/:list/matching',
      may_take_long: true,
      tag: TAG,
      summary: 'How many contacts of a list a filter means, and a few of them',
      description: 'Nothing is changed: it is for whoever is writing the filter.',
      only_reads: true,
      body: asked_filter,
      example: { filter: { tags_any: ['customer'], event: { name: 'ordered', within_days: 30 } } },
      response: match,
      load: ({ ctx, caller }) => lists.require(caller.project.id, ctx.params.list ?? ''),
      errorsIn: ({ body, resource }) => (body.filter ? contacts.errorsInFilter(resource, body.filter) : {}),
      handle({ ctx, caller, body, resource }) {
        ctx.keepOpen(); // A list of millions takes a while to count.
        return segments.match(caller.project, resource, body.filter);
      },
    }),
  ];
}
