/** Access tokens on the management plane: what a caller is; making, listing and revoking them. */
import { collectErrors, notFound } from '../../errors.ts';
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { capabilitiesIn, POWERS, requireGivable } from '../../platform/http/capabilities.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { managementRoute, type Route } from '../../platform/http/routes.ts';
import { type Static, t } from '../../platform/http/schema.ts';
import type { People } from '../people/service.ts';
import {
  type NewTokenInput,
  newTokenBody,
  tokenIntrospection,
  tokenRecord,
  tokenWithSecret,
} from './schemas.ts';
import type { Tokens } from './service.ts';

const tag = 'Tokens';

export function tokenRoutes({ tokens, people }: { tokens: Tokens; people: People }): Route[] {
  return [
    managementRoute({
      method: 'GET',
      path: '/token',
      tag,
      summary: 'What this token, or this person, is and may do',
      description: '`projects` is there only for who is scoped to projects. A person has no `token_prefix`.',
      response: tokenIntrospection,
      handle: ({ caller }) =>
        caller.kind === 'person' ? people.introspect(caller) : tokens.introspect(caller),
    }),
    ...recordRoutes(managementRoute, {
      path: '/tokens/:token',
      tag,
      needs: [ADMINISTER],
      shown: tokenRecord,
      load({ ctx }) {
        const id = ctx.params.token ?? '';
        if (!/^\d{1,15}$/.test(id) || !tokens.exists(Number(id))) throw notFound('Token');
        return Number(id);
      },
      list: {
        summary: 'Tokens, newest first',
        description:
          'Revoked and expired ones too. `created_by` is who made it. Those that were had by a trust are in `?trust=ID` alone.',
        query: t.Object({ ...pageQuery, trust: t.Optional(t.Integer({ minimum: 1 })) }),
        handle: ({ query }) => tokens.listPage(query),
      },
      create: {
        summary: 'Make a token',
        description:
          '`token` is shown this once. Nobody gives what they lack. Without `expires_at` or `expires_in_days` it lives 90 days, and 366 at ' +
          'most (the shell makes longer ones).',
        body: newTokenBody,
        example: { name: 'deploy', all_projects: true, can_read_vault: true, expires_in_days: 30 },
        response: tokenWithSecret,
        authorizeBody: ({ caller, sent }) => requireGivable(caller, sent),
        together: POWERS,
        errorsIn: ({ caller, body }) =>
          collectErrors(
            () => tokens.requireExpiry(body, caller),
            () => tokens.powersOfNew(readBody({ name: '', ...body }), caller),
          ),
        async handle({ ctx, caller, body }) {
          const { token, record } = await tokens.create(actorOf(caller, ctx.ip), readBody(body), caller);
          return { ...record, token };
        },
      },
      remove: {
        summary: 'Revoke a token',
        description: 'At once, and for good; it stays in the list.',
        handle: ({ ctx, caller, resource }) => tokens.revoke(actorOf(caller, ctx.ip), resource),
      },
    }),
  ];
}

function readBody(body: Static<typeof newTokenBody>): NewTokenInput {
  const {
    name,
    read_only,
    environments,
    all_projects = false,
    projects = [],
    expires_at,
    expires_in_days,
  } = body;
  return {
    name,
    all_projects,
    projects,
    capabilities: [...capabilitiesIn(body)],
    ...(read_only === undefined ? {} : { read_only }),
    ...(environments === undefined ? {} : { environments }),
    ...(expires_at === undefined ? {} : { expires_at }),
    ...(expires_in_days === undefined ? {} : { expires_in_days }),
  };
}
