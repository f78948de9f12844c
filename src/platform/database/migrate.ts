/** Embedded, numbered migrations: applied in order, each in one transaction with its name and checksum. */
import { Database as Sqlite } from 'bun:sqlite';
import { AppError } from '../../errors.ts';
import { BUSY_TIMEOUT_MS } from '../../limits.ts';
import schema from './migrations/0001_schema.sql' with { type: 'text' };
import { connect } from './plain-connection.ts';

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** In order. A released migration never changes: a new one mends what an old one got wrong. */
export const MIGRATIONS: readonly Migration[] = [{ version: 1, name: 'schema', sql: schema }];

const HISTORY = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
) STRICT`;

function checksumOf(migration: Migration): string {
  return new Bun.CryptoHasher('sha256').update(migration.sql).digest('hex');
}

/**
 * The migrations still to apply, once those applied are the ones this binary knows. Throws AppError
 * `conflict` for a newer database, one from before the first release, or an altered history.
 */
function pendingOf(sqlite: Sqlite, migrations: readonly Migration[]): Migration[] {
  const has_history =
    sqlite.query("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").values().length > 0;
  const applied = has_history
    ? sqlite.query('SELECT version, name, checksum FROM schema_migrations ORDER BY version').values()
    : [];
  const [[, first] = []] = applied;
  if (first !== undefined && first !== migrations[0]?.name) {
    throw new AppError(
      'conflict',
      'The database was made by an older build of Satchel, from before the first release, and this one does not read it. ' +
        'Start that build with it, or this one with an empty data directory (--data-dir, SATCHEL_DATA_DIR).',
    );
  }
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const [version, name, checksum] of applied) {
    const migration = typeof version === 'number' ? known.get(version) : undefined;
    if (!migration) {
      throw new AppError(
        'conflict',
        `The database was written by a newer Satchel: it has migration ${String(version)} (${String(name)}), which this ` +
          'binary does not know. Start the newer binary again, or restore a backup made before the upgrade.',
      );
    }
    if (checksumOf(migration) !== checksum) {
      throw new AppError(
        'conflict',
        `Migration ${migration.version} (${migration.name}) of the database differs from this binary's. ` +
          'The database belongs to another build of Satchel: start that one, or restore a backup.',
      );
    }
  }
  const done = new Set(applied.map(([version]) => version));
  return migrations.filter((migration) => !done.has(migration.version));
}

/** The migrations that `migrate` would apply, changing nothing. Throws as `migrate` does. */
export function listPendingMigrations(path: string, migrations = MIGRATIONS): Migration[] {
  const sqlite = connect(path, { query_only: true });
  try {
    return pendingOf(sqlite, migrations);
  } finally {
    sqlite.close();
  }
}

/**
 * Brings the database at `path` up to date, making it where there is none, and returns what was applied.
 * Each migration commits with its record, so a crash in between is continued by the next start.
 * Throws AppError `conflict` when the database is newer than the binary; then nothing is changed.
 */
export function migrate(
  path: string,
  options: { now_ms: number; migrations?: readonly Migration[] },
): Migration[] {
  const migrations = options.migrations ?? MIGRATIONS;
  const sqlite = new Sqlite(path, { readwrite: true, create: true, strict: true });
  try {
    sqlite.run(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    const pending = pendingOf(sqlite, migrations);
    if (pending.length === 0) return [];
    sqlite.run('PRAGMA journal_mode = WAL');
    sqlite.run('PRAGMA synchronous = FULL');
    sqlite.run(HISTORY);
    for (const migration of pending) applyMigration(sqlite, migration, options.now_ms);
    return pending;
  } finally {
    sqlite.close();
  }
}

function applyMigration(sqlite: Sqlite, migration: Migration, now_ms: number): void {
  sqlite.run('BEGIN IMMEDIATE');
  try {
    // A second process may have applied it between our look and our lock.
    const taken = sqlite.query('SELECT 1 FROM schema_migrations WHERE version = ?').values(migration.version);
    if (taken.length === 0) {
      sqlite.run(migration.sql);
      sqlite
        .query('INSERT INTO schema_migrations VALUES (?, ?, ?, ?)')
        .run(migration.version, migration.name, checksumOf(migration), now_ms);
    }
    sqlite.run('COMMIT');
  } catch (error) {
    if (sqlite.inTransaction) sqlite.run('ROLLBACK');
    throw error;
  }
}
