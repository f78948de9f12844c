/** What a server measures of itself, in memory, by an increment each time. `operation/metrics` tells it. */
import { monotonicMs } from './clock.ts';

/** How often each of a few things happened. */
export class Tally<Name extends string> {
  readonly #counts = new Map<Name, number>();

  /** Tells of these from the start, before any of them has happened. */
  constructor(names: readonly Name[]) {
    for (const name of names) this.#counts.set(name, 0);
  }

  add(name: Name, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  entries(): [Name, number][] {
    return [...this.#counts];
  }
}

/** Durations in seconds, counted by the least bound that each is not above. */
export class Histogram {
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = Array(bounds.length + 1).fill(0);
  }

  observe(seconds: number): void {
    let at = 0;
    while (at < this.bounds.length && seconds > (this.bounds[at] ?? 0)) at += 1;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.#sum += seconds;
  }

  /** Observes what has passed since a moment of `monotonicMs`. */
  observeSince(started_ms: number): void {
    this.observe((monotonicMs() - started_ms) / 1_000);
  }

  get sum(): number {
    return this.#sum;
  }

  /** How many were not above each bound, and how many there were, last. */
  cumulative(): number[] {
    let sum = 0;
    return this.#counts.map((count) => {
      sum += count;
      return sum;
    });
  }
}

/** Seconds by which requests and turns of the event loop are told apart, and those of a disk. */
export const WAIT_BOUNDS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
export const DISK_BOUNDS_S = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5];
