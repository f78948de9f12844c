/** SQL of marketing settings, keys, and of what the daily cap counts. */
import { eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { marketingKeys, marketingSettings, type SettingsRow } from './tables.ts';

const settingsOf = statement((tx) =>
  tx
    .select()
    .from(marketingSettings)
    .where(eq(marketingSettings.project_id, sql.placeholder('project_id')))
    .prepare(),
);

export function findSettings(tx: Tx, project_id: number): SettingsRow | undefined {
  return settingsOf(tx).get({ project_id });
}

// Raw, as each mail asks for it.
const trackingOf = rawSql<Pick<SettingsRow, 'tracking'>, [number]>(
  'SELECT tracking FROM marketing_settings WHERE project_id = ?',
);

export function findTracking(tx: Tx, project_id: number): SettingsRow['tracking'] | undefined {
  return trackingOf.get(tx, project_id)?.tracking;
}

export function saveSettings(tx: Tx, row: SettingsRow): void {
  const { project_id: _project, ...changes } = row;
  tx.insert(marketingSettings)
    .values(row)
    .onConflictDoUpdate({ target: marketingSettings.project_id, set: changes })
    .run();
}

// Written out here and below, where every mail of a sequence passes.
const keyOf = rawSql<{ sealed_key: string }, [number]>(
  'SELECT sealed_key FROM marketing_keys WHERE project_id = ?',
);

export function findSealedKey(tx: Tx, project_id: number): string | null {
  return keyOf.get(tx, project_id)?.sealed_key ?? null;
}

export function insertSealedKey(tx: Tx, key: typeof marketingKeys.$inferInsert): void {
  tx.insert(marketingKeys).values(key).run();
}

const usageOf = rawSql<{ n: number }, [number, string]>(
  'SELECT n FROM marketing_usage WHERE project_id = ? AND day = ?',
);
const addUsage = rawSql<never, [number, string, number]>(
  'INSERT INTO marketing_usage (project_id, day, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
);

/** How many marketing mails a project sent on a UTC day. */
export function readUsage(read: Tx, project_id: number, day: string): number {
  return usageOf.get(read, project_id, day)?.n ?? 0;
}

/** Counts mails of a project towards its daily cap. */
export function takeUsage(tx: Tx, project_id: number, day: string, count: number): void {
  addUsage.run(tx, project_id, day, count);
}
