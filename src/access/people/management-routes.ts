/** People on the management plane, for whoever may administer. */
import { collectErrors } from '../../errors.ts';
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { POWERS, requireGivable } from '../../platform/http/capabilities.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { managementRoute, type RequestContext, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import type { Invitations } from './invitations.ts';
import * as schemas from './schemas.ts';
import type { People } from './service.ts';

const needs = [ADMINISTER] as const;
const tag = 'People';
const PERSON = '/people/:person';
const NAMED_BY = '`person` is an id or an address.';
const LINK =
  '`link` sets the password: it is good once, for 24 hours, and void when a newer one is made. With `send: true` it is mailed from the default domain, once, and is in no answer: `sent`, or the words of the relay. 409 `no_mailbox` or `public_url` before anything is made.';

export function peopleManagementRoutes({
  people,
  invitations,
}: {
  people: People;
  invitations: Invitations;
}): Route[] {
  const load = ({ ctx }: { ctx: RequestContext }) => people.require(ctx.params.person ?? '');
  return [
    ...recordRoutes(managementRoute, {
      path: PERSON,
      tag,
      needs,
      shown: schemas.personRecord,
      load,
      together: POWERS,
      list: {
        summary: 'People, newest first',
        query: t.Object(pageQuery),
        handle: ({ query }) => people.list(query),
      },
      create: {
        summary: 'Add a person',
        description: `${LINK} Nobody gives what they lack.`,
        body: schemas.newPerson,
        example: { email: 'ann@example.com', name: 'Ann', can_read_vault: true, all_projects: true },
        response: schemas.personMade,
        authorizeBody: ({ caller, sent }) => requireGivable(caller, sent),
        errorsIn: ({ caller, body }) => collectErrors(() => people.powersOfNew(caller, body)),
        handle: ({ ctx, caller, body }) => invitations.add(actorOf(caller, ctx.ip), caller, body),
      },
      read: {
        summary: 'Read a person',
        description: NAMED_BY,
        unversioned: ['last_sign_in_at', 'tokens'],
        handle: ({ resource }) => people.present(resource),
      },
      change: {
        summary: 'Change a person',
        description:
          `${NAMED_BY} It holds from their next request; \`is_active: false\` signs them out. Nobody gives what they lack, which in projects new ` +
          'to somebody is all that they can there, nor takes anything from, deactivates, lets in again or changes the address of ' +
          'somebody who has more than they have. `projects` alone takes `all_projects` away. ' +
          'With `is_active: false` the answer has `tokens`, how many of theirs are still good, and `revoke_tokens: true` ends these.',
        body: schemas.personChanges,
        example: { can_read_vault: true },
        errorsIn: ({ caller, body, resource }) =>
          collectErrors(
            () => people.requireEnd(body),
            () => people.powersAfter(caller, resource, body),
          ),
        handle: ({ ctx, caller, body, resource }) =>
          people.change(actorOf(caller, ctx.ip), caller, resource, body),
      },
      remove: {
        summary: 'Remove a person',
        description:
          `${NAMED_BY} Their sessions end at once; what they did stays on record. ` +
          '`tokens` is how many of theirs are still good; `revoke_tokens: true` ends them. 403 for somebody who has more than the caller.',
        body: schemas.removalBody,
        example: { revoke_tokens: true },
        response: schemas.removedPerson,
        handle: ({ ctx, caller, body, resource }) =>
          people.remove(actorOf(caller, ctx.ip), caller, resource, body),
      },
    }),
    managementRoute({
      method: 'POST',
      path: `${PERSON}/reset`,
      needs,
      tag,
      summary: "Reset a person's password",
      description:
        `${NAMED_BY} The old password stops and every session ends at once; with \`totp: true\` the second step is off too. ` +
        `${LINK} 403 for somebody who has more than the caller.`,
      body: schemas.resetBody,
      example: { totp: false },
      response: schemas.personMade,
      load,
      handle: ({ ctx, caller, body, resource }) =>
        invitations.reset(actorOf(caller, ctx.ip), caller, resource, body),
    }),
  ];
}
