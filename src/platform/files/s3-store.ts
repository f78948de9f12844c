/** The bytes of stored objects in a bucket of an S3 store: one key for each, `PREFIX/objects/ULID`. */

import type { S3Settings } from '../../store-place.ts';
import { type Clock, systemClock, toIso } from '../host/clock.ts';
import { isUlid } from '../host/ids.ts';
import { PartSink } from './part-sink.ts';
import { ConditionalKeys } from './s3-conditions.ts';
import { S3Requests, type StoreAnswer, StoreFault, type StoreRequest } from './s3-requests.ts';
import { type ListedKey, readKeys, readUploads, type UnfinishedUpload } from './s3-xml.ts';
import type { ByteStore, Span } from './store.ts';
import { BlobUpload } from './upload.ts';

/** Decision: how long unfinished uploads are left alone in the store. */
const STORE_UNFINISHED_MS = 86_400_000;

/** With the time to connect, health knows within 10 s of the start. */
const PROBE_PATIENCE_MS = 4_000;
/** Keys that are looked at together, as S3 lists them. */
const PAGE_KEYS = 1_000;
/** A key that is never there: asking for it shows that the store answers. */
const NO_ID = '0'.repeat(26);

/** What is wrong with the store, since when. */
export interface StoreTrouble {
  reason: string;
  since: string;
  /** Whether it was found while storing something. Then only storing something shows that it is over. */
  is_of_writing: boolean;
}

export interface StoredKey {
  id: string;
  size_bytes: number;
  modified_ms: number;
}

export class S3Store implements ByteStore {
  readonly name = 's3';
  /** Keys that are no object's. */
  readonly conditional: ConditionalKeys;
  readonly #requests: S3Requests;
  #trouble: StoreTrouble | null = null;

  /** The clock is compared with the store's, and so is the system's. */
  constructor(
    settings: S3Settings,
    private readonly clock: Clock = systemClock,
  ) {
    this.#requests = new S3Requests(settings, () => clock.now());
    this.conditional = new ConditionalKeys(this.#requests, clock);
  }

  /** As an operator knows it. */
  get place(): string {
    const { bucket, prefix, endpoint } = this.#requests.settings;
    return `s3://${bucket}/${prefix} at ${endpoint}`;
  }

  /** What was wrong when it was last asked; null where nothing was. */
  get trouble(): StoreTrouble | null {
    return this.#trouble;
  }

  /** By how much its clock was ahead of ours when it last answered. */
  get ahead_ms(): number | null {
    return this.#requests.ahead_ms;
  }

  /** What every key of an object begins with. */
  get folder(): string {
    return `${this.#requests.settings.prefix}objects/`;
  }

  keyOf(id: string): string {
    if (!isUlid(id)) throw new Error('a key is named by a ULID');
    return `${this.folder}${id}`;
  }

  openUpload(id: string): BlobUpload {
    const sink = new PartSink(this.#requests, this.keyOf(id));
    const watched = <T>(work: () => Promise<T>): Promise<T> => this.#noting(true, work);
    return new BlobUpload(id, {
      piece_bytes: sink.piece_bytes,
      append: (piece) => watched(() => sink.append(piece)),
      finish: (piece) => watched(() => sink.finish(piece)),
      discard: () => sink.discard(),
    });
  }

  async read(id: string, { start, end, size_bytes }: Span): Promise<ReadableStream<Uint8Array> | null> {
    const is_whole = start === 0 && end === size_bytes;
    const headers: Record<string, string> = is_whole ? {} : { Range: `bytes=${start}-${end - 1}` };
    const answer = await this.#noting(false, () =>
      this.#requests.send({ method: 'GET', key: this.keyOf(id), headers }),
    );
    // One that does not say how much comes is counted.
    const length = answer.headers.get('content-length') ?? end - start;
    if (answer.status === (is_whole ? 200 : 206) && Number(length) === end - start)
      return exactly(answer.stream(), end - start);
    await answer.stream().cancel();
    if (answer.status === 404 || is_whole) return null;
    throw new StoreFault(
      `the store answers ${answer.status} with ${length} bytes to a range of ${end - start}`,
    );
  }

  async remove(id: string): Promise<void> {
    await this.#ask({ method: 'DELETE', key: this.keyOf(id) });
  }

  /** How many bytes there are under an id; null where there are none. */
  async sizeOf(id: string): Promise<number | null> {
    const answer = await this.#ask({ method: 'HEAD', key: this.keyOf(id) });
    return answer.status === 404 ? null : Number(answer.headers.get('content-length'));
  }

  /** A link to the bytes for whoever has it, answered with these headers. */
  linkTo(id: string, options: { expires_s: number; headers: Record<string, string> }): Promise<string> {
    return this.#requests.link(this.keyOf(id), options);
  }

  /** Finds out how the store is. What is wrong is then told by `trouble`. */
  async probe(): Promise<void> {
    const key = `${this.#requests.settings.prefix}probe`;
    const is_of_writing = this.#trouble?.is_of_writing ?? false;
    const request: StoreRequest = is_of_writing
      ? { method: 'PUT', key, body: new TextEncoder().encode('satchel\n') }
      : { method: 'GET', key: this.keyOf(NO_ID) };
    const hurry = { first_byte_ms: PROBE_PATIENCE_MS, patience_ms: PROBE_PATIENCE_MS };
    await this.#noting(is_of_writing, () => this.#ask({ ...request, ...hurry })).catch(() => {});
  }

  /** Tries all that is ever asked of the store, with a key of its own; answers what it refuses, and why. */
  async rehearse(): Promise<{ what: string; reason: string }[]> {
    const key = `${this.#requests.settings.prefix}probe`;
    const refused: { what: string; reason: string }[] = [];
    const attempt = async (what: string, request: StoreRequest): Promise<void> => {
      try {
        await (await this.#requests.send(request)).text();
      } catch (error) {
        if (!(error instanceof StoreFault)) throw error;
        refused.push({ what, reason: error.reason });
      }
    };
    await attempt('storing', { method: 'PUT', key, body: new TextEncoder().encode('satchel\n') });
    // A store that can't be reached need not be asked four times.
    if (this.#requests.ahead_ms === null && refused.length > 0) return refused;
    await attempt('reading', { method: 'GET', key });
    await attempt('deleting', { method: 'DELETE', key });
    await attempt('listing', { ...this.#listing({ 'list-type': '2', 'max-keys': '1' }) });
    await attempt('listing unfinished uploads', this.#listing({ uploads: '', 'max-uploads': '1' }));
    return refused;
  }

  /** Whether there is anything among the keys of objects. Throws StoreFault. */
  async hasKeys(): Promise<boolean> {
    const { keys } = await this.#list({ 'max-keys': '1' });
    return keys.length > 0;
  }

  /** Every key of an object, page by page, with the store's own time. A page that was told before ends it. */
  async *listKeys(): AsyncGenerator<{ keys: StoredKey[]; now_ms: number }> {
    const seen = new Set<unknown>();
    for (let token = ''; ; ) {
      const page = await this.#list(token === '' ? {} : { 'continuation-token': token });
      const keys = page.keys.flatMap(({ key, size_bytes, modified_ms }) => {
        const id = key.slice(this.folder.length);
        return isUlid(id) && !Number.isNaN(modified_ms) ? [{ id, size_bytes, modified_ms }] : [];
      });
      const { now_ms } = page;
      for (let from = 0; from < keys.length; from += PAGE_KEYS)
        yield { keys: keys.slice(from, from + PAGE_KEYS), now_ms };
      token = page.next;
      if (token === '' || seen.has(Bun.hash(token))) return;
      seen.add(Bun.hash(token));
    }
  }

  async #list(query: Record<string, string>): Promise<{ keys: ListedKey[]; next: string; now_ms: number }> {
    const answer = await this.#requests.send(this.#listing({ 'list-type': '2', ...query }));
    const xml = await answer.xml();
    // What is no list must not pass for an empty one.
    if (xml.root !== 'ListBucketResult') throw new StoreFault('the store answers no list of its keys');
    const next = xml.texts.get('NextContinuationToken') ?? '';
    return { keys: readKeys(xml), next, now_ms: this.#timeOf(answer) };
  }

  /** Aborts uploads under our keys that nobody finished for a day; answers how many. */
  async abortUnfinished(): Promise<number> {
    let aborted = 0;
    const seen = new Set<unknown>();
    let marker: Record<string, string> = {};
    for (;;) {
      const answer = await this.#requests.send(this.#listing({ uploads: '', ...marker }));
      const xml = await answer.xml();
      const now_ms = this.#timeOf(answer);
      const is_old = ({ key, begun_ms }: UnfinishedUpload): boolean =>
        key.startsWith(this.folder) && begun_ms < now_ms - STORE_UNFINISHED_MS;
      for (const { key, upload_id } of readUploads(xml).filter(is_old)) {
        await this.#ask({ method: 'DELETE', key, query: { uploadId: upload_id } });
        aborted += 1;
      }
      const key_marker = xml.texts.get('NextKeyMarker');
      const id_marker = xml.texts.get('NextUploadIdMarker');
      if (xml.texts.get('IsTruncated') !== 'true' || !key_marker || !id_marker) return aborted;
      marker = { 'key-marker': key_marker, 'upload-id-marker': id_marker };
      const place = Bun.hash(`${key_marker} ${id_marker}`);
      if (seen.has(place)) return aborted;
      seen.add(place);
    }
  }

  #listing(query: Record<string, string>): StoreRequest {
    return { method: 'GET', key: '', query: { ...query, prefix: this.folder } };
  }

  #timeOf(answer: StoreAnswer): number {
    const theirs_ms = Date.parse(answer.headers.get('date') ?? '');
    return Number.isNaN(theirs_ms) ? this.clock.now() : theirs_ms;
  }

  async #ask(request: StoreRequest): Promise<StoreAnswer> {
    const answer = await this.#requests.send(request);
    await answer.text();
    return answer;
  }

  /** Remembers what is wrong with the store as it is used, and when that is over. */
  async #noting<T>(is_of_writing: boolean, work: () => Promise<T>): Promise<T> {
    try {
      const done = await work();
      if (is_of_writing || this.#trouble?.is_of_writing === false) this.#trouble = null;
      return done;
    } catch (error) {
      if (error instanceof StoreFault) {
        const since = this.#trouble?.since ?? toIso(this.clock.now());
        this.#trouble = { reason: error.reason, since, is_of_writing };
      }
      throw error;
    }
  }
}

/**
 * The bytes, which must be exactly so many. Otherwise they break off before the last one, so that nobody
 * takes them for whole: a piece is held back until another comes or they end in the right place.
 */
function exactly(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let read_bytes = 0;
  let kept: Uint8Array | null = null;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        for (;;) {
          const { done, value } = await reader.read();
          read_bytes += value?.byteLength ?? 0;
          if (done ? read_bytes < bytes : read_bytes > bytes) {
            void reader.cancel().catch(() => {});
            throw new StoreFault(`the store sends ${done ? read_bytes : 'more'} bytes in place of ${bytes}`);
          }
          const ready = kept;
          kept = value ?? null;
          if (ready) controller.enqueue(ready);
          if (done) controller.close();
          if (ready || done) return;
        }
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}
