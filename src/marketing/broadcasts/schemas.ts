/** The fields of broadcasts, and the shapes of requests and answers about them. */
import { MAX_NAME_CHARS, MAX_SUBJECT_CHARS } from '../../limits.ts';
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
import {
  changesOf,
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
import {
  counter,
  mail_numbers,
  preheader,
  readiness,
  sent_variables,
  stored_utm,
  template,
  utm,
  variables,
} from '../campaign-schemas.ts';
import { contact_filter } from '../contacts/service.ts';
import { BROADCAST_STATUSES, LEFT_OUT_REASONS, type LeftOutReason, PAUSE_REASONS } from './tables.ts';

const by_reason = t.Unsafe<Record<LeftOutReason, number>>(
  t.Object(Object.fromEntries(LEFT_OUT_REASONS.map((reason) => [reason, counter])), {
    description: '`no_value`: a merge field of the mail has no value for them.',
  }),
);
const left_out = named('LeftOut', t.Object({ total: counter, by_reason }));
export type LeftOut = Static<typeof left_out>;

const link = t.Object({
  url: t.String(),
  people: t.Integer({ description: 'How many followed it.' }),
  clicks: t.Integer({ description: 'How often they did; scanners count nowhere.' }),
});
export type LinkRecord = Static<typeof link>;

const stats = named(
  'BroadcastStats',
  t.Object({
    to_come: t.Integer({
      description: 'People who had no turn yet: 0 before sending begins, and once it ended.',
    }),
    ...mail_numbers,
  }),
);

/** Contract: so many variants, whose share is of the recipients; clicks decide after so many hours. */
const VARIANTS = { minItems: 2, maxItems: 5 };
const SHARE_PERCENT = { minimum: 5, maximum: 50 };
const DECIDE_AFTER_HOURS = { minimum: 1, maximum: 168 };

const variant = t.Object(
  {
    name: text({ min: 1, max: MAX_NAME_CHARS }),
    subject: t.Optional(
      text({
        min: 1,
        max: MAX_SUBJECT_CHARS,
        description: "In place of the template's; it may have placeholders.",
      }),
    ),
    preheader: t.Optional(preheader),
  },
  { additionalProperties: false, description: 'What it has not is as the broadcast has it.' },
);
const plan = {
  variants: t.Array(variant, VARIANTS),
  share: t.Integer({
    ...SHARE_PERCENT,
    description:
      'Percent of the recipients that the variants go to, all of them together; the rest gets the winner.',
  }),
  decide_by: oneOf(['clicks', 'manual']),
};
const hours = t.Integer(DECIDE_AFTER_HOURS);
export const ab_plan = named(
  'AbPlan',
  t.Object(
    {
      ...plan,
      decide_after_hours: t.Optional({
        ...hours,
        description: 'Where clicks decide, and only there: so long after the share had its turn.',
      }),
    },
    { additionalProperties: false },
  ),
);
export type AbPlan = Static<typeof ab_plan>;
const ab_record = named(
  'AbTest',
  t.Object({
    ...plan,
    decide_after_hours: nullable(hours),
    decides_at: {
      ...nullable(dateTime()),
      description: 'When the clicks decide, once the share had its turn.',
    },
    winner: { ...nullable(t.String()), description: 'The name of the variant that the rest gets.' },
    decided_at: nullable(dateTime()),
    results: t.Array(
      t.Object({
        name: t.String(),
        sent: counter,
        untracked: t.Integer({ description: 'Of those, mails of which no click is known.' }),
        clicked: t.Integer({ description: 'People who clicked.' }),
        unsubscribed: counter,
        chance_best: t.Number({
          description: 'How likely it is the best by its clicks: 0 to 1, to two digits.',
        }),
      }),
      { description: 'Of the share alone, from when sending began.' },
    ),
  }),
);
export type AbRecord = Static<typeof ab_record>;

const VARIABLES = { description: 'Values of placeholders, the same for everybody.' };

export const FIELDS = {
  id: shown(ulid()),
  name: required(text({ min: 1, max: MAX_NAME_CHARS }), { option: '--name <name>', says: 'its name' }),
  list: required(ulid(), {
    option: '--list <list>',
    says: 'the list that it goes to: its id or name',
  }),
  template: optional(null, template, {
    option: '--template <template>',
    says: 'a marketing template: its slug, name or id',
  }),
  preheader: optional(null, preheader, {
    option: '--preheader <text>',
    says: 'what inboxes show behind the subject; empty: nothing',
  }),
  variables: preset(
    {},
    { ...sent_variables, ...VARIABLES },
    {
      stored: { ...variables, ...VARIABLES },
      option: '--set <name=value>',
      says: 'a value of a placeholder, the same for everybody',
    },
  ),
  filter: optional(null, contact_filter, { stored: t.Unsafe<Record<string, unknown>>(contact_filter) }),
  segment: optional(
    null,
    {
      ...ulid(),
      description:
        'A segment of the list, in place of `filter`; each takes the place of the other in a change, and both together are refused. ' +
        'Sending begins with a copy of its filter as it then is, which stands in `filter` from then on.',
    },
    { option: '--segment <segment>', says: 'a segment of the list, in place of a filter: its id or name' },
  ),
  filter_sentence: shown(
    nullable(
      t.String({
        description: 'The filter as one sentence; null without one, and of a segment until it is copied.',
      }),
    ),
  ),
  ab: optional(null, ab_plan, { stored: ab_record }),
  status: shown(oneOf(BROADCAST_STATUSES)),
  pause_reason: shown(nullable(oneOf(PAUSE_REASONS))),
  pause_words: shown(
    nullable(t.String()),
    'what a mail server said last, where it is paused as `relay_refuses`',
  ),
  is_test: shown(t.Boolean(), 'sent by a test key: all its mail is captured, and counts nowhere'),
  send_at: momentOrNull(),
  started_at: momentOrNull(),
  finished_at: momentOrNull('when its last mail ended, or it was cancelled'),
  track_opens: preset(false, t.Boolean(), {
    option: '--track-opens',
    says: 'count who opens it',
    unset: 'count no openings any more',
  }),
  utm: optional(null, utm, {
    stored: stored_utm,
    option: '--utm <name=value>',
    says: 'what links gain for those who count visits: source, medium, campaign, content',
  }),
  in_archive: optional(
    null,
    t.Boolean({
      description:
        "Whether anybody reads it in the archive of its list, once it is sent. Null: it is fixed when sending begins, by whether the list has an `archive` then, and neither filter nor segment chooses among its people. May be changed in any status; never true of a test key's.",
    }),
    {
      option: '--in-archive',
      says: "anybody reads it in its list's archive; said in any status",
      unset: 'nobody reads it there',
    },
  ),
  recipients: shown(nullable(counter), 'how many were to get it when sending began; null before'),
  left_out: shown(left_out),
  stats: shown(stats),
  links: shown(t.Array(link, { description: 'Of the mail, once sending began.' })),
  created_at: moment(),
  updated_at: moment('when somebody changed it last; its numbers change by themselves'),
};
export type BroadcastRecord = RecordOfFields<typeof FIELDS>;

export const creation = named('NewBroadcast', creationOf(FIELDS));
export type NewBroadcast = Static<typeof creation>;
export const changes = named(
  'BroadcastChanges',
  changesOf({
    ...changesOfFields(FIELDS).properties,
    send_at: nullable({
      ...dateTime(),
      description: 'Of one that is scheduled: another time, or null, which makes it a draft again.',
    }),
  }),
);
export type BroadcastChanges = Partial<Static<typeof changes>>;
export const record = named('Broadcast', recordOf(FIELDS));

export const listed_by = t.Object({
  ...pageQuery,
  status: t.Optional(oneOf(BROADCAST_STATUSES)),
  name: t.Optional(t.String({ description: 'Those that are called exactly so.' })),
});
const name_of_variant = text({
  min: 1,
  max: MAX_NAME_CHARS,
  description: 'The name of a variant of its A/B.',
});
export const of_variant = t.Object({ variant: t.Optional(name_of_variant) });
export const test_of_variant = t.Object({
  to: emailAddress(),
  variant: t.Optional(nullable(name_of_variant)),
});
export const decision = t.Object({ variant: name_of_variant });
export const sending = t.Object({
  send_at: t.Optional(
    nullable({
      ...dateTime(),
      description: 'When sending begins; without a zone it is UTC. At once unless given.',
    }),
  ),
});

/** Fields that change by themselves. */
export const UNVERSIONED = [
  'status',
  'pause_reason',
  'pause_words',
  'started_at',
  'finished_at',
  'recipients',
  'in_archive',
  'left_out',
  'stats',
  'links',
  'filter_sentence',
  'decides_at',
  'winner',
  'decided_at',
  'results',
] as const satisfies (keyof BroadcastRecord | keyof AbRecord)[];

export const check = t.Object({
  ...readiness,
  problems: t.Array(t.Object({ code: t.String(), message: t.String() })),
  warnings: t.Array(t.Object({ code: t.String(), message: t.String() }), {
    description:
      'Not in the way: `ab_small` where a variant would go to fewer than 100 people, `archive_no_value` where the archive leaves it out, as a merge field of it has no value for nobody in particular.',
  }),
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
    variant: { ...nullable(t.String()), description: 'The variant of an A/B that they got.' },
  }),
);
export type RecipientRecord = Static<typeof recipient>;

const timeline_point = t.Object({
  at: dateTime(),
  unit: oneOf(['hour', 'day']),
  sent: counter,
  clicked: counter,
  opened: counter,
  opened_by_machine: counter,
});
export type TimelinePoint = Static<typeof timeline_point>;
export const timeline = t.Object({
  timeline: t.Array(timeline_point, {
    description: 'By the hour for two days from its start, then by UTC days.',
  }),
});
