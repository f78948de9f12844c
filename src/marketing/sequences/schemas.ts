/** The fields of sequences, steps and enrollments, and the shapes of requests and answers about them. */
import { MAX_CONTACT_IDS, MAX_NAME_CHARS, MAX_TAG_CHARS } from '../../limits.ts';
import {
  changesOfFields,
  creationOf,
  moment,
  momentOrNull,
  optional,
  preset,
  type RecordOfFields,
  recordOf,
  required,
  shown,
} from '../../platform/http/fields.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import { dateTime, named, nullable, oneOf, type Static, t, text, ulid } from '../../platform/http/schema.ts';
import {
  counter,
  mail_numbers,
  preheader,
  readiness,
  sent_variables,
  stored_utm,
  template,
  utm,
} from '../campaign-schemas.ts';
import { contact_filter, segment_in_body } from '../contacts/service.ts';
import { ENROLLMENT_STATES, PAUSE_REASONS, SEQUENCE_STATUSES } from './tables.ts';

/** Steps of one sequence: a year of weekly mails, with as many branches. */
const MAX_STEPS = 100;
/** Exit events and enroll tags of one sequence. */
const MAX_SEQUENCE_NAMES = 50;
/** Contract: max_recipients is required; the most that it may be. */
const MAX_RECIPIENTS = 10_000_000;

const numbers = named(
  'SequenceNumbers',
  t.Object({
    enrolled: counter,
    active: counter,
    completed: counter,
    exited: counter,
    failed: counter,
    ...mail_numbers,
  }),
);
/** Measured, of a sequence or of one step: enrollments by state, mails by what became of them. */
export type Numbers = Static<typeof numbers>;

export const STEP_FIELDS = {
  key: required(text({ min: 1, max: 100, description: 'Names the step within its sequence.' })),
  track: preset('main', text({ min: 1, max: 100, description: 'Default main.' })),
  position: preset(
    0,
    t.Integer({ minimum: 0, description: 'Order within the track; default that of the array.' }),
  ),
  template: required(template),
  delay_hours: preset(
    0,
    t.Integer({
      description:
        'Counts from the moment at which a relay took the mail of the step before, or its attempts ended.',
    }),
  ),
  variables: preset({}, sent_variables),
  preheader: optional(null, preheader),
  condition: preset(
    {},
    t.Record(t.String(), t.Unknown(), {
      description:
        '`{type, event?, of?, else?}`: type is always, clicked, not_clicked, event, no_event (both with `event`) or all (with ' +
        '`of`, an array of conditions). `else` is skip (default), exit, or `{route_to}` with a track.',
    }),
  ),
  condition_text: shown(t.String(), 'the condition in plain words'),
  is_final: preset(false, t.Boolean({ description: 'Each track ends in exactly one.' })),
  stats: shown(numbers),
};
export const step = named('NewStep', creationOf(STEP_FIELDS));
export type StepInput = Static<typeof step>;
/** A step as it would be sent again. */
export type BareStep = Omit<RecordOfFields<typeof STEP_FIELDS>, 'condition_text' | 'stats'>;

const names = t.Array(text({ min: 1, max: MAX_TAG_CHARS }), { maxItems: MAX_SEQUENCE_NAMES });

export const FIELDS = {
  id: shown(ulid()),
  name: required(text({ min: 1, max: MAX_NAME_CHARS })),
  list: required(ulid()),
  status: shown(oneOf(SEQUENCE_STATUSES)),
  pause_reason: shown(nullable(oneOf(PAUSE_REASONS))),
  pause_words: shown(
    nullable(t.String()),
    'what a mail server said last, where it is paused as `relay_refuses`',
  ),
  max_recipients: required(
    t.Integer({
      minimum: 1,
      maximum: MAX_RECIPIENTS,
      description: 'As many contacts are ever enrolled.',
    }),
  ),
  exit_events: preset([], names),
  enroll_tags: preset([], names),
  auto_enroll_new_contacts: preset(false, t.Boolean()),
  track_opens: preset(false, t.Boolean()),
  utm: optional(null, utm, { stored: stored_utm }),
  steps: preset([], t.Array(step, { maxItems: MAX_STEPS }), {
    stored: t.Array(named('Step', recordOf(STEP_FIELDS))),
  }),
  stats: shown(numbers),
  created_at: moment(),
  updated_at: moment(),
};
export type SequenceRecord = RecordOfFields<typeof FIELDS>;

export const creation = named('NewSequence', creationOf(FIELDS));
export type NewSequence = Static<typeof creation>;
export const changes = named('SequenceChanges', changesOfFields(FIELDS));
export type SequenceChanges = Static<typeof changes>;
export const record = named('Sequence', recordOf(FIELDS));

export const listed_by = t.Object({
  ...pageQuery,
  status: t.Optional(oneOf(SEQUENCE_STATUSES)),
  name: t.Optional(t.String({ description: 'Those that are called exactly so.' })),
});
export const check = t.Object({
  ...readiness,
  problems: t.Array(t.Object({ code: t.String(), message: t.String(), step: t.Optional(t.String()) })),
});
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
  segment: segment_in_body,
});

export const ENROLLMENT_FIELDS = {
  id: shown(ulid()),
  sequence_id: shown(ulid()),
  contact_id: shown(ulid()),
  email: shown(t.String()),
  is_test: shown(
    t.Boolean(),
    'made by a test key: its mail is captured, and it stands in no number of the sequence',
  ),
  state: shown(oneOf(ENROLLMENT_STATES)),
  track: shown(t.String()),
  step: shown(t.String(), 'the step that comes next, or came last'),
  next_at: momentOrNull('null while it waits for the end of a mail, too'),
  waits_for: shown(
    nullable(ulid()),
    'the email that its relay has yet to take: at its end the delay of `step` begins, or behind the last step the ' +
      'enrollment is complete',
  ),
  exit_reason: shown(nullable(t.String())),
  error: shown(nullable(t.String())),
  enrolled_at: moment(),
  ended_at: momentOrNull(),
};
export type EnrollmentRecord = RecordOfFields<typeof ENROLLMENT_FIELDS>;
export const enrollment = named('Enrollment', recordOf(ENROLLMENT_FIELDS));

export const by_state = t.Object({
  ...pageQuery,
  state: t.Optional(oneOf(ENROLLMENT_STATES)),
  track: t.Optional(text({ min: 1, max: 100 })),
});

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
export type PreviewInput = Static<typeof preview>;
