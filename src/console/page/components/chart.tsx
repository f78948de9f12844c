/** Numbers over time, drawn by uPlot, which is loaded when a chart is first shown. A table says the same to those who hear it. */
import { useEffect, useRef } from 'preact/hooks';
import type uPlot from 'uplot';
import { theme } from '../theme.ts';
import { tellExact } from '../time.ts';

export interface Series {
  label: string;
  values: readonly number[];
  tone: 'accent' | 'good' | 'bad';
}

const HEIGHT_PX = 220;
const DAY_S = 86_400;
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const utc_day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** The time of day, and the day where it begins. */
function tellTick(at_s: number): string {
  const told = minute.format(at_s * 1000);
  return told === '00:00' ? day.format(at_s * 1000) : told;
}

type Options = Omit<uPlot.Options, 'width'>;

/** Days are those of UTC, wherever they are looked at: each has one tick, at its beginning. */
const AXES = {
  hour: { values: (_: uPlot, at_s: number[]) => at_s.map(tellTick) },
  day: {
    incrs: [1, 2, 5, 10].map((days) => days * DAY_S),
    values: (_: uPlot, at_s: number[]) => at_s.map((at) => utc_day.format(at * 1000)),
  },
} satisfies Record<string, uPlot.Axis>;

function optionsOf(of: readonly Series[], unit: keyof typeof AXES): Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    stroke: colour('muted'),
    font: `12px ${colour('sans')}`,
    ticks: { show: false },
    grid: { stroke: colour('line'), width: 1 },
  };
  return {
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { y: false },
    // Half of the last label stands beyond the last hour.
    padding: [8, 24, 0, 0],
    // The axis needs some height even where nothing happened.
    scales: { y: { range: (_, __, highest) => [0, Math.max(4, highest * 1.15)] } },
    axes: [
      { ...axis, size: 28, grid: { show: false }, ...AXES[unit] },
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000, 50_000, 100_000] },
    ],
    series: [
      {},
      ...of.map(({ label, tone }) => ({
        label,
        stroke: colour(tone),
        width: 2,
        points: { show: false },
        ...(tone === 'accent' ? { fill: colour('accent-soft') } : {}),
      })),
    ],
  };
}

interface ChartProps {
  label: string;
  /** When, ISO 8601, of each value: an hour, or a day of UTC. */
  at: readonly string[];
  unit?: 'hour' | 'day';
  of: readonly Series[];
}

export function Chart({ label, at, unit = 'hour', of }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const chosen = theme.value;
  // Other colours are another drawing.
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    let chart: uPlot | null = null;
    let is_gone = false;
    const redraw = (): void => {
      void import('uplot').then(({ default: Plot }) => {
        if (is_gone) return;
        chart?.destroy();
        const data = [at.map((time) => Date.parse(time) / 1000), ...of.map(({ values }) => [...values])];
        const utcDate = (at_s: number): Date => Plot.tzDate(new Date(at_s * 1000), 'Etc/UTC');
        const options = { ...optionsOf(of, unit), ...(unit === 'day' && { tzDate: utcDate }) };
        chart = new Plot({ ...options, width: element.clientWidth }, data as uPlot.AlignedData, element);
      });
    };
    redraw();
    const observer = new ResizeObserver(() =>
      chart?.setSize({ width: element.clientWidth, height: HEIGHT_PX }),
    );
    observer.observe(element);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => {
      is_gone = true;
      observer.disconnect();
      dark.removeEventListener('change', redraw);
      chart?.destroy();
    };
  }, [at, of, unit, chosen]);
  return (
    <figure>
      <div class="chart-legend" aria-hidden="true">
        {of.map((series) => (
          <span key={series.label} class={series.tone}>
            {series.label}
          </span>
        ))}
      </div>
      <div class="chart" ref={place} aria-hidden="true" />
      {/* A table takes the room of its rows, whatever its own size is: what hides it is around it. */}
      <div class="hidden">
        <ChartTable label={label} at={at} unit={unit} of={of} />
      </div>
    </figure>
  );
}

function ChartTable({ label, at, unit, of }: ChartProps) {
  return (
    <table>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">{unit === 'day' ? 'Day' : 'Time'}</th>
          {of.map((series) => (
            <th key={series.label} scope="col">
              {series.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {at.map((time, index) => (
          <tr key={time}>
            <th scope="row">
              {unit === 'day' ? utc_day.format(Date.parse(time)) : tellExact(Date.parse(time))}
            </th>
            {of.map((series) => (
              <td key={series.label}>{series.values[index]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
