/**
 * The one error type that crosses layers. A service throws an AppError; platform/http/answers.ts makes a body
 * of it. Anything else that is thrown counts as `internal`, and no client sees it.
 */

/** Kind of failure -> HTTP status: the only such table. */
const STATUS_OF_KIND = {
  unsupported: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405, // of paths that speak for another's API: ours answer 404
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_type: 415,
  invalid: 422,
  locked: 423,
  rate_limited: 429,
  checksum_mismatch: 460, // of the tus protocol
  internal: 500,
  upstream_failed: 502,
  unavailable: 503,
} as const;

export type ErrorKind = keyof typeof STATUS_OF_KIND;

/** Messages by field name; `_` holds what concerns the request as a whole. Never holds a submitted value. */
export type FieldErrors = Record<string, string[]>;

/** What mends a failure. The message says the command, too: it comes behind one that ends with a colon. */
export interface Remedy {
  /** What it is about: a noun in the singular, such as `mailbox`. A page knows the place of that. */
  code: string;
  /** The name, address or id of the one that is meant; null where it is none by itself. */
  ref: string | null;
  /** What does it in a shell; null where none does. */
  command: string | null;
}

export interface AppErrorOptions {
  /** The contract's code, where it names one (`SLUG_ALREADY_EXISTS`, `list_archived`). */
  code?: string;
  /** Extra facts for the client: spread into a data-plane body, `error.details` on the management plane. */
  details?: Record<string, unknown>;
  /** Validation messages by field. */
  errors?: FieldErrors;
  remedy?: Remedy;
  /** Seconds after which a retry makes sense; becomes the Retry-After header. */
  retry_after_s?: number;
  /** Headers of the answer. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

export class AppError extends Error {
  readonly kind: ErrorKind;
  readonly code: string | undefined;
  readonly details: Record<string, unknown> | undefined;
  readonly errors: FieldErrors | undefined;
  readonly remedy: Remedy | undefined;
  readonly retry_after_s: number | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(kind: ErrorKind, message: string, options: AppErrorOptions = {}) {
    const { command = null } = options.remedy ?? {};
    super(command !== null && message.endsWith(':') ? `${message} ${command}` : message, {
      cause: options.cause,
    });
    this.name = 'AppError';
    this.kind = kind;
    this.code = options.code;
    this.details = options.details;
    this.errors = options.errors;
    this.remedy = options.remedy;
    this.retry_after_s = options.retry_after_s;
    this.headers = options.headers ?? {};
  }

  get status(): number {
    return STATUS_OF_KIND[this.kind];
  }
}

/**
 * 422 with messages by field. The summary is the first of them, for clients that show only `message`. A remedy is left out where no
 * message says it.
 */
export function invalid(
  errors: FieldErrors,
  { remedy, ...options }: Omit<AppErrorOptions, 'errors'> = {},
): AppError {
  const is_said = Object.values(errors).some((all) =>
    all.some((each) => each.includes(remedy?.command ?? '')),
  );
  const failed = Object.entries(errors);
  const [field, messages] = failed[0] ?? ['_', ['The request is not valid.']];
  const first = `${field === '_' ? '' : `${field}: `}${messages[0] ?? 'is not valid'}`;
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  return new AppError('invalid', `${first}${more}`, {
    ...options,
    errors,
    ...(remedy && is_said && { remedy }),
  });
}

/** Throws AppError `invalid` where anything was found. */
export function refuseAll(errors: FieldErrors, options: Omit<AppErrorOptions, 'errors'> = {}): void {
  if (Object.keys(errors).length > 0) throw invalid(errors, options);
}

/** The messages by field of all checks that refuse. Other kinds of failures are left out. */
export function collectErrors(...checks: readonly (() => unknown)[]): FieldErrors {
  const errors: FieldErrors = {};
  for (const check of checks) {
    try {
      check();
    } catch (error) {
      if (!(error instanceof AppError) || error.kind !== 'invalid') continue;
      for (const [field, messages] of Object.entries(error.errors ?? {})) errors[field] ??= messages;
    }
  }
  return errors;
}

/** 404 for what is missing and for what is another tenant's. `lister` is the command that lists. */
export function notFound(noun: string, lister?: string): AppError {
  if (lister === undefined) return new AppError('not_found', `${noun} not found.`);
  const remedy = toDo(noun.toLowerCase().replaceAll(' ', '_'), lister);
  return new AppError('not_found', `${noun} not found. Those there are:`, { remedy });
}

/** A remedy, for the options of an AppError. */
export function toDo(code: string, command: string | null, ref: string | null = null): Remedy {
  return { code, ref, command };
}

export function conflict(message: string, options: AppErrorOptions = {}): AppError {
  return new AppError('conflict', message, options);
}

export function forbidden(message: string, options: AppErrorOptions = {}): AppError {
  return new AppError('forbidden', message, options);
}

/** The message of an unknown thrown value, for logs and operator output. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code that the system or a library gave a thrown value, such as ENOENT; null where there is none. */
export function errorCodeOf(error: unknown): string | null {
  const has_code = typeof error === 'object' && error !== null && 'code' in error;
  return has_code && typeof error.code === 'string' ? error.code : null;
}
