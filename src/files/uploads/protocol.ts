/** What the headers of tus 1.0 say: https://tus.io/protocols/resumable-upload. */
import { AppError, invalid, refuseAll } from '../../errors.ts';

/** A file name of the longest kind takes 1,000 of them; a request's headers may have 16 KiB in all. */
const MAX_UPLOAD_METADATA_CHARS = 4_096;

export const TUS_VERSION = '1.0.0';
export const TUS_EXTENSIONS = 'creation,expiration,checksum,termination';
export const CHECKSUM_ALGORITHMS = ['sha1', 'sha256', 'md5'] as const;
/** The only type that the body of a PATCH may have. */
export const PART_TYPE = 'application/offset+octet-stream';

/** The hash that a part should have. */
export interface Checksum {
  algorithm: (typeof CHECKSUM_ALGORITHMS)[number];
  base64: string;
}

/** Throws AppError `precondition_failed` for another version of the protocol, or none. */
export function requireVersion(headers: Headers): void {
  if (headers.get('tus-resumable') === TUS_VERSION) return;
  throw new AppError('precondition_failed', `Send the header Tus-Resumable: ${TUS_VERSION}.`);
}

/** Throws AppError `invalid` for uploads of parts, which would be files here, and for deferred lengths. */
export function refuseUnoffered(headers: Headers): void {
  const asked = ['Upload-Concat', 'Upload-Defer-Length'].filter((name) => headers.has(name));
  refuseAll(
    Object.fromEntries(asked.map((name) => [name, [`is not offered; these are: ${TUS_EXTENSIONS}`]])),
  );
}

/** A header that holds a number of bytes. Throws AppError `invalid`. */
export function readBytes(headers: Headers, name: 'Upload-Length' | 'Upload-Offset'): number {
  const value = headers.get(name) ?? '';
  if (!/^\d{1,15}$/.test(value))
    throw invalid({ [name]: [`${value === '' ? 'is required' : 'is not valid'}: send a number of bytes`] });
  return Number(value);
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
/** Printable ASCII without space and comma. */
const METADATA_KEY = /^[\x21-\x2b\x2d-\x7e]+$/;

/** Upload-Metadata: `filename bm90ZS50eHQ=,visibility cHVibGlj`. Throws AppError `invalid`. */
export function readMetadata(header: string): Record<string, string> {
  const refused = (why: string): AppError => invalid({ 'Upload-Metadata': [why] });
  if (header.length > MAX_UPLOAD_METADATA_CHARS)
    throw refused(`must have at most ${MAX_UPLOAD_METADATA_CHARS} characters (got ${header.length})`);
  const found = new Map<string, string>();
  for (const pair of header.trim() === '' ? [] : header.split(',')) {
    const [key = '', value = '', ...rest] = pair.trim().split(' ');
    if (!METADATA_KEY.test(key) || rest.length > 0)
      throw refused('must be pairs of an ASCII key, a space and a value in Base64, with commas between');
    if (found.has(key)) throw refused('has a key twice');
    if (!BASE64.test(value)) throw refused('has a value that is not Base64');
    try {
      found.set(key, new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(value, 'base64')));
    } catch {
      throw refused('has a value that is not UTF-8');
    }
  }
  return Object.fromEntries(found);
}

/** Upload-Checksum: `sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0=`. Throws AppError `unsupported` and `invalid`. */
export function readChecksum(headers: Headers): Checksum | null {
  const header = headers.get('upload-checksum');
  if (header === null) return null;
  const [name, base64 = '', ...rest] = header.trim().split(' ');
  const algorithm = CHECKSUM_ALGORITHMS.find((each) => each === name);
  if (!algorithm)
    throw new AppError('unsupported', `Upload-Checksum must be of ${CHECKSUM_ALGORITHMS.join(', ')}.`);
  if (rest.length > 0 || base64 === '' || !BASE64.test(base64))
    throw invalid({ 'Upload-Checksum': ['must be an algorithm, a space and the hash in Base64'] });
  return { algorithm, base64 };
}
