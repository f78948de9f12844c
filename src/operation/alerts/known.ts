/** What of the problems that are known is to be told, by which way and when. A way is an address that is mailed, or the URL. */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '../../platform/host/clock.ts';
import type { Finding } from '../../platform/host/health-check.ts';
import { UNCHECKED } from '../doctor/service.ts';
import type { Known, KnownFindings, WayState, Ways } from './schemas.ts';

/** What is found within so long is one message. */
const TOGETHER_MS = 10 * SECOND_MS;
const MAX_MESSAGES_AN_HOUR = 6;
/** A way that fails is tried again after so long: three times within ten minutes, then more and more rarely. */
const WAITS_MS = [2, 8, 10, 20, 40, 60].map((minutes) => minutes * MINUTE_MS);
const LONGEST_WAIT_MS = HOUR_MS;
/** After so many tries a way counts as failing. */
const TRIES = 3;

export const ALERTS = 'alerts';
export const URL_WAY = 'url';

export interface State {
  findings: KnownFindings;
  ways: Ways;
  last_sent_at: number | null;
}

/** Of one message. */
export interface Told {
  id: string;
  state: 'new' | 'still' | 'mended';
  known: Known;
}

/**
 * Takes in what a look found. What it no longer finds is mended, unless it could not be checked; a look at what is urgent ends
 * what such a look has found, and a whole one the rest.
 */
export function noteFindings(
  { findings: known }: State,
  found: readonly Finding[],
  { is_urgent, now_ms }: { is_urgent: boolean; now_ms: number },
): void {
  const problems = Map.groupBy(
    found.filter(({ status }) => status === 'problem'),
    ({ id }) => id,
  );
  for (const [id, [first, ...others]] of problems) {
    if (!first) continue;
    const before = known[id];
    const message = [first, ...others].map((each) => each.message).join(' ');
    const { check, remedy } = first;
    known[id] = {
      check,
      message,
      remedy,
      since: before?.since ?? now_ms,
      ended: null,
      is_urgent: is_urgent || before?.is_urgent === true,
      told: before?.told ?? {},
    };
  }
  if (!is_urgent && isCutShort(found)) return;
  const unchecked = found.filter(({ id }) => id.endsWith(`:${UNCHECKED}`)).map(({ check }) => check);
  for (const [id, each] of Object.entries(known)) {
    const is_over = !problems.has(id) && each.is_urgent === is_urgent && !unchecked.includes(each.check);
    if (is_over && each.ended === null) each.ended = now_ms;
    forgetIfDone(known, id);
  }
}

/** What all else is looked at with is missing. */
function isCutShort(found: readonly Finding[]): boolean {
  const needed = ['data directory', 'schema', 'master key', 'services'];
  return found.some(({ check, status }) => status === 'problem' && needed.includes(check));
}

/** Nobody waits to hear that it is mended. */
function forgetIfDone(known: KnownFindings, id: string): void {
  const each = known[id];
  if (each && each.ended !== null && Object.keys(each.told).length === 0) delete known[id];
}

/** Has nothing wait for ways that are gone. */
export function keepWays({ findings, ways }: State, kept: readonly string[]): void {
  for (const way of Object.keys(ways)) if (!kept.includes(way)) delete ways[way];
  for (const [id, { told }] of Object.entries(findings)) {
    for (const way of Object.keys(told)) if (!kept.includes(way)) delete told[way];
    forgetIfDone(findings, id);
  }
}

const fresh = (): WayState => ({ sent: [], tries: 0, next_try: 0, failure: null });

/** What a way has yet to tell, the first found first. */
export function listUntold(
  { findings, ways }: State,
  way: string,
  now_ms: number,
): (Told & { due: number })[] {
  const untold = Object.entries(findings).flatMap(([id, known]): (Told & { due: number })[] => {
    // A message that gets through by it is what mends that it fails.
    if (id === `${ALERTS}:${way}`)
      return ways[way]?.failure ? [{ id, known, state: 'mended', due: known.since }] : [];
    const told = known.told[way];
    if (known.ended !== null)
      return told === undefined ? [] : [{ id, known, state: 'mended', due: known.ended }];
    if (told === undefined) return [{ id, known, state: 'new', due: known.since }];
    // One that was told in the future was so by a clock that was wrong.
    const again = told > now_ms ? now_ms : told + DAY_MS;
    return again <= now_ms ? [{ id, known, state: 'still', due: again }] : [];
  });
  return untold.sort((one, other) => one.known.since - other.known.since);
}

/** When a way is to tell what it has; null while that is nothing. */
export function dueOf(state: State, way: string, now_ms: number): number | null {
  const untold = listUntold(state, way, now_ms);
  if (untold.length === 0) return null;
  const { sent, next_try } = state.ways[way] ?? fresh();
  const first = Math.min(...untold.map(({ due }) => due));
  const recent = sent.filter((at) => at <= now_ms && at > now_ms - HOUR_MS);
  const has_room = recent.length < MAX_MESSAGES_AN_HOUR;
  const room = has_room ? 0 : (recent.at(-MAX_MESSAGES_AN_HOUR) ?? 0) + HOUR_MS;
  const retry = next_try - now_ms > LONGEST_WAIT_MS ? 0 : next_try;
  return Math.max(Math.min(first, now_ms) + TOGETHER_MS, retry, room);
}

/** Writes down what became of a message; `words` say why it was not taken. `is_test`: one failure is enough to know. */
export function settle(
  state: State,
  way: string,
  of: { told: readonly Told[]; words: string | null; now_ms: number; is_test?: boolean },
): void {
  const { told, words, now_ms } = of;
  const how = state.ways[way] ?? fresh();
  state.ways[way] = how;
  if (words !== null) {
    if (!of.is_test) how.next_try = now_ms + (WAITS_MS[how.tries++] ?? LONGEST_WAIT_MS);
    if (of.is_test || how.tries >= TRIES) how.failure = words;
    return;
  }
  const sent = [...how.sent, now_ms].slice(-MAX_MESSAGES_AN_HOUR);
  state.ways[way] = { ...fresh(), sent: of.is_test ? how.sent : sent };
  state.last_sent_at = now_ms;
  for (const { id, state: was, known } of told) {
    // What was mended and forgotten while it was being told is to be told as that.
    const now = state.findings[id] ?? { ...known, ended: now_ms, told: {} };
    state.findings[id] = now;
    if (was === 'mended') delete now.told[way];
    else now.told[way] = now_ms;
    forgetIfDone(state.findings, id);
  }
}
