/** SQL of the calls of apps. */
import type { Tx } from '../../platform/database/database.ts';
import { rawGet } from '../../platform/database/raw-sql.ts';
import { type AppCallRow, appCalls } from './tables.ts';

export function insertCall(tx: Tx, call: AppCallRow): void {
  tx.insert(appCalls).values(call).run();
}

/** Null once the last of its mails has left the log. */
export const findCall = rawGet<AppCallRow, [id: string]>('SELECT * FROM app_calls WHERE id = ?', appCalls);
