/** Turns a MailContent into the bytes of a message (RFC 5322, MIME), DKIM-signed where a key is given. */
import { isAscii } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import * as base64 from 'nodemailer/lib/base64';
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import type MimeNode from 'nodemailer/lib/mime-node';
import * as quotedPrintable from 'nodemailer/lib/qp';
import { AppError, invalid } from '../../errors.ts';
import { isShortage } from '../host/shortages.ts';
import { hasControls } from './address.ts';
import type { DkimIdentity } from './dkim.ts';
import { hashBody, signHeaders } from './dkim.ts';
import { htmlToText } from './html-text.ts';
import type { MailAttachment, MailContent, MailHead, WholeContent } from './types.ts';

/** Mails with larger attachments in sum are streamed from disk, twice when signed, and not held in memory. */
export const MAX_BUFFERED_MESSAGE_BYTES = 1024 * 1024;

/** A message ready to be sent. */
export interface ComposedMessage {
  size_bytes: number;
  /** The DKIM-Signature that it begins with; empty without a key. */
  signature: Buffer;
  /** Some of it is no ASCII (RFC 6152). */
  is_8bit: boolean;
  /** The chunks of the message; each call reads from the start. */
  read(): Iterable<Buffer> | AsyncIterable<Buffer>;
}

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+^_`|~-]{1,76}$/;
/** Headers that are made from the other fields of a MailContent. */
const OWN_HEADERS = new Set('from to cc bcc subject date message-id mime-version dkim-signature'.split(' '));

/** A line of a folded header holds one: RFC 2047 allows 75 with what surrounds it. */
export const ENCODED_WORD_CHARS = 52;
/** Of quoted-printable and base64 (RFC 2045 6.7, 6.8). */
const ENCODED_LINE_CHARS = 76;

/**
 * Refuses a mail of which anything could break out of its header.
 * Throws AppError `invalid` naming the field; it never repeats a value.
 */
export function checkHead(content: MailHead): void {
  const refuseControls = (field: string, value: string | null): void => {
    if (value !== null && hasControls(value)) {
      throw invalid({ [field]: ['must have no line breaks or control characters'] });
    }
  };
  refuseControls('subject', content.subject);
  refuseControls('message_id', content.message_id);
  refuseControls('reply_to', content.reply_to);
  for (const field of ['from', 'to'] as const) {
    refuseControls(field, content[field].address);
    refuseControls(`${field}_name`, content[field].name);
  }
  for (const address of content.cc) refuseControls('cc', address);
  for (const attachment of content.attachments) {
    refuseControls('attachments', attachment.filename);
    refuseControls('attachments', attachment.mime_type);
  }
  for (const [name, value] of Object.entries(content.headers ?? {})) {
    const is_own = OWN_HEADERS.has(name.toLowerCase()) || /^content-/i.test(name);
    if (!HEADER_NAME.test(name) || is_own) {
      throw invalid({ headers: ['must be named by printable ASCII and not be among those of every mail'] });
    }
    refuseControls('headers', value);
  }
}

/**
 * Builds the message. A large one is read from disk twice, for its DKIM body hash and to be sent, and not
 * held in memory. Throws AppError `invalid` for unsafe headers or a bad DKIM key, `not_found` when an
 * attachment's bytes are gone.
 */
export async function composeMessage(content: MailContent): Promise<ComposedMessage> {
  checkHead(content);
  if (content.html === null && content.text === null)
    throw invalid({ body_html: ['or body_text is required'] });
  await checkAttachments(content.attachments);
  // Text and boundary are made once, as both passes over a large message must give the same bytes.
  const text = content.text ?? deriveText(content.html ?? '');
  const boundary = crypto.randomUUID();
  const open = () => buildMime({ ...content, text }, boundary);
  const payload_bytes = content.attachments.reduce((sum, attachment) => sum + attachment.size_bytes, 0);
  const build = () => (content.attachments.length > 0 ? open().build() : buildTexts(open()));
  const held = payload_bytes <= MAX_BUFFERED_MESSAGE_BYTES ? [await build()] : null;
  return signMessage(() => held ?? readChunks(open()), content.dkim);
}

/** A message that is sent as it came. Throws AppError `not_found` where its file is not as long as it was. */
export async function signWhole({ path, size_bytes, dkim }: WholeContent): Promise<ComposedMessage> {
  const { size } = await stat(path);
  if (size !== size_bytes)
    throw new AppError('not_found', 'The bytes of the message are not what was stored.');
  const held = size_bytes <= MAX_BUFFERED_MESSAGE_BYTES ? [await readFile(path)] : null;
  return signMessage(() => held ?? createReadStream(path), dkim);
}

/** A message with its signature; `unsigned` reads it from the start. Throws as composeMessage does. */
export async function signMessage(
  unsigned: () => Iterable<Buffer> | AsyncIterable<Buffer>,
  dkim: DkimIdentity | null,
): Promise<ComposedMessage> {
  if (!dkim) {
    let size_bytes = 0;
    let is_8bit = false;
    for await (const chunk of unsigned()) {
      size_bytes += chunk.length;
      is_8bit ||= !isAscii(chunk);
    }
    return { size_bytes, is_8bit, signature: Buffer.alloc(0), read: () => unsigned() };
  }
  const { headers, body_hash, size_bytes, is_8bit } = await digest(unsigned());
  const signature = Buffer.from(await signHeaders(headers, body_hash, dkim), 'latin1');
  const read = async function* (): AsyncIterable<Buffer> {
    yield signature;
    yield* unsigned();
  };
  return { size_bytes: signature.length + size_bytes, is_8bit, signature, read };
}

/** A message with these fields before all others, but for those that it has itself. Throws as `read` does. */
export async function withFields(
  message: ComposedMessage,
  fields: Readonly<Record<string, string>>,
): Promise<ComposedMessage> {
  if (Object.keys(fields).length === 0) return message;
  const section = await fieldsIn(message);
  const added = Object.entries(fields)
    .filter(([name]) => !new RegExp(`^${name}[ \\t]*:`, 'im').test(section))
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const top = Buffer.from(added.join(''), 'latin1');
  const read = async function* (): AsyncIterable<Buffer> {
    yield top;
    yield* message.read();
  };
  return { ...message, size_bytes: top.length + message.size_bytes, read };
}

/** Its header fields, with one character a byte. */
async function fieldsIn(message: ComposedMessage): Promise<string> {
  let start = Buffer.alloc(0);
  for await (const chunk of message.read()) {
    start = Buffer.concat([start, chunk]);
    const end = start.indexOf('\r\n\r\n');
    if (end >= 0) return start.toString('latin1', 0, end);
  }
  return start.toString('latin1');
}

/** The whole message as one block of bytes. Throws as `read` does. */
export async function bytesOf(message: ComposedMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of message.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** What a signature is made of: the header block with one character a byte, and the hash of the body. */
async function digest(
  message: Iterable<Buffer> | AsyncIterable<Buffer>,
): Promise<{ headers: string; body_hash: string; size_bytes: number; is_8bit: boolean }> {
  let start: Buffer = Buffer.alloc(0);
  let body_starts_at = -1;
  let size_bytes = 0;
  let is_8bit = false;
  const body = async function* (): AsyncIterable<Buffer> {
    for await (const chunk of message) {
      size_bytes += chunk.length;
      is_8bit ||= !isAscii(chunk);
      if (body_starts_at >= 0) {
        yield chunk;
        continue;
      }
      start = Buffer.concat([start, chunk]);
      const end = start.indexOf('\r\n\r\n');
      if (end < 0) continue;
      body_starts_at = end + 4;
      yield start.subarray(body_starts_at);
    }
  };
  const body_hash = await hashBody(body());
  return { headers: start.toString('latin1', 0, body_starts_at - 2), body_hash, size_bytes, is_8bit };
}

export async function* readChunks(root: MimeNode): AsyncIterable<Buffer> {
  for await (const chunk of root.createReadStream()) {
    if (Buffer.isBuffer(chunk)) yield chunk;
  }
}

export function buildMime(content: MailContent, boundary: string): MimeNode {
  const composer = new MailComposer({
    from: toAddress(content.from),
    to: [toAddress(content.to)],
    cc: content.cc.map((address) => toAddress({ address, name: null })),
    ...(content.reply_to === null ? {} : { replyTo: toAddress({ address: content.reply_to, name: null }) }),
    subject: content.subject,
    messageId: content.message_id,
    date: new Date(content.date_ms),
    ...(content.text ? { text: toCrlf(content.text) } : {}),
    ...(content.html === null ? {} : { html: toCrlf(content.html) }),
    attachments: content.attachments.map((attachment) => ({
      filename: attachment.filename,
      contentType: partTypeOf(attachment.mime_type),
      ...(attachment.content_id === undefined ? {} : { cid: attachment.content_id }),
      contentDisposition: attachment.content_id === undefined ? 'attachment' : 'inline',
      // Text attachments are base64 too, so that no relay can alter their lines.
      contentTransferEncoding: 'base64',
      content: lazyFile(attachment.path),
    })),
    headers: Object.entries(content.headers ?? {}).map(([key, value]) => ({ key, value })),
    baseBoundary: boundary,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const root = composer.compile();
  keepLookalikes(root, content);
  return root;
}

/**
 * A message without files, as its `build` makes it. That goes through streams, which take longer than all the
 * rest of a mail's way to its relay.
 */
export function buildTexts(root: MimeNode): Buffer {
  const message = textOf(root);
  return Buffer.from(message.endsWith('\r\n') ? message : `${message}\r\n`);
}

function textOf(node: MimeNode): string {
  const head = `${node.buildHeaders()}\r\n\r\n`;
  const { content, boundary } = node;
  if (typeof content === 'string') return head + encoded(content, node.getTransferEncoding());
  const parts = node.childNodes.map((part) => `--${boundary}\r\n${textOf(part)}\r\n`);
  return parts.length === 0 ? head : `${head}${parts.join('')}--${boundary}--\r\n`;
}

function encoded(text: string, encoding: string | false): string {
  if (encoding === 'quoted-printable')
    return quotedPrintable.wrap(quotedPrintable.encode(text), ENCODED_LINE_CHARS);
  if (encoding === 'base64') return base64.wrap(base64.encode(text), ENCODED_LINE_CHARS);
  return text;
}

/**
 * Encodes what reads as an encoded-word (RFC 2047), which could decode to anything, line breaks included.
 * MailComposer passes one on in a subject, and quotes one in a name, where many readers still decode it.
 */
export function keepLookalikes(root: MimeNode, { subject, from, to }: MailHead): void {
  const encode = (text: string): string => encodeWord(text, 'Q', ENCODED_WORD_CHARS);
  if (subject.includes('=?'))
    root.setHeader('Subject', { prepared: true, foldLines: true, value: encode(subject) });
  const encoded = new Map<string, string>();
  for (const [key, { name, address }] of Object.entries({ From: from, To: to })) {
    if (name?.includes('=?')) encoded.set(key, `${encode(name)} <${root.encodeHeaderValue(key, address)}>`);
  }
  if (encoded.size === 0) return;
  // MailComposer takes no prepared headers for addresses.
  const encodeValue = root.encodeHeaderValue.bind(root);
  root.encodeHeaderValue = (key, value) => encoded.get(key) ?? encodeValue(key, value);
}

/**
 * The type of an attached file's part. Mail takes composite types apart and forbids encoding them (RFC 2045
 * 6.4), so such a file travels as bytes; its name tells what it is.
 */
export function partTypeOf(mime_type: string): string {
  return /^(multipart|message)\//i.test(mime_type) ? 'application/octet-stream' : mime_type;
}

/** Lines of a message end in CRLF, whatever their parts had: the DKIM signature covers what is sent. */
export function toCrlf(text: string): string {
  return text.replace(/\r\n|\r|\n/g, '\r\n');
}

export function toAddress(mailbox: { address: string; name: string | null }): {
  address: string;
  name: string;
} {
  return { address: mailbox.address, name: mailbox.name ?? '' };
}

/** Opens the file at the first read, so that of many attachments one is open at a time. */
export function lazyFile(path: string): Readable {
  return Readable.from(
    (async function* () {
      yield* createReadStream(path);
    })(),
    { objectMode: false },
  );
}

async function checkAttachments(attachments: MailAttachment[]): Promise<void> {
  for (const attachment of attachments) {
    const found = await stat(attachment.path).catch((cause: unknown) => {
      if (isShortage(cause)) throw cause;
      throw new AppError('not_found', 'The bytes of an attachment are gone.', { cause });
    });
    if (found.size !== attachment.size_bytes) {
      throw new AppError('not_found', 'The bytes of an attachment are not what was stored.');
    }
  }
}

let toText: ((html: string) => string) | null = null;

/** The text part of a mail that has only HTML: links keep their address, pictures and styling go. */
export function deriveText(html: string): string {
  toText ??= htmlToText({ wordwrap: 78, links: { hideLinkHrefIfSameAsText: true, noAnchorUrl: true } });
  return toText(html).trim();
}
