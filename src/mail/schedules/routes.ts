/** Endpoints of recurring email schedules. */
import type { Config } from '../../config.ts';
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
  bothPlanes,
  type ProjectCaller,
  projectUrl,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
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
import type { Schedules } from './service.ts';

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

const creation = named(
  'NewSchedule',
  t.Object({ name, recipients, cron_expression, ...optionals(optional_fields) }),
);

const changes = named(
  'ScheduleChanges',
  changesOf({
    name,
    recipients,
    cron_expression,
    ...nullables(optional_fields),
  }),
);

const text_or_null = nullable(t.String());
const record = named(
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

const record_with_runs = named(
  'ScheduleWithRuns',
  t.Object({
    ...record.properties,
    next_runs: t.Array(dateTime(), {
      description: `The next ${SHOWN_RUNS}; none while it is paused.`,
    }),
  }),
);

const TAG = 'Email schedules';

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

/** The schedule that the path names, or 404. */
function loader(schedules: Schedules) {
  return ({ ctx, caller }: Target) => schedules.get(caller.project.id, ctx.params.id ?? '');
}

export function scheduleRoutes(schedules: Schedules, config: Config): Route[] {
  return [...collectionRoutes(schedules), ...singleScheduleRoutes(schedules), ...runRoute(schedules, config)];
}

function collectionRoutes(schedules: Schedules): Route[] {
  return [
    ...bothPlanes({
      method: 'GET',
      path: '/email-schedules',
      needs: ['read'],
      tag: TAG,
      summary: 'List schedules',
      query: t.Object({
        ...pageQuery,
        template: t.Optional(
          text({ min: 1, max: MAX_NAME_CHARS, description: 'Those that send it, by slug.' }),
        ),
      }),
      response: t.Array(record),
      handle: ({ caller, query }) => schedules.list(caller.project.id, query),
    }),
    ...bothPlanes({
      method: 'POST',
      path: '/email-schedules',
      needs: ['write'],
      tag: TAG,
      summary: 'Create a schedule',
      description:
        'Runs follow the `is_test` of the key that creates it; without a key they are real. The template and its variables are checked at once, ' +
        'and again at each run.',
      status: 201,
      body: creation,
      example: {
        name: 'Weekly report',
        recipients: [{ email: 'ann@example.org', name: 'Ann' }],
        cron_expression: '0 9 * * 1',
        timezone: 'Europe/Berlin',
        subject: 'Your week',
        body_text: 'Nothing broke.',
      },
      response: record,
      check: ({ caller, body, broken }) => schedules.errorsIn(caller.project.id, null, body, broken),
      handle: ({ caller, body }) => schedules.create(caller, body),
    }),
  ];
}

function singleScheduleRoutes(schedules: Schedules): Route[] {
  const load = loader(schedules);
  return [
    ...bothPlanes({
      method: 'GET',
      path: '/email-schedules/:id',
      needs: ['read'],
      tag: TAG,
      summary: 'One schedule',
      unversioned: ['next_run_at', 'next_runs', 'last_run_at', 'last_status'],
      response: record,
      mirror: { response: record_with_runs },
      load,
      handle: ({ caller, resource }) =>
        caller.key ? resource : { ...resource, next_runs: schedules.nextRuns(resource) },
    }),
    ...bothPlanes({
      method: 'PATCH',
      path: '/email-schedules/:id',
      needs: ['write'],
      tag: TAG,
      summary: 'Change, pause or resume a schedule',
      description:
        'Only what is sent changes; null clears an optional field. `is_active` false pauses, also for recipients of ' +
        'a run who still wait for capacity; true resumes, with the next run counted from now.',
      body: changes,
      example: { is_active: false },
      response: record,
      load,
      check: ({ caller, body, broken, resource }) =>
        schedules.errorsIn(caller.project.id, resource, body, broken),
      handle: ({ caller, body, resource }) =>
        schedules.update(caller.project.id, resource.id, body, caller.note),
    }),
    ...bothPlanes({
      method: 'DELETE',
      path: '/email-schedules/:id',
      needs: ['write'],
      tag: TAG,
      summary: 'Delete a schedule',
      description: 'Mails of its runs that were accepted are sent all the same.',
      response: t.Object({ success: t.Boolean(), message: t.String() }),
      load,
      handle: async ({ caller, resource }) => {
        await schedules.remove(caller.project.id, resource.id, caller.note);
        return { success: true, message: 'Schedule deleted.' };
      },
    }),
  ];
}

function runRoute(schedules: Schedules, config: Config): Route[] {
  return bothPlanes({
    method: 'POST',
    path: '/email-schedules/:id/run',
    needs: ['write'],
    tag: TAG,
    summary: 'Run a schedule now',
    description:
      "Off its cadence: `next_run_at` stays, and a paused schedule runs too. Follows the `is_test` of the calling key, and without one the schedule's own.",
    status: 202,
    response: t.Object({ message: t.String(), job_id: t.String(), status_url: t.String() }),
    load: loader(schedules),
    handle: async ({ caller, resource }) => {
      const job_id = await schedules.runNow(caller, resource.id);
      return {
        message: 'The run is queued. The job tells how it ends.',
        job_id,
        status_url: `${projectUrl(config.public_url, caller)}/jobs/${job_id}`,
      };
    },
  });
}
