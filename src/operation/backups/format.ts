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
import { AppError } from '../../errors.ts';
import { type ArchiveKind, END_BYTES } from '../../platform/files/archive.ts';
import { ArchiveReader } from '../../platform/files/archive-reader.ts';
import { ArchiveFile, type ArchiveSource } from '../../platform/files/archive-source.ts';
import { ArchiveWriter, type Outlet } from '../../platform/files/archive-writer.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';

export const DATABASE = databasePathOf('.');
export const SUMS = 'SHA256SUMS';
const BACKUP: ArchiveKind = {
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

export class BackupWriter extends ArchiveWriter {
  /** A line of some 110 bytes for each file so far: SHA256SUMS stands at the end. */
  readonly #sums: string[] = [];

  /** Begins a backup: see ArchiveWriter. */
  constructor(fd: number, created_ms: number, outlet: Outlet | null = null) {
    super(fd, created_ms, outlet);
    this.begin(BACKUP);
  }

  protected override noteSum(line: string): void {
    this.#sums.push(line);
  }

  /** Writes the hashes and the end, and makes everything durable. Returns the size of the file. */
  finish(): Promise<number> {
    this.writeText(SUMS, this.#sums.join(''));
    return this.end();
  }
}

/** Reads a backup file and finds any damage of it. */
export class BackupReader extends ArchiveReader {
  /** SHA256SUMS must say these lines. */
  readonly #sums: string[] = [];

  /** Throws as ArchiveReader does. */
  constructor(from: ArchiveSource | string) {
    super(from, BACKUP);
    this.begin();
  }

  protected override noteSum(line: string): void {
    this.#sums.push(line);
  }

  /** Compares SHA256SUMS with what was read, line by line, so that a damaged file is named. */
  protected override async readEnd(size_bytes: number, position: number): Promise<void> {
    let length = 0;
    for (const expected of this.#sums) {
      const bytes = Buffer.from(expected);
      length += bytes.length;
      if ((await this.take(bytes.length)).equals(bytes)) continue;
      const name = expected.slice(expected.indexOf('  ') + 2).trimEnd();
      throw this.damage(`the file ${name} and what ${SUMS} tells of it differ`, position);
    }
    if (length !== size_bytes) throw this.damage('it does not hold as many files as it says', position);
  }
}

/** True when a file begins and ends as a backup does: a quick look for foreign and cut-off files. */
export function looksWhole(path: string): boolean {
  try {
    const file = new ArchiveFile(path, BACKUP.what);
    const reader = new BackupReader(file);
    try {
      return file.endsInZeros(END_BYTES);
    } finally {
      reader.close();
    }
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return false;
    throw error;
  }
}
