/** Embedded, numbered migrations: applied in order, each in one transaction with its name and checksum. */
import { Database as Sqlite } from 'bun:sqlite';
import { AppError } from '../../errors.ts';
import { BUSY_TIMEOUT_MS } from '../../limits.ts';
import platform from './migrations/0001_platform.sql' with { type: 'text' };
import keys_and_tokens from './migrations/0002_keys_and_tokens.sql' with { type: 'text' };
import objects from './migrations/0003_objects.sql' with { type: 'text' };
import mail from './migrations/0004_mail.sql' with { type: 'text' };
import vault_and_providers from './migrations/0005_vault_and_providers.sql' with { type: 'text' };
import recipients from './migrations/0006_recipients.sql' with { type: 'text' };
import deliveries from './migrations/0007_deliveries.sql' with { type: 'text' };
import env_names from './migrations/0008_env_names.sql' with { type: 'text' };
import object_changes from './migrations/0009_object_changes.sql' with { type: 'text' };
import rate_windows from './migrations/0010_rate_windows.sql' with { type: 'text' };
import relay_options from './migrations/0011_relay_options.sql' with { type: 'text' };
import dkim_rotation from './migrations/0012_dkim_rotation.sql' with { type: 'text' };
import contacts from './migrations/0013_contacts.sql' with { type: 'text' };
import reports from './migrations/0014_reports.sql' with { type: 'text' };
import old_dkim_key from './migrations/0015_old_dkim_key.sql' with { type: 'text' };
import inboxes from './migrations/0016_inboxes.sql' with { type: 'text' };
import sequences from './migrations/0017_sequences.sql' with { type: 'text' };
import marketing_mail from './migrations/0018_marketing_mail.sql' with { type: 'text' };
import administrators from './migrations/0019_administrators.sql' with { type: 'text' };
import object_names from './migrations/0020_object_names.sql' with { type: 'text' };
import verp from './migrations/0021_verp.sql' with { type: 'text' };
import overview from './migrations/0022_overview.sql' with { type: 'text' };
import sequence_complaints from './migrations/0023_sequence_complaints.sql' with { type: 'text' };
import project_callers from './migrations/0024_project_callers.sql' with { type: 'text' };
import audit_counts from './migrations/0025_audit_counts.sql' with { type: 'text' };
import people from './migrations/0026_people.sql' with { type: 'text' };
import imports_of_lists from './migrations/0027_imports_of_lists.sql' with { type: 'text' };
import backup_runs from './migrations/0028_backup_runs.sql' with { type: 'text' };
import sequence_waiting from './migrations/0029_sequence_waiting.sql' with { type: 'text' };
import open_sequences from './migrations/0030_open_sequences.sql' with { type: 'text' };
import requeued_mail from './migrations/0031_requeued_mail.sql' with { type: 'text' };
import skipped_messages from './migrations/0032_skipped_messages.sql' with { type: 'text' };
import refusals_of_us from './migrations/0033_refusals_of_us.sql' with { type: 'text' };
import paces from './migrations/0034_paces.sql' with { type: 'text' };
import sequence_order from './migrations/0035_sequence_order.sql' with { type: 'text' };
import contacts_without_mx from './migrations/0036_contacts_without_mx.sql' with { type: 'text' };
import sign_in_failures from './migrations/0038_sign_in_failures.sql' with { type: 'text' };
import { connect } from './plain-connection.ts';

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** In order. A released migration never changes: a new one mends what an old one got wrong. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'platform', sql: platform },
  { version: 2, name: 'keys_and_tokens', sql: keys_and_tokens },
  { version: 3, name: 'objects', sql: objects },
  { version: 4, name: 'mail', sql: mail },
  { version: 5, name: 'vault_and_providers', sql: vault_and_providers },
  { version: 6, name: 'recipients', sql: recipients },
  { version: 7, name: 'deliveries', sql: deliveries },
  { version: 8, name: 'env_names', sql: env_names },
  { version: 9, name: 'object_changes', sql: object_changes },
  { version: 10, name: 'rate_windows', sql: rate_windows },
  { version: 11, name: 'relay_options', sql: relay_options },
  { version: 12, name: 'dkim_rotation', sql: dkim_rotation },
  { version: 13, name: 'contacts', sql: contacts },
  { version: 14, name: 'reports', sql: reports },
  { version: 15, name: 'old_dkim_key', sql: old_dkim_key },
  { version: 16, name: 'inboxes', sql: inboxes },
  { version: 17, name: 'sequences', sql: sequences },
  { version: 18, name: 'marketing_mail', sql: marketing_mail },
  { version: 19, name: 'administrators', sql: administrators },
  { version: 20, name: 'object_names', sql: object_names },
  { version: 21, name: 'verp', sql: verp },
  { version: 22, name: 'overview', sql: overview },
  { version: 23, name: 'sequence_complaints', sql: sequence_complaints },
  { version: 24, name: 'project_callers', sql: project_callers },
  { version: 25, name: 'audit_counts', sql: audit_counts },
  { version: 26, name: 'people', sql: people },
  { version: 27, name: 'imports_of_lists', sql: imports_of_lists },
  { version: 28, name: 'backup_runs', sql: backup_runs },
  { version: 29, name: 'sequence_waiting', sql: sequence_waiting },
  { version: 30, name: 'open_sequences', sql: open_sequences },
  { version: 31, name: 'requeued_mail', sql: requeued_mail },
  { version: 32, name: 'skipped_messages', sql: skipped_messages },
  { version: 33, name: 'refusals_of_us', sql: refusals_of_us },
  { version: 34, name: 'paces', sql: paces },
  { version: 35, name: 'sequence_order', sql: sequence_order },
  { version: 36, name: 'contacts_without_mx', sql: contacts_without_mx },
  { version: 38, name: 'sign_in_failures', sql: sign_in_failures },
];

const HISTORY = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY, name TEXT NOT NULL, checksum TEXT NOT NULL, applied_at INTEGER NOT NULL
) STRICT`;

function checksumOf(migration: Migration): string {
  return new Bun.CryptoHasher('sha256').update(migration.sql).digest('hex');
}

/**
 * What is still to be applied, after making sure that what was applied is what this binary knows.
 * Throws AppError `conflict` for a database of a newer binary or an altered history.
 */
function pendingOf(sqlite: Sqlite, migrations: readonly Migration[]): Migration[] {
  const has_history =
    sqlite.query("SELECT 1 FROM sqlite_master WHERE name = 'schema_migrations'").values().length > 0;
  const applied = has_history
    ? sqlite.query('SELECT version, name, checksum FROM schema_migrations ORDER BY version').values()
    : [];
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
