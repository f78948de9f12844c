/** Reading JSON bodies and small forms: bounded in bytes, time and depth, with errors that help. */
import { AppError, invalid } from '../../errors.ts';
import { isPlainObject } from './schema.ts';

/** Decision: JSON nested deeper is 422. */
const MAX_JSON_DEPTH = 64;
/** Decision: members of objects and items of arrays in one JSON body; real ones have hundreds. */
export const MAX_JSON_MEMBERS = 10_000;
/** A JSON body is small: a client that needs longer is stalled. */
const JSON_BODY_DEADLINE_MS = 30_000;
/** Fields of a page's form: pages of ours have a handful, and mail programs add their own. */
const MAX_FORM_FIELDS = 1_000;

const EMPTY = new Uint8Array(0);

/** The bytes of a body. Throws AppError `invalid` when it is too large, cut off, or too late. */
export async function readBody(
  request: Request,
  max_bytes: number,
  refuse: (message: string) => AppError = (message) => invalid({ _: [message] }),
  deadline_ms = JSON_BODY_DEADLINE_MS,
): Promise<Uint8Array> {
  const tooLarge = () => refuse(`The body is larger than the ${max_bytes} bytes that are allowed here.`);
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > max_bytes) throw tooLarge();
  if (announced > 0) return readAnnounced(request, deadline_ms);
  if (!request.body) return EMPTY;
  const reader = request.body.getReader();
  let is_late = false;
  const timer = setTimeout(() => {
    is_late = true;
    reader.cancel().catch(() => {});
  }, deadline_ms);
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      // A reader that was cancelled looks just like one that came to the end.
      if (is_late) throw tooSlow(deadline_ms);
      if (done) break;
      size += value.byteLength;
      if (size > max_bytes) throw tooLarge();
      chunks.push(value);
    }
    const [only] = chunks;
    return chunks.length === 1 && only ? only : Buffer.concat(chunks);
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw cutOff(error);
  } finally {
    clearTimeout(timer);
  }
}

/** As `readBody`, where little is enough. Throws AppError `too_large` instead. */
export async function readSmallBody(
  request: Request,
  max_bytes: number,
  deadline_ms?: number,
): Promise<Uint8Array> {
  return readBody(request, max_bytes, (message) => new AppError('too_large', message), deadline_ms);
}

/**
 * A body whose announced length is allowed. The server takes no more, and reading it at once costs a fraction
 * of a stream.
 */
async function readAnnounced(request: Request, deadline_ms: number): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooSlow(deadline_ms)), deadline_ms);
  const body = request.bytes().catch((error: unknown) => Promise.reject(cutOff(error)));
  try {
    return await Promise.race([body, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(deadline_ms: number): AppError {
  return invalid({ _: [`The body was not complete within ${deadline_ms / 1000} s.`] });
}

function cutOff(cause: unknown): AppError {
  return invalid({ _: ['The body was cut off before its end.'] }, { cause });
}

/** Checked before it is parsed, as with JSON. */
function refuseManyFields(raw: Uint8Array, type: string): void {
  const separator = /^multipart\//i.test(type) ? '\n--' : '&';
  const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
  let fields = 1;
  for (let at = bytes.indexOf(separator); at >= 0; at = bytes.indexOf(separator, at + 1)) {
    fields += 1;
    if (fields > MAX_FORM_FIELDS) throw invalid({ _: [`The form has more than ${MAX_FORM_FIELDS} fields.`] });
  }
}

/** A JSON object; an empty body counts as `{}`. Throws AppError `invalid` for anything else. */
export function parseJsonObject(raw: Uint8Array): Record<string, unknown> {
  const value = parseJson(raw);
  if (!isPlainObject(value)) throw invalid({ _: ['The body must be a JSON object.'] });
  return value;
}

/** Any JSON, as `parseJsonObject`. */
export function parseJson(raw: Uint8Array, max_members = MAX_JSON_MEMBERS): unknown {
  // Checked before it is parsed: parsing a hostile body takes more than linear time.
  refuseSprawling(raw, max_members);
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
    return text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    throw invalid({ _: ['The body is not valid JSON (UTF-8).'] });
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const BRACKET = { open: 0x5b, close: 0x5d };
const BRACE = { open: 0x7b, close: 0x7d };

/**
 * Throws AppError `invalid` for a body with too many members and items or too deep nesting, in one pass over
 * its bytes. Means nothing for a body that is no JSON.
 */
function refuseSprawling(raw: Uint8Array, max_members: number): void {
  let count = 0;
  let depth = 0;
  let is_in_string = false;
  // Commas count members. The first member of an object or array has none, so it counts as that begins.
  let is_empty = false;
  for (let at = 0; at < raw.length; at += 1) {
    const byte = raw[at] ?? 0;
    if (is_in_string) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) is_in_string = false;
      continue;
    }
    // White space and other control characters.
    if (byte <= 0x20) continue;
    const closes = byte === BRACKET.close || byte === BRACE.close;
    if (byte === COMMA || (is_empty && !closes)) count += 1;
    is_empty = byte === BRACKET.open || byte === BRACE.open;
    if (is_empty) depth += 1;
    else if (closes) depth -= 1;
    else if (byte === QUOTE) is_in_string = true;
    if (count > max_members)
      throw invalid({ _: [`The body has more than ${max_members} members and items in all.`] });
    if (depth > MAX_JSON_DEPTH)
      throw invalid({ _: [`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`] });
  }
}

/**
 * The text fields of a form, of both types that browsers and one-click unsubscribing (RFC 8058) send. An
 * empty body has none; of a repeated name the last counts. Throws AppError `invalid`, and `too_large`.
 */
export async function readForm(request: Request, max_bytes: number): Promise<Record<string, string>> {
  const raw = await readSmallBody(request, max_bytes);
  if (raw.length === 0) return {};
  const type = request.headers.get('content-type') ?? '';
  const headers = { 'Content-Type': type };
  refuseManyFields(raw, type);
  const form = await new Response(raw, { headers }).formData().catch(() => {
    throw invalid({ _: ['The body is no form (application/x-www-form-urlencoded).'] });
  });
  return Object.fromEntries(
    [...form].filter((field): field is [string, string] => typeof field[1] === 'string'),
  );
}
