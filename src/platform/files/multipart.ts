/** Reading a `multipart/form-data` upload: one file streamed to disk while it arrives, small fields beside it. */
import { Dicer } from '@fastify/busboy';
import { AppError, invalid } from '../../errors.ts';
import {
  MAX_FORM_FIELD_BYTES,
  MAX_FORM_OVERHEAD_BYTES,
  MAX_FORM_PARTS,
  SMALL_UPLOAD_BODY_BYTES,
  SMALL_UPLOAD_DEADLINE_MS,
  UPLOAD_DEADLINE_MS,
  UPLOAD_IDLE_TIMEOUT_MS,
} from '../../limits.ts';
import { monotonicMs } from '../host/clock.ts';
import {
  boundaryOf,
  cleanFilename,
  isMultipartForm,
  type PartHeaders,
  readPartHeaders,
} from './multipart-headers.ts';
import type { BlobUpload } from './upload.ts';

export interface MultipartFile {
  /** Cleaned for storing; see `cleanFilename`. */
  filename: string;
  /** The part's own Content-Type as written, which may be nonsense; null where it has none. */
  mime_type: string | null;
  /** The caller ends it, with `commit` or `abort`. */
  upload: BlobUpload;
}

export interface Multipart {
  /** Of fields with the same name the last one wins. */
  fields: Record<string, string>;
  file: MultipartFile;
}

export interface MultipartOptions {
  max_file_bytes: number;
  /** Called once the file's part begins. */
  openUpload: () => BlobUpload;
  /** For the whole body; `UPLOAD_DEADLINE_MS` unless given. */
  deadline_ms?: number;
  /** Without a single byte from the client; `UPLOAD_IDLE_TIMEOUT_MS` unless given. */
  idle_timeout_ms?: number;
}

/** The part that holds the file; the contract names it. */
const FILE_PART = 'file';
const NO_BYTES = new Uint8Array(0);
/** They could reach a prototype wherever fields are copied, and mean nothing here. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads the whole body. Throws AppError `invalid` for anything but a complete form with exactly one file of at most
 * `max_file_bytes`, and `unavailable` when the disk takes no more; then no bytes are left behind, and what the client
 * still sends is not read, so that the answer reaches it soon.
 */
export async function readMultipart(
  request: Pick<Request, 'headers' | 'body' | 'bytes'>,
  options: MultipartOptions,
): Promise<Multipart> {
  const content_type = request.headers.get('content-type') ?? '';
  if (!isMultipartForm(content_type)) {
    throw fileError(`is required: send multipart/form-data with the file in a part named ${FILE_PART}`);
  }
  const boundary = boundaryOf(content_type);
  if (boundary === null) throw malformed('its Content-Type has no valid boundary');
  const max_body_bytes = options.max_file_bytes + MAX_FORM_OVERHEAD_BYTES;
  const announced_bytes = Number(request.headers.get('content-length') ?? 0);
  if (announced_bytes > max_body_bytes) {
    await request.body?.cancel();
    throw tooLarge(options.max_file_bytes);
  }
  if (request.body === null) throw malformed('it is empty');
  const form = new FormReader(boundary, options);
  if (announced_bytes > 0 && announced_bytes <= SMALL_UPLOAD_BODY_BYTES)
    return readAtOnce(request, form, options);
  const body = new PatientReader(request.body, options);
  try {
    let size_bytes = 0;
    for (let chunk = await body.read(); chunk !== null; chunk = await body.read()) {
      size_bytes += chunk.byteLength;
      if (size_bytes > max_body_bytes) throw tooLarge(options.max_file_bytes);
      await form.take(chunk);
    }
    return await form.finish();
  } catch (error) {
    body.stop();
    await form.abandon();
    throw error;
  } finally {
    body.release();
  }
}

/** A stream costs a small upload more than all else that is done for it, so its body is taken in one piece. */
async function readAtOnce(
  request: Pick<Request, 'bytes'>,
  form: FormReader,
  options: MultipartOptions,
): Promise<Multipart> {
  const deadline_ms = options.deadline_ms ?? SMALL_UPLOAD_DEADLINE_MS;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooSlow(deadline_ms)), deadline_ms);
  const body = request.bytes().catch((error: unknown) => {
    throw malformed('it was cut off before its end', error);
  });
  try {
    await form.take(await Promise.race([body, late]));
    return await form.finish();
  } catch (error) {
    await form.abandon();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(deadline_ms: number): AppError {
  return malformed(`it was not complete within ${Math.ceil(deadline_ms / 1000)} s, which is the time-out`);
}

function fileError(message: string): AppError {
  return invalid({ [FILE_PART]: [message] });
}

function tooLarge(max_file_bytes: number): AppError {
  return fileError(`must be at most ${max_file_bytes} bytes`);
}

function malformed(why: string, cause?: unknown): AppError {
  return invalid({ _: [`The multipart body cannot be read: ${why}.`] }, { cause });
}

interface OpenPart extends PartHeaders {
  is_file: boolean;
  size_bytes: number;
  /** Content of a plain field. */
  bytes: Buffer;
}

/**
 * Turns the bytes of a form into fields and a file. The parser calls back while it is given a chunk; what it finds is
 * put aside and worked off before the next chunk, so that a slow disk slows the client down.
 */
class FormReader {
  readonly #options: MultipartOptions;
  readonly #parser: Dicer;
  readonly #parsed: Promise<void>;
  readonly #fields = new Map<string, string>();
  #found: { part: OpenPart; chunk: Uint8Array }[] = [];
  #part_count = 0;
  #header_count = 0;
  #open_fields: OpenPart[] = [];
  #file: { part: OpenPart; filename: string; upload: BlobUpload } | null = null;
  #refusal: AppError | null = null;

  constructor(boundary: string, options: MultipartOptions) {
    this.#options = options;
    // A part never asks the parser to pause: one that ends in the very chunk that filled its buffer would never ask it to
    // go on. The client is slowed down between chunks instead, and a chunk is all that is ever held.
    const parser_options: Dicer.Config & { partHwm: number } = { boundary, partHwm: Number.MAX_SAFE_INTEGER };
    this.#parser = new Dicer(parser_options);
    this.#parser.on('part', (part) => this.#onPart(part));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#parsed = promise;
    // With the final boundary the parser finishes by itself, before it is told that the body has ended.
    this.#parser.on('finish', resolve);
    this.#parser.on('error', (error) => {
      this.#refuse(malformed('it ends before its final boundary', error));
      resolve();
    });
  }

  async take(chunk: Uint8Array): Promise<void> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    await new Promise<void>((resolve) => this.#parser.write(bytes, () => resolve()));
    await this.#workOff();
  }

  async finish(): Promise<Multipart> {
    this.#parser.end();
    await this.#parsed;
    await this.#workOff();
    if (this.#part_count !== this.#header_count) throw malformed('a part has no headers');
    for (const part of this.#open_fields) {
      if (!IGNORED_FIELDS.has(part.name)) this.#fields.set(part.name, part.bytes.toString());
    }
    if (!this.#file) throw fileError(`is required: no part named ${FILE_PART} was sent`);
    const { part, filename, upload } = this.#file;
    return {
      fields: Object.fromEntries(this.#fields),
      file: { filename, mime_type: part.content_type, upload },
    };
  }

  /** Drops whatever has arrived. */
  async abandon(): Promise<void> {
    this.#refuse(malformed('it was abandoned'));
    this.#found = [];
    await this.#file?.upload.abort();
  }

  /** The first thing that is wrong is what the client is told. */
  #refuse(refusal: AppError): void {
    this.#refusal ??= refusal;
  }

  async #workOff(): Promise<void> {
    const found = this.#found;
    this.#found = [];
    for (const { part, chunk } of found) {
      part.size_bytes += chunk.byteLength;
      if (part.is_file) {
        if (part.size_bytes > this.#options.max_file_bytes) throw tooLarge(this.#options.max_file_bytes);
        await this.#file?.upload.write(chunk);
      } else {
        if (part.size_bytes > MAX_FORM_FIELD_BYTES) {
          throw invalid({
            _: [`A form field is larger than the ${MAX_FORM_FIELD_BYTES} bytes it may have.`],
          });
        }
        // Copied into one piece: views would keep whole network buffers alive, and single bytes would be many.
        part.bytes = Buffer.concat([part.bytes, chunk]);
      }
    }
    if (this.#refusal) throw this.#refusal;
  }

  #onPart(stream: PartStream): void {
    this.#part_count += 1;
    if (this.#part_count > MAX_FORM_PARTS) {
      this.#refuse(invalid({ _: [`The form has more than the ${MAX_FORM_PARTS} parts it may have.`] }));
    }
    let part: OpenPart | null = null;
    stream.on('header', (headers) => {
      this.#header_count += 1;
      part = this.#openPart(headers);
    });
    // Data of a part that was refused is read past; the refusal is thrown after the chunk.
    stream.on('data', (chunk) => {
      if (part && !this.#refusal && typeof chunk !== 'string') this.#found.push({ part, chunk });
    });
    stream.on('error', () => {}); // The parser reports the same failure itself.
  }

  #openPart(raw_headers: object): OpenPart | null {
    if (this.#refusal) return null;
    const headers = readPartHeaders(raw_headers);
    if (!headers) {
      this.#refuse(malformed('every part needs a Content-Disposition of form-data with a name'));
      return null;
    }
    const is_file = headers.filename !== null || headers.name === FILE_PART;
    const part: OpenPart = { ...headers, is_file, size_bytes: 0, bytes: Buffer.alloc(0) };
    if (!is_file) {
      this.#open_fields.push(part);
      return part;
    }
    const refusal = this.#checkFilePart(headers);
    if (refusal) {
      this.#refuse(refusal);
      return null;
    }
    const filename = cleanFilename(headers.filename ?? '');
    this.#file = { part, filename, upload: this.#options.openUpload() };
    return part;
  }

  #checkFilePart(headers: PartHeaders): AppError | null {
    if (headers.name !== FILE_PART) {
      return fileError(`is required, in a part of that name: files in parts with other names are not taken`);
    }
    // Browsers send an empty name for a file input that nothing was chosen in.
    if (!headers.filename) return fileError('is required: its part must be a file and have a file name');
    if (this.#file) return fileError('must be sent once: one upload holds one file');
    if (headers.transfer_encoding === 'base64' || headers.transfer_encoding === 'quoted-printable') {
      return fileError('must be sent as it is, without a Content-Transfer-Encoding');
    }
    return null;
  }
}

type PartStream = Dicer.PartStream;

/** The part of a stream's reader that is used here; Bun's own type and that of the standard differ in the rest. */
interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** Reads a body with a deadline for the whole and one for silence; it never waits for longer than they allow. */
class PatientReader {
  readonly #reader: BodyReader;
  readonly #idle_timeout_ms: number;
  readonly #deadline_ms: number;
  readonly #ends_ms: number;
  /** Since when it waits for the client; null while it does not. */
  #waits_since_ms: number | null = null;
  /** One for the whole body, which looks again where it rang too early: to set one for each chunk costs more. */
  #timer: ReturnType<typeof setTimeout> | null = null;
  #too_late: AppError | null = null;

  constructor(body: ReadableStream<Uint8Array>, options: MultipartOptions) {
    this.#reader = body.getReader();
    this.#idle_timeout_ms = options.idle_timeout_ms ?? UPLOAD_IDLE_TIMEOUT_MS;
    this.#deadline_ms = options.deadline_ms ?? UPLOAD_DEADLINE_MS;
    this.#ends_ms = monotonicMs() + this.#deadline_ms;
  }

  /** The next bytes, or null at the end. Throws AppError `invalid` when they do not come in time or at all. */
  async read(): Promise<Uint8Array | null> {
    this.#waits_since_ms = monotonicMs();
    if (this.#timer === null || this.#waits_since_ms >= this.#ends_ms) this.#look();
    try {
      const { done, value } = await this.#reader.read();
      // A cancelled reader ends just like a complete one.
      if (this.#too_late) throw this.#too_late;
      return done ? null : (value ?? NO_BYTES);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw malformed('it was cut off before its end', error);
    } finally {
      this.#waits_since_ms = null;
    }
  }

  /** Gives up on what the client still sends. */
  stop(): void {
    this.#reader.cancel().catch(() => {});
  }

  release(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Ends the wait where it has taken too long, or looks again when it may have. */
  #look(): void {
    this.release();
    const now_ms = monotonicMs();
    const idle_ends_ms = (this.#waits_since_ms ?? now_ms) + this.#idle_timeout_ms;
    if (this.#waits_since_ms === null || now_ms < Math.min(idle_ends_ms, this.#ends_ms)) {
      const next_ms = this.#ends_ms > now_ms ? Math.min(idle_ends_ms, this.#ends_ms) : idle_ends_ms;
      this.#timer = setTimeout(() => this.#look(), next_ms - now_ms);
      return;
    }
    this.#too_late =
      now_ms >= this.#ends_ms
        ? tooSlow(this.#deadline_ms)
        : malformed(
            `nothing was received for ${Math.ceil(this.#idle_timeout_ms / 1000)} s, which is the time-out`,
          );
    this.stop();
  }
}
