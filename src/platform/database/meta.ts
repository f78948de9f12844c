/** What the database says of itself, and keys that belong to it as a whole: one value for a name. */
import type { Tx } from './database.ts';
import { rawSql } from './raw-sql.ts';
import { meta } from './tables.ts';

// Written out: each mail and each sealed secret asks for one.
const metaByName = rawSql<{ value: string }, [string]>('SELECT value FROM meta WHERE name = ?');

export function readMeta(tx: Tx, name: string): string | null {
  return metaByName.get(tx, name)?.value ?? null;
}

export function writeMeta(tx: Tx, name: string, value: string): void {
  tx.insert(meta).values({ name, value }).onConflictDoUpdate({ target: meta.name, set: { value } }).run();
}
