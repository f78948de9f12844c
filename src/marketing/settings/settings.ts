/** Marketing settings: merging what was sent with what there is, and judging the whole. Pure functions. */
import type { FieldErrors } from '../../errors.ts';
import { merge } from '../../platform/http/fields.ts';
import { FIELDS, type Settings, type SettingsChanges } from './schemas.ts';

/** What a project has that never set anything. */
export const DEFAULT_SETTINGS: Settings = merge(FIELDS, null, {});

const WINDOW_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const COLOR = /^#[0-9a-f]{6}$/i;

/** The settings after a change, and every field of them that does not fit. */
export function mergeSettings(
  current: Settings,
  changes: SettingsChanges,
): { merged: Settings; errors: FieldErrors } {
  const errors: FieldErrors = {};
  const merged = merge(FIELDS, current, changes);
  for (const field of ['from_name', 'brand_name'] as const)
    if (/\p{Cc}/u.test(merged[field] ?? ''))
      errors[field] = ['must have no line breaks or other control characters'];
  checkWindow(merged, errors);
  if (!isTimeZone(merged.timezone)) errors.timezone = ['must be an IANA time zone, such as Europe/Berlin'];
  if (merged.brand_color !== null && !COLOR.test(merged.brand_color))
    errors.brand_color = ['must be a colour such as #1a73e8'];
  if (merged.brand_logo_url !== null && !merged.brand_logo_url.startsWith('https://'))
    errors.brand_logo_url = ['must begin with https://, or mail programs will not show it'];
  return { merged, errors };
}

function checkWindow(settings: Settings, errors: FieldErrors): void {
  const { send_window_start: start, send_window_end: end } = settings;
  for (const field of ['send_window_start', 'send_window_end'] as const) {
    const time = settings[field];
    if (time !== null && !WINDOW_TIME.test(time))
      errors[field] = ['must be a time HH:MM, from 00:00 to 23:59'];
  }
  if ((start === null) !== (end === null)) {
    const missing = start === null ? 'send_window_start' : 'send_window_end';
    errors[missing] ??= [
      'must be given together with the other end of the window; null for both means always',
    ];
  } else if (start !== null && start === end) {
    errors.send_window_end ??= ['must differ from send_window_start; null for both means always'];
  }
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
