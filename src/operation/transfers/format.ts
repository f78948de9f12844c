/**
 * The file of an exported project: a tar archive, whose secrets are sealed under a passphrase, and whose every byte is vouched for
 * by it.
 *
 *   satchel-project.json   what made it, of which project, and how its key comes from the passphrase
 *   project.json           the project, its wrapped data keys, and what it refers to of what stays: see manifest-store.ts
 *   rows/0000001 ...       rows of one table, a line each; the first line names the table and its columns
 *   objects/XY/ID ...      the bytes of objects; of those in the object store where that was asked for
 *   left-out.json          objects whose bytes were gone as the file was made
 *   SEAL                   HMAC-SHA-256 of the hashes and names of all files above, under the passphrase's key
 *   two blocks of zeros
 */

import { createHmac, timingSafeEqual } from 'node:crypto';
import { AppError } from '../../errors.ts';
import type { ArchiveKind } from '../../platform/files/archive.ts';
import { ArchiveReader } from '../../platform/files/archive-reader.ts';
import { ArchiveFile } from '../../platform/files/archive-source.ts';
import { ArchiveWriter, type Outlet } from '../../platform/files/archive-writer.ts';
import { nullable, type Static, t } from '../../platform/http/schema.ts';
import type { MasterKey } from '../../platform/secrets/sealing.ts';

export const PROJECT_FILE: ArchiveKind = {
  what: 'project file',
  format: 1,
  about: 'satchel-project.json',
  end: 'SEAL',
};
export const MANIFEST = 'project.json';
export const LEFT_OUT = 'left-out.json';
const ROWS = 'rows/';
const SEAL_CHARS = 64;

export const leftOut = t.Object({ objects: t.Array(t.String()) });

/** A file says this before anything else, besides what made it. */
export const projectFile = t.Object({
  project: t.Object({ public_id: t.String(), name: t.String(), slug: t.String() }),
  /** Of the passphrase, for argon2id. */
  salt: t.String(),
  /** Names the key that comes of both. */
  key_id: t.String(),
  /** Where the bytes are that were in an object store: in the file, or in this bucket. */
  store: nullable(t.Object({ bucket: t.String(), prefix: t.String() })),
  with_store: t.Boolean(),
});
export type ProjectFile = Static<typeof projectFile>;

export class WrongPassphrase extends AppError {
  constructor(name: string) {
    super('invalid', `The passphrase is not the one that ${name} was exported with. Nothing was written.`);
  }
}

/** The name of the nth file of rows. */
export function rowsName(n: number): string {
  return `${ROWS}${String(n).padStart(7, '0')}`;
}

export function isRowsName(name: string): boolean {
  return name.startsWith(ROWS);
}

function sealOf(key: MasterKey, digest: string): string {
  return createHmac('sha256', key.bytes).update(`satchel project file\0${digest}`).digest('hex');
}

export class ProjectWriter extends ArchiveWriter {
  readonly #key: MasterKey;
  readonly #sums = new Bun.CryptoHasher('sha256');

  /** Begins a file: see ArchiveWriter. */
  constructor(
    fd: number,
    created_ms: number,
    of: { key: MasterKey; about: ProjectFile; outlet: Outlet | null },
  ) {
    super(fd, created_ms, of.outlet);
    this.#key = of.key;
    this.begin(PROJECT_FILE, of.about);
  }

  protected override noteSum(line: string): void {
    this.#sums.update(line);
  }

  /** Seals the file and makes all of it durable. Returns its size. */
  finish(): Promise<number> {
    this.writeText(PROJECT_FILE.end, sealOf(this.#key, this.#sums.digest('hex')));
    return this.end();
  }
}

/** Reads what a file says of itself; messages call it `name`. Throws as ArchiveReader does. */
export function openAbout(path: string, name = path): { about: unknown; size_bytes: number } {
  const file = new ArchiveFile(path, PROJECT_FILE.what, name);
  const reader = new AboutReader(file, PROJECT_FILE);
  reader.close();
  return { about: reader.said, size_bytes: file.size_bytes };
}

/** Reads no further than that. */
class AboutReader extends ArchiveReader {
  protected override noteSum(): void {}
  protected override async readEnd(): Promise<void> {}
}

export class ProjectReader extends ArchiveReader {
  readonly #key: MasterKey;
  readonly #sums = new Bun.CryptoHasher('sha256');
  #seal: string | null = null;

  /** Throws as ArchiveReader does. */
  constructor(path: string, key: MasterKey, name = path) {
    super(new ArchiveFile(path, PROJECT_FILE.what, name), PROJECT_FILE);
    this.#key = key;
    this.begin();
  }

  /** The seal of the whole file, once all of it was read: the same for the same content alone. */
  get seal(): string | null {
    return this.#seal;
  }

  protected override noteSum(line: string): void {
    this.#sums.update(line);
  }

  protected override async readEnd(size_bytes: number, position: number): Promise<void> {
    const seal = sealOf(this.#key, this.#sums.digest('hex'));
    const found = size_bytes === SEAL_CHARS ? await this.take(size_bytes) : Buffer.alloc(SEAL_CHARS);
    if (!timingSafeEqual(found, Buffer.from(seal)))
      throw this.damage('its seal does not fit what it holds: it was changed', position);
    this.#seal = seal;
  }
}
