/** Trusts on the management plane, and the exchange of an OIDC token for an access token. */
import { collectErrors } from '../../errors.ts';
import { ADMINISTER, actorOf } from '../../platform/http/callers.ts';
import { POWERS, requireGivable } from '../../platform/http/capabilities.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import { exchangeRoute, managementRoute, type Route } from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import { MAX_EXCHANGE_BYTES, type TokenExchange } from './exchange.ts';
import { exchangedToken, newTrust, tokenExchange, trustRecord } from './trust-schemas.ts';
import type { TokenTrusts } from './trusts.ts';

const tag = 'Tokens';

export function tokenTrustRoutes({
  token_trusts,
  token_exchange,
}: {
  token_trusts: TokenTrusts;
  token_exchange: TokenExchange;
}): Route[] {
  return [
    ...recordRoutes(managementRoute, {
      path: '/token-trusts/:trust',
      tag,
      needs: [ADMINISTER],
      shown: trustRecord,
      load: ({ ctx }) => token_trusts.require(ctx.params.trust ?? ''),
      list: {
        summary: 'Trusts, newest first',
        description: 'Whose OIDC tokens are changed for access tokens. `last_refused` says why one was not.',
        query: t.Object(pageQuery),
        handle: ({ query }) => token_trusts.list(query),
      },
      create: {
        summary: 'Trust an issuer',
        description:
          'Whoever has an OIDC token of the issuer that fits gets an access token for these projects. Nobody gives what they lack, and ' +
          'nobody `can_administer`. 409 where the name is taken.',
        body: newTrust,
        example: {
          name: 'ci',
          issuer: 'https://token.actions.githubusercontent.com',
          subject: 'repo:acme/shop:ref:refs/heads/main',
          projects: ['shop'],
          can_read_vault: true,
          can_reveal_vault: true,
        },
        authorizeBody: ({ caller, sent }) => requireGivable(caller, sent),
        together: POWERS.filter((each) => each !== 'all_projects'),
        errorsIn: ({ caller, body }) => ({
          ...collectErrors(() =>
            token_trusts.powersOf({ name: '', issuer: '', subject: '', projects: [], ...body }, caller),
          ),
          ...token_trusts.errorsIn(body),
        }),
        handle: ({ ctx, caller, body }) => token_trusts.add(actorOf(caller, ctx.ip), body, caller),
      },
      remove: {
        summary: 'Trust no more',
        description: 'Its tokens end at once.',
        response: t.Object({ deleted: t.Literal(true) }),
        handle: ({ ctx, caller, resource }) => token_trusts.remove(actorOf(caller, ctx.ip), resource),
      },
    }),
    exchangeRoute({
      method: 'POST',
      path: '/token/exchange',
      tag,
      summary: 'Get an access token for an OIDC token',
      description:
        'For machines that prove who they are, such as jobs of a CI: no credential is needed but the token. Why one was refused stands on ' +
        'the audit trail and in `last_refused` of the trust.',
      also: {
        401: 'Nothing is trusted that fits the token (`INVALID_ACCESS_TOKEN`)',
        429: 'Your network had 30 refusals in a quarter of an hour',
        503: "The issuer's keys can't be had",
      },
      status: 201,
      max_body_bytes: MAX_EXCHANGE_BYTES,
      body: tokenExchange,
      example: { token: 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJyZXBvOmFjbWUvc2hvcDpyZWYifQ.c2lnbmF0dXJl' },
      response: exchangedToken,
      handle: ({ ctx, body }) => token_exchange.exchange(body, ctx.ip),
    }),
  ];
}
