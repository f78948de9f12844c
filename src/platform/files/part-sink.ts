/** An upload on its way to an S3 store: one PUT if it fits, else parts. The store checks each hash. */
import { AppError } from '../../errors.ts';
import { STORE_MAX_PARTS, STORE_PART_BYTES } from '../../limits.ts';
import { type S3Requests, StoreFault } from './s3-requests.ts';
import { completionOf, refusalOf } from './s3-xml.ts';
import type { UploadSink } from './upload.ts';

/** Putting gigabytes of parts together takes some stores longer than anything else. */
const COMPLETE_TIMEOUT_MS = 120_000;

export class PartSink implements UploadSink {
  readonly piece_bytes = STORE_PART_BYTES;
  #upload_id: string | null = null;
  readonly #etags: string[] = [];
  #sent_bytes = 0;
  /** Whether the key may be there already. */
  #may_be_stored = false;

  constructor(
    private readonly requests: S3Requests,
    private readonly key: string,
  ) {}

  async append(piece: Uint8Array): Promise<void> {
    if (this.#etags.length === STORE_MAX_PARTS)
      throw new AppError('too_large', `The store takes at most ${STORE_MAX_PARTS * STORE_PART_BYTES} bytes.`);
    this.#upload_id ??= await this.#begin();
    const query = { partNumber: String(this.#etags.length + 1), uploadId: this.#upload_id };
    const answer = await this.requests.send({ method: 'PUT', key: this.key, query, body: piece });
    await answer.text();
    const etag = answer.headers.get('etag');
    if (answer.status === 404 || etag === null) throw new StoreFault('the store lost an upload under way');
    this.#etags.push(etag);
    this.#sent_bytes += piece.byteLength;
  }

  async finish(piece: Uint8Array): Promise<void> {
    if (this.#upload_id === null) {
      this.#may_be_stored = true;
      const answer = await this.requests.send({ method: 'PUT', key: this.key, body: piece });
      await answer.text();
      if (answer.status === 404) throw new StoreFault('the store answers 404 to a PUT');
      return;
    }
    if (piece.byteLength > 0) await this.append(piece);
    await this.#complete(this.#upload_id);
  }

  /** Does so behind the caller's back: what the store does not take now, the sweep does later. */
  discard(): void {
    const take_back = this.#takeBack().catch(() => {});
    void take_back;
  }

  async #takeBack(): Promise<void> {
    if (this.#upload_id !== null) await this.#drop({ uploadId: this.#upload_id });
    if (this.#may_be_stored) await this.#drop({});
  }

  async #drop(query: Record<string, string>): Promise<void> {
    const answer = await this.requests.send({ method: 'DELETE', key: this.key, query });
    await answer.text();
  }

  async #begin(): Promise<string> {
    const request = {
      method: 'POST',
      key: this.key,
      query: { uploads: '' },
      body: new Uint8Array(),
    } as const;
    const answer = await this.requests.send(request);
    const upload_id = (await answer.xml()).texts.get('UploadId');
    if (upload_id === undefined) throw new StoreFault('the store begins no upload in parts');
    return upload_id;
  }

  /** What counts is whether all is there: answers get lost, second tries find the upload ended, parts go. */
  async #complete(upload_id: string): Promise<void> {
    this.#may_be_stored = true;
    const answer = await this.requests.send({
      method: 'POST',
      key: this.key,
      query: { uploadId: upload_id },
      headers: { 'Content-Type': 'application/xml' },
      body: completionOf(this.#etags),
      first_byte_ms: COMPLETE_TIMEOUT_MS,
    });
    // A failure may come behind a 200, as the store begins to answer before it is done.
    const { code, message } = refusalOf(await answer.xml());
    if (code !== null) throw new StoreFault(`${code}: ${message ?? ''}`, code);
    const stored = await this.requests.send({ method: 'HEAD', key: this.key });
    await stored.text();
    const size = stored.status === 404 ? null : Number(stored.headers.get('content-length'));
    if (size !== this.#sent_bytes)
      throw new StoreFault(`the store has ${size ?? 'none'} of ${this.#sent_bytes} bytes that it took`);
    this.#upload_id = null;
  }
}
