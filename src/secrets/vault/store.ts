/** The SQL of the vault. Values go in and out sealed. */
import { eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import {
  type VaultValueRow,
  type vaultEnvironments,
  vaultReveals,
  vaultServices,
  vaultValues,
} from './tables.ts';

const ofProject = rawAll<VaultValueRow, [number]>(
  'SELECT * FROM vault_values WHERE project_id = ?',
  vaultValues,
);
const ofService = rawAll<VaultValueRow, [number, string]>(
  'SELECT * FROM vault_values WHERE project_id = ? AND service = ?',
  vaultValues,
);

/** The stored values of a project, of one service where one is given. */
export function listValues(read: Tx, project_id: number, service?: string): VaultValueRow[] {
  return service === undefined ? ofProject(read, project_id) : ofService(read, project_id, service);
}

/** Where a value is kept. */
type Place = { project_id: number; service: string; field: string };

export const findValue = rawGet<VaultValueRow, [at: Place]>(
  'SELECT * FROM vault_values WHERE project_id = :project_id AND service = :service AND field = :field',
  vaultValues,
);

/** The names that are stored of a service, each with whether it is plain. */
export function listNames(read: Tx, project_id: number, service: string): Map<string, boolean> {
  return new Map(ofService(read, project_id, service).map(({ field, is_plain }) => [field, is_plain]));
}

/** Every project's value of one field. */
export const listValuesOf = rawAll<VaultValueRow, [service: string, field: string]>(
  'SELECT * FROM vault_values WHERE service = ? AND field = ?',
  vaultValues,
);

export type NewValue = typeof vaultValues.$inferInsert;

/** Stores a field, over the value it has. */
export function putValue(tx: Tx, value: NewValue): void {
  const { sealed, updated_at, is_plain, filename = null } = value;
  tx.insert(vaultValues)
    .values(value)
    .onConflictDoUpdate({
      target: [vaultValues.project_id, vaultValues.service, vaultValues.field],
      set: { sealed, filename, is_plain, updated_at },
    })
    .run();
}

/** Deletes a value; 0 where there is none. */
export const deleteValue = rawRun<[at: Place]>(
  'DELETE FROM vault_values WHERE project_id = :project_id AND service = :service AND field = :field',
);

const deleteValues = rawRun<[number, string]>(
  'DELETE FROM vault_values WHERE project_id = ? AND service = ?',
);
const deleteChange = rawRun<[number, string]>(
  'DELETE FROM vault_services WHERE project_id = ? AND service = ?',
);

/** True where anything was stored of it. */
export function deleteService(tx: Tx, project_id: number, service: string): boolean {
  deleteChange(tx, project_id, service);
  return deleteValues(tx, project_id, service) > 0;
}

export const touchService = rawRun<[typeof vaultServices.$inferSelect]>(
  `INSERT INTO vault_services (project_id, service, updated_at) VALUES (:project_id, :service, :updated_at)
   ON CONFLICT DO UPDATE SET updated_at = excluded.updated_at`,
);

/** When each service of a project last changed. */
export function listChanges(read: Tx, project_id: number): Map<string, number> {
  const rows = read.select().from(vaultServices).where(eq(vaultServices.project_id, project_id)).all();
  return new Map(rows.map((row) => [row.service, row.updated_at]));
}

/** How often the values of an environment have changed, and when they did last. */
export const findChangesOf = rawGet<
  Pick<typeof vaultEnvironments.$inferSelect, 'changes' | 'changed_at'>,
  [project_id: number, name: string]
>('SELECT changes, changed_at FROM vault_environments WHERE project_id = ? AND name = ?');

export const noteChange = rawRun<[project_id: number, name: string, changed_at: number]>(
  `INSERT INTO vault_environments (project_id, name, changes, changed_at) VALUES (?, ?, 1, ?)
   ON CONFLICT DO UPDATE SET changes = changes + 1, changed_at = excluded.changed_at`,
);

/** Whether this caller's last read as KV is as recent as this. */
export const wasReadSince = rawGet<
  { id: number },
  [project_id: number, since_ms: number, kind: string, id: string | null]
>(
  `SELECT id FROM vault_reveals
   WHERE project_id = ? AND how = 'kv' AND at > ? AND actor_kind = ? AND actor_id IS ? LIMIT 1`,
);

/** How many values of each service a project has, and when they last changed. */
export const summarizeValues = rawAll<
  { service: string; values: number; files: number; updated_at: number | null },
  [project_id: number]
>(
  `SELECT service, count(*) FILTER (WHERE filename IS NULL) AS "values", count(filename) AS files,
     max(updated_at) AS updated_at
   FROM vault_values WHERE project_id = ? GROUP BY service`,
);

export function insertReveal(tx: Tx, reveal: typeof vaultReveals.$inferInsert): void {
  tx.insert(vaultReveals).values(reveal).run();
}

const countsForCascade = rawGet<
  { vault_credentials: number; vault_files: number; vault_reveals: number },
  [project_id: number]
>(
  `SELECT count(*) - count(filename) AS vault_credentials, count(filename) AS vault_files,
     (SELECT count(*) FROM vault_reveals WHERE project_id = ?1) AS vault_reveals
   FROM vault_values WHERE project_id = ?1`,
);

/** How much goes when a project is deleted. */
export function countForCascade(
  tx: Tx,
  project_id: number,
): { vault_credentials: number; vault_files: number; vault_reveals: number } {
  return countsForCascade(tx, project_id) ?? { vault_credentials: 0, vault_files: 0, vault_reveals: 0 };
}
