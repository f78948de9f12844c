/** Shapes of requests and answers about sequences, their steps and enrollments. */
import {
  MAX_CONTACT_IDS,
  MAX_NAME_CHARS,
  MAX_PREHEADER_CHARS,
  MAX_RECIPIENTS,
  MAX_SEQUENCE_NAMES,
  MAX_STEPS,
  MAX_TAG_CHARS,
} from '../../limits.ts';
import {
  changesOf,
  dateTime,
  named,
  nullable,
  oneOf,
  optionals,
  t,
  text,
  ulid,
} from '../../platform/http/schema.ts';
import { contact_filter } from '../contacts/service.ts';
import { OPENED_BY_MACHINE } from '../mails/service.ts';
import { ENROLLMENT_STATES, PAUSE_REASONS, SEQUENCE_STATUSES } from './service.ts';

const condition = t.Record(t.String(), t.Unknown(), {
  description:
    '`{type, event?, of?, else?}`: type is always, clicked, not_clicked, event, no_event (both with `event`) or all (with ' +
    '`of`, an array of conditions). `else` is skip (default), exit, or `{route_to}` with a track.',
});
export const step = named(
  'NewStep',
  t.Object({
    key: text({ min: 1, max: 100, description: 'Names the step within its sequence.' }),
    track: t.Optional(text({ min: 1, max: 100, description: 'Default main.' })),
    position: t.Optional(
      t.Integer({ minimum: 0, description: 'Order within the track; default that of the array.' }),
    ),
    template: text({ min: 1, max: MAX_NAME_CHARS, description: 'Slug of a marketing template.' }),
    delay_hours: t.Optional(
      t.Integer({
        description:
          'Counts from the moment at which a relay took the mail of the step before, or its attempts ended.',
      }),
    ),
    variables: t.Optional(t.Record(t.String(), t.Unknown())),
    preheader: t.Optional(
      text({
        min: 1,
        max: MAX_PREHEADER_CHARS,
        description:
          'What inboxes show behind the subject. It may have placeholders; hidden in the HTML, in no text part.',
      }),
    ),
    condition: t.Optional(condition),
    is_final: t.Optional(t.Boolean({ description: 'Each track ends in exactly one.' })),
  }),
);
const steps = t.Array(step, { maxItems: MAX_STEPS });
const names = t.Array(text({ min: 1, max: MAX_TAG_CHARS }), { maxItems: MAX_SEQUENCE_NAMES });
const name = text({ min: 1, max: MAX_NAME_CHARS });
const max_recipients = t.Integer({
  minimum: 1,
  maximum: MAX_RECIPIENTS,
  description: 'As many contacts are ever enrolled.',
});
const optional = {
  exit_events: names,
  enroll_tags: names,
  auto_enroll_new_contacts: t.Boolean(),
  track_opens: t.Boolean(),
  steps,
};
export const creation = named(
  'NewSequence',
  t.Object({ name, list: ulid(), max_recipients, ...optionals(optional) }),
);
export const changes = named(
  'SequenceChanges',
  changesOf({ name, list: ulid(), max_recipients, ...optional }),
);

const counter = t.Integer();
const numbers = named(
  'SequenceNumbers',
  t.Object({
    enrolled: counter,
    active: counter,
    completed: counter,
    exited: counter,
    failed: counter,
    sent: t.Integer({
      description: 'Mails that a relay took. With `lost` and `waiting` it is all that were made.',
    }),
    lost: t.Integer({ description: 'Mails that no relay took, or that were taken back.' }),
    waiting: t.Integer({ description: 'Mails that wait for their relay.' }),
    clicked: counter,
    opened: counter,
    opened_by_machine: t.Integer({ description: OPENED_BY_MACHINE }),
    bounced: counter,
    complained: counter,
    unsubscribed: counter,
  }),
);

export const record = named(
  'Sequence',
  t.Object({
    id: ulid(),
    name: t.String(),
    list: ulid(),
    status: oneOf(SEQUENCE_STATUSES),
    pause_reason: nullable(oneOf(PAUSE_REASONS)),
    max_recipients: t.Integer(),
    exit_events: t.Array(t.String()),
    enroll_tags: t.Array(t.String()),
    auto_enroll_new_contacts: t.Boolean(),
    track_opens: t.Boolean(),
    steps: t.Array(
      named(
        'Step',
        t.Object({
          key: t.String(),
          track: t.String(),
          position: t.Integer(),
          template: t.String(),
          delay_hours: t.Integer(),
          variables: t.Record(t.String(), t.Unknown()),
          preheader: nullable(t.String()),
          condition,
          condition_text: t.String({ description: 'The condition in plain words.' }),
          is_final: t.Boolean(),
          stats: numbers,
        }),
      ),
    ),
    stats: numbers,
    created_at: dateTime(),
    updated_at: dateTime(),
  }),
);

export const problem = t.Object({ code: t.String(), message: t.String(), step: t.Optional(t.String()) });
export const timeline = t.Object({
  timeline: t.Array(
    named(
      'SequencePreviewEntry',
      t.Object({
        key: t.String(),
        track: t.String(),
        at: dateTime(),
        condition: t.String(),
        result: oneOf(['send', 'skip', 'exit', 'route']),
        subject: nullable(t.String()),
        preheader: nullable(t.String()),
      }),
    ),
  ),
  end: t.Object({
    at: dateTime(),
    reason: t.String(),
    error: { ...nullable(t.String()), description: 'Where it is `failed`: why the step makes no mail.' },
  }),
});
export const enroll = t.Object({
  all: t.Optional(nullable(t.Boolean())),
  tags: t.Optional(
    nullable(t.Array(text({ min: 1, max: MAX_TAG_CHARS }), { minItems: 1, maxItems: MAX_SEQUENCE_NAMES })),
  ),
  contact_ids: t.Optional(nullable(t.Array(ulid(), { minItems: 1, maxItems: MAX_CONTACT_IDS }))),
  filter: t.Optional(nullable(contact_filter)),
});
export const enrollment = named(
  'Enrollment',
  t.Object({
    id: ulid(),
    sequence_id: ulid(),
    contact_id: ulid(),
    email: t.String(),
    is_test: t.Boolean({
      description: 'Made by a test key: its mail is captured, and it stands in no number of the sequence.',
    }),
    state: oneOf(ENROLLMENT_STATES),
    track: t.String(),
    step: t.String({ description: 'The step that comes next, or came last.' }),
    next_at: { ...nullable(dateTime()), description: 'Null while it waits for the end of a mail, too.' },
    waits_for: {
      ...nullable(ulid()),
      description:
        'The email that its relay has yet to take: at its end the delay of `step` begins, or behind the last step the ' +
        'enrollment is complete.',
    },
    exit_reason: nullable(t.String()),
    error: nullable(t.String()),
    enrolled_at: dateTime(),
    ended_at: nullable(dateTime()),
  }),
);

export const preview = t.Object({
  contact: t.Optional(nullable(ulid())),
  start_at: t.Optional(nullable({ ...dateTime(), description: 'Default now.' })),
  events: t.Optional(
    nullable(
      t.Array(t.Object({ event: text({ min: 1, max: 100 }), after_hours: t.Number({ minimum: 0 }) }), {
        maxItems: MAX_SEQUENCE_NAMES,
        description: 'Events that happen so many hours after the start.',
      }),
    ),
  ),
  clicks: t.Optional(
    nullable(t.Array(t.String(), { maxItems: MAX_STEPS, description: 'Steps whose mail is clicked.' })),
  ),
});
