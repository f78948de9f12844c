/**
 * The backups in a server's data directory: making, listing, verifying and removing them over the API. The
 * work is a job, done in a thread (src/app/maintenance.ts). One that was cut off starts anew at the next
 * start.
 */
import { lstatSync, readdirSync, rmSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../config.ts';
import { AppError, conflict, errorCodeOf, messageOf, notFound } from '../../errors.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { makeFolder } from '../../platform/host/folders.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { type Static, t } from '../../platform/http/schema.ts';
import { parse } from '../../platform/http/validation.ts';
import type { Task, TaskOutcome } from '../../platform/jobs/engine.ts';
import { AT_ONCE, deleteJob, listJobsOfNoProject, type NewJob, PRIORITY } from '../../platform/jobs/store.ts';
import { backupFolder, looksWhole } from './format.ts';
import { type Ended, noteBackup, noteVerified } from './history.ts';
import type { BackupResult } from './making.ts';
import { datedName, nightlyName, pruneNightly } from './rotation.ts';
import type { BackupRecord } from './schemas.ts';
import { BACKUP_MAKE } from './store.ts';
import type { VerifyResult } from './verification.ts';

/** Work that takes as long as there is data; src/app/maintenance.ts does it. */
export interface BackupWork {
  backUp(file: string, now_ms: number): Promise<BackupResult>;
  verify(file: string, now_ms: number): Promise<VerifyResult>;
}

/** A job of a backup, which tells of it where there is no file. */
interface Run {
  id: string;
  name: string;
  status: BackupRecord['status'];
  created_at: number;
}

interface BackupsDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  config: Pick<Config, 'data_dir' | 'backup_dir'>;
  work: BackupWork;
  enqueue(tx: Tx, job: NewJob): string;
}

/** A backup that takes the server down must not do so at each start. */
const BACKUP_MAX_ATTEMPTS = 3;
/** `keep`: of one that the server makes by itself, how many of those stay. */
const job_payload = t.Object({ name: t.String(), keep: t.Optional(t.Integer()) });
/** Names that can't lead out of the folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.tar$/;
/** Names of what a backup or verification leaves that was cut off, with the number of its process. */
const LEFTOVER = /^\.(?:satchel|nightly)-.*?(\d+)(?:\.(?:partial|snapshot|snapshot-journal))?$/;

export class Backups {
  readonly folder: string;
  #is_verifying = false;
  /** Names of those that are being removed: they are gone for everybody else. */
  readonly #removing = new Set<string>();

  constructor(private readonly deps: BackupsDeps) {
    this.folder = deps.config.backup_dir ?? backupFolder(deps.config.data_dir);
  }

  /* --- Making one ------------------------------------------------------------------------------------------------- */

  /** Begins a backup. Throws AppError `conflict` while a backup or a verification is under way. */
  async make(actor: Actor): Promise<BackupRecord> {
    const { database, clock } = this.deps;
    const name = datedName(clock.now());
    const is_taken = this.#statOf(name) !== null;
    await database.write((tx) => {
      if (this.#is_verifying) throw conflict('A backup is being verified. Try again when that is done.');
      const runs = listRuns(tx);
      const other = runs.find(isUnderWay);
      if (other) throw conflict('A backup is being made already.', { details: { job_id: other.id } });
      if (is_taken || runs.some((run) => run.name === name))
        throw conflict(`There is a backup ${name} already. Try again.`);
      this.#enqueue(tx, { name });
      this.#audit(tx, actor, 'backup.started', name);
    });
    return this.require(name);
  }

  /** As `make`, of one that nobody asked for. False while a backup or a verification is under way. */
  beginNightly(tx: Tx, keep: number): boolean {
    if (this.#is_verifying || listRuns(tx).some(isUnderWay)) return false;
    this.#enqueue(tx, { name: nightlyName(this.deps.clock.now()), keep });
    return true;
  }

  #enqueue(tx: Tx, payload: Static<typeof job_payload>): void {
    const of = { type: BACKUP_MAKE, priority: PRIORITY.background, max_attempts: BACKUP_MAX_ATTEMPTS };
    this.deps.enqueue(tx, { ...of, project_id: null, payload });
  }

  /** Remembers why one failed. */
  noteFailed(message: string): void {
    this.#note({ failure: { at_ms: this.deps.clock.now(), message } });
  }

  #note(ended: Ended): void {
    try {
      noteBackup(this.deps.config.data_dir, ended);
    } catch (error) {
      this.deps.logger.error('what became of a backup could not be noted', { error: messageOf(error) });
    }
  }

  /** Does the job of a backup: for its task. */
  async carryOut(job: JobRow, stopping: AbortSignal): Promise<TaskOutcome> {
    const { logger, work, clock } = this.deps;
    const { name, keep } = parse(job_payload, job.payload);
    // A crash may have cut one off, or come when it was whole, before that was written down.
    this.removeLeftovers();
    try {
      this.#makeFolder();
      const size_bytes = this.#wholeSizeOf(name);
      if (size_bytes !== null) return this.#complete({ name, size_bytes }, { made_ms: job.queued_at, keep });
      const made_ms = clock.now();
      const { file: _, ...result } = await work.backUp(join(this.folder, name), made_ms);
      return this.#complete({ name, ...result }, { made_ms, keep });
    } catch (error) {
      const message = messageOf(error);
      if (stopping.aborted) return { status: 'retry', error: message, run_at: AT_ONCE, is_cut_off: true };
      // A thread that died has removed nothing.
      this.removeLeftovers();
      this.noteFailed(message);
      if (!(error instanceof AppError) || error.kind === 'internal') throw error;
      logger.error('a backup failed', { job_id: job.id, error: message });
      return { status: 'failed', error: message, result: null };
    }
  }

  #makeFolder(): void {
    try {
      makeFolder(this.folder);
      if (!statSync(this.folder).isDirectory()) throw new Error('it is no folder');
    } catch (cause) {
      throw new AppError('unavailable', `The folder ${this.folder} can't be used: ${messageOf(cause)}.`, {
        cause,
      });
    }
  }

  #complete(
    result: { name: string; size_bytes: number },
    { made_ms, keep }: { made_ms: number; keep: number | undefined },
  ): TaskOutcome {
    this.#note({ made_ms });
    try {
      if (keep !== undefined) pruneNightly(this.folder, keep);
    } catch (error) {
      this.deps.logger.error('older nightly backups could not be removed', { error: messageOf(error) });
    }
    return { status: 'completed', error: null, result };
  }

  /**
   * Removes what was left by backups and verifications that were cut off. What can't be removed is logged and
   * tried again next time.
   */
  removeLeftovers(): void {
    try {
      for (const folder of new Set([this.folder, backupFolder(this.deps.config.data_dir)]))
        for (const name of namesIn(folder)) {
          const pid = Number(LEFTOVER.exec(name)?.[1] ?? Number.NaN);
          if (Number.isNaN(pid) || (pid !== process.pid && isRunning(pid))) continue;
          rmSync(join(folder, name), { recursive: true, force: true });
        }
    } catch (error) {
      this.deps.logger.error('removing what is left of backups failed', { error: messageOf(error) });
    }
  }

  /* --- Those there are ---------------------------------------------------------------------------------------------- */

  /** Newest first. */
  list(): BackupRecord[] {
    const runs = listRuns(this.deps.database.read);
    const files = namesIn(this.folder).flatMap((name) => {
      const stat = this.#statOf(name);
      return stat ? [this.#recordOf(name, stat, runs.find((run) => run.name === name) ?? null)] : [];
    });
    const without_file = runs
      .filter(({ name, status }) => status !== 'completed' && !files.some((file) => file.name === name))
      .map(recordWithoutFile);
    return [...files, ...without_file].sort((a, b) => (a.created_at < b.created_at ? 1 : -1));
  }

  /** Throws AppError `not_found`, for what is no name of a backup too. */
  require(name: string): BackupRecord {
    const stat = this.#statOf(name);
    const run = this.#findRun(this.deps.database.read, name);
    if (stat) return this.#recordOf(name, stat, run);
    if (run && run.status !== 'completed') return recordWithoutFile(run);
    throw notFound('Backup');
  }

  /**
   * Where a backup is. It goes on record, as a backup holds everything but the master key. Throws AppError
   * `conflict` unless it is whole, `not_found` where it was deleted meanwhile.
   */
  async take(actor: Actor, { name, status }: BackupRecord): Promise<string> {
    requireWhole(status);
    await this.deps.database.write((tx) => this.#audit(tx, actor, 'backup.downloaded', name));
    if (!this.#statOf(name)) throw notFound('Backup');
    return join(this.folder, name);
  }

  /** Checks all of a backup in a scratch folder. Throws AppError `conflict`, `unavailable` without room. */
  async verify({ name, status }: BackupRecord): Promise<VerifyResult> {
    requireWhole(status);
    const { database, clock, work, config } = this.deps;
    if (this.#is_verifying || listRuns(database.read).some(isUnderWay))
      throw conflict('A backup is being made or verified. Try again when that is done.');
    this.#is_verifying = true;
    try {
      const result = await work.verify(join(this.folder, name), clock.now());
      noteVerified(config.data_dir, result);
      return result;
    } finally {
      this.#is_verifying = false;
    }
  }

  /**
   * Removes a backup, or the record of one that failed. Throws AppError `conflict` while it is being made,
   * `not_found` where it is gone.
   */
  async remove(actor: Actor, { name, status }: BackupRecord): Promise<void> {
    if (status === 'processing') throw conflict('The backup is being made. Try again when that is done.');
    if (this.#is_verifying) throw conflict('A backup is being verified. Try again when that is done.');
    // Its file can't go in the transaction that decides so.
    if (this.#removing.has(name)) throw notFound('Backup');
    this.#removing.add(name);
    try {
      await this.deps.database.write((tx) => {
        const run = this.#findRun(tx, name);
        if (run) deleteJob(tx, run.id);
        this.#audit(tx, actor, 'backup.deleted', name);
      });
      rmSync(join(this.folder, name), { force: true });
    } finally {
      this.#removing.delete(name);
    }
  }

  #findRun(read: Tx, name: string): Run | null {
    return listRuns(read).find((run) => run.name === name) ?? null;
  }

  /** Null for what is no file, or has no name of a backup: a link might lead anywhere. */
  #statOf(name: string): Stats | null {
    if (!NAME.test(name)) return null;
    const stat = lstatSync(join(this.folder, name), { throwIfNoEntry: false });
    return stat?.isFile() ? stat : null;
  }

  #wholeSizeOf(name: string): number | null {
    const stat = this.#statOf(name);
    return stat && looksWhole(join(this.folder, name)) ? stat.size : null;
  }

  #recordOf(name: string, stat: Stats, run: Run | null): BackupRecord {
    const is_whole = looksWhole(join(this.folder, name));
    return {
      name,
      size_bytes: is_whole ? stat.size : null,
      created_at: toIso(run?.created_at ?? Math.floor(stat.mtimeMs)),
      status: is_whole ? 'completed' : 'failed',
      job_id: run?.id ?? null,
    };
  }

  #audit(tx: Tx, actor: Actor, event: string, name: string): void {
    recordAudit(tx, actor, { event, target: `backup:${name}`, project: null }, this.deps.clock.now());
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Of the jobs that are remembered, newest first. */
function listRuns(read: Tx): Run[] {
  return listJobsOfNoProject(read, BACKUP_MAKE).map(({ id, status, queued_at, payload }) => ({
    id,
    name: parse(job_payload, payload).name,
    created_at: queued_at,
    status: status === 'pending' ? 'processing' : status,
  }));
}

function isUnderWay({ status }: Run): boolean {
  return status === 'processing';
}

function recordWithoutFile({ id, name, status, created_at }: Run): BackupRecord {
  return { name, size_bytes: null, created_at: toIso(created_at), status, job_id: id };
}

function requireWhole(status: BackupRecord['status']): void {
  if (status === 'completed') return;
  throw conflict(
    status === 'processing'
      ? 'The backup is being made. Try again when that is done.'
      : 'This is no whole backup.',
  );
}

/** True when a process is there, also one of another user. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH';
  }
}

/** Runs jobs of the type `backup.make`. */
export function createBackupTask(backups: Backups): Task<null> {
  return {
    type: BACKUP_MAKE,
    lane_concurrency: 1,
    begin(_tx, job) {
      if (job.attempts <= job.max_attempts) return { go: true, started: null };
      const error = 'The server stopped before it was done.';
      // No file is written within a transaction.
      queueMicrotask(() => backups.noteFailed(error));
      return { go: false, end: { status: 'failed', result: null, error } };
    },
    run: (job, _started, stopping) => backups.carryOut(job, stopping),
  };
}
