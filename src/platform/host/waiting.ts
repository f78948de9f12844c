/** Waiting for something no longer than somebody else can wait. */
import { monotonicMs } from './clock.ts';

const LOOK_MS = 5;

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

/** Resolves in the next turn of the event loop, after all that waits: long work is done a piece a turn. */
export function letOthers(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
