/** Writes a backup file: an archive that ends in the hashes of its files. The format is told in format.ts. */
import { ArchiveWriter, type Outlet } from '../../platform/files/archive-writer.ts';
import { BACKUP, SUMS } from './format.ts';

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
