/** What all endpoints of email marketing have in common. */
import { forbidden } from '../errors.ts';
import { refuseRestricted } from '../platform/http/callers.ts';
import {
  type BothPlanesSpec,
  bothPlanes,
  type ProjectCaller,
  type RequestContext,
  type Route,
} from '../platform/http/routes.ts';
import { type TSchema, t } from '../platform/http/schema.ts';

/** What stands beside the record of what may be there already. */
export const toldDuplicate = {
  duplicate: t.Optional(t.Literal(true, { description: 'There where it was known already.' })),
};

/**
 * An endpoint of email marketing on both planes. It refuses restricted keys, which anybody can read in a page
 * or an app.
 */
export function marketingRoute<Q extends TSchema, B extends TSchema, R>(
  spec: Omit<BothPlanesSpec<Q, B, R>, 'needs' | 'family' | 'authorize'>,
): [Route, Route] {
  return bothPlanes<Q, B, R>({
    ...spec,
    needs: ['email_marketing'],
    family: 'wrapped',
    authorize: ({ ctx, caller }) => refuseForms(ctx, caller),
  });
}

function refuseForms(ctx: RequestContext, caller: ProjectCaller): void {
  if (!caller.key) return;
  refuseRestricted(caller.key);
  if (ctx.request.headers.has('origin'))
    throw forbidden(
      'Email marketing is for servers: this request carries an Origin, so it comes from a browser. Only subscribe is for browsers.',
    );
}
