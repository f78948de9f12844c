/** Compressing answers, where the client takes gzip and nothing in them is secret. */

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { letOthers } from '../host/waiting.ts';
import type { Route } from './routes.ts';

/** Below it headers are most of what is sent. */
const MIN_BYTES = 1024;
/** What takes more than about a millisecond (1.1 ms for 150 KB of JSON, measured) goes to another thread. */
const MAX_INLINE_BYTES = 128 * 1024;

const gzipElsewhere = promisify(gzip);
/**
 * As small as zlib's usual level in under half the time (38 KB of JSON: 8,268 against 8,051 bytes, 0.07
 * against 0.17 ms).
 */
const FAST = { level: 1, library: 'libdeflate' } as const;

/** What is text of ours. A stored file has `Accept-Ranges`: ranges are of its bytes as they are. */
const TEXT_TYPE = /^(application\/json|text\/(html|css|javascript|csv))\b/;

/**
 * Paths whose answers may hold secrets. Their compressed length would tell about these to whoever sees it and
 * can choose what stands beside them (BREACH).
 */
const SECRET_SEGMENT =
  /^(vault|vault-files|.*reveal|rotate|api-keys|tokens?|links|people|webhooks|ai-accounts|database-accounts|database-projects)$/;

/** Whether a route's answers may be compressed. */
export function mayCompress({ plane, path }: Route): boolean {
  return (
    plane !== 'console' &&
    plane !== 'foreign' &&
    !path.split('/').some((segment) => SECRET_SEGMENT.test(segment))
  );
}

/** Whether the client takes gzip, by its name or by `*`, and not at q=0 (RFC 9110, 12.5.3). */
export function takesGzip(request: Request): boolean {
  const header = request.headers.get('accept-encoding');
  if (header === null) return false;
  const quality = new Map(
    header.split(',').map((each) => {
      const [coding = '', ...parameters] = each.toLowerCase().split(';');
      const q = parameters.find((parameter) => /^\s*q\s*=/.test(parameter))?.split('=')[1];
      return [coding.trim(), q === undefined ? 1 : Number(q)] as const;
    }),
  );
  return (quality.get('gzip') ?? quality.get('x-gzip') ?? quality.get('*') ?? 0) > 0;
}

/** `Response.json`, compressed where that is worth it and the client takes it. */
export function jsonResponse(
  request: Request,
  value: unknown,
  { status, headers }: { status: number; headers?: Record<string, string> },
): Response | Promise<Response> {
  const text = JSON.stringify(value);
  const init = { status, headers: { ...headers, 'Content-Type': 'application/json;charset=utf-8' } };
  // The header is read for what is large alone: most answers are not.
  if (Buffer.byteLength(text) <= MIN_BYTES || !takesGzip(request)) return new Response(text, init);
  return compressed(Buffer.from(text), { status, headers: new Headers(init.headers) });
}

/** Answers that are as long as what they are made from: never held whole. */
const streams = new WeakSet<Response>();

/** An answer of any length: a piece a turn, as its reader takes them; a piece may be empty. */
export function streamResponse(
  pieces: Iterator<string> | AsyncIterator<string>,
  headers: Record<string, string>,
): Response {
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        await letOthers();
        const { value, done } = await pieces.next();
        if (done) return controller.close();
        if (value !== '') return controller.enqueue(encoder.encode(value));
      }
    },
    // Whoever goes away leaves no file open.
    async cancel() {
      await pieces.return?.();
    },
  });
  const response = new Response(stream, { headers });
  streams.add(response);
  return response;
}

/** Compresses a route's page or table where that is worth it and the client takes it; no stored file. */
export async function compressText(request: Request, response: Response): Promise<Response> {
  const { status, headers } = response;
  if (!isText(status, headers) || headers.has('content-encoding') || !takesGzip(request)) return response;
  // Asking for a stored file's body would make a stream of it, in place of the system's own way from disk to
  // network.
  const { body } = response;
  if (body === null) return response;
  if (streams.has(response)) {
    headers.set('Content-Encoding', 'gzip');
    // Nobody reads the one of a HEAD.
    const stream = request.method === 'HEAD' ? body : body.pipeThrough(new CompressionStream('gzip'));
    return new Response(stream, { status, headers });
  }
  const bytes = new Uint8Array(await response.arrayBuffer());
  return bytes.length <= MIN_BYTES
    ? new Response(bytes, { status, headers })
    : await compressed(bytes, { status, headers });
}

/** Has caches tell the answers apart that some clients get compressed. */
export function setVary({ status, headers }: Response): void {
  if (isText(status, headers) && !headers.get('vary')?.includes('Accept-Encoding'))
    headers.append('Vary', 'Accept-Encoding');
}

function isText(status: number, headers: Headers): boolean {
  return status !== 206 && TEXT_TYPE.test(headers.get('content-type') ?? '') && !headers.has('accept-ranges');
}

interface TextFile {
  /** A name that no other has. */
  name: string;
  body: string | Blob;
  headers: Record<string, string>;
}

/** Answers files of ours that never change, each compressed at its first use. */
export function createFileServer(): (request: Request, file: TextFile) => Promise<Response> {
  const kept = new Map<string, Promise<Uint8Array<ArrayBuffer> | null>>();
  const compressOnce = async (body: string | Blob): Promise<Uint8Array<ArrayBuffer> | null> => {
    const bytes = await new Response(body).bytes();
    return bytes.length > MIN_BYTES ? compressElsewhere(bytes) : null;
  };
  return async (request, { name, body, headers: own }) => {
    const headers = { ...own, Vary: 'Accept-Encoding' };
    if (!takesGzip(request)) return new Response(body, { headers });
    const made = kept.get(name) ?? compressOnce(body);
    kept.set(name, made);
    const compressed = await made;
    return compressed === null
      ? new Response(body, { headers })
      : new Response(compressed, { headers: { ...headers, 'Content-Encoding': 'gzip' } });
  };
}

async function compressElsewhere(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await gzipElsewhere(bytes));
}

async function compressed(
  bytes: Uint8Array<ArrayBuffer>,
  { status, headers }: { status: number; headers: Headers },
): Promise<Response> {
  headers.set('Content-Encoding', 'gzip');
  const is_small = bytes.length <= MAX_INLINE_BYTES;
  const body = is_small ? Bun.gzipSync(bytes, FAST) : await compressElsewhere(bytes);
  return new Response(body, { status, headers });
}
