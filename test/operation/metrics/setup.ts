/** Metrics as they are told, read back. */
import type { TestApp } from '../../support/helpers.ts';

export interface Told {
  text: string;
  /** By name and labels as they stand there: `satchel_rows{list="objects"}`. */
  values: ReadonlyMap<string, number>;
  /** Names of the metrics, without those of parts of histograms. */
  names: string[];
}

export function parseMetrics(text: string): Told {
  const lines = text.split('\n').filter((line) => line !== '');
  const samples = lines.filter((line) => !line.startsWith('#'));
  return {
    text,
    values: new Map(
      samples.map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
    ),
    names: lines.flatMap((line) => /^# TYPE (\S+) /.exec(line)?.[1] ?? []),
  };
}

export function askMetrics(app: TestApp, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${app.url}/metrics`, { headers });
}

/**
 * What is counted is as of now, a millisecond on: a request whose count took longer than it waits tells what was counted before, and
 * its moment says so.
 */
export async function readMetrics(app: TestApp): Promise<Told> {
  app.clock.advance(1);
  const now_s = app.clock.now() / 1_000;
  for (;;) {
    const answer = await askMetrics(app);
    if (!answer.ok) throw new Error(await answer.text());
    const told = parseMetrics(await answer.text());
    if (told.values.get('satchel_counted_timestamp_seconds') === now_s) return told;
  }
}
