/** Reading JSON bodies and small forms: bounded in bytes, time and depth, with errors that a client can act on. */
import { AppError, invalid } from '../../errors.ts';
import { JSON_BODY_DEADLINE_MS, MAX_JSON_DEPTH } from '../../limits.ts';
import { isPlainObject } from './schema.ts';

const EMPTY = new Uint8Array(0);

/**
 * The bytes of a body. Throws AppError `invalid` when it is larger than `max_bytes`, cut off, or not there within the
 * deadline.
 */
export async function readBody(
  request: Request,
  max_bytes: number,
  refuse: (message: string) => AppError = (message) => invalid({ _: [message] }),
): Promise<Uint8Array> {
  const tooLarge = () => refuse(`The body is larger than the ${max_bytes} bytes that are allowed here.`);
  const announced = Number(request.headers.get('content-length') ?? 0);
  if (announced > max_bytes) throw tooLarge();
  if (announced > 0) return readAnnounced(request);
  if (!request.body) return EMPTY;
  const reader = request.body.getReader();
  let is_late = false;
  const timer = setTimeout(() => {
    is_late = true;
    reader.cancel().catch(() => {});
  }, JSON_BODY_DEADLINE_MS);
  try {
    const chunks: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const { done, value } = await reader.read();
      // A cancelled reader ends just like a complete one.
      if (is_late) throw tooSlow();
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
export async function readSmallBody(request: Request, max_bytes: number): Promise<Uint8Array> {
  return readBody(request, max_bytes, (message) => new AppError('too_large', message));
}

/**
 * A body whose length is known to be allowed: the server takes no more than was announced, and reading it at once costs
 * a fraction of a stream.
 */
async function readAnnounced(request: Request): Promise<Uint8Array> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(tooSlow()), JSON_BODY_DEADLINE_MS);
  const body = request.bytes().catch((error: unknown) => Promise.reject(cutOff(error)));
  try {
    return await Promise.race([body, late]);
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(): AppError {
  return invalid({ _: [`The body was not complete within ${JSON_BODY_DEADLINE_MS / 1000} s.`] });
}

function cutOff(cause: unknown): AppError {
  return invalid({ _: ['The body was cut off before its end.'] }, { cause });
}

/** A JSON object; an empty body counts as `{}`. Throws AppError `invalid` for anything else. */
export function parseJsonObject(raw: Uint8Array): Record<string, unknown> {
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(raw);
    value = text.trim() === '' ? {} : JSON.parse(text);
  } catch {
    throw invalid({ _: ['The body is not valid JSON (UTF-8).'] });
  }
  if (!isPlainObject(value)) throw invalid({ _: ['The body must be a JSON object.'] });
  if (isDeeperThan(value, MAX_JSON_DEPTH))
    throw invalid({ _: [`The body is nested deeper than ${MAX_JSON_DEPTH} levels.`] });
  return value;
}

/**
 * The text fields of a form, of both types that browsers and one-click unsubscribing (RFC 8058) send; an empty body has none.
 * Of a name that is there twice, the last one counts. Throws AppError `invalid`.
 */
export async function readForm(request: Request, max_bytes: number): Promise<Record<string, string>> {
  const raw = await readBody(request, max_bytes);
  if (raw.length === 0) return {};
  const headers = { 'Content-Type': request.headers.get('content-type') ?? '' };
  const form = await new Response(raw, { headers }).formData().catch(() => {
    throw invalid({ _: ['The body is no form (application/x-www-form-urlencoded).'] });
  });
  return Object.fromEntries(
    [...form].filter((field): field is [string, string] => typeof field[1] === 'string'),
  );
}

/** Level by level rather than by recursion, so that hostile nesting cannot exhaust the stack. */
function isDeeperThan(root: object, max_depth: number): boolean {
  let level: object[] = [root];
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > max_depth) return true;
    const next: object[] = [];
    for (const node of level) {
      for (const child of Object.values(node)) {
        if (typeof child === 'object' && child !== null) next.push(child);
      }
    }
    level = next;
  }
  return false;
}
