/**
 * Which type an uploaded file gets, by its bytes and name, and whether that is allowed. Load it by `import()`
 * once a file comes: its tables are a fourth of what every start and command would load.
 */
import { extname } from 'node:path';
import { fileTypeFromBuffer, supportedMimeTypes } from 'file-type';
import { extensions, lookup } from 'mime-types';
import { csvTypeOf, declaredTypeOf, essenceOf, NONE, XML_BASED } from './media-types.ts';

/** Names of one format without a common prefix or extension, and formats with the same first bytes. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/apng', 'image/png'],
  ['image/heif', 'image/heic'],
  ['image/heic-sequence', 'image/heic'],
  ['image/heif-sequence', 'image/heic'],
  ['audio/vnd.wave', 'audio/wav'],
  ['audio/mid', 'audio/midi'],
  ['video/x-msvideo', 'video/vnd.avi'],
  ['application/vnd.microsoft.portable-executable', 'application/x-msdownload'],
]);

/** Media types that are written as text, against what their first half says. */
const TEXT_MEDIA = /^(image\/(x-portable-\w+|x-x(bit|pix)map)|audio\/(x-)?(mpegurl|scpls))$/;
const ZIP_BASED =
  /^application\/(x-zip|zip|epub\+zip|java-archive|x-java-archive|x-xpinstall|vnd\.(openxmlformats|oasis\.opendocument|android\.package-archive|ms-[a-z]+\.\w+\.macroenabled|apple\.(pages|numbers|keynote)|google-earth\.kmz|ms-xpsdocument))[\w.+-]*$|\+zip$|^model\/3mf$/;
/** What was an OLE compound file before it was an archive. */
const OLE_BASED = /^application\/(x-cfb|x-msi|msword|vnd\.visio|vnd\.ms-(excel|powerpoint|outlook))$/;
/** Formats in one container: the first bytes show one of them where the file is another. */
const CONTAINERS = [
  /^(audio|video)\/(mp4|x-m4[av]|m4a|quicktime|3gpp2?)$/,
  /^(audio|video)\/(x-)?(matroska|webm)$/,
  /^(application|audio|video)\/(ogg|opus)$/,
  /^(application|audio|video)\/(vnd\.ms-asf|x-ms-(asf|wm[av]))$/,
  /^video\/(mpeg|mp2t|mp1s|mp2p)$/,
  /^(font|application)\/([a-z-]*font-)?(ttf|otf|sfnt|collection)$/,
  OLE_BASED,
];

/**
 * The type to store a file with: the one its part names, with parameters (a CSV file's, where Windows called
 * it otherwise); else the one of its bytes; else of
 * its extension. `application/octet-stream` and invalid types count as none. Bytes of a general form (text,
 * XML, a ZIP archive) leave the rest to a fitting extension.
 */
export function chooseMediaType(file: {
  declared: string | null;
  sniffed: string | null;
  filename: string;
}): string {
  const declared = declaredTypeOf(file);
  if (declared !== null) {
    const csv = file.sniffed === 'text/plain' ? csvTypeOf({ ...file, declared }) : null;
    return csv ?? declared;
  }
  // Given a bare word, `lookup` takes it for an extension: a file called `html` has none.
  const by_extension = lookup(extname(file.filename)) || null;
  if (file.sniffed === null) return by_extension ?? NONE;
  const is_general = /^(text\/plain|application\/(xml|zip|x-cfb))$/.test(file.sniffed);
  if (is_general && by_extension && by_extension !== NONE && fits(file.sniffed, by_extension)) {
    return by_extension;
  }
  return file.sniffed;
}

/**
 * Whether a deployment takes a file that its sender calls this, before its bytes are there. A CSV file of
 * Windows passes by either of its types.
 */
export function isAllowedName(
  { declared, filename }: { declared: string; filename: string },
  allowed: readonly string[],
): boolean {
  return [declared, csvTypeOf({ declared, filename })].some(
    (type) => type !== null && isAllowedMediaType({ mime_type: type, sniffed: null }, allowed),
  );
}

/**
 * Whether a deployment takes such a file. The list has essences and `type/*`; an empty one takes all. Both
 * the file's type and what its bytes positively show must be on it, or the bytes must be a form of that type.
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

function isListed(essence: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    const pattern = entry.toLowerCase();
    if (pattern === '*/*') return true;
    return pattern.endsWith('/*') ? essence.startsWith(pattern.slice(0, -1)) : isAlias(pattern, essence);
  });
}

/** Whether two names mean one format: the same but for a prefix, or of one extension. */
function isAlias(one: string, other: string): boolean {
  const [first, second] = [ALIASES.get(one) ?? one, ALIASES.get(other) ?? other];
  if (withoutPrefix(first) === withoutPrefix(second)) return true;
  // Every extension without a type of its own stands for that one.
  if (first === NONE || second === NONE) return false;
  const others = extensions[second] ?? [];
  return (extensions[first] ?? []).some((extension) => others.includes(extension));
}

function withoutPrefix(essence: string): string {
  return essence.replace(/\/(x-ms-|x-|vnd\.(ms-)?)/, '/');
}

/** Whether bytes that show one type may honestly be called the other. */
function fits(sniffed: string, essence: string): boolean {
  if (isAlias(sniffed, essence)) return true;
  if (CONTAINERS.some((family) => family.test(sniffed) && family.test(essence))) return true;
  if (sniffed === 'text/plain') return isTextual(essence);
  // Markdown may hold HTML, and often begins with it.
  if (sniffed === 'text/html') return essence === 'application/xhtml+xml' || essence === 'text/markdown';
  if (sniffed === 'application/xhtml+xml') return essence === 'text/html' || isAlias('text/xml', essence);
  if (sniffed === 'application/xml') return XML_BASED.test(essence) || essence.startsWith('text/');
  if (sniffed.startsWith('text/')) return essence === 'text/plain';
  // The part that tells which document is in an archive may stand past the first bytes.
  if (isAlias('application/zip', sniffed)) return ZIP_BASED.test(essence);
  return isAlias('application/zip', essence) && ZIP_BASED.test(sniffed);
}

/** A type with a known signature would have shown it. Media and archives are surely no text. */
function isTextual(essence: string): boolean {
  if (essence === 'image/svg+xml') return false;
  if (essence.startsWith('text/') || TEXT_MEDIA.test(essence) || XML_BASED.test(essence)) return true;
  const known: ReadonlySet<string> = supportedMimeTypes;
  const is_binary =
    known.has(essence) ||
    /^(image|audio|video|font)\//.test(essence) ||
    ZIP_BASED.test(essence) ||
    OLE_BASED.test(essence);
  return !is_binary;
}

/** Formats with a signature whose files may be all text; a shorter signature inside text is a coincidence. */
const TEXT_FORMATS: ReadonlySet<string> = new Set([
  'application/eps',
  'application/pdf',
  'application/pgp-encrypted',
  'application/postscript',
  'application/rtf',
  'application/x-ms-regedit',
  'model/stl',
]);

/** Elements at a file's start that make it HTML: those of the WHATWG MIME Sniffing Standard, 7.1. */
const HTML_ELEMENTS: ReadonlySet<string> = new Set(
  'html head script iframe h1 div font table a style title b body br p'.split(' '),
);

/**
 * The type that a file's first bytes (up to `SNIFF_BYTES`) positively show, without parameters, or null. Text
 * without another mark is `text/plain`.
 */
export async function sniffMediaType(head: Uint8Array): Promise<string | null> {
  if (head.byteLength === 0) return null;
  const markup = sniffMarkup(head);
  if (markup !== null) return markup;
  const signature = await sniffSignature(head);
  if (!looksLikeText(head)) return signature;
  // "BM" begins a bitmap, "MZ" a program and "ID3" a song, but also sentences and the first line of a table.
  return signature !== null && TEXT_FORMATS.has(signature) ? signature : 'text/plain';
}

async function sniffSignature(head: Uint8Array): Promise<string | null> {
  try {
    const found = await fileTypeFromBuffer(head);
    return found?.mime.split(';')[0]?.toLowerCase() ?? null;
  } catch {
    // A format that needs more than the head to be told, or a damaged one.
    return null;
  }
}

/** HTML, SVG or other XML, by the first element behind comments, instructions and a document type. */
function sniffMarkup(head: Uint8Array): string | null {
  let rest = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  const is_xml = /^<\?xml\s/i.test(rest);
  rest = rest.replace(/^(?:(?:<\?.*?\?>|<!--.*?-->)\s*)+/s, '');
  const root = /^<(?:!doctype\s+)?(?:[\w.-]+:)?([a-z][\w.-]*)(?=[\s/>]|$)/i.exec(rest)?.[1]?.toLowerCase();
  if (root === 'svg') return 'image/svg+xml';
  if (is_xml) return root === 'html' ? 'application/xhtml+xml' : 'application/xml';
  return root !== undefined && HTML_ELEMENTS.has(root) ? 'text/html' : null;
}

/** No byte that never stands in text (WHATWG MIME Sniffing, "binary data byte"), or UTF-16 with its mark. */
function looksLikeText(head: Uint8Array): boolean {
  const [first, second] = head;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  return !head.some(
    (byte) =>
      byte <= 0x08 || byte === 0x0b || (byte >= 0x0e && byte <= 0x1a) || (byte >= 0x1c && byte <= 0x1f),
  );
}
