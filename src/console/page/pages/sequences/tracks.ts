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

/** "at once", "after 3 days", "after 36 hours". */
export function tellDelay(hours: number): string {
  if (hours === 0) return 'at once';
  return `after ${hours % 24 === 0 ? counted(hours / 24, 'day') : counted(hours, 'hour')}`;
}
