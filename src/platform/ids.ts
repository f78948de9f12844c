/** Public ids: 26-character ULIDs, time-sortable, and monotonic within one process. */
import { monotonicFactory } from 'ulid';

const next = monotonicFactory();
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** A new ULID for the given moment (epoch milliseconds). Later calls in this process sort after earlier ones. */
export function newId(now_ms: number): string {
  return next(now_ms);
}

/** Whether a string has the shape of a ULID. Callers look ids up in upper case, the canonical form. */
export function isUlid(value: string): boolean {
  return ULID.test(value);
}
