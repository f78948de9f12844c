/** The text format of Prometheus (0.0.4), in which metrics are told. */
import type { Histogram } from '../../platform/host/measures.ts';

type Labels = Readonly<Record<string, string>>;

/** One metric. Each of its samples has other labels, of a set that is bounded. */
export type Metric = { name: string; help: string } & (
  | { type: 'counter' | 'gauge'; samples: readonly { labels?: Labels; value: number }[] }
  | { type: 'histogram'; samples: readonly { labels?: Labels; histogram: Histogram }[] }
);

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8';

/** Metrics without a sample are left out. */
export function exposeMetrics(metrics: readonly Metric[]): string {
  return metrics
    .filter(({ samples }) => samples.length > 0)
    .map((metric) => {
      const { name, help, type } = metric;
      const lines =
        metric.type === 'histogram'
          ? metric.samples.flatMap(({ labels = {}, histogram }) => linesOf(name, labels, histogram))
          : metric.samples.map(({ labels = {}, value }) => `${name}${braced(pairsOf(labels))} ${value}`);
      return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines, ''].join('\n');
    })
    .join('');
}

function linesOf(name: string, labels: Labels, histogram: Histogram): string[] {
  const pairs = pairsOf(labels);
  const counts = histogram.cumulative();
  const buckets = counts.map((count, at) => {
    const bound = histogram.bounds[at] ?? '+Inf';
    return `${name}_bucket${braced([...pairs, `le="${bound}"`])} ${count}`;
  });
  const all = braced(pairs);
  return [...buckets, `${name}_sum${all} ${histogram.sum}`, `${name}_count${all} ${counts.at(-1) ?? 0}`];
}

function pairsOf(labels: Labels): string[] {
  return Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`);
}

function braced(pairs: readonly string[]): string {
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n');
}
