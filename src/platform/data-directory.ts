/**
 * Opening a data directory: its modes, its master key, its migrations, its database, in an order in which a refusal
 * leaves everything as it was.
 */
import { chmodSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { AppError, messageOf } from '../errors.ts';
import type { Clock } from './clock.ts';
import { type Database, openDatabase } from './database.ts';
import { createKeyRing, type KeyRing } from './key-ring.ts';
import { masterKeySourceOf } from './master-key.ts';
import { listPendingMigrations, migrate } from './migrate.ts';

export interface DataDirectory {
  database: Database;
  key_ring: KeyRing;
  /** Names of the migrations that this opening applied. */
  migrated: string[];
  warnings: string[];
  close(): Promise<void>;
}

const DIRECTORY_MODE = 0o700;

export function databasePathOf(data_dir: string): string {
  return join(data_dir, 'satchel.db');
}

/**
 * Opens the directory, making it and everything in it at the first start. `beforeOpening` runs once the directory is
 * there and nothing else was touched: a server takes its lock then. Throws AppError when the master key does not fit, the
 * database is newer than the binary, or the directory cannot be used; then nothing was changed.
 */
export async function openDataDirectory(
  config: Config,
  options: { clock: Clock; beforeOpening?: () => { release(): void } },
): Promise<DataDirectory> {
  makeDirectory(config.data_dir);
  const lock = options.beforeOpening?.();
  try {
    const path = databasePathOf(config.data_dir);
    const { clock } = options;
    const source = masterKeySourceOf(config);
    if (existsSync(path) && listPendingMigrations(path).length > 0)
      await checkMasterKey(path, { source, clock });
    const applied = migrate(path, { create: true, now_ms: clock.now() });
    const database = openDatabase(path, { create: false });
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
    throw error;
  }
}

/** Before an upgrade: a master key that does not fit must be refused while the database is still the old one. */
async function checkMasterKey(
  path: string,
  options: Omit<Parameters<typeof createKeyRing>[0], 'database'>,
): Promise<void> {
  const database = openDatabase(path, { create: false });
  try {
    await createKeyRing({ ...options, database });
  } finally {
    await database.close();
  }
}

function makeDirectory(data_dir: string): void {
  try {
    mkdirSync(data_dir, { recursive: true, mode: DIRECTORY_MODE });
    if (!statSync(data_dir).isDirectory()) throw new Error('it is not a directory');
    if ((statSync(data_dir).mode & 0o077) !== 0) chmodSync(data_dir, DIRECTORY_MODE);
  } catch (error) {
    throw new AppError(
      'invalid',
      `The data directory ${data_dir} cannot be used: ${messageOf(error)}. Choose another with --data-dir or SATCHEL_DATA_DIR.`,
    );
  }
}
