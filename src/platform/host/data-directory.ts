/** Opens a data directory: modes, master key, migrations, database. A refusal changes nothing. */
import { accessSync, chmodSync, constants, lstatSync, readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve, sep } from 'node:path';
import type { Config } from '../../config.ts';
import { AppError, errorCodeOf, messageOf } from '../../errors.ts';
import { FINDING_EXAMPLES } from '../../limits.ts';
import { type Database, type FlushThreadOptions, openDatabase } from '../database/database.ts';
import { listPendingMigrations, MIGRATIONS, migrate } from '../database/migrate.ts';
import { createKeyRing, type KeyRing } from '../secrets/key-ring.ts';
import { masterKeySourceOf } from '../secrets/master-key-source.ts';
import { shellWord } from '../words/phrases.ts';
import type { Clock } from './clock.ts';
import { databasePathOf, hasDatabase } from './database-file.ts';
import { makeFolder } from './folders.ts';
import { sqliteErrorOf } from './shortages.ts';

export interface DataDirectory {
  database: Database;
  key_ring: KeyRing;
  /** Names of the migrations that this opening applied. */
  migrated: string[];
  warnings: string[];
  close(): Promise<void>;
}

const DIRECTORY_MODE = 0o700;

/**
 * Opens the directory, and makes it with everything in it at the first start. `beforeOpening` runs once the
 * directory is there, before anything else: a server then takes its lock. Throws AppError, having changed
 * nothing, when the master key does not fit, the database is newer than the binary, or the directory is
 * unusable.
 */
export async function openDataDirectory(
  config: Config,
  options: { clock: Clock; beforeOpening?: () => { release(): void }; flush_thread?: FlushThreadOptions },
): Promise<DataDirectory> {
  makeDataDirectory(config.data_dir);
  const is_new = !hasDatabase(config.data_dir);
  let lock: { release(): void } | undefined;
  try {
    lock = options.beforeOpening?.();
    if (lock) makeTemporaryFolder(config.data_dir);
    const path = databasePathOf(config.data_dir);
    const { clock } = options;
    const source = masterKeySourceOf(config);
    // A database that was cut off before its first migration has sealed nothing, so any key fits.
    const pending = is_new ? MIGRATIONS : listPendingMigrations(path);
    const [next] = pending;
    if (next !== undefined && next.version > 1) await checkMasterKey(path, { source, clock });
    const applied = pending.length === 0 ? [] : migrate(path, { now_ms: clock.now() });
    const database = openDatabase(path, options.flush_thread);
    try {
      const key_ring = await createKeyRing({ database, source, clock });
      return {
        database,
        key_ring,
        migrated: applied.map((migration) => migration.name),
        warnings: [...key_ring.warnings],
        async close() {
          await database.close();
          lock?.release();
        },
      };
    } catch (error) {
      await database.close();
      throw error;
    }
  } catch (error) {
    lock?.release();
    throw explainOpening(error, config.data_dir);
  }
}

/** SQLite's own message names neither the file nor the reason. A full disk is explained elsewhere. */
function explainOpening(error: unknown, data_dir: string): unknown {
  const theirs = explainOwner(error, data_dir);
  if (theirs) return theirs;
  const code = sqliteErrorOf(error)?.code ?? errorCodeOf(error) ?? '';
  if (!/^EROFS|^SQLITE_(NOTADB|CORRUPT|CANTOPEN|PERM|READONLY|AUTH)/.test(code)) return error;
  const unwritable = whyUnwritable(data_dir);
  if (errorCodeOf(unwritable) === 'EROFS') return onReadOnlyDisk(data_dir);
  const reasons = [error, unwritable].filter((reason) => reason !== null).map(messageOf);
  const path = databasePathOf(data_dir);
  return new AppError('invalid', `The database ${path} can't be used: ${reasons.join('; ')}.`, {
    cause: error,
  });
}

/** What mends a refusal of the system's where the directory, or something in it, is another user's; null where none is. */
function explainOwner(error: unknown, data_dir: string): AppError | null {
  const code = sqliteErrorOf(error)?.code ?? errorCodeOf(error) ?? '';
  const [uid, gid] = [process.geteuid?.() ?? 0, process.getegid?.() ?? 0];
  if (uid === 0 || !/^E(ACCES|PERM)$|^SQLITE_(CANTOPEN|PERM|READONLY|AUTH)/.test(code)) return null;
  const is_entered = whyUnwritable(data_dir) === null;
  const paths = [data_dir, ...(is_entered ? readdirSync(data_dir).map((name) => join(data_dir, name)) : [])];
  const ownerOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.uid ?? uid;
  const path = paths.find((each) => ownerOf(each) !== uid);
  if (path === undefined) return null;
  const owner = ownerOf(path) === 0 ? 'root' : `user ${ownerOf(path)}`;
  // A service's directory is not to be taken from it.
  const other = owner === 'root' ? '' : `run this as ${owner}, or `;
  return new AppError(
    'invalid',
    `${path} is ${owner}'s, and Satchel runs as user ${uid}, who can't use it: ${other}chown -R ${uid}:${gid} ${shellWord(data_dir)}, as root, mends that.`,
    { cause: error },
  );
}

function onReadOnlyDisk(data_dir: string): AppError {
  return new AppError(
    'invalid',
    `The data directory ${data_dir} is on a disk that is mounted read-only: mount it writable (mount -o remount,rw; dmesg says ` +
      'whether the disk fails), or choose another directory with --data-dir or SATCHEL_DATA_DIR.',
  );
}

function whyUnwritable(folder: string): unknown {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
    return null;
  } catch (error) {
    return error;
  }
}

/** Before an upgrade: a master key that does not fit is refused while the database is still the old one. */
async function checkMasterKey(
  path: string,
  options: Omit<Parameters<typeof createKeyRing>[0], 'database'>,
): Promise<void> {
  const database = openDatabase(path);
  try {
    await createKeyRing({ ...options, database });
  } finally {
    await database.close();
  }
}

/**
 * Makes the directory, private to its owner. Throws AppError `invalid` when it can't, and for one that is
 * open to others and holds other things: whoever names /srv or a home directory by mistake must not lock
 * everybody out.
 */
export function makeDataDirectory(data_dir: string): void {
  try {
    makeFolder(data_dir);
    const stat = statSync(data_dir);
    if (!stat.isDirectory()) throw new Error('it is not a directory');
    accessSync(data_dir, constants.R_OK | constants.X_OK);
    if ((stat.mode & 0o077) === 0) return;
    refuseForeign(data_dir);
    chmodSync(data_dir, DIRECTORY_MODE);
  } catch (error) {
    if (error instanceof AppError) throw error;
    if (errorCodeOf(error) === 'EROFS') throw onReadOnlyDisk(data_dir);
    const theirs = explainOwner(error, data_dir);
    if (theirs) throw theirs;
    throw new AppError(
      'invalid',
      `The data directory ${data_dir} cannot be used: ${messageOf(error)}. Choose another with --data-dir or SATCHEL_DATA_DIR.`,
    );
  }
}

/** TMPDIR may be within the directory, as where nothing else may be written. */
function makeTemporaryFolder(data_dir: string): void {
  const folder = resolve(tmpdir());
  if (folder.startsWith(`${data_dir}${sep}`)) makeFolder(folder);
}

/** Folders that may stand in any directory, so they don't show that it is somebody's. */
const ANYBODYS_FOLDER = /^(objects|lost\+found|\..*)$/;

function refuseForeign(data_dir: string): void {
  if (hasDatabase(data_dir)) return;
  const foreign = readdirSync(data_dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !ANYBODYS_FOLDER.test(entry.name))
    .map((entry) => entry.name);
  if (foreign.length === 0) return;
  const some =
    foreign.slice(0, FINDING_EXAMPLES).join(', ') + (foreign.length > FINDING_EXAMPLES ? ', ...' : '');
  throw new AppError(
    'invalid',
    `${data_dir} holds folders of something else (${some}) and no data of Satchel. A data directory is its owner's alone, ` +
      'so other users would be locked out of them. Name a folder of its own with --data-dir or SATCHEL_DATA_DIR.',
  );
}
