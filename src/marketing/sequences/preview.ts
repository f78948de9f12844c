/**
 * Walks through a sequence with answers that somebody imagines, as a contact would. Pure functions; sends
 * nothing.
 */
import { HOUR_MS } from '../../platform/host/clock.ts';
import { nextOpening, type SendWindow } from '../settings/service.ts';
import {
  decide,
  describeStepCondition,
  type Facts,
  firstStep,
  type Step,
  stepAfter,
  tracksOf,
} from './model.ts';

export interface Answers {
  start_at: number;
  /** Events that happen so long after the start. */
  events: readonly { event: string; after_hours: number }[];
  /** Keys of steps whose message is clicked. */
  clicks: readonly string[];
}

export interface TimelineEntry {
  key: string;
  track: string;
  at: number;
  /** In words. */
  condition: string;
  result: 'send' | 'skip' | 'exit' | 'route';
}

export interface Timeline {
  timeline: TimelineEntry[];
  end: { at: number; reason: 'completed' | 'condition' | 'event' | 'no_steps' | 'endless' };
}

interface WalkOptions {
  exit_events: readonly string[];
  window: SendWindow;
  /** When no mail goes whatever the window says, as the daily cap is used up. */
  used_up?: { from: number; until: number } | null;
  answers: Answers;
  max_entries: number;
}

/**
 * Steps in the order in which they come due: each when its delay is over, and for a mail the window is open.
 * As if relays took each mail at once; slow relays, other mail and full mailboxes may put them off further.
 * Tracks that route in a circle without sending end as `endless`.
 */
export function walk(steps: readonly Step[], options: WalkOptions): Timeline {
  const { exit_events, window, used_up, answers, max_entries } = options;
  const sendingFrom = (at: number): number => {
    const opens_at = nextOpening(window, at);
    const is_shut = used_up && opens_at >= used_up.from && opens_at < used_up.until;
    return is_shut ? nextOpening(window, used_up.until) : opens_at;
  };
  const tracks = tracksOf(steps);
  const timeline: TimelineEntry[] = [];
  const left_at = exitOf(exit_events, answers);
  let step = firstStep(tracks);
  let counts_from = answers.start_at;
  let at = answers.start_at;
  let last_sent: string | null = null;
  let has_clicked_any = false;
  if (!step) return { timeline, end: { at: answers.start_at, reason: 'no_steps' } };
  for (;;) {
    // A step behind one that was skipped may have been due before that.
    at = Math.max(at, counts_from + step.delay_hours * HOUR_MS);
    let decision = decide(step, factsAt(at, answers, { last_sent, has_clicked_any }));
    // Only a sending waits for the window, and its condition is asked again when that opens.
    if (decision.result === 'send') {
      at = sendingFrom(at);
      decision = decide(step, factsAt(at, answers, { last_sent, has_clicked_any }));
    }
    if (left_at !== null && left_at <= at) return { timeline, end: { at: left_at, reason: 'event' } };
    if (timeline.length >= max_entries) return { timeline, end: { at, reason: 'endless' } };
    const { key, track } = step;
    timeline.push({ key, track, at, condition: describeStepCondition(step), result: decision.result });
    if (decision.result === 'send') {
      last_sent = key;
      counts_from = at;
      has_clicked_any ||= answers.clicks.includes(key);
    }
    const next = stepAfter(tracks, step, decision);
    if ('end' in next) return { timeline, end: { at, reason: next.end } };
    if (has_clicked_any && exit_events.includes('clicked')) return { timeline, end: { at, reason: 'event' } };
    if (next.counts_from === 'now') counts_from = at;
    step = next.step;
  }
}

function exitOf(exit_events: readonly string[], answers: Answers): number | null {
  const moments = answers.events
    .filter(({ event }) => exit_events.includes(event))
    .map(({ after_hours }) => answers.start_at + after_hours * HOUR_MS);
  return moments.length === 0 ? null : Math.min(...moments);
}

function factsAt(
  at: number,
  answers: Answers,
  { last_sent, has_clicked_any }: { last_sent: string | null; has_clicked_any: boolean },
): Facts {
  const happened = answers.events.filter(({ after_hours }) => answers.start_at + after_hours * HOUR_MS <= at);
  return {
    has_clicked: last_sent !== null && answers.clicks.includes(last_sent),
    events: new Set([...happened.map(({ event }) => event), ...(has_clicked_any ? ['clicked'] : [])]),
  };
}
