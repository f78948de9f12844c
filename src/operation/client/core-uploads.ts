/** How a client sends a file and tells its progress: XMLHttpRequest in browsers, else streams. */
import type { Delivery, OnceOptions, Sent } from './core.ts';

/** A File, a Blob such as Bun.file(path), bytes, or a stream. A stream is sent once and never again. */
export type UploadSource = Blob | Uint8Array | ReadableStream<Uint8Array>;

/** Bytes of the file that have left; `total` is null where nobody knows it. */
export interface Progress {
  loaded: number;
  total: number | null;
}

export interface UploadOptions extends OnceOptions {
  /** That of a File unless given. */
  filename?: string;
  onProgress?: (progress: Progress) => void;
}

/** A form with a file, whose fields stand before it: they are judged before its bytes are read. */
interface FileForm {
  field: string;
  fields: [name: string, value: string][];
  filename: string;
  type: string;
  content: Blob | ReadableStream<Uint8Array>;
}

export async function fileOf(
  source: UploadSource,
  { field, filename, fields }: { field: string; filename: string | undefined; fields: object },
): Promise<FileForm> {
  let content = source instanceof Uint8Array ? new Blob([new Uint8Array(source)]) : source;
  // Browsers stream no body over HTTP/1.1.
  if (content instanceof ReadableStream && !canStream()) content = await new Response(content).blob();
  const own = 'name' in source && typeof source.name === 'string' ? source.name : '';
  const told: [string, unknown][] = Object.entries(fields);
  return {
    field,
    fields: told
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, String(value)]),
    // Of Bun.file, it is a path.
    filename: filename ?? (own.replace(/^.*[\\/]/s, '') || 'file'),
    type: (content instanceof Blob && content.type) || 'application/octet-stream',
    content,
  };
}

/** How this runtime sends a form with a file so that `onProgress` learns how far it is. */
export function deliveryOf(
  file: FileForm,
  onProgress: UploadOptions['onProgress'],
): Omit<Delivery<unknown>, 'read'> {
  const { content } = file;
  const is_replayable = content instanceof Blob;
  if (content instanceof Blob && !canStream()) {
    const bodyOf = (): { body: FormData } => ({ body: formOf(file, content) });
    if (!onProgress || !hasXhr()) return { bodyOf };
    const tell = (part: number): void =>
      onProgress({ loaded: Math.round(content.size * part), total: content.size });
    return { bodyOf, send: (address, init) => sendByXhr(address, init, tell) };
  }
  let broken_by: unknown;
  const bodyOf = (): ReturnType<typeof streamedBodyOf> =>
    streamedBodyOf(file, onProgress, (error) => {
      broken_by = error;
    });
  return { is_replayable, bodyOf, brokenBy: () => broken_by };
}

function formOf({ fields, field, filename }: FileForm, content: Blob): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value);
  form.set(field, content, filename);
  return form;
}

/** Node 20 gives a Blob in one piece, which would be taken whole before any of it has left. */
const PIECE_BYTES = 64 * 1024;

/** The same form as a stream, which counts what is taken from it. */
function streamedBodyOf(
  { fields, field, filename, type, content }: FileForm,
  onProgress: UploadOptions['onProgress'],
  onBroken: (error: unknown) => void,
): { body: ReadableStream<Uint8Array>; duplex: 'half'; headers: Record<string, string> } {
  const boundary = `satchel-${randomName()}`;
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  const partOf = (rest_of_head: string): string =>
    `--${boundary}\r\nContent-Disposition: form-data; name=${rest_of_head}\r\n\r\n`;
  const told = fields.map(([name, value]) => `${partOf(quoted(name))}${value}\r\n`).join('');
  const file = partOf(`${quoted(field)}; filename=${quoted(filename)}\r\nContent-Type: ${type}`);
  const [head, tail] = [encode(told + file), encode(`\r\n--${boundary}--\r\n`)];
  const total = content instanceof Blob ? content.size : null;
  const headers: Record<string, string> = { 'Content-Type': `multipart/form-data; boundary=${boundary}` };
  if (total !== null) headers['Content-Length'] = String(head.length + total + tail.length);
  const reader = (content instanceof Blob ? content.stream() : content).getReader();
  let rest: Uint8Array = new Uint8Array();
  let loaded = 0;
  let is_over = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(head),
    async pull(controller) {
      try {
        if (rest.byteLength === 0) {
          const { done, value } = await reader.read();
          // A server that refuses it waits for no more of it.
          if (is_over) return;
          if (done) {
            controller.enqueue(tail);
            return controller.close();
          }
          rest = value;
        }
        const piece = rest.subarray(0, PIECE_BYTES);
        rest = rest.subarray(piece.byteLength);
        controller.enqueue(piece);
        loaded += piece.byteLength;
        onProgress?.({ loaded, total });
      } catch (error) {
        onBroken(error);
        throw error;
      }
    },
    cancel(reason) {
      is_over = true;
      return reader.cancel(reason);
    },
  });
  return { body, duplex: 'half', headers };
}

/** As browsers write names into a form. */
function quoted(name: string): string {
  const escaped = name.replace(/["\r\n]/g, (char) => encodeURIComponent(char));
  return `"${escaped}"`;
}

/** On pages that came over plain http there is no crypto.randomUUID. */
export function randomName(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/* --- What runtimes differ in ---------------------------------------------------------------------------------- */

/** As much of it as is used here. */
interface Xhr {
  readonly status: number;
  readonly responseText: string;
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  onloadend: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: FormData): void;
  abort(): void;
}
declare const XMLHttpRequest: (new () => Xhr) | undefined;
declare const process: { versions?: { node?: string } } | undefined;

export function hasXhr(): boolean {
  return typeof XMLHttpRequest !== 'undefined';
}

/** Whether any connection takes a streamed body: in Node and Bun, but in no page, Electron's included. */
function canStream(): boolean {
  return !hasXhr() && typeof process !== 'undefined' && typeof process.versions?.node === 'string';
}

/** As fetch does, which does not tell how much has left. `tell` gets the part, from 0 to 1. */
function sendByXhr(
  address: string,
  { method, headers, body, signal }: Sent,
  tell: (part: number) => void,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    if (typeof XMLHttpRequest === 'undefined' || !(body instanceof FormData))
      return reject(new TypeError('Only a form is sent so, in a browser.'));
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    request.open(method, address);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => tell(total > 0 ? loaded / total : 0);
    request.onload = () => resolve(responseOf(request));
    request.onerror = () => reject(new TypeError('The connection broke off.'));
    request.onabort = request.onerror;
    request.onloadend = () => signal?.removeEventListener('abort', abort);
    signal?.addEventListener('abort', abort);
    request.send(body);
  });
}

function responseOf(request: Xhr): Response {
  const headers = new Headers();
  for (const line of request.getAllResponseHeaders().trim().split(/\r?\n/)) {
    const [name = '', ...value] = line.split(':');
    if (name !== '') headers.append(name, value.join(':').trim());
  }
  const { status, responseText } = request;
  return new Response(status === 204 ? null : responseText, { status, headers });
}
