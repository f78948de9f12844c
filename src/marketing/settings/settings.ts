/** The fields of marketing settings: merging what was sent with what there is, and judging the whole. Pure functions. */
import type { FieldErrors } from '../../errors.ts';
import { DEFAULT_BOUNCE_PAUSE_THRESHOLD_PERCENT } from '../../limits.ts';
import type { SettingsRow } from './tables.ts';

export type Settings = Omit<SettingsRow, 'project_id' | 'updated_at'>;
export type SettingsChanges = { [Field in keyof Settings]?: Settings[Field] | undefined };

/** What a project has that never set anything. */
export const DEFAULT_SETTINGS: Settings = {
  enabled: false,
  from_name: null,
  reply_to: null,
  postal_address: null,
  brand_name: null,
  brand_color: null,
  brand_logo_url: null,
  brand_website_url: null,
  daily_cap: null,
  send_window_start: null,
  send_window_end: null,
  timezone: 'UTC',
  bounce_pause_threshold_percent: DEFAULT_BOUNCE_PAUSE_THRESHOLD_PERCENT,
  accounts: [],
};

const WINDOW_TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const COLOR = /^#[0-9a-f]{6}$/i;

/** The settings after a change, and every field of them that does not fit. */
export function mergeSettings(
  current: Settings,
  changes: SettingsChanges,
): { merged: Settings; errors: FieldErrors } {
  const errors: FieldErrors = {};
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  const merged: Settings = { ...current, ...given };
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
