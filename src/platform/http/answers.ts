/** How answers look: one function for each envelope family turns a value, a page or an error into a body. */
import type { AppError } from '../../errors.ts';
import { streamResponse } from './encoding.ts';
import { Page, pageMessage } from './pagination.ts';

/**
 * `core`: single resources flat. `wrapped`: `{success, data}` (jobs, email marketing). `management`:
 * `{data}`. `status`: as it is. `page`: HTML, see pages.ts. Lists and failures follow the plane.
 */
export type Family = 'core' | 'wrapped' | 'management' | 'status' | 'page';

/** A header of a request, for the documentation. */
export interface RequestHeader {
  name: string;
  description: string;
  is_required: boolean;
  example: string;
}

/** The body of a success. */
export function successBody(family: Family, value: unknown, url: URL): unknown {
  if (value instanceof Page) {
    const list = {
      message: pageMessage(value.meta, url),
      data: value.data,
      meta: value.meta,
      ...value.beside,
    };
    return family === 'management'
      ? { data: list.data, meta: list.meta, ...value.beside, message: list.message }
      : { success: true, ...list };
  }
  if (family === 'management') return { data: value };
  if (family === 'wrapped') return { success: true, data: value };
  return value;
}

/** The `data` of the management plane, from the text of a record that is as long as what it tells of. */
export function streamRecord(text: AsyncIterable<string>): Response {
  const wrapped = (async function* () {
    yield '{"data":';
    yield* text;
    yield '}';
  })();
  return streamResponse(wrapped, { 'Content-Type': 'application/json;charset=utf-8' });
}

/** Management codes of failures that name none of their own. */
const MANAGEMENT_CODES = {
  unsupported: 'UNSUPPORTED',
  unauthenticated: 'INVALID_ACCESS_TOKEN',
  forbidden: 'FORBIDDEN',
  not_found: 'NOT_FOUND',
  method_not_allowed: 'METHOD_NOT_ALLOWED',
  conflict: 'CONFLICT',
  precondition_failed: 'PRECONDITION_FAILED',
  too_large: 'TOO_LARGE',
  unsupported_type: 'UNSUPPORTED_TYPE',
  invalid: 'VALIDATION_FAILED',
  locked: 'LOCKED',
  rate_limited: 'RATE_LIMITED',
  checksum_mismatch: 'CHECKSUM_MISMATCH',
  internal: 'INTERNAL',
  upstream_failed: 'UPSTREAM_FAILED',
  unavailable: 'UNAVAILABLE',
} as const;

/** One sentence about a failure, for the client. The message of an `internal` error stays in the log. */
export function failureMessage(error: AppError): string {
  if (error.kind !== 'internal') return error.message;
  return 'Something went wrong on the server. The X-Request-Id names it in the log.';
}

/** The body of a failure. */
export function failureBody(family: Family, error: AppError): unknown {
  const message = failureMessage(error);
  if (family === 'management') {
    const details =
      error.errors || error.details
        ? { ...error.details, ...(error.errors ? { errors: error.errors } : {}) }
        : null;
    return {
      error: {
        code: error.code ?? MANAGEMENT_CODES[error.kind],
        message,
        ...(details ? { details } : {}),
        ...(error.remedy ? { remedy: error.remedy } : {}),
      },
    };
  }
  return {
    success: false,
    message,
    ...(error.code ? { code: error.code } : {}),
    ...(error.errors ? { errors: error.errors } : {}),
    ...(error.remedy ? { remedy: error.remedy } : {}),
    ...error.details,
  };
}
