/**
 * One server for each data directory. SQLite locks a file of its own: the kernel releases that however the
 * process ends, kill -9 included, and it needs no native code of ours.
 */
import { Database as Sqlite } from 'bun:sqlite';
import { closeSync, existsSync, fchmodSync, ftruncateSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { conflict } from '../../errors.ts';
import { openOwn } from './ownership.ts';
import { sqliteErrorOf } from './shortages.ts';

interface DirectoryLock {
  release(): void;
}

const LOCK_FILE = 'server.lock';
const PID_FILE = 'server.pid';
const IMPORT_LOCK_FILE = 'import.lock';

/** How long whoever looks whether there is a server may hold up one that starts. */
const LOOK_MS = 500;

/** Takes the lock, or throws AppError `conflict` naming the process that holds it. */
export function lockDirectory(data_dir: string, pid: number): DirectoryLock {
  const lock = tryLock(join(data_dir, LOCK_FILE), LOOK_MS);
  if (!lock) {
    const holder = serverProcessOf(data_dir);
    throw conflict(
      `Another Satchel server${holder === null ? '' : ` (process ${holder})`} serves the data directory ${data_dir}. ` +
        'Stop it first, or choose another directory with --data-dir.',
    );
  }
  const fd = openOwn(join(data_dir, PID_FILE));
  try {
    ftruncateSync(fd);
    writeFileSync(fd, `${pid}\n`);
  } finally {
    closeSync(fd);
  }
  return { release: () => lock.close() };
}

/** Taken by whoever imports a project, or removes what such an import left; null while another one has it. */
export function lockImports(data_dir: string): DirectoryLock | null {
  const lock = tryLock(join(data_dir, IMPORT_LOCK_FILE));
  return lock && { release: () => lock.close() };
}

/** Whether a server serves the directory now. Changes nothing. */
export function isServed(data_dir: string): boolean {
  const path = join(data_dir, LOCK_FILE);
  if (!existsSync(path)) return false;
  const sqlite = new Sqlite(path, { readonly: true });
  try {
    sqlite.run('PRAGMA busy_timeout = 0');
    sqlite.query('SELECT count(*) FROM sqlite_master').get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw error;
  } finally {
    sqlite.close();
  }
}

/** The process id the last server left, or null. */
export function serverProcessOf(data_dir: string): number | null {
  try {
    const pid = Number(readFileSync(join(data_dir, PID_FILE), 'utf8').trim());
    return Number.isInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}

function tryLock(path: string, wait_ms = 0): Sqlite | null {
  const fd = openOwn(path);
  try {
    fchmodSync(fd, 0o600);
  } finally {
    closeSync(fd);
  }
  const sqlite = new Sqlite(path, { readwrite: true, create: false });
  try {
    sqlite.run(`PRAGMA busy_timeout = ${wait_ms}`);
    // A file in rollback mode takes its lock on the file itself; nothing is ever written to it.
    sqlite.run('PRAGMA journal_mode = MEMORY');
    sqlite.run('PRAGMA locking_mode = EXCLUSIVE');
    sqlite.run('BEGIN EXCLUSIVE');
    return sqlite;
  } catch (error) {
    sqlite.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return sqliteErrorOf(error)?.code?.startsWith('SQLITE_BUSY') ?? false;
}
