/** Media types of stored files: which one a file gets, which are allowed, and how a browser may treat each. */
import { extname } from 'node:path';
import { encodeExtended, format } from 'content-disposition';
import { supportedMimeTypes } from 'file-type';
import { lookup } from 'mime-types';
import { MAX_MEDIA_TYPE_CHARS } from '../../limits.ts';

export { sniffMediaType } from './media-sniffing.ts';

const NONE = 'application/octet-stream';

/** type "/" subtype and parameters, RFC 9110 8.3.1: what may stand in a header as it is. */
const MEDIA_TYPE =
  /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:[ \t]*;[ \t]*[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"))*$/;

function familiesOf(...names: string[]): readonly ReadonlySet<string>[] {
  return names.map((family) => new Set(family.split(' ')));
}

/** Several names of one format. */
const ALIASES = familiesOf(
  'image/jpeg image/jpg image/pjpeg',
  'image/png image/apng image/x-png',
  'image/x-icon image/vnd.microsoft.icon image/ico',
  'image/bmp image/x-ms-bmp image/x-bmp',
  'audio/mpeg audio/mp3 audio/x-mp3 audio/mpeg3',
  'audio/wav audio/x-wav audio/wave audio/vnd.wave',
  'audio/aac audio/x-aac audio/aacp',
  'audio/flac audio/x-flac',
  'audio/midi audio/x-midi audio/mid',
  'audio/aiff audio/x-aiff',
  'audio/x-m4a audio/m4a',
  'video/matroska video/x-matroska',
  'video/vnd.avi video/x-msvideo video/avi',
  'application/gzip application/x-gzip',
  'application/zip application/x-zip application/x-zip-compressed',
  'application/xml text/xml',
  'application/x-rar-compressed application/x-rar application/vnd.rar',
  'application/x-bzip2 application/bzip2 application/x-bzip',
  'application/x-msdownload application/vnd.microsoft.portable-executable application/x-msdos-program application/x-dosexec',
  'application/rtf text/rtf',
  'application/pdf application/x-pdf',
  'font/ttf application/x-font-ttf',
  'font/otf application/x-font-otf',
  'font/woff application/font-woff',
);

/** Formats in one container: the first bytes show one of them where the file is another. */
const CONTAINERS = familiesOf(
  'image/heic image/heif image/heic-sequence image/heif-sequence',
  'image/tiff image/x-adobe-dng image/x-canon-cr2 image/x-nikon-nef image/x-sony-arw image/x-panasonic-rw2',
  'video/mp4 audio/mp4 audio/x-m4a audio/m4a video/x-m4v video/quicktime video/3gpp video/3gpp2 audio/3gpp',
  'video/matroska video/x-matroska video/webm audio/webm audio/x-matroska',
  'application/ogg audio/ogg video/ogg audio/opus',
  'application/vnd.ms-asf video/x-ms-asf audio/x-ms-asf video/x-ms-wmv audio/x-ms-wma',
  'video/mpeg video/mp2t video/mp1s video/mp2p',
  'font/ttf font/otf font/sfnt font/collection application/font-sfnt',
  'application/gzip application/x-tar+gzip application/x-compressed-tar application/tar+gzip',
  'application/postscript application/eps application/illustrator',
  'application/pdf application/illustrator',
  'application/x-cfb application/msword application/vnd.ms-excel application/vnd.ms-powerpoint application/vnd.ms-outlook application/vnd.visio application/x-msi',
);

/** Media types that are written as text, against what their first half says. */
const TEXT_MEDIA = /^(image\/(x-portable-\w+|x-x(bit|pix)map)|audio\/(x-)?(mpegurl|scpls))$/;
const ZIP_BASED =
  /^application\/(x-zip|zip|epub\+zip|java-archive|x-java-archive|x-xpinstall|vnd\.(openxmlformats|oasis\.opendocument|android\.package-archive|ms-[a-z]+\.\w+\.macroenabled|apple\.(pages|numbers|keynote)|google-earth\.kmz|ms-xpsdocument))[\w.+-]*$|\+zip$|^model\/3mf$/;
const XML_BASED = /[/+]xml$/;

/** The type without parameters, in lower case: what types are compared by. */
export function essenceOf(type: string): string {
  return (type.split(';')[0] ?? '').trim().toLowerCase();
}

/**
 * The type a file is stored with: the one its part names, parameters and all, else the one its bytes show, else that
 * of its extension. `application/octet-stream`, and what is no media type, count as none. Bytes that show only a
 * general form (text, XML, a ZIP archive) leave the rest to an extension that fits them.
 */
export function chooseMediaType(file: {
  declared: string | null;
  sniffed: string | null;
  filename: string;
}): string {
  const declared = declaredTypeOf(file);
  if (declared !== null) return declared;
  // Given a bare word, `lookup` takes it for an extension: a file called `html` has none.
  const by_extension = lookup(extname(file.filename)) || null;
  if (file.sniffed === null) return by_extension ?? NONE;
  const is_general = /^(text\/plain|application\/(xml|zip|x-cfb))$/.test(file.sniffed);
  if (is_general && by_extension && by_extension !== NONE && fits(file.sniffed, by_extension)) {
    return by_extension;
  }
  return file.sniffed;
}

/** The type that a file's part names, or null where it names none. */
export function declaredTypeOf(file: { declared: string | null }): string | null {
  const declared = file.declared?.trim() ?? '';
  const is_type =
    declared.length <= MAX_MEDIA_TYPE_CHARS && MEDIA_TYPE.test(declared) && essenceOf(declared) !== NONE;
  return is_type ? declared : null;
}

/**
 * Whether a deployment takes such a file. The list holds essences and `type/*`; an empty one takes all. Both what the
 * file is called and what its bytes positively show must be on it, or the bytes must be a form of what it is called.
 */
export function isAllowedMediaType(
  file: { mime_type: string; sniffed: string | null },
  allowed: readonly string[],
): boolean {
  if (allowed.length === 0) return true;
  const essence = essenceOf(file.mime_type);
  if (!isListed(essence, allowed)) return false;
  return file.sniffed === null || fits(file.sniffed, essence) || isListed(file.sniffed, allowed);
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
 * The policy a stored file is served with. Whatever it contains can load nothing and run nothing; a page that a
 * browser makes around an image or a film may show that. `sandbox` would keep browsers from showing a PDF.
 */
export function contentSecurityPolicyFor(mime_type: string): string {
  if (essenceOf(mime_type) === 'application/pdf') return "default-src 'none'";
  return "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox";
}

function isShownInline(essence: string): boolean {
  if (XML_BASED.test(essence)) return false;
  return /^(image|audio|video)\//.test(essence) || essence === 'application/pdf' || essence === 'text/plain';
}

function isListed(essence: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    const pattern = entry.toLowerCase();
    if (pattern === '*/*') return true;
    return pattern.endsWith('/*') ? essence.startsWith(pattern.slice(0, -1)) : isAlias(pattern, essence);
  });
}

function isAlias(one: string, other: string): boolean {
  return one === other || shareFamily(ALIASES, one, other);
}

function shareFamily(families: readonly ReadonlySet<string>[], one: string, other: string): boolean {
  return families.some((family) => family.has(one) && family.has(other));
}

/** Whether bytes that show one type may honestly be called the other. */
function fits(sniffed: string, essence: string): boolean {
  if (isAlias(sniffed, essence) || shareFamily(CONTAINERS, sniffed, essence)) return true;
  if (sniffed === 'text/plain') return isTextual(essence);
  // Markdown may hold HTML, and often begins with it.
  if (sniffed === 'text/html') return essence === 'application/xhtml+xml' || essence === 'text/markdown';
  if (sniffed === 'application/xhtml+xml') return essence === 'text/html' || isAlias('text/xml', essence);
  if (sniffed === 'application/xml') return XML_BASED.test(essence) || essence.startsWith('text/');
  if (sniffed === 'image/svg+xml') return isAlias('text/xml', essence);
  if (sniffed.startsWith('text/')) return essence === 'text/plain';
  // The part that tells which document is in an archive may stand past the first bytes.
  if (isAlias('application/zip', sniffed)) return ZIP_BASED.test(essence);
  return isAlias('application/zip', essence) && ZIP_BASED.test(sniffed);
}

/** A type whose signature is known would have shown it; of the others, media and archives are surely no text. */
function isTextual(essence: string): boolean {
  if (essence === 'image/svg+xml') return false;
  if (essence.startsWith('text/') || TEXT_MEDIA.test(essence) || XML_BASED.test(essence)) return true;
  const known: ReadonlySet<string> = supportedMimeTypes;
  const is_binary =
    known.has(essence) ||
    /^(image|audio|video|font)\//.test(essence) ||
    ZIP_BASED.test(essence) ||
    [...ALIASES, ...CONTAINERS].some((family) => family.has(essence));
  return !is_binary;
}
