/** The SQL of the vault. Values go in and out sealed. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawHas, rawRun } from '../../platform/database/raw-sql.ts';
import {
  type EnvironmentRow,
  type VaultValueRow,
  vaultEnvironments,
  vaultReveals,
  type vaultServices,
  vaultValues,
} from './tables.ts';

/* --- Environments ---------------------------------------------------------------------------------------------- */

/** Without production, unless its values have changed. */
export const listEnvironments = rawAll<EnvironmentRow, [project_id: number]>(
  'SELECT * FROM vault_environments WHERE project_id = ? ORDER BY name',
  vaultEnvironments,
);

export const findEnvironment = rawGet<EnvironmentRow, [project_id: number, name: string]>(
  'SELECT * FROM vault_environments WHERE project_id = ? AND name = ?',
  vaultEnvironments,
);

export const putEnvironment = rawRun<[Pick<EnvironmentRow, 'project_id' | 'name' | 'inherits'>]>(
  `INSERT INTO vault_environments (project_id, name, inherits) VALUES (:project_id, :name, :inherits)
   ON CONFLICT DO UPDATE SET inherits = excluded.inherits`,
);

/** Whose values are meant. */
export type Of = { project_id: number; environment: string };

const FROM_ENVIRONMENT = 'WHERE project_id = :project_id AND environment = :environment';
const deletes = ['vault_values', 'vault_versions', 'vault_services'].map((table) =>
  rawRun<[Of]>(`DELETE FROM ${table} ${FROM_ENVIRONMENT}`),
);
const deleteItself = rawRun<[Of]>(
  'DELETE FROM vault_environments WHERE project_id = :project_id AND name = :environment',
);

/** With its values and their past. */
export function deleteEnvironment(tx: Tx, of: Of): void {
  for (const deleteRows of deletes) deleteRows(tx, of);
  deleteItself(tx, of);
}

export const noteChange = rawRun<[Of & { at: number }]>(
  `INSERT INTO vault_environments (project_id, name, changes, changed_at) VALUES (:project_id, :environment, 1, :at)
   ON CONFLICT DO UPDATE SET changes = changes + 1, changed_at = excluded.changed_at`,
);

/* --- Values ---------------------------------------------------------------------------------------------------- */

const ofEnvironment = rawAll<VaultValueRow, [Of]>(
  `SELECT * FROM vault_values ${FROM_ENVIRONMENT}`,
  vaultValues,
);
const ofService = rawAll<VaultValueRow, [Of & { service: string }]>(
  `SELECT * FROM vault_values ${FROM_ENVIRONMENT} AND service = :service`,
  vaultValues,
);

/** What is stored in an environment, of one service where one is given. */
export function listValues(read: Tx, of: Of, service?: string): VaultValueRow[] {
  return service === undefined ? ofEnvironment(read, of) : ofService(read, { ...of, service });
}

/** In whatever environment. */
export const listAllValues = rawAll<VaultValueRow, [project_id: number]>(
  'SELECT * FROM vault_values WHERE project_id = ?',
  vaultValues,
);

/** Where a value is kept. */
export type Place = Of & { service: string; field: string };
export const AT_PLACE = `${FROM_ENVIRONMENT} AND service = :service AND field = :field`;

export const findValue = rawGet<VaultValueRow, [at: Place]>(
  `SELECT * FROM vault_values ${AT_PLACE}`,
  vaultValues,
);

const namesOf = rawAll<Pick<VaultValueRow, 'field' | 'is_plain'>, [Of & { service: string }]>(
  `SELECT field, is_plain FROM vault_values ${FROM_ENVIRONMENT} AND service = :service`,
  vaultValues,
);

/** The names that are stored of a service, each with whether it is plain. */
export function listNames(read: Tx, of: Of, service: string): Map<string, boolean> {
  return new Map(namesOf(read, { ...of, service }).map(({ field, is_plain }) => [field, is_plain]));
}

/** Every project's value of one field in production. */
export const listValuesOf = rawAll<VaultValueRow, [service: string, field: string]>(
  `SELECT * FROM vault_values WHERE service = ? AND field = ? AND environment = 'production'`,
  vaultValues,
);

/** Values that end before a moment, in whatever environment. */
export const listExpiring = rawAll<VaultValueRow, [project_id: number, before_ms: number]>(
  'SELECT * FROM vault_values WHERE project_id = ? AND expires_at < ? ORDER BY expires_at',
  vaultValues,
);

export type NewValue = Omit<typeof vaultValues.$inferInsert, 'expires_at' | 'note'>;

/** Stores a field, over the value it has. A note stays. */
export function putValue(tx: Tx, value: NewValue): void {
  const { sealed, updated_at, is_plain, filename = null } = value;
  const { project_id, environment, service, field } = vaultValues;
  tx.insert(vaultValues)
    .values(value)
    .onConflictDoUpdate({
      target: [project_id, environment, service, field],
      set: { sealed, filename, is_plain, updated_at },
    })
    .run();
}

export const setAbout = rawRun<[Place & Pick<VaultValueRow, 'expires_at' | 'note'>]>(
  `UPDATE vault_values SET expires_at = :expires_at, note = :note ${AT_PLACE}`,
);

/** Deletes a value; 0 where there is none. */
export const deleteValue = rawRun<[at: Place]>(`DELETE FROM vault_values ${AT_PLACE}`);

export const deleteServiceChange = rawRun<[Of & { service: string }]>(
  `DELETE FROM vault_services ${FROM_ENVIRONMENT} AND service = :service`,
);

export const touchService = rawRun<[typeof vaultServices.$inferSelect]>(
  `INSERT INTO vault_services (project_id, environment, service, updated_at)
   VALUES (:project_id, :environment, :service, :updated_at)
   ON CONFLICT DO UPDATE SET updated_at = excluded.updated_at`,
);

const changesIn = rawAll<{ service: string; updated_at: number }, [Of]>(
  `SELECT service, updated_at FROM vault_services ${FROM_ENVIRONMENT}`,
);

/** When each service last changed. */
export function listChanges(read: Tx, of: Of): Map<string, number> {
  return new Map(changesIn(read, of).map((row) => [row.service, row.updated_at]));
}

/** How many values of each service an environment has, and when they last changed. */
export const summarizeValues = rawAll<
  { service: string; values: number; files: number; updated_at: number | null },
  [Of]
>(
  `SELECT service, count(*) FILTER (WHERE filename IS NULL) AS "values", count(filename) AS files,
     max(updated_at) AS updated_at
   FROM vault_values ${FROM_ENVIRONMENT} GROUP BY service`,
);

/* --- Reveals --------------------------------------------------------------------------------------------------- */

/** Whether this caller's last read as KV is as recent as this. */
export const wasReadSince = rawHas<[Of & { since_ms: number; kind: string; id: string | null }]>(
  `SELECT 1 FROM vault_reveals ${FROM_ENVIRONMENT}
     AND how = 'kv' AND at > :since_ms AND actor_kind = :kind AND actor_id IS :id LIMIT 1`,
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
