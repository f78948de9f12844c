/**
 * One run of a schedule: a mail for each recipient, accepted in one commit that also notes in the job who was
 * served. So a run that is cut off anywhere goes on where it was, and nobody gets it twice.
 */

import { AppError } from '../../errors.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { type Clock, SECOND_MS } from '../../platform/host/clock.ts';
import { nullable, parse, type Static, t } from '../../platform/http/schema.ts';
import type { TaskOutcome } from '../../platform/jobs/engine.ts';
import { projectOf } from '../../platform/jobs/store.ts';
import type { Emails } from '../emails/service.ts';
import type { Templates } from '../templates/service.ts';
import { type Recipient, recipient } from './schemas.ts';
import { noteRunEnd, saveRunPayload, schedules } from './store.ts';
import type { ScheduleRow } from './tables.ts';

/** Quotas start afresh each UTC day. What could not be served in one and a bit is reported. */
const SCHEDULE_GIVE_UP_MS = 25 * 3_600_000;

/**
 * When a run whose recipients wait for capacity tries again, where the refusal does not say; and at the
 * earliest.
 */
const SCHEDULE_RETRY_MS = 5 * 60_000;
const MIN_SCHEDULE_RETRY_MS = 30_000;

/** What the job of a run holds. */
const run_payload = t.Object({
  schedule_id: t.String(),
  /** Whose daily limit the mails count towards. */
  api_key_id: nullable(t.Integer()),
  is_test: t.Boolean(),
  /** The tick that it is for; null for a run off the cadence. */
  due_at: nullable(t.Integer()),
  /** Set by the first attempt: who is still to be served, and what came of the others. */
  progress: t.Optional(
    t.Object({
      waiting: t.Array(recipient),
      email_ids: t.Array(t.String()),
      refused: t.Array(t.Object({ email: t.String(), reason: t.String() })),
    }),
  ),
});
export type RunPayload = Static<typeof run_payload>;
type Progress = NonNullable<RunPayload['progress']>;

/** What tells a run from the others of its schedule. */
interface Run {
  schedule_id: string;
  queued_at: number;
}

interface Content {
  subject: string;
  body_html: string | null;
  body_text: string | null;
}

export interface ScheduleRunsDeps {
  database: Database;
  clock: Clock;
  templates: Pick<Templates, 'renderForSend'>;
  emails: Pick<Emails, 'acceptScheduled' | 'checkDomain'>;
}

export class ScheduleRuns {
  constructor(private readonly deps: ScheduleRunsDeps) {}

  /** Does what is left of a run and says how it stands: ended, or to be tried again for those who wait. */
  async execute(job: JobRow): Promise<TaskOutcome> {
    const payload = parse(run_payload, job.payload);
    const run = { schedule_id: payload.schedule_id, queued_at: job.queued_at };
    const { database } = this.deps;
    // Everybody was served; a crash came before that was recorded.
    if (payload.progress?.waiting.length === 0) return this.#outcome(run, payload.progress, null);
    const schedule = schedules.find(database.read, projectOf(job), payload.schedule_id);
    if (!schedule) return giveUp({ run, payload }, [], 'The schedule was deleted before this run.');
    // A pause is there to stop mail, so it ends what waits for capacity too; a run that was asked for goes
    // on.
    if (!schedule.is_active && payload.due_at !== null)
      return giveUp(
        { run, payload },
        schedule.recipients,
        'The schedule was paused before this run had come to its end.',
      );
    try {
      const content = this.#contentOf(schedule);
      const { progress, wait } = await database.write((tx) =>
        this.#serve(tx, { job, payload, schedule, content }),
      );
      return this.#outcome(run, progress, wait);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind === 'internal') throw error;
      // The disk is full or the database busy: nothing of this attempt was kept.
      if (error.kind === 'unavailable') return this.#later(error.message, error);
      return giveUp({ run, payload }, schedule.recipients, error.message);
    }
  }

  /** Notes at the schedule that its run broke off for a reason nobody foresaw. */
  abandon(tx: Tx, job: JobRow): void {
    const { schedule_id } = parse(run_payload, job.payload);
    noteRunEnd(tx, { schedule_id, queued_at: job.queued_at, last_status: 'failed' });
  }

  /** Notes at the schedule that a run was left out. */
  leaveOut(tx: Tx, job: JobRow): void {
    const { schedule_id } = parse(run_payload, job.payload);
    noteRunEnd(tx, { schedule_id, queued_at: job.queued_at, last_status: 'skipped' });
  }

  #contentOf(schedule: ScheduleRow): Content {
    if (schedule.template !== null) {
      return this.deps.templates.renderForSend(schedule.project_id, schedule.template, schedule.variables);
    }
    return {
      subject: schedule.subject ?? '',
      body_html: schedule.body_html,
      body_text: schedule.body_text,
    };
  }

  #serve(
    tx: Tx,
    run: { job: JobRow; payload: RunPayload; schedule: ScheduleRow; content: Content },
  ): { progress: Progress; wait: AppError | null } {
    const { job, payload, schedule, content } = run;
    const before = payload.progress ?? { waiting: schedule.recipients, email_ids: [], refused: [] };
    const progress: Progress = {
      waiting: [],
      email_ids: [...before.email_ids],
      refused: [...before.refused],
    };
    const { cc, bcc, reply_to, from_name, domain, template } = schedule;
    const { api_key_id, is_test } = payload;
    const common = {
      cc,
      bcc,
      reply_to,
      from_name,
      domain,
      template,
      content,
      project_id: projectOf(job),
      api_key_id,
      is_test,
    };
    let wait: AppError | null = null;
    // Recipients who were removed from the schedule while the run waited are dropped. Addresses are compared
    // whatever their case.
    const listed = new Set(schedule.recipients.map(({ email }) => email.toLowerCase()));
    for (const to of before.waiting.filter(({ email }) => listed.has(email.toLowerCase()))) {
      try {
        progress.email_ids.push(this.deps.emails.acceptScheduled(tx, { ...common, to }));
      } catch (error) {
        if (!(error instanceof AppError) || error.kind === 'internal') throw error;
        if (this.#mayWait(job, error)) {
          progress.waiting.push(to);
          wait = error;
        } else {
          progress.refused.push({ email: to.email, reason: error.message });
        }
      }
    }
    saveRunPayload(tx, job.id, { ...payload, progress });
    return { progress, wait };
  }

  /**
   * Whether a recipient who was not taken now is tried again: for a day and a bit, since quotas are by the
   * day.
   */
  #mayWait(job: JobRow, error: AppError): boolean {
    const is_passing = error.kind === 'rate_limited' || error.kind === 'unavailable';
    return is_passing && this.deps.clock.now() - job.queued_at < SCHEDULE_GIVE_UP_MS;
  }

  #outcome(run: Run, progress: Progress, wait: AppError | null): TaskOutcome {
    if (wait) {
      const all = progress.waiting.length + progress.email_ids.length + progress.refused.length;
      return this.#later(`${progress.waiting.length} of ${all} recipients wait: ${wait.message}`, wait);
    }
    const [first] = progress.refused;
    if (!first) return ended(run, progress, null);
    const all = progress.email_ids.length + progress.refused.length;
    const error = `${progress.refused.length} of ${all} recipients got no email: ${first.reason}`;
    return ended(run, progress, error);
  }

  #later(error: string, cause: AppError): TaskOutcome {
    const asked_ms = cause.retry_after_s === undefined ? SCHEDULE_RETRY_MS : cause.retry_after_s * SECOND_MS;
    const run_at = this.deps.clock.now() + Math.max(asked_ms, MIN_SCHEDULE_RETRY_MS);
    return { status: 'retry', error, run_at };
  }
}

/** The end of a run that can serve nobody any more: whoever still waits gets nothing. */
function giveUp(
  { run, payload }: { run: Run; payload: RunPayload },
  recipients: readonly Recipient[],
  reason: string,
): TaskOutcome {
  const { waiting, email_ids, refused } = payload.progress ?? {
    waiting: recipients,
    email_ids: [],
    refused: [],
  };
  const left = waiting.map(({ email }) => ({ email, reason }));
  return ended(run, { waiting: [], email_ids, refused: [...refused, ...left] }, reason);
}

/**
 * The end of a run: a failure where there is an error. It is noted at the schedule too, if that had no later
 * run.
 */
function ended(run: Run, progress: Progress, error: string | null): TaskOutcome {
  const status = error === null ? 'completed' : 'failed';
  const { email_ids, refused } = progress;
  return {
    status,
    result: { schedule_id: run.schedule_id, accepted: email_ids.length, email_ids, refused },
    error,
    apply: (tx) =>
      noteRunEnd(tx, { schedule_id: run.schedule_id, queued_at: run.queued_at, last_status: status }),
  };
}
