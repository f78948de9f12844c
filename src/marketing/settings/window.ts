/**
 * When marketing mail of a project may go out: what it lacks for that, its daily cap, and its window of
 * hours in a time zone, also over midnight and through daylight saving. Pure functions.
 */

import type { MailboxDnsCheck } from '../../mail/sending-domains/service.ts';
import { DAY_MS, MINUTE_MS } from '../../platform/host/clock.ts';
import type { Settings } from './schemas.ts';

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
  // A relay may have been added, or the public URL removed: no mail leaves whose unsubscribe link fails.
  if (!is_test && !of.have_links_a_place) return Number.POSITIVE_INFINITY;
  if (!isOpen(settings, now_ms)) return nextOpening(settings, now_ms);
  const is_used_up = settings.daily_cap !== null && !is_test && of.usedToday() >= settings.daily_cap;
  return is_used_up ? now_ms - (now_ms % DAY_MS) + DAY_MS : null;
}

/** `HH:MM` both, in `timezone`; null together: always. A start after the end crosses midnight. */
export interface SendWindow {
  send_window_start: string | null;
  send_window_end: string | null;
  timezone: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes since local midnight. */
function localMinutes(at_ms: number, timezone: string): number {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(timezone, format);
  }
  const [hour = 0, minute = 0] = format.format(at_ms).split(':').map(Number);
  return 60 * hour + minute;
}

function minutesOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return 60 * hour + minute;
}

/** True where something may go out at a moment; the start belongs to the window, the end does not. */
export function isOpen(window: SendWindow, at_ms: number): boolean {
  const { send_window_start, send_window_end, timezone } = window;
  if (send_window_start === null || send_window_end === null) return true;
  const [start, end] = [minutesOf(send_window_start), minutesOf(send_window_end)];
  const local = localMinutes(at_ms, timezone);
  return start < end ? local >= start && local < end : local >= start || local < end;
}

/**
 * The first moment at or after one at which the window is open. Local time may jump by hours and back, so it
 * is looked for by steps of what the local clock says is left, and every minute near a jump.
 */
export function nextOpening(window: SendWindow, from_ms: number): number {
  const { send_window_start, timezone } = window;
  if (send_window_start === null || isOpen(window, from_ms)) return from_ms;
  const start = minutesOf(send_window_start);
  let at_ms = from_ms - (from_ms % MINUTE_MS) + (from_ms % MINUTE_MS === 0 ? 0 : MINUTE_MS);
  // Two days hold every way in which clocks are put forward or back.
  const give_up_ms = from_ms + 2 * DAY_MS;
  while (at_ms < give_up_ms && !isOpen(window, at_ms)) {
    const left = (start - localMinutes(at_ms, timezone) + 24 * 60) % (24 * 60);
    // Up to three hours before it is due the clock is followed minute by minute: no zone jumps by more.
    at_ms += left > 3 * 60 ? (left - 3 * 60) * MINUTE_MS : MINUTE_MS;
  }
  return at_ms;
}

export interface Lack {
  /** Stable, for programs. */
  code: string;
  message: string;
}

export interface OutletFacts {
  settings: Settings;
  /** Of each mailbox that the project's marketing may go out from, where it is asked; null where all of them capture. */
  mailboxes: readonly MailboxDnsCheck[] | 'not_looked_up' | null;
  /** Why none of these mailboxes takes mail now, whatever its records; null where one does. */
  problem_of_mailboxes: string | null;
  /** Why links in its mails would lead nowhere; null where they lead here. */
  problem_of_links: string | null;
}

export const lackIf = (is_there: boolean, code: string, message: string): Lack[] =>
  is_there ? [{ code, message }] : [];

/** Of the settings: that it may go out at all, and who it is from. */
export function senderLacks({ enabled, from_name, postal_address }: Settings): Lack[] {
  return [
    ...lackIf(
      !enabled,
      'marketing_disabled',
      'Marketing is not enabled: set enabled in the marketing settings.',
    ),
    ...lackIf(from_name === null, 'no_from_name', 'The marketing settings have no from_name.'),
    ...lackIf(postal_address === null, 'no_postal_address', 'The marketing settings have no postal_address.'),
  ];
}

/** Of what it goes out from, and where its links lead. */
export function outletLacks(facts: OutletFacts): Lack[] {
  const { problem_of_links } = facts;
  return [...mailboxLacks(facts), ...lackIf(problem_of_links !== null, 'public_url', problem_of_links ?? '')];
}

function mailboxLacks({ mailboxes, problem_of_mailboxes }: OutletFacts): Lack[] {
  // The records of a mailbox that captures are not looked up, but its domain must be in use all the same.
  if (mailboxes === null)
    return lackIf(
      problem_of_mailboxes !== null,
      'no_mailbox',
      `${problem_of_mailboxes} Try it without DNS records: satchel domain trust NAME. See: satchel mailbox list`,
    );
  if (mailboxes === 'not_looked_up') return [];
  if (mailboxes.length === 0)
    return [
      {
        code: 'no_mailbox',
        message:
          'No active mailbox is for marketing: satchel mailbox add ADDRESS --smtp RELAY --for marketing',
      },
    ];
  if (mailboxes.some(({ spf, dkim, dmarc }) => spf.ok && dkim.ok && dmarc.ok)) return [];
  // Mailboxes of one domain have the same records, and so the same problems.
  const told = Map.groupBy(mailboxes, (records) => {
    const wrong = (['spf', 'dkim', 'dmarc'] as const).filter((kind) => !records[kind].ok);
    const problems = Map.groupBy(wrong, (kind) => records[kind].problem ?? 'There is no such record.');
    const words = [...problems].map(([problem, kinds]) => `${kinds.join(', ').toUpperCase()}: ${problem}`);
    return words.join(' ');
  });
  const words = [...told].map(
    ([problems, of]) => `${of.map(({ address }) => address).join(', ')}: ${problems}`,
  );
  return [
    {
      code: 'mailbox_dns',
      message: `No marketing mailbox has SPF, DKIM and DMARC in place. ${words.join(' ')} See: satchel domain verify NAME`,
    },
  ];
}
