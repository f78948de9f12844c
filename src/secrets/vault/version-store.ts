/** The SQL of what the vault has held. */
import { rawAll, rawCount, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { AT_PLACE, type Of, type Place } from './store.ts';
import { type VaultVersionRow, vaultVersions } from './tables.ts';

type NewVersion = Place & Omit<VaultVersionRow, 'sealed' | 'is_plain'>;

export const insertVersion = rawRun<[NewVersion]>(
  `INSERT INTO vault_versions (id, project_id, environment, service, field, kind, filename, changed_at, ended_at,
     actor_kind, actor_id, actor_name)
   VALUES (:id, :project_id, :environment, :service, :field, :kind, :filename, :changed_at, :ended_at,
     :actor_kind, :actor_id, :actor_name)`,
);

/** What is stored now becomes the past, as it is sealed. */
export const endVersion = rawRun<[Place & { ended_at: number }]>(
  `UPDATE vault_versions SET ended_at = :ended_at,
     (sealed, is_plain) = (SELECT sealed, is_plain FROM vault_values ${AT_PLACE})
   ${AT_PLACE} AND ended_at IS NULL`,
);

/** Drops what is older than the last `keep` values that a field has held before. */
export const dropOldest = rawRun<[Place & { keep: number }]>(
  `DELETE FROM vault_versions ${AT_PLACE} AND id < (SELECT id FROM vault_versions ${AT_PLACE}
     AND sealed IS NOT NULL ORDER BY id DESC LIMIT 1 OFFSET +:keep - 1)`,
);

/** Of whom a page of versions is: all services, one, or one field of it. */
export type Past = Of & { service: string | null; field: string | null };
const OF_PAST = `WHERE project_id = :project_id AND environment = :environment
     AND (:service IS NULL OR service = :service) AND (:field IS NULL OR field = :field)`;

/** `is_current`: 1 of the newest of its field. */
export type VersionRow = VaultVersionRow & { is_current: number };
const SELECT = `SELECT *, id = (SELECT max(id) FROM vault_versions n WHERE n.project_id = v.project_id
     AND n.environment = v.environment AND n.service = v.service AND n.field = v.field) AS is_current
   FROM vault_versions v`;

export const listVersions = rawAll<VersionRow, [Past & { limit: number; offset: number }]>(
  `${SELECT} ${OF_PAST} ORDER BY id DESC LIMIT +:limit OFFSET +:offset`,
  vaultVersions,
);

export const countVersions = rawCount<[Past]>(`SELECT count(*) FROM vault_versions ${OF_PAST}`);

export const findVersion = rawGet<VersionRow, [Of & { service: string; id: string }]>(
  `${SELECT} WHERE project_id = :project_id AND environment = :environment AND service = :service AND id = :id`,
  vaultVersions,
);

export const countPast = rawCount<[Past]>(
  `SELECT count(*) FROM vault_versions ${OF_PAST} AND ended_at IS NOT NULL`,
);

/** All but what is stored now. */
export const purgeVersions = rawRun<[Past]>(`DELETE FROM vault_versions ${OF_PAST} AND ended_at IS NOT NULL`);

export const deleteVersionsEndedBefore = rawRun<[before_ms: number, limit: number]>(
  `DELETE FROM vault_versions WHERE rowid IN
     (SELECT rowid FROM vault_versions WHERE ended_at < +? ORDER BY ended_at LIMIT +?)`,
);
