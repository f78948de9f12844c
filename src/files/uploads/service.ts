/**
 * Resumable uploads. What came stands where the object's bytes will be. The row says how far it is durable:
 * bytes are flushed first, and nothing beyond that offset was acknowledged. So after a crash or power cut an
 * upload goes on from its row.
 */
import { createReadStream, statfsSync } from 'node:fs';
import { AppError, conflict, invalid, messageOf, notFound } from '../../errors.ts';
import {
  DISK_RETRY_AFTER_S,
  MAX_UNFINISHED_UPLOADS,
  MIN_FREE_DISK_BYTES,
  SWEEP_BATCH,
  UNFINISHED_UPLOAD_MS,
} from '../../limits.ts';
import { noNote } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { declaredTypeOf } from '../../platform/files/media-types.ts';
import { cleanFilename } from '../../platform/files/multipart-headers.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import { SNIFF_BYTES } from '../../platform/files/upload.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { ProjectRef } from '../../platform/http/routes.ts';
import { type ObjectBytes, type Objects, readUploadFields } from '../objects/service.ts';
import { cutShort, Intake, type Part, tooLong, Writing } from './intake.ts';
import { readMetadata } from './protocol.ts';
import {
  countUnfinished,
  deleteUploads,
  findUpload,
  insertUpload,
  listExpired,
  listOfProject,
  listUnfinished,
  listWhole,
  setObject,
  sumMissing,
} from './store.ts';
import type { UploadRow } from './tables.ts';

export { isUnfinishedUpload } from './store.ts';
export type { UploadRow } from './tables.ts';

/** A request that brought nothing for this long gives way to another one: its client has gone. */
const UPLOAD_GIVES_WAY_MS = 3_000;

interface UploadsDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  blobs: BlobStore;
  bytes: Pick<ObjectBytes, 'current'>;
  objects: Objects;
  projectOf(id: number): ProjectRef | null;
  /** True while a key may upload. */
  mayUpload(key_id: number): boolean;
  /** What the bytes of a file tell, found out where nobody waits for it. */
  factsOfFile(path: string): Promise<{ sha256: string; is_utf8: boolean }>;
  config: { data_dir: string; max_upload_bytes: number; allowed_mime_types: readonly string[] };
}

/** Whose upload it is. */
interface Owner {
  project_id: number;
  key_id: number;
}

export class Uploads {
  readonly #writings = new Map<string, Writing>();
  readonly #finishing = new Map<string, Promise<string>>();
  readonly #intake: Intake;
  /** Files are read through one after the other. */
  #reading: Promise<unknown> = Promise.resolve();
  #is_stopping = false;

  constructor(private readonly deps: UploadsDeps) {
    this.#intake = new Intake(deps);
  }

  /**
   * Begins an upload; an empty one is finished at once. Throws AppError `too_large`, `invalid` for bad
   * fields, `rate_limited` where the key has too many unfinished ones, and `unavailable` where all that was
   * promised would not fit on the disk.
   */
  async create(
    owner: Owner,
    { size_bytes, metadata }: { size_bytes: number; metadata: string },
  ): Promise<UploadRow> {
    const { clock, database, config } = this.deps;
    if (size_bytes > config.max_upload_bytes) {
      const max = `${config.max_upload_bytes} bytes, SATCHEL_MAX_UPLOAD_BYTES`;
      throw new AppError('too_large', `Upload-Length must be at most ${max}.`);
    }
    const now = clock.now();
    const fields = readMetadata(metadata);
    readUploadFields(fields, now);
    await this.#requireAllowed(fields);
    const upload = {
      id: newId(now),
      ...owner,
      metadata,
      size_bytes,
      offset_bytes: 0,
      object_id: null,
      expires_at: now + UNFINISHED_UPLOAD_MS,
      created_at: now,
    };
    this.#requireRoom(size_bytes + sumMissing(database.read, now));
    await database.write((tx) => {
      if (countUnfinished(tx, owner.key_id, now) >= MAX_UNFINISHED_UPLOADS) throw tooMany();
      insertUpload(tx, upload);
    });
    return size_bytes === 0 ? this.#finished(upload) : upload;
  }

  /** Judges what the file says of itself before gigabytes are sent. Its bytes are judged at the end. */
  async #requireAllowed({ filetype, filename }: Record<string, string>): Promise<void> {
    const allowed = this.deps.config.allowed_mime_types;
    const declared = declaredTypeOf({ declared: filetype ?? null });
    if (declared === null || allowed.length === 0) return;
    const { isAllowedName } = await import('../../platform/files/type-detection.ts');
    if (!isAllowedName({ declared, filename: cleanFilename(filename ?? '') }, allowed))
      throw invalid({ filetype: [`must be an allowed type: ${allowed.join(', ')}`] });
  }

  /** An upload of the key. Throws 404, also for one that expired, or whose bytes are gone. */
  require(key_id: number, id: string): UploadRow {
    const { clock, database } = this.deps;
    const upload = findUpload(database.read, id);
    const is_there = upload?.key_id === key_id && upload.expires_at > clock.now() && !this.#isLost(upload);
    if (!is_there) throw notFound('Upload');
    return upload;
  }

  /** After a restore the row may be there without its bytes. */
  #isLost({ id, offset_bytes, object_id }: UploadRow): boolean {
    return object_id === null && (this.deps.blobs.sizeOf(id) ?? 0) < offset_bytes;
  }

  /**
   * Where an upload stands; a whole one is finished first. Throws AppError `locked` where that must wait, and
   * `invalid` where the object is refused.
   */
  async look(upload: UploadRow): Promise<UploadRow> {
    await this.#makeWay(upload.id);
    const current = this.#current(upload);
    if (!this.#isWhole(current) || this.#writings.has(upload.id)) return current;
    try {
      return await this.#finished(current);
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'unavailable') throw error;
      // Clients take any other refusal for the loss of the upload, and send all of it once more.
      const { message, retry_after_s = 1 } = error;
      throw new AppError('locked', message, { retry_after_s, cause: error });
    }
  }

  /**
   * Takes a part. All that the returned row tells of is durable, and the last part makes the object. What
   * came of a broken-off part stays, unless it has a checksum. Throws AppError `conflict` for a wrong offset
   * or beside another writer, `too_large`, `checksum_mismatch`, `unavailable`, and as `Objects.create` does:
   * what is refused there is gone.
   */
  async append(upload: UploadRow, part: Part): Promise<UploadRow> {
    const { id } = upload;
    if (this.#is_stopping) throw cutShort('the server is stopping');
    await this.#makeWay(id);
    const current = this.#current(upload);
    if (this.#writings.has(id))
      throw conflict('Another request is writing to this upload. Ask for its offset, and try again.');
    if (part.offset_bytes !== current.offset_bytes)
      throw conflict(
        'Upload-Offset is not where the upload stands. Ask for its offset, and go on from there.',
      );
    const missing_bytes = current.size_bytes - current.offset_bytes;
    if ((part.size_bytes ?? 0) > missing_bytes) throw tooLong();
    this.#requireRoom(missing_bytes);
    const writing = new Writing();
    this.#writings.set(id, writing);
    try {
      await this.#intake.take(current, part, writing);
    } finally {
      this.#writings.delete(id);
      writing.end();
    }
    const taken = this.#current(upload);
    return this.#isWhole(taken) ? this.#finished(taken) : taken;
  }

  /** Ends an upload and removes it; requests that write to it find it gone. A finished object stays. */
  async remove({ id }: UploadRow): Promise<void> {
    const gone = await this.deps.database.write((tx) => deleteUploads(tx, [id]));
    await this.#removeEnded(unfinishedOf(gone));
  }

  /** Finishes whatever is whole: what a crash or a store that was away has left. */
  async finishWhole(): Promise<void> {
    const { database, logger, mayUpload } = this.deps;
    for (const upload of listWhole(database.read)) {
      if (this.#is_stopping || this.#isLost(upload) || !mayUpload(upload.key_id)) continue;
      await this.#finished(upload).catch((error: unknown) => {
        logger.warn('upload not finished', { upload: upload.id, reason: messageOf(error) });
      });
    }
  }

  /** Forgets uploads that have expired, and those whose bytes are gone. */
  async sweep(): Promise<void> {
    const { clock, database } = this.deps;
    const isIdle = ({ id }: UploadRow): boolean => !this.#writings.has(id) && !this.#finishing.has(id);
    await this.#drop(
      listUnfinished(database.read)
        .filter((upload) => isIdle(upload) && this.#isLost(upload))
        .map(({ id }) => id),
    );
    for (;;) {
      const expired = listExpired(database.read, clock.now(), SWEEP_BATCH).filter(isIdle);
      await this.#drop(expired.map(({ id }) => id));
      if (expired.length < SWEEP_BATCH) return;
    }
  }

  /** Ends what is under way, keeping what came: clients go on after the restart. */
  async stop(): Promise<void> {
    this.#is_stopping = true;
    const why = cutShort('the server is stopping');
    await Promise.all([...this.#writings.values()].map((writing) => writing.stop(why)));
  }

  /** How uploads take part in the deletion of their project. */
  projectCascade() {
    return {
      count: () => ({}),
      remove: (tx: Tx, project: { id: number }): string[] => unfinishedOf(listOfProject(tx, project.id)),
      afterCommit: async (_project: { id: number }, ids: unknown): Promise<void> => {
        if (Array.isArray(ids)) await this.#removeEnded(ids.filter((id) => typeof id === 'string'));
      },
    };
  }

  #isWhole({ offset_bytes, size_bytes, object_id }: UploadRow): boolean {
    return offset_bytes === size_bytes && object_id === null;
  }

  /** The row as it is now. */
  #current({ key_id, id }: UploadRow): UploadRow {
    return this.require(key_id, id);
  }

  /** Ends a request whose client has gone without a word: whoever asks now goes on in its place. */
  async #makeWay(id: string): Promise<void> {
    const writing = this.#writings.get(id);
    if (writing && writing.silence_ms >= UPLOAD_GIVES_WAY_MS)
      await writing.stop(cutShort('another one took over'));
  }

  #requireRoom(bytes: number): void {
    const { bavail, bsize } = statfsSync(this.deps.config.data_dir);
    if (bavail * bsize >= bytes + MIN_FREE_DISK_BYTES) return;
    throw new AppError('unavailable', 'There is no room on the disk for this upload. Try again later.', {
      retry_after_s: DISK_RETRY_AFTER_S,
    });
  }

  /* --- What becomes of it ----------------------------------------------------------------------------------------- */

  /** The row of a whole upload once its object is there; whoever asks meanwhile waits for the same. */
  async #finished(upload: UploadRow): Promise<UploadRow> {
    const { id } = upload;
    let work = this.#finishing.get(id);
    if (!work) {
      work = this.#finish(upload).finally(() => this.#finishing.delete(id));
      this.#finishing.set(id, work);
    }
    return { ...upload, object_id: await work };
  }

  async #finish({ id, project_id }: UploadRow): Promise<string> {
    const { clock, database, objects, bytes, blobs, projectOf } = this.deps;
    // Another request may have finished it since its row was read.
    const upload = findUpload(database.read, id);
    const project = projectOf(project_id);
    if (!upload || !project) throw notFound('Upload');
    if (upload.object_id !== null) return upload.object_id;
    const fields = readMetadata(upload.metadata);
    const file = {
      fields,
      filename: cleanFilename(fields.filename ?? ''),
      mime_type: fields.filetype ?? null,
    };
    // One that was ended meanwhile becomes nothing.
    const within = (tx: Tx, { public_id }: { public_id: string }): void => {
      const told = { id, object_id: public_id, expires_at: clock.now() + UNFINISHED_UPLOAD_MS };
      if (setObject(tx, told) === 0) throw notFound('Upload');
    };
    if (upload.size_bytes === 0) await blobs.continueUpload(id, { from: 0, facts: null }).commit();
    const path = blobs.path(id);
    try {
      if (bytes.current.name === 'local') {
        await objects.create(project, { ...file, ...(await this.#asStored(upload)) }, within, noNote);
        this.#intake.forget(id);
        return id;
      }
      // Under an id of its own: what a store still does for a try that failed must not meet the next one.
      const sent = { ...file, bytes: chunksOf(path), max_bytes: upload.size_bytes };
      const { public_id } = await objects.take(project, sent, noNote, within);
      await this.#removeBytes([id]);
      return public_id;
    } catch (error) {
      // Refused for good: another try would end the same.
      const is_final = error instanceof AppError && (error.kind === 'invalid' || error.kind === 'too_large');
      if (is_final) await this.#drop([id]);
      throw error;
    }
  }

  /** A whole upload as an object is made of it: its bytes are where they stay, and durable. */
  async #asStored(upload: UploadRow) {
    const { id, size_bytes } = upload;
    const path = this.deps.blobs.path(id);
    const facts = this.#intake.factsAt(upload)?.copy();
    const { is_utf8, sha256 } = facts
      ? { is_utf8: facts.is_utf8, sha256: facts.sha256() }
      : await this.#factsOf(path);
    const head = await Bun.file(path).slice(0, SNIFF_BYTES).bytes();
    const settled = { commit: async () => {}, abort: async () => {}, held: null };
    const store = 'local' as const;
    return {
      upload: { id, size_bytes, head, is_utf8, sha256: () => sha256, ...settled },
      store,
      stays: true,
    };
  }

  #factsOf(path: string): ReturnType<UploadsDeps['factsOfFile']> {
    const read = this.#reading.then(() => this.deps.factsOfFile(path));
    this.#reading = read.catch(() => {});
    return read;
  }

  async #drop(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const gone = await this.deps.database.write((tx) => deleteUploads(tx, ids));
    await this.#removeBytes(unfinishedOf(gone));
  }

  /** Removes the bytes of uploads whose rows are gone, once nobody adds to them any more. */
  async #removeEnded(ids: readonly string[]): Promise<void> {
    await Promise.all(
      ids.map(async (id) => {
        await this.#writings.get(id)?.stop(notFound('Upload'));
        await this.#finishing.get(id)?.catch(() => {});
      }),
    );
    await this.#removeBytes(ids);
  }

  async #removeBytes(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      this.#intake.forget(id);
      await this.deps.blobs.remove(id);
    }
  }
}

function unfinishedOf(uploads: readonly UploadRow[]): string[] {
  return uploads.flatMap(({ id, object_id }) => (object_id === null ? [id] : []));
}

/** Opened only once it is read. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path);
}

function tooMany(): AppError {
  const message = `This API key has ${MAX_UNFINISHED_UPLOADS} unfinished uploads, which is the limit. Finish one, end one, or wait until one expires.`;
  return new AppError('rate_limited', message, { retry_after_s: 60 });
}
