/** Conditional and range requests (RFC 9110, 13 and 14) as pure functions: headers to a status. */

interface RangeQuestion {
  method: string;
  headers: Headers;
  /** The strong entity tag with its quotes. */
  etag: string;
  last_modified_ms: number;
  size_bytes: number;
}

/** The bytes from `start` up to and without `end`; the whole size unless the status is 206. */
export interface RangeVerdict {
  status: 200 | 206 | 304 | 412 | 416;
  start: number;
  end: number;
}

/**
 * How a request for stored bytes is answered. Several ranges get the whole, as RFC 9110 14.2 allows. A 416
 * has a Content-Range of the size alone; any range of an empty file gets one.
 */
export function evaluateRequest(question: RangeQuestion): RangeVerdict {
  const { method, headers, size_bytes } = question;
  const whole = { start: 0, end: size_bytes };
  const refusal = evaluatePreconditions(question);
  if (refusal !== null) return { status: refusal, ...whole };
  const range = headers.get('range');
  // RFC 9110 14.2: Range has a meaning for GET alone.
  if (method !== 'GET' || range === null || !isRangeCurrent(question)) return { status: 200, ...whole };
  const span = parseRange(range, size_bytes);
  if (span === 'ignored') return { status: 200, ...whole };
  if (span === 'unsatisfiable') return { status: 416, ...whole };
  return { status: 206, ...span };
}

/** RFC 9110 13.2.2 gives the order; a header that compares tags makes the one that compares dates void. */
function evaluatePreconditions(question: RangeQuestion): 304 | 412 | null {
  const { method, headers, etag, last_modified_ms } = question;
  const is_read = method === 'GET' || method === 'HEAD';
  const modified_s = Math.floor(last_modified_ms / 1000);
  const if_match = headers.get('if-match');
  if (if_match !== null) {
    if (!listsTag(if_match, etag, 'strong')) return 412;
  } else {
    const unmodified_since_s = parseHttpDate(headers.get('if-unmodified-since'));
    if (unmodified_since_s !== null && modified_s > unmodified_since_s) return 412;
  }
  const if_none_match = headers.get('if-none-match');
  if (if_none_match !== null) {
    if (listsTag(if_none_match, etag, 'weak')) return is_read ? 304 : 412;
  } else if (is_read) {
    const modified_since_s = parseHttpDate(headers.get('if-modified-since'));
    if (modified_since_s !== null && modified_s <= modified_since_s) return 304;
  }
  return null;
}

/** If-Range asks for the part only if the client's other part is of the same bytes. */
function isRangeCurrent({ headers, etag, last_modified_ms }: RangeQuestion): boolean {
  const if_range = headers.get('if-range')?.trim();
  if (if_range === undefined) return true;
  if (/^(W\/)?"/.test(if_range)) return if_range === etag;
  return parseHttpDate(if_range) === Math.floor(last_modified_ms / 1000);
}

/** Strong comparison never matches a weak tag; weak comparison compares texts (RFC 9110 8.8.3.2). */
export function listsTag(list: string, etag: string, comparison: 'strong' | 'weak'): boolean {
  if (list.trim() === '*') return true;
  // Commas may stand inside a tag, so the list cannot simply be split.
  for (const [, weak, tag] of list.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) {
    if (tag === etag && (comparison === 'weak' || weak === undefined)) return true;
  }
  return false;
}

function parseRange(
  header: string,
  size_bytes: number,
): { start: number; end: number } | 'ignored' | 'unsatisfiable' {
  // No blanks around the dash: with them the expression would take quadratic time.
  const match = /^bytes\s*=\s*(\d*)-(\d*)$/i.exec(header.trim());
  const first = match?.[1] ?? '';
  const last = match?.[2] ?? '';
  if (first === '' && last === '') return 'ignored';
  if (first === '') {
    const length = Math.min(Number(last), size_bytes);
    return length === 0 ? 'unsatisfiable' : { start: size_bytes - length, end: size_bytes };
  }
  const start = Number(first);
  if (last !== '' && Number(last) < start) return 'ignored';
  if (start >= size_bytes) return 'unsatisfiable';
  return { start, end: last === '' ? size_bytes : Math.min(Number(last) + 1, size_bytes) };
}

/** Whole seconds since the epoch, or null where it is no HTTP date; such a header counts as absent. */
function parseHttpDate(text: string | null): number | null {
  if (text === null) return null;
  // The three forms of RFC 9110 5.6.7; only C's asctime form does not name GMT, and means it all the same.
  const is_asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/.test(text);
  if (!is_asctime && !/^[A-Z][a-z]+, [\w -]+ \d\d:\d\d:\d\d GMT$/.test(text)) return null;
  const ms = Date.parse(is_asctime ? `${text} GMT` : text);
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000);
}
