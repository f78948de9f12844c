/** Shapes of what clients send and get of recurring email schedules. */
import {
  MAX_COPIES,
  MAX_CRON_CHARS,
  MAX_DESCRIPTION_CHARS,
  MAX_DISPLAY_NAME_CHARS,
  MAX_DNS_NAME_CHARS,
  MAX_NAME_CHARS,
  MAX_SCHEDULE_RECIPIENTS,
  MAX_SUBJECT_CHARS,
  MAX_TIMEZONE_CHARS,
  SHOWN_RUNS,
} from '../../limits.ts';
import { pageQuery } from '../../platform/http/pagination.ts';
import {
  changesOf,
  dateTime,
  emailAddress,
  named,
  nullable,
  nullables,
  oneOf,
  optionals,
  t,
  text,
} from '../../platform/http/schema.ts';

const name = text({ min: 1, max: MAX_NAME_CHARS });
const recipients = t.Array(
  t.Object({
    email: emailAddress(),
    name: t.Optional(text({ max: MAX_DISPLAY_NAME_CHARS })),
  }),
  {
    minItems: 1,
    maxItems: MAX_SCHEDULE_RECIPIENTS,
    description: 'Each gets a mail of its own at every run.',
  },
);
const cron_expression = text({
  min: 1,
  max: MAX_CRON_CHARS,
  description: 'Five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`.',
});
const copies = t.Array(emailAddress(), {
  maxItems: MAX_COPIES,
  description: 'Copied on every mail of a run.',
});

const optional_fields = {
  timezone: text({
    min: 1,
    max: MAX_TIMEZONE_CHARS,
    description: 'IANA name of the zone the cron is in; default UTC.',
  }),
  template: text({ min: 1, max: MAX_NAME_CHARS, description: 'Slug; wins over raw content.' }),
  variables: t.Record(t.String(), t.Unknown()),
  subject: text({ min: 1, max: MAX_SUBJECT_CHARS, description: 'Required without a template.' }),
  body_html: t.String({ description: 'This or body_text is required without a template.' }),
  body_text: t.String(),
  cc: copies,
  bcc: copies,
  reply_to: emailAddress(),
  from_name: text({ max: MAX_DISPLAY_NAME_CHARS }),
  domain: text({ min: 1, max: MAX_DNS_NAME_CHARS, description: 'A verified sending domain.' }),
  description: text({ max: MAX_DESCRIPTION_CHARS }),
  missed_runs: {
    ...oneOf(['skip', 'run_once']),
    description: 'What follows a downtime of more than five minutes. Default `skip`.',
  },
  is_active: t.Boolean({ description: 'Default true; false pauses.' }),
};

/** Of which some stand for the others. */
export const CONTENT_FIELDS = ['template', 'subject', 'body_html', 'body_text'] as const;

export const newSchedule = named(
  'NewSchedule',
  t.Object({ name, recipients, cron_expression, ...optionals(optional_fields) }),
);

export const scheduleChanges = named(
  'ScheduleChanges',
  changesOf({
    name,
    recipients,
    cron_expression,
    ...nullables(optional_fields),
  }),
);

const text_or_null = nullable(t.String());
export const scheduleRecord = named(
  'Schedule',
  t.Object({
    id: t.String(),
    public_id: t.String({ description: 'The same as id.' }),
    name: t.String(),
    recipients: t.Array(t.Object({ email: t.String(), name: text_or_null })),
    cron_expression: t.String(),
    timezone: t.String(),
    template: text_or_null,
    variables: t.Record(t.String(), t.Unknown()),
    subject: text_or_null,
    body_html: text_or_null,
    body_text: text_or_null,
    cc: t.Array(t.String()),
    bcc: t.Array(t.String()),
    reply_to: text_or_null,
    from_name: text_or_null,
    domain: text_or_null,
    description: text_or_null,
    missed_runs: oneOf(['skip', 'run_once']),
    is_active: t.Boolean(),
    next_run_at: nullable(dateTime()),
    last_run_at: nullable(dateTime()),
    last_status: nullable(oneOf(['queued', 'completed', 'failed', 'skipped'])),
    created_at: dateTime(),
    updated_at: dateTime(),
  }),
);

export const scheduleWithRuns = named(
  'ScheduleWithRuns',
  t.Object({
    ...scheduleRecord.properties,
    next_runs: t.Array(dateTime(), {
      description: `The next ${SHOWN_RUNS}; none while it is paused.`,
    }),
  }),
);

export const scheduleListQuery = t.Object({
  ...pageQuery,
  template: t.Optional(text({ min: 1, max: MAX_NAME_CHARS, description: 'Those that send it, by slug.' })),
});

export const runsQuery = t.Object({
  cron_expression: { ...cron_expression, example: '0 9 * * 1' },
  timezone: t.Optional(optional_fields.timezone),
});
export const foreseenRuns = t.Object({
  next_runs: t.Array(dateTime(), { description: `The next ${SHOWN_RUNS}.` }),
});
