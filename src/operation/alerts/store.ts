/** SQL of whom doctor tells. */
import type { Tx } from '../../platform/database/database.ts';
import { rawGet } from '../../platform/database/raw-sql.ts';
import { type AlertsRow, alerts } from './tables.ts';

export const findAlerts = rawGet<AlertsRow>('SELECT * FROM alerts', alerts);

export function saveAlerts(tx: Tx, row: AlertsRow): void {
  tx.insert(alerts).values(row).onConflictDoUpdate({ target: alerts.id, set: row }).run();
}
