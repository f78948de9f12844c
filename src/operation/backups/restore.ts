/**
 * Restoring a backup into a data directory.
 *
 * A restore counts from one moment on: when the new database is renamed into the old one's place. Until then
 * the old database is in force. The restored files stand beside its own, without a row, and the next start
 * sweeps them up. What was there before is kept: it is linked, not copied, into a folder that is a data
 * directory of its own.
 */
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { AppError, conflict, errorCodeOf, messageOf } from '../../errors.ts';
import { connect } from '../../platform/database/plain-connection.ts';
import type { ArchiveStream } from '../../platform/files/archive-source.ts';
import { flushFolder } from '../../platform/files/file-sink.ts';
import { S3Store } from '../../platform/files/s3-store.ts';
import { blobPathOf, listBlobFiles, type StoreName } from '../../platform/files/store.ts';
import { type Clock, toIso } from '../../platform/host/clock.ts';
import { makeDataDirectory } from '../../platform/host/data-directory.ts';
import { databasePathOf, hasDatabase } from '../../platform/host/database-file.ts';
import { lockDirectory } from '../../platform/host/directory-lock.ts';
import { makeScratch, requireRoom, withScratch } from '../../platform/host/folders.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import type { Actor } from '../../platform/http/callers.ts';
import { judgeMasterKey, type KeyDemand } from '../../platform/secrets/master-key-source.ts';
import { counted, shellWord } from '../../platform/words/phrases.ts';
import { type Held, holdRestored } from '../holds/service.ts';
import { placeBrought } from './brought.ts';
import { BackupReader } from './format.ts';
import { holdStore } from './store.ts';
import { type RestoredCounts, unpackAndCheck } from './unpacking.ts';

interface RestoreResult extends RestoredCounts {
  data_dir: string;
  created_at: string;
  master_key_id: string | null;
  /** Null when no key is at hand, or none is needed. */
  master_key_fits: boolean | null;
  /** Where the data is that was there before, or null when there was none. */
  replaced: string | null;
  /** Counts what would have gone on by itself, and waits to be let go; null where `release` was asked for. */
  held: Held | null;
  /** For the operator to know or do. */
  notes: string[];
}

interface RestoreOptions {
  file: string | ArchiveStream;
  replace: boolean;
  to?: StoreName;
  /** Holds nothing: the server goes on with what waits. */
  release?: boolean;
  actor: Actor;
  clock: Clock;
  onProgress?: OnProgress;
}

/** Begins the names of scratch folders of a restore; what a crash leaves of them the next restore removes. */
export const RESTORE_SCRATCH = 'restoring-';
/** Begins the names of folders that keep what a restore replaced. */
export const REPLACED = 'replaced-';

/**
 * Unpacks a backup in the data directory of the settings, checks all of it, and puts it in place. A directory
 * with a database is refused unless `replace` is set. Throws AppError and changes nothing: `invalid` for a
 * damaged backup; `conflict` when the directory is served, in use or has data, or when the master key is not
 * the backup's.
 */
export async function restoreBackup(config: Config, options: RestoreOptions): Promise<RestoreResult> {
  const { data_dir } = config;
  const store = options.to === 's3' ? requireStore(config) : null;
  const { file } = options;
  const reader = new BackupReader(typeof file === 'string' ? resolve(file) : file);
  const is_new = !existsSync(data_dir);
  try {
    const { about } = reader;
    const has_data = hasDatabase(data_dir);
    if (has_data && !options.replace) {
      throw conflict(
        `${data_dir} holds data already. Add --yes to put the backup of ${about.created_at} in its place; what is there now is ` +
          'kept beside it.',
      );
    }
    makeDataDirectory(data_dir);
    const lock = lockDirectory(data_dir, process.pid);
    try {
      const { counts, replaced, key, held } = await restoreLocked(reader, config, { ...options, store });
      return {
        data_dir,
        created_at: about.created_at,
        master_key_id: key.master_key_id,
        master_key_fits: key.fits,
        ...counts,
        replaced,
        held,
        notes: [...key.notes, ...noteOfOwner(data_dir), ...notesOf(counts, replaced, held)],
      };
    } finally {
      lock.release();
    }
  } catch (error) {
    if (is_new && !existsSync(databasePathOf(data_dir))) rmSync(data_dir, { recursive: true, force: true });
    throw error instanceof AppError ? error : explainFailure(error, data_dir);
  } finally {
    reader.close();
  }
}

function requireStore({ object_store }: Config): S3Store {
  if (object_store) return new S3Store(object_store);
  throw conflict('No object store is set. Set SATCHEL_OBJECT_STORE and its keys for this command.');
}

function explainFailure(error: unknown, data_dir: string): AppError {
  return new AppError(
    'unavailable',
    `The backup could not be restored to ${data_dir}: ${messageOf(error)}. What was there is still in force.`,
    { cause: error },
  );
}

interface JudgedKey {
  master_key_id: string | null;
  fits: boolean | null;
  notes: string[];
}

async function judgeKey(config: Config, demand: KeyDemand | null): Promise<JudgedKey> {
  if (demand === null) return { master_key_id: null, fits: null, notes: [] };
  const { master_key_id } = demand;
  const judged = await judgeMasterKey(config, demand);
  if (judged.fit === 'fits') return { master_key_id, fits: true, notes: [] };
  const where = `Put it into ${join(config.data_dir, 'master.key')} with mode 0600, or set SATCHEL_MASTER_KEY_FILE, SATCHEL_MASTER_KEY or SATCHEL_PASSPHRASE`;
  if (judged.fit === 'missing') {
    const note = `A backup does not hold the master key. This one needs the key ${master_key_id}. ${where}, before the server starts.`;
    return { master_key_id, fits: null, notes: [note] };
  }
  const keep = hasDatabase(config.data_dir) ? ' Keep the present key: what is there now needs it.' : '';
  throw conflict(
    `The master key does not fit this backup. ${judged.message} ${where}, and restore again.${keep} Nothing was changed.`,
  );
}

/** Where root could not restore it as the owner of the directory. */
function noteOfOwner(data_dir: string): string[] {
  const { uid, gid } = statSync(data_dir);
  if (process.geteuid?.() !== 0 || uid === 0) return [];
  const command = `chown -R ${uid}:${gid} ${shellWord(data_dir)}`;
  return [`What was restored is root's, and the directory is not. Before the server starts: ${command}`];
}

function notesOf(counts: RestoredCounts, replaced: string | null, held: Held | null): string[] {
  const { waiting_emails } = counts;
  return [
    ...(held === null && waiting_emails > 0
      ? [
          `${counted(waiting_emails, 'email was', 'emails were')} waiting when the backup was made: the server sends them when it starts, again if they went out since.`,
        ]
      : []),
    ...(replaced === null
      ? []
      : [`What was there before is in ${replaced}. Once you don't need it: rm -r ${shellWord(replaced)}`]),
  ];
}

async function restoreLocked(
  reader: BackupReader,
  config: Config,
  { clock, store, file, onProgress, actor, release }: RestoreOptions & { store: S3Store | null },
): Promise<{ counts: RestoredCounts; replaced: string | null; key: JudgedKey; held: Held | null }> {
  const { data_dir } = config;
  const now_ms = clock.now();
  for (const name of readdirSync(data_dir)) {
    // The lock is ours, so these are what a restore left that was cut off.
    if (name.startsWith(RESTORE_SCRATCH)) rmSync(join(data_dir, name), { recursive: true, force: true });
  }
  const scratch = join(data_dir, `${RESTORE_SCRATCH}${process.pid}`);
  return withScratch([scratch], async () => {
    requireRoom(data_dir, reader.size_bytes ?? 0);
    const fresh = join(scratch, 'fresh');
    makeScratch(fresh);
    const restored = await unpackAndCheck(reader, fresh, { durable: true, onProgress });
    const { findings, counts, key: demand } = restored;
    if (findings.length > 0) {
      throw new AppError(
        'invalid',
        `The backup ${reader.name} is not sound, and nothing was changed. ${findings.join(' ')}`,
      );
    }
    const key = await judgeKey(config, demand);
    const replaced = existsSync(databasePathOf(data_dir))
      ? await keepOldData(data_dir, scratch, toIso(now_ms))
      : null;
    if (counts.brought_objects > 0) await placeBrought(fresh, store);
    holdStore(databasePathOf(fresh), now_ms);
    const backup = {
      file: typeof file === 'string' ? basename(file) : null,
      created_at: reader.about.created_at,
    };
    const held = release ? null : holdRestored(databasePathOf(fresh), { since_ms: now_ms, backup }, actor);
    await placeBlobs(fresh, data_dir);
    await placeDatabase(fresh, data_dir);
    return { counts, replaced, key, held };
  });
}

const DATABASE_TAILS = ['', '-wal', '-shm', '-journal'];

/** Links all that is there into a folder that is then a data directory of its own. Returns its path. */
async function keepOldData(data_dir: string, scratch: string, now: string): Promise<string> {
  settleDatabase(databasePathOf(data_dir));
  const old = join(scratch, 'old');
  mkdirSync(old, { mode: 0o700 });
  for (const tail of DATABASE_TAILS) {
    const path = `${databasePathOf(data_dir)}${tail}`;
    if (existsSync(path)) linkOrCopy(path, `${databasePathOf(old)}${tail}`);
  }
  const folders = new Set([old]);
  for (const { folder, id } of listBlobFiles(data_dir)) {
    const home = join(old, 'objects', folder);
    if (!folders.has(home)) mkdirSync(home, { recursive: true, mode: 0o700 });
    folders.add(home).add(dirname(home));
    linkOrCopy(join(data_dir, 'objects', folder, id), join(home, id));
  }
  for (const folder of folders) await flushFolder(folder);
  const stamp = now.replaceAll(/[-:]|\.\d+/g, '');
  let replaced = join(data_dir, `${REPLACED}${stamp}`);
  for (let n = 2; existsSync(replaced); n += 1) replaced = join(data_dir, `${REPLACED}${stamp}-${n}`);
  renameSync(old, replaced);
  return replaced;
}

/**
 * Moves the write-ahead log into the database file, which then is complete by itself. Leaving WAL mode needs
 * the file for oneself, so this finds other commands that use it. A database too damaged for that is kept as
 * it is.
 */
function settleDatabase(path: string): void {
  try {
    const sqlite = connect(path, { query_only: false });
    try {
      sqlite.run('PRAGMA journal_mode = DELETE');
    } finally {
      sqlite.close();
    }
  } catch (error) {
    const code = errorCodeOf(error) ?? '';
    if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
      throw conflict(
        'Another Satchel command works on this data directory. Wait until it is done, and restore again.',
      );
    }
    if (!code.startsWith('SQLITE_')) throw error;
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // File systems without links, such as FAT.
    copyFileSync(from, to);
    const fd = openSync(to, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

/** The same id always has the same bytes, so a file that is there already is at most mended by this. */
async function placeBlobs(fresh: string, data_dir: string): Promise<void> {
  const folders = new Set<string>();
  for (const { id } of listBlobFiles(fresh)) {
    const home = blobPathOf(data_dir, id);
    const folder = dirname(home);
    if (!folders.has(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    folders.add(folder);
    renameSync(blobPathOf(fresh, id), home);
  }
  for (const folder of folders) await flushFolder(folder);
  for (const parent of new Set([...folders].map((folder) => dirname(folder)))) await flushFolder(parent);
}

async function placeDatabase(fresh: string, data_dir: string): Promise<void> {
  const path = databasePathOf(data_dir);
  // Only a database that could not be settled still has these. SQLite would apply them to the new one.
  for (const tail of DATABASE_TAILS) if (tail !== '') rmSync(`${path}${tail}`, { force: true });
  await flushFolder(data_dir);
  renameSync(databasePathOf(fresh), path);
  await flushFolder(data_dir);
}
