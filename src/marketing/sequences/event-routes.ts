/** Endpoints of product events. */
import { MAX_CONTACT_QUERY_CHARS } from '../../limits.ts';
import { Reply, type Route } from '../../platform/http/routes.ts';
import { dateTime, named, nullable, parse, t, text, ulid } from '../../platform/http/schema.ts';
import { marketingRoute, toldDuplicate } from '../marketing-route.ts';
import type { ContactEvents } from './events.ts';

/** Contract: events of one batch. */
const MAX_EVENT_BATCH = 100;

const TAG = 'Product events';

const event = named(
  'ContactEvent',
  t.Object({
    contact_token: t.Optional(
      nullable(text({ min: 1, max: 64, description: 'Or `email` together with `list`.' })),
    ),
    email: t.Optional(nullable(text({ min: 1, max: MAX_CONTACT_QUERY_CHARS }))),
    list: t.Optional(nullable(ulid())),
    event: text({ min: 1, max: 100, description: 'A lowercase slug of your choice.' }),
    occurred_at: t.Optional(
      nullable({
        ...dateTime(),
        description:
          'Default now; one ahead of now counts as now. Without a fraction it may have been at any moment of its second.',
      }),
    ),
    meta: t.Optional(nullable(t.Record(t.String(), t.Unknown()))),
  }),
);
const record = t.Object({
  contact_id: ulid(),
  event: t.String(),
  occurred_at: dateTime(),
  meta: nullable(t.Record(t.String(), t.Unknown())),
});

export function eventRoutes({ contact_events }: { contact_events: ContactEvents }): Route[] {
  return [
    ...marketingRoute({
      method: 'POST',
      path: '/email-contacts/events',
      tag: TAG,
      summary: 'Say what a contact did',
      description:
        'Conditions of sequences ask for events since the enrollment, and exit events end one at once. `clicked`, ' +
        '`unsubscribed`, `resubscribed` (taken back), `bounced`, `complained`, `confirmed` and `replied` are made by the service alone. One event of one ' +
        'name a contact: 200 with `duplicate` for a second one, whose time and `meta` are kept where it is later, and ' +
        'ends and satisfies as a first one does. 404 for an unknown token or address.',
      status: 201,
      also: { 200: 'It is known already: `duplicate` is true' },
      body: event,
      example: { email: 'ann@example.com', list: '01JYZ3NDEKTSV4RRFFQ69G5FAV', event: 'ordered' },
      response: record,
      beside: toldDuplicate,
      handle: async ({ caller, body }) => {
        const { record: made, is_duplicate } = await contact_events.record(caller.project.id, body);
        return is_duplicate ? new Reply(200, made, {}, { duplicate: true }) : made;
      },
    }),
    ...marketingRoute({
      method: 'POST',
      path: '/email-contacts/events/batch',
      tag: TAG,
      summary: 'Say what contacts did, many at once',
      description: 'Answers for each, in their order; one that is refused keeps no other back.',
      body: t.Object({
        events: t.Array(t.Unknown({ description: 'An event as the endpoint for one takes it.' }), {
          minItems: 1,
          maxItems: MAX_EVENT_BATCH,
        }),
      }),
      example: {
        events: [{ email: 'ann@example.com', list: '01JYZ3NDEKTSV4RRFFQ69G5FAV', event: 'ordered' }],
      },
      response: t.Array(
        t.Object({
          status: t.Integer(),
          duplicate: t.Optional(t.Boolean()),
          code: t.Optional(t.String()),
          message: t.Optional(t.String()),
        }),
      ),
      // Each is judged by itself, its form included.
      handle: ({ caller, body }) =>
        contact_events.recordAll(caller.project.id, body.events, (one) => parse(event, one)),
    }),
  ];
}
