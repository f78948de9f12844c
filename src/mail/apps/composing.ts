/** In the thread of apps: makes the messages that a request asks for, and writes them to the disk, where they are sent from. */
import MailComposer from 'nodemailer/lib/mail-composer';
import { encodeWord } from 'nodemailer/lib/mime-funcs';
import type MimeNode from 'nodemailer/lib/mime-node';
import { AppError } from '../../errors.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import { newId } from '../../platform/host/ids.ts';
import { hashRequest } from '../../platform/http/idempotency.ts';
import {
  buildTexts,
  deriveText,
  ENCODED_WORD_CHARS,
  lazyFile,
  partTypeOf,
  readChunks,
  toAddress,
  toCrlf,
} from '../../platform/mail/message.ts';
import { BrokenMessage, type Field } from '../header-section.ts';
import { factsOf, missingFields } from '../message-facts.ts';
import { MessageReader } from '../message-reading.ts';
import { distinctParties } from './reading.ts';
import type { Bulk, Composed, ComposedBulk, Outgoing, OutgoingFile, Party, StoredFile } from './schemas.ts';
import type { AppSource } from './tables.ts';

/** A request to send, as it came. */
export interface Piece {
  source: AppSource;
  /** The path of the call. */
  path: string;
  content_type: string;
  body: Uint8Array;
  now_ms: number;
  /** The objects that are to be attached, by what names them; null until they were asked for. */
  objects: Record<string, StoredFile> | null;
  /** The most that a body may have of a mail that is one of many. */
  max_body_bytes: number;
  /** A picture that tells of an opening, and the id of the mail that it is of; null where none may be needed. */
  picture: { email_id: string; html: string } | null;
}

/** `wanted`: the request is to come again with these objects. `hash`: requests that have it are the same. */
export type Made =
  | { hash: string; messages: Composed[] }
  | { bulk: ComposedBulk }
  | { wanted: string[] }
  | { refusal: { code: string; message: string } };

/** Reads a request. Throws Unfit. */
export type Reader = (piece: Piece) => Outgoing[] | Promise<Outgoing[] | Bulk>;

/** Makes all messages of a request; where one can't be made, none is left on the disk. */
export async function make(piece: Piece, read: Reader, blobs: BlobStore): Promise<Made> {
  const messages: Composed[] = [];
  try {
    const outgoing = await read(piece);
    if (!Array.isArray(outgoing)) return { bulk: await keepFiles(outgoing, piece, blobs) };
    const wanted = outgoing.flatMap(({ files }) =>
      files.flatMap(({ content }) => ('object' in content ? content.object : [])),
    );
    if (wanted.length > 0 && !piece.objects) return { wanted: [...new Set(wanted)] };
    for (const one of outgoing) messages.push(await compose(one, piece, blobs));
    return { hash: hashRequest('POST', piece.path, piece.body), messages };
  } catch (error) {
    for (const { id } of messages) await blobs.remove(id);
    if (error instanceof AppError && error.kind === 'invalid')
      return { refusal: { code: error.code ?? 'validation_error', message: error.message } };
    if (!(error instanceof BrokenMessage)) throw error;
    return { refusal: { code: 'validation_error', message: `The message is not taken: ${error.message}.` } };
  }
}

async function compose(outgoing: Outgoing, { now_ms, objects }: Piece, blobs: BlobStore): Promise<Composed> {
  const { from, to, cc, bcc, reply_to, subject, scheduled_at, parties, extra } = outgoing;
  const { is_test = false, ignored = [], email_id } = outgoing;
  const id = newId(now_ms);
  if (outgoing.raw) return composeRaw(outgoing, outgoing.raw, { id, now_ms, blobs });
  const domain = from.address.slice(from.address.lastIndexOf('@'));
  const message_id = outgoing.message_id ?? `<${id.toLowerCase()}${domain}>`;
  const root = mimeOf(outgoing, { message_id, now_ms, objects: objects ?? {} });
  const written = await write(id, outgoing.files.length > 0 ? readChunks(root) : [buildTexts(root)], blobs);
  const recipients = distinctParties([...to, ...cc, ...bcc]);
  const described = { message_id, recipients, from, reply_to, subject, scheduled_at, parties, extra };
  return { ...written, id, ...described, is_test, ignored, email_id };
}

/** A message that came whole, as one by SMTP. */
async function composeRaw(
  outgoing: Outgoing,
  raw: Buffer,
  { id, now_ms, blobs }: { id: string; now_ms: number; blobs: BlobStore },
): Promise<Composed> {
  const complete = (fields: readonly Field[]) => missingFields(fields, { id, now_ms });
  const reader = new MessageReader({ complete });
  const text = toCrlf(raw.toString('latin1'));
  const lines = text.endsWith('\r\n') ? text : `${text}\r\n`;
  const written = await write(id, [Buffer.from(lines, 'latin1')], blobs, reader);
  try {
    const { from_email, from_name, reply_to, subject, message_id } = factsOf(reader.fields ?? [], id);
    const { scheduled_at, parties, extra, is_test = false, ignored = [] } = outgoing;
    const replied_to = reply_to === null ? [] : [{ address: reply_to, name: null }];
    const described = { message_id, subject, scheduled_at, parties, extra, is_test, ignored };
    const from = { address: from_email ?? '', name: from_name };
    const recipients = distinctParties(outgoing.to);
    return { ...written, ...described, id, recipients, from, reply_to: replied_to };
  } catch (error) {
    await blobs.remove(id);
    throw error;
  }
}

/** Writes the files of bulk mail, each under an id of its own. */
async function keepFiles(bulk: Bulk, { now_ms }: Piece, blobs: BlobStore): Promise<ComposedBulk> {
  const files: ComposedBulk['files'] = [];
  try {
    for (const { content, filename, mime_type, content_id } of bulk.files) {
      const id = newId(now_ms);
      const upload = blobs.openUpload(id);
      try {
        await upload.write(content as Buffer);
        await upload.commit();
      } finally {
        await upload.abort(); // What was committed stays.
      }
      const { size_bytes } = upload;
      const named = {
        filename: filename ?? 'file',
        mime_type: mime_type ?? 'application/octet-stream',
        content_id,
      };
      files.push({ id, ...named, size_bytes, sha256: upload.sha256() });
    }
  } catch (error) {
    for (const { id } of files) await blobs.remove(id);
    throw error;
  }
  return { ...bulk, id: newId(now_ms), files };
}

/** Writes a message under its id. Throws BrokenMessage, with nothing left, for one that nobody could send by SMTP either. */
export async function write(
  id: string,
  message: Iterable<Buffer> | AsyncIterable<Buffer>,
  blobs: BlobStore,
  reader = new MessageReader(),
): Promise<Pick<Composed, 'size_bytes' | 'sha256'>> {
  const upload = blobs.openUpload(id);
  try {
    for await (const chunk of message) await upload.write(reader.take(chunk));
    await upload.write(reader.end());
    await upload.commit();
    return { size_bytes: upload.size_bytes, sha256: upload.sha256() };
  } finally {
    await upload.abort(); // What was committed stays.
  }
}

function mimeOf(
  { from, to, cc, reply_to, subject, html, text, headers, files }: Outgoing,
  as: { message_id: string; now_ms: number; objects: Record<string, StoredFile> },
): MimeNode {
  const fields = { From: [from], To: to, Cc: cc, 'Reply-To': reply_to };
  const composer = new MailComposer({
    from: toAddress(from),
    to: to.map(toAddress),
    cc: cc.map(toAddress),
    replyTo: reply_to.map(toAddress),
    subject: subject.includes('=?') ? '' : subject,
    messageId: as.message_id,
    date: new Date(as.now_ms),
    text: toCrlf(text ?? deriveText(html ?? '')),
    ...(html === null ? {} : { html: toCrlf(html) }),
    attachments: files.map((file) => attachmentOf(file, as.objects)),
    headers: [...headers],
    baseBoundary: crypto.randomUUID(),
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const root = composer.compile();
  if (subject.includes('=?'))
    root.setHeader('Subject', { prepared: true, foldLines: true, value: encode(subject) });
  const encodeValue = root.encodeHeaderValue.bind(root);
  // MailComposer quotes what reads as an encoded word, where many readers still decode it.
  root.encodeHeaderValue = (key, value) => {
    const parties = Object.entries(fields).find(([name]) => name === key)?.[1];
    return parties ? parties.map(fieldOf).join(', ') : encodeValue(key, value);
  };
  return root;
}

const encode = (text: string): string => encodeWord(text, 'Q', ENCODED_WORD_CHARS);

/** An address with its name, as it stands in a header. */
function fieldOf({ address, name }: Party): string {
  if (name === null) return address;
  const is_plain = /^[\x20-\x7e]*$/.test(name) && !name.includes('=?');
  return `${is_plain ? `"${name.replace(/["\\]/g, '\\$&')}"` : encode(name)} <${address}>`;
}

function attachmentOf(file: OutgoingFile, objects: Record<string, StoredFile>) {
  const { content, content_id: cid } = file;
  const stored = 'object' in content ? objects[content.object] : null;
  const mime_type = file.mime_type ?? stored?.mime_type ?? null;
  return {
    filename: file.filename ?? stored?.filename ?? 'file',
    ...(mime_type === null ? {} : { contentType: partTypeOf(mime_type) }),
    ...(cid === null ? {} : { cid }),
    contentDisposition: cid === null ? ('attachment' as const) : ('inline' as const),
    contentTransferEncoding: 'base64' as const,
    content: stored ? lazyFile(stored.path) : (content as Buffer),
  };
}
