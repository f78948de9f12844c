/**
 * Files of projects that the server keeps for a day in the folder `transfers` of its data directory: those that it exported, to be
 * downloaded, and those that were sent to it, to be imported. One export, check or import at a time.
 */
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { AppError, conflict, invalid, notFound } from '../../errors.ts';
import { flushFolder } from '../../platform/files/file-sink.ts';
import { readPatiently } from '../../platform/files/patient-reading.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { makeFolder, publish, requireRoom, withScratch } from '../../platform/host/folders.ts';
import { isUlid, newId, timeOf } from '../../platform/host/ids.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { parse } from '../../platform/http/schema.ts';
import { openAbout, projectFile, WrongPassphrase } from './format.ts';
import { IMPORT_SPARE_BYTES } from './importing.ts';
import type { Coming, FileRecord, Imported, UnderWay, Written } from './schemas.ts';
import type { Transfers } from './service.ts';

/** Decision: a project file that the server keeps is on its way; to come, it may take as long (100 GB at 10 Mbit/s). */
const TRANSFER_FILE_MS = 24 * 3_600_000;

interface Deps {
  transfers: Pick<Transfers, 'export' | 'check' | 'import'>;
  clock: Clock;
  config: Pick<Config, 'data_dir'>;
}

const SUFFIX = '.satchel';
const PARTIAL = '.partial';
const IDLE: UnderWay = { work: null, percent: null };

export class ProjectFiles {
  readonly #folder: string;
  #under_way = IDLE;

  constructor(private readonly deps: Deps) {
    this.#folder = join(deps.config.data_dir, 'transfers');
  }

  /** How far what is being done has come. */
  get under_way(): UnderWay {
    return this.#under_way;
  }

  /** Newest first. */
  list(): FileRecord[] {
    return this.#names()
      .filter((name) => name.endsWith(SUFFIX))
      .sort()
      .reverse()
      .flatMap((name) => this.#find(name.slice(0, -SUFFIX.length)) ?? []);
  }

  /** Throws AppError `not_found`. */
  require(id: string): FileRecord {
    const record = isUlid(id) ? this.#find(id.toUpperCase()) : null;
    if (!record) throw notFound('Project file');
    return record;
  }

  pathOf({ id }: Pick<FileRecord, 'id'>): string {
    return join(this.#folder, `${id}${SUFFIX}`);
  }

  /** Where none is yet; what is left beside it of an export that was cut off is removed as its day is over. */
  freshPath(): string {
    return this.#fresh().path;
  }

  #fresh(): { id: string; path: string } {
    makeFolder(this.#folder);
    const id = newId(this.deps.clock.now());
    return { id, path: this.pathOf({ id }) };
  }

  remove(record: FileRecord): void {
    if (this.#under_way.work !== null) throw busy();
    rmSync(this.pathOf(record), { force: true });
  }

  /** Exports a project to a file here. Throws AppError as `Transfers.export` does, and `conflict` while something else is done. */
  async export(
    project: Parameters<Transfers['export']>[0],
    how: { passphrase: string; is_copy: boolean; with_store: boolean; actor: Actor },
  ): Promise<FileRecord & Written> {
    return this.#work('export', async (onProgress) => {
      const { id, path } = this.#fresh();
      const { file: _, ...exported } = await this.deps.transfers.export(project, {
        ...how,
        file: path,
        onProgress,
      });
      return { ...this.require(id), ...exported };
    });
  }

  /**
   * Takes in a file as it comes; what is answered is on disk. Throws AppError `invalid` for what is no project file, and
   * `unavailable` where there is no room.
   */
  async receive(body: ReadableStream<Uint8Array> | null, size_bytes: number | null): Promise<FileRecord> {
    const { id, path } = this.#fresh();
    requireRoom(this.#folder, (size_bytes ?? 0) + IMPORT_SPARE_BYTES, 'a project file');
    const partial = `${path}${PARTIAL}`;
    const refuse = (why: string): AppError => invalid({ _: [`The file did not come whole: ${why}.`] });
    try {
      await this.#write(
        partial,
        readPatiently(body ?? new Blob().stream(), { refuse, deadline_ms: TRANSFER_FILE_MS }),
      );
      const project = readProject(partial);
      if (project instanceof AppError) throw project;
      publish(partial, path, 'a project file');
      await flushFolder(this.#folder);
      return this.require(id);
    } finally {
      rmSync(partial, { force: true });
    }
  }

  /** Does something with a file that comes as a stream, once all of it is here, and forgets it. */
  async withStream<T>(bytes: AsyncIterable<Uint8Array>, use: (path: string) => Promise<T>): Promise<T> {
    const path = `${this.#fresh().path}${PARTIAL}`;
    return withScratch([path], async () => {
      await this.#write(path, bytes);
      return use(path);
    });
  }

  async #write(path: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const file = await open(path, 'wx', 0o600);
    try {
      let since_look = 0;
      for await (const chunk of bytes) {
        await file.appendFile(chunk);
        since_look += chunk.byteLength;
        if (since_look < IMPORT_SPARE_BYTES / 4) continue;
        requireRoom(this.#folder, IMPORT_SPARE_BYTES, 'a project file');
        since_look = 0;
      }
      await file.sync();
    } finally {
      await file.close();
    }
  }

  /** Tells what an import would bring, and miss. Throws AppError as `Transfers.check` does. */
  check(record: FileRecord, of: { passphrase: string; actor: Actor }): Promise<Coming> {
    return this.#work('check', (onProgress) =>
      this.deps.transfers.check({ ...of, file: this.pathOf(record), onProgress }),
    );
  }

  /** Imports the project and forgets the file. Throws AppError as `Transfers.import` does. */
  import(
    record: FileRecord,
    of: { passphrase: string; slug?: string | undefined; actor: Actor },
  ): Promise<Imported> {
    return this.#work('import', async (onProgress) => {
      const imported = await this.deps.transfers.import({ ...of, file: this.pathOf(record), onProgress });
      rmSync(this.pathOf(record), { force: true });
      return imported;
    });
  }

  /** Removes files whose day is over, and what came of those that were cut off. */
  sweep(): void {
    if (this.#under_way.work !== null) return;
    const now_ms = this.deps.clock.now();
    for (const name of this.#names()) {
      const [, id = ''] = /^\.?([0-9A-Z]{26})\./.exec(name) ?? [];
      if (isUlid(id) && timeOf(id) + TRANSFER_FILE_MS <= now_ms)
        rmSync(join(this.#folder, name), { force: true });
    }
  }

  async #work<T>(
    work: NonNullable<UnderWay['work']>,
    act: (onProgress: OnProgress) => Promise<T>,
  ): Promise<T> {
    if (this.#under_way.work !== null) throw busy();
    this.#under_way = { work, percent: 0 };
    try {
      return await act((done, total) => {
        this.#under_way = { work, percent: total ? Math.floor((100 * done) / total) : null };
      });
    } catch (error) {
      throw error instanceof WrongPassphrase
        ? invalid({ passphrase: ['is not the one that the file was exported with'] })
        : this.#namingFiles(error);
    } finally {
      this.#under_way = IDLE;
    }
  }

  /** Whoever asks over HTTP knows the files by their names; where they are is the machine's business. */
  #namingFiles(error: unknown): unknown {
    const data_dir = resolve(this.deps.config.data_dir);
    if (!(error instanceof AppError && error.message.includes(data_dir))) return error;
    const message = error.message
      .replaceAll(`${resolve(this.#folder)}/`, '')
      .replaceAll(data_dir, 'the data directory');
    return new AppError(error.kind, message, { cause: error });
  }

  #names(): string[] {
    return existsSync(this.#folder) ? readdirSync(this.#folder) : [];
  }

  #find(id: string): FileRecord | null {
    const path = this.pathOf({ id });
    const stat = statSync(path, { throwIfNoEntry: false });
    const created_ms = timeOf(id);
    if (!stat || created_ms + TRANSFER_FILE_MS <= this.deps.clock.now()) return null;
    const project = readProject(path);
    // It was whole as it came: the disk has damaged it since, and its day ends it.
    if (project instanceof AppError) return null;
    return {
      id,
      size_bytes: stat.size,
      created_at: toIso(created_ms),
      expires_at: toIso(created_ms + TRANSFER_FILE_MS),
      project,
    };
  }
}

/** Reads whose file it is, or why it is none. */
function readProject(path: string): FileRecord['project'] | AppError {
  try {
    return parse(projectFile, openAbout(path).about).project;
  } catch (cause) {
    if (!(cause instanceof AppError)) throw cause;
    const message = 'This is no project file: satchel project export and the console make them.';
    return invalid({ _: [message] }, { cause });
  }
}

function busy(): AppError {
  return conflict('Another project is being exported or imported: wait for its end.');
}
