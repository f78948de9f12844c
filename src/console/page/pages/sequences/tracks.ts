/** Steps by their tracks, and their delays in words. */
import type { Step } from '../../api.generated.ts';
import { counted } from '../../components/quantity.tsx';

export interface Track {
  name: string;
  steps: Step[];
}

/** Each track with its steps in their order; the first is where everybody begins. */
export function tracksOf(steps: readonly Step[]): Track[] {
  const names = [...new Set(steps.map(({ track }) => track))];
  return names.map((name) => ({
    name,
    steps: steps.filter(({ track }) => track === name).toSorted((a, b) => a.position - b.position),
  }));
}

/** "2 days after the mail before", "at once after enrolling", "3 hours after coming to this track". */
export function tellDelay(step: Step, steps: readonly Step[]): string {
  const hours = step.delay_hours;
  const [main, ...others] = tracksOf(steps).map((track) => track.steps[0]?.key);
  const from =
    step.key === main ? 'enrolling' : others.includes(step.key) ? 'coming to this track' : 'the mail before';
  if (hours === 0) return `at once after ${from}`;
  return `${hours % 24 === 0 ? counted(hours / 24, 'day') : counted(hours, 'hour')} after ${from}`;
}
