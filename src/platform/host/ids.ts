/** Public ids: 26-character ULIDs, time-sortable, and monotonic within one process. */
import { decodeTime, encodeTime, monotonicFactory } from 'ulid';

const next = monotonicFactory();
const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/i;

/** A new ULID for a moment (epoch milliseconds). Later calls in this process sort after earlier ones. */
export function newId(now_ms: number): string {
  return next(now_ms);
}

/** Whether a string has the shape of a ULID. Callers look ids up in upper case, the canonical form. */
export function isUlid(value: string): boolean {
  return ULID.test(value);
}

/** When a ULID was made, in epoch milliseconds. */
export function timeOf(id: string): number {
  return decodeTime(id);
}

/**
 * The least id of a moment: later things have greater ids. The reverse need not hold, as ids never go back,
 * and run ahead of a clock that was set back.
 */
export function firstIdOf(ms: number): string {
  // An id can't tell a time before 1970, and nothing is that old.
  return encodeTime(Math.max(ms, 0), 10);
}

/** How a record is named: by one of its two ids. */
export type RecordRef = { id: number } | { public_id: string };

/** A numeric id or a ULID, or null for what is neither. */
export function readRef(ref: string | number): RecordRef | null {
  const text = String(ref);
  if (/^\d{1,15}$/.test(text)) return { id: Number(text) };
  return isUlid(text) ? { public_id: text.toUpperCase() } : null;
}
