/** Shapes of webhooks and their deliveries, for the API and the command line alike. */
import { MAX_DESCRIPTION_CHARS, MAX_URL_CHARS } from '../limits.ts';
import {
  changesOfFields,
  creationOf,
  moment,
  optional,
  present,
  preset,
  recordOf,
  required,
  shown,
} from '../platform/http/fields.ts';
import {
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
import { DELIVERY_STATUSES, DISABLED_REASONS, type WebhookRow } from './tables.ts';

/** What a webhook can be told of. */
export const EVENT_TYPES = [
  'object.created',
  'object.deleted',
  'email.sent',
  'email.failed',
  'email.bounced',
  'email.complained',
  'email.replied',
  'contact.subscribed',
  'contact.confirmed',
  'contact.unsubscribed',
  'contact.clicked',
  'contact.changed',
  'import.completed',
  'broadcast.sent',
  'sequence.completed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The type of what `test` sends. */
export const TEST_TYPE = 'webhook.test';

export const FIELDS = {
  id: shown(ulid()),
  url: required({
    ...webUrl(MAX_URL_CHARS),
    description:
      'An https address. Plain http, and addresses of private networks, only where SATCHEL_WEBHOOK_ALLOW has the host.',
  }),
  description: optional(null, text({ max: MAX_DESCRIPTION_CHARS }), {
    option: '--description <text>',
    says: 'what it is for',
  }),
  types: optional(
    null,
    t.Array(oneOf(EVENT_TYPES), {
      minItems: 1,
      maxItems: EVENT_TYPES.length,
      description: 'All unless given.',
    }),
    { option: '--types <types>', says: 'what it is told of, by commas', null_word: 'all' },
  ),
  is_active: shown(t.Boolean()),
  disabled_reason: shown(
    nullable(oneOf(DISABLED_REASONS)),
    'why it was switched off by itself: its receiver answered 410 (`gone`), or every try of three days failed (`failing`)',
  ),
  created_at: moment(),
  updated_at: moment(),
};
export const CHANGED_FIELDS = {
  ...FIELDS,
  url: { ...FIELDS.url, option: '--url <url>', says: 'where it leads' },
  is_active: preset(
    true,
    t.Boolean({
      description: 'True switches it on again, and drops what has waited for more than three days.',
    }),
    {
      option: '--on',
      says: 'switch it on; what has waited for more than three days is dropped',
      unset_option: '--off',
      unset: 'switch it off; while it is, nothing is kept for it',
    },
  ),
};

export const newWebhook = named('NewWebhook', creationOf(FIELDS));
export type NewWebhookInput = Static<typeof newWebhook>;
export const webhookChanges = changesOfFields(CHANGED_FIELDS);
export type WebhookChanges = Static<typeof webhookChanges>;
export const webhookRecord = named('Webhook', recordOf(FIELDS));
export type WebhookRecord = Static<typeof webhookRecord>;

export function presentWebhook(row: WebhookRow): WebhookRecord {
  return present(FIELDS, { ...row, id: row.public_id });
}

export const webhookWithSecret = named(
  'WebhookWithSecret',
  t.Object({
    ...webhookRecord.properties,
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

const answerRecord = t.Object({
  content_type: nullable(t.String()),
  body: nullable(
    t.String({
      description:
        'As UTF-8. Null for a read-only caller; of a host that only SATCHEL_WEBHOOK_ALLOW lets be reached, for all without `can_administer`.',
    }),
  ),
  is_cut: t.Boolean({ description: 'More than 64 KiB, or later than a second behind the head.' }),
});
export type AnswerRecord = Static<typeof answerRecord>;

export const deliveryDetails = named(
  'WebhookDeliveryDetails',
  t.Object({
    ...deliveryRecord.properties,
    body: nullable(t.String({ description: 'What is sent; null once it is forgotten.' })),
    last_try: {
      ...nullable(
        t.Object({
          at: dateTime(),
          ms: t.Integer({ description: 'Until the head of the answer, or until there was to be none.' }),
          url: t.String(),
          headers: t.Record(t.String(), t.String(), {
            description: 'As they went out, but for the signature where the caller is read-only.',
          }),
          answer: { ...nullable(answerRecord), description: 'Null where none came.' },
        }),
      ),
      description: 'Kept for a day, of the newest hundred deliveries of a webhook.',
    },
  }),
);
export type DeliveryDetails = Static<typeof deliveryDetails>;
