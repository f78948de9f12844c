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
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });

/** The time of day, and the day where it begins. */
function tellTick(at_s: number): string {
  const told = minute.format(at_s * 1000);
  return told === '00:00' ? day.format(at_s * 1000) : told;
}

function optionsOf(of: readonly Series[], width: number): uPlot.Options {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const axis: uPlot.Axis = {
    ...{ stroke: colour('muted'), font: `12px ${colour('sans')}`, ticks: { show: false } },
    grid: { stroke: colour('line'), width: 1 },
  };
  return {
    ...{ width, height: HEIGHT_PX, legend: { show: false }, cursor: { y: false } },
    // Half of the last label stands beyond the last hour.
    padding: [8, 20, 0, 0],
    // Where nothing happened, the axis still goes up to something.
    scales: { y: { range: (_, __, highest) => [0, Math.max(4, highest * 1.15)] } },
    axes: [
      { ...axis, size: 28, grid: { show: false }, values: (_, at_s) => at_s.map(tellTick) },
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000, 10_000, 50_000, 100_000] },
    ],
    series: [
      {},
      ...of.map(({ label, tone }) => ({
        ...{ label, stroke: colour(tone), width: 2, points: { show: false } },
        ...(tone === 'accent' ? { fill: colour('accent-soft') } : {}),
      })),
    ],
  };
}

/** `at`: when, ISO 8601, of each value. */
export function Chart({ label, at, of }: { label: string; at: readonly string[]; of: readonly Series[] }) {
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
        chart = new Plot(optionsOf(of, element.clientWidth), data as uPlot.AlignedData, element);
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
  }, [at, of, chosen]);
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
        <ChartTable label={label} at={at} of={of} />
      </div>
    </figure>
  );
}

function ChartTable({ label, at, of }: { label: string; at: readonly string[]; of: readonly Series[] }) {
  return (
    <table>
      <caption>{label}</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
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
            <th scope="row">{tellExact(Date.parse(time))}</th>
            {of.map((series) => (
              <td key={series.label}>{series.values[index]}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
