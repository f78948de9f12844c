/** Recurring email schedules: what may be saved, when each runs next, and putting its runs into the queue. */

import { listInactiveIds, type Projects } from '../../access/projects/service.ts';
import { collectErrors, type FieldErrors, invalid } from '../../errors.ts';
import { SHOWN_RUNS } from '../../limits.ts';
import { changesOf, type Note, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Tx } from '../../platform/database/database.ts';
import { toIso } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import type { LogFields, Logger } from '../../platform/host/logger.ts';
import type { KeyCaller } from '../../platform/http/callers.ts';
import { present } from '../../platform/http/fields.ts';
import { type Page, type PageQuery, paginate } from '../../platform/http/pagination.ts';
import { Records } from '../../platform/http/records.ts';
import type { ProjectCaller } from '../../platform/http/routes.ts';
import { type Cron, parseCron } from '../../platform/jobs/cron.ts';
import type { Task } from '../../platform/jobs/engine.ts';
import { inPieces, type Release } from '../../platform/jobs/restore-hold.ts';
import { type NewJob, PRIORITY } from '../../platform/jobs/store.ts';
import { checkSchedule, mergeSchedule, readCron } from './rules.ts';
import { type RunPayload, ScheduleRuns, type ScheduleRunsDeps } from './runs.ts';
import {
  FIELDS,
  type NewSchedule,
  type ScheduleChanges,
  type ScheduleRecord,
  type ScheduleValues,
} from './schemas.ts';
import {
  countSchedules,
  countSchedulesUsing,
  type DueSchedule,
  listDueSchedules,
  listHeldSchedules,
  listMovedSchedules,
  listRunsQueuedAfter,
  listSchedules,
  listWaitingSchedules,
  schedules,
} from './store.ts';
import type { ScheduleRow } from './tables.ts';

/** Decision: a run of a schedule that is up to this late (a restart) is run, not missed. */
const SCHEDULE_GRACE_MS = 5 * 60_000;

/**
 * Due schedules claimed by one commit, so that thousands of them cannot hold up other writes: some 6 ms of
 * reading cron.
 */
const SCHEDULE_CLAIM_BATCH = 25;

/** The type of the jobs that are runs. */
export const SCHEDULE_RUN = 'schedule.run';

interface SchedulesDeps extends ScheduleRunsDeps {
  projects: Pick<Projects, 'findById' | 'requireActive'>;
  logger: Logger;
  /** Of each body. */
  max_body_bytes: number;
  enqueue(tx: Tx, job: NewJob): string;
}

export class Schedules extends Records<ScheduleRow, ScheduleRecord> {
  readonly runs: ScheduleRuns;
  /** When the last look was. The clock may have been set back before the first one too. */
  #looked_at = Number.POSITIVE_INFINITY;

  constructor(private readonly deps: SchedulesDeps) {
    super({ ...deps, rows: schedules, noun: 'Schedule', lister: 'satchel schedule list --project REF' });
    this.runs = new ScheduleRuns(deps);
  }

  present(row: ScheduleRow): ScheduleRecord {
    return present(FIELDS, { ...row, public_id: row.id });
  }

  /** Newest first; with `template` those that send it. */
  list(project_id: number, query: PageQuery & { template?: string | undefined }): Page<ScheduleRecord> {
    const { read } = this.deps.database;
    const { template } = query;
    return paginate(query, {
      total:
        template === undefined
          ? countSchedules(read, project_id)
          : countSchedulesUsing(read, project_id, template),
      fetch: (limit, offset) =>
        listSchedules(read, { project_id, template }, { limit, offset }).map((row) => this.present(row)),
    });
  }

  /** When it runs next, `SHOWN_RUNS` times or as often as it ever does; never while it is paused. */
  nextRuns(record: Pick<ScheduleRecord, 'cron_expression' | 'timezone' | 'next_run_at'>): string[] {
    const cron = parseCron(record.cron_expression, record.timezone);
    return cron.ok && record.next_run_at !== null ? runsFrom(cron, Date.parse(record.next_run_at)) : [];
  }

  /** When a schedule that is yet to be saved would run next. Throws AppError `invalid` by field. */
  foreseeRuns(cron_expression: string, timezone: string): string[] {
    const cron = readCron(cron_expression, timezone);
    return runsFrom(cron, cron.next(this.deps.clock.now()));
  }

  /** What no schedule may be, by field, of one that is made (`current` null) or changed. */
  errorsIn(project_id: number, current: ScheduleRecord | null, sent: ScheduleChanges): FieldErrors {
    const fields = mergeSchedule(current, sent);
    return collectErrors(
      () => nextRun(checkSchedule(current, sent, this.deps).cron, this.deps.clock.now()),
      () => this.#checkDomain(project_id, fields, sent),
      () => this.#checkTemplate(project_id, fields, sent),
    );
  }

  /** The ids of those that are paused since their project moved here. */
  listMoved(project_id: number): string[] {
    return listMovedSchedules(this.deps.database.read, project_id);
  }

  /** How many schedules of a project send this template. */
  countUsing(project_id: number, template: string): number {
    return countSchedulesUsing(this.deps.database.read, project_id, template);
  }

  /**
   * Saves a schedule whose runs follow the is_test of the key, and are real without one. Throws AppError
   * `invalid` by field.
   */
  async create(
    caller: Pick<ProjectCaller, 'project' | 'key' | 'note'>,
    input: NewSchedule,
  ): Promise<ScheduleRecord> {
    const row = await this.deps.database.write((tx) => {
      const { fields, cron } = checkSchedule(null, input, this.deps);
      this.#checkContent(caller.project.id, fields, input);
      const now = this.deps.clock.now();
      const schedule: ScheduleRow = {
        ...fields,
        id: newId(now),
        project_id: caller.project.id,
        api_key_id: caller.key?.key_id ?? null,
        is_test: caller.key?.is_test ?? false,
        next_run_at: fields.is_active ? nextRun(cron, now) : null,
        last_run_at: null,
        last_status: null,
        is_moved: false,
        is_held: false,
        created_at: now,
        updated_at: now,
      };
      schedules.insert(tx, schedule);
      caller.note(tx, noteOf('schedule.created', schedule));
      return schedule;
    });
    return this.present(row);
  }

  /**
   * Changes what is given; null clears an optional field. A schedule that resumes, or runs at other times
   * now, has its next run counted from now. Throws AppError `not_found`, `conflict` project_inactive for one
   * that resumes, and `invalid` by field.
   */
  async update(
    project_id: number,
    id: string,
    changes: ScheduleChanges,
    note: Note,
  ): Promise<ScheduleRecord> {
    const row = await this.deps.database.write((tx) => {
      const current = this.require(project_id, id, tx);
      if (changes.is_active && !current.is_active) this.deps.projects.requireActive(project_id, tx);
      const { fields, cron } = checkSchedule(current, changes, this.deps);
      this.#checkContent(project_id, fields, changes);
      const now = this.deps.clock.now();
      const keeps_time =
        current.is_active &&
        current.next_run_at !== null &&
        fields.cron_expression === current.cron_expression &&
        fields.timezone === current.timezone;
      const next_run_at = keeps_time ? current.next_run_at : nextRun(cron, now);
      const changed = { ...fields, next_run_at: fields.is_active ? next_run_at : null, updated_at: now };
      const moved = changes.is_active === undefined ? {} : { is_moved: false, is_held: false };
      schedules.update(tx, current.id, { ...changed, ...moved });
      note(tx, { ...noteOf('schedule.changed', current), changes: changesOf(current, changed) });
      return { ...current, ...changed };
    });
    return this.present(row);
  }

  /**
   * Has those go on that a restore paused, with their next run, also where their project is inactive: they wait
   * for it then. Returns how many.
   */
  async letGoHeld({ actor, project_id }: Release): Promise<number> {
    const { database, clock, projects } = this.deps;
    const ids = listHeldSchedules(database.read, project_id).map(({ id }) => id);
    return inPieces(database, ids, (tx, id) => {
      const row = schedules.findById(tx, id);
      if (!row?.is_held) return false;
      const now = clock.now();
      const cron = parseCron(row.cron_expression, row.timezone);
      const next_run_at = cron.ok ? cron.next(now) : null;
      schedules.update(tx, id, { is_active: true, is_held: false, next_run_at, updated_at: now });
      const changes = changesOf(row, { is_active: true });
      const project = projects.findById(row.project_id);
      recordAudit(tx, actor, { ...noteOf('schedule.changed', row), project, changes }, now);
      return true;
    });
  }

  /** Deletes a schedule; a run that waits in the queue then fails. Throws AppError `not_found`. */
  remove(project_id: number, id: string, note: Note): Promise<void> {
    return this.deps.database.write((tx) => {
      const schedule = this.require(project_id, id, tx);
      schedules.remove(tx, schedule.id);
      note(tx, noteOf('schedule.deleted', schedule));
    });
  }

  /**
   * Queues a run off the cadence, of a paused schedule too, and returns the id of its job; it follows the
   * caller's is_test, and the schedule's own where no key asks for it. `next_run_at` stays. Throws AppError
   * `not_found`, and `conflict` project_inactive.
   */
  runNow(
    caller: {
      project: { id: number };
      key: Pick<KeyCaller, 'key_id' | 'is_test'> | null;
      note: Note;
    },
    id: string,
  ): Promise<string> {
    return this.deps.database.write((tx) => {
      const project_id = caller.project.id;
      const schedule = this.require(project_id, id, tx);
      this.deps.projects.requireActive(project_id, tx);
      const now = this.deps.clock.now();
      schedules.update(tx, schedule.id, { last_run_at: now, last_status: 'queued' });
      const job_id = this.#enqueueRun(tx, project_id, {
        schedule_id: schedule.id,
        api_key_id: caller.key?.key_id ?? schedule.api_key_id,
        is_test: caller.key?.is_test ?? schedule.is_test,
        due_at: null,
      });
      caller.note(tx, noteOf('schedule.run', schedule, { job_id }));
      return job_id;
    });
  }

  /**
   * Queues a run of every schedule that is due, and moves each to its next time in the same commit: a tick is
   * run once, whatever happens afterwards. What a longer downtime made late is left out or run once, as the
   * schedule says. Those of an inactive project wait until it is active, and are late then as after a
   * downtime.
   */
  async queueDueRuns(): Promise<void> {
    const now = this.deps.clock.now();
    if (now < this.#looked_at) await this.#bringForward(now);
    this.#looked_at = now;
    for (;;) {
      const { claimed, remarks } = await this.deps.database.write((tx) => {
        const now = this.deps.clock.now();
        const without_projects = listInactiveIds(tx);
        const due = listDueSchedules(tx, now, { limit: SCHEDULE_CLAIM_BATCH, without_projects });
        return { claimed: due.length, remarks: due.flatMap((one) => this.#claim(tx, one, now) ?? []) };
      });
      for (const { message, fields } of remarks) this.deps.logger.warn(message, fields);
      if (claimed < SCHEDULE_CLAIM_BATCH) return;
    }
  }

  /**
   * Gives schedules whose next run was found under a clock that was ahead the next tick from now. A tick that
   * a run was queued for under that clock stays run.
   */
  async #bringForward(now: number): Promise<void> {
    const { database, logger } = this.deps;
    let after_id: string | undefined = '';
    while (after_id !== undefined) {
      const page = { now_ms: now, after_id, limit: SCHEDULE_CLAIM_BATCH };
      const { last, moved } = await database.write((tx) => {
        const waiting = listWaitingSchedules(tx, page);
        return {
          last: waiting.at(-1)?.id,
          moved: waiting.filter((schedule) => {
            const next_run_at = nextUnrun(tx, schedule, now);
            if (next_run_at === null || next_run_at >= schedule.next_run_at) return false;
            schedules.update(tx, schedule.id, { next_run_at });
            return true;
          }),
        };
      });
      for (const { id, next_run_at } of moved)
        logger.warn('a schedule runs earlier again: the clock was set back', {
          schedule_id: id,
          instead_of: toIso(next_run_at),
        });
      after_id = last;
    }
  }

  #claim(tx: Tx, due: DueSchedule, now: number): { message: string; fields: LogFields } | null {
    const fields = { schedule_id: due.id, due_at: toIso(due.next_run_at) };
    const cron = parseCron(due.cron_expression, due.timezone);
    if (!cron.ok) {
      // It was valid when it was saved: the time zone is gone from this machine's data.
      schedules.update(tx, due.id, { next_run_at: null, last_status: 'failed' });
      return { message: 'a schedule has no next run any more', fields: { ...fields, error: cron.message } };
    }
    // Never before the tick that is claimed here, wherever the clock has gone.
    const next_run_at = cron.next(Math.max(now, due.next_run_at));
    // Where the first missed tick is old the latest may still be recent: that one is run, not missed.
    const grace_from = now - SCHEDULE_GRACE_MS;
    const is_in_time =
      due.next_run_at >= grace_from || (cron.next(grace_from - 1) ?? Number.POSITIVE_INFINITY) <= now;
    if (!is_in_time && due.missed_runs === 'skip') {
      schedules.update(tx, due.id, { next_run_at, last_status: 'skipped' });
      return { message: 'a missed run of a schedule is skipped', fields };
    }
    schedules.update(tx, due.id, { next_run_at, last_run_at: now, last_status: 'queued' });
    this.#enqueueRun(tx, due.project_id, {
      schedule_id: due.id,
      api_key_id: due.api_key_id,
      is_test: due.is_test,
      due_at: due.next_run_at,
    });
    return is_in_time ? null : { message: 'a missed run of a schedule is made up for', fields };
  }

  #enqueueRun(tx: Tx, project_id: number, payload: RunPayload): string {
    return this.deps.enqueue(tx, {
      project_id,
      type: SCHEDULE_RUN,
      priority: PRIORITY.scheduled,
      payload: { ...payload },
      max_attempts: 1,
    });
  }

  /** Looks at what was sent only: a schedule whose template is gone can still be paused or renamed. */
  #checkContent(project_id: number, fields: ScheduleValues, sent: ScheduleChanges): void {
    this.#checkDomain(project_id, fields, sent);
    this.#checkTemplate(project_id, fields, sent);
  }

  #checkDomain(project_id: number, fields: ScheduleValues, sent: ScheduleChanges): void {
    if (sent.domain !== undefined && fields.domain !== null)
      this.deps.emails.checkDomain(project_id, fields.domain);
  }

  #checkTemplate(project_id: number, fields: ScheduleValues, sent: ScheduleChanges): void {
    const is_touched = sent.template !== undefined || sent.variables !== undefined;
    if (is_touched && fields.template !== null) {
      this.deps.templates.renderForSend(project_id, fields.template, fields.variables);
    }
  }
}

function noteOf(
  event: string,
  { id, name }: Pick<ScheduleRow, 'id' | 'name'>,
  more: Record<string, unknown> = {},
) {
  return { event, target: `schedule:${id}`, metadata: { name, ...more } };
}

/**
 * The first tick from now that was not run yet. A late run counts for the tick that it was due at and for the
 * latest one.
 */
function nextUnrun(
  tx: Tx,
  schedule: {
    id: string;
    project_id: number;
    cron_expression: string;
    timezone: string;
    next_run_at: number;
  },
  now_ms: number,
): number | null {
  const cron = parseCron(schedule.cron_expression, schedule.timezone);
  let tick = cron.ok ? cron.next(now_ms) : null;
  if (!cron.ok || tick === null || tick >= schedule.next_run_at) return tick;
  const runs = listRunsQueuedAfter(tx, schedule, { type: SCHEDULE_RUN, after_ms: now_ms });
  const isRun = (at: number): boolean =>
    runs.some(
      ({ due_at, queued_at }) => at === due_at || (at <= queued_at && at >= queued_at - SCHEDULE_GRACE_MS),
    );
  while (tick !== null && tick < schedule.next_run_at && isRun(tick)) tick = cron.next(tick);
  return tick;
}

/** Throws AppError `invalid` for an expression that never comes due. */
function nextRun(cron: Cron, now_ms: number): number {
  const next = cron.next(now_ms);
  if (next === null) throw invalid({ cron_expression: ['never comes due: no such date exists'] });
  return next;
}

/** `SHOWN_RUNS` of them, the first at this moment. */
function runsFrom(cron: Cron, first: number | null): string[] {
  const runs: string[] = [];
  for (let at = first; at !== null && runs.length < SHOWN_RUNS; at = cron.next(at)) runs.push(toIso(at));
  return runs;
}

/** Runs at once: each renders and stores at most 50 mails, so more would only compete for the same writer. */
const SCHEDULE_RUN_CONCURRENCY = 4;

/** Runs jobs of the type `schedule.run`. */
export function createScheduleTask(schedules: Schedules): Task<null> {
  return {
    type: SCHEDULE_RUN,
    lane_concurrency: SCHEDULE_RUN_CONCURRENCY,
    begin: () => ({ go: true, started: null }),
    run: (job) => schedules.runs.execute(job),
    abandon: (tx, job) => schedules.runs.abandon(tx, job),
  };
}
