/** The tracks that steps stand in. */

export interface Track<Step> {
  name: string;
  steps: Step[];
}

/** Each track with its steps in their order; the first is where everybody begins. */
export function tracksOf<Step extends { track: string; position?: number }>(
  steps: readonly Step[],
): Track<Step>[] {
  const names = [...new Set(steps.map(({ track }) => track))];
  return names.map((name) => ({
    name,
    steps: steps
      .filter(({ track }) => track === name)
      .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0)),
  }));
}
