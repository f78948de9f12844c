/** Stored objects: creating, finding, deleting and expiring them, and keeping rows and bytes in step. */
import { AppError, collectErrors, type FieldErrors, messageOf, notFound } from '../../errors.ts';
import { ACTIVITY_RETENTION_MS, SWEEP_BATCH } from '../../limits.ts';
import { changesOf, type Note } from '../../platform/database/audit-trail.ts';
import type { Database, Tx } from '../../platform/database/database.ts';
import { csvTypeOf, declaredTypeOf, lacksCharset } from '../../platform/files/media-types.ts';
import { readMultipart, tooLarge } from '../../platform/files/multipart.ts';
import { cleanFilename } from '../../platform/files/multipart-headers.ts';
import type { BlobStore, StoreName } from '../../platform/files/store.ts';
import type { BlobUpload } from '../../platform/files/upload.ts';
import { type Clock, DAY_MS, toIso } from '../../platform/host/clock.ts';
import { newId } from '../../platform/host/ids.ts';
import type { Logger } from '../../platform/host/logger.ts';
import {
  hashRequest,
  type Idempotency,
  type IdempotentRequest,
  type KeptAnswer,
} from '../../platform/http/idempotency.ts';
import type { Page } from '../../platform/http/pagination.ts';
import type { ProjectCaller } from '../../platform/http/routes.ts';
import type { ObjectBytes, Pins } from './bytes.ts';
import { listPage, type ObjectQuery, searchPage } from './listing.ts';
import {
  type ChangedObject,
  type ListedObject,
  type ObjectChanges,
  type ObjectRecord,
  readUploadFields,
  type StoredObject,
} from './schemas.ts';
import type { NewObject, Visibility } from './store.ts';
import * as store from './store.ts';
import type { ObjectRow } from './tables.ts';

export { hasObjectIn, ObjectBytes, type Pins } from './bytes.ts';
export { InternalObjects } from './internal.ts';
export { ObjectLinks } from './links.ts';
export { ObjectMoves } from './moving.ts';
export { readUploadFields } from './schemas.ts';
export type { ObjectRow } from './tables.ts';

/** A file that a client sent: bytes that have no row yet. */
interface UploadedFile {
  fields: Readonly<Record<string, string>>;
  filename: string;
  /** The part's own Content-Type, which may be nonsense. */
  mime_type: string | null;
  upload: Pick<BlobUpload, 'id' | 'size_bytes' | 'head' | 'sha256' | 'is_utf8' | 'commit' | 'abort' | 'held'>;
  /** Where the upload goes, unless its bytes are held. */
  store: StoreName;
  /** Whether the bytes outlast a failure, for another try. */
  stays?: boolean;
}

/** Runs in the transaction that makes an object. */
type Within = (tx: Tx, stored: StoredObject) => void;

/** Nothing is told of objects that go with their project. */
export interface ObjectEvent {
  kind: 'created' | 'deleted';
  object: NewObject;
}

interface ObjectsDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  blobs: BlobStore;
  bytes: ObjectBytes;
  pins: Pins;
  /** What goes with an object. */
  variants: { remove(public_ids: readonly string[]): Promise<void> };
  idempotency: Idempotency;
  max_upload_bytes: number;
  public_url: string;
  allowed_mime_types: readonly string[];
}

export class Objects {
  /** Each is told in the transaction that records what happened. */
  readonly listeners = new Set<(tx: Tx, event: ObjectEvent) => void>();

  constructor(private readonly deps: ObjectsDeps) {}

  /**
   * Makes an object of a form's file while it comes. Answers what the client is told, and whether it was told
   * before. Throws AppError as `readMultipart`, `create` and `Idempotency.run` do, and leaves nothing behind.
   */
  upload(
    caller: Pick<ProjectCaller, 'project' | 'note'>,
    form: Pick<Request, 'headers' | 'body'>,
    request: IdempotentRequest,
  ): Promise<KeptAnswer & { is_replayed: boolean }> {
    const { clock, bytes, idempotency, max_upload_bytes } = this.deps;
    return idempotency.run(request, async (claim) => {
      const { upload, store } = await bytes.openUpload(newId(clock.now()));
      try {
        const { fields, file } = await readMultipart(form, {
          max_file_bytes: max_upload_bytes,
          upload,
          errorsIn: (read) => collectErrors(() => readUploadFields(read, clock.now())),
        });
        request.acceptAgain();
        const { kept, keep } = claim(request.key === null ? '' : hashOf(upload, file, fields));
        if (kept) return { ...kept, is_replayed: true };
        const sent = { ...file, fields, upload, store };
        const keepStored: Within = (tx, value) => keep(tx, { status: 201, value });
        const value = await this.create(caller.project, sent, keepStored, caller.note);
        return { status: 201, value, is_replayed: false };
      } finally {
        await upload.abort(); // What was committed stays.
      }
    });
  }

  /**
   * Makes an object of bytes outside a form while they come, and cleans their name. Throws AppError as
   * `create` does, and what reading them throws; it leaves nothing behind.
   */
  async take(
    project: { id: number; public_id: string },
    file: Omit<UploadedFile, 'upload' | 'store'> & { bytes: AsyncIterable<Uint8Array>; max_bytes: number },
    note: Note,
    within: Within = () => {},
  ): Promise<StoredObject> {
    const { clock, bytes } = this.deps;
    readUploadFields(file.fields, clock.now());
    const { upload, store } = await bytes.openUpload(newId(clock.now()));
    try {
      for await (const chunk of file.bytes) {
        if (upload.size_bytes + chunk.byteLength > file.max_bytes) throw tooLarge(file.max_bytes);
        await upload.write(chunk);
      }
      const { fields, mime_type } = file;
      const sent = { fields, mime_type, filename: cleanFilename(file.filename), upload, store };
      return await this.create(project, sent, within, note);
    } finally {
      await upload.abort(); // What was committed stays.
    }
  }

  /**
   * Makes an object of an uploaded file: bytes first, then the row, or both at once. So no row is ever
   * without its bytes. `within` runs in the same transaction. Throws AppError `invalid` for bad fields or a
   * forbidden type, and leaves nothing behind.
   */
  async create(
    project: { id: number; public_id: string },
    file: UploadedFile,
    within: Within,
    note: Note,
  ): Promise<StoredObject> {
    const { clock, database, bytes } = this.deps;
    try {
      const now = clock.now();
      const { mime_type, refusal } = await this.#chooseType(file);
      const fields = readUploadFields(file.fields, now, refusal);
      await file.upload.commit();
      const { held } = file.upload;
      const row = {
        public_id: file.upload.id,
        project_id: project.id,
        original_filename: file.filename,
        mime_type,
        size_bytes: file.upload.size_bytes,
        sha256: file.upload.sha256(),
        visibility: fields.visibility,
        store: held ? ('database' as const) : file.store,
        is_utf8: file.upload.is_utf8 && lacksCharset(mime_type),
        expires_at: fields.expires_at,
        created_at: now,
      };
      const stored = this.#toStored(row, project.public_id);
      try {
        await database.write((tx) => {
          if (!this.#isStillThere(tx, row)) throw sweptAway();
          store.insertObject(tx, row);
          if (held) store.saveContents(tx, row.public_id, held);
          within(tx, stored);
          this.#tell(tx, 'created', row);
          note(tx, noteOf('object.uploaded', row));
        });
      } catch (error) {
        if (!file.stays) await bytes.takeBack(row);
        throw error;
      }
      return stored;
    } catch (error) {
      await file.upload.abort();
      throw error;
    }
  }

  /** The one look at files inside a write: no other process sweeps the file before its row is there. */
  #isStillThere(tx: Tx, row: Pick<ObjectRow, 'public_id' | 'store'>): boolean {
    if (row.store === 'local') return this.deps.blobs.has(row.public_id);
    return row.store === 'database' || !store.isNoted(tx, row.public_id);
  }

  async #chooseType(file: UploadedFile): Promise<{ mime_type: string; refusal: FieldErrors }> {
    const allowed = this.deps.allowed_mime_types;
    const declared = declaredTypeOf({ declared: file.mime_type });
    const { filename } = file;
    const may_be_csv = declared !== null && csvTypeOf({ declared, filename }) !== null;
    // With both settled the bytes decide nothing, and looking at them is a tenth of a small upload's work.
    if (declared !== null && allowed.length === 0 && !may_be_csv) return { mime_type: declared, refusal: {} };
    const { chooseMediaType, isAllowedMediaType, isAllowedName, sniffMediaType } = await import(
      '../../platform/files/type-detection.ts'
    );
    const sniffed = await sniffMediaType(file.upload.head);
    const mime_type = chooseMediaType({ declared, sniffed, filename });
    const is_csv = declared !== null && mime_type !== declared;
    if (
      isAllowedMediaType({ mime_type, sniffed }, allowed) ||
      (is_csv && isAllowedName({ declared, filename }, allowed))
    )
      return { mime_type, refusal: {} };
    const message = `must be of an allowed type, by its label and by its content: ${allowed.join(', ')}`;
    return { mime_type, refusal: { file: [message] } };
  }

  /** A page of the project's unexpired objects, newest first; with `q`, of those whose name contains it. */
  async list(
    project_id: number,
    { q = '', ...query }: ObjectQuery & { q?: string | undefined },
  ): Promise<Page<ListedObject>> {
    const page = await (q === ''
      ? listPage(this.deps, project_id, query)
      : searchPage(this.deps, project_id, { ...query, q }));
    return page.map((row) => this.#toListItem(row));
  }

  /** As `list`, with where their bytes are: that is for operators. */
  async listWithStores(
    project_id: number,
    query: ObjectQuery,
  ): Promise<Page<ListedObject & { store: StoreName }>> {
    const page = await listPage(this.deps, project_id, query);
    return page.map((row) => ({ ...this.#toListItem(row), store: row.store }));
  }

  /**
   * The object; null where it is missing or expired. An expired one is deleted on the way. Where that fails,
   * as on a full disk, the next reader and the sweep try again.
   */
  async find(public_id: string): Promise<ObjectRow | null> {
    const row = store.findObject(this.deps.database.read, public_id);
    if (!row || row.visibility === 'internal') return null;
    if (this.#isCurrent(row)) return row;
    try {
      await this.#remove(public_id);
    } catch (error) {
      this.deps.logger.warn('expired object not deleted', { public_id, error: messageOf(error) });
    }
    return null;
  }

  /** An object of any project, for the shell. Throws 404 that says where ids are, for an expired one too. */
  requireAny(public_id: string): ObjectRow {
    const row = store.findObject(this.deps.database.read, public_id.toUpperCase());
    if (!row || !this.#isCurrent(row)) throw notFound('Object', 'satchel object list --project REF');
    return row;
  }

  /** An object's full record, without numeric ids. */
  describe(row: NewObject, project: { public_id: string }): ObjectRecord {
    const { sha256, store, expires_at } = row;
    const more = { project_id: project.public_id, sha256, store, expires_at: toIso(expires_at) };
    return { ...this.#toListItem(row), ...more };
  }

  /** An object of the project. Throws 404, for an expired one too. */
  require(project_id: number, public_id: string): ObjectRow {
    const row = store.findObject(this.deps.database.read, public_id);
    if (row?.project_id !== project_id || !this.#isCurrent(row)) throw notFound('Object');
    return row;
  }

  /**
   * Changes given fields. `expires_in_days` counts from now; null is never. Throws 404 when the object is
   * gone or expired.
   */
  async update(
    project: { id: number; public_id: string },
    row: ObjectRow,
    { visibility, original_filename, expires_in_days }: ObjectChanges,
    note: Note,
  ): Promise<ChangedObject> {
    const changes = {
      ...(visibility === undefined ? {} : { visibility }),
      ...(original_filename === undefined ? {} : { original_filename: cleanFilename(original_filename) }),
      ...(expires_in_days === undefined
        ? {}
        : { expires_at: expires_in_days && this.deps.clock.now() + expires_in_days * DAY_MS }),
    };
    const changed =
      Object.keys(changes).length === 0
        ? row
        : await this.deps.database.write((tx) => {
            const current = store.findObject(tx, row.public_id);
            if (!current || !this.#isCurrent(current)) return undefined;
            note(tx, { ...noteOf('object.changed', current), changes: changesOf(current, changes) });
            return store.updateObject(tx, row.public_id, changes);
          });
    if (!changed) throw notFound('Object');
    return {
      ...this.#toStored(changed, project.public_id),
      original_filename: changed.original_filename,
    };
  }

  /** Whether there is such an object for anybody but the server. */
  #isCurrent(row: ObjectRow): boolean {
    if (row.visibility === 'internal') return false;
    return row.expires_at === null || row.expires_at > this.deps.clock.now();
  }

  /** Deletes an object of the project, row first. Throws 404; missing bytes are no failure. */
  remove(project_id: number, public_id: string, note: Note): Promise<void> {
    return this.#remove(public_id, (tx) => {
      const row = store.findObject(tx, public_id);
      if (row?.project_id !== project_id || !this.#isCurrent(row)) throw notFound('Object');
      note(tx, noteOf('object.deleted', row));
    });
  }

  /** The project's objects among these ids, in their order, without missing, foreign and expired ones. */
  findMany(tx: Tx, project_id: number, public_ids: readonly string[]): ObjectRow[] {
    if (public_ids.length === 0) return [];
    const rows = store.findObjectsOfProject(tx, project_id, public_ids, this.deps.clock.now());
    return public_ids.flatMap((public_id) => rows.find((row) => row.public_id === public_id) ?? []);
  }

  /** Which of these objects there are, expired ones among them as long as nobody has removed them. */
  listThere(public_ids: readonly string[]): string[] {
    return store.listThere(this.deps.database.read, public_ids);
  }

  /** As `ObjectBytes.chunksOf`. */
  chunksOf(row: ObjectRow, from = 0): AsyncIterable<Uint8Array> {
    return this.deps.bytes.chunksOf(row, from);
  }

  /** As `ObjectBytes.withFiles`. */
  withFiles<T>(
    files: readonly { public_id: string; size_bytes: number }[],
    work: (paths: ReadonlyMap<string, string>) => Promise<T>,
  ): Promise<T> {
    return this.deps.bytes.withFiles(files, work);
  }

  /** Removes bytes that were kept for a waiting mail after their object had been deleted. */
  async releaseBytes(public_ids: readonly string[]): Promise<void> {
    await this.deps.bytes.removeLocal(this.#withoutRow(this.deps.database.read, public_ids));
  }

  /** Deletes all expired objects, a batch a transaction, and returns how many there were. */
  async sweepExpired(): Promise<number> {
    let removed = 0;
    for (;;) {
      const { unpinned, ids } = await this.deps.database.writePiece((tx) => {
        const expired = store.deleteExpiredObjects(tx, this.deps.clock.now(), SWEEP_BATCH);
        for (const object of expired) this.#tell(tx, 'deleted', object);
        const ids = expired.map(({ public_id }) => public_id);
        return { ids, unpinned: ids.filter((id) => !this.deps.pins.isPinned(tx, id)) };
      });
      await this.deps.bytes.removeLocal(unpinned);
      await this.deps.variants.remove(ids);
      removed += ids.length;
      if (ids.length < SWEEP_BATCH) return removed;
    }
  }

  /** Forgets on which days of long ago there were how many uploads. */
  async sweepDays(): Promise<void> {
    const day = Math.floor((this.deps.clock.now() - ACTIVITY_RETENTION_MS) / DAY_MS);
    await this.deps.database.writePiece((tx) => store.deleteUploadDaysBefore(tx, day));
  }

  /** Removes bytes without a row, which a crash leaves, and returns how many files that were. */
  async sweepOrphans(): Promise<number> {
    const { blobs, database } = this.deps;
    let removed = 0;
    for await (const ids of blobs.listIds()) {
      const lost = this.#withoutRow(database.read, ids).filter((id) => blobs.isLeftover(id));
      if (lost.length === 0) continue;
      removed += await database.write((tx) => {
        // Within a write no row can be added, so what has no row now is nobody's.
        const gone = this.#withoutRow(tx, lost);
        for (const id of gone) blobs.removeNow(id);
        return gone.length;
      });
    }
    return removed;
  }

  #withoutRow(tx: Tx, ids: readonly string[]): string[] {
    if (ids.length === 0) return [];
    const known = new Set(store.listKnownIds(tx, 'local', ids));
    return ids.filter((id) => !known.has(id) && !this.deps.pins.isPinned(tx, id));
  }

  /** Takes part in the deletion of a project: rows in its transaction, bytes after the commit. */
  projectCascade() {
    return {
      count: (tx: Tx, project: { id: number }) => ({
        stored_objects: store.countObjects(tx, { project_id: project.id }, 0).total,
      }),
      remove: (tx: Tx, project: { id: number }): string[] => store.listProjectObjectIds(tx, project.id),
      afterCommit: async (_project: { id: number }, public_ids: unknown): Promise<void> => {
        if (!Array.isArray(public_ids)) return;
        const ids = public_ids.filter((id) => typeof id === 'string');
        await this.deps.bytes.removeLocal(ids);
        await this.deps.variants.remove(ids);
      },
    };
  }

  async #remove(public_id: string, decide: (tx: Tx) => void = () => {}): Promise<void> {
    const { bytes, database, pins, variants } = this.deps;
    const has_file = await database.write((tx) => {
      decide(tx);
      const object = store.deleteObject(tx, public_id);
      if (object) this.#tell(tx, 'deleted', object);
      return object?.store !== 'database' && !pins.isPinned(tx, public_id);
    });
    if (has_file) await bytes.removeLocal([public_id]);
    await variants.remove([public_id]);
  }

  #tell(tx: Tx, kind: ObjectEvent['kind'], object: NewObject): void {
    for (const listener of this.listeners) listener(tx, { kind, object });
  }

  #urlOf(public_id: string): string {
    return `${this.deps.public_url}/api/v1/objects/${public_id}`;
  }

  #toStored(row: NewObject, project_public_id: string): StoredObject {
    return {
      public_id: row.public_id,
      project_id: project_public_id,
      visibility: shownVisibility(row),
      mime_type: row.mime_type,
      size_bytes: row.size_bytes,
      url: this.#urlOf(row.public_id),
      expires_at: toIso(row.expires_at),
    };
  }

  #toListItem(row: NewObject): ListedObject {
    return {
      public_id: row.public_id,
      original_filename: row.original_filename,
      mime_type: row.mime_type,
      size_bytes: row.size_bytes,
      visibility: shownVisibility(row),
      url: this.#urlOf(row.public_id),
      created_at: toIso(row.created_at),
    };
  }
}

/** The hash by which two uploads with one Idempotency-Key are the same, in whatever order the fields came. */
function hashOf(
  upload: Pick<BlobUpload, 'sha256'>,
  { filename, mime_type }: Pick<UploadedFile, 'filename' | 'mime_type'>,
  fields: UploadedFile['fields'],
): string {
  const sorted = JSON.stringify(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return hashRequest('POST', '/objects', upload.sha256(), filename, mime_type ?? '', sorted);
}

function shownVisibility({ visibility }: Pick<ObjectRow, 'visibility'>): Visibility {
  return visibility === 'public' ? 'public' : 'private';
}

function noteOf(
  event: string,
  { public_id, original_filename }: Pick<ObjectRow, 'public_id' | 'original_filename'>,
  more: Record<string, unknown> = {},
) {
  return { event, target: `object:${public_id}`, metadata: { name: original_filename, ...more } };
}

function sweptAway(): AppError {
  return new AppError('unavailable', 'The file was not stored: it took too long. Try again.', {
    retry_after_s: 1,
  });
}
