/**
 * What a sequence is: steps in tracks, each with a condition. Pure types and functions; `store.ts` keeps the
 * steps, and enrollments go through them.
 */

/**
 * A question about an enrollment, asked when its step is due. `clicked` is about the last message that it
 * got.
 */
export type Condition =
  | { type: 'always' }
  | { type: 'clicked' }
  | { type: 'not_clicked' }
  | { type: 'event'; event: string }
  | { type: 'no_event'; event: string }
  | { type: 'all'; of: readonly Condition[] };

/** What happens where the condition does not hold. */
export type Otherwise = 'skip' | 'exit' | { route_to: string };

export interface Step {
  key: string;
  track: string;
  /** Order within the track. */
  position: number;
  /** Slug of a marketing template. */
  template: string;
  delay_hours: number;
  variables: Readonly<Record<string, string>>;
  /** What inboxes show behind the subject. */
  preheader: string | null;
  condition: Condition;
  otherwise: Otherwise;
  is_final: boolean;
}

/** The steps of a sequence's row, which `readSteps` has made. */
export function stepsOf({ steps }: { steps: readonly unknown[] }): Step[] {
  return steps as Step[];
}

/** The steps of each track in their order; the first track is that of the first step. */
export type Tracks = ReadonlyMap<string, readonly Step[]>;

export function tracksOf(steps: readonly Step[]): Tracks {
  const tracks = new Map<string, Step[]>();
  for (const step of steps) tracks.set(step.track, [...(tracks.get(step.track) ?? []), step]);
  for (const own of tracks.values()) own.sort((a, b) => a.position - b.position);
  return tracks;
}

export function firstStep(tracks: Tracks): Step | null {
  const [first] = tracks.values();
  return first?.[0] ?? null;
}

/** The step of this key; null where it is gone. */
export function findStep(tracks: Tracks, key: string): Step | null {
  for (const own of tracks.values()) for (const step of own) if (step.key === key) return step;
  return null;
}

/** What is known of an enrollment when a condition is asked. */
export interface Facts {
  /** Whether a person clicked in the last message that it got; null where nothing tells, for want of their consent. */
  has_clicked: boolean | null;
  /** Events of its contact since it was enrolled. */
  events: ReadonlySet<string>;
}

export function holds(condition: Condition, facts: Facts): boolean {
  switch (condition.type) {
    case 'always':
      return true;
    case 'clicked':
      return facts.has_clicked === true;
    case 'not_clicked':
      return facts.has_clicked === false;
    case 'event':
      return facts.events.has(condition.event);
    case 'no_event':
      if (condition.event === 'clicked' && facts.has_clicked === null) return false;
      return !facts.events.has(condition.event);
    case 'all':
      return condition.of.every((part) => holds(part, facts));
  }
}

/** A condition as a person would say it: the end of `This step is sent if ...`. */
function describeCondition(condition: Condition): string {
  switch (condition.type) {
    case 'always':
      return 'always';
    case 'clicked':
      return 'a link of the last message was clicked';
    case 'not_clicked':
      return 'no link of the last message was clicked';
    case 'event':
      return `the event ${condition.event} happened since the enrollment`;
    case 'no_event':
      return `the event ${condition.event} did not happen since the enrollment`;
    case 'all':
      return condition.of.length === 0 ? 'always' : condition.of.map(describeCondition).join(', and ');
  }
}

/** As `describeCondition`, with what happens otherwise. */
export function describeStepCondition({
  condition,
  otherwise,
}: Pick<Step, 'condition' | 'otherwise'>): string {
  const words = describeCondition(condition);
  if (words === 'always') return words;
  if (otherwise === 'skip') return `${words}; otherwise the step is skipped`;
  if (otherwise === 'exit') return `${words}; otherwise the contact leaves the sequence`;
  return `${words}; otherwise the contact goes on in the track ${otherwise.route_to}`;
}

/** What becomes of an enrollment at a step that is due. */
export type Decision =
  | { result: 'send' }
  | { result: 'skip' }
  | { result: 'exit' }
  | { result: 'route'; track: string };

export function decide(step: Step, facts: Facts): Decision {
  if (holds(step.condition, facts)) return { result: 'send' };
  if (step.otherwise === 'skip') return { result: 'skip' };
  return step.otherwise === 'exit' ? { result: 'exit' } : { result: 'route', track: step.otherwise.route_to };
}

/** Where an enrollment goes after a decision: to a step, or to an end. */
export type Next = { step: Step; counts_from: 'last_sending' | 'now' } | { end: 'completed' | 'condition' };

/**
 * The step behind a decision. A sent or skipped one is followed by the next of its track; behind the final
 * one, sent or skipped, the enrollment is complete. A route begins at the first step of its track, whose
 * delay counts from now.
 */
export function stepAfter(tracks: Tracks, step: Step, decision: Decision): Next {
  if (decision.result === 'exit') return { end: 'condition' };
  if (decision.result === 'route') {
    const first = tracks.get(decision.track)?.[0];
    return first ? { step: first, counts_from: 'now' } : { end: 'completed' };
  }
  const own = tracks.get(step.track) ?? [];
  const next = step.is_final ? undefined : own[own.findIndex(({ key }) => key === step.key) + 1];
  return next ? { step: next, counts_from: 'last_sending' } : { end: 'completed' };
}
