/** How the bytes of an object or variant are sent: whole, in part or not at all; with which headers. */
import { messageOf } from '../../errors.ts';
import { contentSecurityPolicyFor, dispositionFor, servedTypeOf } from '../../platform/files/media-types.ts';
import { evaluateRequest, type RangeVerdict } from '../../platform/files/ranges.ts';
import { StoreFault } from '../../platform/files/s3-requests.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { RequestContext } from '../../platform/http/routes.ts';
import { readVariantWishes, type Variants, type VariantWishes } from '../variants/service.ts';
import type { ObjectBytes, ObjectRow } from './service.ts';

/** Decision: a redirect to the store is good for this long at most. */
const STORE_LINK_S = 300;

/** A year, the longest that RFC 9111 caches honour; an object's bytes never change. */
const OBJECT_MAX_AGE_S = 31_536_000;

export interface DownloadDeps {
  bytes: ObjectBytes;
  variants: Pick<Variants, 'get'>;
  clock: Clock;
  logger: Logger;
  config: { object_redirect_bytes: number | null };
}

/** What the headers of a download are made of. */
type Shown = Pick<
  ObjectRow,
  | 'mime_type'
  | 'is_utf8'
  | 'original_filename'
  | 'size_bytes'
  | 'sha256'
  | 'visibility'
  | 'expires_at'
  | 'created_at'
>;

/**
 * The requested bytes of an object, with the headers for browsers; or a link of the store to them. Where the
 * query asks for a variant, that is sent. Throws as `ObjectBytes.read`, `readVariantWishes` and
 * `Variants.get` do.
 */
export async function serveObject(
  deps: DownloadDeps,
  ctx: RequestContext,
  row: ObjectRow,
): Promise<Response> {
  const wishes = readVariantWishes(ctx.url.searchParams);
  return wishes ? serveVariant(deps, ctx, row, wishes) : serve(deps, ctx, row, sendObject(deps, ctx, row));
}

/** An image variant of an object, as `serveObject` serves the object. Throws as `Variants.get` does. */
export async function serveVariant(
  deps: DownloadDeps,
  ctx: RequestContext,
  row: ObjectRow,
  wishes: VariantWishes,
): Promise<Response> {
  // It may have to wait for others.
  ctx.keepOpen();
  const { path, size_bytes, mime_type, extension, tag } = await deps.variants.get(row, wishes, ctx.ip);
  const original_filename = `${row.original_filename.replace(/\.[^.]*$/, '')}.${extension}`;
  const shown = { ...row, original_filename, size_bytes, mime_type, is_utf8: false, sha256: tag };
  return serve(deps, ctx, shown, async ({ status, start, end }, headers) => {
    const file = Bun.file(path);
    return new Response(status === 206 ? file.slice(start, end) : file, { status, headers });
  });
}

/** Any `download` asks for that, with a value or none, unless it says no; the last one counts. */
function isToBeSaved(parameters: URLSearchParams): boolean {
  const asked = parameters.getAll('download').at(-1);
  return asked !== undefined && !/^(0|false)$/i.test(asked);
}

type Send = (verdict: RangeVerdict, headers: Record<string, string>) => Promise<Response>;

/** The answer to the request's conditions and range; `send` makes the one that has the bytes. */
async function serve(deps: DownloadDeps, ctx: RequestContext, shown: Shown, send: Send): Promise<Response> {
  const { method, headers: asked } = ctx.request;
  const etag = `"${shown.sha256}"`;
  const verdict = evaluateRequest({
    method,
    headers: asked,
    etag,
    last_modified_ms: shown.created_at,
    size_bytes: shown.size_bytes,
  });
  const headers = objectHeaders(deps.clock.now(), shown, etag, isToBeSaved(ctx.url.searchParams));
  if (verdict.status === 304) return new Response(null, { status: 304, headers });
  if (verdict.status === 412) {
    return Response.json(
      { success: false, message: 'A precondition of the request does not hold.' },
      { status: 412 },
    );
  }
  if (verdict.status === 416) {
    return Response.json(
      {
        success: false,
        message: `The range asks for none of the ${shown.size_bytes} bytes that are there.`,
      },
      {
        status: 416,
        headers: { 'Content-Range': `bytes */${shown.size_bytes}`, 'Accept-Ranges': 'bytes' },
      },
    );
  }
  const { status, start, end } = verdict;
  if (status === 206) headers['Content-Range'] = `bytes ${start}-${end - 1}/${shown.size_bytes}`;
  return send(verdict, headers);
}

function sendObject(deps: DownloadDeps, ctx: RequestContext, row: ObjectRow): Send {
  return async ({ status, start, end }, headers) => {
    const { size_bytes } = row;
    // What the store holds was checked as it came: only its bytes are asked for there.
    if (ctx.request.method === 'HEAD' && row.store === 's3') {
      return new Response(null, {
        status: 200,
        headers: { ...headers, 'Content-Length': String(size_bytes) },
      });
    }
    const link = await linkFor(deps, ctx.request, row, headers);
    if (link !== null) {
      const Location = link;
      return new Response(null, { status: 302, headers: { Location, 'Cache-Control': 'private, no-store' } });
    }
    // A large file takes longer than an idle time-out allows when its reader is slow.
    ctx.keepOpen();
    // Given for a HEAD too: the server sends only its length.
    const bytes =
      status === 206
        ? await deps.bytes.read(row, { start, end, size_bytes })
        : await deps.bytes.readWhole(row);
    const body =
      bytes instanceof ReadableStream
        ? told(bytes, (reason) =>
            deps.logger.warn('a download broke off', { public_id: row.public_id, reason }),
          )
        : bytes;
    return new Response(body, { status, headers });
  };
}

/** The same bytes. A break ends the connection; the runtime gets no error, and so prints none. */
function told(
  bytes: ReadableStream<Uint8Array>,
  onBreak: (reason: string) => void,
): ReadableStream<Uint8Array> {
  const reader = bytes.getReader();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          onBreak(error instanceof StoreFault ? error.reason : messageOf(error));
          controller.error();
        }
      },
      cancel: () => reader.cancel(),
    },
    { highWaterMark: 0 },
  );
}

/** A link of the store to large bytes, to fetch there. Pages of other origins could not follow it. */
async function linkFor(
  { bytes, clock, config }: DownloadDeps,
  { method, headers: asked }: Request,
  row: ObjectRow,
  headers: Record<string, string>,
): Promise<string | null> {
  const least = config.object_redirect_bytes;
  if (!bytes.store || row.store !== 's3' || least === null || row.size_bytes <= least) return null;
  if (method !== 'GET' || asked.has('origin')) return null;
  const left_s = row.expires_at === null ? STORE_LINK_S : Math.floor((row.expires_at - clock.now()) / 1000);
  return bytes.store.linkTo(row.public_id, {
    expires_s: Math.max(1, Math.min(left_s, STORE_LINK_S)),
    headers: {
      'content-type': servedTypeOf(row),
      'content-disposition': headers['Content-Disposition'] ?? 'attachment',
      'cache-control': 'private, no-store',
    },
  });
}

function objectHeaders(now_ms: number, row: Shown, etag: string, download: boolean): Record<string, string> {
  const left_s = row.expires_at === null ? OBJECT_MAX_AGE_S : Math.floor((row.expires_at - now_ms) / 1000);
  return {
    'Content-Type': servedTypeOf(row),
    'Content-Disposition': dispositionFor({
      mime_type: row.mime_type,
      filename: row.original_filename,
      download,
    }),
    'Content-Security-Policy': contentSecurityPolicyFor(row.mime_type),
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control':
      row.visibility === 'public'
        ? `public, max-age=${Math.max(0, Math.min(left_s, OBJECT_MAX_AGE_S))}`
        : 'private, no-store',
    ETag: etag,
    'Last-Modified': new Date(row.created_at).toUTCString(),
    'Accept-Ranges': 'bytes',
  };
}
