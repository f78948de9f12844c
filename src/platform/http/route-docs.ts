/** What is written down of a route. */
import type { RequestHeader } from './answers.ts';
import type { TSchema } from './schema.ts';

/** What the OpenAPI pages and the route-walk tests know of a route. */
export interface RouteDocs {
  summary: string;
  tag: string;
  /** Longer explanation, in Markdown. */
  description?: string;
  query?: TSchema;
  body?: TSchema;
  /** Shape of the success answer inside the envelope. */
  response?: TSchema;
  /** What stands beside `data` in the envelope. */
  beside?: Readonly<Record<string, TSchema>>;
  /** Whether counting of what a list holds may stop early; see pagination.ts. */
  may_be_capped?: boolean;
  /** Media type of the request body where it is not JSON. */
  consumes?: string;
  /** Media type of a success other than JSON: a file that a console's link may save; see browser.ts. */
  produces?: string;
  /** A body that works as it stands. */
  example?: unknown;
  /** Whether its successes are headers alone, whatever their status. */
  is_bodiless?: boolean;
  /** Headers of the success besides those of every answer, with what they mean. */
  headers?: Readonly<Record<string, string>>;
  /** Headers of every answer, refusals too, with their values. */
  always?: Readonly<Record<string, string>>;
  /** Headers that it reads besides those that any route of its plane does. */
  request_headers?: readonly RequestHeader[];
  /** Statuses besides its own and those that any route of its plane may answer, with what they mean. */
  also?: Readonly<Record<number, string>>;
  /** Whether it changes nothing though it is no GET: who is read-only may ask it. */
  only_reads?: boolean;
  /** Whether it honours the header Idempotency-Key. */
  is_idempotent?: boolean;
  /** Whether it honours the header If-Match; see etags.ts. */
  takes_if_match?: boolean;
  /** Fields that change by themselves, such as counters, at any depth. The record's ETag leaves them out. */
  unversioned?: readonly string[];
}
