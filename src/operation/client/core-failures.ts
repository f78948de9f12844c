/** What goes wrong with a request of a client, as one kind of error. See core.ts. */

/** What went wrong, in the API's own words. It holds nothing of the request, and so no key. */
export class SatchelError extends Error {
  /** Of the answer; 0 where there was none. */
  readonly status: number;
  /**
   * The API's word for it, where it has one; `unanswered` where nothing
   * answered, `elsewhere` and `not_json` where something else than Satchel did.
   */
  readonly code: string | null;
  /** Messages by field; `_` holds what concerns the request as a whole. */
  readonly errors: Readonly<Record<string, readonly string[]>>;
  /** What else the failure says. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The name of the request in the log of the server. */
  readonly requestId: string | null;
  /** Seconds after which another try makes sense. */
  readonly retryAfter: number | null;

  /** `body` is what was answered. */
  constructor(
    status: number,
    body: unknown,
    about: { requestId?: string | null; retryAfter?: number | null; cause?: unknown } = {},
  ) {
    const { success, message, code, errors, ...details } = readFailure(body);
    super(typeof message === 'string' ? message : `The server answered ${status} without saying why.`);
    this.name = 'SatchelError';
    this.status = status;
    this.code = typeof code === 'string' ? code : null;
    this.errors = readErrors(errors);
    this.details = details;
    this.requestId = about.requestId ?? null;
    this.retryAfter = about.retryAfter ?? null;
    if (about.cause !== undefined) this.cause = about.cause;
  }
}

/** Both envelopes: `{message, code, errors}`, and the management plane's `{error: {…}}`. */
function readFailure(body: unknown): Record<string, unknown> {
  if (!isObject(body)) return {};
  const { error } = body;
  if (!isObject(error)) return body;
  const { details, ...told } = error;
  return { ...(isObject(details) ? details : {}), ...told };
}

function readErrors(errors: unknown): Record<string, string[]> {
  if (!isObject(errors)) return {};
  return Object.fromEntries(
    Object.entries(errors).map(([field, told]) => [
      field,
      Array.isArray(told) ? told.map(String) : [String(told)],
    ]),
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether Satchel itself did not answer. Where a proxy stands before it, that says so. */
export function isUnanswered({ status, code, requestId }: SatchelError): boolean {
  return status === 0 ? code === 'unanswered' : requestId === null && status >= 502 && status <= 504;
}

const ELSEWHERE = 'The server says that this is at another address. Is url the address of a Satchel?';

/** Of an answer that is none. */
export async function failureOf(response: Response): Promise<SatchelError> {
  const { status, headers } = response;
  const text = await response.text().catch(() => '');
  const told = status < 400 ? { code: 'elsewhere', message: ELSEWHERE } : parse(text);
  return new SatchelError(status, told, {
    requestId: headers.get('x-request-id'),
    retryAfter: retryAfterOf(headers),
  });
}

/** Undefined where it is no JSON. */
export function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds, or a moment by the clock of who answers. */
function retryAfterOf(headers: Headers): number | null {
  const told = headers.get('retry-after') ?? '';
  if (/^\d+$/.test(told)) return Number(told);
  const wait_ms = Date.parse(told) - Date.parse(headers.get('date') ?? '');
  return Number.isFinite(wait_ms) ? Math.max(0, Math.ceil(wait_ms / 1000)) : null;
}
