/** Endpoints of contacts. */
import { type FieldErrors, invalid, refuseAll } from '../../errors.ts';
import { COUNTED_MATCHES, MAX_CONTACT_QUERY_CHARS } from '../../limits.ts';
import type { Database } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { streamRecord } from '../../platform/http/answers.ts';
import { CSV_ANSWER, csvResponse } from '../../platform/http/csv.ts';
import { type PageQuery, pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import {
  type ProjectCaller,
  projectRoute,
  Reply,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { emailAddress, type Static, t, text } from '../../platform/http/schema.ts';
import type { ListRow, Lists } from '../lists/service.ts';
import { marketingRoute, toldDuplicate } from '../marketing-route.ts';
import type { Segments } from '../segments/service.ts';
import { facetsOf } from './facets.ts';
import { readTags } from './fields.ts';
import {
  type ContactFilter,
  filter_fields,
  filter_in_query,
  NOT_BOTH,
  readFilterInQuery,
  segment_in_query,
} from './filter.ts';
import type { Privacy } from './privacy.ts';
import { candidateOf, errorsInContact } from './records.ts';
import {
  bulk_tag,
  contact_changes,
  creation,
  facets,
  found_contact,
  held,
  MAX_FACETS,
  record,
} from './schemas.ts';
import type { Contacts } from './service.ts';

const TAG = 'Contacts';

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

export function contactRoutes(services: {
  database: Database;
  contacts: Contacts;
  lists: Lists;
  segments: Segments;
  privacy: Privacy;
  clock: Clock;
}): Route[] {
  return [
    ...readingRoutes(services),
    ...changingRoutes(services),
    ...routesOfContact(services),
    ...addressRoutes(services),
  ];
}

interface ListDeps {
  database: Database;
  contacts: Contacts;
  lists: Lists;
  segments: Segments;
  clock: Clock;
}

function listLoader({ lists }: ListDeps) {
  return ({ ctx, caller }: Target) => lists.require(caller.project.id, ctx.params.list ?? '');
}

type FilterQuery = Omit<ContactFilter, 'any' | 'none'> & PageQuery & { segment?: string; filter?: string };

/** The filter of a query, as parameters or as JSON, or that of the segment in its place. Throws AppError `invalid`. */
function filterOf({ contacts, segments }: ListDeps, list: ListRow, query: FilterQuery): ContactFilter {
  const { segment, filter: json, page: _page, per_page: _per_page, ...parameters } = query;
  const is_given = Object.values(parameters).some((one) => one !== undefined);
  if (json !== undefined) {
    if (is_given || segment !== undefined) throw invalid({ filter: [ALONE] });
    const filter = readFilterInQuery(json);
    refuseAll(contacts.errorsInFilter(list, filter));
    return filter;
  }
  if (segment === undefined) return parameters;
  if (is_given) throw invalid({ segment: [NOT_BOTH] });
  return segments.filterNamed(list, segment);
}

const ALONE = 'stands alone: put what the other parameters ask for into it';

function readingRoutes(deps: ListDeps): Route[] {
  const { contacts } = deps;
  const load = listLoader(deps);
  return [
    ...marketingRoute({
      method: 'GET',
      path: '/email-lists/:list/contacts',
      tag: TAG,
      summary: 'Contacts of a list, newest first',
      description:
        'Those that the filter fits: all of what is given must be so, and a parameter that is none of these is 422. Lists of ' +
        'tags are written with commas between, and custom fields as `custom.NAME=value`; or `filter` has all of it as JSON. What a filter fits is counted up to ' +
        `${COUNTED_MATCHES}: where it is more, \`total\` is how many there are at least, and \`meta\` has \`total_capped\`. By ` +
        'status, by one tag or by both it is always counted.',
      query: t.Object(
        { ...pageQuery, ...filter_fields, filter: filter_in_query, segment: segment_in_query },
        { additionalProperties: false },
      ),
      response: record,
      may_be_capped: true,
      load,
      handle: ({ resource, query }) => contacts.list(resource, filterOf(deps, resource, query), query),
    }),
    ...marketingRoute({
      method: 'GET',
      path: '/email-lists/:list/facets',
      tag: TAG,
      summary: 'The tags, custom fields and events of a list, each with its number of contacts',
      description: `Of contacts of any status, ${MAX_FACETS} names of each at most, most first: what a filter can ask for. They are counted as contacts change.`,
      response: facets,
      load,
      handle: ({ resource }) => facetsOf(deps, resource),
    }),
    ...marketingRoute({
      method: 'GET',
      path: '/email-lists/:list/contacts.csv',
      tag: TAG,
      summary: 'Contacts of a list as CSV, newest first',
      description:
        'All that the filter fits. Columns are the fields of a contact, and behind them `custom.NAME` for each custom field that ' +
        'somebody has; of tags those of one contact stand with commas between. What a spreadsheet would take for a formula is ' +
        'prefixed with an apostrophe. It stands on the audit trail, by keys too.',
      query: t.Object(
        { ...filter_fields, filter: filter_in_query, segment: segment_in_query },
        { additionalProperties: false },
      ),
      ...CSV_ANSWER,
      load,
      handle: async ({ ctx, caller, resource, query }) => {
        ctx.keepOpen();
        return csvResponse(
          `contacts-${resource.public_id}.csv`,
          await contacts.export(resource, filterOf(deps, resource, query), caller.record),
        );
      },
    }),
  ];
}

function changingRoutes(deps: ListDeps): Route[] {
  const { contacts, segments, clock } = deps;
  const load = listLoader(deps);
  return [
    ...marketingRoute({
      method: 'POST',
      path: '/email-lists/:list/contacts',
      tag: TAG,
      summary: 'Add a contact',
      description:
        'One address through the pipeline: syntax, consent, suppression, MX, duplicate. 422 carries the code of what it was ' +
        'refused for: `invalid_syntax`, `missing_consent`, `suppressed` or `no_mx`. The address is active at once.',
      status: 201,
      also: {
        200: 'It is on the list already: `duplicate` is true',
        409: 'The list is archived (`list_archived`)',
      },
      body: creation,
      example: { email: 'ann@example.com', first_name: 'Ann', consent_basis: 'consent', tags: ['customer'] },
      response: record,
      beside: toldDuplicate,
      load,
      errorsIn: ({ body }) => errorsInContact(body),
      handle: async ({ caller, resource, body }) => {
        refuseAll(errorsInContact(body));
        const { contact, is_duplicate } = await contacts.add(
          caller.project,
          resource,
          candidateOf(body, { now_ms: clock.now(), is_test: caller.key?.is_test ?? false }),
          caller.note,
        );
        return is_duplicate ? new Reply(200, contact, {}, { duplicate: true }) : contact;
      },
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-lists/:list/contacts/bulk-tag',
      tag: TAG,
      summary: 'Tag many contacts',
      description:
        'By `contact_ids` (at most 500), by `filter`, of which an empty one is every contact of the list, or by `segment`. Answers ' +
        'how many were changed. A contact that has 50 tags gets no more.',
      body: bulk_tag,
      example: { filter: { status: 'active', tags_none: ['winter'] }, add: ['spring'] },
      response: t.Object({ changed: t.Integer() }),
      load,
      errorsIn: ({ body, resource }) => ({
        ...errorsInBulkTag(body),
        ...(body.filter ? contacts.errorsInFilter(resource, body.filter) : {}),
      }),
      together: ['contact_ids', 'filter', 'segment'],
      handle: async ({ caller, resource, body }) => {
        refuseAll(errorsInBulkTag(body));
        const selection = body.contact_ids
          ? { contact_ids: body.contact_ids }
          : { filter: body.segment ? segments.filterNamed(resource, body.segment) : (body.filter ?? {}) };
        const change = { add: body.add ?? [], remove: body.remove ?? [] };
        return { changed: await contacts.bulkTag(resource, selection, change, caller.note) };
      },
    }),
  ];
}

function routesOfContact({ contacts, privacy }: { contacts: Contacts; privacy: Privacy }): Route[] {
  const load = ({ ctx, caller }: Target) => contacts.get(caller.project.id, ctx.params.contact ?? '');
  return [
    ...recordRoutes(marketingRoute, {
      path: '/email-contacts/:contact',
      tag: TAG,
      shown: record,
      load,
      read: { summary: 'One contact, with the evidence of its consent' },
      change: {
        summary: 'Change a contact',
        description:
          'Only what is sent changes; null clears; `tags` and `custom` replace. The status is not changed here, and neither ' +
          'is the evidence of consent.',
        body: contact_changes,
        example: { tags: ['customer', 'vip'] },
        errorsIn: ({ body }) => errorsInContact(body),
        handle: ({ caller, resource, body }) =>
          contacts.update(caller.project.id, resource.id, body, caller.note),
      },
    }),
    projectRoute({
      method: 'GET',
      path: '/email-contacts/:contact/why',
      tag: TAG,
      summary: 'Why the address is mailed or not, what it was sent and what comes',
      description: 'As `satchel contact why` tells it: of the address, on whatever list of the project.',
      response: t.Object({
        address: t.String(),
        why: t.Array(t.String(), {
          description: 'A sentence each; what begins with two spaces belongs to the one before.',
        }),
      }),
      load,
      handle: async ({ caller, resource: { email } }) => ({
        address: email,
        why: await privacy.explain(caller.project, email),
      }),
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-contacts/:contact/unsubscribe',
      tag: TAG,
      summary: 'Unsubscribe an address from the whole project',
      description: 'Every contact of the address changes, and the address is suppressed. May be repeated.',
      response: record,
      load,
      handle: ({ caller, resource }) => contacts.unsubscribe(caller.project, resource.id, caller.note),
    }),
  ];
}

/** For people and admins' tools: an app knows its own people. An address goes in a body, as paths stand in logs. */
function addressRoutes({ privacy }: { privacy: Privacy }): Route[] {
  const body = t.Object({ address: emailAddress() });
  return [
    projectRoute({
      method: 'GET',
      path: '/email-contacts',
      tag: TAG,
      summary: 'Contacts of all lists, by address',
      description: `Counted up to ${COUNTED_MATCHES}: where there are more, \`meta\` has \`total_capped\`.`,
      query: t.Object({
        ...pageQuery,
        email: t.Optional(text({ max: MAX_CONTACT_QUERY_CHARS, description: 'Beginning of the address.' })),
      }),
      response: found_contact,
      may_be_capped: true,
      handle: ({ caller, query }) => privacy.find(caller.project.id, query),
    }),
    projectRoute({
      method: 'POST',
      path: '/email-addresses/held',
      only_reads: true,
      tag: TAG,
      summary: 'Everything held about an address',
      description: 'As `satchel contact export` prints it: whoever asks what is stored about them gets this.',
      body,
      example: { address: 'ann@example.com' },
      response: held,
      handle({ ctx, caller, body: { address } }) {
        const text = privacy.export(caller.project, address);
        ctx.keepOpen();
        return streamRecord(text);
      },
    }),
    projectRoute({
      method: 'POST',
      path: '/email-addresses/forget',
      tag: TAG,
      summary: 'Forget an address',
      description:
        'Deletes its contacts with their events and enrollments, and empties it and its content in the log. A suppression stays, ' +
        'as a hash, and so do uploaded files and backups. Answers how many things of each kind were forgotten.',
      body,
      example: { address: 'left@example.com' },
      response: t.Record(t.String(), t.Integer()),
      handle({ ctx, caller, body: { address } }) {
        ctx.keepOpen(); // Of thousands of mails.
        return privacy.forget(caller.actor, caller.project, address);
      },
    }),
  ];
}

function errorsInBulkTag(body: Partial<Static<typeof bulk_tag>>): FieldErrors {
  const errors: FieldErrors = {};
  const { contact_ids, filter, segment } = body;
  const beside_ids = 'must be left out where contact_ids are given';
  if (contact_ids && filter) errors.filter = [beside_ids];
  if (segment && (contact_ids || filter)) errors.segment = [contact_ids ? beside_ids : NOT_BOTH];
  if (!contact_ids && !filter && !segment)
    errors.contact_ids = [
      'are required, or a filter or a segment; an empty filter is every contact of the list',
    ];
  const add = readTags(body.add ?? [], 'add', errors);
  const remove = readTags(body.remove ?? [], 'remove', errors);
  if (add.length === 0 && remove.length === 0) errors.add ??= ['at least one tag to add or to remove'];
  const both = add.filter((tag) => remove.includes(tag));
  if (both.length > 0) errors.remove ??= ['must not hold a tag that is to be added'];
  return errors;
}
