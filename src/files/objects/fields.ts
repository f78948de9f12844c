/** The fields of an upload form beside its file: text as forms send it, read and judged. */
import { type FieldErrors, refuseAll } from '../../errors.ts';
import { MAX_EXPIRES_IN_DAYS, MIN_EXPIRES_IN_DAYS } from '../../limits.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import { parseDateTime } from '../../platform/http/schema.ts';
import type { Visibility } from './tables.ts';

/**
 * What the fields ask for; a blank field, as forms send it, counts as omitted. Throws AppError `invalid` with what is wrong
 * here and what was found wrong before.
 */
export function readUploadFields(
  fields: Readonly<Record<string, string>>,
  now_ms: number,
  found: FieldErrors = {},
): { visibility: Visibility; expires_at: number | null } {
  const errors: FieldErrors = { ...found };
  const given = (name: string): string | null =>
    Object.hasOwn(fields, name) ? fields[name]?.trim() || null : null;
  const visibility = given('visibility') ?? 'private';
  if (visibility !== 'public' && visibility !== 'private')
    errors.visibility = ['must be one of: public, private'];
  const days = given('expires_in_days');
  const day_count = days !== null && /^\d{1,6}$/.test(days) ? Number(days) : Number.NaN;
  if (days !== null && !(day_count >= MIN_EXPIRES_IN_DAYS && day_count <= MAX_EXPIRES_IN_DAYS)) {
    errors.expires_in_days = [`must be a whole number from ${MIN_EXPIRES_IN_DAYS} to ${MAX_EXPIRES_IN_DAYS}`];
  }
  const at = given('expires_at');
  const at_ms = at === null ? null : parseDateTime(at);
  if (at !== null && at_ms === null)
    errors.expires_at = ['must be an ISO 8601 date-time, such as 2030-01-31T09:00:00Z'];
  else if (at_ms !== null && at_ms <= now_ms) errors.expires_at = ['must be in the future'];
  refuseAll(errors);
  return {
    visibility: visibility === 'public' ? 'public' : 'private',
    expires_at: at_ms ?? (days === null ? null : now_ms + day_count * DAY_MS),
  };
}
