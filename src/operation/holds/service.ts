/**
 * What a restore holds: what would go on by itself in a restored database, and may have gone out since the backup was made. It is
 * stopped before a server sees it, and goes on, or counts as done, once somebody says so.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { connect, readMetaValue } from '../../platform/database/plain-connection.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import {
  act,
  type CheckedDirectory,
  type HealthCheck,
  ok,
  problem,
} from '../../platform/host/health-check.ts';
import type { Actor } from '../../platform/http/callers.ts';
import {
  COUNTS_AS_DONE,
  findHeldJob,
  inPieces,
  listHeldJobs,
  parseRestoreHold,
  RESTORE_HOLD,
  RESTORE_RELEASED,
  type Release,
  type Released,
  type RestoreHold,
  readRestoreHold,
  releaseJobs,
} from '../../platform/jobs/restore-hold.ts';
import { finishJob, forgetPayload } from '../../platform/jobs/store.ts';
import { counted } from '../../platform/words/phrases.ts';
import type { HeldRecord, ReleasedRecord } from './schemas.ts';
import type { Done, Held } from './store.ts';
import * as store from './store.ts';

export { type HeldRecord, held } from './schemas.ts';
export type { Done, Held } from './store.ts';

interface Goes {
  letGoHeld(release: Release): Promise<Released>;
}

interface HoldsDeps {
  database: Database;
  clock: Clock;
  schedules: {
    letGoHeld(release: Release): Promise<number>;
    runs: { leaveOut(tx: Tx, job: JobRow): void };
  };
  sequence_life: Goes;
  broadcast_life: Goes;
  deliveries: {
    held: {
      letGo(of: Pick<Release, 'project_id'>): Promise<number>;
      drop(of: Pick<Release, 'project_id'> & { done_until: number }): Promise<number>;
    };
  };
  webhooks: { letGoHeld(release: Release): Promise<number> };
  engine: { wake(): void };
}

/** Holds what would go on by itself in a restored database that nobody serves yet. Returns how much. */
export function holdRestored(path: string, hold: RestoreHold, actor: Actor): Held {
  const sqlite = connect(path, { query_only: false });
  try {
    return sqlite.transaction(() => {
      store.holdAll(sqlite, hold.since_ms);
      const held = store.countHeldIn(sqlite);
      if (isAny(held)) store.noteHold(sqlite, hold, { actor, held });
      return held;
    })();
  } finally {
    sqlite.close();
  }
}

export function isAny(held: Held): boolean {
  return Object.values(held).some((n) => n > 0);
}

/** Counts what is held of these projects, or of all; null where nothing is. Costs nothing where no restore held anything. */
export function readHeld(read: Tx, project_ids: readonly number[] | null): HeldRecord | null {
  const hold = readRestoreHold(read);
  return hold && recordOf(hold, store.countHeld(read, project_ids));
}

/** All that is held in a database that nothing else is asked of. */
function readHeldIn(sqlite: Sqlite): HeldRecord | null {
  const hold = parseRestoreHold(readMetaValue(sqlite, RESTORE_HOLD));
  return hold && recordOf(hold, store.countHeldIn(sqlite));
}

function recordOf({ since_ms, backup }: RestoreHold, held: Held): HeldRecord | null {
  return isAny(held) ? { since: toIso(since_ms), backup, ...held } : null;
}

export class Holds {
  constructor(private readonly deps: HoldsDeps) {}

  /** Counts what is held of a project, or of all, and how much of it would count as done; null where nothing is held. */
  look(project_id: number | null): (HeldRecord & { done: Done }) | null {
    const { read } = this.deps.database;
    const ids = project_id === null ? null : [project_id];
    const held = readHeld(read, ids);
    return held && { ...held, done: store.countDone(read, ids, Date.parse(held.since)) };
  }

  /**
   * Has all go on that is held, of a project or of all, as if it had waited. With `drop` what was due before the
   * restore counts as done. It goes in pieces: cut off, the rest is still held.
   */
  async release(
    actor: Actor,
    { project, drop }: { project: { id: number; public_id: string } | null; drop: boolean },
  ): Promise<ReleasedRecord> {
    const { database, clock, schedules, sequence_life, broadcast_life, deliveries, webhooks, engine } =
      this.deps;
    const project_id = project?.id ?? null;
    const held = this.look(project_id);
    const done_until = drop && held ? Date.parse(held.since) : null;
    const release: Release = { actor, project_id, done_until };
    if (held) {
      const { since: _since, backup: _backup, done: _done, ...counts } = held;
      const metadata = { drop, done_until: toIso(done_until), ...counts };
      await database.write((tx) =>
        recordAudit(tx, actor, { event: RESTORE_RELEASED, target: null, project, metadata }, clock.now()),
      );
    }
    // Mails first: whoever waits for one that counts as done is then where the steps are skipped from.
    const dropped_mails = done_until === null ? 0 : await deliveries.held.drop({ project_id, done_until });
    const sequences = await sequence_life.letGoHeld(release);
    const broadcasts = await broadcast_life.letGoHeld(release);
    // Runs find their schedule as it was.
    const went_on_schedules = await schedules.letGoHeld(release);
    const mails = await deliveries.held.letGo(release);
    const jobs = await this.#letGoJobs(release);
    const told = await webhooks.letGoHeld(release);
    await database.write((tx) => {
      if (!isAny(store.countHeld(tx, null))) store.forgetHold(tx);
    });
    engine.wake();
    return {
      went_on: {
        mails,
        sequences: sequences.went_on,
        broadcasts: broadcasts.went_on,
        schedules: went_on_schedules,
        deliveries: drop ? 0 : told,
        jobs: drop ? 0 : jobs,
      },
      dropped: {
        mails: dropped_mails,
        broadcasts: broadcasts.dropped,
        deliveries: drop ? told : 0,
        jobs: drop ? jobs : 0,
        enrollments: sequences.dropped,
      },
    };
  }

  /** Sign-ups and runs were due as they came. */
  async #letGoJobs(release: Release): Promise<number> {
    let count = 0;
    for (const type of Object.values(store.OTHER_JOBS))
      count +=
        release.done_until === null
          ? await releaseJobs(this.deps.database, type, release)
          : await this.#dropJobs(type, release);
    return count;
  }

  #dropJobs(type: string, release: Release): Promise<number> {
    const { database, clock, schedules } = this.deps;
    return inPieces(database, listHeldJobs(database.read, type, release), (tx, id) => {
      const held = findHeldJob(tx, id);
      if (!held) return false;
      finishJob(tx, id, { status: 'failed', result: null, error: COUNTS_AS_DONE }, clock.now());
      if (type === store.OTHER_JOBS.run) schedules.runs.leaveOut(tx, held.job);
      // Whoever signed up is nobody's business once that is over.
      else forgetPayload(tx, id);
      return true;
    });
  }
}

export const RELEASE = 'satchel release --yes';
export const DROP = 'satchel release --drop --yes';

/** Without what there is none of; `nothing` where there is none of all. */
export function describeHeld(held: Partial<Held>): string {
  const { mails = 0, sequences = 0, broadcasts = 0, schedules = 0, deliveries = 0, jobs = 0 } = held;
  const kinds = [
    [mails, counted(mails, 'mail')],
    [sequences, counted(sequences, 'sequence')],
    [broadcasts, counted(broadcasts, 'broadcast')],
    [schedules, counted(schedules, 'schedule')],
    [deliveries, counted(deliveries, 'delivery of a webhook', 'deliveries of webhooks')],
    [jobs, counted(jobs, 'sign-up or run', 'sign-ups and runs')],
  ] as const;
  return kinds.flatMap(([n, words]) => (n > 0 ? [words] : [])).join(', ') || 'nothing';
}

/** Doctor's check of it. */
export function holdChecks({ sqlite }: CheckedDirectory): HealthCheck[] {
  const check = 'restore';
  const run: HealthCheck['run'] = () => {
    const held = readHeldIn(sqlite);
    if (held === null) return [ok(check, 'Nothing is held since a restore.')];
    const { since, backup } = held;
    const message =
      `Held since the restore at ${since}, of the backup of ${backup.created_at}: ${describeHeld(held)}. It may have gone out since, ` +
      'and nothing of it goes on by itself. Let all go on, or have what was due before the restore count as done.';
    return [problem(check, message, `${RELEASE}, or ${DROP}`, [act('release'), act('drop')])];
  };
  return [{ check, run }];
}
