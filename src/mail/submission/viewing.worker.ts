/** Reads one message after another, in a thread that service.ts starts. */

import { readFile } from 'node:fs/promises';
import PostalMime, { decodeWords } from 'postal-mime';
import { serve } from '../../platform/host/threads.ts';
import { fieldValue } from '../header-section.ts';
import { type Leaf, MessageReader } from '../message-reading.ts';
import type { MessageView } from './service.ts';

/** Decision: what the log shows of a text. */
const SMTP_SHOWN_BYTES = 500 * 1024;

/** Quoted-printable takes up to three bytes for one. */
const ENCODED_BYTES = 3 * SMTP_SHOWN_BYTES;

serve(async ({ path }: { path: string }): Promise<MessageView> => view(await readFile(path)));

/** What a reader sees: the first text and the first HTML part, each cut, and every other part by name. */
async function view(message: Buffer): Promise<MessageView> {
  const reader = new MessageReader({ keeps_leaves: true });
  reader.take(message);
  reader.end();
  const found: MessageView = {
    headers: headersOf(reader),
    body_text: null,
    body_html: null,
    attachments: [],
  };
  for (const leaf of reader.leaves) {
    const type = /^[^;\s]*/.exec(fieldValue(leaf.fields, 'content-type') ?? 'text/plain')?.[0].toLowerCase();
    const is_attached = /^\s*attachment/i.test(fieldValue(leaf.fields, 'content-disposition') ?? '');
    if (!is_attached && type === 'text/plain' && found.body_text === null)
      found.body_text = cut((await parsePart(message, leaf, ENCODED_BYTES)).text ?? '');
    else if (!is_attached && type === 'text/html' && found.body_html === null)
      found.body_html = cut((await parsePart(message, leaf, ENCODED_BYTES)).html ?? '');
    else found.attachments.push(await attachmentOf(message, leaf, type ?? 'application/octet-stream'));
  }
  return found;
}

function headersOf({ fields }: MessageReader): MessageView['headers'] {
  return (fields ?? []).map((field) => {
    const name = field.bytes.toString('latin1', 0, field.name.length);
    return { name, value: decodeWords(fieldValue([field], field.name) ?? '') };
  });
}

/** A part as a message of its own. */
function parsePart(message: Buffer, { fields, from, to }: Leaf, most_bytes: number) {
  const body = message.subarray(from, Math.min(to, from + most_bytes));
  return PostalMime.parse(Buffer.concat([...fields.map(({ bytes }) => bytes), Buffer.from('\r\n'), body]));
}

async function attachmentOf(
  message: Buffer,
  leaf: Leaf,
  mime_type: string,
): Promise<MessageView['attachments'][number]> {
  const { attachments, text, html } = await parsePart(message, leaf, Number.POSITIVE_INFINITY);
  const [attachment] = attachments;
  const content = attachment?.content ?? text ?? html ?? '';
  const size_bytes = typeof content === 'string' ? Buffer.byteLength(content) : content.byteLength;
  return { public_id: null, filename: attachment?.filename ?? 'unnamed', mime_type, size_bytes };
}

/** Not within a character. */
function cut(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= SMTP_SHOWN_BYTES) return text;
  return new TextDecoder().decode(bytes.subarray(0, SMTP_SHOWN_BYTES), { stream: true });
}
