/** Reads a backup file and finds any damage of it. The format is told in format.ts. */
import { AppError } from '../../errors.ts';
import { END_BYTES } from '../../platform/files/archive.ts';
import { ArchiveReader } from '../../platform/files/archive-reader.ts';
import { ArchiveFile, type ArchiveSource } from '../../platform/files/archive-source.ts';
import { BACKUP, SUMS } from './format.ts';

export class BackupReader extends ArchiveReader {
  /** What SHA256SUMS must say. */
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

/** Whether a file begins and ends as a backup does: a quick look for foreign and cut-off files. */
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
