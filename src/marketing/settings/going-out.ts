/** When marketing mail of a project may go out: what its settings must hold, its window, its daily cap. Pure functions. */
import { DAY_MS } from '../../platform/host/clock.ts';
import type { Settings } from './schemas.ts';
import { isOpen, nextOpening } from './window.ts';

/** What is missing from the settings so that mail has to wait, in words; null where nothing is. */
export function lackOf({ enabled, from_name, postal_address }: Settings): string | null {
  if (!enabled) return 'marketing to be enabled in the settings';
  if (from_name === null) return 'the marketing settings to have a from_name';
  return postal_address === null ? 'the marketing settings to have a postal_address' : null;
}

/** The moment until which no mail may go; null where it may now. For ever while something is missing. */
export function shutUntil(
  settings: Settings,
  /** `used_today` counts towards the daily cap of the UTC day; it is not asked where there is none. */
  of: { now_ms: number; is_test: boolean; have_links_a_place: boolean; usedToday(): number },
): number | null {
  const { now_ms, is_test } = of;
  if (lackOf(settings) !== null) return Number.POSITIVE_INFINITY;
  // A relay was added, or the public URL removed, while it ran: nobody gets mail whose unsubscribe link does not work.
  if (!is_test && !of.have_links_a_place) return Number.POSITIVE_INFINITY;
  if (!isOpen(settings, now_ms)) return nextOpening(settings, now_ms);
  const is_used_up = settings.daily_cap !== null && !is_test && of.usedToday() >= settings.daily_cap;
  return is_used_up ? now_ms - (now_ms % DAY_MS) + DAY_MS : null;
}
