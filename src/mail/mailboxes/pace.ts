/**
 * How fast mail may leave a mailbox, by the rate that is set and by what its relay has taught: pure functions over a row
 * and a moment. A relay that asks for less mail halves what is allowed and has the mailbox wait; each minute in which it
 * takes mail gives a tenth back.
 */
import {
  MAX_MAILBOX_RATE,
  PACE_ASKED_WAIT_MAX_MS,
  PACE_CLIENT_WAIT_MS,
  PACE_MIN_PER_MINUTE,
  PACE_WAIT_MAX_MS,
  PACE_WAIT_MIN_MS,
} from '../../limits.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import type { Pace } from './tables.ts';

/** At most `count` mails in any `unit_ms`. */
export interface Rate {
  count: number;
  unit_ms: number;
}

/** What a mailbox that is slowed is allowed, as a rate is written; since when, and in whose words. */
export interface PaceRecord {
  allowed: string;
  since: string;
  words: string;
}

export const RATE_FORM = `N/s, N/m or N/h, with N from 1 to ${MAX_MAILBOX_RATE}, such as 14/s`;

const UNITS_MS: Readonly<Record<string, number>> = { s: SECOND_MS, m: MINUTE_MS, h: HOUR_MS };

/** Null for what is no rate. */
export function parseRate(text: string): Rate | null {
  const [, digits, unit = ''] = /^([1-9]\d{0,4})\/([smh])$/.exec(text) ?? [];
  const [count, unit_ms] = [Number(digits), UNITS_MS[unit]];
  return unit_ms === undefined || count > MAX_MAILBOX_RATE ? null : { count, unit_ms };
}

/** A mailbox of which nothing was noted yet. */
export const UNPACED: Pace = {
  next_at: 0,
  sent: [],
  allowed: null,
  lifts_at: null,
  since: null,
  words: null,
  slowed_at: null,
  waits: 0,
  waits_until: 0,
  grown_at: null,
};

/** How far mail may fall behind its even spacing and catch up: timers and commits are some milliseconds late. */
const CATCH_UP_MS = 20;
/** A second's mails are spread over this much more, for catching up and for mails that take longer than others to the relay. */
const SPARE_MS = 50;
/** A minute or an hour is counted in so many slices. */
const SLICES = 60;

/** When the next mail may go, in epoch milliseconds: at once where that is not later than now. */
export function opensAt(pace: Pace, rate: Rate | null, now_ms: number): number {
  const spacing = spacingOf(pace, rate);
  // A clock that was set back makes nobody wait for longer than any mail before could have.
  const ahead_ms = spacing + PACE_CLIENT_WAIT_MS;
  const spaced = spacing === 0 ? 0 : Math.min(pace.next_at, now_ms + ahead_ms) - CATCH_UP_MS;
  const waited = Math.min(pace.waits_until, now_ms + PACE_ASKED_WAIT_MAX_MS);
  return Math.ceil(Math.max(spaced, waited, roomAt(pace, rate, now_ms)));
}

/** How it stands after one more mail, which goes at `at`. */
export function afterMail(pace: Pace, rate: Rate | null, at: number): Pace {
  const next_at = Math.max(Math.min(pace.next_at, at + CATCH_UP_MS), at) + spacingOf(pace, rate);
  if (!isCounted(rate)) return { ...pace, next_at, sent: [] };
  const slice = Math.floor(at / sliceOf(rate));
  const sent = pace.sent.filter(([one]) => one < slice && isLive(one, rate, at));
  const [, count = 0] = pace.sent.find(([one]) => one === slice) ?? [];
  return { ...pace, next_at, sent: [...sent, [slice, count + 1]] };
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
 * How it stands after its relay asked for less mail over an attempt begun at `started_at`. Attempts that were under way at
 * the last halving were answered alike and halve nothing: at most they lengthen the wait.
 */
export function slow(
  pace: Pace,
  rate: Rate | null,
  said: {
    started_at: number;
    now_ms: number;
    words: string;
    /** What the relay asked to wait for. */
    asked_ms: number | null;
    /** Mails a minute that it sent of late; asked for where neither a rate nor a slowing tells. */
    sentOf(): number;
    /** From 0 to 1. */
    random: number;
  },
): Pace {
  const { now_ms, asked_ms } = said;
  const asked_until = asked_ms === null ? 0 : now_ms + Math.min(asked_ms, PACE_ASKED_WAIT_MAX_MS);
  if (wasUnderWay(pace, said)) return { ...pace, waits_until: Math.max(pace.waits_until, asked_until) };
  const known = Math.min(pace.allowed ?? Number.POSITIVE_INFINITY, perMinuteOf(rate));
  const before = Number.isFinite(known) ? known : said.sentOf();
  const doubled_ms = Math.min(PACE_WAIT_MIN_MS * 2 ** Math.min(pace.waits, 30), PACE_WAIT_MAX_MS);
  const waits_until = asked_until || Math.round(now_ms + doubled_ms * (1 + said.random / 4));
  return {
    ...pace,
    allowed: Math.max(before / 2, PACE_MIN_PER_MINUTE),
    lifts_at: pace.lifts_at ?? before,
    since: pace.since ?? now_ms,
    words: said.words,
    slowed_at: now_ms,
    waits: pace.waits + 1,
    waits_until,
    grown_at: waits_until,
  };
}

/** How it stands after its relay took a mail. Grown to what it was before, it is slowed no more. */
export function grow(pace: Pace, rate: Rate | null, taken: { started_at: number; now_ms: number }): Pace {
  const { allowed, lifts_at } = pace;
  if (allowed === null || wasUnderWay(pace, taken)) return pace;
  if (Math.abs(taken.now_ms - (pace.grown_at ?? 0)) < MINUTE_MS)
    return pace.waits === 0 ? pace : { ...pace, waits: 0 };
  const grown = allowed * 1.1;
  if (grown >= Math.min(lifts_at ?? 0, perMinuteOf(rate))) return unslowed(pace);
  return { ...pace, allowed: grown, grown_at: taken.now_ms, waits: 0 };
}

/** What goes by the rate stays; what the relay has taught is forgotten. */
export function unslowed({ next_at, sent }: Pace): Pace {
  return { ...UNPACED, next_at, sent };
}

/** Null where it is not slowed. */
export function tellPace(
  pace: Pace,
  rate: Rate | null,
): (Omit<PaceRecord, 'since'> & { since: number }) | null {
  const { allowed, since, words } = pace;
  if (allowed === null || since === null) return null;
  return { allowed: tellRate(Math.min(allowed, perMinuteOf(rate))), since, words: words ?? '' };
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
function spacingOf({ allowed }: Pace, rate: Rate | null): number {
  const learned = allowed === null ? 0 : MINUTE_MS / allowed;
  return Math.max(learned, gapOf(rate));
}

/** Milliseconds from one mail to the next by a rate: 0 unless it is one by the second. */
export function gapOf(rate: Rate | null): number {
  return rate?.unit_ms === SECOND_MS ? (SECOND_MS + SPARE_MS) / rate.count : 0;
}

/** Mails of a minute or an hour may go all at once; those of a second keep their distance instead of being counted. */
function isCounted(rate: Rate | null): rate is Rate {
  return rate !== null && rate.unit_ms > SECOND_MS;
}

function sliceOf({ unit_ms }: Rate): number {
  return unit_ms / SLICES;
}

/** When everything of a slice is longer ago than the unit. One slice more is left for what took long to reach the relay. */
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

/** A last halving that lies ahead of now is ignored: the clock was set back. */
function wasUnderWay(
  { slowed_at }: Pace,
  { started_at, now_ms }: { started_at: number; now_ms: number },
): boolean {
  return slowed_at !== null && slowed_at <= now_ms && started_at <= slowed_at;
}
