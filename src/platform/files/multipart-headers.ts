/** What the headers of a multipart body and of its parts say: boundary, part names, file names. */
import { parse } from 'content-disposition';
import { MAX_FILENAME_BYTES } from '../../limits.ts';

/** RFC 2046 5.1.1. */
const MAX_BOUNDARY_CHARS = 70;

/** What a part says of itself. */
export interface PartHeaders {
  name: string;
  /** The file name as given, decoded; null where the part is a plain field. */
  filename: string | null;
  /** As written, with parameters; null where the part names none. */
  content_type: string | null;
  /** Content-Transfer-Encoding in lower case. */
  transfer_encoding: string;
}

/** The boundary of a `multipart/form-data` content type; null without a valid one (RFC 2046 5.1.1). */
export function boundaryOf(content_type: string): string | null {
  const boundary = parse(content_type, { extended: false }).parameters.boundary ?? '';
  const is_valid = new RegExp(`^[\\x20-\\x7e]{0,${MAX_BOUNDARY_CHARS - 1}}[\\x21-\\x7e]$`).test(boundary);
  return is_valid ? boundary : null;
}

export function isMultipartForm(content_type: string): boolean {
  return parse(content_type).type === 'multipart/form-data';
}

/**
 * Reads the headers of a part, by lower-case name with one character a byte. Null where they are no named
 * form-data part, so that the body is malformed.
 */
export function readPartHeaders(headers: object): PartHeaders | null {
  const disposition = firstOf(headers, 'content-disposition');
  if (disposition === null) return null;
  // Old clients write a quote in a name as \" where HTML has %22. Other backslashes are of Windows paths.
  const text = decodeBytes(Buffer.from(disposition, 'latin1')).replaceAll('\\"', '%22');
  const { type, parameters } = parse(text, { multipart: true });
  if (type !== 'form-data' || parameters.name === undefined) return null;
  return {
    name: parameters.name,
    filename: parameters.filename ?? null,
    content_type: firstOf(headers, 'content-type')?.trim() || null,
    transfer_encoding: (firstOf(headers, 'content-transfer-encoding') ?? '').trim().toLowerCase(),
  };
}

/**
 * A file name to store: the last part of a path, without control characters, cut to `MAX_FILENAME_BYTES` of
 * UTF-8 with its extension; outer spaces stay. A blank one becomes `file`.
 */
export function cleanFilename(name: string): string {
  const base = name.slice(Math.max(name.lastIndexOf('/'), name.lastIndexOf('\\')) + 1);
  // Bidirectional overrides are as invisible as control characters, and make `gpj.exe` look like `exe.jpg`.
  const visible = base.toWellFormed().replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '');
  if (['', '.', '..'].includes(visible.trim())) return 'file';
  if (Buffer.byteLength(visible) <= MAX_FILENAME_BYTES) return visible;
  // An extension longer than this is no extension but a name that has a dot in it.
  const extension = /\.[^.\s]{1,16}$/u.exec(visible)?.[0] ?? '';
  const stem = visible.slice(0, visible.length - extension.length);
  return `${cutBytes(stem, MAX_FILENAME_BYTES - Buffer.byteLength(extension))}${extension}`;
}

/** The longest start of the text that has at most so many bytes and ends with a whole code point. */
function cutBytes(text: string, max_bytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(max_bytes, bytes.length);
  // 10xxxxxx is a continuation byte: a cut before one would split a code point.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function firstOf(headers: object, name: string): string | null {
  const values: unknown = Object.getOwnPropertyDescriptor(headers, name)?.value;
  const first: unknown = Array.isArray(values) ? values[0] : undefined;
  return typeof first === 'string' ? first : null;
}

/** UTF-8, or Latin-1 where it is none: clients that predate UTF-8 forms send that. */
function decodeBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return Buffer.from(bytes).toString('latin1');
  }
}
