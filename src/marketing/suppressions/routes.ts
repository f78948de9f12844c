/** Endpoints of suppressions. */

import { MAX_CONTACT_QUERY_CHARS } from '../../limits.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { projectRoute, Reply, type Route } from '../../platform/http/routes.ts';
import { dateTime, emailAddress, named, oneOf, t, text, ulid } from '../../platform/http/schema.ts';
import type { Contacts } from '../contacts/service.ts';
import { marketingRoute, toldDuplicate } from '../marketing-route.ts';
import { SUPPRESSION_KINDS, type Suppressions } from './service.ts';

const TAG = 'Suppressions';

const record = named(
  'Suppression',
  t.Object({
    id: ulid(),
    hash: t.String({ description: 'HMAC-SHA-256 of the address under a key of the project, hex.' }),
    kind: oneOf(SUPPRESSION_KINDS),
    created_at: dateTime(),
  }),
);

export function suppressionRoutes(services: { suppressions: Suppressions; contacts: Contacts }): Route[] {
  const { suppressions, contacts } = services;
  return [
    ...marketingRoute({
      method: 'GET',
      path: '/email-suppressions',
      tag: TAG,
      summary: 'Suppressed addresses, as hashes, newest first',
      query: t.Object({
        ...pageQuery,
        email: t.Optional(
          text({
            min: 1,
            max: MAX_CONTACT_QUERY_CHARS,
            description: 'Looks one address up: one entry or none.',
          }),
        ),
      }),
      response: record,
      handle: ({ caller, query }) =>
        query.email === undefined
          ? suppressions.list(caller.project, query)
          : suppressions.lookUp(caller.project, query.email, query),
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-suppressions',
      tag: TAG,
      summary: 'Suppress an address',
      description:
        'It gets no marketing mail of the project from now on, whatever list it is on. 200 for one that is suppressed already.',
      status: 201,
      also: { 200: 'It is suppressed already' },
      body: t.Object({ email: emailAddress() }),
      example: { email: 'left@example.com' },
      response: record,
      beside: toldDuplicate,
      handle: async ({ caller, body }) => {
        const { record: added, is_new } = await contacts.suppress(caller.project, body.email, caller.note);
        return new Reply(is_new ? 201 : 200, added, {}, is_new ? {} : { duplicate: true });
      },
    }),
    projectRoute({
      method: 'DELETE',
      path: '/email-suppressions/:suppression',
      tag: TAG,
      summary: 'Lift a suppression, whatever its reason',
      description:
        'The address may be added to lists again. Of a `hard_bounce`, contacts of it that bounced get the status that they ' +
        'had; of an `unsubscribed` or `complaint` one they keep theirs until the person signs up again by double opt-in. No ' +
        'key may do this: it is for whoever looks after the project, and stands on the audit trail.',
      response: record,
      handle: ({ ctx, caller }) =>
        suppressions.lift(caller.actor, caller.project, { id: ctx.params.suppression ?? '' }),
    }),
  ];
}
