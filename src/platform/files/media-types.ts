/** Media types of stored files: what one is, and how browsers may treat its files. */
import { encodeExtended, format } from 'content-disposition';

/** RFC 6838 4.2 allows 127 characters to a type and to a subtype; parameters may fill the rest. */
const MAX_MEDIA_TYPE_CHARS = 255;

export const NONE = 'application/octet-stream';

/** type "/" subtype and parameters, RFC 9110 8.3.1: what may stand in a header as it is. */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[ \t]*;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"))*$/;

export const XML_BASED = /[/+]xml$/;

/** The type without parameters, in lower case: what types are compared by. */
export function essenceOf(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}

/** The type that a file's part names, or null where it names none. */
export function declaredTypeOf(file: { declared: string | null }): string | null {
  const declared = file.declared?.trim() ?? '';
  const is_type =
    declared.length <= MAX_MEDIA_TYPE_CHARS && MEDIA_TYPE.test(declared) && essenceOf(declared) !== NONE;
  return is_type ? declared : null;
}

/** What Windows calls a CSV file where Excel is installed. */
const CSV_OF_WINDOWS = 'application/vnd.ms-excel';

/** A CSV file's own type, where a file is called one as Windows does it; null for any other. */
export function csvTypeOf({ declared, filename }: { declared: string; filename: string }): string | null {
  if (essenceOf(declared) !== CSV_OF_WINDOWS || !/\.csv$/i.test(filename)) return null;
  return declared.replace(/^[^;]*/, 'text/csv');
}

/** Whether a type leaves it open how its text is written, so that its bytes may tell. */
export function lacksCharset(type: string): boolean {
  const unquoted = type.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  return essenceOf(type).startsWith('text/') && !/;[ \t]*charset=/i.test(unquoted);
}

/** The type as it goes out: of text whose bytes told it, with its charset. */
export function servedTypeOf({ mime_type, is_utf8 }: { mime_type: string; is_utf8: boolean }): string {
  return is_utf8 ? `${mime_type}; charset=utf-8` : mime_type;
}

/** `inline` only for what a browser shows without running it in our origin. */
export function dispositionFor(file: { mime_type: string; filename: string; download: boolean }): string {
  const type = !file.download && isShownInline(essenceOf(file.mime_type)) ? 'inline' : 'attachment';
  const name = file.filename.toWellFormed().replace(/\p{Cc}/gu, '');
  // Old clients take a percent sign in the plain form for an escape.
  const ascii = name.replace(/%/g, '_').replace(/[^\x20-\x7e]/gu, '_');
  const parameters = { filename: ascii, 'filename*': encodeExtended(name) };
  return format({ type, parameters }, { extended: false });
}

/**
 * The Content-Security-Policy of a stored file: it loads and runs nothing. A browser's own page around an
 * image or a film may show that. `sandbox` would keep browsers from showing a PDF.
 */
export function contentSecurityPolicyFor(mime_type: string): string {
  if (essenceOf(mime_type) === 'application/pdf') return "default-src 'none'";
  return "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";
}

function isShownInline(essence: string): boolean {
  if (XML_BASED.test(essence)) return false;
  return /^(image|audio|video)\//.test(essence) || essence === 'application/pdf' || essence === 'text/plain';
}
