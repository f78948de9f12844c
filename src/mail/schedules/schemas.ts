/** The fields of recurring email schedules, and the shapes of what clients send and get of them. */
import {
  MAX_COPIES,
  MAX_CRON_CHARS,
  MAX_DESCRIPTION_CHARS,
  MAX_DISPLAY_NAME_CHARS,
  MAX_DNS_NAME_CHARS,
  MAX_NAME_CHARS,
  MAX_SUBJECT_CHARS,
  MAX_TIMEZONE_CHARS,
  SHOWN_RUNS,
} from '../../limits.ts';
import {
  type Changes,
  changesOfFields,
  creationOf,
  moment,
  momentOrNull,
  optional,
  type RecordOfFields,
  recordOf,
  required,
  shown,
  type Values,
} from '../../platform/http/fields.ts';
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
} from '../../platform/http/schema.ts';

/** Addresses that one schedule mails. */
const MAX_SCHEDULE_RECIPIENTS = 50;

const sent_recipient = t.Object({
  email: emailAddress(),
  name: t.Optional(text({ max: MAX_DISPLAY_NAME_CHARS })),
});
export const recipient = t.Object({ email: t.String(), name: nullable(t.String()) });
const copies = t.Array(emailAddress(), { maxItems: MAX_COPIES });
const cron_expression = text({ min: 1, max: MAX_CRON_CHARS });
const timezone = text({ min: 1, max: MAX_TIMEZONE_CHARS });

export const FIELDS = {
  id: shown(t.String()),
  public_id: shown(t.String(), 'the same as id'),
  name: required(text({ min: 1, max: MAX_NAME_CHARS }), { option: '--name <name>', says: 'its name' }),
  recipients: required(t.Array(sent_recipient, { minItems: 1, maxItems: MAX_SCHEDULE_RECIPIENTS }), {
    stored: t.Array(recipient),
    option: '--to <addresses>',
    says: 'who gets a mail of their own at every run',
  }),
  cron_expression: required(cron_expression, {
    option: '--cron <expression>',
    says: 'when: five fields, or @hourly, @daily, @weekly, @monthly',
  }),
  timezone: optional('UTC', timezone, {
    option: '--timezone <zone>',
    says: 'the IANA zone of cron_expression; UTC unless given',
  }),
  template: optional(null, text({ min: 1, max: MAX_NAME_CHARS }), {
    option: '--template <template>',
    says: 'the slug of the template that is sent; it wins over raw content',
  }),
  variables: optional({}, t.Record(t.String(), t.Unknown()), {
    option: '--set <name=value>',
    says: 'values of its placeholders',
  }),
  subject: optional(null, text({ min: 1, max: MAX_SUBJECT_CHARS }), {
    option: '--subject <text>',
    says: 'required without a template',
  }),
  body_html: optional(null, t.String(), {
    option: '--html <html>',
    says: 'this or body_text is required without a template',
    is_long: true,
  }),
  body_text: optional(null, t.String(), { option: '--text <text>', says: 'the text part', is_long: true }),
  cc: optional([], copies, { option: '--cc <addresses>', says: 'who gets a copy of every mail of a run' }),
  bcc: optional([], copies, { option: '--bcc <addresses>', says: 'who gets one unseen' }),
  reply_to: optional(null, emailAddress(), { option: '--reply-to <address>', says: 'where answers go' }),
  from_name: optional(null, text({ max: MAX_DISPLAY_NAME_CHARS }), {
    option: '--from-name <name>',
    says: 'the name beside the sender',
  }),
  domain: optional(null, text({ min: 1, max: MAX_DNS_NAME_CHARS }), {
    option: '--domain <name>',
    says: 'a verified sending domain',
  }),
  description: optional(null, text({ max: MAX_DESCRIPTION_CHARS }), {
    option: '--description <text>',
    says: 'what it is for',
  }),
  missed_runs: optional('skip', oneOf(['skip', 'run_once']), {
    option: '--missed-runs <what>',
    says: 'what follows a downtime of more than five minutes; skip unless given',
  }),
  is_active: optional(true, t.Boolean({ description: 'Default true; false pauses.' })),
  next_run_at: momentOrNull(),
  last_run_at: momentOrNull(),
  last_status: shown(nullable(oneOf(['queued', 'completed', 'failed', 'skipped']))),
  created_at: moment(),
  updated_at: moment(),
};
export type ScheduleValues = Values<typeof FIELDS>;
export type Recipient = Static<typeof recipient>;
export type ScheduleChanges = Partial<Changes<typeof FIELDS>>;
export type ScheduleRecord = RecordOfFields<typeof FIELDS>;

export const newSchedule = named('NewSchedule', creationOf(FIELDS));
export type NewSchedule = Static<typeof newSchedule>;
export const scheduleChanges = named('ScheduleChanges', changesOfFields(FIELDS));
export const scheduleRecord = named('Schedule', recordOf(FIELDS));
/** Of which some stand for the others. */
export const CONTENT_FIELDS = ['template', 'subject', 'body_html', 'body_text'] as const;

const next_runs = (words: string) => t.Array(dateTime(), { description: `The next ${SHOWN_RUNS}${words}.` });
export const scheduleWithRuns = named(
  'ScheduleWithRuns',
  t.Object({ ...scheduleRecord.properties, next_runs: next_runs('; none while it is paused') }),
);
export const scheduleListQuery = t.Object({
  ...pageQuery,
  template: t.Optional(text({ min: 1, max: MAX_NAME_CHARS, description: 'Those that send it, by slug.' })),
});
export const runsQuery = t.Object({
  cron_expression: { ...FIELDS.cron_expression.shape, example: '0 9 * * 1' },
  timezone: t.Optional(FIELDS.timezone.shape),
});
export const foreseenRuns = t.Object({ next_runs: next_runs('') });
