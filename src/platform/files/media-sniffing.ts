/** Telling a file's type by its first bytes: signatures by a package, markup and plain text by rules of our own. */
import { fileTypeFromBuffer } from 'file-type';

/** Formats with a signature whose files may be all text; a shorter signature inside text is a coincidence. */
const TEXT_FORMATS: ReadonlySet<string> = new Set([
  'application/eps',
  'application/pdf',
  'application/pgp-encrypted',
  'application/postscript',
  'application/rtf',
  'application/x-ms-regedit',
  'application/xml',
  'model/stl',
  'text/calendar',
  'text/vcard',
  'text/vtt',
]);

/** Elements at a file's start that make it HTML: those of the WHATWG MIME Sniffing Standard, 7.1. */
const HTML_ELEMENTS: ReadonlySet<string> = new Set(
  'html head script iframe h1 div font table a style title b body br p'.split(' '),
);

/**
 * The type that the first bytes of a file (up to `SNIFF_BYTES`) positively show, without parameters, or null. Text
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

/** HTML, SVG and other XML, by the first element, past comments, processing instructions and a document type. */
function sniffMarkup(head: Uint8Array): string | null {
  let rest = Buffer.from(head.buffer, head.byteOffset, head.byteLength)
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .trimStart();
  const is_xml = /^<\?xml\s/i.test(rest);
  let has_comment = false;
  for (;;) {
    const skipped = /^(?:<\?.*?\?>|<!--.*?-->)\s*/s.exec(rest)?.[0];
    if (skipped === undefined) break;
    has_comment ||= skipped.startsWith('<!--');
    rest = rest.slice(skipped.length);
  }
  const root = /^<(?:!doctype\s+)?(?:[\w.-]+:)?([a-z][\w.-]*)(?=[\s/>]|$)/i.exec(rest)?.[1]?.toLowerCase();
  if (root === 'svg') return 'image/svg+xml';
  if (is_xml) return root === 'html' ? 'application/xhtml+xml' : 'application/xml';
  const is_html = (root !== undefined && HTML_ELEMENTS.has(root)) || has_comment || rest.startsWith('<!--');
  return is_html ? 'text/html' : null;
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
