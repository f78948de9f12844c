/** Shapes of what clients send to have mail sent, and of what they get. */
import {
  MAX_ADDRESS_CHARS,
  MAX_ATTACHMENTS,
  MAX_COPIES,
  MAX_DISPLAY_NAME_CHARS,
  MAX_DNS_NAME_CHARS,
  MAX_NAME_CHARS,
  MAX_SUBJECT_CHARS,
} from '../../limits.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import {
  dateTime,
  emailAddress,
  named,
  nullable,
  oneOf,
  type Static,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { EMAIL_SOURCES, EMAIL_STATUSES, type EmailSource } from './tables.ts';

/** Decision: emails of one batch. */
export const MAX_BATCH_EMAILS = 100;

/**
 * Mail that waits without jobs of its own, goes out in pieces, and is tried for a period, as nobody waits for
 * it.
 */
export const BULK_SOURCES = ['sequence', 'broadcast'] as const satisfies readonly EmailSource[];

export function isBulk(source: EmailSource): source is (typeof BULK_SOURCES)[number] | 'mailgun_bulk' {
  return source === 'mailgun_bulk' || BULK_SOURCES.some((bulk) => bulk === source);
}

/** Mail whose message came whole, and is sent as it came; but what has a `merge` is rendered. */
export const WHOLE_SOURCES: readonly EmailSource[] = ['smtp', 'resend', 'mailgun'];

/** An attachment as it was at acceptance; its object may be gone by now. */
export interface AttachmentRecord {
  public_id: string;
  filename: string;
  mime_type: string;
  size_bytes: number;
}

/** An attachment as the log keeps it, which is more than clients see. */
export interface StoredAttachment extends AttachmentRecord {
  /** As the object's. */
  is_utf8?: true;
  /** By which the HTML names it, where it stands in that. */
  content_id?: string;
}

/** A recipient that a relay would not take, with its words. */
export interface RefusedRecord {
  address: string;
  smtp_code: number | null;
  response: string;
  /** What a refusal for good is about; null for one that might have passed. */
  about: 'recipient' | 'full' | 'mailbox' | 'message' | null;
}

/** Of which some stand for the others. */
export const CONTENT_FIELDS = ['template', 'subject', 'body_html', 'body_text'] as const;

export const sendBody = named(
  'NewEmail',
  t.Object({
    to: emailAddress(),
    to_name: t.Optional(text({ max: MAX_DISPLAY_NAME_CHARS })),
    subject: t.Optional(
      text({ max: MAX_SUBJECT_CHARS, description: 'Required unless `template` is given.' }),
    ),
    body_html: t.Optional(
      t.String({ description: 'One of the two bodies is required unless `template` is given.' }),
    ),
    body_text: t.Optional(t.String()),
    template: t.Optional(
      text({
        min: 1,
        max: MAX_NAME_CHARS,
        description: 'Slug of a template; it replaces subject and bodies.',
      }),
    ),
    variables: t.Optional(
      t.Record(t.String(), t.Unknown(), {
        description:
          'Values of its placeholders. Send a number whose digits matter, such as 1.10, as a string.',
      }),
    ),
    from_name: t.Optional(text({ max: MAX_DISPLAY_NAME_CHARS })),
    cc: t.Optional(t.Array(emailAddress(), { maxItems: MAX_COPIES })),
    bcc: t.Optional(t.Array(emailAddress(), { maxItems: MAX_COPIES })),
    reply_to: t.Optional(emailAddress()),
    attachments: t.Optional(
      t.Array(ulid(), { maxItems: MAX_ATTACHMENTS, description: 'Ids of objects uploaded earlier.' }),
    ),
    domain: t.Optional(
      text({
        min: 1,
        max: MAX_DNS_NAME_CHARS,
        description: 'A sending domain; the default with fallback unless given.',
      }),
    ),
    from: t.Optional({
      ...emailAddress(),
      description: 'The address of a mailbox; the mail goes out from it or not at all.',
    }),
    queue: t.Optional(t.Boolean({ description: 'False sends while the client waits. Default true.' })),
    scheduled_at: t.Optional(dateTime()),
  }),
);
export type SendBody = Static<typeof sendBody>;

/** One email of a batch. */
export const batchEmail = named(
  'NewBatchEmail',
  t.Object({
    ...sendBody.properties,
    queue: t.Optional(t.Literal(true, { description: 'All emails of a batch are queued.' })),
  }),
);

export const batchBody = t.Object({
  // Each is validated by itself, so that all are told what is wrong with them; see batches.ts.
  emails: t.Array(t.Unsafe<unknown>(t.Any(batchEmail)), { minItems: 1, maxItems: MAX_BATCH_EMAILS }),
});

export const batchResult = named(
  'BatchResult',
  t.Object({ id: ulid(), status: oneOf(['queued', 'scheduled']), job_id: ulid() }),
);
export type BatchResult = Static<typeof batchResult>;

export const sendResult = named(
  'SendResult',
  t.Object({
    id: ulid(),
    status: oneOf(EMAIL_STATUSES),
    from_email: t.String(),
    domain: t.String(),
    job_id: ulid(),
    status_url: t.String({ format: 'uri' }),
    scheduled_at: nullable(dateTime()),
    sent_at: nullable(dateTime()),
  }),
);
export type SendResult = Static<typeof sendResult>;

/** Which mails of the log. */
export const emailLogQuery = t.Object({
  status: t.Optional(oneOf(EMAIL_STATUSES)),
  to: t.Optional(
    text({ min: 1, max: MAX_ADDRESS_CHARS, description: "Beginning of the recipient's address." }),
  ),
  template: t.Optional(text({ min: 1, max: MAX_NAME_CHARS })),
  date_from: t.Optional(t.String({ format: 'date-time', description: 'Accepted at or after.' })),
  date_to: t.Optional(t.String({ format: 'date-time', description: 'Accepted before.' })),
});
export type EmailLogQuery = Static<typeof emailLogQuery>;
/** Which failed mails are to be tried again. Closed: without a field that was misspelt it would fit more than was asked for. */
const { status: _, ...ofFailed } = emailLogQuery.properties;
export const retryBody = t.Object(
  {
    ...ofFailed,
    dry_run: t.Optional(t.Boolean({ description: 'Queues none, and tells the numbers.' })),
  },
  { additionalProperties: false },
);
export type RetryBody = Static<typeof retryBody>;
export const emailListQuery = t.Object({ ...pageQuery, ...emailLogQuery.properties });
export type EmailListQuery = Static<typeof emailListQuery>;

/** Whether Mailgun's goes as bulk mail, `job_id` tells. */
const SHOWN_SOURCES = EMAIL_SOURCES.filter(
  (source): source is Exclude<EmailSource, 'mailgun_bulk'> => source !== 'mailgun_bulk',
);

const moment = () => nullable(dateTime());

export const emailRecord = named(
  'Email',
  t.Object({
    id: ulid(),
    project_id: ulid(),
    job_id: nullable(ulid()),
    source: oneOf(SHOWN_SOURCES),
    status: oneOf(EMAIL_STATUSES),
    from_email: t.String(),
    from_name: nullable(t.String()),
    domain: t.String(),
    to: t.String(),
    to_name: nullable(t.String()),
    cc: t.Array(t.String()),
    bcc: t.Array(t.String()),
    reply_to: nullable(t.String()),
    subject: t.String(),
    template: nullable(t.String()),
    attachments: t.Array(
      t.Object({ public_id: ulid(), filename: t.String(), mime_type: t.String(), size_bytes: t.Integer() }),
    ),
    message_id: t.String(),
    attempts: t.Integer(),
    smtp_code: nullable(t.Integer()),
    smtp_response: nullable(t.String()),
    bounce_type: nullable(oneOf(['permanent', 'transient'])),
    refused: t.Array(
      t.Object({
        address: t.String(),
        smtp_code: nullable(t.Integer()),
        response: t.String(),
        about: nullable(oneOf(['recipient', 'full', 'mailbox', 'message'])),
      }),
      {
        description:
          'Recipients that no relay would take, with its words. `about` is what a refusal for good speaks of: the `recipient`, whose mailbox may be `full`, the `mailbox` that it came from, or the `message`; null where it might have passed.',
      },
    ),
    error: nullable(t.String()),
    captured: t.Boolean({
      description: 'Kept here in place of being sent: by a capturing mailbox, or for a test key.',
    }),
    app_id: nullable(t.String()),
    ip: nullable(t.String()),
    user_agent: nullable(t.String()),
    created_at: dateTime(),
    scheduled_at: moment(),
    queued_at: moment(),
    sent_at: moment(),
    delivered_at: moment(),
    opened_at: moment(),
    clicked_at: moment(),
    bounced_at: moment(),
    complained_at: moment(),
    failed_at: moment(),
    replied_at: {
      ...moment(),
      description: 'When the first reply of a person came to the inbox of its mailbox.',
    },
  }),
);
export type EmailRecord = Static<typeof emailRecord>;

export const emailContent = named(
  'EmailContent',
  t.Object({
    is_kept: t.Boolean({
      description: 'False once its content is no longer kept; both bodies are null then.',
    }),
    headers: t.Array(t.Object({ name: t.String(), value: t.String() })),
    body_html: nullable(t.String()),
    body_text: nullable(t.String()),
    attachments: t.Array(
      t.Object({
        public_id: nullable(ulid()),
        filename: t.String(),
        mime_type: t.String(),
        size_bytes: t.Integer(),
      }),
    ),
    size_bytes: nullable(
      t.Integer({
        description: 'Of the whole message, where that came by SMTP, or by the API of Resend or Mailgun.',
      }),
    ),
  }),
);
export type EmailContent = Static<typeof emailContent>;
