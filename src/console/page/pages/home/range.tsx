/** Of how many days a page tells, which stands in its address. */
import { Choice } from '../../components/choice.tsx';
import { setQuery, useQuery } from '../../router.ts';

const RANGES = [
  ['7', '7 days'],
  ['30', '30 days'],
] as const;

/** Null where the address names none. */
export function useDays(): '7' | '30' | null {
  const asked = useQuery().get('days');
  return RANGES.find(([days]) => days === asked)?.[0] ?? null;
}

/** `without`: the choice of none, where there is that. */
export function RangeChoice({ without }: { without?: string }) {
  const now = useDays();
  return (
    <Choice
      label="Of how long"
      choices={without === undefined ? RANGES : [['', without], ...RANGES]}
      now={now ?? (without === undefined ? '7' : '')}
      onChoose={(days) => setQuery({ days })}
    />
  );
}
