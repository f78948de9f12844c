/** Where providers of relays tell what became of mail. Who does is told by the address, and by its signature. */
import { failureMessage } from '../../platform/http/answers.ts';
import { type Dialect, foreignRoute } from '../../platform/http/foreign.ts';
import type { Route } from '../../platform/http/routes.ts';
import type { RelayEventIntake } from './intake.ts';
import type { RelayEvents } from './service.ts';

/** Where an answer says no other time. */
const RETRY_AFTER_S = '30';

const DIALECT: Dialect = {
  prefix: '/relay-events',
  fail(error) {
    // Brevo gives up at a 5xx. All send again after a 429.
    const status = error.status >= 500 ? 429 : error.status;
    const headers = new Headers(status === 429 ? { 'Retry-After': RETRY_AFTER_S } : {});
    return Response.json({ message: failureMessage(error) }, { status, headers });
  },
};

export function relayEventRoutes({
  relay_events,
  relay_event_intake,
}: {
  relay_events: Pick<RelayEvents, 'requireByToken'>;
  relay_event_intake: RelayEventIntake;
}): Route[] {
  return [
    foreignRoute({
      dialect: DIALECT,
      method: 'POST',
      path: '/:token',
      tag: 'Mailboxes',
      summary: "What a relay's provider tells of mail",
      who: null,
      load: ({ ctx }) => relay_events.requireByToken(ctx.params.token ?? ''),
      async handle({ ctx, resource }) {
        await relay_event_intake.take(resource, ctx.request);
        // Mailgun repeats what is answered by 204.
        return {};
      },
    }),
  ];
}
