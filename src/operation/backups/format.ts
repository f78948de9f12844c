/**
 * The format of a backup: a tar archive that any `tar` unpacks into a data directory without its master key.
 *
 *   satchel-backup.json    what made it, and when
 *   objects/XY/ID ...      the bytes of each object; of those in the object store where that was asked for
 *   store-objects.txt      hash, size and key below the prefix of each of those, where there are any
 *   satchel.db             the database
 *   SHA256SUMS             the hash of every file above, in their order, as sha256sum(1) reads and writes it
 *   two blocks of zeros
 */
import { join } from 'node:path';
import type { ArchiveKind } from '../../platform/files/archive.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';

export const DATABASE = databasePathOf('.');
export const SUMS = 'SHA256SUMS';
export const BACKUP: ArchiveKind = {
  what: 'backup',
  format: 1,
  about: 'satchel-backup.json',
  end: SUMS,
};
export const STORED = 'store-objects.txt';

/** As a line of the list of what is in the object store. */
export function storedLine(stored: { public_id: string; size_bytes: number; sha256: string }): string {
  return `${stored.sha256}  ${stored.size_bytes}  objects/${stored.public_id}\n`;
}

/** Where backups are in a data directory, and what one to an outlet needs meanwhile. */
export function backupFolder(data_dir: string): string {
  return join(data_dir, 'backups');
}
