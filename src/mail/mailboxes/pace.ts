/**
 * How fast mail may leave a mailbox, by the rate that is set and by what its relay has taught
 * (`learning.ts`): pure functions over a row and a moment.
 */
import { PACE_CLIENT_WAIT_MS } from '../../limits.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import { gapOfSpeed, heldUntil, opensByWait, probedAt, remembered } from './learning.ts';
import type { Pace } from './store.ts';

/** Decision: mails a second, a minute or an hour that a mailbox's rate may name at most. */
const MAX_MAILBOX_RATE = 10_000;

/** At most `count` mails in any `unit_ms`. */
export interface Rate {
  count: number;
  unit_ms: number;
}

export const RATE_FORM = `N/s, N/m or N/h, with N from 1 to ${MAX_MAILBOX_RATE}, such as 14/s`;

const UNITS_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS };

/** Null for what is no rate. */
export function parseRate(text: string): Rate | null {
  const [, digits, unit = ''] = /^([1-9]\d{0,4})\/([smh])$/.exec(text) ?? [];
  const [count, unit_ms] = [Number(digits), UNITS_MS[unit]];
  return unit_ms === undefined || count > MAX_MAILBOX_RATE ? null : { count, unit_ms };
}

/**
 * How far mail may fall behind its even spacing and catch up: timers and commits are some milliseconds late.
 */
const CATCH_UP_MS = 20;
/**
 * A second's mails are spread over this much more, for catching up and for mails that take longer than others
 * to the relay.
 */
const SPARE_MS = 50;
/** A minute or an hour is counted in so many slices. */
const SLICES = 60;

/**
 * When the next mail may go, in epoch milliseconds: at once where that is not later than now. One that
 * somebody waits for is held to the rate alone.
 */
export function opensAt(
  pace: Pace,
  rate: Rate | null,
  now_ms: number,
  options = { is_waited_for: false },
): number {
  const known = remembered(pace, now_ms);
  const gap_ms = options.is_waited_for ? gapOf(rate) : gapBetween(known, rate);
  const waited = options.is_waited_for ? 0 : opensByWait(known, now_ms);
  // No turn lies further ahead, unless the clock was set back.
  const turn_at = pace.turn_at > now_ms + PACE_CLIENT_WAIT_MS ? 0 : pace.turn_at;
  const spaced = gap_ms === 0 ? 0 : turn_at + gap_ms - CATCH_UP_MS;
  return Math.ceil(Math.max(spaced, waited, roomAt(pace, rate, now_ms)));
}

/** How it stands after one more mail, which goes at `at`. */
export function afterMail(pace: Pace, rate: Rate | null, at: number): Pace {
  const known = remembered(pace, at);
  const turn_at = Math.max(Math.min(pace.turn_at + gapBetween(known, rate), at + CATCH_UP_MS), at);
  const after = { ...pace, turn_at, probed_at: probedAt(known, at) };
  if (!isCounted(rate)) return { ...after, sent: [] };
  const slice = Math.floor(at / sliceOf(rate));
  const sent = pace.sent.filter(([one]) => one < slice && isLive(one, rate, at));
  const [, count = 0] = pace.sent.find(([one]) => one === slice) ?? [];
  return { ...after, sent: [...sent, [slice, count + 1]] };
}

/** How many of up to `most` mails may go now. */
export function roomOf(pace: Pace, rate: Rate | null, asked: { now_ms: number; most: number }): number {
  const { now_ms, most } = asked;
  let room = 0;
  for (let after = pace; room < most && opensAt(after, rate, now_ms) <= now_ms; room += 1)
    after = afterMail(after, rate, now_ms);
  return room;
}

/**
 * For ten minutes from a refusal, and while it waits: what a mailbox may send, since when it was refused, and
 * in which words. Null where it was refused nothing of late. Times are epoch milliseconds.
 */
export function tellPace(pace: Pace, rate: Rate | null, now_ms: number) {
  const known = remembered(pace, now_ms);
  const { allowed, speed, since, words, is_probing } = known;
  if (since === null || words === null) return null;
  const learned = is_probing ? allowed : (speed ?? allowed);
  const a_minute = Math.min(((learned ?? 0) * MINUTE_MS) / SECOND_MS, perMinuteOf(rate));
  return {
    allowed: allowed === null ? null : tellRate(a_minute),
    since,
    words,
    waits_until: heldUntil(known, now_ms),
  };
}

/** As a rate is written, to the nearest: by the minute, unless that is very many or none. */
function tellRate(per_minute: number): string {
  if (per_minute >= 600) return `${Math.round(per_minute / 60)}/s`;
  return per_minute >= 1 ? `${Math.round(per_minute)}/m` : `${Math.max(1, Math.round(per_minute * 60))}/h`;
}

function perMinuteOf(rate: Rate | null): number {
  return rate === null ? Number.POSITIVE_INFINITY : (rate.count * MINUTE_MS) / rate.unit_ms;
}

/** Milliseconds from one mail to the next; 0 where none keeps any distance. */
function gapBetween(known: Pace, rate: Rate | null): number {
  return Math.max(gapOfSpeed(known), gapOf(rate));
}

/** Milliseconds from one mail to the next by a rate: 0 unless it is one by the second. */
export function gapOf(rate: Rate | null): number {
  return rate?.unit_ms === SECOND_MS ? (SECOND_MS + SPARE_MS) / rate.count : 0;
}

/**
 * Mails of a minute or an hour may go all at once; those of a second keep their distance instead of being
 * counted.
 */
function isCounted(rate: Rate | null): rate is Rate {
  return rate !== null && rate.unit_ms > SECOND_MS;
}

function sliceOf({ unit_ms }: Rate): number {
  return unit_ms / SLICES;
}

/**
 * When everything of a slice is longer ago than the unit. One slice more is left for what took long to reach
 * the relay.
 */
function endOf(slice: number, rate: Rate): number {
  return (slice + 2) * sliceOf(rate) + rate.unit_ms;
}

function isLive(slice: number, rate: Rate, now_ms: number): boolean {
  return slice * sliceOf(rate) <= now_ms && endOf(slice, rate) > now_ms;
}

/** When so many of the counted mails are out of the unit that one more may go. */
function roomAt({ sent }: Pace, rate: Rate | null, now_ms: number): number {
  if (!isCounted(rate)) return 0;
  const live = sent.filter(([slice]) => isLive(slice, rate, now_ms));
  let count = live.reduce((sum, [, n]) => sum + n, 0);
  let opens_at = 0;
  for (const [slice, n] of live) {
    if (count < rate.count) break;
    count -= n;
    opens_at = endOf(slice, rate);
  }
  return opens_at;
}
