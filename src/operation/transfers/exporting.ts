/**
 * Writing a project's file beside a server: all rows of one committed state, then the bytes that they name.
 * Those take as long as there are files, and no committed state is held for them: what was deleted meanwhile
 * is left out. The file appears under its name once it is whole and durable.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import { closeSync, existsSync, openSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError, messageOf } from '../../errors.ts';
import { NOT_WHOLE } from '../../platform/cli/output.ts';
import { connect } from '../../platform/database/plain-connection.ts';
import { blobName } from '../../platform/files/archive.ts';
import { addBlob, addStored } from '../../platform/files/archive-blobs.ts';
import { type Outlet, STANDARD_OUTPUT } from '../../platform/files/archive-writer.ts';
import { flushFolder } from '../../platform/files/file-sink.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { publish, refuseExisting, withScratch } from '../../platform/host/folders.ts';
import { asCallerAt } from '../../platform/host/ownership.ts';
import { letOthers, type OnProgress } from '../../platform/host/waiting.ts';
import type { WrappedKey } from '../../platform/secrets/key-ring.ts';
import type { MasterKey } from '../../platform/secrets/sealing.ts';
import { lineOf } from './arriving.ts';
import { LEFT_OUT, MANIFEST, type ProjectFile, ProjectWriter, rowsName } from './format.ts';
import { type Manifest, readManifest } from './manifest-store.ts';
import type { Going, Ranges } from './rows-store.ts';
import type { Written } from './schemas.ts';
import { type BytesRow, findBytes, listBytes, readContents, sumBytes } from './store.ts';

const WHAT = 'an export';
/** Rows are written so many bytes at a time; a row is never cut. */
const PIECE_BYTES = 1024 * 1024;
const IDS_A_TURN = 1000;

/** The project that is to be written, and under which key. */
export interface ExportJob {
  data_dir: string;
  /** With an outlet, beside which the scratch file is, and no more. */
  file: string;
  outlet: Outlet | null;
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

export interface Exported extends Written {
  file: string;
}

/** Throws AppError `conflict` where the file is there, `invalid` where its folder is not. */
export function checkPlace(file: string): string {
  const path = resolve(file);
  refuseExisting(path, WHAT);
  if (!asCallerAt(path, () => existsSync(dirname(path))))
    throw new AppError('invalid', `The folder ${dirname(path)} does not exist.`);
  return path;
}

/** Writes the file, mode 0600, or to the outlet. Throws AppError `unavailable` where it can't, and leaves nothing. */
export async function writeProject(job: ExportJob): Promise<Exported> {
  const { file, data_dir, outlet } = job;
  const partial = join(dirname(file), `.${basename(file)}.${process.pid}.partial`);
  return withScratch([partial], async () => {
    const sqlite = connect(databasePathOf(data_dir), { query_only: true });
    try {
      const fd = asCallerAt(file, () => {
        rmSync(partial, { force: true });
        return openSync(partial, 'wx+', 0o600);
      });
      let exported: Written;
      try {
        exported = await new Export(sqlite, fd, job).write();
      } finally {
        closeSync(fd);
      }
      if (outlet) return { file: STANDARD_OUTPUT, ...exported };
      publish(partial, file, WHAT);
      await flushFolder(dirname(file));
      return { file, ...exported };
    } catch (error) {
      if (error instanceof AppError) throw error;
      const [name, left] = outlet ? [STANDARD_OUTPUT, NOT_WHOLE] : [file, 'Nothing was left of it.'];
      const message = `The file ${name} could not be written: ${messageOf(error)}. ${left}`;
      throw new AppError('unavailable', message, { cause: error });
    } finally {
      sqlite.close();
    }
  });
}

class Export {
  readonly #writer: ProjectWriter;
  readonly #written: Omit<Written, 'size_bytes'> = {
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

  async write(): Promise<Written> {
    const { project_id, ranges, wrapKeys } = this.job;
    // Until its end, all that is read is of one committed state.
    this.sqlite.run('BEGIN');
    const manifest: Manifest = { ...readManifest(this.sqlite, project_id, ranges), data_keys: wrapKeys() };
    this.#writer.writeText(MANIFEST, JSON.stringify(manifest));
    for (const going of this.job.going) await this.#writeRows(going);
    const { going, staying } = await this.#listNamed();
    this.sqlite.run('COMMIT');
    for (const public_id of going) await this.#writeBytes(public_id);
    for (const public_id of staying) await this.#countStored(public_id);
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
      // Signals are heard, too.
      await letOthers();
      await this.#writer.passOn();
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

  /** Lists the objects that the rows name: those whose bytes go into the file, and those that stay in the object store. */
  async #listNamed(): Promise<{ going: string[]; staying: string[] }> {
    const named: { going: string[]; staying: string[] } = { going: [], staying: [] };
    let listed = 0;
    for (const { public_id, is_stored } of listBytes(this.sqlite, this.job.project_id)) {
      (is_stored && !this.job.about.with_store ? named.staying : named.going).push(public_id);
      listed += 1;
      if (listed % IDS_A_TURN === 0) await letOthers();
    }
    return named;
  }

  async #countStored(public_id: string): Promise<void> {
    await letOthers();
    if (findBytes(this.sqlite, public_id)) this.#written.stored_objects += 1;
    else this.#written.left_out.push(public_id);
  }

  async #writeBytes(public_id: string): Promise<void> {
    await letOthers();
    const of = findBytes(this.sqlite, public_id);
    const size_bytes = of && (await this.#addBytes(of));
    if (size_bytes === null) {
      this.#written.left_out.push(public_id);
      return;
    }
    this.#written.objects += 1;
    this.#written.object_bytes += size_bytes;
    this.#tell();
  }

  /** Returns their number; null, writing nothing, where they are gone or not those that the row tells of. */
  async #addBytes(of: BytesRow): Promise<number | null> {
    const { data_dir, store } = this.job;
    if (of.store === 's3') return store && addStored(this.#writer, store, of);
    const held = readContents(this.sqlite, of.public_id);
    if (!held) return addBlob(this.#writer, data_dir, of);
    const { byteLength: size_bytes } = held;
    const file = { bytes: new Blob([held]).stream(), size_bytes, sha256: of.sha256 };
    return (await this.#writer.writeStream(blobName(of.public_id), file)) ? size_bytes : null;
  }

  #tell(): void {
    this.job.onProgress(this.#writer.position, Math.max(this.#writer.position, this.#total_bytes));
  }
}
