/** In the thread of apps: the forms that Mailgun's clients send, of both types. */
import { Busboy } from '@fastify/busboy';
import { Unfit } from './reading.ts';
import type { OutgoingFile } from './schemas.ts';

/** Fields of a form: a thousand recipients one by one, and as many again of all else. */
const MAX_FIELDS = 2_000;
const MAX_FILES = 50;
const MAX_NAME_BYTES = 200;

export interface MailgunForm {
  /** By name, in their order: they may be repeated. */
  fields: ReadonlyMap<string, readonly string[]>;
  files: readonly { field: string; file: OutgoingFile & { content: Buffer } }[];
}

/** Reads a form that is whole in memory. Throws Unfit. */
export async function readForm(body: Uint8Array, content_type: string): Promise<MailgunForm> {
  const fields = new Map<string, string[]>();
  const files: { field: string; file: OutgoingFile & { content: Buffer } }[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const refuse = (why: string): void => reject(new Unfit('form', why));
  const parser = openParser(content_type, body.byteLength);
  parser.on('field', (name, value, is_name_cut) => {
    if (is_name_cut) refuse(`A field's name may have ${MAX_NAME_BYTES} bytes.`);
    const values = fields.get(name);
    if (values) values.push(value);
    else fields.set(name, [value]);
  });
  parser.on('file', (field, stream, filename, _encoding, mime_type) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('error', () => {}); // The parser reports the same failure itself.
    stream.on('end', () => {
      const content = Buffer.concat(chunks);
      files.push({ field, file: { filename: filename || null, mime_type, content_id: null, content } });
    });
  });
  parser.on('fieldsLimit', () => refuse(`A form may have ${MAX_FIELDS} fields.`));
  parser.on('filesLimit', () => refuse(`A form may have ${MAX_FILES} files.`));
  parser.on('error', () => refuse('The form is cut off or no form at all.'));
  parser.on('finish', resolve);
  parser.end(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  await promise;
  return { fields, files };
}

function openParser(content_type: string, bytes: number) {
  try {
    return new Busboy({
      headers: { 'content-type': content_type },
      limits: { fields: MAX_FIELDS, files: MAX_FILES, fieldNameSize: MAX_NAME_BYTES, fieldSize: bytes },
    });
  } catch {
    throw new Unfit('form', 'Send a form: multipart/form-data or application/x-www-form-urlencoded.');
  }
}
