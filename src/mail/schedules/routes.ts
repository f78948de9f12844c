/** Endpoints of recurring email schedules. */
import type { Config } from '../../config.ts';
import { recordRoutes } from '../../platform/http/record-routes.ts';
import {
  bothPlanes,
  type ProjectCaller,
  projectRoute,
  projectUrl,
  type RequestContext,
  type Route,
} from '../../platform/http/routes.ts';
import { t } from '../../platform/http/schema.ts';
import {
  CONTENT_FIELDS,
  foreseenRuns,
  newSchedule,
  runsQuery,
  type ScheduleRecord,
  scheduleChanges,
  scheduleListQuery,
  scheduleRecord,
  scheduleWithRuns,
} from './schemas.ts';
import type { Schedules } from './service.ts';

const TAG = 'Email schedules';
const ONE = '/email-schedules/:id';

interface Target {
  ctx: RequestContext;
  caller: ProjectCaller;
}

type Load = (target: Target) => ScheduleRecord;

export function scheduleRoutes(schedules: Schedules, config: Config): Route[] {
  const load = ({ ctx, caller }: Target) => schedules.get(caller.project.id, ctx.params.id ?? '');
  return [...scheduleRecordRoutes(schedules, load), ...runRoutes(schedules, load, config)];
}

function scheduleRecordRoutes(schedules: Schedules, load: Load): Route[] {
  return recordRoutes(bothPlanes, {
    path: ONE,
    tag: TAG,
    needs: ['write'],
    shown: scheduleRecord,
    load,
    together: CONTENT_FIELDS,
    errorsIn: ({ caller, current, body }) => schedules.errorsIn(caller.project.id, current, body),
    list: {
      needs: ['read'],
      summary: 'List schedules',
      query: scheduleListQuery,
      handle: ({ caller, query }) => schedules.list(caller.project.id, query),
    },
    create: {
      summary: 'Create a schedule',
      description:
        'Runs follow the `is_test` of the key that creates it; without a key they are real. The template and its variables are checked at once, ' +
        'and again at each run.',
      body: newSchedule,
      example: {
        name: 'Weekly report',
        recipients: [{ email: 'ann@example.org', name: 'Ann' }],
        cron_expression: '0 9 * * 1',
        timezone: 'Europe/Berlin',
        subject: 'Your week',
        body_text: 'Nothing broke.',
      },
      handle: ({ caller, body }) => schedules.create(caller, body),
    },
    read: {
      needs: ['read'],
      summary: 'One schedule',
      unversioned: ['next_run_at', 'next_runs', 'last_run_at', 'last_status'],
      mirror: { response: scheduleWithRuns },
      handle: ({ caller, resource }) =>
        caller.key ? resource : { ...resource, next_runs: schedules.nextRuns(resource) },
    },
    change: {
      summary: 'Change, pause or resume a schedule',
      description:
        'Only what is sent changes; null clears an optional field. `is_active` false pauses, also for recipients of ' +
        'a run who still wait for capacity; true resumes, with the next run counted from now (409 `project_inactive` where nothing of the project is sent).',
      body: scheduleChanges,
      example: { is_active: false },
      handle: ({ caller, body, resource }) =>
        schedules.update(caller.project.id, resource.id, body, caller.note),
    },
    remove: {
      summary: 'Delete a schedule',
      description: 'Mails of its runs that were accepted are sent all the same.',
      response: t.Object({ success: t.Boolean(), message: t.String() }),
      handle: async ({ caller, resource }) => {
        await schedules.remove(caller.project.id, resource.id, caller.note);
        return { success: true, message: 'Schedule deleted.' };
      },
    },
  });
}

function runRoutes(schedules: Schedules, load: Load, config: Config): Route[] {
  return [
    projectRoute({
      method: 'GET',
      path: '/email-schedule-runs',
      tag: TAG,
      summary: 'When a schedule would run next',
      description: 'Before it is saved, for whoever is writing it.',
      query: runsQuery,
      response: foreseenRuns,
      handle: ({ query: { cron_expression, timezone = 'UTC' } }) => ({
        next_runs: schedules.foreseeRuns(cron_expression, timezone),
      }),
    }),
    ...bothPlanes({
      method: 'POST',
      path: `${ONE}/run`,
      needs: ['write'],
      tag: TAG,
      summary: 'Run a schedule now',
      description:
        "Off its cadence: `next_run_at` stays, and a paused schedule runs too. Follows the `is_test` of the calling key, and without one the schedule's own. 409 `project_inactive` where nothing of the project is sent.",
      status: 202,
      response: t.Object({ message: t.String(), job_id: t.String(), status_url: t.String() }),
      load,
      handle: async ({ caller, resource }) => {
        const job_id = await schedules.runNow(caller, resource.id);
        return {
          message: 'The run is queued. The job tells how it ends.',
          job_id,
          status_url: `${projectUrl(config.public_url, caller)}/jobs/${job_id}`,
        };
      },
    }),
  ];
}
