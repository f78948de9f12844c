/**
 * Writing a project's file beside a server: all rows of one committed state, then the bytes that they name.
 * It appears under its name once it is whole and durable.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import { closeSync, existsSync, fstatSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError, conflict, messageOf } from '../../errors.ts';
import type { OnProgress } from '../../platform/cli/progress.ts';
import { connect } from '../../platform/database/plain-connection.ts';
import { blobName } from '../../platform/files/archive.ts';
import { flushFolder } from '../../platform/files/file-sink.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { openBlob } from '../../platform/files/store.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { asCallerAt } from '../../platform/host/ownership.ts';
import { publish, refuseExisting, withScratch } from '../../platform/host/scratch.ts';
import type { WrappedKey } from '../../platform/secrets/key-ring.ts';
import type { MasterKey } from '../../platform/secrets/sealing.ts';
import { lineOf } from './arriving.ts';
import { LEFT_OUT, MANIFEST, type ProjectFile, ProjectWriter, rowsName } from './format.ts';
import { type Manifest, readManifest } from './manifest-store.ts';
import type { Going, Ranges } from './rows-store.ts';
import { listObjects, listPinned, type ObjectBytesRow, readContents, sumBytes } from './store.ts';

const WHAT = 'an export';
/** Rows are written so many bytes at a time; a row is never cut. */
const PIECE_BYTES = 1024 * 1024;

/** What is to be written, and under which key. */
export interface ExportJob {
  data_dir: string;
  file: string;
  project_id: number;
  about: ProjectFile;
  key: MasterKey;
  going: readonly Going[];
  ranges: Ranges;
  /** The data keys of the project, wrapped by `key`. */
  wrapKeys(): WrappedKey[];
  store: S3Store | null;
  now_ms: number;
  onProgress: OnProgress;
}

export interface Exported {
  file: string;
  size_bytes: number;
  rows: number;
  objects: number;
  object_bytes: number;
  /** Objects whose bytes are in the object store, and not in the file. */
  stored_objects: number;
  /** Objects that are not in the file, as their bytes were gone or damaged. */
  left_out: string[];
}

/** Throws AppError `conflict` where the file is there, `invalid` where its folder is not. */
export function checkPlace(file: string): string {
  const path = resolve(file);
  refuseExisting(path, WHAT);
  if (!asCallerAt(path, () => existsSync(dirname(path))))
    throw new AppError('invalid', `The folder ${dirname(path)} does not exist.`);
  return path;
}

/** Writes the file, mode 0600. Throws AppError `unavailable` where it can't, and leaves nothing. */
export async function writeProject(job: ExportJob): Promise<Exported> {
  const { file, data_dir } = job;
  const partial = join(dirname(file), `.${basename(file)}.${process.pid}.partial`);
  return withScratch([partial], async () => {
    const sqlite = connect(databasePathOf(data_dir), { query_only: true });
    try {
      const fd = asCallerAt(file, () => {
        rmSync(partial, { force: true });
        return openSync(partial, 'wx', 0o600);
      });
      let exported: Omit<Exported, 'file'>;
      try {
        // Until its end, all that is read is of one committed state.
        sqlite.run('BEGIN');
        exported = await new Export(sqlite, fd, job).write();
      } finally {
        closeSync(fd);
      }
      publish(partial, file, WHAT);
      await flushFolder(dirname(file));
      return { file, ...exported };
    } catch (error) {
      if (error instanceof AppError) throw error;
      const message = `The file ${file} could not be written: ${messageOf(error)}. Nothing was left of it.`;
      throw new AppError('unavailable', message, { cause: error });
    } finally {
      sqlite.close();
    }
  });
}

class Export {
  readonly #writer: ProjectWriter;
  readonly #written: Omit<Exported, 'file' | 'size_bytes'> = {
    rows: 0,
    objects: 0,
    object_bytes: 0,
    stored_objects: 0,
    left_out: [],
  };
  #pieces = 0;
  readonly #total_bytes: number;

  constructor(
    private readonly sqlite: Sqlite,
    fd: number,
    private readonly job: ExportJob,
  ) {
    this.#writer = new ProjectWriter(fd, job.now_ms, job);
    this.#total_bytes = sumBytes(sqlite, job.project_id, job.about.with_store);
  }

  async write(): Promise<Omit<Exported, 'file'>> {
    const { project_id, ranges, wrapKeys } = this.job;
    const manifest: Manifest = { ...readManifest(this.sqlite, project_id, ranges), data_keys: wrapKeys() };
    this.#writer.writeText(MANIFEST, JSON.stringify(manifest));
    for (const going of this.job.going) await this.#writeRows(going);
    for (const object of listObjects(this.sqlite, project_id)) await this.#writeObject(object);
    for (const pinned of listPinned(this.sqlite, project_id)) await this.#writePinned(pinned);
    this.#writer.writeText(LEFT_OUT, JSON.stringify({ objects: this.#written.left_out }));
    return { ...this.#written, size_bytes: await this.#writer.finish() };
  }

  async #writeRows({ table, columns, select }: Going): Promise<void> {
    const head = `${JSON.stringify({ table, columns: columns.map(({ name }) => name) })}\n`;
    let lines: string[] = [];
    let size = 0;
    const flush = async (): Promise<void> => {
      if (lines.length === 0) return;
      this.#pieces += 1;
      this.#writer.writeText(rowsName(this.#pieces), head + lines.join(''));
      lines = [];
      size = 0;
      this.#tell();
      // Signals are heard, and others have a turn.
      await new Promise((done) => setImmediate(done));
    };
    const rows = this.sqlite.query<Record<string, unknown>, [number]>(select);
    for (const row of rows.iterate(this.job.project_id)) {
      const line = lineOf(Object.values(row));
      lines.push(line);
      size += line.length;
      this.#written.rows += 1;
      if (size >= PIECE_BYTES) await flush();
    }
    await flush();
  }

  async #writeObject(object: ObjectBytesRow): Promise<void> {
    const is_stored = object.store === 's3';
    if (is_stored && !this.job.about.with_store) {
      this.#written.stored_objects += 1;
      return;
    }
    const is_written = is_stored ? await this.#writeStored(object) : await this.#writeFile(object);
    if (!is_written) {
      this.#written.left_out.push(object.public_id);
      return;
    }
    this.#written.objects += 1;
    this.#written.object_bytes += object.size_bytes;
    this.#tell();
  }

  async #writePinned({ public_id, is_stored }: { public_id: string; is_stored: number }): Promise<void> {
    const size_bytes = is_stored ? await this.job.store?.sizeOf(public_id) : null;
    const file = { public_id, size_bytes: size_bytes ?? null, sha256: null };
    await (typeof size_bytes === 'number'
      ? this.#writeStored({ ...file, size_bytes })
      : this.#writeFile(file));
  }

  async #writeFile(of: {
    public_id: string;
    size_bytes: number | null;
    sha256: string | null;
  }): Promise<boolean> {
    const { public_id, sha256 } = of;
    const held = readContents(this.sqlite, public_id);
    if (held) {
      const file = { bytes: new Blob([held]).stream(), size_bytes: held.byteLength, sha256 };
      return this.#writer.writeStream(blobName(public_id), file);
    }
    const fd = openBlob(this.job.data_dir, public_id);
    if (fd === null) return false;
    try {
      const size_bytes = fstatSync(fd).size;
      if (of.size_bytes !== null && of.size_bytes !== size_bytes) return false;
      return await this.#writer.writeFile(blobName(public_id), { fd, size_bytes, sha256 });
    } finally {
      closeSync(fd);
    }
  }

  async #writeStored(of: { public_id: string; size_bytes: number; sha256: string | null }): Promise<boolean> {
    const { public_id, size_bytes } = of;
    const { store } = this.job;
    if (!store)
      throw conflict('No object store is set. Set SATCHEL_OBJECT_STORE and its keys for this command.');
    const bytes = await store.read(public_id, { start: 0, end: size_bytes, size_bytes });
    return bytes !== null && (await this.#writer.writeStream(blobName(public_id), { ...of, bytes }));
  }

  #tell(): void {
    this.job.onProgress(this.#writer.position, Math.max(this.#writer.position, this.#total_bytes));
  }
}
