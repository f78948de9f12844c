/** The job that goes on with an import at the configured rate. */

import type { Projects } from '../../access/projects/service.ts';
import { IMPORT_REQUEST_GRACE_MS } from '../../limits.ts';
import { mayPass } from '../../platform/database/database.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { type Clock, MINUTE_MS } from '../../platform/host/clock.ts';
import { explainDescriptors } from '../../platform/host/shortages.ts';
import { parse, t } from '../../platform/http/schema.ts';
import type { Task, TaskOutcome } from '../../platform/jobs/engine.ts';
import { projectOf } from '../../platform/jobs/store.ts';
import { EMAIL_IMPORT, endOf, type Imports } from './service.ts';

/**
 * How long one turn of an import in the background takes. Short turns keep its rate even and let others in.
 */
const IMPORT_TURN_MS = 12_000;
/** Imports that go on at once: each holds the event loop up for a few milliseconds at a time. */
const IMPORT_CONCURRENCY = 2;

const payload = t.Object({ import_id: t.String() });

export interface ImportTaskDeps {
  imports: Imports;
  projects: Projects;
  clock: Clock;
}

/**
 * Runs jobs of the type `email.import`. Each turn takes as many rows as the rate allows; the next comes when
 * it allows more.
 */
export function createImportTask(deps: ImportTaskDeps): Task<null> {
  return {
    type: EMAIL_IMPORT,
    lane_concurrency: IMPORT_CONCURRENCY,
    begin: () => ({ go: true, started: null }),
    run: (job, _started, stopping) => takeTurn(deps, job, stopping),
    abandon: (tx, job) => deps.imports.abandon(tx, parse(payload, job.payload).import_id),
  };
}

async function takeTurn(deps: ImportTaskDeps, job: JobRow, stopping: AbortSignal): Promise<TaskOutcome> {
  const { imports, projects, clock } = deps;
  const { import_id } = parse(payload, job.payload);
  const owner = projects.findById(projectOf(job));
  if (!owner) return endOf(import_id, { status: 'failed', error: 'The project was deleted.' });
  const began_ms = clock.now();
  const rows_per_minute = imports.rowsPerMinute(import_id);
  const limits = {
    rows:
      rows_per_minute === null
        ? Number.POSITIVE_INFINITY
        : Math.max(1, Math.floor((rows_per_minute * IMPORT_TURN_MS) / MINUTE_MS)),
    shouldStop: () => stopping.aborted || clock.now() - began_ms >= IMPORT_TURN_MS,
  };
  const pause = await imports.advance(owner, import_id, limits).catch((error: unknown) => {
    if (mayPass(explainDescriptors(error))) return null;
    throw error;
  });
  // The disk is full, or no descriptor is left to read the file: what is done is committed, the rest waits.
  if (pause === null) return { status: 'continue', run_at: clock.now() + IMPORT_TURN_MS };
  if (pause.status === 'more') {
    const owed_ms = rows_per_minute === null ? 0 : Math.ceil((pause.rows * MINUTE_MS) / rows_per_minute);
    return { status: 'continue', run_at: began_ms + owed_ms };
  }
  // The request that began it is still at it; this job goes on with it should the server die.
  if (pause.status === 'superseded')
    return { status: 'continue', run_at: clock.now() + IMPORT_REQUEST_GRACE_MS };
  if (pause.status === 'waiting') return { status: 'continue', run_at: pause.run_at };
  return endOf(import_id, pause);
}
