/** SQL of marketing settings, keys, and of what the daily cap counts. */
import type { Tx } from '../../platform/database/database.ts';
import { rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { marketingKeys, marketingSettings, type SettingsRow } from './tables.ts';

export const findSettings = rawGet<SettingsRow, [project_id: number]>(
  'SELECT * FROM marketing_settings WHERE project_id = ?',
  marketingSettings,
);

// Alone, as each mail asks for it.
export const findTracking = rawGet<Pick<SettingsRow, 'tracking'>, [project_id: number]>(
  'SELECT tracking FROM marketing_settings WHERE project_id = ?',
);

export function saveSettings(tx: Tx, row: SettingsRow): void {
  const { project_id: _project, ...changes } = row;
  tx.insert(marketingSettings)
    .values(row)
    .onConflictDoUpdate({ target: marketingSettings.project_id, set: changes })
    .run();
}

export const findSealedKey = rawGet<
  Pick<typeof marketingKeys.$inferSelect, 'sealed_key'>,
  [project_id: number]
>('SELECT sealed_key FROM marketing_keys WHERE project_id = ?');

export function insertSealedKey(tx: Tx, key: typeof marketingKeys.$inferInsert): void {
  tx.insert(marketingKeys).values(key).run();
}

const usageOf = rawGet<{ n: number }, [project_id: number, day: string]>(
  'SELECT n FROM marketing_usage WHERE project_id = ? AND day = ?',
);

/** How many marketing mails a project sent on a UTC day. */
export function readUsage(read: Tx, project_id: number, day: string): number {
  return usageOf(read, project_id, day)?.n ?? 0;
}

/** Counts mails of a project towards its daily cap. */
export const takeUsage = rawRun<[project_id: number, day: string, count: number]>(
  'INSERT INTO marketing_usage (project_id, day, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n',
);
