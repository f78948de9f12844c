/** Shapes of webhooks and their deliveries, for the API and the command line alike. */
import { MAX_DESCRIPTION_CHARS, MAX_URL_CHARS } from '../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  oneOf,
  type Static,
  t,
  text,
  ulid,
  webUrl,
} from '../platform/http/schema.ts';
import { DELIVERY_STATUSES, DISABLED_REASONS, EVENT_TYPES } from './tables.ts';

/** The type of what `test` sends. */
export const TEST_TYPE = 'webhook.test';

const fields = {
  url: {
    ...webUrl(MAX_URL_CHARS),
    description:
      'An https address. Plain http, and addresses of private networks, only where SATCHEL_WEBHOOK_ALLOW has the host.',
  },
  description: text({ max: MAX_DESCRIPTION_CHARS }),
  types: t.Array(oneOf(EVENT_TYPES), {
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    description: 'All unless given.',
  }),
};

export const newWebhook = named(
  'NewWebhook',
  t.Object({
    url: fields.url,
    types: t.Optional(fields.types),
    description: t.Optional(fields.description),
  }),
);
export type NewWebhookInput = Static<typeof newWebhook>;

export const webhookChanges = changesOf({
  url: fields.url,
  description: nullable(fields.description),
  types: nullable(fields.types),
  is_active: t.Boolean({
    description: 'True switches it on again, and drops what has waited for more than three days.',
  }),
});
export type WebhookChanges = Static<typeof webhookChanges>;

const record = {
  id: ulid(),
  url: t.String({ format: 'uri' }),
  description: nullable(t.String()),
  types: nullable(t.Array(oneOf(EVENT_TYPES))),
  is_active: t.Boolean(),
  disabled_reason: {
    ...nullable(oneOf(DISABLED_REASONS)),
    description:
      'Why it was switched off by itself: its receiver answered 410 (`gone`), or every try of three days failed (`failing`).',
  },
  created_at: dateTime(),
  updated_at: dateTime(),
};
export const webhookRecord = named('Webhook', t.Object(record));
export type WebhookRecord = Static<typeof webhookRecord>;

export const webhookWithSecret = named(
  'WebhookWithSecret',
  t.Object({
    ...record,
    secret: t.String({ description: 'It signs what is sent, and is shown this once.' }),
  }),
);
export type WebhookWithSecret = Static<typeof webhookWithSecret>;

export const deliveryRecord = named(
  'WebhookDelivery',
  t.Object({
    id: ulid(),
    type: t.String(),
    status: oneOf(DELIVERY_STATUSES),
    attempts: t.Integer(),
    next_at: { ...nullable(dateTime()), description: 'Null while its webhook is switched off, too.' },
    response_status: nullable(t.Integer()),
    error: nullable(t.String()),
    created_at: dateTime(),
  }),
);
export type DeliveryRecord = Static<typeof deliveryRecord>;
