/** Verifying a backup: all of it is read, unpacked to a scratch place, and checked there. */
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { AppError, messageOf } from '../../errors.ts';
import type { ArchiveStream } from '../../platform/files/archive-source.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { makeScratch, requireRoom, withScratch } from '../../platform/host/folders.ts';
import { isShortage } from '../../platform/host/shortages.ts';
import type { OnProgress } from '../../platform/host/waiting.ts';
import { BackupReader } from './format.ts';
import { checkStored, type StoreQuestion } from './stored-checks.ts';
import { type Restored, type RestoredCounts, unpackAndCheck } from './unpacking.ts';

export interface VerifyResult extends Partial<RestoredCounts> {
  ok: boolean;
  /** Null where it came as a stream. */
  file: string | null;
  /** By the backup's own words; null when it is too damaged to say. */
  made_by: string | null;
  created_at: string | null;
  master_key_id: string | null;
  /** How many of those in the object store were deleted there since; null where the store was not asked. */
  deleted_since: number | null;
  /** Empty when `ok`. */
  findings: string[];
}

/**
 * Restores a backup to a scratch folder and checks every byte. It asks the object store, where one is given,
 * for what is listed of it. It touches nothing else. A damaged file is an answer, not an error. Throws
 * AppError `unavailable` when there is no room for it.
 */
export async function verifyBackup(options: {
  file: string | ArchiveStream;
  scratch_dir: string | null;
  stored: StoreQuestion | null;
  onProgress?: OnProgress;
}): Promise<VerifyResult> {
  const file = typeof options.file === 'string' ? resolve(options.file) : null;
  const answer: VerifyResult = {
    ok: false,
    file,
    made_by: null,
    created_at: null,
    master_key_id: null,
    deleted_since: null,
    findings: [],
  };
  let reader: BackupReader | null = null;
  try {
    reader = new BackupReader(file ?? options.file);
    answer.made_by = reader.about.version;
    answer.created_at = reader.about.created_at;
    const folder = scratchFolder(options.file, options.scratch_dir);
    const scratch = join(folder, `.satchel-verify-${process.pid}`);
    const { findings, counts, key, deleted_since } = await checkInScratch(reader, scratch, options);
    return {
      ...answer,
      ok: findings.length === 0,
      ...counts,
      master_key_id: key?.master_key_id ?? null,
      deleted_since,
      findings,
    };
  } catch (error) {
    if (!(error instanceof AppError) || error.kind === 'unavailable') throw error;
    return { ...answer, findings: [error.message] };
  } finally {
    reader?.close();
  }
}

/** Where a verification has its scratch folder: where it is told to, else beside the file, or where temporary files are. */
export function scratchFolder(file: string | ArchiveStream, scratch_dir: string | null): string {
  return resolve(scratch_dir ?? (typeof file === 'string' ? dirname(file) : tmpdir()));
}

function checkInScratch(
  reader: BackupReader,
  scratch: string,
  { stored, onProgress }: { stored: StoreQuestion | null; onProgress?: OnProgress },
): Promise<Restored & { deleted_since: number | null }> {
  return withScratch([scratch], async () => {
    const folder = dirname(scratch);
    const explain = (cause: unknown): AppError => {
      const why = cause instanceof AppError ? cause.message : `${messageOf(cause)}.`;
      const message = `There can be no scratch folder in ${folder}: ${why} Choose another place with --scratch-dir.`;
      return new AppError('unavailable', message, { cause });
    };
    try {
      requireRoom(folder, reader.size_bytes ?? 0);
      makeScratch(scratch);
    } catch (error) {
      throw explain(error);
    }
    const restored = await unpackAndCheck(reader, scratch, { durable: false, onProgress }).catch((error) => {
      throw isShortage(error) ? explain(error) : error;
    });
    if (stored === null || restored.findings.length > 0 || restored.counts.stored_objects === 0)
      return { ...restored, deleted_since: null };
    const asked = await checkStored(databasePathOf(scratch), stored, onProgress ?? (() => {}));
    return { ...restored, ...asked };
  });
}
