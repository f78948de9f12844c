/**
 * Making a backup: one consistent file of the database and of every file that its rows name, beside a server.
 *
 * The database comes first, as a snapshot: VACUUM INTO reads one committed state, and in WAL mode no writer
 * waits for it. Then the files that the snapshot names are copied. A file never changes, but it may be
 * deleted meanwhile. Then the backup deletes its row from the snapshot, too, so that no server has to hold
 * deletions back. The snapshot is final only after the files, and therefore stands behind them.
 */
import type { Database as Sqlite } from 'bun:sqlite';
import { closeSync, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { AppError, messageOf } from '../../errors.ts';
import { NOT_WHOLE } from '../../platform/cli/output.ts';
import { connect, connectAsOwner, readMetaValue } from '../../platform/database/plain-connection.ts';
import { addBlob, addStored } from '../../platform/files/archive-blobs.ts';
import { type Outlet, STANDARD_OUTPUT } from '../../platform/files/archive-writer.ts';
import { flushFolder } from '../../platform/files/file-sink.ts';
import type { S3Store } from '../../platform/files/s3-store.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { databasePathOf, requireDatabase } from '../../platform/host/database-file.ts';
import {
  makeFolder,
  publish,
  refuseExisting,
  requireRoom,
  withScratch,
} from '../../platform/host/folders.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import { BackupWriter, backupFolder, DATABASE, STORED, storedLine } from './format.ts';
import {
  dropBlobs,
  dropPassing,
  largestBlobBytes,
  listNamedBlobs,
  listStoredObjects,
  sumIn,
} from './store.ts';

/** A backup leaves so much of the disk free that a server can go on: some thousand commits. */
const BACKUP_SPARE_BYTES = 64 * 1024 * 1024;

export interface BackupResult {
  file: string;
  size_bytes: number;
  created_at: string;
  objects: number;
  object_bytes: number;
  /** Those whose bytes are in the object store. A backup lists them, and holds their bytes only on demand. */
  stored_objects: number;
  stored_bytes: number;
  with_store: boolean;
  database_bytes: number;
  /** The backup needs this master key; null when nothing was ever sealed. */
  master_key_id: string | null;
  /** Objects whose bytes were missing or damaged on the disk already: they are not in the backup. */
  left_out: string[];
}

interface MakeOptions {
  clock: Clock;
  store?: S3Store | null;
  onProgress?: OnProgress;
}

/**
 * Writes a backup of a data directory to a new file of mode 0600. The file appears under its name once it is
 * whole and durable. It needs no master key, migrates nothing, and works beside a running server. Throws
 * AppError `conflict` when the file exists, `not_found` without a database, `unavailable` when it can't be
 * written.
 */
export async function backUp(
  data_dir: string,
  { file: named, ...options }: MakeOptions & { file: string },
): Promise<BackupResult> {
  const file = resolve(named);
  requireDatabase(data_dir);
  refuseExisting(file, 'a backup');
  if (!existsSync(dirname(file)))
    throw new AppError('invalid', `The folder ${dirname(file)} does not exist.`);
  return make(data_dir, options, { beside: file, outlet: null });
}

/**
 * As `backUp`, to an outlet. What it needs meanwhile is in the data directory: a copy of the database, and
 * one file after the other. Throws AppError `unavailable` where the server would be left without room to go on.
 */
export async function backUpTo(
  data_dir: string,
  { outlet, ...options }: MakeOptions & { outlet: Outlet },
): Promise<BackupResult> {
  requireRoomFor(requireDatabase(data_dir), data_dir, (live, bytes) => bytes + largestBlobBytes(live));
  const folder = backupFolder(data_dir);
  makeFolder(folder);
  // A server's start removes what is left of such names.
  const beside = join(folder, 'satchel-stream');
  return make(data_dir, options, { beside, outlet });
}

/**
 * As `backUp`, into the server's own data directory. Throws AppError `unavailable` where the server would be
 * left without room to go on.
 */
export async function backUpWithin(
  data_dir: string,
  options: { file: string; clock: Clock },
): Promise<BackupResult> {
  // The snapshot, and the backup with another copy of it.
  requireRoomFor(
    requireDatabase(data_dir),
    dirname(options.file),
    (live, bytes) => 2 * bytes + sumIn(live, 'local').bytes,
  );
  return backUp(data_dir, options);
}

function requireRoomFor(
  live_path: string,
  folder: string,
  sum: (live: Sqlite, database_bytes: number) => number,
): void {
  const live = connect(live_path, { query_only: true });
  try {
    const wal = statSync(`${live_path}-wal`, { throwIfNoEntry: false });
    const needed = sum(live, statSync(live_path).size + (wal?.size ?? 0));
    requireRoom(folder, needed + BACKUP_SPARE_BYTES, 'a backup');
  } finally {
    live.close();
  }
}

/** Has the archive in the file `beside`, or with the outlet; scratch files are beside that path. */
async function make(
  data_dir: string,
  { clock, store: from = null, onProgress = () => {} }: MakeOptions,
  { beside, outlet }: { beside: string; outlet: Outlet | null },
): Promise<BackupResult> {
  const file = outlet ? STANDARD_OUTPUT : beside;
  const mark = join(dirname(beside), `.${basename(beside)}.${process.pid}`);
  const [partial, snapshot] = [`${mark}.partial`, `${mark}.snapshot`];
  return withScratch([partial, snapshot, `${snapshot}-journal`], async () => {
    try {
      takeSnapshot(databasePathOf(data_dir), snapshot);
      dropPassing(snapshot);
      const created_ms = clock.now();
      const result = await writeBackup({ data_dir, snapshot, partial, created_ms, from, outlet, onProgress });
      if (!outlet) {
        publish(partial, file, 'a backup');
        await flushFolder(dirname(file));
      }
      return { file, ...result };
    } catch (error) {
      if (error instanceof AppError) throw error;
      const left = outlet ? NOT_WHOLE : 'Nothing was left behind.';
      const message = `The backup ${file} could not be made: ${messageOf(error)}. ${left}`;
      throw new AppError('unavailable', message, { cause: error });
    }
  });
}

/** A copy of one committed state. It is flushed with the backup, not by itself. */
function takeSnapshot(live_path: string, snapshot: string): void {
  rmSync(snapshot, { force: true });
  closeSync(openSync(snapshot, 'wx', 0o600));
  const live = connectAsOwner(live_path, { query_only: false });
  try {
    live.run('PRAGMA synchronous = OFF');
    live.query('VACUUM INTO ?').run(snapshot);
  } finally {
    live.close();
  }
}

interface Writing {
  data_dir: string;
  snapshot: string;
  partial: string;
  created_ms: number;
  from: S3Store | null;
  outlet: Outlet | null;
  onProgress: OnProgress;
}

async function writeBackup(job: Writing): Promise<Omit<BackupResult, 'file'>> {
  const { data_dir, snapshot, partial, created_ms, from, outlet, onProgress } = job;
  rmSync(partial, { force: true });
  const fd = openSync(partial, 'wx+', 0o600);
  try {
    const writer = new BackupWriter(fd, created_ms, outlet);
    const copy = connect(snapshot, { query_only: true });
    const missing: string[] = [];
    const blobs = { objects: 0, object_bytes: 0, stored_objects: 0, stored_bytes: 0 };
    let held = { objects: 0, bytes: 0 };
    let master_key_id: string | null;
    let total_bytes = statSync(snapshot).size;
    try {
      master_key_id = readMetaValue(copy, 'master_key_id');
      total_bytes += sumIn(copy, 'local').bytes + (from ? sumIn(copy, 's3').bytes : 0);
      for (const blob of listNamedBlobs(copy)) {
        const size_bytes = await addBlob(writer, data_dir, blob);
        if (size_bytes === null) missing.push(blob.public_id);
        else blobs.objects += 1;
        blobs.object_bytes += size_bytes ?? 0;
        onProgress(writer.position, total_bytes);
      }
      const listed: string[] = [];
      for (const stored of listStoredObjects(copy)) {
        if (from && (await addStored(writer, from, stored)) === null) {
          missing.push(stored.public_id);
          continue;
        }
        listed.push(storedLine(stored));
        blobs.stored_bytes += stored.size_bytes;
        if (from) onProgress(writer.position, total_bytes);
      }
      blobs.stored_objects = listed.length;
      held = sumIn(copy, 'database');
      if (listed.length > 0) writer.writeText(STORED, listed.join(''));
    } finally {
      copy.close();
    }
    const left_out = missing.length > 0 ? dropBlobs(snapshot, databasePathOf(data_dir), missing) : [];
    const database_bytes = await copyDatabase(writer, snapshot);
    const size_bytes = await writer.finish();
    return {
      size_bytes,
      created_at: toIso(created_ms),
      ...blobs,
      objects: blobs.objects + held.objects,
      object_bytes: blobs.object_bytes + held.bytes,
      with_store: from !== null,
      database_bytes,
      master_key_id,
      left_out,
    };
  } finally {
    closeSync(fd);
  }
}

async function copyDatabase(writer: BackupWriter, snapshot: string): Promise<number> {
  const fd = openSync(snapshot, 'r');
  try {
    const size_bytes = statSync(snapshot).size;
    if (!(await writer.writeFile(DATABASE, { fd, size_bytes, sha256: null }))) {
      throw new Error('the snapshot of the database was cut short');
    }
    return size_bytes;
  } finally {
    closeSync(fd);
  }
}
