/**
 * Reads a `multipart/form-data` upload: streams one file to disk while it arrives, with small fields beside
 * it. Busboy's Dicer parses. Busboy itself skips malformed parts and drops a media type's parameters.
 */
import { Dicer } from '@fastify/busboy';
import { type AppError, type FieldErrors, invalid } from '../../errors.ts';
import { formatBytes } from '../words/phrases.ts';
import { BoundaryPadding } from './boundary-padding.ts';
import {
  boundaryOf,
  cleanFilename,
  isMultipartForm,
  type PartHeaders,
  readPartHeaders,
} from './multipart-headers.ts';
import { readPatiently } from './patient-reading.ts';
import type { BlobUpload } from './upload.ts';

/** Parts of an upload form: the file, four fields, and what a form adds by itself, such as a token. */
const MAX_FORM_PARTS = 32;
/** A plain field of an upload form holds a word or a date. */
const MAX_FORM_FIELD_BYTES = 16 * 1024;

/** What an upload's body may have besides the file: its other fields, headers and boundaries. */
const MAX_FORM_OVERHEAD_BYTES = 1024 * 1024;

interface MultipartFile {
  /** Cleaned for storing; see `cleanFilename`. */
  filename: string;
  /** The part's own Content-Type as written, which may be nonsense; null where it has none. */
  mime_type: string | null;
}

export interface Multipart {
  /** Of fields with the same name the last one wins. */
  fields: Record<string, string>;
  file: MultipartFile;
}

interface MultipartOptions {
  max_file_bytes: number;
  /** Takes the file's bytes; the caller ends it, with `commit` or `abort`. */
  upload: BlobUpload;
  /** What is wrong with the fields of a form, to be told beside a file that is missing. */
  errorsIn?: (fields: Multipart['fields']) => FieldErrors;
  /** For the whole body; `UPLOAD_DEADLINE_MS` unless given. */
  deadline_ms?: number;
  /** Without a single byte from the client; `UPLOAD_IDLE_TIMEOUT_MS` unless given. */
  idle_timeout_ms?: number;
}

/** Bytes that the parser is given at once: even parts of a few bytes each take it only milliseconds. */
const FORM_PIECE_BYTES = 8 * 1024;
/** The part that holds the file; the contract names it. */
const FILE_PART = 'file';
/** Names that could reach a prototype wherever fields are copied; they are dropped. */
const IGNORED_FIELDS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Reads the whole body. Throws AppError `invalid` for anything but a complete form with exactly one file of
 * at most `max_file_bytes`, and `unavailable` when the disk takes no more. The rest is then left unread, so
 * that the client soon gets the answer.
 */
export async function readMultipart(
  request: Pick<Request, 'headers' | 'body'>,
  options: MultipartOptions,
): Promise<Multipart> {
  const content_type = request.headers.get('content-type') ?? '';
  if (!isMultipartForm(content_type)) {
    throw fileError(`is required: send multipart/form-data with the file in a part named ${FILE_PART}`);
  }
  const boundary = boundaryOf(content_type);
  if (boundary === null) throw malformed('its Content-Type has no valid boundary');
  const max_body_bytes = options.max_file_bytes + MAX_FORM_OVERHEAD_BYTES;
  if (Number(request.headers.get('content-length') ?? 0) > max_body_bytes) {
    await request.body?.cancel();
    throw tooLarge(options.max_file_bytes);
  }
  if (request.body === null) throw malformed('it is empty');
  const form = new FormReader(boundary, options);
  let size_bytes = 0;
  for await (const chunk of readPatiently(request.body, { ...options, refuse: malformed })) {
    size_bytes += chunk.byteLength;
    if (size_bytes > max_body_bytes) throw tooLarge(options.max_file_bytes);
    await form.take(chunk);
  }
  return form.finish();
}

function fileError(message: string): AppError {
  return invalid({ [FILE_PART]: [message] });
}

/** The refusal of a file of more bytes than that; it names the setting. */
export function tooLarge(max_file_bytes: number): AppError {
  const bytes = `${max_file_bytes} bytes, SATCHEL_MAX_UPLOAD_BYTES`;
  return fileError(`must be at most ${formatBytes(max_file_bytes).replace('.0 ', ' ')} (${bytes})`);
}

function malformed(why: string, cause?: unknown): AppError {
  return invalid({ _: [`The multipart body cannot be read: ${why}.`] }, { cause });
}

interface OpenPart {
  headers: PartHeaders;
  /** The file's bytes go to the upload; a plain field keeps its own. */
  is_file: boolean;
  size_bytes: number;
  bytes: Buffer;
}

/**
 * Makes fields and a file of a form's bytes. The parser calls back while it has a chunk. Its findings are
 * worked off before the next chunk, so that a slow disk slows the client down.
 */
class FormReader {
  readonly #parser: Dicer;
  readonly #padding: BoundaryPadding;
  readonly #parsed = Promise.withResolvers<void>();
  #found: { part: OpenPart; chunk: Uint8Array }[] = [];
  #part_count = 0;
  /** Parts so far whose headers were read and taken. */
  readonly #parts: OpenPart[] = [];
  #file: MultipartFile | null = null;
  /** The first thing that is wrong, which is what the client is told. */
  #refusal: AppError | null = null;

  constructor(
    boundary: string,
    private readonly options: MultipartOptions,
  ) {
    // A part must not pause the parser: one that ends in the chunk that filled its buffer would never go on.
    // The client is slowed down between chunks instead, so at most one chunk is held.
    const parser_options: Dicer.Config & { partHwm: number } = { boundary, partHwm: Number.MAX_SAFE_INTEGER };
    this.#parser = new Dicer(parser_options);
    this.#padding = new BoundaryPadding(boundary);
    this.#parser.on('part', (part) => this.#onPart(part));
    // With the final boundary the parser finishes by itself, before it is told that the body has ended.
    this.#parser.on('finish', this.#parsed.resolve);
    this.#parser.on('error', (error) => {
      this.#refusal ??= malformed('it ends before its final boundary', error);
      this.#parsed.resolve();
    });
  }

  /** In small pieces: one that is wrong ends it before the next, perhaps with a thousand parts, is parsed. */
  async take(chunk: Uint8Array): Promise<void> {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    for (let at = 0; at < bytes.byteLength; at += FORM_PIECE_BYTES) {
      const piece = bytes.subarray(at, at + FORM_PIECE_BYTES);
      for (const part of this.#padding.without(piece))
        await new Promise<void>((resolve) => this.#parser.write(part, () => resolve()));
      await this.#workOff();
    }
  }

  async finish(): Promise<Multipart> {
    this.#parser.end();
    await this.#parsed.promise;
    await this.#workOff();
    if (this.#part_count !== this.#parts.length) throw malformed('a part has no headers');
    const parts = this.#parts.filter((part) => !part.is_file && !IGNORED_FIELDS.has(part.headers.name));
    const fields = Object.fromEntries(parts.map((part) => [part.headers.name, part.bytes.toString()]));
    if (this.#file) return { fields, file: this.#file };
    const missing = { [FILE_PART]: [`is required: no part named ${FILE_PART} was sent`] };
    throw invalid({ ...missing, ...this.options.errorsIn?.(fields) });
  }

  async #workOff(): Promise<void> {
    const found = this.#found;
    this.#found = [];
    for (const { part, chunk } of found) {
      part.size_bytes += chunk.byteLength;
      if (part.is_file) {
        if (part.size_bytes > this.options.max_file_bytes) throw tooLarge(this.options.max_file_bytes);
        await this.options.upload.write(chunk);
        continue;
      }
      if (part.size_bytes > MAX_FORM_FIELD_BYTES) {
        throw invalid({ _: [`A form field is larger than the ${MAX_FORM_FIELD_BYTES} bytes it may have.`] });
      }
      // Copied into one piece: views would keep whole network buffers alive, and single bytes would be many.
      part.bytes = Buffer.concat([part.bytes, chunk]);
    }
    if (this.#refusal) throw this.#refusal;
  }

  #onPart(stream: Dicer.PartStream): void {
    this.#part_count += 1;
    if (this.#part_count > MAX_FORM_PARTS) {
      this.#refusal ??= invalid({ _: [`The form has more than the ${MAX_FORM_PARTS} parts it may have.`] });
    }
    let part: OpenPart | null = null;
    stream.on('header', (raw_headers) => {
      // Parts after a refusal are read past; the refusal is thrown after the chunk.
      if (!this.#refusal) part = this.#openPart(readPartHeaders(raw_headers));
    });
    stream.on('data', (chunk) => {
      if (part && !this.#refusal && typeof chunk !== 'string') this.#found.push({ part, chunk });
    });
    stream.on('error', () => {}); // The parser reports the same failure itself.
  }

  #openPart(headers: PartHeaders | null): OpenPart | null {
    if (!headers) {
      this.#refusal = malformed('every part needs a Content-Disposition of form-data with a name');
      return null;
    }
    const part: OpenPart = { headers, is_file: false, size_bytes: 0, bytes: Buffer.alloc(0) };
    if (headers.filename !== null || headers.name === FILE_PART) {
      this.#refusal = this.#checkFilePart(headers);
      if (this.#refusal) return null;
      part.is_file = true;
      const filename = cleanFilename(headers.filename ?? '');
      this.#file = { filename, mime_type: headers.content_type };
    }
    this.#parts.push(part);
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
