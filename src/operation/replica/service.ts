/** How the replica of the database is: how far it is behind, and what is not in it. */
import type { Database as Sqlite } from 'bun:sqlite';
import { resolve } from 'node:path';
import { readCount } from '../../platform/database/plain-connection.ts';
import { toIso } from '../../platform/host/clock.ts';
import { counted, formatBytes } from '../../platform/words/phrases.ts';
import { askLitestream, hasReplica } from './litestream.ts';

export { REPLICA_PATHS } from './config.ts';

/** `none`: Litestream never worked on this database. `stopped`: it did, and does not run. */
type ReplicaState = 'none' | 'stopped' | 'starting' | 'behind' | 'replicating';

export interface ReplicaStatus {
  state: ReplicaState;
  last_replicated_at: string | null;
  behind_seconds: number | null;
  /** Files of the data directory: the replica holds the database alone. */
  not_replicated: { files: number; bytes: number };
}

/** Litestream looks each second; a store that fails once or twice is no news. */
const BEHIND_MS = 60_000;

export async function replicaStatus(
  data_dir: string,
  sqlite: Sqlite,
  now_ms: number,
): Promise<ReplicaStatus> {
  const home = resolve(data_dir);
  const found = await askLitestream(home);
  const last_ms = found.is_running ? found.last_sync_ms : null;
  const behind_ms = last_ms === null ? null : Math.max(0, now_ms - last_ms);
  return {
    state: stateOf(found.is_running, hasReplica(home), behind_ms),
    last_replicated_at: last_ms === null ? null : toIso(last_ms),
    behind_seconds: behind_ms === null ? null : Math.round(behind_ms / 1_000),
    not_replicated: countLocalBytes(sqlite),
  };
}

function stateOf(is_running: boolean, has_replica: boolean, behind_ms: number | null): ReplicaState {
  if (!is_running) return has_replica ? 'stopped' : 'none';
  if (behind_ms === null) return 'starting';
  return behind_ms > BEHIND_MS ? 'behind' : 'replicating';
}

/** Objects, whose bytes are files of the data directory. */
function countLocalBytes(sqlite: Sqlite): { files: number; bytes: number } {
  return {
    files: readCount(sqlite, "SELECT count(*) FROM objects WHERE store = 'local'"),
    bytes: readCount(sqlite, "SELECT coalesce(sum(size_bytes), 0) FROM objects WHERE store = 'local'"),
  };
}

/** Says in a sentence what is not in the replica; empty where all is. */
export function describeMissing({ files, bytes }: ReplicaStatus['not_replicated']): string {
  if (files === 0) return '';
  return ` Not in the replica, but in backups: ${counted(files, 'file')} (${formatBytes(bytes)}) in the data directory.`;
}
