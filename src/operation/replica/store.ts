/** SQL about what a replica of the database does not hold. */
import type { Database as Sqlite } from 'bun:sqlite';
import { readCount } from '../../platform/database/plain-connection.ts';

/** Objects, whose bytes are files of the data directory. */
export function countLocalBytes(sqlite: Sqlite): { files: number; bytes: number } {
  return {
    files: readCount(sqlite, "SELECT count(*) FROM objects WHERE store = 'local'"),
    bytes: readCount(sqlite, "SELECT coalesce(sum(size_bytes), 0) FROM objects WHERE store = 'local'"),
  };
}
