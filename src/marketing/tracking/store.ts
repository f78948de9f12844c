/** SQL of what addresses said of being counted. */
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { type TrackingChoiceRow, trackingChoices } from './tables.ts';

// Written out, where every mail of a sequence or a broadcast passes, and every click.
const byAddress = rawSql<TrackingChoiceRow, [number, string]>(
  'SELECT * FROM tracking_choices WHERE project_id = ? AND email = ?',
  trackingChoices,
);

export function findChoice(read: Tx, project_id: number, email: string): TrackingChoiceRow | null {
  return byAddress.get(read, project_id, email);
}

const ofAddresses = rawSql<TrackingChoiceRow, [number, string]>(
  'SELECT * FROM tracking_choices WHERE project_id = ? AND email IN (SELECT value FROM json_each(?))',
  trackingChoices,
);

export function listChoices(read: Tx, project_id: number, emails: readonly string[]): TrackingChoiceRow[] {
  return ofAddresses.all(read, project_id, JSON.stringify(emails));
}

const save = rawSql<
  never,
  [number, string, string, number, string, string | null, string | null]
>(`INSERT INTO tracking_choices (project_id, email, tracking, at, told_by, ip, origin) VALUES (?, ?, ?, ?, ?, ?, ?)
   ON CONFLICT DO UPDATE SET tracking = excluded.tracking, at = excluded.at, told_by = excluded.told_by,
     ip = excluded.ip, origin = excluded.origin`);

export function saveChoice(tx: Tx, row: TrackingChoiceRow): void {
  const { project_id, email, tracking, at, told_by, ip, origin } = row;
  save.run(tx, project_id, email, tracking, at, told_by, ip, origin);
}

const remove = rawSql<never, [number, string]>(
  'DELETE FROM tracking_choices WHERE project_id = ? AND email = ?',
);

/** Returns how many there were: one or none. */
export function deleteChoice(tx: Tx, project_id: number, email: string): number {
  return remove.run(tx, project_id, email);
}
