/** How the bytes of an object are sent: whole, in part or not at all, and with which headers. */
import { type AppError, notFound } from '../../errors.ts';
import { OBJECT_MAX_AGE_S } from '../../limits.ts';
import { contentSecurityPolicyFor, dispositionFor } from '../../platform/files/media-types.ts';
import { evaluateRequest } from '../../platform/files/ranges.ts';
import type { BlobStore } from '../../platform/files/store.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import type { RequestContext } from '../../platform/http/routes.ts';
import type { ObjectRow } from './service.ts';

export interface DownloadDeps {
  blobs: BlobStore;
  clock: Clock;
  logger: Logger;
}

/**
 * The bytes of an object, or what of them the request asks for, with all that a browser has to know of them. Throws AppError
 * `not_found` where they are missing.
 */
export function serveObject(deps: DownloadDeps, ctx: RequestContext, row: ObjectRow): Response {
  if (!deps.blobs.has(row.public_id)) throw bytesMissing(deps.logger, row.public_id);
  const { method, headers: asked } = ctx.request;
  const etag = `"${row.sha256}"`;
  const verdict = evaluateRequest({
    method,
    headers: asked,
    etag,
    last_modified_ms: row.created_at,
    size_bytes: row.size_bytes,
  });
  const headers = objectHeaders(deps.clock.now(), row, etag, ctx.url.searchParams.get('download') === '1');
  if (verdict.status === 304) return new Response(null, { status: 304, headers });
  if (verdict.status === 412) {
    return Response.json(
      { success: false, message: 'A precondition of the request does not hold.' },
      { status: 412 },
    );
  }
  if (verdict.status === 416) {
    return Response.json(
      { success: false, message: `The range asks for none of the ${row.size_bytes} bytes that are there.` },
      {
        status: 416,
        headers: { 'Content-Range': `bytes */${row.size_bytes}`, 'Accept-Ranges': 'bytes' },
      },
    );
  }
  const { start, end } = verdict;
  if (verdict.status === 206) headers['Content-Range'] = `bytes ${start}-${end - 1}/${row.size_bytes}`;
  // A large file takes longer than an idle time-out allows when its reader is slow.
  ctx.keepOpen();
  const file = deps.blobs.read(row.public_id);
  // Given for a HEAD too: the server sends only its length.
  return new Response(verdict.status === 206 ? file.slice(start, end) : file, {
    status: verdict.status,
    headers,
  });
}

function objectHeaders(
  now_ms: number,
  row: ObjectRow,
  etag: string,
  download: boolean,
): Record<string, string> {
  const left_s = row.expires_at === null ? OBJECT_MAX_AGE_S : Math.floor((row.expires_at - now_ms) / 1000);
  return {
    'Content-Type': row.mime_type,
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

/** The failure of a download whose bytes are not there though its row is. */
function bytesMissing(logger: Logger, public_id: string): AppError {
  logger.error('stored file missing', { public_id });
  return notFound('Object');
}
