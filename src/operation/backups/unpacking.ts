/** Unpacking a backup into a scratch directory and checking that it is whole: for `verify` and `restore`. */
import { closeSync, existsSync, fsync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { AppError } from '../../errors.ts';
import { BACKUP_BUFFER_BYTES, FINDING_EXAMPLES } from '../../limits.ts';
import { listPendingMigrations } from '../../platform/database/migrate.ts';
import { connect, listDefects, readCount, readMetaValue } from '../../platform/database/plain-connection.ts';
import { blobIdOf } from '../../platform/files/archive.ts';
import type { NamedBytes } from '../../platform/files/archive-blobs.ts';
import { blobPathOf } from '../../platform/files/store.ts';
import { databasePathOf } from '../../platform/host/database-file.ts';
import { letOthers, type OnProgress } from '../../platform/host/waiting.ts';
import type { KeyDemand } from '../../platform/secrets/master-key-source.ts';
import type { BackupReader } from './format.ts';
import { DATABASE, STORED } from './format.ts';
import { countWaitingEmails, listContents, listNamedBlobs, listStoredObjects, sumIn } from './store.ts';

/** Files that a restore flushes at once: they keep a disk busy, and are below every limit of open files. */
const RESTORE_FLUSHES = 32;

/** Counts what a restored directory holds. */
export interface RestoredCounts {
  projects: number;
  objects: number;
  object_bytes: number;
  /** Of the objects, those in the object store; and of these, those whose bytes came along. */
  stored_objects: number;
  brought_objects: number;
  emails: number;
  /** Mails that the server sends once it starts. */
  waiting_emails: number;
}

/** A restored directory: its faults, its contents, the master key that it needs. */
export interface Restored {
  findings: string[];
  counts: RestoredCounts;
  /** Null when nothing was ever sealed. */
  key: KeyDemand | null;
}

const flush: (fd: number) => Promise<void> = promisify(fsync);

interface UnpackOptions {
  /** Everything must be on disk at the end, apart from the names of the files. */
  durable: boolean;
  onProgress?: OnProgress | undefined;
}

/**
 * Unpacks a backup below `dir`, which must be empty, with modes 0700 and 0600, and checks it. Throws AppError
 * `invalid` when the backup is damaged.
 */
export async function unpackAndCheck(
  reader: BackupReader,
  dir: string,
  { durable, onProgress = () => {} }: UnpackOptions,
): Promise<Restored> {
  // Every byte is read twice: from the backup, and from the disk again.
  const { size_bytes } = reader;
  const total = size_bytes && 2 * size_bytes;
  await unpack(reader, dir, { durable, onUnpacked: (done) => onProgress(done, total) });
  const { position } = reader;
  return checkRestored(dir, (bytes) => onProgress(position + bytes, 2 * position));
}

async function unpack(
  reader: BackupReader,
  dir: string,
  options: { durable: boolean; onUnpacked: (bytes: number) => void },
): Promise<void> {
  const { onUnpacked } = options;
  const flushes = new Set<Promise<void>>();
  const folders = new Set<string>();
  for (let entry = await reader.next(); entry; entry = await reader.next()) {
    // A name becomes a path here, so this is where any other must end.
    const path = join(dir, entry.name);
    const is_known = entry.name === DATABASE || entry.name === STORED || blobIdOf(entry.name) !== null;
    if (!is_known || existsSync(path)) {
      throw new AppError(
        'invalid',
        `The backup ${reader.name} is damaged: it holds ${JSON.stringify(entry.name)}, which is no file of a backup or is there twice.`,
      );
    }
    makeFolder(folders, dirname(path));
    await unpackFile(reader, path, { flushes: options.durable ? flushes : null, onUnpacked });
  }
  if (!existsSync(databasePathOf(dir)))
    throw new AppError('invalid', `The backup ${reader.name} holds no database.`);
  await Promise.all(flushes);
}

function makeFolder(known: Set<string>, path: string): void {
  if (known.has(path)) return;
  mkdirSync(path, { recursive: true, mode: 0o700 });
  known.add(path);
}

async function unpackFile(
  reader: BackupReader,
  path: string,
  { flushes, onUnpacked }: { flushes: Set<Promise<void>> | null; onUnpacked: (bytes: number) => void },
): Promise<void> {
  const fd = openSync(path, 'wx', 0o600);
  let is_mine = true;
  try {
    await reader.read((chunk) => {
      for (let done = 0; done < chunk.length; ) done += writeSync(fd, chunk, done);
      onUnpacked(reader.position);
    });
    if (!flushes) return;
    is_mine = false;
    const flushing: Promise<void> = flush(fd).finally(() => {
      closeSync(fd);
      flushes.delete(flushing);
    });
    flushes.add(flushing);
    flushing.catch(() => {}); // Whoever awaits the set gets the error.
    if (flushes.size >= RESTORE_FLUSHES) await Promise.all(flushes);
  } finally {
    if (is_mine) closeSync(fd);
  }
}

/**
 * Checks a restored directory: whether this Satchel knows its schema, whether SQLite finds the database
 * sound, and whether every file that a row names has the bytes that the row tells of. Returns what is wrong,
 * worst first, and what is there.
 */
async function checkRestored(dir: string, onChecked: (bytes: number) => void): Promise<Restored> {
  const path = databasePathOf(dir);
  const findings: string[] = [];
  const sqlite = connect(path, { query_only: true });
  try {
    const defects = listDefects(sqlite);
    findings.push(...defects.map((defect) => `The database is damaged: ${defect}.`));
    listPendingMigrations(path);
    const { wrong, bytes, brought } = await checkBlobs(sqlite, dir, onChecked);
    findings.push(...wrong);
    const counts: RestoredCounts = {
      projects: readCount(sqlite, 'SELECT count(*) FROM projects'),
      objects: readCount(sqlite, 'SELECT count(*) FROM objects'),
      object_bytes: bytes,
      stored_objects: sumIn(sqlite, 's3').objects,
      brought_objects: brought,
      emails: readCount(sqlite, 'SELECT count(*) FROM emails'),
      waiting_emails: countWaitingEmails(sqlite),
    };
    const master_key_id = readMetaValue(sqlite, 'master_key_id');
    const passphrase_salt = readMetaValue(sqlite, 'passphrase_salt');
    return { findings, counts, key: master_key_id === null ? null : { master_key_id, passphrase_salt } };
  } finally {
    sqlite.close();
  }
}

async function checkBlobs(
  sqlite: ReturnType<typeof connect>,
  dir: string,
  onChecked: (bytes: number) => void,
): Promise<{ wrong: string[]; bytes: number; brought: number }> {
  const buffer = new Uint8Array(BACKUP_BUFFER_BYTES);
  const missing: string[] = [];
  const different: string[] = [];
  let bytes = 0;
  let unpaced = 0;
  let brought = 0;
  for (const { blob, may_lack, held } of listAll(sqlite)) {
    const found =
      held === undefined ? hashFile(blobPathOf(dir, blob.public_id), buffer) : held && hashBytes(held);
    bytes += found?.size_bytes ?? 0;
    unpaced += found?.size_bytes ?? 0;
    onChecked(bytes);
    if (found && may_lack) brought += 1;
    if (!found && !may_lack) missing.push(blob.public_id);
    else if (found && blob.sha256 !== null && blob.sha256 !== found.sha256) different.push(blob.public_id);
    if (unpaced < buffer.length) continue;
    unpaced = 0;
    // Signals are heard between files.
    await letOthers();
  }
  const wrong = [
    ...describeIds(missing, 'has no bytes', 'have no bytes'),
    ...describeIds(
      different,
      'has other bytes than its row tells of',
      'have other bytes than their rows tell of',
    ),
  ];
  return { wrong, bytes, brought };
}

/** Lists bytes that must be there, in files or `held` by the database, and those in the object store. */
function* listAll(sqlite: ReturnType<typeof connect>): Generator<{
  blob: Omit<NamedBytes, 'size_bytes'>;
  may_lack: boolean;
  held?: Uint8Array | null;
}> {
  for (const blob of listNamedBlobs(sqlite)) yield { blob, may_lack: false };
  for (const { bytes, ...blob } of listContents(sqlite)) yield { blob, may_lack: false, held: bytes };
  for (const blob of listStoredObjects(sqlite)) yield { blob, may_lack: true };
}

function hashBytes(bytes: Uint8Array): { sha256: string; size_bytes: number } {
  return { sha256: new Bun.CryptoHasher('sha256').update(bytes).digest('hex'), size_bytes: bytes.byteLength };
}

function hashFile(path: string, buffer: Uint8Array): { sha256: string; size_bytes: number } | null {
  if (!existsSync(path)) return null;
  const fd = openSync(path, 'r');
  try {
    const hasher = new Bun.CryptoHasher('sha256');
    let size_bytes = 0;
    for (let count = readSync(fd, buffer); count > 0; count = readSync(fd, buffer)) {
      hasher.update(buffer.subarray(0, count));
      size_bytes += count;
    }
    return { sha256: hasher.digest('hex'), size_bytes };
  } finally {
    closeSync(fd);
  }
}

/** `3 objects have no bytes: A, B, C`, or nothing. */
export function describeIds(ids: readonly string[], one: string, many: string): string[] {
  const [first] = ids;
  if (first === undefined) return [];
  if (ids.length === 1) return [`The object ${first} ${one}.`];
  const rest = ids.length > FINDING_EXAMPLES ? ', ...' : '';
  return [`${ids.length} objects ${many}: ${ids.slice(0, FINDING_EXAMPLES).join(', ')}${rest}.`];
}
