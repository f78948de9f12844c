/** Asks Litestream beside a data directory by its control socket. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { databasePathOf } from '../../platform/host/database-file.ts';

/** Litestream's own folder beside a database. */
export const LITESTREAM_FOLDER = '.satchel.db-litestream';
const ANSWER_TIMEOUT_MS = 2_000;

export function socketPathOf(data_dir: string): string {
  return join(data_dir, 'litestream.sock');
}

/** True when Litestream has ever worked on the database of this directory. */
export function hasReplica(data_dir: string): boolean {
  return existsSync(join(data_dir, LITESTREAM_FOLDER));
}

/** When the replica last had all that the database held. */
export type Replication =
  | { is_running: false }
  /** Null before the first time since Litestream started. */
  | { is_running: true; last_sync_ms: number | null };

/** Asks a Litestream that runs with our configuration. */
export async function askLitestream(data_dir: string): Promise<Replication> {
  try {
    const answer = await fetch('http://litestream/list', {
      unix: socketPathOf(data_dir),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    });
    const told: unknown = await answer.json();
    return { is_running: true, last_sync_ms: lastSyncIn(told, databasePathOf(data_dir)) };
  } catch {
    return { is_running: false };
  }
}

function lastSyncIn(told: unknown, path: string): number | null {
  const databases = isRecord(told) && Array.isArray(told.databases) ? told.databases : [];
  const ours = databases.filter(isRecord).find((each) => each.path === path);
  const at_ms = typeof ours?.last_sync_at === 'string' ? Date.parse(ours.last_sync_at) : Number.NaN;
  return Number.isNaN(at_ms) ? null : at_ms;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
