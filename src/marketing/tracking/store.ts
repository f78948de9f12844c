/** SQL of what addresses said of being counted. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { type TrackingChoiceRow, trackingChoices } from './tables.ts';

export const findChoice = rawGet<TrackingChoiceRow, [project_id: number, email: string]>(
  'SELECT * FROM tracking_choices WHERE project_id = ? AND email = ?',
  trackingChoices,
);

const ofAddresses = rawAll<TrackingChoiceRow, [number, string]>(
  'SELECT * FROM tracking_choices WHERE project_id = ? AND email IN (SELECT value FROM json_each(?))',
  trackingChoices,
);

export function listChoices(read: Tx, project_id: number, emails: readonly string[]): TrackingChoiceRow[] {
  return ofAddresses(read, project_id, JSON.stringify(emails));
}

// Raw, as each row of an import may say it.
const save = rawRun<[number, string, string, number, string, string | null, string | null]>(
  `INSERT INTO tracking_choices (project_id, email, tracking, at, told_by, ip, origin) VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT DO UPDATE SET tracking = excluded.tracking, at = excluded.at, told_by = excluded.told_by,
     ip = excluded.ip, origin = excluded.origin`,
);

export function saveChoice(tx: Tx, row: TrackingChoiceRow): void {
  const { project_id, email, tracking, at, told_by, ip, origin } = row;
  save(tx, project_id, email, tracking, at, told_by, ip, origin);
}

/** Returns how many there were: one or none. */
export const deleteChoice = rawRun<[project_id: number, email: string]>(
  'DELETE FROM tracking_choices WHERE project_id = ? AND email = ?',
);
