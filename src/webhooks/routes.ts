/** Endpoints of webhooks: for whoever may see the project, and never for a key, which may stand in a page. */
import { pageQuery, paginateAll } from '../platform/http/pagination.ts';
import { recordRoutes } from '../platform/http/record-routes.ts';
import {
  type ProjectCaller,
  projectRoute,
  type RequestContext,
  type Route,
} from '../platform/http/routes.ts';
import { t } from '../platform/http/schema.ts';
import {
  deliveryDetails,
  deliveryRecord,
  newWebhook,
  presentWebhook,
  webhookChanges,
  webhookRecord,
  webhookWithSecret,
} from './schemas.ts';
import type { Webhooks } from './service.ts';

const tag = 'Webhooks';
const ONE = '/webhooks/:webhook';

export function webhookRoutes({ webhooks }: { webhooks: Webhooks }): Route[] {
  const load = ({ ctx, caller }: { ctx: RequestContext; caller: ProjectCaller }) =>
    webhooks.require(caller.project.id, ctx.params.webhook ?? '');
  return [
    ...recordRoutes(projectRoute, {
      path: ONE,
      tag,
      shown: webhookRecord,
      load,
      errorsIn: ({ body }) => webhooks.errorsIn(body),
      list: {
        summary: 'The webhooks of a project, newest first',
        query: t.Object(pageQuery),
        handle: ({ caller, query }) => paginateAll(query, webhooks.list(caller.project.id)),
      },
      create: {
        summary: 'Have a URL told of what happens',
        description:
          'By the Standard Webhooks specification: a POST of `{type, timestamp, data}` with `webhook-id`, `webhook-timestamp` ' +
          'and `webhook-signature`. `data` is the record as GET answers it, at the moment of the event; a contact comes without its ' +
          '`contact_token`. A 2xx answer within 15 s takes it; 410 switches the webhook off; anything else, a redirect too, is ' +
          'tried again after 5 s, 5 and 30 min, 2, 5, 10, 14, 20 and 24 h. Something may arrive twice, with the same id, and in any ' +
          'order. It is told of what happens from now on.',
        body: newWebhook,
        example: {
          url: 'https://shop.example.com/hooks/satchel',
          types: ['email.bounced', 'contact.unsubscribed'],
          description: 'The shop',
        },
        response: webhookWithSecret,
        handle: ({ caller, body }) => webhooks.create(caller.project, body, caller.note),
      },
      read: { summary: 'A webhook', handle: ({ resource }) => presentWebhook(resource) },
      change: {
        summary: 'Change a webhook, or switch it on or off',
        description:
          'While it is off nothing is kept for it; what waited then goes out once it is on again, unless it has waited for more than ' +
          'three days. One whose every try of three days failed is switched off by itself (`disabled_reason`).',
        body: webhookChanges,
        example: { is_active: true },
        handle: ({ caller, body, resource }) =>
          webhooks.change(caller.project, resource.public_id, body, caller.note),
      },
      remove: {
        summary: 'Delete a webhook',
        description: 'What waits for it is not sent.',
        handle: ({ caller, resource }) => webhooks.remove(caller.project, resource.public_id, caller.note),
      },
    }),
    ...deliveryRoutes(webhooks, load),
  ];
}

function deliveryRoutes(
  webhooks: Webhooks,
  load: (input: { ctx: RequestContext; caller: ProjectCaller }) => ReturnType<Webhooks['require']>,
): Route[] {
  return [
    projectRoute({
      method: 'POST',
      path: `${ONE}/test`,
      tag,
      summary: 'Send a test message now',
      description:
        'Of the type `webhook.test`, with the webhook as `data`; once, also while it is off. Answers what came of it, after 15 s at most.',
      response: deliveryRecord,
      load,
      handle: ({ caller, resource }) => webhooks.test(caller.project, resource.public_id, caller.note),
    }),
    projectRoute({
      method: 'POST',
      path: `${ONE}/rotate`,
      tag,
      summary: 'Give it a new secret',
      description: 'The former one signs as well for 24 hours, so that a receiver has time to change.',
      response: webhookWithSecret,
      load,
      handle: ({ caller, resource }) => webhooks.rotate(caller.project, resource.public_id, caller.note),
    }),
    projectRoute({
      method: 'GET',
      path: `${ONE}/deliveries`,
      tag,
      summary: 'Its deliveries, newest first',
      description: 'Those of 30 days. `id` is what the receiver got as `webhook-id`.',
      query: t.Object(pageQuery),
      response: t.Array(deliveryRecord),
      load,
      handle: ({ query, resource }) => webhooks.listDeliveries(resource, query),
    }),
    projectRoute({
      method: 'GET',
      path: `${ONE}/deliveries/:delivery`,
      tag,
      summary: 'A delivery, with what is sent and what came of its last try',
      response: deliveryDetails,
      load,
      handle: ({ ctx, caller, resource }) =>
        webhooks.getDelivery(resource, ctx.params.delivery ?? '', caller.manager),
    }),
    projectRoute({
      method: 'POST',
      path: `${ONE}/deliveries/:delivery/replay`,
      tag,
      summary: 'Send a delivery once more',
      description:
        'With the same id and body, a fresh timestamp and a new series of tries; one that waits is tried now.',
      response: deliveryRecord,
      load,
      handle: ({ ctx, caller, resource }) =>
        webhooks.replay(caller.project, resource.public_id, ctx.params.delivery ?? '', caller.note),
    }),
  ];
}
