/**
 * The backups that a server keeps in its data directory: making, listing, verifying and removing them over the API. The
 * work itself is done in a thread (src/app/maintenance.ts); what becomes of it is a row, so that it is known after a restart.
 */
import { lstatSync, readdirSync, rmSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { AppError, conflict, errorCodeOf, messageOf, notFound } from '../../errors.ts';
import { BACKUP_RECORD_RETRY_MS, JOB_RETENTION_MS } from '../../limits.ts';
import { recordAudit } from '../../platform/database/audit-trail.ts';
import { type Database, mayPass, type Tx } from '../../platform/database/database.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { makeFolder } from '../../platform/host/folders.ts';
import { isUlid, newId } from '../../platform/host/ids.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { looksWhole } from './reader.ts';
import { datedName } from './rotation.ts';
import type { BackupResult } from './service.ts';
import * as store from './store.ts';
import type { RunRow } from './tables.ts';
import type { VerifyResult } from './verification.ts';

/** What takes as long as there is data; see src/app/maintenance.ts. */
export interface BackupWork {
  backUp(file: string, now_ms: number): Promise<BackupResult>;
  verify(file: string, now_ms: number): Promise<VerifyResult>;
}

export interface BackupRecord {
  name: string;
  /** Null until it is whole, and where it failed. */
  size_bytes: number | null;
  created_at: string;
  status: RunRow['status'];
  /** Null for a file that was put there by other means, or long ago. */
  job_id: string | null;
}

/** The record of a job, as those of projects have it. */
export interface BackupJob {
  id: string;
  type: 'backup.make';
  status: RunRow['status'];
  attempts: number;
  result: Record<string, unknown> | null;
  error: string | null;
  queued_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface BackupsDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  config: { data_dir: string };
  work: BackupWork;
}

/** A name leads nowhere but into the folder. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,200}\.tar$/;
/** What backups and verifications leave that were cut off, with the process that did. */
const LEFTOVER = /^\.satchel-.*?(\d+)(?:\.(?:partial|snapshot|snapshot-journal))?$/;

export class Backups {
  readonly #deps: BackupsDeps;
  readonly #folder: string;
  #making: Promise<void> = Promise.resolve();
  #is_verifying = false;
  /** Names of those that are being removed: they are gone for everybody else. */
  readonly #removing = new Set<string>();
  #is_stopping = false;

  constructor(deps: BackupsDeps) {
    this.#deps = deps;
    this.#folder = join(deps.config.data_dir, 'backups');
  }

  /* --- Making one ------------------------------------------------------------------------------------------------- */

  /** Begins a backup and returns its record. Throws AppError `conflict` while another one, or a verification, is under way. */
  async make(actor: Actor): Promise<BackupRecord & { job_id: string }> {
    const { database, clock } = this.#deps;
    const now = clock.now();
    const name = datedName(now);
    const id = newId(now);
    const is_taken = this.#statOf(name) !== null;
    await database.write((tx) => {
      if (this.#is_verifying) throw conflict('A backup is being verified. Try again when that is done.');
      const other = store.findRunUnderWay(tx);
      if (other) throw conflict('A backup is being made already.', { details: { job_id: other.id } });
      if (is_taken || store.findRun(tx, { name }))
        throw conflict(`There is a backup ${name} already. Try again.`);
      store.insertRun(tx, { id, name, created_at: now });
      this.#audit(tx, actor, 'backup.started', name);
    });
    this.#making = this.#carryOut({ id, name }, now);
    return { name, size_bytes: null, created_at: toIso(now), status: 'processing', job_id: id };
  }

  async #carryOut({ id, name }: Pick<RunRow, 'id' | 'name'>, now: number): Promise<void> {
    const { logger, work } = this.#deps;
    try {
      makeFolder(this.#folder);
      const { file: _, ...result } = await work.backUp(join(this.#folder, name), now);
      await this.#end(id, { status: 'completed', error: null, result: { name, ...result } });
    } catch (error) {
      // It is begun anew by nobody; the next start says that it failed, and removes what is left of it.
      if (this.#is_stopping) return;
      logger.error('a backup failed', { job_id: id, error: messageOf(error) });
      // A thread that died has removed nothing.
      this.#removeLeftovers();
      const is_known = error instanceof AppError && error.kind !== 'internal';
      const message = is_known ? error.message : 'Something went wrong on the server.';
      await this.#end(id, { status: 'failed', error: message, result: null }).catch((cause: unknown) =>
        logger.error('recording a backup failed', { job_id: id, error: messageOf(cause) }),
      );
    }
  }

  /** Waits out a full disk: what became of it must not be lost for that. */
  async #end(id: string, end: Pick<RunRow, 'status' | 'error' | 'result'>): Promise<void> {
    const { database, clock } = this.#deps;
    for (;;) {
      try {
        await database.write((tx) => store.endRun(tx, id, { ...end, finished_at: clock.now() }));
        return;
      } catch (error) {
        if (!mayPass(error) || this.#is_stopping) throw error;
        await Bun.sleep(BACKUP_RECORD_RETRY_MS);
      }
    }
  }

  /** Says of a backup that the last stop cut off that it failed, and removes what is left of such. Before any other call. */
  async start(): Promise<void> {
    const { database, clock } = this.#deps;
    const run = store.findRunUnderWay(database.read);
    this.#removeLeftovers();
    if (!run) return;
    // It may have been whole, and only that was not written down any more.
    const size_bytes = this.#wholeSizeOf(run.name);
    const end =
      size_bytes === null
        ? { status: 'failed' as const, error: 'The server stopped before it was done.', result: null }
        : { status: 'completed' as const, error: null, result: { name: run.name, size_bytes } };
    await database.write((tx) => store.endRun(tx, run.id, { ...end, finished_at: clock.now() }));
  }

  /** What can't be removed is in nobody's way: the log says so, and the next start tries again. */
  #removeLeftovers(): void {
    try {
      for (const name of this.#names()) {
        const pid = Number(LEFTOVER.exec(name)?.[1] ?? Number.NaN);
        if (Number.isNaN(pid) || (pid !== process.pid && isRunning(pid))) continue;
        rmSync(join(this.#folder, name), { recursive: true, force: true });
      }
    } catch (error) {
      this.#deps.logger.error('removing what is left of backups failed', { error: messageOf(error) });
    }
  }

  /** Resolves when no backup is being made; for tests. */
  whenIdle(): Promise<void> {
    return this.#making;
  }

  /** What is under way is ended by whoever does the work. */
  stop(): Promise<void> {
    this.#is_stopping = true;
    return this.#making;
  }

  /* --- Those there are ---------------------------------------------------------------------------------------------- */

  /** Newest first. */
  list(): BackupRecord[] {
    const runs = store.listRuns(this.#deps.database.read);
    const files = this.#names().flatMap((name) => {
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
    const run = store.findRun(this.#deps.database.read, { name });
    if (stat) return this.#recordOf(name, stat, run);
    if (run && run.status !== 'completed') return recordWithoutFile(run);
    throw notFound('Backup');
  }

  /**
   * Where a backup is; on record, as who has it has everything but the master key. Throws AppError `conflict` unless it is
   * whole, `not_found` where it was deleted meanwhile.
   */
  async take(actor: Actor, { name, status }: BackupRecord): Promise<string> {
    requireWhole(status);
    await this.#deps.database.write((tx) => this.#audit(tx, actor, 'backup.downloaded', name));
    if (!this.#statOf(name)) throw notFound('Backup');
    return join(this.#folder, name);
  }

  /** Reads all of a backup and checks it in a scratch folder. Throws AppError `conflict`, and `unavailable` without room. */
  async verify({ name, status }: BackupRecord): Promise<VerifyResult> {
    requireWhole(status);
    const { database, clock, work } = this.#deps;
    if (this.#is_verifying || store.findRunUnderWay(database.read))
      throw conflict('A backup is being made or verified. Try again when that is done.');
    this.#is_verifying = true;
    try {
      return await work.verify(join(this.#folder, name), clock.now());
    } finally {
      this.#is_verifying = false;
    }
  }

  /**
   * Removes a backup, or the record of one that failed. Throws AppError `conflict` for one that is being made, `not_found`
   * where it is gone already.
   */
  async remove(actor: Actor, { name, status }: BackupRecord): Promise<void> {
    if (status === 'processing') throw conflict('The backup is being made. Try again when that is done.');
    if (this.#is_verifying) throw conflict('A backup is being verified. Try again when that is done.');
    // Its file can't go in the transaction that decides so.
    if (this.#removing.has(name)) throw notFound('Backup');
    this.#removing.add(name);
    try {
      await this.#deps.database.write((tx) => {
        store.deleteRun(tx, name);
        this.#audit(tx, actor, 'backup.deleted', name);
      });
      rmSync(join(this.#folder, name), { force: true });
    } finally {
      this.#removing.delete(name);
    }
  }

  /** The job of a backup; null for any other id. */
  findJob(id: string): BackupJob | null {
    const run = isUlid(id) ? store.findRun(this.#deps.database.read, { id: id.toUpperCase() }) : null;
    if (!run) return null;
    const { status, result, error } = run;
    const at = toIso(run.created_at);
    return {
      ...{ id: run.id, type: 'backup.make', status, attempts: 1, result, error },
      ...{ queued_at: at, started_at: at, finished_at: toIso(run.finished_at) },
    };
  }

  /** Forgets the jobs of old backups; the files stay. */
  async sweep(): Promise<void> {
    const { database, clock } = this.#deps;
    await database.write((tx) => store.deleteRunsBefore(tx, clock.now() - JOB_RETENTION_MS));
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch (error) {
      if (errorCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  /** Null for what is no file, or has no name of a backup: a link might lead anywhere. */
  #statOf(name: string): Stats | null {
    if (!NAME.test(name)) return null;
    const stat = lstatSync(join(this.#folder, name), { throwIfNoEntry: false });
    return stat?.isFile() ? stat : null;
  }

  #wholeSizeOf(name: string): number | null {
    const stat = this.#statOf(name);
    return stat && looksWhole(join(this.#folder, name)) ? stat.size : null;
  }

  #recordOf(name: string, stat: Stats, run: RunRow | null): BackupRecord {
    const is_whole = looksWhole(join(this.#folder, name));
    return {
      name,
      size_bytes: is_whole ? stat.size : null,
      created_at: toIso(run?.created_at ?? Math.floor(stat.mtimeMs)),
      status: is_whole ? 'completed' : 'failed',
      job_id: run?.id ?? null,
    };
  }

  #audit(tx: Tx, actor: Actor, event: string, name: string): void {
    recordAudit(tx, actor, { event, target: `backup:${name}`, project: null }, this.#deps.clock.now());
  }
}

function recordWithoutFile({ id, name, status, created_at }: RunRow): BackupRecord {
  return { name, size_bytes: null, created_at: toIso(created_at), status, job_id: id };
}

function requireWhole(status: RunRow['status']): void {
  if (status === 'completed') return;
  throw conflict(
    status === 'processing'
      ? 'The backup is being made. Try again when that is done.'
      : 'This is no whole backup.',
  );
}

/** Whether a process is there; one of another user is. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCodeOf(error) !== 'ESRCH';
  }
}
