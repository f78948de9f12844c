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
import { BrokenMessage } from '../header-section.ts';
import { MessageReader } from '../message-reading.ts';
import { distinctParties } from './reading.ts';
import type { Composed, Outgoing, OutgoingFile, Party, StoredFile } from './schemas.ts';
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
}

/** `wanted`: the request is to come again with these objects. `hash`: requests that have it are the same. */
export type Made =
  | { hash: string; messages: Composed[] }
  | { wanted: string[] }
  | { refusal: { code: string; message: string } };

/** Reads a request. Throws Unfit. */
export type Reader = (piece: Piece) => Outgoing[] | Promise<Outgoing[]>;

/** Makes all messages of a request; where one can't be made, none is left on the disk. */
export async function make(piece: Piece, read: Reader, blobs: BlobStore): Promise<Made> {
  const messages: Composed[] = [];
  try {
    const outgoing = await read(piece);
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
  const id = newId(now_ms);
  const domain = from.address.slice(from.address.lastIndexOf('@'));
  const message_id = outgoing.message_id ?? `<${id.toLowerCase()}${domain}>`;
  const root = mimeOf(outgoing, { message_id, now_ms, objects: objects ?? {} });
  const written = await write(id, outgoing.files.length > 0 ? readChunks(root) : [buildTexts(root)], blobs);
  const recipients = distinctParties([...to, ...cc, ...bcc]);
  return { ...written, id, message_id, recipients, from, reply_to, subject, scheduled_at, parties, extra };
}

/** Writes a message under its id. Throws BrokenMessage, with nothing left, for one that nobody could send by SMTP either. */
export async function write(
  id: string,
  message: Iterable<Buffer> | AsyncIterable<Buffer>,
  blobs: BlobStore,
): Promise<Pick<Composed, 'size_bytes' | 'sha256'>> {
  const upload = blobs.openUpload(id);
  const reader = new MessageReader();
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
