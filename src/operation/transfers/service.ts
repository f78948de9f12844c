/**
 * Moves a project: exports it to a file here, and imports it elsewhere. What would go on by itself stops on
 * both sides until somebody lets it go. Here the project is inactive; there schedules are paused and waiting
 * mail is withheld. Sequences and broadcasts are paused on both.
 */
import { resolve } from 'node:path';
import { deleteArriving, listArriving, type Projects } from '../../access/projects/service.ts';
import type { Config } from '../../config.ts';
import { AppError, conflict, invalid, messageOf, type Remedy, toDo } from '../../errors.ts';
import { MIN_TRANSFER_PASSPHRASE_CHARS, SWEEP_BATCH } from '../../limits.ts';
import { type Note, recordAudit } from '../../platform/database/audit-trail.ts';
import type { Outlet } from '../../platform/files/archive-writer.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { isServed, lockImports } from '../../platform/host/directory-lock.ts';
import { requireRoom } from '../../platform/host/folders.ts';
import { sqliteErrorOf } from '../../platform/host/shortages.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { countCodePoints, parse } from '../../platform/http/schema.ts';
import { projectScope } from '../../platform/secrets/key-ring.ts';
import { createSalt, deriveMasterKey } from '../../platform/secrets/master-key-source.ts';
import { counted } from '../../platform/words/phrases.ts';
import { examine, type ImportDeps, type ImportJob, keepsPlace } from './examining.ts';
import { checkPlace, type Exported, type ExportJob, writeProject } from './exporting.ts';
import { ProjectFiles } from './files.ts';
import { openAbout, type ProjectFile, projectFile, WrongPassphrase } from './format.ts';
import { IMPORT_SPARE_BYTES, Import, missingOf, refuseKnown } from './importing.ts';
import { listGoing, selectRanges } from './rows-store.ts';
import type { Coming, Imported, LetGo } from './schemas.ts';
import * as store from './store.ts';

/** Rows that one transaction of an undone import takes out. */
const PIECE_ROWS = 200;
const LOOK_AGAIN_MS = 200;
/** How long an export waits for work in progress. The slowest relays take longer: then it is made again. */
const EXPORT_WAIT_MS = 4 * 60_000;

interface Owner {
  readonly id: number;
  readonly public_id: string;
  readonly name: string;
  readonly slug: string;
}

/** Each noun lets go on what is its own. */
export interface TransfersDeps extends ImportDeps {
  config: Pick<Config, 'data_dir' | 'object_store' | 'public_url'>;
  object_store: ExportJob['store'];
  schedules: {
    update(project_id: number, id: string, changes: { is_active: boolean }, note: Note): Promise<unknown>;
    listMoved(project_id: number): string[];
  };
  sequence_life: {
    resume(actor: Actor, owner: Owner, public_id: string): Promise<void>;
    listMoved(project_id: number): string[];
  };
  broadcast_life: {
    letGo(actor: Actor, owner: Owner, public_id: string): Promise<void>;
    listMoved(project_id: number): string[];
  };
  projects: Pick<Projects, 'moveAway' | 'moveBack'>;
  engine: { wake(): void };
  contacts: { sweep(): Promise<void> };
}

/** A file that is to be imported. */
interface ToImport extends Pick<ImportJob, 'slug' | 'actor' | 'onProgress'> {
  file: string;
  /** For messages; its path unless given. */
  name?: string;
  passphrase: string;
}

export class Transfers {
  /** Those that are kept here on their way. */
  readonly files: ProjectFiles;

  constructor(private readonly deps: TransfersDeps) {
    this.files = new ProjectFiles({ ...deps, transfers: this });
  }

  /* --- Out -------------------------------------------------------------------------------------------------------- */

  /**
   * Writes a project to a new file, or to an outlet. Unless it is a copy, the project becomes inactive first and its work
   * ends. Throws AppError `conflict` where the file exists or something does not end, `invalid` for a short
   * passphrase.
   */
  async export(
    project: Owner,
    how: {
      file: string | Outlet;
      passphrase: string;
      is_copy: boolean;
      with_store: boolean;
      actor: Actor;
      onProgress: OnProgress;
    },
  ): Promise<Exported> {
    const { config, clock, key_ring, database, object_store, projects } = this.deps;
    const { file, outlet } =
      typeof how.file === 'string'
        ? { file: checkPlace(how.file), outlet: null }
        : { file: this.files.freshPath(), outlet: how.file };
    if (countCodePoints(how.passphrase) < MIN_TRANSFER_PASSPHRASE_CHARS)
      throw invalid({
        _: [`The passphrase must have at least ${MIN_TRANSFER_PASSPHRASE_CHARS} characters.`],
      });
    if (!object_store && (how.with_store || store.findStored(database.read, project.id)))
      throw conflict('No object store is set. Set SATCHEL_OBJECT_STORE and its keys for this command.');
    const salt = createSalt();
    const key = await deriveMasterKey(how.passphrase, salt);
    await database.write((tx) => {
      const metadata = { name: project.name, copy: how.is_copy };
      const entry = { event: 'project.exported', target: `project:${project.id}`, project, metadata };
      recordAudit(tx, how.actor, entry, clock.now());
      if (!how.is_copy) projects.moveAway(tx, project.id);
    });
    if (!how.is_copy) await this.#waitForEnds(project);
    const { public_id, name, slug } = project;
    const { object_store: place } = config;
    const job: ExportJob = {
      data_dir: config.data_dir,
      file,
      outlet,
      project_id: project.id,
      key,
      about: {
        project: { public_id, name, slug },
        salt,
        key_id: key.id,
        store: place && { bucket: place.bucket, prefix: place.prefix },
        with_store: how.with_store,
      },
      going: listGoing(database.read),
      ranges: selectRanges(database.read),
      wrapKeys: () => key_ring.wrapScope(database.read, projectScope(public_id), key),
      store: object_store,
      now_ms: clock.now(),
      onProgress: how.onProgress,
    };
    try {
      return await writeProject(job);
    } catch (error) {
      if (how.is_copy || !(error instanceof AppError)) throw error;
      const now = `${slug} is inactive since: export it again, or have it go on with:`;
      throw new AppError(error.kind, `${messageOf(error)} ${now}`, { cause: error, remedy: goOn(slug) });
    }
  }

  /** Waits for work in progress. Nothing begins in an inactive project, so nothing follows. */
  async #waitForEnds(project: Owner): Promise<void> {
    const { database, config } = this.deps;
    const gives_up_ms = monotonicMs() + EXPORT_WAIT_MS;
    for (;;) {
      const { jobs, mails } = store.countUnderWay(database.read, project.id);
      // Without a server nobody works on them: they were cut off.
      if (jobs + mails === 0 || !isServed(config.data_dir)) return;
      if (monotonicMs() >= gives_up_ms)
        throw conflict(
          `${counted(jobs, 'job')} and ${counted(mails, 'mail')} of ${project.slug} are still being worked on. It is inactive, and nothing else of ` +
            'it goes on: export it again, or have it go on with:',
          { remedy: goOn(project.slug) },
        );
      await Bun.sleep(LOOK_AGAIN_MS);
    }
  }

  /* --- In --------------------------------------------------------------------------------------------------------- */

  /**
   * Imports a project from its file. Throws AppError and leaves nothing: `invalid` for a wrong passphrase, a
   * damaged or changed file, or one of another build; `conflict` where the project is here or its bytes can't
   * be reached.
   */
  async import(of: ToImport): Promise<Imported> {
    const { config, bytes } = this.deps;
    const job = await this.#open(of);
    const { about } = job;
    const lock = lockImports(config.data_dir);
    if (!lock) throw conflict('Another project is being imported: wait for its end.');
    try {
      await this.#removeAll();
      // Those of a deletion that was cut off: they may be the very ones that come back.
      await this.deps.contacts.sweep();
      refuseKnown(this.deps.database.read, about.project.public_id);
      const examined = await examine(this.deps, job);
      requireRoom(config.data_dir, job.size_bytes + IMPORT_SPARE_BYTES, 'an import');
      if (!keepsPlace(this.deps, about)) await bytes.requirePlace(bytes.current.name);
      try {
        return await (await Import.begin(this.deps, job, examined)).run();
      } catch (error) {
        throw await this.#takeOut(about, error);
      }
    } finally {
      lock.release();
    }
  }

  /**
   * What an import of a file would bring, and what it would miss here. Throws AppError as `import` does: `invalid` for a wrong
   * passphrase or a file that is damaged, `conflict` where the project is here. Writes nothing.
   */
  async check(of: ToImport): Promise<Coming> {
    const { read } = this.deps.database;
    const job = await this.#open(of);
    const { project } = job.about;
    refuseKnown(read, project.public_id);
    const { manifest, rows, objects } = await examine(this.deps, job);
    const { length: tokens } = manifest.tokens;
    return { ...project, rows, objects, tokens, missing: missingOf(read, manifest) };
  }

  /** Throws AppError `invalid` for what is no project file, and for a wrong passphrase. */
  async #open({ file, passphrase, ...of }: ToImport): Promise<ImportJob> {
    const path = resolve(file);
    const { name = path } = of;
    const { about: said, size_bytes } = openAbout(path, name);
    const about = parse(projectFile, said);
    const key = await deriveMasterKey(passphrase, about.salt);
    if (key.id !== about.key_id) throw new WrongPassphrase(name);
    return { ...of, path, name, size_bytes, key, about, is_served: isServed(this.deps.config.data_dir) };
  }

  /** Takes out what an import wrote that failed; the error says so. */
  async #takeOut({ project }: ProjectFile, error: unknown): Promise<unknown> {
    let left = 'Nothing was left of it.';
    try {
      await this.#removeAll();
    } catch (cause) {
      left = `What it wrote could not be removed (${messageOf(cause)}): nobody sees it, and the next start of the server removes it.`;
    }
    const is_forged = sqliteErrorOf(error)?.code?.startsWith('SQLITE_CONSTRAINT');
    const kind = error instanceof AppError ? error.kind : is_forged ? 'invalid' : 'internal';
    const why = messageOf(error).replace(/\.?$/, '.');
    return new AppError(kind, `${project.name} was not imported: ${why} ${left}`, { cause: error });
  }

  /** Removes what imports left that broke off, unless one is under way. */
  async sweep(): Promise<void> {
    const { database, config } = this.deps;
    if (listArriving(database.read).length === 0) return;
    const lock = lockImports(config.data_dir);
    if (!lock) return;
    try {
      await this.#removeAll();
    } finally {
      lock.release();
    }
  }

  async #removeAll(): Promise<void> {
    const { database, blobs, key_ring } = this.deps;
    const tables = listGoing(database.read).toReversed();
    for (const { id, public_id } of listArriving(database.read)) {
      for (const file of store.listFiles(database.read, id)) await blobs.remove(file.public_id);
      for (const { remove } of tables)
        while ((await database.write((tx) => remove(tx, id, PIECE_ROWS))) > 0) await Bun.sleep(0);
      await database.write((tx) => {
        key_ring.forgetScope(tx, projectScope(public_id));
        deleteArriving(tx, id);
      });
    }
  }

  /* --- On --------------------------------------------------------------------------------------------------------- */

  /** Resumes what an export or import paused, and waiting mail. What can't go on stays paused. */
  async letGo(project: Owner, actor: Actor): Promise<LetGo> {
    const { database, clock, engine, projects, schedules, sequence_life, broadcast_life } = this.deps;
    const result: LetGo = { schedules: 0, sequences: 0, broadcasts: 0, jobs: 0, stayed: [] };
    const note: Note = (tx, entry) => recordAudit(tx, actor, { ...entry, project }, clock.now());
    await database.write((tx) => {
      projects.moveBack(tx, project.id);
      note(tx, {
        event: 'project.let_go',
        target: `project:${project.id}`,
        metadata: { name: project.name },
      });
    });
    const resume = (id: string) => sequence_life.resume(actor, project, id);
    const start = (id: string) => schedules.update(project.id, id, { is_active: true }, note);
    const send = (id: string) => broadcast_life.letGo(actor, project, id);
    const stopped = [
      ...schedules.listMoved(project.id).map((id) => ({ kind: 'schedule', id, goOn: start }) as const),
      ...sequence_life.listMoved(project.id).map((id) => ({ kind: 'sequence', id, goOn: resume }) as const),
      ...broadcast_life.listMoved(project.id).map((id) => ({ kind: 'broadcast', id, goOn: send }) as const),
    ];
    for (const { kind, id, goOn } of stopped) {
      try {
        await goOn(id);
        result[`${kind}s`] += 1;
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        result.stayed.push({ kind, id, reason: messageOf(error) });
      }
    }
    for (;;) {
      const released = await database.writePiece((tx) => store.releaseSome(tx, project.id, SWEEP_BATCH));
      if (released === 0) break;
      result.jobs += released;
    }
    engine.wake();
    return result;
  }
}

const goOn = (slug: string): Remedy => toDo('project', `satchel project import --go ${slug}`, slug);
