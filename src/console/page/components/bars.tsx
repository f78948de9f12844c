/**
 * Numbers that follow one another, as bars of one colour on a scale of their own. What the bars show, a table beside them says in numbers.
 */
import { Count } from './quantity.tsx';

interface BarsProps {
  label: string;
  values: readonly number[];
  tone: 'accent' | 'good';
  /** Labels below the first and the last bar. */
  ends: readonly [first: string, last: string];
  /** From this bar on they stand for something else, such as days rather than hours. */
  shaded_from: number | null;
}

const HEIGHT = 100;

export function Bars({ label, values, tone, ends, shaded_from }: BarsProps) {
  const highest = Math.max(...values, 0);
  const slots = values.length;
  return (
    <figure class="bars">
      <figcaption>
        <strong>{label}</strong>
        <span class="muted">
          at most <Count of={highest} />
        </span>
      </figcaption>
      <svg class={tone} viewBox={`0 0 ${slots} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {shaded_from !== null && (
          <rect class="shaded" x={shaded_from} y="0" width={slots - shaded_from} height={HEIGHT} />
        )}
        {values.map((value, at) => {
          const height = highest === 0 ? 0 : (value / highest) * HEIGHT;
          return <rect key={at} x={at + 0.1} y={HEIGHT - height} width="0.8" height={height} />;
        })}
      </svg>
      <p class="bars-ends" aria-hidden="true">
        <span>{ends[0]}</span>
        <span>{ends[1]}</span>
      </p>
    </figure>
  );
}
