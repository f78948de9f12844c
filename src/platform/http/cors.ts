/** CORS of the data plane. A key's origins decide which page may use it, not this: there are no cookies. */

/** Browsers may keep a preflight's answer for this long (Chromium's own cap is 2 h). */
const CORS_MAX_AGE_S = 7_200;

/** What a page asks for besides our own list is allowed too, as tracing and uploaders add headers: so many. */
const MAX_ASKED_HEADERS = 50;
/** One header name. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]{1,64}$/;

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const REQUEST_HEADERS =
  'Content-Type, X-API-Key, X-App-Id, X-Android-Package, X-Android-Cert, X-Request-Id, Idempotency-Key, Range, If-Match, ' +
  'If-None-Match, If-Modified-Since, If-Unmodified-Since, If-Range, Tus-Resumable, Upload-Length, Upload-Metadata, Upload-Offset, ' +
  'Upload-Checksum, X-HTTP-Method-Override';
const RESPONSE_HEADERS =
  'X-Request-Id, RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, ETag, Content-Disposition, Content-Range, ' +
  'Accept-Ranges, Idempotent-Replayed, Warning, Location, Tus-Resumable, Tus-Version, Tus-Extension, Tus-Max-Size, ' +
  'Tus-Checksum-Algorithm, Upload-Offset, Upload-Length, Upload-Metadata, Upload-Expires, Satchel-Object';

/** Whether a request is a preflight. */
export function isPreflight(request: Request): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.headers.has('origin') &&
    request.headers.has('access-control-request-method')
  );
}

/** The answer to a preflight: given without a key, since browsers send none with it. */
export function preflightResponse(request: Request): Response {
  const headers = new Headers({
    'Access-Control-Allow-Methods': METHODS,
    'Access-Control-Allow-Headers': [REQUEST_HEADERS, ...askedHeaders(request)].join(', '),
    'Access-Control-Max-Age': String(CORS_MAX_AGE_S),
  });
  setCorsHeaders(headers, request.headers.get('origin'));
  headers.append('Vary', 'Access-Control-Request-Method, Access-Control-Request-Headers');
  return new Response(null, { status: 204, headers });
}

/** The header names that a page asks for and our own list lacks, but the wildcard. */
function askedHeaders(request: Request): string[] {
  const own = new Set(REQUEST_HEADERS.toLowerCase().split(', '));
  const asked = request.headers.get('access-control-request-headers') ?? '';
  return asked
    .split(',')
    .map((name) => name.trim())
    .filter((name) => TOKEN.test(name) && name !== '*' && !own.has(name.toLowerCase()))
    .slice(0, MAX_ASKED_HEADERS);
}

/** Names the asking origin, on refusals too, so that a page can read why it was refused. */
export function setCorsHeaders(headers: Headers, origin: string | null): void {
  headers.append('Vary', 'Origin');
  if (origin === null) return;
  headers.set('Access-Control-Allow-Origin', origin);
  headers.set('Access-Control-Expose-Headers', RESPONSE_HEADERS);
}
