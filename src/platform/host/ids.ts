/** Public ids: 26-character ULIDs, time-sortable, and monotonic within one process. */
import { encodeTime, monotonicFactory } from 'ulid';

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

/**
 * The least id of a moment. Ids never go back, so after a clock was set back they are ahead of it: what was made at or after
 * a moment has an id from there on, but not the other way round.
 */
export function firstIdOf(ms: number): string {
  // Ids know no time before 1970, and nothing is that old.
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
