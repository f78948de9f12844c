/** Waiting for something no longer than somebody else can wait, and hearing how far it has come. */
import { monotonicMs } from './clock.ts';

const LOOK_MS = 5;

/** Told how much of a long piece of work is done, in any unit; in bytes where its end is not known yet. */
export type OnProgress = (done: number, total: number | null) => void;

/** Until something is done, or for `deadline_ms`: for a stop, which looks often. */
export async function until(isDone: () => boolean, deadline_ms: number): Promise<void> {
  const give_up_ms = monotonicMs() + deadline_ms;
  while (!isDone() && monotonicMs() < give_up_ms) await Bun.sleep(LOOK_MS);
}

/** What comes of it in time; it goes on in any case. */
export async function within<T>(work: Promise<T>, wait_ms: number): Promise<T | 'not yet'> {
  const { promise, resolve } = Promise.withResolvers<'not yet'>();
  const give_up = setTimeout(() => resolve('not yet'), Math.max(0, wait_ms));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(give_up);
  }
}

/** Those who do long work, in the order in which they let others go first. */
const waiting: (() => void)[] = [];

/**
 * Resolves in a later turn of the event loop, after all that waits: long work is done a piece a turn. Of several that do such work
 * one goes on in each turn, so that nobody waits for more than a piece.
 */
export function letOthers(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(goOn);
  });
}

function goOn(): void {
  waiting.shift()?.();
  if (waiting.length > 0) setImmediate(goOn);
}
