/** Endpoints of contact lists. */
import { MAX_DESCRIPTION_CHARS, MAX_DNS_NAME_CHARS, MAX_NAME_CHARS, MAX_TOKEN_HOSTS } from '../../limits.ts';
import { marketingRoute } from '../../platform/http/marketing-route.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import type { ProjectCaller, RequestContext, Route } from '../../platform/http/routes.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { CONSENT_BASES, type Lists } from './service.ts';

const TAG = 'Contact lists';

const name = text({ min: 1, max: MAX_NAME_CHARS });
const optional = {
  description: text({ max: MAX_DESCRIPTION_CHARS }),
  default_consent_basis: {
    ...oneOf(CONSENT_BASES),
    description: 'For contacts that come without a basis of their own.',
  },
  token_hosts: t.Array(text({ min: 1, max: MAX_DNS_NAME_CHARS }), {
    maxItems: MAX_TOKEN_HOSTS,
    description: 'Links to these hosts carry the `contact_token` of their reader.',
  }),
  confirmation_template: text({
    min: 1,
    max: MAX_NAME_CHARS,
    description:
      'Slug of a transactional template with `{{confirm_url}}`; it may use `email`, `first_name`, `last_name`, ' +
      '`list_name` and `brand_name`, too. A double opt-in list takes sign-ups only with one.',
  }),
};
const creation = named(
  'NewContactList',
  t.Object({
    name,
    ...optionals(optional),
    double_opt_in: t.Optional(t.Boolean({ description: 'Default false.' })),
  }),
);
const changes = named(
  'ContactListChanges',
  changesOf({
    name: name,
    ...nullables(optional),
    double_opt_in: t.Boolean(),
    archived: t.Boolean({ description: 'An archived list takes nobody any more.' }),
  }),
);

const listRecord = named(
  'ContactList',
  t.Object({
    id: ulid(),
    name: t.String(),
    description: nullable(t.String()),
    default_consent_basis: nullable(oneOf(CONSENT_BASES)),
    double_opt_in: t.Boolean(),
    token_hosts: t.Array(t.String()),
    confirmation_template: nullable(t.String()),
    archived: t.Boolean(),
    contacts_count: t.Integer(),
    active_count: t.Integer(),
    status_counts: t.Record(t.String(), t.Integer(), {
      description: 'Contacts by status; one that nobody has is left out.',
    }),
    created_at: dateTime(),
    updated_at: dateTime(),
  }),
);

export function listRoutes({ lists }: { lists: Lists }): Route[] {
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
      check: ({ caller, body }) => lists.check(caller.project.id, body),
      handle: ({ caller, body }) => lists.create(caller.project.id, body, caller.note),
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
      check: ({ caller, body }) => lists.check(caller.project.id, body),
      handle: ({ caller, body, resource }) => lists.update(caller.project.id, resource.id, body, caller.note),
    }),
  ];
}
