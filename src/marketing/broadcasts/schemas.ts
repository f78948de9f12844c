/** Shapes of requests and answers about broadcasts. */
import { MAX_NAME_CHARS, MAX_PREHEADER_CHARS } from '../../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { OPENED_BY_MACHINE } from '../mails/service.ts';
import { BROADCAST_STATUSES, contact_filter, LEFT_OUT_REASONS, PAUSE_REASONS } from './service.ts';

const name = text({ min: 1, max: MAX_NAME_CHARS });
const template = text({ min: 1, max: MAX_NAME_CHARS, description: 'Slug of a marketing template.' });
const variables = t.Record(t.String(), t.Unknown(), {
  description: 'Values of placeholders, the same for everybody.',
});
const preheader = text({
  min: 1,
  max: MAX_PREHEADER_CHARS,
  description:
    'What inboxes show behind the subject. It may have placeholders; hidden in the HTML, in no text part.',
});
const track_opens = t.Boolean();

export const creation = named(
  'NewBroadcast',
  t.Object({
    name,
    list: ulid(),
    ...optionals({ template, preheader, filter: contact_filter, variables, track_opens }),
  }),
);
export const changes = named(
  'BroadcastChanges',
  changesOf({
    name,
    list: ulid(),
    ...nullables({
      template,
      preheader,
      filter: contact_filter,
      send_at: {
        ...dateTime(),
        description: 'Of one that is scheduled: another time, or null, which makes it a draft again.',
      },
    }),
    variables,
    track_opens,
  }),
);
export const sending = t.Object({
  send_at: t.Optional(
    nullable({
      ...dateTime(),
      description: 'When sending begins; without a zone it is UTC. At once unless given.',
    }),
  ),
});

const counter = t.Integer();
const left_out = named(
  'LeftOut',
  t.Object({
    total: counter,
    by_reason: t.Object(Object.fromEntries(LEFT_OUT_REASONS.map((reason) => [reason, counter])), {
      description: '`no_value`: a merge field of the mail has no value for them.',
    }),
  }),
);

export const record = named(
  'Broadcast',
  t.Object({
    id: ulid(),
    name: t.String(),
    list: ulid(),
    template: nullable(t.String()),
    preheader: nullable(t.String()),
    variables: t.Record(t.String(), t.String()),
    filter: nullable(contact_filter),
    status: oneOf(BROADCAST_STATUSES),
    pause_reason: nullable(oneOf(PAUSE_REASONS)),
    is_test: t.Boolean({
      description: 'Sent by a test key: all its mail is captured, and counts nowhere.',
    }),
    send_at: nullable(dateTime()),
    started_at: nullable(dateTime()),
    finished_at: { ...nullable(dateTime()), description: 'When its last mail ended, or it was cancelled.' },
    track_opens,
    recipients: {
      ...nullable(counter),
      description: 'How many were to get it when sending began; null before.',
    },
    left_out,
    stats: named(
      'BroadcastStats',
      t.Object({
        to_come: t.Integer({
          description: 'People who had no turn yet: 0 before sending begins, and once it ended.',
        }),
        waiting: t.Integer({ description: 'Mails that wait for their relay.' }),
        sent: t.Integer({
          description: 'Mails that a relay took. With `lost` and `waiting` it is all that were made.',
        }),
        lost: t.Integer({ description: 'Mails that no relay took, or that were taken back.' }),
        clicked: counter,
        opened: counter,
        opened_by_machine: t.Integer({ description: OPENED_BY_MACHINE }),
        bounced: counter,
        complained: counter,
        unsubscribed: counter,
      }),
    ),
    links: t.Array(
      t.Object({
        url: t.String(),
        people: t.Integer({ description: 'How many followed it.' }),
        clicks: t.Integer({ description: 'How often they did; scanners count nowhere.' }),
      }),
      { description: 'Of the mail, once sending began.' },
    ),
    created_at: dateTime(),
    updated_at: {
      ...dateTime(),
      description: 'When somebody changed it last; its numbers change by themselves.',
    },
  }),
);

/** Fields that change by themselves. */
export const UNVERSIONED = [
  'status',
  'pause_reason',
  'started_at',
  'finished_at',
  'recipients',
  'left_out',
  'stats',
  'links',
] as const;

export const check = t.Object({
  ready: t.Boolean(),
  captured: t.Boolean({
    description: 'All mailboxes of its marketing capture: nobody gets its mail, and no DNS is asked.',
  }),
  problems: t.Array(t.Object({ code: t.String(), message: t.String() })),
  recipients: t.Integer({ description: 'How many would get it now.' }),
  left_out,
});

export const preview = named(
  'BroadcastPreview',
  t.Object({
    subject: t.String(),
    preheader: nullable(t.String()),
    body_html: nullable(t.String()),
    body_text: nullable(t.String()),
    missing: t.Array(t.String(), { description: 'Placeholders that there is no value for.' }),
  }),
);

export const recipient = named(
  'BroadcastRecipient',
  t.Object({
    contact_id: t.String({ description: 'Empty once the contact is gone.' }),
    email: t.String(),
    email_id: { ...nullable(ulid()), description: 'Null for one who was left out.' },
    status: t.String({ description: 'That of the mail in the log, or `left_out`.' }),
    reason: {
      ...nullable(t.String()),
      description:
        'Why somebody was left out, as in `left_out.by_reason`; else what the log says of a mail that failed.',
    },
    clicked_at: nullable(dateTime()),
  }),
);

export const timeline = t.Object({
  timeline: t.Array(
    t.Object({
      at: dateTime(),
      unit: oneOf(['hour', 'day']),
      sent: counter,
      clicked: counter,
      opened: counter,
      opened_by_machine: counter,
    }),
    { description: 'By the hour for two days from its start, then by UTC days.' },
  ),
});
