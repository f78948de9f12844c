/**
 * What a mailbox learns of its relay: pure functions over what is kept of it, the burst under way and one
 * answer. Refusals that are few slow nothing, as each relay has some. More of them end the burst: the mailbox
 * waits, one mail probes, and sending opens again a little below what the relay was seen to take, growing
 * until it refuses.
 */
import { PACE_FORGOTTEN_MS, PACE_WAIT_MAX_MS, PACE_WAIT_MIN_MS } from '../../limits.ts';
import { MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import type { Pace } from './store.ts';

/** Decision: the longest wait that a relay may ask for. */
const PACE_ASKED_WAIT_MAX_MS = 15 * 60_000;

/** A mailbox of which nothing was noted yet. */
export const UNPACED: Pace = {
  turn_at: 0,
  sent: [],
  allowed: null,
  speed: null,
  speed_at: 0,
  waits: 0,
  waits_until: 0,
  is_probing: false,
  probed_at: 0,
  ended_at: 0,
  since: null,
  refused_at: null,
  words: null,
};

/** Decision: so many refusals among so many answers slow nothing. */
const FEW = 5;
const OF_LAST = 50;
/**
 * What a relay takes is counted over this time, and a burst that is younger than the other one teaches
 * nothing.
 */
const COUNTED_MS = 10 * SECOND_MS;
const TELLING_MS = 2 * SECOND_MS;
/**
 * Speed grows by this factor in this time, where it is known what the relay takes and where it is not; at
 * most one refusal in so many answers.
 */
const GROWTH = { known: { factor: 1.05, ms: 10 * SECOND_MS }, unknown: { factor: 2, ms: 2 * SECOND_MS } };
const GROWS_AT_ONE_IN = 25;
/** It is used up where so much of it goes out. */
const USED_UP = 0.8;
/** A probe is waited for so long: its server may have been killed, or its relay may be slow. */
const PROBE_MS = MINUTE_MS;
/** How soon to ask again whether a probe was answered. */
const PROBE_LOOK_MS = SECOND_MS;

/**
 * What was answered since sending opened or the last pause of it. In memory: after a restart a relay was sent
 * nothing yet.
 */
export interface Burst {
  began_at: number;
  last_at: number;
  /** Whether each of the last answers was no refusal, oldest first. */
  answers: boolean[];
  /** When mails were taken, within COUNTED_MS. */
  taken: number[];
  /** Answers at this speed, and refusals among them. */
  said: number;
  refused: number;
}

export function newBurst(began_at: number): Burst {
  return { began_at, last_at: began_at, answers: [], taken: [], said: 0, refused: 0 };
}

/** A relay's answer to a mail. */
export interface Answer {
  started_at: number;
  now_ms: number;
  /** Null where the relay took what it was given, or judged the mail. */
  refusal: {
    words: string;
    /** What it asked to wait for. */
    asked_ms: number | null;
    /** It speaks of a limit of a day or an hour. */
    is_quota: boolean;
  } | null;
}

/** What is still known: without a refusal for long enough, only that a mail is to probe. */
export function remembered(pace: Pace, now_ms: number): Pace {
  const { refused_at } = pace;
  // A refusal that lies far ahead of now is forgotten too: the clock was set back.
  const is_recent = refused_at === null || Math.abs(now_ms - refused_at) <= PACE_FORGOTTEN_MS;
  if (is_recent || waitOf(pace, now_ms) !== null) return pace;
  return { ...pace, allowed: null, speed: null, waits: 0, since: null, refused_at: null, words: null };
}

/** Until when it waits; null where it does not. */
export function waitOf({ is_probing, waits_until }: Pace, now_ms: number): number | null {
  const is_ahead = waits_until > now_ms && waits_until <= now_ms + PACE_ASKED_WAIT_MAX_MS;
  return is_probing && is_ahead ? waits_until : null;
}

/** True where anything holds mail back. */
export function isHeld({ is_probing, speed }: Pace): boolean {
  return is_probing || speed !== null;
}

/** Milliseconds from one mail to the next; 0 where none keeps any distance. */
export function gapOfSpeed({ is_probing, speed }: Pace): number {
  return is_probing || speed === null ? 0 : SECOND_MS / speed;
}

/** When a mail may go for all that its relay has taught but the speed. */
export function opensByWait(pace: Pace, now_ms: number): number {
  return Math.max(waitOf(pace, now_ms) ?? 0, isProbeOut(pace, now_ms) ? now_ms + PROBE_LOOK_MS : 0);
}

/** Until when no mail leaves, by its wait or by a probe that is not answered yet; null where it may. */
export function heldUntil(pace: Pace, now_ms: number): number | null {
  return waitOf(pace, now_ms) ?? (isProbeOut(pace, now_ms) ? pace.probed_at + PROBE_MS : null);
}

function isProbeOut({ is_probing, probed_at }: Pace, now_ms: number): boolean {
  return is_probing && probed_at > 0 && probed_at <= now_ms && now_ms - probed_at < PROBE_MS;
}

/** Since when a probe is out once one more mail goes: in a wait, what goes all the same is none. */
export function probedAt(pace: Pace, now_ms: number): number {
  if (!pace.is_probing || waitOf(pace, now_ms) !== null) return 0;
  return isProbeOut(pace, now_ms) ? pace.probed_at : now_ms;
}

/** How it stands after an answer. `random` is from 0 to 1. Changes `burst`. */
export function learn(before: Pace, burst: Burst, answer: Answer, random: number): Pace {
  const { now_ms, refusal } = answer;
  const pace = remembered(before, now_ms);
  if (wasUnderWay(pace, answer)) return pace;
  note(pace, burst, answer);
  if (refusal === null) return pace.is_probing ? open(pace, burst, now_ms) : grow(pace, burst, now_ms);
  const { words } = refusal;
  const refused = { ...pace, since: pace.since ?? now_ms, refused_at: now_ms, words };
  // One that somebody waits for goes in a wait too: refused, it says nothing that was not known.
  if (waitOf(pace, answer.started_at) !== null) return refused;
  const is_over =
    burst.answers.filter((is_taken) => !is_taken).length > FEW ||
    pace.is_probing ||
    refusal.asked_ms !== null ||
    refusal.is_quota;
  return is_over
    ? wait(refused, burst, { now_ms, asked_ms: refusal.asked_ms, random })
    : grow(refused, burst, now_ms);
}

/** A mail that was to probe has come to nothing that tells of the relay: the next one probes. */
export function learnNothing(pace: Pace): Pace {
  return pace.probed_at === 0 ? pace : { ...pace, probed_at: 0 };
}

/** An end that lies ahead of now is ignored: the clock was set back. */
function wasUnderWay({ ended_at }: Pace, { started_at, now_ms }: Answer): boolean {
  return ended_at > 0 && ended_at <= now_ms && started_at <= ended_at;
}

function note(pace: Pace, burst: Burst, { started_at, now_ms, refusal }: Answer): void {
  const pause_ms = Math.max(COUNTED_MS, 2 * gapOfSpeed(pace));
  if (Math.abs(now_ms - burst.last_at) > pause_ms) Object.assign(burst, newBurst(started_at));
  burst.last_at = now_ms;
  burst.answers = [...burst.answers.slice(1 - OF_LAST), refusal === null];
  burst.said += 1;
  if (refusal !== null) burst.refused += 1;
  else burst.taken.push(now_ms);
  const kept = burst.taken.findIndex((at) => at > now_ms - COUNTED_MS);
  burst.taken.splice(0, kept < 0 ? burst.taken.length : kept);
}

function open(pace: Pace, burst: Burst, now_ms: number): Pace {
  Object.assign(burst, newBurst(now_ms));
  const opened = { is_probing: false, probed_at: 0, waits: 0, waits_until: 0 };
  return { ...pace, ...opened, speed: pace.allowed ?? 1, speed_at: now_ms };
}

/** The burst is over. */
function wait(
  pace: Pace,
  burst: Burst,
  { now_ms, asked_ms, random }: { now_ms: number; asked_ms: number | null; random: number },
): Pace {
  const doubled_ms =
    Math.min(PACE_WAIT_MIN_MS * 2 ** Math.min(pace.waits, 30), PACE_WAIT_MAX_MS) * (1 - random / 4);
  const wait_ms = asked_ms === null ? doubled_ms : Math.min(asked_ms, PACE_ASKED_WAIT_MAX_MS);
  const taken = pace.is_probing ? null : takenASecond(pace, burst, now_ms);
  Object.assign(burst, newBurst(now_ms));
  return {
    ...pace,
    // Not below half of what was known: a quota's end says little of speed.
    allowed: taken === null ? pace.allowed : Math.max(0.9 * taken, (pace.allowed ?? 0) / 2),
    waits: pace.waits + 1,
    waits_until: Math.round(now_ms + wait_ms),
    is_probing: true,
    probed_at: 0,
    ended_at: now_ms,
  };
}

/** What the relay took a second since its speed was last raised; null where that tells nothing. */
function takenASecond(pace: Pace, burst: Burst, now_ms: number): number | null {
  const since_ms = now_ms - Math.max(pace.speed_at, burst.began_at);
  const counted_ms = Math.min(COUNTED_MS, Math.max(SECOND_MS, since_ms));
  const taken = burst.taken.filter((at) => at > now_ms - counted_ms).length;
  const is_telling = taken > 0 && now_ms - burst.began_at > TELLING_MS;
  return is_telling ? (taken * SECOND_MS) / counted_ms : null;
}

function grow(pace: Pace, burst: Burst, now_ms: number): Pace {
  if (pace.speed === null) return pace;
  const { factor, ms } = pace.allowed === null ? GROWTH.unknown : GROWTH.known;
  const lasted_ms = Math.abs(now_ms - Math.max(pace.speed_at, burst.began_at));
  const is_used_up = burst.said * SECOND_MS >= USED_UP * pace.speed * lasted_ms;
  if (lasted_ms < ms || !is_used_up || burst.refused * GROWS_AT_ONE_IN > burst.said) return pace;
  Object.assign(burst, { said: 0, refused: 0 });
  return { ...pace, speed: pace.speed * factor, speed_at: now_ms };
}
